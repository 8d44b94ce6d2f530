"""How a model file is to be read: which further types it may construct (skops), and of one that knows no
names of features and no labels (networks: ONNX, PyTorch, Keras) which feature is in which column of its
inputs, and what its classes are called; and how rows are encoded for a model that was fitted on
`pandas.get_dummies` of them; and from which probability on a model of two classes decides for the second one.

An input is a row of columns. Each is a feature that is a number, or tells a level of a feature apart (1 for
that level, 0 for all others), as one-hot encoders write them::

    [model.inputs]
    X = ["age", "income", { feature = "sex", levels = ["f", "m"] }]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from likewise.errors import SpecError
from likewise.spec.numbers import short_repr

if TYPE_CHECKING:
    from likewise.spec.features import Level


GET_DUMMIES = "get_dummies"


@dataclass(frozen=True, slots=True)
class LevelColumns:
    """A column for each of these levels of a feature, in this order."""

    feature: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise SpecError(f"the levels of {self.feature!r} must be some, and different from each other")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReading:
    """`inputs`: for each input by name what its columns are, in order; `labels`: the classes in the order of
    the scores; `external_data`: whether weights may be in other files beside the model; `encoding`:
    "get_dummies"; `threshold`: of the probability of the second of two classes, which is decided from there
    on."""

    inputs: Mapping[str, tuple[str | LevelColumns, ...]] = field(default_factory=dict)
    labels: tuple[str | int | float | bool, ...] | None = None
    external_data: bool = False
    encoding: str | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        check_threshold(self.threshold)
        if self.labels is not None and (len(self.labels) < 2 or len(set(self.labels)) < len(self.labels)):
            raise SpecError("a model's labels must be at least two, and different from each other")

    @property
    def names_columns(self) -> bool:
        """Whether it says what only files need that know no names."""
        return bool(self.inputs) or self.labels is not None or self.external_data

    @property
    def features(self) -> list[str]:
        """The features that are in columns, each once."""
        entries = [entry for columns in self.inputs.values() for entry in columns]
        return list(dict.fromkeys(entry if isinstance(entry, str) else entry.feature for entry in entries))


def check_encoding(encoding: object) -> None:
    """Refuse an encoding that is not known."""
    if encoding is not None and encoding != GET_DUMMIES:
        raise SpecError(
            f"encoding must be {GET_DUMMIES!r}, not {short_repr(encoding)}",
            hint="leave it out for a model that takes the rows as they are",
        )


def check_threshold(threshold: object) -> None:
    """Refuse what is no threshold on a probability."""
    if threshold is None:
        return
    number = not isinstance(threshold, bool) and isinstance(threshold, (int, float))
    if not (number and 0 < threshold < 1):  # type: ignore[operator]
        raise SpecError(
            f"threshold must be a number between 0 and 1, both excluded, not {short_repr(threshold)}",
            hint="threshold=0.2 decides for the second class where its probability is at least 0.2",
        )


READ_AS_IT_IS = ModelReading()
