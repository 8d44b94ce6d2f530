"""What the displays share: where they come from, axes to draw on, documents to draw from, and colours told apart without seeing them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from likewise.errors import LikewiseError, SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A colour (of Okabe and Ito's palette) with a hatch and a marker that say the same."""

    colour: str
    hatch: str
    marker: str


FAIR = Style(colour="#009E73", hatch="", marker="o")
BIASED = Style(colour="#D55E00", hatch="///", marker="X")
UNKNOWN = Style(colour="#999999", hatch="...", marker="s")
LINE = "#0072B2"
SHADE = "#F5D9C8"  # behind what differs: black text on it has a contrast of 15 to 1


class Display(ABC):
    """A picture of an answer. Each kind says whom to ask, what to take from the answer, and how to draw it."""

    ax_: Axes
    figure_: Figure
    plot: Callable[..., Self]  # plot(ax=None, ...): draws it, on the axes given or on new ones

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        space: Any,
        similar: Any,
        property: Any = None,
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Ask about a claim, and draw the answer; options are those of the function that is asked."""
        return cls.from_result(cls._asked(model, space, similar, property, **options), ax=ax)

    @classmethod
    def from_result(cls, result: Any, *, ax: Axes | None = None, **look: Any) -> Self:
        """Draw an answer or its document; `look` goes to `plot`."""
        return cls._of(result).plot(ax, **look)

    @classmethod
    @abstractmethod
    def _asked(cls, model: Any, space: Any, similar: Any, property: Any, **options: Any) -> Any:
        """The answer of the function that this kind draws."""

    @classmethod
    @abstractmethod
    def _of(cls, result: Any) -> Self:
        """From an answer or its document."""

    def _attach_axes(self, ax: Axes) -> Self:
        """With the axes and their figure."""
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]
        return self


def axes_for(ax: Axes | None, *, width: float = 6.4, height: float = 4.0) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise LikewiseError(
            "pictures need matplotlib, which is not installed", hint="pip install 'likewise[plot]'"
        ) from None
    _, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    return made


def document_of(answer: Any, keys: Sequence[str], what: str) -> Mapping[str, Any]:
    """The answer as its `to_dict` document, which must have these keys."""
    if not isinstance(answer, Mapping) and not hasattr(answer, "to_dict"):
        raise SpecError(
            f"{what} is drawn, not {type(answer).__name__}", hint="give the answer, or its to_dict()"
        )
    document = answer if isinstance(answer, Mapping) else answer.to_dict()
    missing = [key for key in keys if key not in document]
    if missing:
        raise SpecError(f"{what} is drawn, but the document has no {missing[0]!r}")
    return document


def short_label(text: object, most: int = 40) -> str:
    """Text for a label: cut in the middle where it is long, and never read as mathematics by matplotlib."""
    words = str(text)
    if len(words) > most:
        words = f"{words[: most // 2]}...{words[-(most // 2 - 3) :]}"
    return words.replace("$", r"\$")
