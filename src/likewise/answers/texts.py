"""Values of features as text for people, and any value as plain JSON. Numbers are written by `likewise.figures`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from likewise.figures import number_text
from likewise.spec.features import level_text

# How a value of a feature is shown, where its plain form says little: codes of levels, for instance.
ValueFormatter = Callable[[str, Any], str]


def value_text(value: Any) -> str:
    """One value of a feature, a decision or a cell of a table."""
    if value is None:
        return level_text(None)
    return number_text(value) if isinstance(value, float) else escape_unprintable(str(value))


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
