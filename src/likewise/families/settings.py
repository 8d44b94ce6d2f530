"""Settings: features fixed to codes, in one way or several, and what is made of the scores then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from likewise.model.embedding import Column

CombineRule = Literal["mean", "max", "min"]
Setting = Mapping[int, Fraction]  # codes of the features that are fixed
EXTRA_OPERATIONS = 6  # of a weight and its product with a score


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings with their weights (of a mean; >= 0, their sum 1), and the share of the score that is kept as it is."""

    how: CombineRule
    codes: tuple[Setting, ...]
    weights: tuple[Fraction, ...]
    keep: Fraction = Fraction(0)

    @property
    def single(self) -> bool:
        """Whether a mean is the score at one setting and nothing else."""
        return len(self.codes) == 1 and not self.keep


def fix_columns(embedding: Sequence[Column], codes: Setting) -> tuple[Column, ...]:
    """The same columns, those of the fixed features constant."""
    return tuple(
        _constant_column(column, codes[column.feature]) if column.feature in codes else column
        for column in embedding
    )


def _constant_column(column: Column, code: Fraction) -> Column:
    value = column.exact(code)
    if column.table is not None:
        return Column(feature=column.feature, table=(value,) * len(column.table))
    return Column(feature=column.feature, slope=Fraction(0), offset=value)
