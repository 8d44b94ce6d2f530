"""Small tables of text: columns as wide as they need, the last one wrapped to 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from likewise.verifying.wording import WIDTH

MOST = 24  # columns for one value but the last; longer ones are wrapped there
GAP = "  "


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The header and the rows, two blanks before and between the columns."""
    lines = [list(header), *map(list, rows)]
    widths = [min(MOST, max(len(line[i]) for line in lines)) for i in range(len(header) - 1)]
    last = max(WIDTH - len(GAP) - sum(width + len(GAP) for width in widths), MOST)
    return [text for line in lines for text in _line(line, [*widths, last])]


def _line(line: list[str], widths: list[int]) -> list[str]:
    cells = [textwrap.wrap(text, width) or [""] for text, width in zip(line, widths, strict=True)]
    height = max(map(len, cells))
    return [
        (
            GAP
            + GAP.join(
                f"{(cell[i] if i < len(cell) else ''):<{w}}" for cell, w in zip(cells, widths, strict=True)
            )
        ).rstrip()
        for i in range(height)
    ]
