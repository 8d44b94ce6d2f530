"""Opaque scores: what a program answers, taken as it is. The number that it gives for an individual IS the score, a double and so a rational; there is nothing behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, KeptLevels
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

KERNEL_VALUES_A_SECOND = 1e8  # by which the costs of rows are compared with those of other families


class Program(Protocol):
    """What can be asked."""

    @property
    def asked(self) -> int:
        """How many individuals it was asked about."""

    @property
    def used_up(self) -> bool:
        """Whether it may be asked no more."""

    @property
    def pace(self) -> float:
        """About how many individuals a second it answers for."""

    def scores(self, codes: Floats) -> Floats:
        """All scores (rows, n), each finite."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opaque:
    """alpha . f + offset of the scores f that a program gives."""

    family: ClassVar[str] = "opaque"

    program: Program
    alpha: tuple[Fraction, ...]
    offset: Fraction = Fraction(0)

    def score(self, embedding: tuple[Column, ...], n_features: int) -> OpaqueScore:
        return OpaqueScore(program=self.program, alpha=self.alpha, offset=self.offset)

    def rescaled(self, by: AffineMap, kind: str) -> Opaque:
        alpha = tuple(by.slope * a for a in self.alpha)
        return replace(self, alpha=alpha, offset=by.slope * self.offset + by.offset)

    def reads(self, feature: int) -> bool:
        """Nobody knows, so it may."""
        return True

    def restricted(self, kept: KeptLevels) -> None:
        return None

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpaqueScore:
    """The same over codes: a program is asked in codes already."""

    family: ClassVar[str] = "opaque"

    program: Program
    alpha: tuple[Fraction, ...]
    offset: Fraction = Fraction(0)

    def scores(self, codes: Floats) -> Floats:
        return self.of(self.program.scores(codes))

    def of(self, scores: Floats) -> Floats:
        """Of all scores that the program gave."""
        found: Floats = scores @ np.array([float(a) for a in self.alpha]) + float(self.offset)
        return found

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        return [self._exactly(row) for row in self.program.scores(codes).tolist()]

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        """What it answers for this one individual."""
        asked = np.array([[float(code) for code in codes]])
        return self._exactly(self.program.scores(asked)[0].tolist())

    def _exactly(self, scores: Sequence[float]) -> Fraction:
        parts = (a * Fraction(score) for a, score in zip(self.alpha, scores, strict=True))
        return sum(parts, self.offset)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        value = self.exact(codes)
        return Enclosure(value, value)

    def depends(self, feature: int) -> bool:
        """Nobody knows, so it may."""
        return True

    def landmarks(self, space: Space) -> Floats:
        return np.empty((0, len(space)))

    def negated(self) -> OpaqueScore:
        return replace(self, alpha=tuple(-a for a in self.alpha), offset=-self.offset)

    @property
    def cost(self) -> int:
        return max(1, int(KERNEL_VALUES_A_SECOND / self.program.pace))

    @property
    def rational(self) -> bool:
        return True

    @property
    def enclosing_work(self) -> int:
        return 0


def only_program(scores: Sequence[Any]) -> Program:
    """The program that all of these scores come from."""
    program: Program = scores[0].program
    return program
