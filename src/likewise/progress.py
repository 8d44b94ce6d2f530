"""Progress: what a running search tells whoever listens.

A listener is any callable that takes a `Snapshot`. `terminal_listener` is the one behind ``progress=True``: a line
on stderr that rewrites itself, shown on a terminal only and gone when the work is done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from likewise.figures import bracket_texts

LONG_READING = 5.0  # seconds that reading a model took, beyond which they are told


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Where the work stands: stage in words, cells closed and open, bounds of the gap or margin so far."""

    stage: str
    seconds: float
    closed: int = 0
    open: int = 0
    lower: float | None = None
    upper: float | None = None
    share: float | None = None  # of the whole pair space that is decided, where it is known


Listener = Callable[[Snapshot], None]


def ignore_progress(_snapshot: Snapshot) -> None:
    """The listener that does not listen."""


_ANNOUNCE: ContextVar[Callable[[str], None] | None] = ContextVar("announce", default=None)


@contextmanager
def announcing(tell: Callable[[str], None]) -> Iterator[None]:
    """Work whose stages are told by what lies far below it, as stages in words."""
    token = _ANNOUNCE.set(tell)
    try:
        yield
    finally:
        _ANNOUNCE.reset(token)


def announce(stage: str) -> None:
    """Tell a stage to whoever wants to hear of it."""
    tell = _ANNOUNCE.get()
    if tell is not None:
        tell(stage)


@contextmanager
def terminal_listener() -> Iterator[Listener]:
    """A listener that shows one live line on stderr; silent where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield ignore_progress
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("starting") as status:

        def show(snapshot: Snapshot) -> None:
            parts = [snapshot.stage, f"{snapshot.seconds:.1f} s"]
            if snapshot.closed or snapshot.open:
                cells = "cell" if snapshot.closed == 1 else "cells"
                parts.append(f"{snapshot.closed:,} {cells} closed, {snapshot.open:,} open")
            if snapshot.lower is not None and snapshot.upper is not None:
                low, high = bracket_texts(snapshot.lower, snapshot.upper)
                parts.append(f"between {low} and {high}")
            if snapshot.share is not None:
                parts.append(f"{snapshot.share:.0%}")
            status.update("  ".join(parts))

        yield show
