"""Wording: a result as plain text of at most 80 columns, readable without colour."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

WIDTH = 80
NAME_WIDTH = 24
VALUE_WIDTH = 24


def claim_in_words(space: Space, similarity: Similarity, property: Property) -> str:
    """Who must share what."""
    return f"individuals who {similarity.describe(space)} {property.describe()}"


def space_in_words(space: Space) -> str:
    """How large the space is."""
    levels = sum(space[name].kind in ("categorical", "ordinal") for name in space.names)
    size = space.size
    count = "uncountably many individuals" if size is None else f"{size:,} individuals"
    if size is not None and size >= 10**7:
        count = f"{float(size):.1e} individuals"
    rules = f", {len(space.constraints)} constraints" if space.constraints else ""
    return f"{len(space)} features, {levels} categorical{rules}; {count}"


def result_text(result: Result, *, all_features: bool = False) -> str:
    """The whole result for a terminal or a log."""
    lines = [
        *_wrapped("claim", result.claimed.in_words()),
        *_wrapped("space", space_in_words(result.claimed.space)),
    ]
    lines += _wrapped("verdict", _verdict_line(result))
    if result.pair is not None:
        lines += pair_lines(result, all_features=all_features)
    elif result.reason is not None:
        lines += _wrapped("reason", result.reason)
        lines += _wrapped("bounds", bounds_in_words(result.bounds))
    return "\n".join(lines)


def _verdict_line(result: Result) -> str:
    seconds = result.stats.get("seconds", 0.0)
    if result.verdict == "BIASED":
        return f"BIASED   found in {seconds:.2f} s, exact, replayed on predict"
    if result.verdict == "FAIR":
        cells = result.stats.get("cells", 1)
        return f"FAIR     proved in {seconds:.2f} s, exact, {cells:,} cell{'s' * (cells != 1)}"
    return f"UNKNOWN  after {seconds:.2f} s"


def bounds_in_words(bounds: tuple[float, float]) -> str:
    """What is known of the largest value when the budget is over."""
    low, high = (f"{b:.6g}" if math.isfinite(b) else "unknown" for b in bounds)
    return f"the largest value over all similar pairs lies between {low} and {high}"


def pair_lines(result: Result, *, all_features: bool = False) -> list[str]:
    """Both individuals side by side, what differs first and marked with <>."""
    names = result.claimed.space.names
    values = {name: list(result.pair[name]) for name in names}
    differing = [name for name in names if values[name][0] != values[name][1]]
    same = [name for name in names if name not in differing]
    shown = same if all_features else same[:3]
    lines = [_row("", "x", "x'")]
    lines += [_row(name, values[name][0], values[name][1], mark="<>") for name in differing]
    lines += [_row(name, *values[name]) for name in shown]
    if len(shown) < len(same):
        lines.append(f"  ... {len(same) - len(shown)} more the same (--all shows them)")
    if result.decisions is not None:
        lines.append(_row("decision", *result.decisions))
    if result.scores is not None:
        lines.append(_row("score", *(_number(s) for s in result.scores)))
    if result.probabilities is not None:
        lines.append(_row(f"P({result.upper_label})", *(f"{p:.3f}" for p in result.probabilities)))
    return lines


def _row(name: str, first: Any, second: Any, mark: str = "") -> str:
    left, right = _cut(first), _cut(second)
    return f"  {name[:NAME_WIDTH]:<{NAME_WIDTH}} {left:<{VALUE_WIDTH}} {mark:<2} {right}".rstrip()


def _cut(value: Any) -> str:
    text = _number(value) if isinstance(value, float) else str(value)
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"


def _number(value: float) -> str:
    short = f"{value:.6g}"
    return short if float(short) == value or abs(value) >= 1e-3 else f"{value:.3e}"


def _wrapped(title: str, text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, WIDTH, initial_indent=f"{title:<9}", subsequent_indent=" " * 9)
