"""A scored model: embedding, n >= 1 bodies of one family and head together.

The scores of a model are its real-number semantics and what every verdict refers to: each is had for one individual to any precision, and for
many in float64 (`Score`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError
from likewise.model.embedding import Column
from likewise.model.head import Head
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import Body, ComputedColumn, Mapped, Rounding, Score
    from likewise.families.program_error import Bound
    from likewise.spec.space import Space


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

    def bound(self, model: Model, space: Space) -> Bound | None:  # noqa: ARG002
        return None  # but what their parts tell, see `program_rounding`

    def certified(self, model: Model, space: Space) -> Fraction | None:  # noqa: ARG002
        return None

    def line(self) -> dict[str, Any] | None:
        return None

    def rescaled(self, by: Mapped) -> SeparateRounding:  # noqa: ARG002
        raise InternalError("nothing stands around several scores")

    def undescribed(self) -> None:
        return None

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> SeparateRounding:  # noqa: ARG002
        raise InternalError("columns are described before scores are joined")


def rounding_error(model: Model, space: Space) -> Fraction | None:
    """The largest rounding error of the original program's score over the whole space, where a certificate states it."""
    return None if model.rounding is None else model.rounding.certified(model, space)


def parts_of(model: Model) -> tuple[Model, ...]:
    """The models whose scores the original program computes: of each score, or all in one."""
    return model.rounding.parts if isinstance(model.rounding, SeparateRounding) else (model,)


def extents(embedding: Sequence[Column], space: Space) -> list[Fraction]:
    """The largest absolute value of each column over the whole space; of one in pieces, of the terms that are added up."""
    ends = []
    for column in embedding:
        feature = space[space.names[column.feature]]
        if column.pieces is not None and isinstance(feature, (Continuous, Integer)):
            lo, hi, whole = Fraction(feature.lo), Fraction(feature.hi), isinstance(feature, Integer)
            ends.append(column.pieces.extent(lo, hi, whole=whole))
        elif isinstance(feature, (Continuous, Integer)):
            ends.append(max(abs(column.exact(Fraction(end))) for end in (feature.lo, feature.hi)))
        else:
            ends.append(max(abs(value) for value in column.table or (Fraction(0),)))
    return ends


def score_of(model: Model, n_features: int) -> Score:
    """The only score over codes."""
    return model.body.score(model.embedding, n_features)
