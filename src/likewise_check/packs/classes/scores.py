"""Bodies of several scores (section 10) that are read one by one: each coefficient is an array, one number a score.

A kind of body that has a reader of its own for several scores (trees, combined) does not come here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from likewise_check.core.body import Body, Codes, Ends, Family, Form, read_no_rounding
from likewise_check.core.fields import Reader, anything, array_of
from likewise_check.core.numbers import number
from likewise_check.core.space import Space

MOST_FORMS = 64  # forms of a body that are kept ready; dropped beyond, which changes nothing but time


class Blended(Body, Protocol):
    """A body of one score whose coefficients can be added up with those of others."""

    def blend(self, alpha: Form, bodies: Sequence[Any]) -> Body:
        """The sum of alpha_c times body c; all are of this kind and differ in coefficients only."""


@dataclass(frozen=True, slots=True)
class Several:
    """The scores as bodies of one score each, of one kind."""

    bodies: tuple[Blended, ...]
    _forms: dict[Form, Body] = field(default_factory=dict, repr=False, compare=False)

    @property
    def kind(self) -> str:
        return self.bodies[0].kind

    @property
    def packs(self) -> frozenset[str]:
        return self.bodies[0].packs

    @property
    def rational(self) -> bool:
        return self.bodies[0].rational

    @property
    def clears(self) -> bool:
        return self.bodies[0].clears

    @property
    def knows_missing(self) -> bool:
        return self.bodies[0].knows_missing

    def steady(self, k: int) -> bool:
        """Whether no score depends on feature k."""
        return all(body.steady(k) for body in self.bodies)

    def ends(self, codes: Codes, bits: int) -> Sequence[Ends]:
        """All scores."""
        return [body.ends(codes, bits)[0] for body in self.bodies]

    def form(self, alpha: Form) -> Body:
        """The body of one score, alpha . f."""
        if alpha not in self._forms:
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            self._forms[alpha] = self.bodies[0].blend(alpha, self.bodies)
        return self._forms[alpha]

    def read_rounding(self, item: object) -> None:
        """Is not described for several scores."""
        read_no_rounding(item)


def read_several(family: Family, item: object, space: Space, scores: int) -> Several:
    """So many scores of a body."""
    bodies: list[Any] = [family.read(item, space, _entry_reader(c, scores)) for c in range(scores)]
    return Several(tuple(bodies))


def _entry_reader(c: int, scores: int) -> Reader:
    """Reads an array of numbers, one a score, and keeps that of score c."""

    def read(value: object, what: str) -> Fraction:
        return number(array_of(anything, scores)(value, what)[c], f"{what}, of score {c}")

    return read
