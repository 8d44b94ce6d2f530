"""RadiusDisplay: the tolerances that are proved, those that are refuted, and the gap between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from likewise.displays.display import (
    BIASED,
    FAIR,
    UNKNOWN,
    Display,
    Style,
    axes_for,
    document_of,
    short_label,
)
from likewise.figures import number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {"FAIR": FAIR, "BIASED": BIASED, "UNKNOWN": UNKNOWN}
LEVEL_HEIGHT = 0.5  # where the markers are, over the height of the band


class RadiusDisplay(Display):
    """`proved` and `refuted` are levels or None; `asked` holds (level, verdict) of every search, `reason` why it
    ended before both ends met."""

    def __init__(
        self,
        *,
        proved: float | None,
        refuted: float | None,
        largest: float,
        of: str | None = None,
        asked: tuple[tuple[float, str], ...] = (),
        reason: str | None = None,
    ) -> None:
        self.proved = proved
        self.refuted = refuted
        self.largest = largest
        self.of = of
        self.asked = asked
        self.reason = reason

    @classmethod
    def _asked(cls, model: Any, space: Any, similar: Any, property: Any, **options: Any) -> Any:
        from likewise.analysis.radius import radius

        return radius(model, space, similar, property, **options)

    @classmethod
    def _of(cls, result: Any) -> Self:
        """From a `Radius` or its document."""
        found = document_of(result, ("of", "proved", "refuted", "largest"), "a radius")
        return cls(
            proved=found["proved"],
            refuted=found["refuted"],
            largest=float(found["largest"]),
            of=found["of"],
            asked=tuple((float(level), str(verdict)) for level, verdict, *_ in found.get("history", ())),
            reason=found.get("reason"),
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it."""
        ax = axes_for(ax, height=2.9)
        largest = self.largest or 1.0
        if self.proved is not None:
            _draw_band(ax, 0.0, min(self.proved, largest), FAIR, "proved")
        start = 0.0 if self.proved is None else self.proved
        end = largest if self.refuted is None else self.refuted
        if end > start:
            _draw_band(ax, start, end, UNKNOWN, "not decided" if self.reason is not None else "in between")
        if self.refuted is not None:
            _draw_band(ax, self.refuted, largest, BIASED, "refuted")
        for verdict, look in _STYLES.items():
            levels = [level for level, answer in self.asked if answer == verdict]
            places = [LEVEL_HEIGHT] * len(levels)
            if levels:
                ax.scatter(
                    levels,
                    places,
                    marker=look.marker,
                    color=look.colour,
                    edgecolor="black",
                    zorder=3,
                    label=f"asked: {verdict}",
                )
        what = "factor on all tolerances" if self.of is None else f"tolerance of {short_label(self.of)}"
        ax.set(xlim=(0, largest * 1.02), ylim=(0, 1), xlabel=what, yticks=[], title=self._title())
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=3, frameon=False)
        return self._attach_axes(ax)

    def _title(self) -> str:
        proved = "nothing is proved" if self.proved is None else f"proved up to {number_text(self.proved)}"
        return proved + (
            ", nothing refuted" if self.refuted is None else f", refuted at {number_text(self.refuted)}"
        )


def _draw_band(ax: Axes, start: float, end: float, look: Style, label: str) -> None:
    ax.axvspan(
        start, end, facecolor=look.colour, alpha=0.35, hatch=look.hatch, edgecolor="white", label=label
    )
