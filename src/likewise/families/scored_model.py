"""A scored model: embedding, n >= 1 bodies of one family and head together.

The scores of a model are its real-number semantics and what every verdict refers to: each is had for one individual to any precision, and for
many in float64 (`Score`); `Scores` has all of them, and forms of them as scores of one number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError
from likewise.families.registry import family_of
from likewise.model.embedding import Column
from likewise.model.head import Head

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, Body, ComputedColumn, Rounding, Score
    from likewise.families.program_rounding import ErrorBound
    from likewise.model.conditions import Alpha, Enclosures
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """What an importer makes of a fitted estimator; `family` names the estimator for people. There is a body a score, all of them of one
    family and over one embedding, as `Family.join` makes them."""

    family: str
    rounding: Rounding | None
    embedding: tuple[
        Column, ...
    ]  # empty for trees, which test codes themselves, and for combined bodies, whose parts have their own
    bodies: tuple[Body, ...]
    head: Head

    @property
    def n_scores(self) -> int:
        return len(self.bodies)

    @property
    def body(self) -> Body:
        """The body of the only score."""
        if len(self.bodies) != 1:
            raise InternalError(f"{self.family} has {len(self.bodies)} scores, and one was asked for")
        return self.bodies[0]

    def exact(self, codes: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """All scores of an individual, for families whose scores are rational."""
        return tuple(body.score(self.embedding, len(codes)).exact(codes) for body in self.bodies)

    def decide(self, codes: Sequence[Fraction]) -> object:
        """The label of an individual, for families whose scores are rational."""
        return self.head.decide(self.exact(codes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeparateRounding:
    """The original program computes every score as that of a model of its own. No certificate states it."""

    parts: tuple[Model, ...]

    def errors(self, model: Model, codes: NDArray[np.float64]) -> list[Fraction]:  # noqa: ARG002
        raise InternalError("several scores have an error each")

    def bound(self, model: Model, space: Space) -> ErrorBound | None:  # noqa: ARG002
        return None  # but what their parts tell, see `program_rounding`

    def certified_error(self, model: Model, space: Space) -> Fraction | None:  # noqa: ARG002
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: AffineMap) -> SeparateRounding:  # noqa: ARG002
        raise InternalError("nothing stands around several scores")

    def undescribed(self) -> None:
        return None

    def of_single_columns(self, *_: object, **__: object) -> None:
        raise InternalError("columns are described before scores are joined")

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> SeparateRounding:  # noqa: ARG002
        raise InternalError("columns are described before scores are joined")


def rounding_error(model: Model, space: Space) -> Fraction | None:
    """The largest rounding error of the original program's score over the whole space, where a certificate states it."""
    return None if model.rounding is None else model.rounding.certified_error(model, space)


def program_parts(model: Model) -> tuple[Model, ...]:
    """The models whose scores the original program computes: of each score, or all in one."""
    return model.rounding.parts if isinstance(model.rounding, SeparateRounding) else (model,)


def scores_of(model: Model, n_features: int, *, mirrored: bool = False) -> Score | Scores:
    """The only score of a model, or the same negated (`mirrored`), or all scores of several."""
    if model.n_scores > 1:
        return Scores(model, n_features)
    score = only_score(model, n_features)
    return score.negated() if mirrored else score


def only_score(model: Model, n_features: int) -> Score:
    """The only score over codes."""
    return model.body.score(model.embedding, n_features)


class Scores:
    """All scores of a model over the codes of a space."""

    def __init__(self, model: Model, n_features: int) -> None:
        self.model, self.n_features = model, n_features
        self.family = family_of(model.bodies[0])
        self.family.check(model.bodies)
        self.forms: dict[Alpha, Score] = {}
        self.parts: list[Score] = []
        count = model.n_scores
        for n in range(count):
            self.parts.append(self.form(tuple(Fraction(n == k) for k in range(count))))

    def form(self, alpha: Alpha) -> Score:
        """alpha . f as a score; made once."""
        if alpha not in self.forms:
            _check_length(self.model, alpha)
            self.forms[alpha] = self.family.form_score(self.model, self.parts, alpha, self.n_features)
        return self.forms[alpha]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, one column a score; for proposing, never for deciding."""
        return self.family.scores(self.parts, codes)

    def scorer(self) -> Callable[[Floats], Floats]:
        """`scores` for many calls."""
        return self.scores

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        """All scores of one individual, to about so many bits."""
        return tuple(part.enclose(codes, bits) for part in self.parts)

    def depends(self, feature: int) -> bool:
        """Whether any score can change with a feature."""
        return any(part.depends(feature) for part in self.parts)

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at."""
        return self.parts[0].landmarks(space)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        if self.family.shared_work:
            return self.parts[0].cost
        return sum(part.cost for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return all(part.rational for part in self.parts)


def form_body(model: Model, alpha: Sequence[Fraction | int]) -> Body:
    """alpha . f as a body of the same family, for families whose forms are."""
    _check_length(model, alpha)
    return family_of(model.bodies[0]).form(model.bodies, tuple(Fraction(a) for a in alpha))


def _check_length(model: Model, alpha: Sequence[Fraction | int]) -> None:
    if len(alpha) != model.n_scores:
        raise InternalError(f"a form of {model.n_scores} scores takes as many numbers, not {len(alpha)}")
