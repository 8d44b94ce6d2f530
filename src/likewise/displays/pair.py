"""PairDisplay: two individuals side by side, what differs shaded, and below how the model treats them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from likewise.answers.answer import PairRow
from likewise.answers.pair import pair_answer
from likewise.displays.display import SHADE, Display, axes_for, document_of, short_label
from likewise.errors import SpecError
from likewise.verifying.result import Treatment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SAME = 8  # features shown although both have the same value
ROW_HEIGHT = 0.32  # inches


class PairDisplay(Display):
    """`pair` maps each feature to its two values; `treated` is what the model makes of the two."""

    def __init__(
        self, *, pair: Mapping[str, tuple[Any, Any]], treated: Treatment, title: str | None = None
    ) -> None:
        self.pair = pair
        self.treated = treated
        self.title = title

    @classmethod
    def _asked(cls, model: Any, space: Any, similar: Any, property: Any, **options: Any) -> Any:
        from likewise.verifying import verify

        return verify(model, space, similar, property, **options)

    @classmethod
    def _of(cls, result: Any) -> Self:
        """From the pair of a `Result`, a `Disparity` or a `Radius`, or of their documents."""
        result = getattr(result, "result", None) or result  # a Radius has its pair from a Result
        document = document_of(result, ("pair",), "a pair")
        rows = document["pair"]
        if rows is None:
            verdict = f"the verdict is {document['verdict']}" if "verdict" in document else "none was found"
            raise SpecError(f"there is no pair to draw: {verdict}")
        first, second = rows
        label = getattr(result, "upper_label", None)
        treated = Treatment(
            decisions=document.get("decisions"),
            scores=document.get("scores"),
            probabilities=document.get("probabilities"),
            upper_label="upper class" if label is None else label,
            score_name=getattr(result, "score_name", "score"),
        )
        pair = {name: (first[name], second[name]) for name in first}
        return cls(pair=pair, treated=treated, title=document.get("claim"))

    def plot(self, ax: Axes | None = None, *, all_features: bool = False) -> Self:
        """Draw it; some features that are the same are left out unless all are wanted."""
        shown = pair_answer(self.pair, self.treated)
        kept = shown.same if all_features else shown.same[:MOST_SAME]
        rows = [*shown.differing, *kept]
        if len(kept) < len(shown.same):
            rows.append(PairRow(name=f"... {len(shown.same) - len(kept)} more the same", first="", second=""))
        treatment = list(shown.treatment)
        height = ROW_HEIGHT * (len(rows) + len(treatment) + 3)
        ax = axes_for(ax, width=7.2, height=max(1.8, height))
        _draw(ax, rows, treatment)
        if self.title:
            ax.set_title(short_label(self.title, 100), fontsize="medium", wrap=True)
        return self._attach_axes(ax)


def _draw(ax: Axes, rows: list[PairRow], treatment: list[PairRow]) -> None:
    """A table in the units of its rows: names, x, x'."""
    count = len(rows) + len(treatment) + 1
    ax.set(xlim=(0, 1), ylim=(count, 0))
    ax.axis("off")
    places = (0.02, 0.38, 0.70)
    for place, text in zip(places[1:], ("x", "x'"), strict=True):
        ax.text(place, 0.5, text, weight="bold", va="center")
    for at, row in enumerate((*rows, *treatment), start=1):
        treated = at > len(rows)
        if row.differs:
            ax.axhspan(at, at + 1, color=SHADE, linewidth=0)
            ax.text(places[2] - 0.02, at + 0.5, "≠", va="center", ha="right", weight="bold")
        for place, text in zip(places, (row.name, row.first, row.second), strict=True):
            ax.text(
                place,
                at + 0.5,
                short_label(text, 26),
                va="center",
                weight="bold" if treated or row.differs else "normal",
            )
    ax.axhline(1, color="black", linewidth=1)
    if treatment:
        ax.axhline(len(rows) + 1, color="black", linewidth=0.6)
