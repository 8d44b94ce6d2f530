"""From one score of a pair to the other: what each differing feature makes of the gap, with a bar for each number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.figures import signed_text
from likewise.report.pictures import contribution_bars

if TYPE_CHECKING:
    from likewise.spec.display_names import DisplayNames
    from likewise.verifying.contributions import Contributions


def score_path(contributions: Contributions | None, most: int, names: DisplayNames) -> dict[str, Any] | None:
    """What each differing feature makes of the gap, largest first, with a bar for each number; at most so many."""
    if contributions is None:
        return None
    parts = sorted(contributions.parts, key=lambda part: -abs(part.from_first))
    missed = [
        contributions.gap - sum(getattr(part, end) for part in parts) for end in ("from_first", "from_second")
    ]
    left, parts = max(len(parts) - most, 0), parts[:most]
    columns = [[part.from_first for part in parts]]
    if not contributions.additive:
        columns += [[part.from_second for part in parts], [part.average for part in parts]]
    bars = iter(contribution_bars([value for column in columns for value in column]))
    drawn = [[(signed_text(value), next(bars)) for value in column] for column in columns]
    return {
        "gap": signed_text(contributions.gap),
        "additive": contributions.additive,
        "approximate": contributions.approximate,
        "left": left,
        "rows": [
            {"name": names.feature(part.feature), "cells": cells}
            for part, cells in zip(parts, zip(*drawn, strict=True), strict=True)
        ],
        "together": [*(signed_text(value) for value in missed), ""][: len(columns)],
    }
