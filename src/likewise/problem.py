"""Problem: a claim about a model over codes, with all that has to be done once: the model imported and compared with the original, the rows encoded.

`prepare` is the one place where a claim becomes a problem; every command and every analysis starts there and goes on with the `Problem`. Another
property or another similarity of the same model is a problem of the same import (`with_property`, `with_similarity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.errors import SpecError, UnsupportedModel
from likewise.importers.imported_model import ImportedModel, import_model
from likewise.importers.registry import is_black_box
from likewise.importers.self_check import compare_own_rows
from likewise.progress import LONG_READING
from likewise.search.feasibility import find_individual, find_moving_pair
from likewise.spec.dummy_groups import undeclared_groups
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.model_reading import READ_AS_IT_IS, ModelReading
from likewise.spec.named_claims import NamedClaim, stated_claim
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap
from likewise.spec.similarity import Relation, Similarity
from likewise.spec.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.run import Run
    from likewise.spec.allowance import Allowance
    from likewise.spec.along_parts import ResolvedAlong
    from likewise.spec.distance import Distance
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

LikeData = Literal["nearest", "frequent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Similar individuals of the space have the property under the model, as the user said it, with the model itself (a claim file only names it:
    `spec.claim.WrittenClaim`); `X` are known individuals, `codes` the same as codes of the space where they
    were encoded before, `numbers` their rows in the data where they are a part of them, `outside` what
    became of rows that are no individuals of the space (`spec.outside`). `reading`: how rows are encoded
    before the model is asked (`importers.get_dummies`), and by which threshold it decides
    (`importers.thresholded`). `like_data`: of all pairs that break it, the one nearest to a row is asked
    for, or the most frequent one by the marginals of the rows."""

    model: Any
    space: Space
    similarity: Similarity
    property: Property
    X: Any = None
    codes: Floats | None = None
    numbers: NDArray[np.int64] | None = None
    outside: Mapping[str, int] | None = None
    like_data: LikeData | None = None
    reading: ModelReading = READ_AS_IT_IS

    def __post_init__(self) -> None:
        if not isinstance(self.property, (SameDecision, ScoreGap, ProbabilityGap, Lipschitz)):
            raise SpecError(
                f"property must be SameDecision, ScoreGap, ProbabilityGap or Lipschitz, not {type(self.property).__name__}",
                hint="for instance likewise.SameDecision()",
            )
        if not isinstance(self.space, Space):
            raise SpecError(
                f"space must be a likewise.Space, not {type(self.space).__name__}",
                hint="Space.from_data(X)",
            )
        if not isinstance(self.similarity, Similarity):
            raise SpecError(
                f"similar must be a likewise.Similarity, not {type(self.similarity).__name__}",
                hint='Similarity(free=["sex"], within={"age": 2})',
            )
        if isinstance(self.property, Lipschitz) and self.similarity.along:
            raise SpecError(
                f"Lipschitz is not taken together with features that change along ({', '.join(self.similarity.along)})",
                hint="leave out along, or ask for ScoreGap(delta)",
            )

    def encoded(self) -> Floats:
        """The known individuals as codes of the space, none where there are none."""
        if self.codes is not None:
            return self.codes
        if self.X is None:
            return np.empty((0, len(self.space)))
        return self.space.encode(self.X, allow_extra=True)


def make_claim(
    model: Any,
    space: Space,
    similar: Similarity | NamedClaim | Lipschitz | None,
    property: Property | NamedClaim | None = None,
    X: Any = None,
    *,
    encoding: str | None = None,
    threshold: float | None = None,
) -> Claim:
    """The claim that the arguments of a public function make: about decisions, if nothing else is said."""
    similarity, asked = stated_claim(similar, property)
    reading = ModelReading(encoding=encoding, threshold=threshold)
    return Claim(model=model, space=space, similarity=similarity, property=asked, X=X, reading=reading)


def refuse_steepness(
    claim: Claim, what: str, hint: str = "verify, measure, compare, audit and share take it"
) -> None:
    """Refuse a claim that asks more of two the nearer they are, where nothing knows of that."""
    if isinstance(claim.property, Lipschitz):
        raise SpecError(f"no answer about {what} for a Lipschitz claim", hint=hint)


