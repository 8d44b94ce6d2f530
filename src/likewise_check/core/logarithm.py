"""Rigorous bounds of logarithms, of exp(-y) for y >= 0, and of sigma(s) = 1 / (1 + exp(-s)), in integers.

A real is enclosed by two ints low <= value * 2^bits <= high. Every step rounds low down and high up, so the enclosure is
right whatever the size of the errors; the error analysis below only says how tight it is. No floats.

Logarithm of a rational r > 0. With r = 2^k m or 1 / (2^k m), 1 <= m < 2, and z = (m - 1) / (m + 1) in [0, 1/3):
log m = 2 (z + z^3/3 + z^5/5 + ...); log 2 is the case z = 1/3. The powers of z are multiplied up with rounding; the sum stops at
the first power z^(2i+1) that is at most one unit 2^-bits, and the rest of the series is below z^(2i+3) / (1 - z^2) <= 1/8 unit, for which one
unit is added to the upper sum. There are at most bits / 3 + 2 terms (z^2 <= 1/9 < 2^-3.1), each power has an error of at most 2 units (the error e
of a power becomes e/9 + about 1), each term of at most 3, so the sum's error is below bits + 8 units, log m's below 2 bits + 16, and log r's
below (|k| + 1) (2 bits + 16) units. With bits = 192 and |k| < 2^18 (numbers of 10,000 characters): below 2^-163.

Exponentials of a rational y >= 0, and sigma with y = |s|. For y > bits: 0 < exp(-y) < 2^-bits. Otherwise z = y / 2^j <= 2^-h, with h about sqrt(bits);
exp(z) = sum z^n / n!, stopped at the first term of at most one unit, the rest being below it (ratios z / (n + 1) <= 1/2); exp(-z) by division; exp(-y) by
squaring j times, which doubles the error each time (and adds a unit): j + 16 guard bits absorb it, for fewer than 2^13 terms.
"""

from fractions import Fraction
from math import isqrt

LOG_BITS = 192


def ceil_div(above: int, below: int) -> int:
    """above / below, rounded up (below > 0)."""
    return -(-above // below)


def log_bounds(ratio: Fraction, bits: int = LOG_BITS) -> tuple[Fraction, Fraction]:
    """Two rationals around log(ratio), ratio > 0."""
    if ratio < 1:
        below, above = log_bounds(1 / ratio, bits)
        return -above, -below
    k = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    if ratio < Fraction(2) ** k:
        k -= 1
    m = ratio / Fraction(2) ** k
    low, high = _series(m, bits)
    low_two, high_two = _series(Fraction(2), bits)
    return Fraction(k * low_two + low, 1 << bits), Fraction(k * high_two + high, 1 << bits)


def _series(m: Fraction, bits: int) -> tuple[int, int]:
    """log m for 1 <= m <= 2, enclosed, in units."""
    z = (m - 1) / (m + 1)
    low = (z.numerator << bits) // z.denominator
    high = ceil_div(z.numerator << bits, z.denominator)
    low_square, high_square = low * low >> bits, ceil_div(high * high, 1 << bits)
    low_sum, high_sum, odd = 0, 1, 1  # the one unit is for the rest of the series
    while high > 1:
        low_sum += low // odd
        high_sum += ceil_div(high, odd)
        low, high = low * low_square >> bits, ceil_div(high * high_square, 1 << bits)
        odd += 2
    # The power that ended the loop counts too, for at most one unit.
    return 2 * low_sum, 2 * (high_sum + 1)


def sigma_bounds(score: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Two rationals around sigma(score), about 2^-bits apart."""
    low, high = exp_minus(abs(score), bits)
    above, below = 1 / (1 + low), 1 / (1 + high)
    return (below, above) if score >= 0 else (1 - above, 1 - below)


def exp_minus(y: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Two rationals around exp(-y), y >= 0, at most 2^-bits apart; exact for y = 0."""
    low, high = exp_minus_ints(y.numerator, y.denominator, bits)
    unit = 1 << unit_bits(bits)
    return Fraction(low, unit), Fraction(high, unit)


def _halvings(bits: int) -> int:
    return isqrt(bits) + bits.bit_length()


def unit_bits(bits: int) -> int:
    """The unit of `exp_minus_ints` is 2 to the minus this."""
    return bits + _halvings(bits) + 16


def exp_minus_ints(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """The same for y = numerator / denominator >= 0, in units of 2^-unit_bits(bits)."""
    halvings, work = _halvings(bits), unit_bits(bits)
    unit = 1 << work
    if numerator == 0:
        return unit, unit
    if numerator > bits * denominator:
        return 0, 1 << work - bits
    below = denominator << halvings
    low_z, high_z = (numerator << work) // below, ceil_div(numerator << work, below)
    low_term = high_term = low_sum = unit
    high_sum = unit + 1  # the one unit is for the rest of the series
    n = 0
    while high_term > 1:
        n += 1
        low_term = (low_term * low_z >> work) // n
        high_term = ceil_div(high_term * high_z, n << work)
        low_sum += low_term
        high_sum += high_term
    low, high = unit * unit // high_sum, ceil_div(unit * unit, low_sum)
    for _ in range(halvings):
        low, high = low * low >> work, ceil_div(high * high, unit)
    return low, high
