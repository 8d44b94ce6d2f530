"""One-sided cubics of exp: the small analysis behind the rule `kernel`, in integers.

Fixed point. Exponents (l, k, h, zeta) are in units of 2^-EXPONENT, exponentials and weights of 2^-WEIGHT, coefficients of the
one-sided cubics of 2^-CUBIC.

decay(e) = exp(-e), e an int >= 0 of exponent units: e is cut into a whole part, 12 bits, 12 bits and r < 2^-24. The first three are looked
up (rounded down, so each off by less than 1 unit); exp(-r) = 1 - r + r^2/2 - r^3/6 + theta r^4/24, and r^4/24 < 2^-100, so with two
floors the polynomial is off by less than 3 units. All factors are at most 1 + 2^-90: with the three floors of the products the result is off
by less than 3 + 3 + 3 + 1 = 10 < 16 = DECAY_ERROR units.

one_sided(i, upper): the cubic of section 7 on |L| <= h = i / 1024, or Taylor's 1 + L + L^2/2 + L^3/6 for i = 0. Everything is in ints of
2^-FINE. exp(-h) >= 2^-93 is the product of two exponentials (`_fine`) that are each rounded down, so off by less than 4 in 2^FINE; its inverse is within
2^-250 exp(h) of exp(h). They are multiplied by at most 2^6 and divided by at least 2 a^3 >= 2^-32, with a few floors of 2^-FINE,
so coefficients are off by less than 2^(-250 + 93 + 38) = 2^-119, far below one unit; rounding down to units costs one more. The rule needs room for the following, all
of it taken by the constant coefficient (added for upper, subtracted for lower), in units; with g = floor(h) + 2, |L| and |k| <= g and |Z| <= 2 g:

- coefficients off by 2 units each: 2 (1 + g + g^2 + g^3);
- the shift to p(k + Z) (`shift_cubic`), whose floors lose below (1 + g + g^2) + (1 + g) |Z| + |Z|^2 <= 1 + 3 g + 7 g^2: 7 (1 + g)^2;
- L may exceed h by SLACK (h is taken from h_t - SLACK). Upper: exp L - upper = exp(xi)/24 (L^2 - h^2) L^2 <= exp(h) (g^3 SLACK) / 8 there, as
  exp(SLACK) < 3/2, L^2 - h^2 <= 2 g SLACK, L^2 <= g^2 (for i = 0, exp(xi)/24 L^4 is less than one unit). Lower: exp L - lower = exp(xi)/24 (L - a)^2 (L + a)^2 >= 0
  for every L, so nothing.

chord(i): P of section 7 for h = i / 1024, and eps. P needs no constant: it occurs as P(L) - P(L') only, shifted by one and the same k. It is
the integral of P' = (I_0 - 2 I_2) + (2 I_1 / h) L + (4 I_2 / h^2) L^2, and any P is right with any eps >= |exp - P'| for |L| <= h + SLACK. The series
I_k / h^k = 2^-k sum over j of (h/2)^(2j) / (j! (j+k)!) has positive terms T_j, here in units of 2^-320, each computed from the one before with one
floor. So T_j is off by at most the sum over i <= j of T_j / T_i; T_i >= T_0 >= 2^317 while terms rise, and T_j <= T_i once they fall: for n terms, in all
at most n sum T_j / 2^317 + n^2 units. At the first that is found to be 0 the true one is below n + 1 units, which needs j > h, so that ratios are below 1/2 and
what follows is below 2 n + 2 units. With n < 2^9 and I_0 <= exp(64) < 2^93 a sum is off by less than 2^-210; times at most 2^14, and with an
exp(h) that is off by less than 2^-157, coefficients of P and eps are off by far less than one unit; rounding down costs one more. eps takes, in units:

- 2 + 4 g + 6 g^2 for these coefficients, and (1 + g) + 2 |Z| <= 1 + 5 g for the shift: in all at most 6 (1 + g)^2;
- for SLACK: exp and P'' are below 3/2 exp(h) and 2 I_1 / h + 8 I_2 / h^2 |L| <= exp(h) (1 + g) on |L| <= h + SLACK, so exp(h) (g + 3) SLACK;
- 2 for its own rounding.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import factorial

from likewise_check.core.logarithm import exp_minus

EXPONENT, WEIGHT, CUBIC = 48, 96, 60
FINE = 360  # bits of what cubics are made of
DECAY_ERROR = 16
GRID = 1024
WIDEST = 64  # the largest h
SLACK = 1 << EXPONENT - 42
_LATER = 67 << EXPONENT  # exp(-67) < 2^-96
_ONE = 1 << WEIGHT


@cache
def _power(part: int, bits: int) -> int:
    """exp(-part / 2^bits), rounded down to units; part is at most 2^12."""
    low, _ = exp_minus(Fraction(part, 1 << bits), WEIGHT + 8)
    return int(low * _ONE)


@cache
def _coarse(part: int) -> int:
    """exp(-part / 2^12)."""
    return _power(part >> 12, 0) * _power(part & 4095, 12) >> WEIGHT


def decay(e: int) -> int:
    """exp(-e), off by less than DECAY_ERROR units."""
    if e >= _LATER:
        return 0
    rest = e & 0xFFFFFF
    square = rest * rest
    last = _ONE - (rest << WEIGHT - EXPONENT) + (square >> 1) - square * rest // (6 << EXPONENT)
    return (_coarse(e >> 36) * _power(e >> 24 & 4095, 24) >> WEIGHT) * last >> WEIGHT


@cache
def _fine(above: int, below: int) -> int:
    """exp(-above / below), rounded down to 2^-FINE."""
    low, _ = exp_minus(Fraction(above, below), FINE + 8)
    return int(low * (1 << FINE))


def one_sided(i: int, upper: bool) -> tuple[int, int, int, int]:
    """The coefficients of the upper or lower cubic for h = i / GRID <= WIDEST, the constant one with room for rounding."""
    one, grid = 1 << FINE, GRID if upper else 2 * GRID  # h = i / GRID, and a = h / 2 = i / (2 GRID)
    down = _fine(i // grid, 1) * _fine(i % grid, grid) >> FINE
    up = (one << FINE) // down  # exp(h) and exp(-h), or of a
    cosh, sinh = up + down >> 1, up - down >> 1
    if i == 0:
        true = [one, one, one // 2, one // 6]
    elif upper:
        true = [one, one, (cosh - one) * grid**2 // i**2, (sinh * grid - one * i) * grid**2 // i**3]
    else:
        true = [
            cosh - sinh * i // (2 * grid),
            (3 * sinh * grid - i * cosh) // (2 * i),
            sinh * grid // (2 * i),
            (i * cosh - sinh * grid) * grid**2 // (2 * i**3),
        ]
    p0, p1, p2, p3 = (coefficient >> FINE - CUBIC for coefficient in true)
    g = i // GRID + 2
    room = 2 * (1 + g + g**2 + g**3) + 7 * (1 + g) ** 2
    if not upper:
        return p0 - room, p1, p2, p3
    beyond = ((up >> FINE) + 1) * g**3 * SLACK << CUBIC - EXPONENT if i else 0
    return p0 + room + beyond // 8 + 1, p1, p2, p3


def chord(i: int) -> tuple[int, int, int, int]:
    """The coefficients of P after the constant one, and eps, with room for rounding; h = i / GRID <= WIDEST."""
    h = Fraction(i, GRID)
    zero, one, two = (_bessel(i, k) for k in range(3))
    p1, p2, p3 = (int(x * (1 << CUBIC) // 1) for x in (zero - 2 * h * h * two, one, Fraction(4, 3) * two))
    up = 1 / exp_minus(h, 352)[0]
    rest = up - zero - 2 * h * one - 2 * h * h * two
    g = i // GRID + 2
    beyond = (int(up) + 1) * (g + 3) * SLACK << CUBIC - EXPONENT
    return p1, p2, p3, int(rest * (1 << CUBIC)) + 2 + 6 * (1 + g) ** 2 + beyond


def _bessel(i: int, k: int) -> Fraction:
    """I_k(h) / h^k for h = i / GRID, rounded down."""
    term = total = (1 << 320 - k) // factorial(k)
    j = 0
    while term:
        j += 1
        term = term * i * i // (4 * GRID * GRID * j * (j + k))
        total += term
    return Fraction(total, 1 << 320)


def shift_cubic(cubic: tuple[int, int, int, int], k: int) -> tuple[int, int, int, int]:
    """The coefficients of p(-k + Z) in Z, k of exponent units, with floors that `one_sided` leaves room for."""
    p0, p1, p2, p3 = cubic
    steep, bent = p3 * k >> EXPONENT, 3 * p3 * k >> EXPONENT
    return (
        p0 - ((p1 - ((p2 - steep) * k >> EXPONENT)) * k >> EXPONENT),
        p1 - ((2 * p2 - bent) * k >> EXPONENT),
        p2 - bent,
        p3,
    )


def largest_at(n1: int, n2: int, n3: int, places: Sequence[int]) -> int:
    """An int >= n1 y + n2 y^2 + n3 y^3 for all y within 1 unit (2^-WEIGHT) of the places, |y| <= 1."""
    off = abs(n1) + 2 * abs(n2) + 3 * abs(n3)  # how fast the cubic can change
    value = max(y * ((n1 << 2 * WEIGHT) + y * ((n2 << WEIGHT) + y * n3)) for y in places)
    return (value >> 3 * WEIGHT) + (off >> WEIGHT) + 2
