"""Lattice: all individuals of a discrete space, in blocks that hold every similar individual of their members.

Similar individuals of x are a product around x: its own value along a `same` axis, a window along a `within` axis, its
partners along a `pairs` axis, the whole `free` axis. So the features that may differ (`moving`) are kept whole in each block, and the shared ones are cut
into two groups: a block is a range of settings of the `left` group with all settings of the `right` one,

    scores[left, moving_1, ..., moving_m, right],

and "the lowest score of a similar individual" is a minimum filter run over the moving axes. Scores come from the
matrix product of `families.kernel.products` where the model has one, else row by row: in float64, so they propose. Who
satisfies the constraints is decided exactly, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm, prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.kernel.products import ProductSum
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace
    from likewise.spec.similarity import Relation
    from likewise.spec.terms import Separable

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

Cells = TypeVar("Cells", bound="NDArray[np.generic]")

BLOCK_SCORES = 2_000_000  # in a block: with what is made of them some fifty megabytes
MOST_GROUP_VALUES = 4_000_000  # factors of a group of features: 32 megabytes
ROWS_AT_A_TIME = 65_536  # scored at a time without a product


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """The order of the axes; features by number, sizes as many as there are values."""

    pairs: PairSpace
    sizes: tuple[int, ...]
    left: tuple[int, ...]
    moving: tuple[int, ...]
    right: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        return (*self.left, *self.moving, *self.right)

    def count(self, features: tuple[int, ...]) -> int:
        return prod(self.sizes[k] for k in features)

    def places(self, features: tuple[int, ...], flat: Places) -> tuple[Places, ...]:
        """For each of the features the positions of its values in these settings of all of them."""
        return np.unravel_index(flat, [self.sizes[k] for k in features]) if features else ()

    def partners(self, k: int, position: int) -> list[int]:
        """The positions of a feature that may stand beside this one; its codes start at `lo`."""
        lo, relation = int(self.pairs.variables[self.pairs.first[k]].lo), self.pairs.relations[k]
        if relation.kind == "pairs":
            return relation.partners(position, self.sizes[k])
        return [other for other in range(self.sizes[k]) if relation.allows(lo + position, lo + other)]

    def codes(self, flat: Places) -> Floats:
        """Individuals by their place in the whole lattice, as rows of codes."""
        codes = np.empty((len(flat), len(self.sizes)))
        for k, at in zip(self.order, self.places(self.order, flat), strict=True):
            codes[:, k] = at + float(self.pairs.variables[self.pairs.first[k]].lo)
        return codes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Scores of some settings of the left group with everything else; those of nobody are NaN."""

    lattice: Lattice
    start: int  # place of the first individual in the lattice
    scores: Floats

    def codes(self, flat: Places) -> Floats:
        """Individuals by their place in the block."""
        return self.lattice.codes(flat + self.start)

    def highest(self, values: Cells) -> Cells:
        """For everybody, as the second of a pair, the largest value among the similar ones."""
        turned = tuple(relation.turned() for relation in self.lattice.pairs.relations)
        return self._filter_similar(values, turned, np.maximum, maximum_filter1d)

    def lowest(self, values: Cells) -> Cells:
        """For everybody, as the first of a pair, the smallest value among the similar ones."""
        return self._filter_similar(values, self.lattice.pairs.relations, np.minimum, minimum_filter1d)

    def lowest_scores(self) -> Floats:
        return self.lowest(np.where(np.isnan(self.scores), np.inf, self.scores))

    def counterpart(self, flat: int) -> Floats:
        """The codes of the lowest-scored individual that is similar to this one."""
        index = np.unravel_index(flat, self.scores.shape)
        similar = [[int(i)] for i in index]
        for axis, k in enumerate(self.lattice.moving, start=1):
            similar[axis] = self.lattice.partners(k, int(index[axis]))
        part = self.scores[np.ix_(*similar)]
        best = np.unravel_index(np.nanargmin(part), part.shape)
        place = [places[int(b)] for places, b in zip(similar, best, strict=True)]
        codes: Floats = self.codes(np.array([np.ravel_multi_index(place, self.scores.shape)]))[0]
        return codes

    def _filter_similar(
        self, values: Cells, relations: tuple[Relation, ...], of_two: np.ufunc, window_filter: object
    ) -> Cells:
        for axis, k in enumerate(self.lattice.moving, start=1):
            relation = relations[k]
            if relation.kind == "free":
                values = of_two.reduce(values, axis=axis, keepdims=True)
            elif relation.kind == "pairs":
                around = [self.lattice.partners(k, i) for i in range(self.lattice.sizes[k])]
                parts = [
                    of_two.reduce(values.take(near, axis=axis), axis=axis, keepdims=True) for near in around
                ]
                values = np.concatenate(parts, axis=axis)  # type: ignore[assignment]
            else:
                values = _filter_window(values, axis, relation, window_filter)
        return np.broadcast_to(values, self.scores.shape)  # type: ignore[return-value]


def _filter_window(values: Cells, axis: int, relation: Relation, window_filter: Any) -> Cells:
    """A filter over the codes within the tolerance; the missing one, the last, is within reach of itself only."""
    if relation.limits is not None:
        return _filter_between(values, axis, relation, window_filter)
    size = values.shape[axis] - (relation.missing is not None)
    numbers, rest = np.split(values, [size], axis=axis)
    window = 2 * min(int(relation.tolerance or 0), size - 1) + 1
    # The edge's own value is in every window that reaches beyond the edge: repeating it changes nothing.
    filtered = window_filter(numbers, window, axis=axis, mode="nearest")
    return np.concatenate([filtered, rest], axis=axis)  # type: ignore[return-value]


