"""Rows that are no individuals of the space: an error, ignored, or moved into it, and counted in any case.

error    the first of them is refused, with the cell and what would help
ignore   they are left out
clip     numbers beyond their range become the nearest end of it; what is outside for another reason (an unknown level, a missing
         value, a fraction in a whole number, a broken constraint) is left out
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from likewise.errors import SpecError
from likewise.spec.columns import as_table, read_column
from likewise.spec.features import Continuous, Integer
from likewise.spec.rows import broken_rows, check_columns, column_codes, encode, strange_cells

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.space import Space

Outside = Literal["error", "ignore", "clip"]
CHOICES: tuple[Outside, ...] = get_args(Outside)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdmittedRows:
    """The rows that are left, all of them individuals of the space, and what became of the others.

    Attributes
    ----------
    frame : frame
        Of the type that was given, with all of its columns.
    kept : array of bool
        Which of the rows these are.
    rows, ignored, clipped : int
        How many there were, how many of them were left out, and how many have a number that was moved to the end of its range.
    """

    frame: Any
    kept: NDArray[np.bool_]
    clipped: int

    @property
    def rows(self) -> int:
        return len(self.kept)

    @property
    def ignored(self) -> int:
        return int((~self.kept).sum())

    @property
    def stats(self) -> dict[str, int] | None:
        """For answers, None where all rows are individuals as they are."""
        if not (self.ignored or self.clipped):
            return None
        return {"rows": self.rows, "ignored": self.ignored, "clipped": self.clipped}


def check_choice(value: object) -> Outside:
    """The choice that is spelled so."""
    for choice in CHOICES:
        if value == choice:
            return choice
    raise SpecError(
        f"rows outside of the space can be {', '.join(map(repr, CHOICES))}, not {value!r}",
        hint="'error' refuses them, 'ignore' leaves them out, 'clip' moves numbers to the nearest end of their range",
    )


def admit_rows(space: Space, frame: Any, outside: Outside, *, first: int = 0) -> AdmittedRows:
    """The rows of `frame` that are individuals of the space, or are made such; messages count rows from `first`."""
    import numpy as np

    table = as_table(frame)
    check_columns(space, list(table.columns), allow_extra=True)
    clipped = np.zeros(len(table), dtype=bool)
    if check_choice(outside) == "error":
        encode(space, frame, allow_extra=True, first=first)
        return AdmittedRows(frame=frame, kept=np.ones(len(table), dtype=bool), clipped=0)
    if outside == "clip":
        table, clipped = _clip(space, table, first)
    inside = ~_strangers(space, table, first)
    return AdmittedRows(
        frame=table.filter(inside.tolist()).to_native(),
        kept=inside,
        clipped=int((clipped & inside).sum()),
    )


def _clip(space: Space, table: nw.DataFrame[Any], first: int) -> tuple[nw.DataFrame[Any], NDArray[np.bool_]]:
    """The table with numbers moved to the ends of their ranges, and the rows in which one was."""
    import narwhals.stable.v2 as nw
    import numpy as np

    moved = np.zeros(len(table), dtype=bool)
    for name, feature in space.features.items():
        if not isinstance(feature, Continuous | Integer):
            continue
        column = read_column(table, name, first)
        numbers = column.array()
        beyond = ((numbers < feature.lo) | (numbers > feature.hi)) & ~column.absent
        if not beyond.any():
            continue
        moved |= beyond
        lo, hi = (int(end) if isinstance(feature, Integer) else end for end in (feature.lo, feature.hi))
        cells = nw.col(name)
        if isinstance(feature, Continuous) and table.schema[name].is_integer():
            cells = cells.cast(nw.Float64)
        table = table.with_columns(cells.clip(lo, hi))
    return table, moved


def _strangers(space: Space, table: nw.DataFrame[Any], first: int) -> NDArray[np.bool_]:
    """Which rows are no individuals of the space."""
    import numpy as np

    columns = {name: read_column(table, name, first) for name in space.names}
    strange = np.zeros(len(table), dtype=bool)
    for name, feature in space.features.items():
        strange |= strange_cells(feature, columns[name])
    rest = table.filter((~strange).tolist())
    codes = np.empty((len(rest), len(space)))
    for place, (name, feature) in enumerate(space.features.items()):
        codes[:, place] = column_codes(feature, read_column(rest, name))
    broken = np.zeros(len(rest), dtype=bool)
    for constraint in space.constraints:
        broken |= broken_rows(space, constraint, codes)
    strange[np.flatnonzero(~strange)[broken]] = True
    return strange
