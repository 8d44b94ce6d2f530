"""Where one feature's part u(x) + v(x') of a sum is highest over many cells at once, in float64: levels, numbers in a band, features in pieces. Only proposes.

A feature in pieces has *marks*, the codes at which its function can be largest or smallest: where a piece begins and ends (a cut, and the double after it), and
where its derivative is zero. Over an interval the function is extreme at one of the marks inside or at an end, so the maxima of `curves` for `same` and `free` are
found without looking at pieces one by one. `within` looks at pairs of pieces.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.curves import near_parts
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import PairSpace
from likewise.spec.pieces import PiecewisePolynomial
from likewise.spec.similarity import Relation
from likewise.spec.terms import Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Maximum = tuple[Floats, Floats, Floats]  # the value, and x and x' that have it

PAIRS_AT_A_TIME = 200_000  # pairs of parts looked at at a time: some ten megabytes
IMAGINARY_TOLERANCE = (
    1e-9  # relative imaginary part up to which a root counts as real: a mark too many does no harm
)


class Marks:
    """One feature's function over the codes lo to hi, prepared for many cells."""

    def __init__(
        self,
        pieces: PiecewisePolynomial,
        lo: float,
        hi: float,
        *,
        whole: bool,
        apart: tuple[Fraction, Fraction] | None,
    ) -> None:
        self.pieces = pieces
        ends, _, coefficients = pieces.floats()
        count = len(pieces.polynomials)
        if whole:
            ends = np.floor(ends)
        inside = ends[(ends >= lo) & (ends < hi)]
        self.cuts: Floats = np.unique(inside)  # the last code of a piece
        after = ends + 1 if whole else np.nextafter(ends, np.inf)
        self.begin = np.clip(np.concatenate([[-np.inf], after]), lo, np.inf)
        self.end = np.clip(np.concatenate([ends, [np.inf]]), -np.inf, hi)
        self.turns = np.stack(
            [self._turns(i) for i in range(count)]
        )  # (pieces, turning points), ends where none
        codes = np.concatenate([self.turns.ravel(), self.begin, self.end])
        codes = np.concatenate([np.floor(codes), np.ceil(codes)]) if whole else codes
        self.codes: Floats = np.unique(codes[(codes >= lo) & (codes <= hi)])
        self.values = pieces.values(self.codes)
        # Where an integer feature turns between two whole numbers: no code, but the rule does not tell them apart.
        between = np.unique(self.turns) if whole else np.zeros(0)
        self.between: Floats = between[between != np.floor(between)]
        self.values_between = pieces.values(self.between)
        self.linear = np.array([len(p) <= 2 for p in pieces.polynomials])
        self.slopes = coefficients[1] if len(coefficients) > 1 else np.zeros(count)
        self.loses = apart is not None and not self.linear.all()  # whether maxima are bounded from above only
        if apart is not None:
            self.apart = float(apart[0]), float(apart[1])
            parts = pieces.parts(Fraction(lo), Fraction(hi), whole=whole)
            places, near = np.array([i for i, _, _ in parts]), near_parts(parts, parts, apart)
            self.first = np.repeat(places, [len(others) for others in near])
            self.second = np.concatenate([places[others.start : others.stop] for others in near])

    def _turns(self, piece: int) -> Floats:
        _, centres, coefficients = self.pieces.floats()
        derivative = coefficients[1:, piece] * np.arange(1, len(coefficients))
        found = np.full(max(len(coefficients) - 2, 1), self.begin[piece])
        if np.isfinite(derivative).all() and np.any(derivative[1:]):
            roots = np.roots(derivative[::-1])
            real = (
                roots[np.abs(roots.imag) <= IMAGINARY_TOLERANCE * (1 + np.abs(roots.real))].real
                + centres[piece]
            )
            found[: len(real)] = np.clip(real, self.begin[piece], self.end[piece])
        return found

    def values_at(self, codes: Floats) -> Floats:
        return self.pieces.values(codes)

    def highest(self, factor: Floats, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """max of factor times the function over each interval, and the code where it is, or nearly."""
        inside = (self.codes >= lo[:, None]) & (self.codes <= hi[:, None])
        signed = np.where(inside, factor[:, None] * self.values, -np.inf)
        best = signed.argmax(axis=1)
        value, code = signed[np.arange(len(lo)), best], self.codes[best]
        for end in (lo, hi):
            at_end = factor * self.pieces.values(end)
            better = at_end > value
            value, code = np.where(better, at_end, value), np.where(better, end, code)
        if len(self.between):
            passed = (self.between >= lo[:, None]) & (self.between <= hi[:, None])
            turned = np.where(passed, factor[:, None] * self.values_between, -np.inf).max(axis=1)
            value = np.maximum(value, turned)
        return value, code

    def spread(self, lo: Floats, hi: Floats) -> Floats:
        """How much the function moves over each interval."""
        ones = np.ones(len(lo))
        spread: Floats = self.highest(ones, lo, hi)[0] + self.highest(-ones, lo, hi)[0]
        return spread

    def cut_inside(self, lo: Floats, hi: Floats) -> Floats:
        """The cut in the middle of those inside each interval, as the last code on its left; nan where there is none."""
        if not len(self.cuts):
            return np.full(len(lo), np.nan)
        first, last = self.cuts.searchsorted(lo, side="left"), self.cuts.searchsorted(hi, side="left")
        middle = np.minimum((first + last) // 2, len(self.cuts) - 1)
        cut: Floats = np.where(first < last, self.cuts[middle], np.nan)
        return cut

    def highest_within(
        self, lean: Floats, here: tuple[Floats, Floats], there: tuple[Floats, Floats]
    ) -> Maximum:
        """max of lean phi(x) - (1 - lean) phi(x') over codes within the tolerance (or a little more: see `curves`)."""
        step = max(1, PAIRS_AT_A_TIME // len(self.first))
        blocks = [slice(start, start + step) for start in range(0, len(lean), step)]
        parts = [self._block(lean[b], (here[0][b], here[1][b]), (there[0][b], there[1][b])) for b in blocks]
        value, x, y = (np.concatenate(column) for column in zip(*parts, strict=True))
        return value, x, y

    def _block(self, lean: Floats, here: tuple[Floats, Floats], there: tuple[Floats, Floats]) -> Maximum:
        i, j, (least, most) = self.first, self.second, self.apart
        lo, hi = np.maximum(here[0][:, None], self.begin[i]), np.minimum(here[1][:, None], self.end[i])
        low, high = np.maximum(there[0][:, None], self.begin[j]), np.minimum(there[1][:, None], self.end[j])
        empty = (lo > hi) | (low > high) | (low - hi > most) | (high - lo < least)
        lo, hi, low, high = (
            np.maximum(lo, low - most), np.minimum(hi, high - least), np.maximum(low, lo + least), np.minimum(high, hi + most)
        )  # fmt: skip
        weight = np.broadcast_to(lean[:, None], lo.shape)
        x, y = self._piece_maximisers(weight, i, lo, hi), self._piece_maximisers(weight - 1, j, low, high)
        both = np.flatnonzero(self.linear[i] & self.linear[j])
        if len(both):
            u, v = weight * self.slopes[i], (weight - 1) * self.slopes[j]
            corner = _best_corner(u, v, self.apart, (lo, hi), (low, high))
            x[:, both], y[:, both] = corner[0][:, both], corner[1][:, both]
        piece = np.broadcast_to(i, lo.shape), np.broadcast_to(j, lo.shape)
        value = weight * self.pieces.piece_values(piece[0], x) + (weight - 1) * self.pieces.piece_values(
            piece[1], y
        )
        value = np.where(empty, -np.inf, value)
        best, rows = value.argmax(axis=1), np.arange(len(lean))
        x, y = x[rows, best], y[rows, best]
        return value[rows, best], x, np.clip(np.clip(y, x + least, x + most), *there)

    def _piece_maximisers(self, factor: Floats, piece: NDArray[np.intp], lo: Floats, hi: Floats) -> Floats:
        """Where factor times a piece is largest in [lo, hi], for every cell and pair of pieces."""
        found, value = lo.copy(), np.full(lo.shape, -np.inf)
        pieces = np.broadcast_to(piece, lo.shape)
        for code in (lo, hi, *(np.clip(turn, lo, hi) for turn in self.turns[piece].T)):
            at = factor * self.pieces.piece_values(pieces, code)
            better = at > value
            found, value = np.where(better, code, found), np.where(better, at, value)
        return found

    def after(self, at: float) -> float | None:
        """The double after a cut; None for other codes."""
        place = int(self.cuts.searchsorted(at))
        is_cut = place < len(self.cuts) and self.cuts[place] == at
        return math.nextafter(at, math.inf) if is_cut else None


def _best_corner(
    u: Floats,
    v: Floats,
    apart: tuple[float, float],
    here: tuple[Floats, Floats],
    there: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """The corner of { x in here, x' in there, x' - x in apart } at which u x + v x' is largest, or the two that are
    closest to each other where no corner is better: they are a pair whatever is rounded."""
    least = min(max(0.0, apart[0]), apart[1])
    found = np.clip(there[0] - least, *here)
    other = np.clip(found + least, *there)
    value = u * found + v * other
    corners = [(x, np.clip(x + side, *there)) for x in here for side in apart]
    corners += [(np.clip(y - side, *here), y) for y in there for side in apart]
    for x, y in corners:
        at = u * x + v * y
        better = at > value
        found, other, value = (
            np.where(better, x, found),
            np.where(better, y, other),
            np.where(better, at, value),
        )
    return found, other


def feature_marks(pairs: PairSpace, k: int, term: Term) -> Marks | None:
    """The marks of feature k, None where its term is not in pieces."""
    if term.pieces is None:
        return None
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    apart = relation.apart if relation.kind == "within" else None
    return Marks(term.pieces, float(variable.lo), float(variable.hi), whole=variable.discrete, apart=apart)


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


def term_table(pairs: PairSpace, k: int, term: Term) -> Floats | None:
    """The term's values over the levels of feature k, None where the feature is a number."""
    if term.table is not None:
        return np.array([float(v) for v in term.table])
    feature = pairs.space[pairs.space.names[k]]
    if isinstance(feature, (Categorical, Ordinal)):
        return np.zeros(len(feature.levels))
    return None


def positions_inside(length: int, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
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
    u = np.where(positions_inside(u.shape[1], *here), u, -np.inf)
    if relation.kind == "same":
        total = u + v
        best = total.argmax(axis=1)
        return total[rows, best], best.astype(float), best.astype(float)
    v = np.where(positions_inside(v.shape[1], *there), v, -np.inf)
    if relation.kind in ("within", "pairs"):
        partner, which = _best_partner(v, relation)
        total = u + partner
        best = total.argmax(axis=1)
        return total[rows, best], best.astype(float), which[rows, best].astype(float)
    x, y = u.argmax(axis=1), v.argmax(axis=1)
    return u[rows, x] + v[rows, y], x.astype(float), y.astype(float)


def _best_partner(v: Floats, relation: Relation) -> tuple[Floats, NDArray[np.intp]]:
    """For every i the largest v[j] of the levels j that may stand beside it, and that j."""
    if relation.tolerance is not None:
        low, high = relation.apart
        return _best_within_steps(v, math.ceil(low), math.floor(high))
    best, which = np.empty_like(v), np.empty(v.shape, dtype=np.intp)
    for i in range(v.shape[1]):
        partners = np.array(relation.partners(i, v.shape[1]))
        which[:, i] = partners[v[:, partners].argmax(axis=1)]
        best[:, i] = np.take_along_axis(v, which[:, i : i + 1], axis=1)[:, 0]
    return best, which


def _best_within_steps(v: Floats, first: int, last: int) -> tuple[Floats, NDArray[np.intp]]:
    """The same for j - i from `first` to `last`: windows of doubled width, then two that overlap."""
    before, beyond = max(0, -first), max(0, last)
    best = np.pad(v, ((0, 0), (before, beyond)), constant_values=-np.inf)
    which = np.broadcast_to(np.arange(-before, v.shape[1] + beyond), best.shape)
    reach, width = last - first + 1, 1
    while width < reach:
        shift = min(width, reach - width)
        right = best[:, shift:] > best[:, :-shift]
        which = np.where(right, which[:, shift:], which[:, :-shift])
        best = np.where(right, best[:, shift:], best[:, :-shift])
        width += shift
    inside = slice(first + before, first + before + v.shape[1])
    return best[:, inside], which[:, inside]


def best_band(
    u: Floats,
    v: Floats,
    apart: tuple[float, float],
    here: tuple[Floats, Floats],
    there: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Maximise u x + v x' over x in here, x' in there, x' - x in apart: the corners of a polygon."""
    least, most = apart
    low, high = np.maximum(here[0], there[0] - most), np.minimum(here[1], there[1] - least)
    low2, high2 = np.maximum(there[0], low + least), np.minimum(there[1], high + most)
    corners = []
    for x in (low, high):
        corners += [(x, np.minimum(high2, x + most)), (x, np.maximum(low2, x + least))]
    for y in (low2, high2):
        corners += [(np.minimum(high, y - least), y), (np.maximum(low, y - most), y)]
    values = np.stack([u * x + v * y for x, y in corners])
    best = values.argmax(axis=0)
    rows = np.arange(len(u))
    x = np.stack([c[0] for c in corners])[best, rows]
    y = np.stack([c[1] for c in corners])[best, rows]
    empty = (low > high) | (low2 > high2)
    return np.where(empty, -np.inf, values[best, rows]), x, y
