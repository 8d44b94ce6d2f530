"""Terms of a cell as polynomials of degree 2 in its axes (section 23), rounded so that they stay above.

The sums z_j = alpha_j + sum_i W_ji y_i and the centres are put on a grid of 2^-GRID. That moves no z_j - centre_tj by more than (n + 2) 2^-GRID, n axes, and an exp(-gamma dist) by
at most sqrt(2 gamma / e) times the length of what it is moved by, or gamma times the sum of it: in either case by at most (1 + gamma) J (n + 2) 2^-GRID, J sums, which is added to the bound. From there on everything is exact
but exponentials and G, which are rounded to the safe side. In units of 2^-GRID: d, r, W and the slopes lambda; of 4^-GRID: fall, least, most, M and sum_j lambda_j W_ji.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.logarithm import ceil_div, exp_minus_ints, unit_bits
from likewise_check.packs.cubes.monomials import Poly

GRID = 64
EXP_BITS = 100
WEIGHT_BITS = 160  # of a term's weight
CURVE_BITS = 80  # of G, of kappa and of what they are taken of


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """alpha and W of one copy, on the grid."""

    middles: list[int]
    reaches: list[list[int]]  # by sum and axis

    @property
    def axes(self) -> int:
        return len(self.reaches[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bump:
    """One term about the middle of a cell: exponent, slopes and limits."""

    fall: int
    extra: int
    slopes: list[int]  # sum_j lambda_j W_ji, by axis
    least: int
    most: int


class Shapes:
    """What the terms of one copy have in common: half-axes r_j, the matrix M, gamma."""

    def __init__(self, sums: Sums, gamma: Fraction, *, squared: bool) -> None:
        self._sums, self._squared, self.gamma = sums, squared, gamma
        self._radii = [sum(map(abs, row)) for row in sums.reaches]
        n = sums.axes
        self.matrix = [[0] * n for _ in range(n)]
        if squared:
            for row in sums.reaches:
                for i in range(n):
                    if row[i]:
                        for other in range(n):
                            self.matrix[i][other] += row[i] * row[other]
        self.rho = sum(abs(entry) for row in self.matrix for entry in row)  # times gamma

    def bump(self, centre: Sequence[int]) -> Bump:
        """The term with this centre."""
        fall = extra = least = most = 0
        slopes = [0] * self._sums.axes
        for middle, there, radius, row in zip(
            self._sums.middles, centre, self._radii, self._sums.reaches, strict=True
        ):
            d = middle - there
            near, far = max(0, abs(d) - radius), abs(d) + radius
            if self._squared:
                slope = 2 * d
                fall, least, most = fall + d * d, least + near * near, most + far * far
            else:
                slope = (d << GRID) // max(abs(d), radius, 1)  # from -1 to 1, rounded
                fall, least, most = fall + slope * d, least + (near << GRID), most + (far << GRID)
                # |v| <= slope v + the larger one of what is missing at d + radius and at d - radius, if v may have both signs.
                high, low, one = d + radius, d - radius, 1 << GRID
                extra += max(abs(high) * one - slope * high, abs(low) * one - slope * low)
            if slope and radius:
                for i, reach in enumerate(row):
                    if reach:
                        slopes[i] += slope * reach
        return Bump(fall=fall, extra=extra, slopes=slopes, least=least, most=most)


class Total:
    """The sum of the terms' polynomials so far: ints in units of 1 / unit."""

    def __init__(self, gamma: Fraction, axes: int) -> None:
        self.above, self.below = gamma.numerator, gamma.denominator
        self.unit = self.below**2 << (WEIGHT_BITS + CURVE_BITS + 4 * GRID)
        self._constant = 0  # in units of 2^-WEIGHT_BITS
        self._linear = [0] * axes
        self._square = [[0] * axes for _ in range(axes)]
        self._round = [[0] * axes for _ in range(axes)]

    def add_constant(self, weight: int) -> None:
        """A term that is at most this."""
        self._constant += weight

    def add(self, weight: int, bump: Bump, curve: int) -> None:
        """weight (1 + L + g L^2)."""
        self._constant += weight
        steep = weight * curve
        for i, slope in enumerate(bump.slopes):
            if slope:
                self._linear[i] -= weight * slope
                row, factor = self._square[i], steep * slope
                for j in range(i + 1):
                    row[j] += factor * bump.slopes[j]

    def add_common(self, amount: int, matrix: list[list[int]]) -> None:
        """- amount gamma R, the amount in units of 2^-(WEIGHT_BITS + CURVE_BITS)."""
        for row, entries in zip(self._round, matrix, strict=True):
            for j, entry in enumerate(entries):
                row[j] -= amount * entry

    def polynomial(self) -> Poly:
        """All of it."""
        above, below, total = self.above, self.below, Poly()
        total[()] = self._constant * below**2 << (CURVE_BITS + 4 * GRID)
        for i, amount in enumerate(self._linear):
            total[i,] = above * below * amount << (CURVE_BITS + 2 * GRID)
            for j in range(i + 1):
                both = 1 if i == j else 2
                square = above**2 * self._square[i][j] * both
                total[j, i] = square + (above * below * self._round[i][j] * both << (2 * GRID))
        return total


