"""A written claim: everything a claim file says, as one value.

"Individuals of this space who are similar have this property under this model." The model, the data
and the label are named, not loaded: a claim file is drafted, read and written where nothing else is at hand, and what is verified,
with the model and the rows themselves, is another value (`likewise.problem.Claim`). Paths are kept absolute, so a claim means the same files whatever
folder it is used or written in.
"""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from os import PathLike, fspath

from likewise.errors import SpecError, suggest_name
from likewise.spec.display_names import NO_NAMES, DisplayNames
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.model_reading import READ_AS_IT_IS, ModelReading
from likewise.spec.outside import Outside, check_choice
from likewise.spec.population import Population
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """Space, similarity and property, with the model and data they are about.

    The similarity must fit the space (known names, kinds that can carry its tolerances), but may still
    leave nothing to differ: that is a draft, which `Similarity.resolve` refuses when it is to be proved.
    """

    space: Space
    similarity: Similarity
    property: Property
    _: KW_ONLY
    model_path: str | None = None
    data_path: str | None = None
    label: str | None = None
    reading: ModelReading = READ_AS_IT_IS
    outside: Outside = "error"
    display: DisplayNames = NO_NAMES
    population: Population | None = None

    def __post_init__(self) -> None:
        for value, kind, what in (
            (self.space, Space, "space"),
            (self.similarity, Similarity, "similarity"),
            (self.property, SameDecision | ScoreGap | ProbabilityGap | Lipschitz, "property"),
            (self.label, str | None, "label"),
            (self.reading, ModelReading, "reading of its model"),
            (self.display, DisplayNames, "names for readers"),
            (self.population, Population | None, "population"),
        ):
            if not isinstance(value, kind):
                raise SpecError(f"a claim's {what} cannot be {value!r}")
        check_choice(self.outside)
        self.similarity.relations(self.space)
        if self.label is not None and self.label in self.space:
            raise SpecError(
                f"label {self.label!r} is also a feature",
                hint="what is predicted is no part of the individual",
            )
        strange = [name for name in self.reading.features if name not in self.space]
        if strange:
            raise SpecError(
                f"model.inputs: there is no feature {strange[0]!r}{suggest_name(strange[0], self.space.names)}"
            )
        unknown = [name for name in self.display.features if name not in self.space]
        if unknown:
            raise SpecError(
                f"display.features: there is no feature {unknown[0]!r}{suggest_name(unknown[0], self.space.names)}"
            )
        if self.population is not None:
            self.population.check(self.space)
        object.__setattr__(self, "model_path", _absolute_path(self.model_path, "model_path"))
        object.__setattr__(self, "data_path", _absolute_path(self.data_path, "data_path"))

    def describe(self) -> str:
        """In words: ``individuals who differ only in sex get the same decision``."""
        return f"individuals who {self.similarity.describe()} {self.property.describe(one_way=self.similarity.one_way)}"


def _absolute_path(path: str | PathLike[str] | None, what: str) -> str | None:
    if path is None:
        return None
    text = fspath(path)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise SpecError(f"a claim's {what} cannot be {text!r}")
    return os.path.abspath(text)  # noqa: PTH100 - resolve() would follow links, and the file keeps them