def refuse_one_way(claim: Claim, what: str, hint: str = "verify, measure, audit and share take it") -> None:
    """Refuse a claim about ordered pairs where a question is about everybody who is similar, whichever way round; and one about how fast scores change."""
    refuse_steepness(claim, what)
    if claim.similarity.one_way:
        raise SpecError(
            f"no answer about {what} for a claim in one direction ({', '.join(claim.similarity.order)})",
            hint=hint,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The claim, its model as mathematics over codes, and the similarity by feature."""

    claim: Claim
    imported: ImportedModel
    relations: tuple[Relation, ...]
    distance: Distance | None = None  # what similar individuals keep in several features together
    along: tuple[ResolvedAlong, ...] = ()  # features that change when others do

    @property
    def codes(self) -> Floats:
        """The known individuals as codes of the user's own space."""
        return self.claim.encoded()

    def missing_codes(self, codes: Floats) -> NDArray[np.bool_]:
        """Which features (rows, features) individuals miss, by codes of the user's own space."""
        space = self.imported.recoding.given
        gone = [space[name].missing_code for name in space.names]
        missing: NDArray[np.bool_] = codes == np.array([np.nan if c is None else c for c in gone])
        return missing

    def with_property(self, property: Property) -> Problem:
        """The same with another property."""
        claim = replace(self.claim, property=property)
        if not isinstance(property, Lipschitz):
            return replace(self, claim=claim)
        return replace(self, claim=claim, relations=_measured(claim, self.relations))

    def with_similarity(self, similarity: Similarity) -> Problem:
        """The same with another similarity, in which something may differ."""
        claim = replace(self.claim, similarity=similarity)
        relations = _measured(claim, similarity.resolve(claim.space))
        distance, along = similarity.distance(claim.space), similarity.equations(claim.space)
        return replace(self, claim=claim, relations=relations, distance=distance, along=along)

    @property
    def allowance(self) -> Allowance | None:
        """How far scores may be apart because two individuals are, of a Lipschitz claim."""
        asked = self.claim.property
        return asked.allowance(self.claim.space, self.relations) if isinstance(asked, Lipschitz) else None

    def pairs(self) -> PairSpace:
        """The similar pairs, in codes of the model's space."""
        return self.imported.recoding.pairs(self.relations, self.distance, self.along)

    def refuse_along(self, what: str, hint: str = "verify, measure, audit and share take it") -> None:
        """Refuse what is not known of features that change along with others."""
        if self.along:
            names = ", ".join(self.claim.similarity.along)
            raise SpecError(
                f"no answer about {what} where features change along with others ({names})", hint=hint
            )

    def refuse_distance(self, what: str, hint: str) -> None:
        """Refuse what is not known of pairs within a distance."""
        if self.distance is not None:
            raise SpecError(f"{what} where similar individuals are within a distance (a metric)", hint=hint)

    def with_model(self, model: Any, run: Run) -> Problem:
        """The same of another model, which is read for that; the rows are not encoded again."""
        return prepare(replace(self.claim, model=model), run)


def _measured(claim: Claim, relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """The relations, of a Lipschitz claim with tolerances where numbers that it measures are free."""
    asked = claim.property
    return asked.relations(claim.space, relations) if isinstance(asked, Lipschitz) else relations


def _measured_features(relations: tuple[Relation, ...], distance: Distance | None) -> frozenset[int]:
    """The features in which it counts how far two individuals are apart."""
    within = {k for k, relation in enumerate(relations) if relation.kind == "within"}
    return frozenset(within | set(() if distance is None else distance.features))


def _import_or_ask(
    claim: Claim, codes: Floats, relations: tuple[Relation, ...], distance: Distance | None, *, probable: bool
) -> tuple[ImportedModel, UnsupportedModel | None]:
    """The model read; where nothing reads it, or not so that it can be said who is similar, a model that is asked, and why."""
    if not is_black_box(claim.model):
        try:
            measured = _measured_features(relations, distance)
            imported = import_model(
                claim.model, claim.space, rows=codes, like=claim.X, measured=measured, probable=probable
            )
            imported.recoding.relations(relations)
            imported.recoding.refuse_unmeasured(distance)
            return imported, None
        except UnsupportedModel as error:
            refusal = error
        from likewise.importers.black_box import ask_instead

        asked = ask_instead(claim.model, claim.space, refusal, rows=codes, like=claim.X)
        return asked, refusal
    from likewise.importers.black_box import A_BLACK_BOX, import_black_box

    return import_black_box(claim.model, claim.space, rows=codes, like=claim.X), A_BLACK_BOX


def _as_said(claim: Claim) -> tuple[dict[str, Any], Claim]:
    """What is known of how rows are encoded for the model and of its threshold, and the claim with a model
    of rows as they are that decides by it."""
    reading, model, known = claim.reading, claim.model, dict[str, Any]()
    if reading.encoding is not None:
        from likewise.importers.get_dummies import encoding_of, with_encoding

        model = with_encoding(model, claim.space, reading.encoding, claim.X)
        step = encoding_of(model)
        known["encoding"] = None if step is None else step.stats
    if reading.threshold is not None:
        from likewise.importers.thresholded import with_threshold

        model = with_threshold(model, claim.space, reading.threshold)
        known["threshold"] = model.stats
    return known, replace(claim, model=model)


def prepare(claim: Claim, run: Run, *, alone: bool = False, probable: bool = False) -> Problem:
    """Import the model and compare it with the original; raises what is wrong with the user's input. `alone`: also where nobody is similar to
    anybody else; `probable`: its probabilities are looked at, whatever the claim is about."""
    clock, similar, space = run.budget, claim.similarity, claim.space
    run.tell("reading the model and comparing it with the original")
    with clock.importing():
        said, claim = _as_said(claim)
        relations = _measured(claim, similar.relations(space) if alone else similar.resolve(space))
        distance = similar.distance(space)
        codes = claim.encoded()
        probable = probable or isinstance(claim.property, ProbabilityGap)
        imported, refusal = _import_or_ask(claim, codes, relations, distance, probable=probable)
        compared = compare_own_rows(imported, claim.X, codes, claim.numbers)
        dummies = tuple(group.stats for group in undeclared_groups(space, codes)) if len(codes) else ()
        compared = replace(compared, outside=claim.outside, dummies=dummies, **said)
        if refusal is not None:
            compared = replace(compared, unread=refusal.message, readable=refusal.hint)
        imported = replace(imported, compared=compared)
        if imported.compared.single:
            imported = replace(imported, program=replace(imported.program, bounds=(None,)))
        along = similar.equations(space)
        if imported.space.constraints:
            find_individual(imported.space)
            find_moving_pair(imported.recoding.pairs(relations, distance, along))
    if clock.stats["import_seconds"] > LONG_READING:
        run.tell(f"reading the model took {clock.stats['import_seconds']:.0f} s")
    return Problem(
        claim=replace(claim, codes=codes),
        imported=imported,
        relations=relations,
        distance=distance,
        along=along,
    )
