"""Likewise proves that a trained model treats similar individuals alike, or shows the pair that it does not.

    import likewise as lw

    space = lw.Space.from_data(X)
    similar = lw.Similarity(free=["sex"], within={"age": 2})
    result = lw.verify(model, space, similar, lw.SameDecision(), budget=60)

Who may be compared, and what they must share:

- `Space`: the features and the constraints that make a valid individual
- `Continuous`: a feature with any value between two bounds
- `Integer`: a feature with the whole numbers between two bounds
- `Categorical`: a feature with unordered levels
- `Ordinal`: a feature with ordered levels
- `Similarity`: how far two similar individuals may differ in each feature
- `Along`: what changes in a feature when another one differs
- `Metric`: how far they may be apart in several features together
- `Mahalanobis`: the same by a matrix
- `fair_metric`: such a matrix, made of data, that ignores what predicts a protected attribute
- `SameDecision`: similar individuals get the same decision
- `ScoreGap`: similar individuals get scores at most so far apart
- `Lipschitz`: scores change no faster than a metric
- `ProbabilityGap`: similar individuals get probabilities at most so far apart
- `Monotone`: more of a feature never hurts
- `Influence`: one feature moves the score by at most so much
- `SameTreatment`: who has one of two levels is treated as who has the other
- `Rounding`: how a number was rounded does not matter

Questions and answers:

- `verify`: is there a pair that breaks the property?
- `Result`: the verdict with the pair, the bounds or the reason
- `Verdict`: FAIR, BIASED or UNKNOWN
- `measure`: how large can the gap of a similar pair be?
- `Disparity`: the bracket around the largest gap, and a pair that attains the lower end
- `radius`: how far may similar individuals differ until the property breaks?
- `Radius`: the largest tolerance proved and the smallest refuted, with a pair
- `near`: up to which distance from the data is a claim true?
- `Near`: the distance proved, and the pair that breaks the claim beyond it
- `regions`: who is treated fairly, who is not, and of whom is nothing proved?
- `Regions`: boxes proved fair, boxes of individuals all of whom are treated differently, and the rest
- `Region`: a box with its rule, its share of the space and its certificates
- `compare`: two models on the same claim: did fairness get worse?
- `Comparison`: both verdicts, both brackets, and what changed
- `audit`: for every row of a data set, who is treated differently?
- `Audit`: a verdict, a gap and a counterpart for each row
- `share`: how many individuals have a differently treated counterpart?
- `Share`: the share, or a bracket or an interval around it
- `groups`: how often does each group get the favourable decision?
- `Groups`: a bracket for each group, and how far the groups are apart
- `Population`: who people are and how many of each, as a table a feature
- `mine_rules`: what do all rows obey that strangers to them need not?
- `MinedRule`: a rule, how many rows it is about, and how many break it
- `repair`: a model made of this one that treats similar individuals alike, with its proof
- `Repaired`: the new model, the verdict on it, and what it costs
- `BlackBox`: a model that can only be asked, any function from rows to labels or numbers
- `Certificate`: the proof or the witness as a file
- `load_certificate`: a certificate from disk
- `check`: is a certificate right? Asked of the independent checker
- `CheckReport`: what the checker says
- `datasets`: the data sets shipped with the package

What can go wrong:

- `LikewiseError`: any error raised here on purpose
- `SpecError`: the claim is not well formed
- `DataError`: rows that do not fit the space
- `UnsupportedModel`: a model that cannot be imported
- `BudgetError`: a budget that cannot be used
- `CertificateError`: a certificate that cannot be read or is refused
- `InternalError`: an invariant of Likewise itself was broken

Names are loaded on first use, so that `import likewise` stays light; this docstring lists all of them.
"""

from importlib import import_module

TYPE_CHECKING = False  # not from `typing`: `python -m likewise` still looks for modules in the current folder
if TYPE_CHECKING:
    from likewise import datasets
    from likewise.analysis.audit import Audit, audit
    from likewise.analysis.compare import Comparison, compare
    from likewise.analysis.groups import groups
    from likewise.analysis.groups_result import Groups
    from likewise.analysis.measure import Disparity, measure
    from likewise.analysis.mined_rules import MinedRule, mine_rules
    from likewise.analysis.near import Near, near
    from likewise.analysis.radius import Radius, radius
    from likewise.analysis.region_result import Region, Regions
    from likewise.analysis.regions import regions
    from likewise.analysis.repair import repair
    from likewise.analysis.repair_result import Repaired
    from likewise.analysis.share import share
    from likewise.analysis.share_result import Share
    from likewise.certificate.certificate import Certificate, load_certificate
    from likewise.errors import (
        BudgetError,
        CertificateError,
        DataError,
        InternalError,
        LikewiseError,
        SpecError,
        UnsupportedModel,
    )
    from likewise.importers.black_box import BlackBox
    from likewise.spec.along import Along
    from likewise.spec.fair_metric import fair_metric
    from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
    from likewise.spec.lipschitz import Lipschitz
    from likewise.spec.mahalanobis import Mahalanobis
    from likewise.spec.metric import Metric
    from likewise.spec.named_claims import Influence, Monotone, Rounding, SameTreatment
    from likewise.spec.population import Population
    from likewise.spec.properties import ProbabilityGap, SameDecision, ScoreGap
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying import verify
    from likewise.verifying.certification import CheckReport, check
    from likewise.verifying.result import Result, Verdict

