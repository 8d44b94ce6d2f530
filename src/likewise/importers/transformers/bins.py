"""Bins and thresholds: constant between break points. Comparisons only, so that their tables are settled, and
continuous numbers are taken as well (`breaks`).

KBinsDiscretizer   the bin's number, or a column a bin; bins are [edge, next edge)
Binarizer          whether the number is above a threshold
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from likewise.importers.transformers.traced_columns import (
    DerivedColumn,
    Step,
    TableFunction,
    TracedColumn,
    require_number,
)


def bin_columns(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """One column a bin, or one in all."""
    for column in columns:
        require_number(column, step)
    edges = (tuple(map(float, edges[1:-1])) for edges in transformer.bin_edges_)
    actions = [TableFunction(does="cuts numbers into bins", thresholds=inner) for inner in edges]
    if transformer.encode == "ordinal":
        return [DerivedColumn(i, action) for i, action in enumerate(actions)]
    counts = zip(actions, transformer.n_bins_, strict=True)
    return [DerivedColumn(i, action) for i, (action, count) in enumerate(counts) for _ in range(int(count))]


def binarize_columns(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """One column for each."""
    for column in columns:
        require_number(column, step)
    above = math.nextafter(float(transformer.threshold), math.inf)
    action = TableFunction(does="asks whether numbers are above a threshold", thresholds=(above,))
    return [DerivedColumn(i, action) for i in range(len(columns))]


HANDLERS = {"KBinsDiscretizer": bin_columns, "Binarizer": binarize_columns}
