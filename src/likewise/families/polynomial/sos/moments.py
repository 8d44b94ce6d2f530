"""The semidefinite program of a relaxation, on the side of moments, as sparse arrays.

Its variables are the moments L(m) of the monomials m that occur (L(1) = 1) and, where the lean is free, one number tau.
With g = (f - f')/2 and s = (f + f')/2 the line of lean (1 + theta)/2 is  a f - b f' = g + theta s, and

    maximise  L(g)/|g| - rho tau     with  abs(L(y^k s))/|s| <= tau,  rho = |s|/|g|,
              L(generator) >= 0 for multipliers,      the matrix L(generator m m') positive semidefinite for blocks

(y^k: 1 alone, or 1 and every axis for a linear theta). Its dual minimises the bound of g + theta s over multipliers, sums
of squares and theta = theta_0 + sum theta_i y_i with abs(theta_0) + sum abs(theta_i) <= 1. |p| is the largest
coefficient: g and s differ by orders of magnitude where the decision hardly depends on what may differ, and with one
scale for both the solver would not see g. Monomials that no block knows have -1 <= L(m) <= 1 (0 <= L(m) for even ones):
that is what the separable majorant does to them.

Rows follow the form of conic solvers: A x + slack = b, the slack nonnegative, then in the cones of the blocks (upper
triangle by columns, what is off the diagonal times the root of 2). The dual values of rows are the multipliers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.polynomial.sos.cube import Cube, Generators, Monomial, Polynomial, graded_monomials
from likewise.families.polynomial.sos.relaxations import Relaxation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_matrix

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FloatPolynomial = Mapping[Monomial, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Programme:
    """minimise cost x with A x + slack = b: `forms` rows for tau, then a row a multiplier (divided by its entry of
    `scales`), then rows for monomials that no block knows, `linear` rows in all; then cones of the given sizes."""

    matrix: csc_matrix
    right: Floats
    cost: Floats
    constant: float
    forms: int
    scales: Floats
    linear: int
    sizes: tuple[int, ...]
    first_moments: Ints  # columns; -1 where an axis does not occur


class _RowBuilder:
    """Entries of a sparse matrix with one column a monomial, known by a key."""

    def __init__(self, dimension: int, degree: int) -> None:
        self._radix = (dimension + 1) ** np.arange(degree)
        self._degree = degree
        self._entries: list[tuple[Ints, Ints, Floats]] = []
        self.count = 0

    def keys(self, monomials: Ints) -> Ints:
        """A number for each product: its axes, counted from 1, in descending order are digits."""
        ordered: Ints = -np.sort(-monomials, axis=1)
        return ordered[:, : self._degree] @ self._radix[: ordered.shape[1]]

    def key(self, monomial: Monomial) -> int:
        """The key of one monomial, given as a sorted tuple."""
        return int(sum((axis + 1) * self._radix[k] for k, axis in enumerate(reversed(monomial))))

    def add_polynomials(self, polynomials: Iterable[FloatPolynomial]) -> None:
        """One row a polynomial: -L(p) + slack = 0."""
        rows, keys, values = [], [], []
        for terms in polynomials:
            for monomial, value in terms.items():
                rows.append(self.count)
                keys.append(self.key(monomial))
                values.append(-value)
            self.count += 1
        self._append(
            np.array(rows, dtype=np.int64), np.array(keys, dtype=np.int64), np.array(values, dtype=float)
        )

    def add_block(self, generator: FloatPolynomial, basis: Ints) -> None:
        """The upper triangle of the matrix L(generator m m'), by columns."""
        column, row = np.tril_indices(len(basis))
        products = np.hstack([basis[row], basis[column]])
        weights = np.where(row == column, -1.0, -sqrt(2.0))
        places = self.count + np.arange(len(row))
        for monomial, value in generator.items():
            factor = np.tile(np.array(monomial, dtype=np.int64) + 1, (len(row), 1))
            self._append(places, self.keys(np.hstack([products, factor])), weights * value)
        self.count += len(row)

    def _append(self, rows: Ints, keys: Ints, values: Floats) -> None:
        self._entries.append((rows, keys, values))

    def known(self) -> set[int]:
        """The keys that occur so far."""
        return {int(key) for _, keys, _ in self._entries for key in np.unique(keys)}

    def joined(self) -> tuple[Ints, Ints, Floats]:
        """All entries: row, key, value."""
        rows, keys, values = zip(*self._entries, strict=True)
        return np.concatenate(rows), np.concatenate(keys), np.concatenate(values)


def build_programme(
    cube: Cube,
    relaxed: Relaxation,
    objective: FloatPolynomial,
    forms: Sequence[FloatPolynomial] = (),
    price: float = 0.0,
) -> Programme:
    """maximise L(objective) - price tau with L(form) + tau >= 0 for every form."""
    generators = Generators(cube)
    multipliers = [_to_floats(generators(generator)) for generator in relaxed.multipliers]
    blocks = [(_to_floats(generators(generator)), degree) for generator, degree in relaxed.blocks]
    degree = max(
        [_degree(objective), *(_degree(form) for form in forms), *(_degree(terms) for terms in multipliers)]
        + [_degree(generator) + 2 * order for generator, order in blocks]
    )
    cones = _RowBuilder(cube.dimension, degree)
    bases = {order: _pad_basis(graded_monomials(cube.dimension, order), order) for _, order in blocks}
    for generator, order in blocks:
        cones.add_block(generator, bases[order])
    # A generator may be 0 all over the cube: an equality between what is fixed there.
    scales = np.array([max(map(abs, terms.values()), default=1.0) for terms in multipliers])
    linear = _RowBuilder(cube.dimension, degree)
    linear.add_polynomials(forms)
    linear.add_polynomials(
        {monomial: value / scale for monomial, value in terms.items()}
        for terms, scale in zip(multipliers, scales, strict=True)
    )
    linear.add_polynomials(_bound_unknown([objective, *forms], cones))
    sizes = tuple(len(bases[order]) for _, order in blocks)
    return _assemble(linear, cones, objective, len(forms), price, scales, sizes, cube.dimension)


def _assemble(
    linear: _RowBuilder,
    cones: _RowBuilder,
    objective: FloatPolynomial,
    forms: int,
    price: float,
    scales: Floats,
    sizes: tuple[int, ...],
    dimension: int,
) -> Programme:
    """Number the monomials, move L(1) = 1 to the right side, append tau as the last column."""
    from scipy.sparse import csc_matrix

    above, below = linear.joined(), cones.joined()
    asked = np.array([linear.key(monomial) for monomial in objective], dtype=np.int64)
    axes = np.array([linear.key((axis,)) for axis in range(dimension)], dtype=np.int64)
    rows = np.concatenate([above[0], below[0] + linear.count])
    keys, places = np.unique(np.concatenate([[0], above[1], below[1], asked]), return_inverse=True)
    columns, wanted = places[1 : len(rows) + 1] - 1, places[len(rows) + 1 :] - 1  # -1: the constant
    values = np.concatenate([above[2], below[2]])
    width = len(keys) - 1 + (forms > 0)
    height = linear.count + cones.count
    constant = columns < 0
    right = np.zeros(height)
    np.subtract.at(right, rows[constant], values[constant])
    cost = np.zeros(width)
    weights = np.array(list(objective.values()), dtype=float)
    np.subtract.at(cost, wanted[wanted >= 0], weights[wanted >= 0])
    if forms:
        cost[-1] = price
    matrix = csc_matrix(
        (
            np.concatenate([values[~constant], np.full(forms, -1.0)]),
            (
                np.concatenate([rows[~constant], np.arange(forms)]),
                np.concatenate([columns[~constant], np.full(forms, width - 1)]),
            ),
        ),
        shape=(height, width),
    )
    found = np.searchsorted(keys, axes)
    present = keys[np.minimum(found, len(keys) - 1)] == axes
    return Programme(
        matrix=matrix,
        right=right,
        cost=cost,
        constant=float(weights[wanted < 0].sum()),
        forms=forms,
        scales=scales,
        linear=linear.count,
        sizes=sizes,
        first_moments=np.where(present, found - 1, -1),
    )


def _bound_unknown(polynomials: Sequence[FloatPolynomial], cones: _RowBuilder) -> list[FloatPolynomial]:
    """1 - m and 1 + m (m, if even) for the monomials m that no block knows."""
    known = cones.known()
    missing = {monomial for terms in polynomials for monomial in terms if cones.key(monomial) not in known}
    rows: list[FloatPolynomial] = []
    for monomial in sorted(missing):
        even = all(power % 2 == 0 for power in Counter(monomial).values())
        rows += [{(): 1.0, monomial: -1.0}, {monomial: 1.0} if even else {(): 1.0, monomial: 1.0}]
    return rows


def _to_floats(terms: Polynomial) -> dict[Monomial, float]:
    return {monomial: float(value) for monomial, value in terms.items()}


def _degree(terms: Mapping[Monomial, object]) -> int:
    return max((len(monomial) for monomial in terms), default=0)


def _pad_basis(basis: list[Monomial], degree: int) -> Ints:
    """Axes counted from 1, and 0 for none."""
    rows = np.zeros((len(basis), degree), dtype=np.int64)
    for row, monomial in zip(rows, basis, strict=True):
        row[: len(monomial)] = np.array(monomial, dtype=np.int64) + 1
    return rows
