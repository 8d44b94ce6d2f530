"""Active one-hot axes of the rule `kernel`, and sums over the terms by position.

Which terms are at which positions is the same in many cells, and is kept between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from likewise_check.packs.kernel.lanes import LANE

MOST_KEPT = 1 << 22  # ints kept between leaves; dropped beyond, which changes nothing but time


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An active one-hot axis: zeta, the position of each term, and the positions that the cell allows, from first to last. Positions of a grouped
    feature (section 20) are its groups, and those that are allowed are listed."""

    zeta: int
    places: Sequence[int]
    first: int
    last: int
    terms: object  # a name for the places: choices of one name have the same
    listed: tuple[int, ...] = ()
    raised: tuple[int, ...] = ()  # which of those allowed, counted from 0, have a nu that is not 0
    rise: tuple[int, int] = (0, 0)  # gamma nu there, rounded down and up, in weight units

    @property
    def width(self) -> int:
        return len(self.allowed)

    @property
    def allowed(self) -> Sequence[int]:
        return self.listed or range(self.first, self.last + 1)


class Groups:
    """The terms by position on one axis, and by positions on two."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], dict[object, list[int]]] = {}

    def sums(self, choice: Choice, rows: list[int]) -> list[int]:
        """Sums of the rows by position, for the positions that the cell allows."""
        terms, row = self._terms(choice), rows.__getitem__
        return [sum(map(row, terms.get((v,), ()))) for v in choice.allowed]

    def sums_of_two(self, choice: Choice, other: Choice, rows: list[int]) -> list[list[int]]:
        """Sums of the rows by two positions."""
        terms, row = self._terms(choice, other), rows.__getitem__
        return [[sum(map(row, terms.get((v, u), ()))) for u in other.allowed] for v in choice.allowed]

    def add_lanes(self, rows: list[int], choice: Choice, numbers: list[int], at: int) -> None:
        """Adds the number of each term to its row, in the lane of its position; those of the cell begin at so many bits."""
        terms = self._terms(choice)
        for w, v in enumerate(choice.allowed):
            for t in terms.get((v,), ()):
                rows[t] += numbers[t] << at + LANE * w

    def _terms(self, *choices: Choice) -> dict[object, list[int]]:
        key = tuple(choice.terms for choice in choices)
        if key not in self._kept:
            if len(self._kept) * len(choices[0].places) > MOST_KEPT:
                self._kept.clear()
            groups: dict[object, list[int]] = {}
            for t, places in enumerate(zip(*[choice.places for choice in choices], strict=True)):
                groups.setdefault(places, []).append(t)
            self._kept[key] = groups
        return self._kept[key]
