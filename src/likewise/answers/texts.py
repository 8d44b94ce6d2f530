"""Numbers, shares and values of features as text for people, and any value as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Any

from likewise.spec.features import level_text

# How a value of a feature is shown, where its plain form says little: codes of levels, for instance.
ValueFormatter = Callable[[str, Any], str]


def number_text(value: float | None) -> str:
    """A number in six digits; tiny ones in scientific notation, unknown ones as a question mark."""
    if value is None:
        return "?"
    short = f"{value:.6g}"
    return short if float(short) == value or abs(value) >= 1e-3 else f"{value:.3e}"


def upper_end_text(lower: float | None, upper: float | None) -> str:
    """The upper end, told apart from a lower one that is almost the same."""
    if lower is not None and upper is not None and lower < upper and number_text(lower) == number_text(upper):
        return f"{number_text(lower)} + {upper - lower:.1g}"
    return number_text(upper)


def bound_text(value: float, *, up: bool, times: int = 1, digits: int = 6) -> str:
    """A multiple of a bound in so many digits, rounded to its safe side: a lower bound down, an upper bound up."""
    with localcontext(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        rounded = (Decimal(value) * times).normalize()
    return f"{rounded:f}" if rounded and -5 <= rounded.adjusted() < 12 else str(rounded or 0)


def signed_text(value: float) -> str:
    """A difference: with its sign, and with a minus that is one."""
    return "0" if value == 0 else f"{'+' if value > 0 else '−'}{number_text(abs(value))}"


def percent_text(share: float | Fraction) -> str:
    """A share in per cent with two decimals, never rounded to nothing or to all."""
    hundredfold = float(100 * share)
    if share in (0, 1) or 0.01 <= hundredfold < 99.995:
        return f"{hundredfold:.2f}%"
    return f"{hundredfold:.1e}%" if hundredfold < 1 else "99.99%"


def precise_percent(share: float) -> str:
    """A share in per cent with as many digits as tell it from 0 and 1."""
    return f"{100 * share:.6g}%"


def value_text(value: Any) -> str:
    """One value of a feature, a decision or a cell of a table."""
    if value is None:
        return level_text(None)
    return number_text(value) if isinstance(value, float) else escape_unprintable(str(value))


def distinct_texts(first: Any, second: Any, short: Callable[[Any], str] = value_text) -> tuple[str, str]:
    """Two values as text, in full where the short form would not tell them apart."""
    texts = short(first), short(second)
    if first != second and texts[0] == texts[1]:
        return repr(first), repr(second)
    return texts


def escape_unprintable(text: str) -> str:
    """The text itself, or its escaped form if it has characters that are not seen or that turn others around."""
    return text if text.isprintable() else repr(text)


def plural(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def json_value(value: Any) -> Any:
    """The same as JSON knows it: numbers that are not finite are null, what is of another type is text."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(entry) for entry in value]
    return str(value)


def document_of(answer: Any) -> Mapping[str, Any]:
    """The document of a result, or the document that is given."""
    found: Mapping[str, Any] = answer if isinstance(answer, Mapping) else answer.to_dict()
    return found
