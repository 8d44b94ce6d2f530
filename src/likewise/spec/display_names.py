"""Names for readers: what a claim file says below ``[display]``, for whoever reads a report and knows neither columns nor codes.

::

    [display]                            [display.features]          [display.labels]
    title = "Loans, spring 2026"         age = "Age (years)"         good = "granted"
    model = "Credit model 3.1"           foreign = "Citizenship"     bad = "refused"
    data = "Applications of 2025"
    author = "Risk team"

Nothing of it changes a claim, and no program reads it: documents (JSON) and certificates keep the names of the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from likewise.errors import SpecError, suggest_name

TEXT_KEYS = ("title", "model", "data", "author")
NAME_KEYS = ("features", "labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayNames:
    """What things are called in a report; a name that is not given is that of the column or of the label."""

    title: str | None = None
    model: str | None = None
    data: str | None = None
    author: str | None = None
    features: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in NAME_KEYS:
            object.__setattr__(self, key, MappingProxyType(dict(getattr(self, key))))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> DisplayNames:
        """From a table as a claim file has it."""
        known = (*TEXT_KEYS, *NAME_KEYS)
        for key, value in given.items():
            if key not in known:
                raise SpecError(
                    f"display.{key}: unknown key{suggest_name(key, known)}",
                    hint=f"expected {', '.join(known)}",
                )
            names = value if key in NAME_KEYS else {key: value}
            if not isinstance(names, Mapping) or not all(isinstance(name, str) for name in names.values()):
                wanted = "a table of texts" if key in NAME_KEYS else "text"
                raise SpecError(f"display.{key}: must be {wanted}, got {value!r}")
        return cls(**given)

    def __reduce__(self) -> tuple[Any, ...]:
        return DisplayNames.of, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """The table: what is not given is left out."""
        texts = {key: getattr(self, key) for key in TEXT_KEYS if getattr(self, key) is not None}
        return texts | {key: dict(getattr(self, key)) for key in NAME_KEYS if getattr(self, key)}

    def feature(self, name: str) -> str:
        """What a feature is called."""
        return self.features.get(name, name)

    def label(self, text: str) -> str:
        """What a label, as text, is called."""
        return self.labels.get(text, text)


NO_NAMES = DisplayNames()
