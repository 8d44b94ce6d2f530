"""Columns without weights: what the bodies `rbf` and `polynomial` make of the codes of one feature (sections 7 and 8)."""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.fields import anything, array_of, record, whole
from likewise_check.core.numbers import Exact, number
from likewise_check.core.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """offset + slope * code, or table[code] (then slope and offset are unused); and a kernel body's centres, one a term."""

    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    table: tuple[Fraction, ...] | None = None
    centres: tuple[Fraction, ...] = ()

    def at(self, code: Exact) -> Fraction:
        """The column's value at a code."""
        return self.offset + self.slope * code if self.table is None else self.table[int(code)]

    @property
    def steady(self) -> bool:
        """Whether the value is the same at all codes."""
        return self.slope == 0 if self.table is None else len(set(self.table)) == 1


def read_column(
    item: object, what: str, space: Space, centres: tuple[Fraction, ...] = ()
) -> tuple[int, Column]:
    """The feature of a column that has no weight, and the column."""
    place = item.get("feature") if type(item) is dict else None
    k: int = whole(0, len(space.features) - 1)(place, f"{what}, feature")
    if levels := space.features[k].levels:
        _, entries = record(item, what, feature=anything, table=array_of(number, levels))
        return k, Column(table=tuple(entries), centres=centres)
    _, slope, offset = record(item, what, feature=anything, slope=number, offset=number)
    return k, Column(slope=slope, offset=offset, centres=centres)