def take_term(total: Total, shapes: Shapes, bump: Bump, coefficient: Fraction, hint: int) -> int:
    """Adds a majorant of coefficient exp(-gamma dist); what is left to subtract of gamma R, for `add_common`."""
    steep = sum(map(abs, bump.slopes))
    wide = _curve_number(shapes.gamma, steep)  # h, rounded up
    limit = hint << (CURVE_BITS - 4)
    if coefficient > 0:
        if wide > limit:
            total.add_constant(_weight(coefficient, shapes.gamma, bump.least))
            return 0
        top = min(steep, bump.fall - bump.least) if shapes.rho else steep
        curve = _curvature_above(_curve_number(shapes.gamma, top))
        rest = 2 * wide + _curve_number(shapes.gamma, shapes.rho)
        kappa = (1 << CURVE_BITS) - ceil_div(curve * rest, 1 << CURVE_BITS)
        if kappa < 0:  # exp(X) <= exp(L)
            curve, kappa = _curvature_above(wide), 0
    else:
        down = _curve_number(shapes.gamma, steep + shapes.rho)
        if down > limit:
            total.add_constant(_weight(coefficient, shapes.gamma, bump.most))
            return 0
        curve = _curvature_below(down)
        kappa = (1 << CURVE_BITS) + ceil_div(2 * wide * curve, 1 << CURVE_BITS)
    weight = _weight(coefficient, shapes.gamma, bump.fall + (0 if coefficient > 0 else bump.extra))
    total.add(weight, bump, curve)
    return weight * kappa


def _curve_number(gamma: Fraction, amount: int) -> int:
    """gamma times an amount >= 0 in units of 4^-GRID, rounded up."""
    return ceil_div(gamma.numerator * amount << CURVE_BITS, gamma.denominator << (2 * GRID))


def _weight(coefficient: Fraction, gamma: Fraction, fall: int) -> int:
    """An int >= coefficient exp(-gamma fall) 2^WEIGHT_BITS."""
    low, high = exp_minus_ints(gamma.numerator * fall, gamma.denominator << (2 * GRID), EXP_BITS)
    end = high if coefficient > 0 else low
    above = coefficient.numerator * end << WEIGHT_BITS
    return ceil_div(above, coefficient.denominator << unit_bits(EXP_BITS))


def _curvature_above(x: int) -> int:
    """An int >= G(x), x >= 0: 1/2 + x/6 + x^2/24 + ..."""
    unit = 1 << CURVE_BITS
    term = unit // 2
    total, n = term, 2
    while term > 1 or n < x >> (CURVE_BITS - 1):  # from there on every term is at most half of the one before
        n += 1
        term = ceil_div(term * x, n << CURVE_BITS)
        total += term
    return total + 2


def _curvature_below(x: int) -> int:
    """An int from 0 to G(-x), x >= 0: 1/2 - x/6 + x^2/24 - ... up to a term that is subtracted."""
    low = high = 1 << (CURVE_BITS - 1)
    total, n = low, 2
    while n < 41:
        n += 1
        low, high = low * x // (n << CURVE_BITS), ceil_div(high * x, n << CURVE_BITS)
        total += -high if n % 2 else low
    return max(0, total)
