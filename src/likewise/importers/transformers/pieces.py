"""Bins and thresholds: constant between break points. Comparisons only, so that their tables are settled.

KBinsDiscretizer   the bin's number, or a column a bin; bins are [edge, next edge)
Binarizer          whether the number is above a threshold
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.importers.transformers.tracing import Derived, Step, Tabulated, Traced, require_number

BINS = Tabulated(does="cuts numbers into bins")
ABOVE = Tabulated(does="asks whether numbers are above a threshold")


def binned(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """One column a bin, or one in all."""
    for column in columns:
        require_number(column, step)
    if transformer.encode == "ordinal":
        return [Derived(i, BINS) for i in range(len(columns))]
    return [Derived(i, BINS) for i, count in enumerate(transformer.n_bins_) for _ in range(int(count))]


def binarized(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:  # noqa: ARG001
    """One column for each."""
    for column in columns:
        require_number(column, step)
    return [Derived(i, ABOVE) for i in range(len(columns))]


HANDLERS = {"KBinsDiscretizer": binned, "Binarizer": binarized}
