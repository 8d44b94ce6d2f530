"""Values as text for people, and as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from likewise.spec.features import level_text


def plain(value: Any) -> Any:
    """The same as JSON knows it: numbers that are not finite are null, what is of another type is text."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return str(value)


def number(value: float | None) -> str:
    """A number in six digits; tiny ones in scientific notation, unknown ones as a question mark."""
    if value is None:
        return "?"
    short = f"{value:.6g}"
    return short if float(short) == value or abs(value) >= 1e-3 else f"{value:.3e}"


def signed(value: float) -> str:
    """A difference: with its sign, and with a minus that is one."""
    return "0" if value == 0 else f"{'+' if value > 0 else '−'}{number(abs(value))}"


def percent(share: float) -> str:
    """A share in per cent, never rounded to nothing or to all."""
    if share in (0, 1) or 1e-4 <= share < 0.99995:
        return f"{100 * share:.4g} %"
    return f"{100 * share:.1e} %" if share < 0.5 else "99.99 %"


def shown(value: Any) -> str:
    """One value of a feature, a decision or a cell of a table."""
    if value is None:
        return level_text(None)
    return number(value) if isinstance(value, float) else printable(str(value))


def told_apart(first: Any, second: Any) -> tuple[str, str]:
    """Two values as text, numbers in full where the short form would not tell them apart."""
    texts = shown(first), shown(second)
    if first != second and texts[0] == texts[1]:
        return repr(first), repr(second)
    return texts


def printable(text: str) -> str:
    """The text itself, or its escaped form if it has characters that are not seen or that turn others around."""
    return text if text.isprintable() else repr(text)
