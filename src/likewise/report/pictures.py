"""Where the lines and bars of the report's drawings go.

A drawing is `WIDTH` units wide and as high as it says; templates draw it, style sheets colour it. Nothing here is text of the user's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from likewise.figures import number_text

WIDTH, HEIGHT = 440, 210
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 12, 38  # margins around a plot
LEVEL_HEIGHT = 18  # units a level in the drawing of a radius
BAR_WIDTH = 120  # units of a contribution's bar, on both sides of zero together
MOST_POINTS = 400  # of a history that are drawn
MOST_TICKS = 5
CAP_WIDTH = 5  # units on each side of a bracket's end
MARGIN_SHARE = 0.08  # of the values, above and below
LEAST_MARGIN = 0.02  # of the values, around a bracket: one that is closed is drawn as one line


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from `lo` to `hi` along units from `start` to `stop`."""

    lo: float
    hi: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """The place of a number, to a hundredth of a unit."""
        span = self.hi - self.lo
        part = (value - self.lo) / span if span > 0 else 0.5
        return round(self.start + part * (self.stop - self.start), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of a few round numbers."""
        span = self.hi - self.lo
        if not span > 0 or not math.isfinite(span):
            return [(self.at(self.lo), number_text(self.lo))]
        unit = 10.0 ** math.floor(math.log10(span / MOST_TICKS))
        step = next(m * unit for m in (1, 2, 2.5, 5, 10, 20) if span / (m * unit) <= MOST_TICKS)
        first, last = math.ceil(self.lo / step), math.floor(self.hi / step)
        return [(self.at(i * step), number_text(i * step)) for i in range(first, last + 1)]


def bracket_history(disparity: Mapping[str, Any]) -> dict[str, Any] | None:
    """Lower and upper end over time, each the same until it changes; None if nothing finite is known."""
    points = thin_points([point for point in disparity["history"] if point[0] is not None])
    ends = [value for _, *both in points for value in both if value is not None]
    if not ends:
        return None
    lo, hi = min(ends), max(ends)
    room = max(MARGIN_SHARE * (hi - lo), LEAST_MARGIN * max(abs(lo), abs(hi))) or 1.0
    across = Axis(0.0, max(points[-1][0], 1e-9), LEFT, WIDTH - RIGHT)
    up = Axis(lo - room, hi + room, HEIGHT - BOTTOM, TOP)
    lower = _step_points([(t, low) for t, low, _ in points if low is not None], across, up)
    upper = _step_points([(t, high) for t, _, high in points if high is not None], across, up)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
        "lower": _svg_path(lower),
        "upper": _svg_path(upper),
        "between": _svg_path([*upper, *reversed(lower)]) if lower and upper else "",
        "ends": [line[-1] for line in (upper, lower) if line],
        "across": across.ticks(),
        "up": up.ticks(),
    }


def thin_points(points: list[Any]) -> list[Any]:
    """At most so many of them, the last one included."""
    every = -(-len(points) // MOST_POINTS) or 1
    return [*points[:-1:every], *points[-1:]]


def _step_points(points: Sequence[tuple[float, float]], across: Axis, up: Axis) -> list[tuple[float, float]]:
    corners: list[tuple[float, float]] = []
    for seconds, value in points:
        place = across.at(seconds), up.at(value)
        if corners:
            corners.append((place[0], corners[-1][1]))
        corners.append(place)
    if len(points) == 1:  # known from the beginning to the end
        corners = [(across.start, corners[0][1]), (across.stop, corners[0][1])]
    return corners


def _svg_path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def bracket_chart(points: Sequence[Sequence[Any]], limit: float | None) -> dict[str, Any] | None:
    """A vertical line a bracket, their ends joined; None if nothing finite is known."""
    ends = [end for _, *both in points for end in both if end is not None]
    if not ends:
        return None
    values = [*ends, *([] if limit is None else [limit])]
    lo, hi = min(values), max(values)
    room = MARGIN_SHARE * (hi - lo) or MARGIN_SHARE * abs(hi) or 1.0
    across = Axis(
        0.0, max(factor for factor, _, _ in points) or 1.0, LEFT + CAP_WIDTH, WIDTH - RIGHT - CAP_WIDTH
    )
    up = Axis(lo - room, hi + room, HEIGHT - BOTTOM, TOP)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
        "cap": CAP_WIDTH,
        "limit": None if limit is None else up.at(limit),
        "brackets": [
            {"x": across.at(factor), "low": up.at(low), "high": up.at(high)}
            for factor, low, high in points
            if low is not None and high is not None
        ],
        "lower": _svg_path([(across.at(factor), up.at(low)) for factor, low, _ in points if low is not None]),
        "upper": _svg_path(
            [(across.at(factor), up.at(high)) for factor, _, high in points if high is not None]
        ),
        "across": across.ticks(),
        "up": up.ticks(),
    }


def radius_levels(radius: Mapping[str, Any]) -> dict[str, Any]:
    """The levels that were asked about from top to bottom, and below them what is proved and refuted."""
    asked = [entry for entry in radius["history"] if entry[0] is not None]
    largest = max([radius["largest"] or 0.0, *(entry[0] for entry in asked)]) or 1.0
    across = Axis(0.0, largest, LEFT - 40, WIDTH - RIGHT - 8)
    bottom = TOP + LEVEL_HEIGHT * (len(asked) + 1)
    proved, refuted = radius["proved"], radius["refuted"]
    return {
        "width": WIDTH,
        "height": bottom + BOTTOM,
        "left": across.start,
        "right": across.stop,
        "top": TOP,
        "bottom": bottom,
        "asked": [
            {"x": across.at(level), "y": TOP + LEVEL_HEIGHT * (i + 0.5), "verdict": verdict, "level": level}
            for i, (level, verdict, _) in enumerate(asked)
        ],
        "proved": None if proved is None else across.at(min(proved, largest)),
        "refuted": None if refuted is None else across.at(min(refuted, largest)),
        "across": across.ticks(),
    }


def share_bar(share: Mapping[str, Any]) -> dict[str, Any]:
    """Everybody as one bar: biased for certain, open, fair for certain. What is not nothing is at least a hair wide."""
    lower, upper = (min(max(share[end], 0.0), 1.0) for end in ("lower", "upper"))
    across = Axis(0.0, 1.0, 10, WIDTH - 10)
    first = max(across.at(lower), across.start + (1.5 if lower > 0 else 0))
    second = max(across.at(upper), first + (1.5 if upper > lower else 0))
    return {
        "width": WIDTH,
        "left": across.start,
        "right": across.stop,
        "biased": round(first - across.start, 2),
        "open": round(second - first, 2),
        "open_at": first,
        "fair_at": second,
        "fair": round(max(across.stop - second, 0.0), 2),
        "across": [(across.at(k / 4), f"{25 * k}%") for k in range(5)],
    }


def contribution_bars(values: Sequence[float]) -> list[dict[str, Any]]:
    """One bar a contribution, all on one scale, to the right of its zero or to the left."""
    largest = max((abs(value) for value in values), default=0.0) or 1.0
    negative = any(value < 0 for value in values)
    zero, length = (BAR_WIDTH / 2, BAR_WIDTH / 2) if negative else (1.0, BAR_WIDTH - 1.0)
    bars = []
    for value in values:
        size = round(abs(value) / largest * length, 2)
        bars.append(
            {
                "x": round(zero - size, 2) if value < 0 else zero,
                "size": size,
                "zero": zero,
                "width": BAR_WIDTH,
            }
        )
    return bars
