"""Population: who people are and how many of each, as a table a feature.

A feature's table gives values their weights, or intervals of a number, between whose ends it is uniform. Where a feature depends on another one (`given`), it has a table for each level of that.
Features without a table are as in the data. Dependence makes a tree: for every setting of the features that others depend on, all others are independent, and masses stay exact rationals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from likewise.errors import SpecError, suggest_name
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from likewise.spec.space import Space

MISSING_KEY = "(missing)"  # stands for a missing value among the keys of a file, which are text


@dataclass(frozen=True, slots=True)
class Population:
    """A distribution of individuals.

    Attributes
    ----------
    tables : mapping
        By feature its table: ``{"sex": {"Male": 0.6, "Female": 0.4}, "age": [(18, 30, 0.3), (30, 75, 0.7)]}``; weights need not add up to 1. A feature that depends on another one has a table
        for each level of that: ``{"hours": {"Male": {40: 3, 20: 1}, "Female": {40: 1, 20: 1}}}``. Features that are not named are as in the data.
    given : mapping
        By feature the one that it depends on: ``{"hours": "sex"}``, which must have levels or few whole numbers. Without a table its distribution for each level is that of the data.
    """

    tables: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Population:
        """From a table as a claim file has it, below ``[population]``."""
        for key, value in written.items():
            if key not in ("tables", "given"):
                raise SpecError(
                    f"population.{key}: unknown key{suggest_name(key, ('tables', 'given'))}",
                    hint="expected tables, given",
                )
            if not isinstance(value, Mapping):
                raise SpecError(f"population.{key}: must be a table by feature, got {value!r}")
        return cls(**written)

    def check(self, space: Space) -> None:
        """Raise what does not fit a space."""
        for name in (*self.tables, *self.given, *self.given.values()):
            if name not in space:
                raise SpecError(
                    f"the population has no such feature: {name!r}{suggest_name(name, space.names)}"
                )
        for name, parent in self.given.items():
            if isinstance(space[parent], Continuous):
                raise SpecError(
                    f"{name!r} cannot depend on {parent!r}, which is continuous",
                    hint="declare it as integer or as levels, or let the other one depend on it",
                )
            seen = {name}
            while parent in self.given:
                if parent in seen:
                    raise SpecError(f"{name!r} depends on itself, by way of {parent!r}")
                seen.add(parent)
                parent = self.given[parent]
            if parent in seen:
                raise SpecError(f"{name!r} depends on itself")

    @property
    def parents(self) -> tuple[str, ...]:
        """The features that others depend on, each after the one that it depends on itself."""
        found: list[str] = []
        for parent in self.given.values():
            line = [parent]
            while line[-1] in self.given:
                line.append(self.given[line[-1]])
            found += [name for name in reversed(line) if name not in found]
        return tuple(found)
