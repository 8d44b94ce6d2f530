"""The frame of a pair: it prints the features that differ first, as frames with many columns leave some out when they are printed.

Its columns keep the order of the space, so that it can be handed to the model as it is; and whatever is made of it is a plain frame again. Frames of pandas and polars alone are shown so.
"""

from __future__ import annotations

from functools import cache
from typing import Any


def show_differing_first(frame: Any) -> Any:
    """The same frame, which prints otherwise."""
    library = type(frame).__module__.partition(".")[0]
    if library not in ("pandas", "polars"):
        return frame
    pair = _pair_class(library)
    if library == "pandas":
        return pair(frame)
    shown = pair.__new__(pair)
    shown._df = frame._df
    return shown


def differing_first(frame: Any) -> list[str]:
    """The names of its columns, those in which the two individuals differ first."""
    names = [str(name) for name in frame.columns]
    values = {name: list(frame[name]) for name in names}
    return sorted(names, key=lambda name: _same(values[name]))


def _same(values: list[Any]) -> bool:
    """Whether all are the same; what is missing is."""
    first, *others = values or [None]
    return all(other == first or (other != other and first != first) for other in others)


@cache
def _pair_class(library: str) -> Any:
    """A class of frames of this library; an object of it is saved and copied as a plain frame."""
    import importlib

    plain = importlib.import_module(library).DataFrame

    def as_plain(frame: Any) -> Any:
        return plain(frame) if library == "pandas" else plain._from_pydf(frame._df)

    def turned(frame: Any) -> Any:
        return as_plain(frame)[differing_first(as_plain(frame))]

    members = {
        "__module__": __name__,
        "__doc__": "A pair of individuals.",
        "_constructor": property(
            lambda _: plain
        ),  # what pandas, and what polars makes frames of this one with
        "_from_pydf": classmethod(lambda _, data: plain._from_pydf(data)),
        "__repr__": lambda frame: repr(turned(frame)),
        "__str__": lambda frame: str(turned(frame)),
        "_repr_html_": lambda frame, **how: turned(frame)._repr_html_(**how),
        "__reduce__": lambda frame: (show_differing_first, (as_plain(frame),)),
    }
    return type("PairFrame", (plain,), members)
