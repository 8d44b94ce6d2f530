"""The section on margins: how the largest gap grows with the tolerances, as a table and a drawing with the limit that the claim sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from likewise.report.pictures import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis
from likewise.report.texts import number

if TYPE_CHECKING:
    from likewise.spec.properties import Property

CAP = 5  # units on each side of a bracket's end
ROOM = 0.08  # of the values, above and below


def margins_section(margins: Mapping[str, Any], property: Property, verdict: str) -> dict[str, Any]:
    """The brackets in words, and where the limit of the claim is if it is on the same scale."""
    limit = limit_of(property, margins["of"])
    points = [point for point in margins["points"] if point[0] is not None]
    return {
        "of": margins["of"],
        "reason": margins["reason"],
        "limit": None if limit is None else number(limit),
        "rows": [
            (
                number(factor),
                number(low),
                number(high),
                "proved" if proved else "floating point",
                None if limit is None else _claim_at(factor, low, high, proved, limit, verdict),
            )
            for factor, low, high, proved in points
        ],
        "chart": brackets([point[:3] for point in points], limit),
    }


def limit_of(property: Property, of: str) -> float | None:
    """What a gap has to exceed to break the claim; for decisions, the margin."""
    if property.kind == "decision":
        return float(property.margin) if of == "margin" else None
    return float(property.delta) if of == property.kind else None


def _claim_at(
    factor: float, low: float | None, high: float | None, proved: bool, limit: float, verdict: str
) -> str:
    """What is known of the claim at a factor: a verdict FAIR holds for all smaller ones as well, BIASED for all larger ones."""
    if (verdict == "BIASED" and factor >= 1) or (low is not None and low > limit):
        return "broken"
    if verdict == "FAIR" and factor <= 1:
        return "kept"
    if high is not None and high < limit:
        return "kept" if proved else "kept, by floating point"
    return "open"


def brackets(points: Sequence[Sequence[Any]], limit: float | None) -> dict[str, Any] | None:
    """A vertical line a bracket, their ends joined; None if nothing finite is known."""
    ends = [end for _, *both in points for end in both if end is not None]
    if not ends:
        return None
    values = [*ends, *([] if limit is None else [limit])]
    lo, hi = min(values), max(values)
    room = ROOM * (hi - lo) or ROOM * abs(hi) or 1.0
    across = Axis(0.0, max(factor for factor, _, _ in points) or 1.0, LEFT + CAP, WIDTH - RIGHT - CAP)
    up = Axis(lo - room, hi + room, HEIGHT - BOTTOM, TOP)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
        "cap": CAP,
        "limit": None if limit is None else up.at(limit),
        "brackets": [
            {"x": across.at(factor), "low": up.at(low), "high": up.at(high)}
            for factor, low, high in points
            if low is not None and high is not None
        ],
        "lower": _line([(across.at(factor), up.at(low)) for factor, low, _ in points if low is not None]),
        "upper": _line([(across.at(factor), up.at(high)) for factor, _, high in points if high is not None]),
        "across": across.ticks(),
        "up": up.ticks(),
    }


def _line(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)
