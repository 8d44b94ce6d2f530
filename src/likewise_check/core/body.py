"""What the core knows of any body of a model (sections 2 and 10): the seam between it and the packs.

A body gives an individual its scores f_0, ..., f_(n-1): one, or as many as the head has use for. Scores are enclosed by two rationals, equal where
scores are rational. The *form* alpha . f = sum_c alpha_c f_c is the score of a body of the same kind.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from likewise_check.core.fields import Reader, choice
from likewise_check.core.rounding import Rounding
from likewise_check.core.space import Space

Codes: TypeAlias = Sequence[Fraction]
Ends: TypeAlias = tuple[Fraction, Fraction]
Form: TypeAlias = tuple[tuple[int, Fraction], ...]  # scores and their factors, without what is 0


class Body(Protocol):
    """What gives the scores; `kind` is its name in certificates, `packs` are those whose code it takes."""

    @property
    def kind(self) -> str: ...
    @property
    def packs(self) -> frozenset[str]: ...
    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""

    @property
    def clears(self) -> bool:
        """Whether leaves have a clearance (section 6); that of other bodies counts as 0."""

    @property
    def knows_missing(self) -> bool:
        """Whether it knows what to do with a missing number."""

    def steady(self, k: int) -> bool:
        """Whether no score depends on feature k."""

    def ends(self, codes: Codes, bits: int) -> Sequence[Ends]:
        """The scores, each enclosed by two rationals at most 2^-bits apart."""

    def read_rounding(self, item: object) -> Rounding | None:
        """How the deployed program rounds, if that is described."""


class Scores(Body, Protocol):
    """A body of several scores."""

    def form(self, alpha: Form) -> Body:
        """The body of one score, alpha . f."""


class Family(NamedTuple):
    """How a kind of body is read: with one score, coefficients by the reader given; with so many, if that is not one by one."""

    read: Callable[[object, Space, Reader], Body]
    read_scores: Callable[[object, Space, int], Scores] | None = None


def read_no_rounding(item: object) -> None:
    """Reads the rounding of a body that has none."""
    choice(None)(item, "the rounding")


def blend_rows(alpha: Form, rows: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """The sum of alpha_c times row c, entry by entry."""
    total = [Fraction(0)] * len(rows[0])
    for c, factor in alpha:
        total = [old + factor * entry for old, entry in zip(total, rows[c], strict=True)]
    return total
