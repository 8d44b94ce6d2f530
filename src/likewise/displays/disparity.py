"""DisparityDisplay: the bracket [lower, upper] around the largest gap, over the seconds of the search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from likewise.answers.answer import words_text
from likewise.answers.disparity import GAP_TEXTS, bracket_in_words, gap_in_words
from likewise.displays.display import BIASED, LINE, Display, axes_for, document_of
from likewise.errors import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float, float]  # seconds, lower, upper


class DisparityDisplay(Display):
    """`history` holds (seconds, lower, upper), not finite where nothing was known; `of` is the scale."""

    def __init__(self, *, history: tuple[Point, ...], of: str, proved: bool = True) -> None:
        self.history = history
        self.of = of
        self.proved = proved

    @classmethod
    def _asked(cls, model: Any, space: Any, similar: Any, property: Any, **options: Any) -> Any:
        from likewise.analysis.measure import measure

        if property is not None:
            raise SpecError(
                "a gap is measured whatever the property is", hint='of="probability" names the scale'
            )
        return measure(model, space, similar, **options)

    @classmethod
    def _of(cls, result: Any) -> Self:
        """From the bracket of a `Disparity` or of its document."""
        found = document_of(result, ("of", "lower", "upper", "history"), "a disparity")
        seconds = float(found.get("stats", {}).get("seconds", 0.0))
        last = (seconds, found["lower"], found["upper"])
        points = [_point(*entry) for entry in found["history"]]
        if not points or points[-1][1:] != _point(*last)[1:]:
            points.append(_point(*last))
        return cls(history=tuple(points), of=found["of"], proved=bool(found.get("proved", False)))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it. Before there was a finite bound there is no line."""
        ax = axes_for(ax)
        times, lows, highs = zip(*self.history, strict=True)
        # The last bracket holds from then on; one that was known at once holds from the beginning.
        end = max(times) * 1.05 or 1.0
        times = times if len(times) > 1 else (0.0,)
        times, lows, highs = (*times, end), (*lows, lows[-1]), (*highs, highs[-1])
        unproved = "" if self.proved else " (floating point, not proved)"
        finite = [math.isfinite(low) and math.isfinite(high) for low, high in zip(lows, highs, strict=True)]
        ax.fill_between(times, lows, highs, where=finite, step="post", color=LINE, alpha=0.15, linewidth=0)
        ax.step(times, highs, where="post", color=LINE, linestyle="--", label=f"at most{unproved}")
        ax.step(times, lows, where="post", color=BIASED.colour, label="at least: a pair attains it")
        ends = [end if math.isfinite(end) else None for end in self.history[-1][1:]]
        known = words_text(bracket_in_words({"lower": ends[0], "upper": ends[1]}))
        title = f"{gap_in_words(self.of)}: {known}"
        ax.set(xlabel="seconds", ylabel=GAP_TEXTS[self.of], title=title, xlim=(0, end))
        ax.legend(loc="best", frameon=False)
        return self._attach_axes(ax)


def _point(seconds: float, lower: float | None, upper: float | None) -> Point:
    """A point of the document, in which infinite bounds are null: not drawn."""
    ends = (math.nan if end is None or not math.isfinite(end) else float(end) for end in (lower, upper))
    return (float(seconds), *ends)  # type: ignore[return-value]