def _filter_between(values: Cells, axis: int, relation: Relation, window_filter: Any) -> Cells:
    """The same over the codes between two limits above each; nobody is infinitely bad."""
    size, (low, high) = values.shape[axis], relation.apart
    first, last = max(ceil(low), 1 - size), min(floor(high), size - 1)
    if first > last:
        first = last = size  # nobody
    worst = -np.inf if window_filter is maximum_filter1d else np.inf
    before, beyond = max(0, -first), max(0, last)
    edges = [(before, beyond) if at == axis else (0, 0) for at in range(values.ndim)]
    padded = np.pad(values, edges, constant_values=worst)
    window = last - first + 1
    # Without an origin the window has half of its width before its place; with this one it begins there.
    filtered = window_filter(padded, window, axis=axis, mode="constant", cval=worst, origin=-(window // 2))
    return filtered.take(range(first + before, first + before + size), axis=axis)  # type: ignore[no-any-return]


def count_individuals(pairs: PairSpace) -> int | None:
    """How many individuals the box of a discrete space has; None if a feature is continuous."""
    variables = [pairs.variables[v] for v in pairs.first]
    if any(not v.discrete and v.lo < v.hi for v in variables):
        return None
    return prod(int(v.hi - v.lo) + 1 for v in variables)


def make_lattice(pairs: PairSpace, *, rows: int) -> Lattice | None:
    """Axes with at most so many settings beside the left group; None if the moving features alone have more."""
    variables = [pairs.variables[v] for v in pairs.first]
    sizes = tuple(int(v.hi - v.lo) + 1 for v in variables)
    moving = tuple(k for k, relation in enumerate(pairs.relations) if relation.kind != "same")
    beside = prod(sizes[k] for k in moving)
    if beside > rows:
        return None
    right: list[int] = []
    shared = [k for k in range(len(sizes)) if k not in moving]
    for k in sorted(shared, key=lambda k: sizes[k]):
        if beside * sizes[k] <= rows:
            right.append(k)
            beside *= sizes[k]
    left = tuple(k for k in shared if k not in right)
    return Lattice(pairs=pairs, sizes=sizes, left=left, moving=moving, right=tuple(right))


def score_blocks(task: SearchTask, product: ProductSum | None) -> Iterator[Block]:
    """All individuals, until the budget is over; nothing where the moving features have too many settings."""
    terms = 1 if product is None else len(product.coefficients)
    lattice = make_lattice(task.pairs, rows=max(1, min(ROWS_AT_A_TIME, MOST_GROUP_VALUES // terms)))
    if lattice is None:
        return
    inner = (*lattice.moving, *lattice.right)
    across, shape = lattice.count(inner), tuple(lattice.sizes[k] for k in lattice.moving)
    excesses = [integer_tables(lattice, constraint) for constraint in task.pairs.constraints]
    beside = None
    if product is not None:
        beside = product.rows(inner, lattice.places(inner, np.arange(across)))
    step, total = max(1, min(BLOCK_SCORES // across, MOST_GROUP_VALUES // terms)), lattice.count(lattice.left)
    for start in range(0, total, step):
        if task.budget.over:
            return
        some = np.arange(start, min(start + step, total))
        if product is not None and beside is not None:
            scores = product.scores(product.rows(lattice.left, lattice.places(lattice.left, some)), beside)
        else:
            scores = _score_rows(task, lattice, start * across, len(some) * across)
        for tables in excesses:
            scores.ravel()[constraint_excess(lattice, tables, start * across, len(some) * across) > 0] = (
                np.nan
            )
        scores = scores.reshape(len(some), *shape, lattice.count(lattice.right))
        yield Block(lattice=lattice, start=start * across, scores=scores)


def _score_rows(task: SearchTask, lattice: Lattice, start: int, count: int) -> Floats:
    scores = np.empty(count)
    for first in range(0, count, ROWS_AT_A_TIME):
        part = np.arange(first, min(first + ROWS_AT_A_TIME, count))
        scores[part] = task.scored(lattice.codes(part + start))
    return scores


def integer_tables(lattice: Lattice, constraint: Separable) -> list[NDArray[Any]]:
    """The constraint's terms by feature and value, multiplied by their common denominator; the bias in the first."""
    tables = []
    for k, term in enumerate(constraint.terms):
        lo = Fraction(lattice.pairs.variables[lattice.pairs.first[k]].lo)
        tables.append([term.exact(lo + i) for i in range(lattice.sizes[k])])
    tables[0] = [value + constraint.bias for value in tables[0]]
    scale = lcm(*(value.denominator for table in tables for value in table))
    whole = [[int(value * scale) for value in table] for table in tables]
    fits = sum(max(map(abs, table)) for table in whole) < 2**63
    return [np.array(table, dtype=np.int64 if fits else object) for table in whole]


def constraint_excess(lattice: Lattice, tables: list[NDArray[Any]], start: int, count: int) -> NDArray[Any]:
    """The constraint at so many individuals, times its denominator: positive where it is not satisfied."""
    places = lattice.places(lattice.order, np.arange(start, start + count))
    parts = [tables[k][at] for k, at in zip(lattice.order, places, strict=True)]
    total: NDArray[Any] = np.sum(parts, axis=0)
    return total
