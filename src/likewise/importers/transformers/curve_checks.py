"""Curves beside the program: what the fitted preprocessing itself computes where curves change their formula.

A curve in the place of a function (`curve_pieces`) is next to what the program computes by reasoning about that program. Here the program is asked, at both ends of the number's range, at zero, at every cut and one double after it: what it gives must
be as near to the curve as the column's line says. A step that treats a number otherwise than its fitted numbers say (zeros that a sparse matrix does not store are left alone by QuantileTransformer), or that puts it on the other side of a jump, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.transformers.traced_columns import Line, TracedColumn
from likewise.model.embedding import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

UNIT = Fraction(1, 2**53)


def check_curves(
    traced: Sequence[TracedColumn],
    columns: Sequence[Column],
    somebody: Floats,
    ranges: Sequence[tuple[float, float]],
    matrix: Callable[[Floats], Floats],
) -> None:
    """Refuse curves that the program is not next to. `somebody` is any row of codes, `ranges` has every feature's smallest and largest one, and `matrix` is what the program makes of rows."""
    for k in sorted({one.index for one in traced if one.distance}):
        mine = [c for c, one in enumerate(traced) if one.index == k and one.distance]
        places = _places([columns[c] for c in mine], *ranges[k])
        codes = np.repeat(somebody[None], len(places), axis=0)
        codes[:, k] = places
        made = matrix(codes)
        for c in mine:
            _check_column(traced[c], columns[c], places, made[:, c])


def _places(columns: Sequence[Column], lo: float, hi: float) -> list[float]:
    cuts = {float(cut) for one in columns if one.pieces is not None for cut in one.pieces.cuts}
    after = {math.nextafter(cut, math.inf) for cut in cuts}
    return sorted(x for x in {lo, 0.0, hi} | cuts | after if lo <= x <= hi)


def _check_column(traced: TracedColumn, column: Column, places: Sequence[float], made: Floats) -> None:
    if column.pieces is None or traced.line is None:
        return
    for x, value in zip(places, made.tolist(), strict=True):
        exact = column.pieces.exact(Fraction(x))
        if not math.isfinite(value) or abs(Fraction(value) - exact) > _allowed(traced.line, exact):
            raise UnsupportedModel(
                f"the preprocessing makes {value!r} of {traced.name!r} = {x!r}, where its fitted numbers say {float(exact)!r}",
                hint="fit the pipeline on float64 data that is not sparse: OneHotEncoder(sparse_output=False), "
                "ColumnTransformer(..., sparse_threshold=0)",
            )


def _allowed(line: Line, exact: Fraction) -> Fraction:
    """What a program may be off by, see `Line`."""
    return ((1 + UNIT) ** line.roundings - 1) * (abs(exact) + line.slack)
