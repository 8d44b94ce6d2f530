"""Breaks: where a function of a continuous number that is constant between thresholds changes, in raw doubles.

A threshold is a number of the column that reaches the transformer: at it and above, the value is another. That
column is what the program makes of the raw number by additions, multiplications and divisions with stored doubles,
each rounded, and rounding is monotone; so it reaches the threshold at one raw double, which bisection over the
doubles finds exactly. (`embedding` asks the program itself at both ends of every piece, and refuses if they differ.)
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable

from likewise.importers.transformers.traced_columns import Line


def raw_starts(line: Line, thresholds: Iterable[float], lo: float, hi: float) -> tuple[float, ...]:
    """The raw doubles above lo at which the line, as the program computes it, reaches or leaves a threshold."""
    found = set()
    for threshold in thresholds:
        start = _first_change(line, float(threshold), lo, hi)
        if start is not None:
            found.add(start)
    return tuple(sorted(found))


def _first_change(line: Line, threshold: float, lo: float, hi: float) -> float | None:
    """The smallest raw double at which the comparison comes out as it does at hi; None if it does at lo."""

    def passed(raw: float) -> bool:
        return line.computed(raw) >= threshold

    end = passed(hi)
    if passed(lo) == end:
        return None
    below = math.nextafter(threshold, -math.inf)
    if lo <= below and threshold <= hi and passed(threshold) == end and passed(below) != end:
        return threshold  # the line is the number itself, mostly
    left, right = double_rank(lo), double_rank(hi)
    while right - left > 1:
        middle = (left + right) // 2
        if passed(double_at(middle)) == end:
            right = middle
        else:
            left = middle
    return double_at(right)


def double_rank(value: float) -> int:
    """Doubles in their order, counted from zero."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def double_at(place: int) -> float:
    """The double at a place of that order."""
    value: float = struct.unpack("<d", struct.pack("<q", abs(place)))[0]
    return value if place >= 0 else -value
