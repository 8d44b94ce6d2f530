"""The kinds of certificates: for each rule, property and shape of a claim one small problem that needs it.

`run(name)` solves the problem once a session and gives the certificate, with what the engine said of it.
`SMALL` and `CURVED` are those that are mutated and kept as golden files, `LATER`, `NEWEST` and `COMING` are kept apart from them; `LARGE` are checked only.
"""

import functools
import gzip
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.strategies import logistic_model, regression_model, svc_model, two_rows

import likewise as lw
from likewise.certificate.certificate import Certificate

SEX = lw.Similarity(free=["sex"])
BINARY = lw.Categorical([0, 1])


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A problem; `of` asks `measure`, else `verify` is asked for `property` and answers `verdict`."""

    model: Any
    space: lw.Space
    similar: lw.Similarity = SEX
    property: Any = field(default_factory=lw.SameDecision)
    of: str | None = None
    verdict: str = "FAIR"
    rules: frozenset[str] = frozenset()  # that the proof must use
    nodes: int = 1  # that it must have at least
    discrete: bool = False  # small enough to be exhausted

    tolerance: float = 1e-6

    def solve(self, **options: Any) -> Any:
        if self.of is not None:
            options |= {"of": self.of, "tolerance": self.tolerance, "certify": True}
            return lw.measure(self.model, self.space, self.similar, **options)
        return lw.verify(self.model, self.space, self.similar, self.property, **options)


@dataclass(frozen=True, kw_only=True)
class Solved:
    kind: Kind
    result: Any
    certificate: Certificate

    @property
    def lines(self) -> list[Any]:
        return [json.loads(text) for text in gzip.decompress(self.certificate.content).splitlines()]

    @property
    def end(self) -> dict[str, Any]:
        return self.lines[-1]["end"]


def masked() -> Kind:
    """Sex has no weight: one leaf, `independent`."""
    space = lw.Space({"age": lw.Integer(18, 90), "income": lw.Continuous(0, 1e5), "sex": BINARY})
    model = logistic_model([0.03, 1e-5, 0.0], -2.1, space.names)
    return Kind(model=model, space=space, rules=frozenset({"independent"}))


def parity(size: int, largest: int, *, continuous: bool = True, nodes: int = 1, step: float = 0.5) -> Kind:
    """Even weights never sum to the odd bound: fair through a gap between integers, by search only.

    A continuous feature that matters less than the gap keeps cells from being looked through.
    """
    weights = 2.0 * np.random.default_rng(0).integers(largest // 2, largest, size)
    features: dict[str, Any] = {f"b{i}": lw.Integer(0, 1) for i in range(size)}
    tail = [step]
    if continuous:
        features["age"] = lw.Continuous(0, 1)
        tail = [0.25, step]
    space = lw.Space({**features, "sex": BINARY})
    bias = -weights[: size // 2].sum() - 1
    rule = "separable" if continuous else "enumerated"
    return Kind(
        model=logistic_model([*weights, *tail], bias, space.names),
        space=space,
        rules=frozenset({"split", rule}),
        nodes=nodes,
        discrete=not continuous,
    )


def regression() -> Kind:
    space = lw.Space({"age": lw.Integer(0, 30), "income": lw.Continuous(-1, 1), "sex": BINARY})
    return Kind(
        model=regression_model([0.3, -1.7, 0.1], 0.2, space.names),
        space=space,
        property=lw.ScoreGap(0.4001),
        similar=lw.Similarity(free=["sex"], within={"age": 1}),
        rules=frozenset({"separable"}),
    )


def one_way(feature: str, way: str, **changes: Any) -> Kind:
    """A regression that falls with income."""
    similar = lw.Similarity(order={feature: way}, within={"age": 1})
    return replace(regression(), similar=similar, property=lw.ScoreGap(0.3001), **changes)


def along(equations: dict[str, lw.Along], *, within: dict[str, Any] | None = None, **changes: Any) -> Kind:
    """A regression, of pairs in which something changes along with sex or age."""
    similar = lw.Similarity(free=["sex"], within=within, along=equations)
    return replace(regression(), similar=similar, **({"rules": frozenset({"separable"})} | changes))


def employed(equations: dict[str, Any], **changes: Any) -> Kind:
    """A regression over jobs, sectors and age, of pairs in which something changes along with sex, by a table or in some sectors only."""
    space = lw.Space(
        {
            "age": lw.Integer(0, 30),
            "job": lw.Categorical(["clerk", "nurse", "smith"]),
            "sector": BINARY,
            "sex": BINARY,
        }
    )
    columns = make_column_transformer(
        (OneHotEncoder(), ["job"]), ("passthrough", ["age", "sector", "sex"]), verbose_feature_names_out=False
    )
    rows = pd.DataFrame(
        [
            (age, job, sector, sex)
            for age in (0, 30)
            for job in ("clerk", "nurse", "smith")
            for sector in (0, 1)
            for sex in (0, 1)
        ],
        columns=list(space.names),
    )
    score = (
        rows.job.map({"clerk": 0.5, "nurse": -0.25, "smith": 1.0})
        + 0.25 * rows.age
        - 0.5 * rows.sector
        + 0.5 * rows.sex
    )
    model = make_pipeline(columns, LinearRegression()).fit(rows, score)
    similar = lw.Similarity(free=["sex"], along=equations)
    kind = Kind(
        model=model, space=space, similar=similar, property=lw.ScoreGap(1.8), rules=frozenset({"separable"})
    )
    return replace(kind, **changes)


def _probable(weights: tuple[float, ...] = (4.0, 1.0, 1.5)) -> tuple[Any, lw.Space]:
    space = lw.Space({"steps": lw.Integer(-2, 3), "rest": lw.Continuous(0, 1), "sex": BINARY})
    return logistic_model(weights, 0.3, space.names), space


def probability() -> Kind:
    """No pair stands astride 1/2, so that each cell needs a tangent of its own."""
    model, space = _probable()
    return Kind(
        model=model,
        space=space,
        property=lw.ProbabilityGap(0.29),
        rules=frozenset({"split", "separable"}),
        nodes=5,
    )


def _counted(weights: tuple[float, ...], bias: float, names: tuple[str, ...]) -> Any:
    """A model of counts: exp of a line."""
    model = PoissonRegressor().fit(two_rows(names), [1.0, 2.0])
    model.coef_, model.intercept_ = np.array(weights), bias
    return model


def prediction() -> Kind:
    """Predictions are further apart the larger they are, so that each cell needs a tangent of its own."""
    space = lw.Space({"steps": lw.Integer(-2, 3), "rest": lw.Continuous(0, 1), "sex": BINARY})
    return Kind(
        model=_counted((0.5, 0.5, 0.25), 0.25, space.names),
        space=space,
        similar=lw.Similarity(free=["sex"], within={"steps": 1}),
        property=lw.ScoreGap(8.25),
        rules=frozenset({"separable"}),
    )


def constrained() -> Kind:
    """Both sides free and an equation between them: multipliers, and cells that hold nobody."""
    space = lw.Space(
        {"a": lw.Integer(0, 10), "b": lw.Integer(0, 10), "sex": BINARY, "c": lw.Continuous(0, 1)}
    )
    space = space.where("3*a + 5*b == 7 + 8*sex", "c <= a")
    return Kind(
        model=logistic_model([2.0, 2.0, 0.5, 1 / 64], -3.0, space.names),
        space=space,
        similar=lw.Similarity(free=["sex", "a", "b"]),
        rules=frozenset({"split", "separable", "empty"}),
        nodes=9,
    )


def within() -> Kind:
    """Tolerances on an integer, a continuous and an ordinal feature; decided by a margin."""
    space = lw.Space(
        {
            "age": lw.Integer(0, 3),
            "income": lw.Continuous(0, 1),
            "school": lw.Ordinal([0, 1, 3, 4]),
            "step": lw.Categorical([-20, 5, 30]),
        }
    )
    return Kind(
        model=logistic_model([0.5, 2.0, -0.25, 1.0], -1.0, space.names),
        space=space,
        similar=lw.Similarity(within={"age": 2, "income": 0.25, "school": 1}),
        property=lw.SameDecision(0.75),
        rules=frozenset({"split", "separable"}),
        nodes=3,
    )


def svc() -> Kind:
    """Zero is upper: the proof speaks of -f, and a score of exactly zero is on the border."""
    space = lw.Space({"a": lw.Integer(0, 7), "b": lw.Integer(0, 7), "c": lw.Continuous(0, 1), "sex": BINARY})
    return Kind(
        model=svc_model([2.0, 6.0, 0.125, 0.5], -15.0, space.names),
        space=space,
        property=lw.SameDecision(0.125),
        rules=frozenset({"split", "separable"}),
        nodes=5,
    )


def score_bound() -> Kind:
    space = lw.Space({"a": lw.Integer(0, 5), "b": lw.Continuous(0, 1), "sex": BINARY})
    return Kind(
        model=logistic_model([0.3, 0.7, -0.9], 0.1, space.names),
        space=space,
        similar=lw.Similarity(free=["sex"], within={"b": 0.5}),
        of="score",
        rules=frozenset({"separable"}),
    )


def margin_bound() -> Kind:
    kind = parity(5, 30)
    return Kind(model=kind.model, space=kind.space, of="margin", rules=frozenset({"split"}), nodes=3)


def probability_bound() -> Kind:
    model, space = _probable()
    return Kind(model=model, space=space, of="probability", rules=frozenset({"split", "separable"}), nodes=3)


def witness_of(property: Any, make: Callable[..., Any] = logistic_model) -> Kind:
    space = lw.Space({"a": lw.Integer(0, 5), "b": lw.Continuous(0, 1), "sex": BINARY}).where("a + 2*b <= 6")
    return Kind(
        model=make([0.75, -0.5, 1.25], -1.5, space.names),
        space=space,
        similar=lw.Similarity(free=["sex"], within={"b": 0.5}),
        property=property,
        verdict="BIASED",
    )


SMALL: dict[str, Callable[[], Kind]] = {
    "masked": masked,
    "gaps": lambda: parity(6, 40, nodes=20),
    "regression": regression,
    "probability": probability,
    "enumerated": lambda: parity(7, 40, continuous=False, nodes=3),
    "constrained": constrained,
    "within": within,
    "svc": svc,
    "score-bound": score_bound,
    "margin-bound": margin_bound,
    "probability-bound": probability_bound,
    "witness-decision": lambda: witness_of(lw.SameDecision(0.1)),
    "witness-svc": lambda: witness_of(lw.SameDecision(), svc_model),
    "witness-score": lambda: witness_of(lw.ScoreGap(1.25), regression_model),
    "witness-probability": lambda: witness_of(lw.ProbabilityGap(0.2)),
}


def svm(kernel: str, **options: Any) -> tuple[SVC, lw.Space]:
    """A machine of few support vectors on a small discrete space."""
    random = np.random.default_rng(7)
    rows = pd.DataFrame({"age": random.integers(0, 7, 40), "job": random.integers(0, 3, 40)})
    rows["sex"] = random.integers(0, 2, 40)
    signal = rows.age + 2.0 * (rows.job == 1) + 0.3 * rows.sex
    space = lw.Space({"age": lw.Integer(0, 6), "job": lw.Categorical([0, 1, 2]), "sex": BINARY})
    return SVC(kernel=kernel, **options).fit(rows, signal > 3.2), space


def curved(kernel: str, rules: set[str], *, nodes: int = 3, **changes: Any) -> Kind:
    options = {"C": 3.0, "gamma": 0.1} | ({"degree": 3, "coef0": 1.0} if kernel == "poly" else {})
    model, space = svm(kernel, **options)
    return Kind(model=model, space=space, rules=frozenset(rules), nodes=nodes, **changes)


def squares() -> Kind:
    """A quadratic whose margin one sum of squares bounds, where cells would have to be split often."""
    random = np.random.default_rng(1)
    rows = pd.DataFrame(random.uniform(-1, 1, (30, 3)), columns=["a", "b", "c"]).assign(
        sex=random.integers(0, 2, 30)
    )
    target = rows.a * rows.b - rows.b * rows.c + 0.4 * rows.sex * rows.a > 0
    model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=0.5, C=2.0).fit(rows, target)
    space = lw.Space({**dict.fromkeys("abc", lw.Continuous(-1, 1)), "sex": BINARY})
    return Kind(model=model, space=space, rules=frozenset({"split", "sos"}), of="margin", tolerance=1e-3)


def trees(**changes: Any) -> Kind:
    """Boosted trees of few leaves, over numbers, levels and missing values; `of` the score where nothing else is said."""
    random = np.random.default_rng(3)
    rows = pd.DataFrame(
        {"age": random.integers(0, 6, 80).astype(float), "income": random.uniform(0, 1, 80).round(2)}
    )
    rows["sex"] = random.integers(0, 2, 80)
    signal = rows.age + 3 * rows.income + 2 * rows.sex > 5
    rows.loc[::9, "age"] = np.nan
    model = HistGradientBoostingClassifier(
        max_iter=4, max_leaf_nodes=5, min_samples_leaf=4, early_stopping=False
    )
    space = lw.Space({"age": lw.Integer(0, 5, missing=True), "income": lw.Continuous(0, 1), "sex": BINARY})
    kind = {"of": "score", "rules": frozenset({"split", "trees"}), "nodes": 3} | changes
    return Kind(model=model.fit(rows, signal), space=space, tolerance=0, **kind)


NEAR = lw.Similarity(free=["sex"], within={"age": 1})
RISING = lw.Similarity(free=["sex"], within={"age": 2}, order={"age": "up"})
CURVED: dict[str, Callable[[], Kind]] = {  # scores that are no sums of one-feature terms
    "kernel-score": lambda: curved("rbf", {"split", "kernel"}, of="score", nodes=5),
    "kernel-margin": lambda: curved("rbf", {"split", "kernel"}, of="margin"),
    "kernel-within": lambda: curved("rbf", {"split", "kernel"}, similar=NEAR, of="score", nodes=5),
    "polynomial": lambda: curved("poly", {"split", "polynomial"}, of="score", nodes=3),
    "polynomial-within": lambda: curved("poly", {"split", "polynomial"}, similar=NEAR, of="score", nodes=3),
    "sos": squares,
    "trees-within": lambda: trees(similar=NEAR),
    "witness-trees": lambda: trees(of=None, rules=frozenset(), verdict="BIASED"),
    "witness-polynomial": lambda: curved("poly", set(), verdict="BIASED"),
    "witness-kernel": lambda: curved("rbf", set(), verdict="BIASED"),
}


def votes(**asked: Any) -> Kind:
    """A logistic model and a tree that vote by their probabilities: neither sees much of the sex."""
    space = lw.Space({"age": lw.Continuous(0, 7), "sex": BINARY})
    X = space.decode(np.array([[age, sex] for age in range(8) for sex in range(2)], dtype=float))
    y = np.array([0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1])
    members = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    model = VotingClassifier(members, voting="soft").fit(X.astype(float), y)
    return Kind(model=model, space=space, **asked)


def grouped(**asked: Any) -> Kind:
    """A machine on one-hot columns of which one is dropped and one shared by infrequent levels."""
    random = np.random.default_rng(11)
    rows = pd.DataFrame({"age": random.integers(0, 7, 60), "job": random.choice([*"aaabbbccde"], 60)})
    rows["sex"] = random.integers(0, 2, 60)
    signal = rows.age + 2.0 * (rows.job == "b") + 0.3 * rows.sex
    jobs = OneHotEncoder(drop=["a"], min_frequency=0.15)
    columns = ColumnTransformer([("jobs", jobs, ["job"])], remainder="passthrough")
    space = lw.Space({"age": lw.Integer(0, 6), "job": lw.Categorical([*"abcde"]), "sex": BINARY})
    model = make_pipeline(columns, SVC(C=3.0, gamma=0.1)).fit(rows, signal > 3.2)
    return Kind(model=model, space=space, rules=frozenset({"split", "kernel"}), of="score", nodes=5, **asked)


def mixed(numbers: Any, final: Any, *more: Any, **asked: Any) -> Kind:
    """A kernel model on columns that are bent or mixed."""
    random = np.random.default_rng(5)
    rows = pd.DataFrame({"income": random.uniform(0, 4, 25), "debt": random.uniform(0, 2, 25)})
    rows["sex"] = random.integers(0, 2, 25)
    front = ColumnTransformer([("income", numbers, ["income"])], remainder="passthrough")
    model = make_pipeline(front, *more, final).fit(rows, rows.income / 2 - rows.debt + 0.3 * rows.sex)
    space = lw.Space({"income": lw.Continuous(0, 4), "debt": lw.Continuous(0, 2), "sex": BINARY})
    return Kind(model=model, space=space, **asked)


def forest(**asked: Any) -> Kind:
    """A few trees whose largest leaves exclude each other."""
    random = np.random.default_rng(3)
    rows = pd.DataFrame({"age": random.integers(0, 6, 80), "income": random.uniform(0, 1, 80).round(2)})
    rows["sex"] = random.integers(0, 2, 80)
    target = rows.age * (1 + rows.sex) + 3 * rows.income**2
    space = lw.Space({"age": lw.Integer(0, 5), "income": lw.Continuous(0, 1), "sex": BINARY})
    model = RandomForestRegressor(5, max_depth=3, random_state=1).fit(rows, target.round())
    return Kind(model=model, space=space, rules=frozenset({"trees"}), **asked)


def nested(*steps: Any, number: Callable[[int, int], Any] = lw.Integer, **asked: Any) -> Kind:
    """Trees that see sums of features, or a median of trees; classifiers get three classes."""
    random = np.random.default_rng(6)
    rows = pd.DataFrame({"age": random.integers(0, 7, 120), "income": random.integers(0, 5, 120)})
    rows["sex"] = random.integers(0, 2, 120)
    target = rows.age / 2 + rows.income - 0.4 * rows.sex * rows.age
    label = np.digitize(target, [1.5, 3.5]) if isinstance(steps[-1], DecisionTreeClassifier) else target
    space = lw.Space({"age": number(0, 6), "income": number(0, 4), "sex": BINARY})
    return Kind(model=make_pipeline(*steps).fit(rows, label), space=space, **asked)


def oblique(**asked: Any) -> Kind:
    """One tree behind two components."""
    return nested(StandardScaler(), PCA(2), DecisionTreeRegressor(max_depth=2, random_state=0), **asked)


def near(kind: str, **asked: Any) -> Kind:
    """A line over pairs that are near each other by a metric, with costs of levels."""
    space = lw.Space({"age": lw.Integer(0, 4), "job": lw.Categorical(["a", "b", "c"]), "sex": BINARY})
    metric = lw.Metric(
        kind, weights={"age": "1/2"}, costs={"job": {("a", "b"): 0.75, ("b", "c"): 0.25}, "sex": 1}
    )
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), LinearRegression()
    )
    X = space.decode(np.array([[a, j, s] for a in range(5) for j in range(3) for s in range(2)], dtype=float))
    model.fit(X, X.age * 0.5 + X.job.map({"a": 0.0, "b": 1.0, "c": -0.5}) + X.sex.astype(float))
    return Kind(model=model, space=space, similar=lw.Similarity(metric=metric, radius=1), **asked)


def tied(**asked: Any) -> Kind:
    """A line over pairs that are near each other by a Mahalanobis distance: squares of sums of features, beside a constraint."""
    space = lw.Space({"age": lw.Integer(0, 3), "income": lw.Continuous(0, 2), "sex": BINARY})
    matrix = [["1/4", "1/8", "1/8"], ["1/8", "1/2", 0], ["1/8", 0, 1]]
    metric = lw.Mahalanobis(matrix, columns=["age", "income", ("sex", 1)])
    return Kind(
        model=regression_model([0.5, -0.75, 0.25], 0.0, space.names),
        space=space.where("income <= age"),
        similar=lw.Similarity(metric=metric, radius=1),
        **asked,
    )


def rising(model: Any, **asked: Any) -> Kind:
    """Somebody older is compared with somebody younger; three classes, or whether the class is not the lowest."""
    random = np.random.default_rng(5)
    rows = pd.DataFrame({"age": random.integers(0, 7, 200), "income": random.uniform(0, 1, 200).round(3)})
    rows["sex"] = random.integers(0, 2, 200)
    label = np.digitize(rows.age + 3 * rows.income + 0.3 * rows.sex, [3, 5.5])
    space = lw.Space({"age": lw.Integer(0, 6), "income": lw.Continuous(0, 1), "sex": BINARY})
    fitted = model.fit(rows, label > 0 if isinstance(model, MLPClassifier) else label)
    return Kind(model=fitted, space=space, **({"similar": RISING} | asked))


def rising_classes(model: Any, delta: float, rules: set[str]) -> Kind:
    return rising(model, property=lw.ProbabilityGap(delta, class_of_interest=2), rules=frozenset(rules))


LATER: dict[str, Callable[[], Kind]] = {
    "prediction": prediction,
    "sum": lambda: votes(property=lw.ProbabilityGap(0.45), rules=frozenset({"sum"})),
    "witness-sum": lambda: votes(property=lw.ProbabilityGap(0.05), verdict="BIASED"),
    "witness-prediction": lambda: witness_of(lw.ScoreGap(1.25), _counted),
}
NEWEST: dict[str, Callable[[], Kind]] = {
    "one-way": lambda: one_way("income", "down"),
    "one-way-trees": lambda: trees(similar=lw.Similarity(free=["sex"], order={"income": "down"})),
    "one-way-kernel": lambda: curved("rbf", {"split", "kernel"}, similar=RISING, of="score", nodes=3),
    "one-way-polynomial": lambda: curved(
        "poly", {"split", "polynomial"}, similar=RISING, of="score", nodes=3
    ),
    "one-way-network": lambda: rising(
        MLPClassifier((3, 2), random_state=1, max_iter=2000),
        of="score",
        tolerance=1e-2,
        rules=frozenset({"network", "neuron"}),
    ),
    "one-way-odds": lambda: rising_classes(LogisticRegression(), 0.1875, {"cases", "odds"}),
    "one-way-softmax": lambda: rising_classes(
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, early_stopping=False),
        0.1,
        {"cases", "split", "softmax"},
    ),
    "witness-one-way": lambda: one_way("income", "up", verdict="BIASED", rules=frozenset()),
    "distance-sum": lambda: near("l1", of="score"),
    "distance-squares": lambda: near("l2", of="score"),
    "witness-distance": lambda: near("l1", property=lw.ScoreGap(0.5), verdict="BIASED"),
    "distance-forms": lambda: tied(property=lw.ScoreGap(1.8), rules=frozenset({"separable"}), nodes=3),
    "witness-forms": lambda: tied(property=lw.ScoreGap(1.7), verdict="BIASED"),
    "sum-difference": lambda: votes(property=lw.ProbabilityGap(0.08), rules=frozenset({"sum"})),
    "kernel-grouped": grouped,
    "kernel-grouped-within": lambda: grouped(similar=NEAR),
}
MIXED = frozenset({"split", "mixed"})
ALONG = lw.Similarity(free=["sex"], along={"age": lw.Along("sex", {(0, 1): -1})})
COMING: dict[str, Callable[[], Kind]] = {
    "kernel-chords": lambda: curved("rbf", {"split", "chords"}, property=lw.ScoreGap(1.0), nodes=5),
    "kernel-chords-within": lambda: curved(
        "rbf", {"split", "chords"}, similar=NEAR, property=lw.ScoreGap(8.0)
    ),
    "along": lambda: along({"age": lw.Along("sex", {(0, 1): (-3, -2)})}, property=lw.ScoreGap(0.9001)),
    "along-rate": lambda: along(
        {"income": lw.Along("age", rate="1/2")}, property=lw.ScoreGap(0.6501), within={"age": 1}
    ),
    "along-trees": lambda: trees(
        similar=lw.Similarity(
            free=["sex"], within={"income": 0.25}, along={"income": lw.Along("sex", {(0, 1): -0.5})}
        )
    ),
    "along-table": lambda: employed(
        {"job": lw.Along("sex", table={(0, 1): {"smith": ["clerk", "nurse"], "nurse": []}})}
    ),
    "along-where": lambda: employed(
        {
            "age": [
                lw.Along("sex", {(0, 1): -4}, where={"sector": [1]}),
                lw.Along("sex", {(0, 1): (-3, -2)}, where={"job": ["clerk", "smith"]}),
            ]
        }
    ),
    "witness-along-table": lambda: employed(
        {"job": lw.Along("sex", table={(0, 1): {"smith": "nurse"}}, where={"age": {"from": 10}})},
        property=lw.ScoreGap(0.6),
        verdict="BIASED",
        rules=frozenset(),
    ),
    "along-kernel": lambda: curved("rbf", {"split", "kernel"}, similar=ALONG, of="score", nodes=3),
    "along-polynomial": lambda: curved("poly", {"polynomial"}, similar=ALONG, of="score", nodes=3),
    "along-classes": lambda: rising(
        LogisticRegression(),
        similar=ALONG,
        property=lw.ScoreGap(2.5),
        rules=frozenset({"cases", "separable"}),
    ),
    "witness-along": lambda: along(
        {"age": lw.Along("sex", {(0, 1): (-3, -2)})},
        property=lw.ScoreGap(0.5),
        verdict="BIASED",
        rules=frozenset(),
    ),
    "mixed-components": lambda: mixed(
        StandardScaler(), SVR(gamma=0.1), PCA(2), property=lw.ScoreGap(1.5), rules=MIXED, nodes=3
    ),
    "mixed-bins": lambda: mixed(
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        SVR(gamma=0.1),
        property=lw.ScoreGap(1.5),
        rules=MIXED,
        nodes=3,
    ),
    "mixed-laplacian": lambda: mixed(
        SplineTransformer(3, degree=2),
        KernelRidge(kernel="laplacian", gamma=0.1),
        property=lw.ScoreGap(1.5),
        rules=MIXED,
        nodes=3,
    ),
    "witness-mixed": lambda: mixed(
        SplineTransformer(3, degree=2), SVR(gamma=0.1), property=lw.ScoreGap(0.05), verdict="BIASED"
    ),
    "trees-together": lambda: forest(similar=NEAR, property=lw.ScoreGap(6)),
    "nested-trees": lambda: oblique(
        similar=lw.Similarity(within={"age": 1}),
        property=lw.ScoreGap(2),
        rules=frozenset({"split", "nested"}),
        nodes=3,
    ),
    "nested-inner": lambda: nested(
        StandardScaler(),
        PCA(2),
        GradientBoostingRegressor(n_estimators=3, max_depth=2, learning_rate=0.5, random_state=0),
        number=lw.Continuous,
        property=lw.ScoreGap(3.3),
        rules=frozenset({"inner", "nested"}),
        nodes=3,
    ),
    "nested-median": lambda: nested(
        AdaBoostRegressor(DecisionTreeRegressor(max_depth=2, random_state=0), n_estimators=3, random_state=0),
        property=lw.ScoreGap(1.5),
        rules=frozenset({"split", "nested"}),
        nodes=3,
    ),
    "nested-classes": lambda: nested(
        PCA(2),
        DecisionTreeClassifier(max_depth=2, random_state=0),
        property=lw.ProbabilityGap(0.7, class_of_interest=2),
        rules=frozenset({"cases", "nested"}),
    ),
    "witness-nested": lambda: oblique(property=lw.ScoreGap(1), verdict="BIASED"),
}


def steep(estimator: Any, constant: float, space: lw.Space, metric: Any, **changes: Any) -> Kind:
    """A score that changes no faster than a distance."""
    random = np.random.default_rng(4)
    rows = pd.DataFrame(random.integers(0, 4, (60, 3)), columns=["age", "income", "sex"]).assign(
        sex=random.integers(0, 2, 60)
    )
    target = rows.age * rows.income / 4 - rows.income + rows.sex
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator.fit(rows, target)
    return Kind(
        model=model, space=space, similar=lw.Similarity(), property=lw.Lipschitz(constant, metric), **changes
    )


WHOLE = lw.Space({"age": lw.Integer(0, 3), "income": lw.Integer(0, 3), "sex": BINARY})
REAL = lw.Space({"age": lw.Continuous(0, 3), "income": lw.Continuous(0, 3), "sex": BINARY})
APART = {kind: lw.Metric(kind, weights={"age": 1, "income": "1/2"}) for kind in ("l1", "l2", "linf")}
PRICED = lw.Metric("l1", weights={"age": 1, "income": 1}, costs={"sex": 1})
MATRIX = lw.Mahalanobis([[1, "1/2"], ["1/2", 1]], columns=["age", "income"])
STEEP: dict[str, Callable[[], Kind]] = {
    "lipschitz-line": lambda: steep(LinearRegression(), 5, REAL, APART["l2"], rules=frozenset({"separable"})),
    "lipschitz-levels": lambda: steep(LinearRegression(), 3, WHOLE, PRICED, rules=frozenset({"separable"})),
    "lipschitz-matrix": lambda: steep(LinearRegression(), 3, WHOLE, MATRIX, rules=frozenset({"split"})),
    "lipschitz-slope": lambda: steep(
        SVR(kernel="poly", degree=2, coef0=1, gamma=0.2), 6, REAL, APART["linf"], rules=frozenset({"slope"})
    ),
    "lipschitz-network": lambda: steep(
        MLPRegressor(hidden_layer_sizes=(3,), max_iter=60, random_state=0),
        4,
        REAL,
        APART["l1"],
        rules=frozenset({"slope"}),
    ),
    "lipschitz-kernel": lambda: steep(
        SVR(gamma=0.2), 6, WHOLE, PRICED, rules=frozenset({"split", "identical"})
    ),
    "lipschitz-trees": lambda: steep(
        DecisionTreeRegressor(max_depth=3, random_state=0),
        6,
        WHOLE,
        APART["l2"],
        rules=frozenset({"split", "trees"}),
    ),
    "witness-lipschitz": lambda: steep(LinearRegression(), 0.1, REAL, APART["l2"], verdict="BIASED"),
}
LARGE: dict[str, Callable[[], Kind]] = {
    "trees-score": lambda: trees(rules=frozenset({"trees"}), nodes=1),
    "trees-margin": lambda: trees(of="margin", rules=frozenset({"trees"}), nodes=1),
    "trees-decision": lambda: trees(
        of=None, property=lw.SameDecision(0.38), rules=frozenset({"trees"}), nodes=1
    ),
    "many-gaps": lambda: parity(11, 1000, nodes=1000),
    "many-enumerated": lambda: parity(11, 1000, continuous=False, nodes=200),
}
KINDS = SMALL | CURVED | LATER | NEWEST | COMING | STEEP | LARGE


@functools.cache
def run(name: str) -> Solved:
    """The problem of this name with its answer; solved once a session."""
    kind = KINDS[name]()
    result = kind.solve()
    assert result.certificate is not None, f"{name}: {result}"
    return Solved(kind=kind, result=result, certificate=result.certificate)
