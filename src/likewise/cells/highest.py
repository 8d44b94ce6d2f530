"""Where one feature's part u(x) + v(x') of a sum is highest over many cells at once, in float64: levels, numbers in a band, features in pieces."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.marks import Marks
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import PairSpace
from likewise.spec.similarity import Relation
from likewise.spec.terms import Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def marks_of(pairs: PairSpace, k: int, term: Term) -> Marks | None:
    """The marks of feature k, None where its term is not in pieces."""
    if term.pieces is None:
        return None
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    reach = relation.tolerance or Fraction(0) if relation.kind == "within" else None
    return Marks(
        term.pieces, float(variable.lo), float(variable.hi), whole=variable.discrete, tolerance=reach
    )


def best_marks(
    marks: Marks, lean: Floats, kind: str, here: tuple[Floats, Floats], there: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Maximise lean phi(x) - (1 - lean) phi(x') for a feature in pieces."""
    if kind == "same":
        value, x = marks.highest(2 * lean - 1, *here)
        return value, x, x
    if kind == "within":
        return marks.highest_within(lean, here, there)
    (first, x), (second, y) = marks.highest(lean, *here), marks.highest(lean - 1, *there)
    return first + second, x, y


def table_of(pairs: PairSpace, k: int, term: Term) -> Floats | None:
    """The term's values over the levels of feature k, None where the feature is a number."""
    if term.table is not None:
        return np.array([float(v) for v in term.table])
    feature = pairs.space[pairs.space.names[k]]
    if isinstance(feature, (Categorical, Ordinal)):
        return np.zeros(len(feature.levels))
    return None


def inside_of(length: int, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
    """Which of so many positions each cell allows."""
    positions = np.arange(length)
    inside: NDArray[np.bool_] = (positions >= lo[:, None]) & (positions <= hi[:, None])
    return inside


def best_levels(
    u: Floats,
    v: Floats,
    relation: Relation,
    here: tuple[Floats, Floats],
    there: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Maximise u[i] + v[j] over the levels that each cell allows."""
    rows = np.arange(len(u))
    u = np.where(inside_of(u.shape[1], *here), u, -np.inf)
    if relation.kind == "same":
        total = u + v
        best = total.argmax(axis=1)
        return total[rows, best], best.astype(float), best.astype(float)
    v = np.where(inside_of(v.shape[1], *there), v, -np.inf)
    if relation.kind in ("within", "pairs"):
        partner, which = _best_in_reach(v, relation)
        total = u + partner
        best = total.argmax(axis=1)
        return total[rows, best], best.astype(float), which[rows, best].astype(float)
    x, y = u.argmax(axis=1), v.argmax(axis=1)
    return u[rows, x] + v[rows, y], x.astype(float), y.astype(float)


def _best_in_reach(v: Floats, relation: Relation) -> tuple[Floats, NDArray[np.intp]]:
    """For every i the largest v[j] of the levels j that may stand beside it, and that j."""
    if relation.tolerance is not None:
        return _best_in_steps(v, int(relation.tolerance))
    best, which = np.empty_like(v), np.empty(v.shape, dtype=np.intp)
    for i in range(v.shape[1]):
        partners = np.array(relation.partners(i, v.shape[1]))
        which[:, i] = partners[v[:, partners].argmax(axis=1)]
        best[:, i] = np.take_along_axis(v, which[:, i : i + 1], axis=1)[:, 0]
    return best, which


def _best_in_steps(v: Floats, steps: int) -> tuple[Floats, NDArray[np.intp]]:
    """The same for |i - j| <= steps: windows of doubled width, then two that overlap."""
    beyond = np.full((len(v), steps), -np.inf)
    best = np.concatenate([beyond, v, beyond], axis=1)
    which = np.broadcast_to(np.arange(-steps, v.shape[1] + steps), best.shape)
    reach, width = 2 * steps + 1, 1
    while width < reach:
        shift = min(width, reach - width)
        right = best[:, shift:] > best[:, :-shift]
        which = np.where(right, which[:, shift:], which[:, :-shift])
        best = np.where(right, best[:, shift:], best[:, :-shift])
        width += shift
    return best, which


def best_band(
    u: Floats, v: Floats, tolerance: float, here: tuple[Floats, Floats], there: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Maximise u x + v x' over x in here, x' in there, |x - x'| <= tolerance: the corners of a polygon."""
    low, high = np.maximum(here[0], there[0] - tolerance), np.minimum(here[1], there[1] + tolerance)
    low2, high2 = np.maximum(there[0], low - tolerance), np.minimum(there[1], high + tolerance)
    corners = []
    for x in (low, high):
        corners += [(x, np.minimum(high2, x + tolerance)), (x, np.maximum(low2, x - tolerance))]
    for y in (low2, high2):
        corners += [(np.minimum(high, y + tolerance), y), (np.maximum(low, y - tolerance), y)]
    values = np.stack([u * x + v * y for x, y in corners])
    best = values.argmax(axis=0)
    rows = np.arange(len(u))
    x = np.stack([c[0] for c in corners])[best, rows]
    y = np.stack([c[1] for c in corners])[best, rows]
    empty = (low > high) | (low2 > high2)
    return np.where(empty, -np.inf, values[best, rows]), x, y
