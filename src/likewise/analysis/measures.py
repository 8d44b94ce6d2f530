"""Measures over individuals: a product of one distribution a feature, conditioned on the constraints.

`uniform_measure` gives every value of a feature the same weight, the missing one among them; where it is continuous, every length of an interval, so that missing
has none. `marginal_measure` gives the weight that a value has in the data, so that features are drawn independently of each other. A number may also be uniform between each two of some
edges (a histogram). Masses of boxes are exact rationals. They are of the model's codes, and told from the user's values: where a function of a number is its code, uniform numbers can be drawn, but masses are not known.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.search.validity import Validity
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.engine import CodeBox, Cut
    from likewise.importers.recoding import Recoding
    from likewise.importers.transformers.monotone import MonotoneMap
    from likewise.spec.pairs import PairSpace, Variable

    Floats = NDArray[np.float64]

MOST_DRAWS = 1_000  # times as many as are wanted, where constraints refuse the others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureMeasure:
    """One feature: `atoms` with `counts`, in increasing order; or uniform between each two `edges` with `counts`; or uniform on [lo, hi] where there are neither."""

    lo: float
    hi: float
    atoms: tuple[float, ...] = ()
    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()  # of the counts before each atom or piece, and of all
    bend: MonotoneMap | None = None  # codes are this function of numbers that are uniform

    def mass(self, lo: float, hi: float, *, open_left: bool) -> Fraction:
        """Of [lo, hi], or of (lo, hi]."""
        if self.bend is not None:
            raise InternalError("masses of a function of uniform numbers are not known")
        if self.atoms:
            first = (bisect_right if open_left else bisect_left)(self.atoms, lo)
            return Fraction(self.sums[bisect_right(self.atoms, hi)] - self.sums[first], self.sums[-1])
        if self.lo == self.hi:
            return Fraction(int(lo <= self.lo <= hi))
        if self.edges:
            return (self._mass_below(hi) - self._mass_below(lo)) / self.sums[-1]
        return (Fraction(hi) - Fraction(lo)) / (Fraction(self.hi) - Fraction(self.lo))

    def _mass_below(self, value: float) -> Fraction:
        """Of a histogram, in counts."""
        if value <= self.edges[0]:
            return Fraction(0)
        piece = bisect_left(self.edges, value) - 1
        if piece >= len(self.counts):
            return Fraction(self.sums[-1])
        left, right = Fraction(self.edges[piece]), Fraction(self.edges[piece + 1])
        return self.sums[piece] + self.counts[piece] * (Fraction(value) - left) / (right - left)

    def drawn(
        self, random: np.random.Generator, lo: Floats, hi: Floats, open_left: NDArray[np.bool_]
    ) -> Floats:
        """One value from each of these intervals."""
        if self.edges:
            return self._drawn_from_pieces(random, lo, hi)
        if self.bend is not None:
            part = random.uniform(0, 1, len(lo))
            ends = self.bend.lo, self.bend.hi
            return self.bend.of(np.clip(ends[0] * (1 - part) + ends[1] * part, *ends))
        if not self.atoms:
            part = random.uniform(0, 1, len(lo))
            return np.clip(lo * (1 - part) + hi * part, lo, hi)
        atoms, sums = np.array(self.atoms), np.array(self.sums)
        first = np.where(open_left, np.searchsorted(atoms, lo, "right"), np.searchsorted(atoms, lo, "left"))
        last = np.searchsorted(atoms, hi, "right")
        # The so-many-th of the counts between the two ends: exact whole numbers.
        at = sums[first] + random.integers(0, np.maximum(sums[last] - sums[first], 1))
        drawn: Floats = atoms[np.searchsorted(sums, at, "right") - 1]
        return drawn

    def _drawn_from_pieces(self, random: np.random.Generator, lo: Floats, hi: Floats) -> Floats:
        edges, sums = np.array(self.edges), np.array(self.sums, dtype=np.float64)
        part, ends = random.uniform(0, 1, len(lo)), (np.interp(end, edges, sums) for end in (lo, hi))
        low, high = ends
        mass = low * (1 - part) + high * part
        last = max(n for n, count in enumerate(self.counts) if count)
        piece = np.minimum(np.searchsorted(sums, mass, "right") - 1, last)
        within = (mass - sums[piece]) / np.array(self.counts, dtype=np.float64)[piece]
        drawn: Floats = np.clip(edges[piece] + within * (edges[piece + 1] - edges[piece]), lo, hi)
        return drawn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    """The product over all features."""

    pairs: PairSpace
    spreads: tuple[FeatureMeasure, ...]

    @property
    def known(self) -> bool:
        """Whether masses of boxes are known."""
        return all(spread.bend is None for spread in self.spreads)

    def mass(self, lo: Floats, hi: Floats, open_left: NDArray[np.bool_]) -> Fraction:
        """Of a box, constraints left aside."""
        ends = zip(self.spreads, lo.tolist(), hi.tolist(), open_left.tolist(), strict=True)
        return prod((s.mass(a, b, open_left=o) for s, a, b, o in ends), start=Fraction(1))

    def left(self, box: CodeBox, cut: Cut) -> Fraction:
        """The part of a box's mass that is left of a cut."""
        k = cut.feature
        lo, hi, open_left = float(box.lo[k]), float(box.hi[k]), bool(box.open_left[k])
        whole = self.spreads[k].mass(lo, hi, open_left=open_left)
        return self.spreads[k].mass(lo, cut.at, open_left=open_left) / whole if whole else Fraction(0)

    def weights(self, k: int) -> Floats:
        """Of all values of a discrete feature, in float64: each within two roundings."""
        variable = self.pairs.variables[self.pairs.first[k]]
        weights = np.zeros(int(variable.hi - variable.lo) + 1)
        for atom, count in zip(self.spreads[k].atoms, self.spreads[k].counts, strict=True):
            weights[int(atom - variable.lo)] = count / self.spreads[k].sums[-1]
        return weights

    def drawn(
        self, random: np.random.Generator, lo: Floats, hi: Floats, open_left: NDArray[np.bool_]
    ) -> Floats:
        """One individual from each box, constraints left aside."""
        columns = [
            spread.drawn(random, lo[:, k], hi[:, k], open_left[:, k]) for k, spread in enumerate(self.spreads)
        ]
        return np.stack(columns, axis=1)

    def individuals(self, random: np.random.Generator, count: int) -> Floats | None:
        """Valid individuals; None where constraints refuse nearly everybody."""
        lo, hi = self.ends()
        valid, parts, have, tried = Validity.of_all(self.pairs), [], 0, 0
        while have < count:
            if tried > MOST_DRAWS * count and have * MOST_DRAWS < tried:
                return None
            low, high = (np.repeat(end[None], count, axis=0) for end in (lo, hi))
            rows = self.drawn(random, low, high, np.zeros(low.shape, dtype=bool))
            kept = rows[valid.individuals(rows)]
            parts.append(kept)
            have, tried = have + len(kept), tried + count
        return np.concatenate(parts)[:count]

    def ends(self) -> tuple[Floats, Floats]:
        """The box of everybody."""
        return np.array([float(s.lo) for s in self.spreads]), np.array([float(s.hi) for s in self.spreads])


