"""Numbers as people read them: one form, whatever shows them. Exact ones are in the documents that programs read (JSON).

- A number has six digits, and its whole part in full; tiny ones are written with a power of ten.
- Two numbers that differ never look the same: they get more digits, and where ten do not suffice, one is *just above* the other.
- The ends of a bracket are rounded outwards, so that what is read is still true; a bracket that has closed is one number.
- A share is in per cent with two decimals, and with more where it would look like nobody or everybody.

A double is taken for the shortest decimal that names it, as JSON does: 0.3 is 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

DIGITS = 6
MOST_DIGITS = 10  # to tell two numbers apart
SAME_NUMBER = 1e-12  # of a number: ends of a bracket that are closer are the doubles around one number
LEAST_EXPONENT, MOST_EXPONENT = -5, 15  # of numbers that are written without a power of ten
PERCENT_DECIMALS = 2
MOST_PERCENT_DECIMALS = 12
WHOLE = 10**6  # individuals, up to which their number is written out
GREAT_NUMBERS = (
    (10**15, "quadrillion"),
    (10**12, "trillion"),
    (10**9, "billion"),
    (10**6, "million"),
)

UNKNOWN = "?"


def number_text(value: float | None, digits: int = DIGITS) -> str:
    """A number in six digits; an unknown one is a question mark."""
    if value is None:
        return UNKNOWN
    return _rounded_text(value, digits, ROUND_HALF_EVEN)


def bound_text(value: float, *, up: bool, digits: int = DIGITS) -> str:
    """A bound, rounded to its safe side: an upper one up, a lower one down."""
    return _rounded_text(value, digits, ROUND_CEILING if up else ROUND_FLOOR)


def bracket_texts(lower: float | None, upper: float | None) -> tuple[str, str]:
    """Both ends, rounded outwards; of one number, or of the doubles around it, its text twice."""
    if lower == upper or (
        lower is not None and upper is not None and upper - lower <= SAME_NUMBER * abs(upper)
    ):
        return number_text(lower), number_text(lower)
    return _end_text(lower, up=False), _end_text(upper, up=True)


def _end_text(value: float | None, *, up: bool) -> str:
    """An end of a bracket: the double next to a short number is that number, any other one is rounded to its safe side."""
    short = number_text(value)
    if value is None or not math.isfinite(value) or abs(float(short) - value) <= SAME_NUMBER * abs(value):
        return short
    return bound_text(value, up=up)


def rough_bound_text(value: float) -> str:
    """A bound of something small in one digit, rounded up."""
    return bound_text(value, up=True, digits=1)


def signed_text(value: float) -> str:
    """A difference: with its sign, and with a minus that is one."""
    return "0" if value == 0 else f"{'+' if value > 0 else '−'}{number_text(abs(value))}"


def distinct_texts(first: Any, second: Any, short: Callable[[Any], str] = number_text) -> tuple[str, str]:
    """Two values as text that tells them apart where they differ."""
    texts = short(first), short(second)
    if first == second or texts[0] != texts[1]:
        return texts
    if not (isinstance(first, float | int) and isinstance(second, float | int)):
        return repr(first), repr(second)
    for digits in range(DIGITS + 1, MOST_DIGITS + 1):
        found = number_text(first, digits), number_text(second, digits)
        if found[0] != found[1]:
            return found
    return texts[0], f"just {'above' if second > first else 'below'} {texts[0]}"


def percent_text(share: float | Fraction) -> str:
    """A share in per cent with two decimals, never rounded to nothing or to all."""
    return _percent_text(share, ROUND_HALF_EVEN)


def percent_bracket_texts(lower: float | Fraction, upper: float | Fraction) -> tuple[str, str]:
    """Both ends of a share, rounded outwards; of ends that agree in six digits, their text twice."""
    if number_text(float(lower)) == number_text(float(upper)):
        return percent_text(lower), percent_text(lower)
    return _percent_text(lower, ROUND_FLOOR), _percent_text(upper, ROUND_CEILING)


def sure_text(confidence: float) -> str:
    """That of an interval of a sample: ``99% sure``."""
    return f"{(_exact_decimal(confidence) * 100).normalize():f}% sure"


def seconds_text(seconds: float) -> str:
    """A duration: ``0.07 s``, ``52.10 s``."""
    return f"{seconds:.2f} s"


def count_text(count: int) -> str:
    """Very many things in words: ``about 28 million``, ``about 10^21``; below a million the number itself."""
    if count < WHOLE:
        return f"{count:,}"
    for size, name in GREAT_NUMBERS:
        if size <= count < 1000 * size:
            return f"about {float(f'{count / size:.2g}'):g} {name}"
    return f"about 10^{round(math.log10(count))}"


def _rounded_text(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return {math.inf: "infinity", -math.inf: "-infinity"}.get(value, UNKNOWN)
    exact = Decimal(repr(float(value)))
    whole = exact.adjusted() + 1 if exact else 0
    kept = max(digits, whole) if whole <= MOST_EXPONENT else digits
    rounded = Context(prec=kept, rounding=rounding).plus(exact).normalize()
    if not rounded:
        return "0"
    if LEAST_EXPONENT <= rounded.adjusted() < MOST_EXPONENT:
        return f"{rounded:f}"
    mantissa = rounded.scaleb(-rounded.adjusted())
    return f"{mantissa:f}e{rounded.adjusted()}"


def _percent_text(share: float | Fraction, rounding: str) -> str:
    if share in (0, 1):
        return "100%" if share else "0%"
    exact = _exact_decimal(share) * 100
    for decimals in range(PERCENT_DECIMALS, MOST_PERCENT_DECIMALS + 1):
        unit = Decimal(1).scaleb(-decimals)
        if unit <= exact <= 100 - unit:
            return f"{exact.quantize(unit, rounding):f}%"
    outwards = {ROUND_FLOOR: ("0%", "above 99.99%"), ROUND_CEILING: ("below 0.01%", "100%")}
    return outwards.get(rounding, ("below 0.01%", "above 99.99%"))[share > 1 / 2]


def _exact_decimal(share: float | Fraction) -> Decimal:
    """With thirty digits, which is more than a share is shown with."""
    if isinstance(share, Fraction):
        return Context(prec=30).divide(Decimal(share.numerator), Decimal(share.denominator))
    return Decimal(repr(float(share)))
