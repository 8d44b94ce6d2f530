"""Inputs: coded individuals in the kind of input that an estimator was fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.recoding import Recoding
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """`columns` are the estimator's columns in its order, `like` the user's frame type; `named` estimators
    were fitted on frames. Codes are those of the space that the model is over. `levels` has the columns that must come as pandas
    categories, with these in this order; of those in `borrowed` the names are the frame's, as the model has lost its own."""

    recoding: Recoding
    columns: tuple[str, ...]
    like: Any
    named: bool
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    borrowed: tuple[str, ...] = ()

    @property
    def space(self) -> Space:
        """The space that the model is over."""
        return self.recoding.space

    def of(self, codes: NDArray[np.float64]) -> Any:
        """Rows as the estimator takes them: a frame with its column names, or a plain array."""
        return self.of_raw(self.recoding.raw(codes))

    def of_raw(self, rows: NDArray[np.float64]) -> Any:
        """The same of rows in codes of the user's own space."""
        frame = self.recoding.given.decode(rows, like=self.like)
        if self.named:
            import narwhals.stable.v2 as nw

            frame = nw.from_native(frame).select(list(self.columns))
            return self._with_categories(frame.to_pandas()) if self.levels else frame.to_native()
        columns = [np.asarray(frame[name]) for name in self.columns]
        words = any(column.dtype.kind not in "biuf" for column in columns)
        return np.stack([column.astype(object if words else np.float64) for column in columns], axis=1)

    def _with_categories(self, frame: Any) -> Any:
        """What the estimator was not fitted on is a category too: it has to say what it makes of it."""
        import pandas as pd

        columns = {}
        for name, levels in self.levels.items():
            known, others = list(levels), frame[name].dropna().unique().tolist()
            known += [level for level in others if level not in known]
            columns[name] = pd.Categorical(frame[name], categories=known)
        return frame.assign(**columns)
