"""The live table of a fleet: what is being searched, how far it is, and what is decided. On stderr, on a terminal only, and gone when the run is over."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from likewise import clock
from likewise.progress import Snapshot

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from likewise.cli.outcomes import ClaimOutcome

OTHER_LINES = 6  # of a terminal: heads, counts and what was there before
LEAST_LINES = 3
COLOURS = {"FAIR": "green", "BIASED": "red", "UNKNOWN": "yellow"}


class FleetTable:
    """One line a claim: those that are searched first, then those that were decided last."""

    def __init__(self, names: Sequence[str], live: Live | None = None) -> None:
        self.names, self._live = names, live
        self._running: dict[int, tuple[Snapshot, float]] = {}  # and when it was told
        self._decided: dict[int, ClaimOutcome] = {}

    def show(self, place: int, snapshot: Snapshot) -> None:
        """How far a claim is."""
        self._running[place] = (snapshot, clock.now())
        self.refresh()

    def wait(self, place: int) -> None:
        """It waits again."""
        self._running.pop(place, None)

    def settle(self, place: int, outcome: ClaimOutcome) -> None:
        """What became of it."""
        self._running.pop(place, None)
        self._decided[place] = outcome
        self.refresh()

    def refresh(self) -> None:
        if self._live is None:
            return
        from rich.console import Group

        self._live.update(Group(self.table(self._live.console.height), self.counts()), refresh=True)

    def table(self, height: int) -> Table:
        """All that fits into so many lines."""
        from rich.table import Table

        shown = Table("claim", "state", "bracket", "seconds", box=None, pad_edge=False)
        shown.columns[3].justify = "right"
        for row in self.lines()[: max(height - OTHER_LINES, LEAST_LINES)]:
            shown.add_row(*row)
        return shown

    def lines(self) -> list[tuple[Any, ...]]:
        """Claim, state, bracket and seconds, in words."""
        running = [
            (
                self.names[place],
                told.stage,
                _progress_in_words(told),
                f"{told.seconds + clock.now() - at:.1f}",
            )
            for place, (told, at) in self._running.items()
        ]
        return running + [
            (self.names[place], _coloured(one.verdict), _bounds_in_words(one), f"{one.seconds:.1f}")
            for place, one in reversed(self._decided.items())
        ]

    def counts(self) -> str:
        """How many wait, are searched and are decided."""
        waiting = len(self.names) - len(self._running) - len(self._decided)
        found = Counter(one.verdict for one in self._decided.values())
        parts = [f"{waiting} waiting", f"{len(self._running)} running"]
        return ", ".join([*parts, *(f"{found[name]} {name}" for name in COLOURS if found[name])])


def _progress_in_words(told: Snapshot) -> str:
    if told.lower is not None and told.upper is not None:
        return f"{told.lower:.4g} to {told.upper:.4g}"
    return f"{told.closed:,} closed, {told.open:,} open" if told.closed or told.open else ""


def _bounds_in_words(outcome: ClaimOutcome) -> str:
    if outcome.result is None:
        return ""
    lower, upper = outcome.result.bounds
    if math.isinf(lower):
        return "" if math.isinf(upper) else f"at most {upper:.4g}"
    return f"at least {lower:.4g}" if math.isinf(upper) else f"{lower:.4g} to {upper:.4g}"


def _coloured(verdict: str) -> Any:
    from rich.text import Text

    return Text(verdict, style=COLOURS[verdict])


@contextmanager
def open_table(names: Sequence[str], *, shown: bool) -> Iterator[FleetTable]:
    """The table; it is seen on a terminal only."""
    if not shown or not sys.stderr.isatty():
        yield FleetTable(names)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        yield FleetTable(names, live)
