"""Bins and thresholds: constant between break points. Comparisons only, so that their tables are settled, and
continuous numbers are taken as well (`breaks`).

KBinsDiscretizer   the bin's number, or a column a bin; bins are [edge, next edge)
Binarizer          whether the number is above a threshold
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from likewise.importers.transformers.tracing import Derived, Step, Tabulated, Traced, require_number


def binned(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """One column a bin, or one in all."""
    for column in columns:
        require_number(column, step)
    edges = (tuple(map(float, edges[1:-1])) for edges in transformer.bin_edges_)
    actions = [Tabulated(does="cuts numbers into bins", thresholds=inner) for inner in edges]
    if transformer.encode == "ordinal":
        return [Derived(i, action) for i, action in enumerate(actions)]
    counts = zip(actions, transformer.n_bins_, strict=True)
    return [Derived(i, action) for i, (action, count) in enumerate(counts) for _ in range(int(count))]


def binarized(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """One column for each."""
    for column in columns:
        require_number(column, step)
    above = math.nextafter(float(transformer.threshold), math.inf)
    action = Tabulated(does="asks whether numbers are above a threshold", thresholds=(above,))
    return [Derived(i, action) for i in range(len(columns))]


HANDLERS = {"KBinsDiscretizer": binned, "Binarizer": binarized}