__version__ = "0.1.0"

__all__ = [
    "Space",
    "Continuous",
    "Integer",
    "Categorical",
    "Ordinal",
    "Similarity",
    "Along",
    "Metric",
    "Mahalanobis",
    "fair_metric",
    "SameDecision",
    "ScoreGap",
    "ProbabilityGap",
    "Lipschitz",
    "Monotone",
    "Influence",
    "SameTreatment",
    "Rounding",
    "verify",
    "Result",
    "Verdict",
    "measure",
    "Disparity",
    "radius",
    "Radius",
    "near",
    "Near",
    "regions",
    "Regions",
    "Region",
    "compare",
    "Comparison",
    "audit",
    "Audit",
    "share",
    "Share",
    "groups",
    "Groups",
    "Population",
    "mine_rules",
    "MinedRule",
    "repair",
    "Repaired",
    "BlackBox",
    "Certificate",
    "load_certificate",
    "check",
    "CheckReport",
    "datasets",
    "LikewiseError",
    "SpecError",
    "DataError",
    "UnsupportedModel",
    "BudgetError",
    "CertificateError",
    "InternalError",
    "__version__",
]

# Where each name lives. No module directly below `likewise` may share a name with a function exported here:
# importing it would put the module in the function's place (hence `verifying`, not `verify`).
_HOME = {
    "Space": "likewise.spec.space",
    "Continuous": "likewise.spec.features",
    "Integer": "likewise.spec.features",
    "Categorical": "likewise.spec.features",
    "Ordinal": "likewise.spec.features",
    "Similarity": "likewise.spec.similarity",
    "Along": "likewise.spec.along",
    "Metric": "likewise.spec.metric",
    "Mahalanobis": "likewise.spec.mahalanobis",
    "fair_metric": "likewise.spec.fair_metric",
    "SameDecision": "likewise.spec.properties",
    "ScoreGap": "likewise.spec.properties",
    "ProbabilityGap": "likewise.spec.properties",
    "Lipschitz": "likewise.spec.lipschitz",
    "Monotone": "likewise.spec.named_claims",
    "Influence": "likewise.spec.named_claims",
    "SameTreatment": "likewise.spec.named_claims",
    "Rounding": "likewise.spec.named_claims",
    "verify": "likewise.verifying",
    "Result": "likewise.verifying.result",
    "Verdict": "likewise.verifying.result",
    "measure": "likewise.analysis.measure",
    "Disparity": "likewise.analysis.measure",
    "radius": "likewise.analysis.radius",
    "Radius": "likewise.analysis.radius",
    "near": "likewise.analysis.near",
    "Near": "likewise.analysis.near",
    "regions": "likewise.analysis.regions",
    "Regions": "likewise.analysis.region_result",
    "Region": "likewise.analysis.region_result",
    "compare": "likewise.analysis.compare",
    "Comparison": "likewise.analysis.compare",
    "audit": "likewise.analysis.audit",
    "Audit": "likewise.analysis.audit",
    "share": "likewise.analysis.share",
    "Share": "likewise.analysis.share_result",
    "groups": "likewise.analysis.groups",
    "Groups": "likewise.analysis.groups_result",
    "Population": "likewise.spec.population",
    "mine_rules": "likewise.analysis.mined_rules",
    "MinedRule": "likewise.analysis.mined_rules",
    "repair": "likewise.analysis.repair",
    "Repaired": "likewise.analysis.repair_result",
    "BlackBox": "likewise.importers.black_box",
    "Certificate": "likewise.certificate.certificate",
    "load_certificate": "likewise.certificate.certificate",
    "check": "likewise.verifying.certification",
    "CheckReport": "likewise.verifying.certification",
    "LikewiseError": "likewise.errors",
    "SpecError": "likewise.errors",
    "DataError": "likewise.errors",
    "UnsupportedModel": "likewise.errors",
    "BudgetError": "likewise.errors",
    "CertificateError": "likewise.errors",
    "InternalError": "likewise.errors",
}


def __getattr__(name: str) -> object:
    if name == "datasets":
        value: object = import_module("likewise.datasets")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
