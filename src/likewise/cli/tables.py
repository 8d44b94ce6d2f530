"""Small tables of text in 80 columns: each as wide as it needs; where that is too wide, the widest are wrapped."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from likewise.verifying.wording import WIDTH

MOST = 24  # characters for one value but the last; longer ones are wrapped there
LEAST = 8  # characters for one value, however many there are
GAP = "  "


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The header and the rows, two blanks before and between the columns."""
    lines = [list(header), *map(list, rows)]
    needed = [max(len(line[i]) for line in lines) for i in range(len(header))]
    widths = [min(MOST, width) for width in needed]
    room = WIDTH - len(GAP) * len(header)
    while sum(widths) > room and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    widths[-1] = max(widths[-1], room - sum(widths[:-1]))
    return [text for line in lines for text in _line(line, widths)]


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
