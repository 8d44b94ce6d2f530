"""RegionDisplay: the largest regions as bars, by kind, with their rules and their share of the space."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
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
from likewise.errors import SpecError
from likewise.figures import percent_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {
    "fair": FAIR,
    "biased": BIASED,
    "undecided": UNKNOWN,
    "empty": Style(colour="#FFFFFF", hatch="xx", marker=""),
}
KINDS = tuple(_STYLES)
RULE_WIDTH, RULE_MOST = 44, 120  # characters in a line of a rule, and in all

Bar = tuple[str, str, Fraction]  # kind, rule, share of the space


class RegionDisplay(Display):
    """`regions` holds (kind, rule, share of the space)."""

    def __init__(self, *, regions: Sequence[Bar]) -> None:
        self.regions = tuple(regions)

    @classmethod
    def _asked(cls, model: Any, space: Any, similar: Any, property: Any, **options: Any) -> Any:
        from likewise.analysis.regions import regions

        return regions(model, space, similar, property, **options)

    @classmethod
    def _of(cls, result: Any) -> Self:
        """From a partition or its document."""
        found = document_of(result, ("fair", "biased", "undecided"), "a partition into regions")
        listed = [
            (kind, region["rule"], Fraction(region.get("exact_measure", region["measure"])))
            for kind in KINDS
            for region in found.get(kind, ())
        ]
        return cls(regions=listed)

    def plot(self, ax: Axes | None = None, *, most: int = 12) -> Self:
        """Draw the `most` largest regions; the others are put together, one bar a kind."""
        if not self.regions:
            raise SpecError("there is no region to draw")
        bars = self._bars(most)
        ax = axes_for(ax, width=8.0, height=1.6 + 0.42 * len(bars))
        seen: set[str] = set()
        for at, (kind, _, share) in enumerate(bars):
            look = _STYLES[kind]
            ax.barh(
                at,
                float(100 * share),
                color=look.colour,
                hatch=look.hatch,
                edgecolor="black",
                linewidth=0.6,
                label=None if kind in seen else f"{kind}: {percent_text(self._share(kind))}",
            )
            seen.add(kind)
            ax.annotate(
                percent_text(share),
                (float(100 * share), at),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
            )
        rules = ["\n".join(textwrap.wrap(short_label(rule, RULE_MOST), RULE_WIDTH)) for _, rule, _ in bars]
        ax.set_yticks(range(len(bars)), rules, fontsize="small")
        ax.invert_yaxis()
        ax.margins(x=0.15)
        ax.set(xlabel="share of the space in percent", title="who is treated fairly, and who is not")
        ax.legend(loc="lower right", title="all regions of a kind")
        return self._attach_axes(ax)

    def _share(self, kind: str) -> Fraction:
        return sum((share for other, _, share in self.regions if other == kind), Fraction(0))

    def _bars(self, most: int) -> list[Bar]:
        ordered = sorted(self.regions, key=lambda region: -region[2])
        bars, others = ordered[:most], ordered[most:]
        for kind in KINDS:
            left = [share for other, _, share in others if other == kind]
            if left:
                bars.append((kind, f"{len(left)} more", sum(left, Fraction(0))))
        return bars