def uniform_measure(pairs: PairSpace, recoding: Recoding) -> Measure:
    """Every value of a feature alike."""
    spreads = tuple(_uniform_feature(pairs.variables[v], recoding, k) for k, v in enumerate(pairs.first))
    return Measure(pairs=pairs, spreads=spreads)


def has_uniform_codes(recoding: Recoding) -> bool:
    """Whether uniform individuals have uniform codes, as far as they are discrete: not where a missing number has the code of another one."""
    names = recoding.given.names
    return not any(
        part.gap is not None and isinstance(recoding.given[names[k]], Integer)
        for k, part in recoding.parts.items()
    )


def marginal_measure(pairs: PairSpace, rows: Floats) -> Measure:
    """Every value of a feature as often as in the rows."""
    spreads = []
    for k, v in enumerate(pairs.first):
        atoms, counts = np.unique(rows[:, k], return_counts=True)
        spreads.append(_atomic_feature(pairs.variables[v], atoms.tolist(), counts.tolist()))
    return Measure(pairs=pairs, spreads=tuple(spreads))


def _uniform_feature(variable: Variable, recoding: Recoding, k: int) -> FeatureMeasure:
    feature, part = recoding.given[recoding.given.names[k]], recoding.parts.get(k)
    if isinstance(feature, Continuous) and not variable.discrete:
        if part is not None and part.bend is not None:
            return FeatureMeasure(lo=variable.lo, hi=variable.hi, bend=part.bend)
        return FeatureMeasure(lo=feature.lo, hi=feature.hi)
    if isinstance(feature, Integer) and part is not None and part.gap is not None:
        every = np.arange(feature.code_range[0], feature.code_range[1] + 1, dtype=np.float64)
        atoms, counts = np.unique(part.coded(every), return_counts=True)
        return _atomic_feature(variable, atoms.tolist(), counts.tolist())
    values = [float(value) for value in range(int(variable.lo), int(variable.hi) + 1)]
    return _atomic_feature(variable, values, [1] * len(values))


def _atomic_feature(variable: Variable, atoms: list[float], counts: list[int]) -> FeatureMeasure:
    sums = (0, *np.cumsum(counts).tolist())
    return FeatureMeasure(
        lo=variable.lo, hi=variable.hi, atoms=tuple(atoms), counts=tuple(map(int, counts)), sums=sums
    )
