"""Active one-hot axes of the rule `kernel`, and sums over the terms by position.

Which terms are at which positions is the same in many cells, and is kept between them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from likewise_check.packs.kernel.lanes import LANE

MOST_KEPT = 1 << 22  # ints kept between leaves; dropped beyond, which changes nothing but time
Terms: TypeAlias = dict[int, list[int]]  # by position


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
        self._kept: dict[object, Terms] = {}
        self._kept_of_two: dict[object, dict[int, Terms]] = {}

    def sums(self, choice: Choice, rows: list[int]) -> list[int]:
        """Sums of the rows by position, for the positions that the cell allows."""
        terms, row = self._terms(choice), rows.__getitem__
        return [sum(map(row, terms.get(v, ()))) for v in choice.allowed]

    def sums_of_two(
        self, choices: Sequence[Choice], other: Choice, rows: list[int]
    ) -> list[list[tuple[int, ...]]]:
        """For each of some axes, sums of the rows by its positions and those of another axis.

        The rows at one position u of the other axis have one total, whatever the axis. Where a cell allows all positions that these have on an axis, most of them are at one position, as a rule: its sum is
        the total less the other sums, and few rows are added up.
        """
        row = rows.__getitem__
        totals = dict(zip(other.allowed, self.sums(other, rows), strict=True))
        found = []
        for choice in choices:
            allowed, columns, terms = choice.allowed, [], self._terms_of_two(choice, other)
            for u in other.allowed:
                at_u = terms.get(u, {})
                most, *others = at_u or (-1,)  # positions that occur, that of most terms first
                if most in allowed and all(v in allowed for v in others):
                    sums = {v: sum(map(row, at_u[v])) for v in others}
                    sums[most] = totals[u] - sum(sums.values())
                    columns.append([sums.get(v, 0) for v in allowed])
                else:
                    columns.append([sum(map(row, at_u.get(v, ()))) for v in allowed])
            found.append(list(zip(*columns, strict=True)))
        return found

    def add_lanes(self, rows: list[int], choice: Choice, numbers: list[int], at: int) -> None:
        """Adds the number of each term to its row, in the lane of its position; those of the cell begin at so many bits."""
        terms = self._terms(choice)
        for w, v in enumerate(choice.allowed):
            shift = at + LANE * w
            for t in terms.get(v, ()):
                rows[t] += numbers[t] << shift

    def _terms(self, choice: Choice) -> Terms:
        """The terms at each position."""
        if choice.terms not in self._kept:
            if len(self._kept) * len(choice.places) > MOST_KEPT:
                self._kept.clear()
            self._kept[choice.terms] = _grouped(range(len(choice.places)), choice.places)
        return self._kept[choice.terms]

    def _terms_of_two(self, choice: Choice, other: Choice) -> dict[int, Terms]:
        """For each position of the other axis, its terms at each position of the first, the position of most terms first."""
        key = choice.terms, other.terms
        if key not in self._kept_of_two:
            if len(self._kept_of_two) * len(choice.places) > MOST_KEPT:
                self._kept_of_two.clear()
            self._kept_of_two[key] = {
                u: dict(sorted(_grouped(terms, choice.places).items(), key=lambda item: -len(item[1])))
                for u, terms in self._terms(other).items()
            }
        return self._kept_of_two[key]


def _grouped(terms: Iterable[int], places: Sequence[int]) -> Terms:
    """Some of the terms by their places."""
    groups: Terms = {}
    for t in terms:
        groups.setdefault(places[t], []).append(t)
    return groups
