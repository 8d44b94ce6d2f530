"""Findings: what comparing one answer with brute force came to.

agreed       nothing to say against it
rounding     explained by the program's rounding: within the bound that `answers` has, and no claim to cover rounding is made
unknown      no verdict, with its reason: right, but worth counting
refused      the package says that it does not take the problem
disagreed    everything else
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import likewise as lw

REFUSALS = (lw.UnsupportedModel, lw.SpecError, lw.DataError)


@dataclass(frozen=True)
class Finding:
    command: str
    outcome: str
    verdict: str = ""
    detail: str = ""


@dataclass
class Findings:
    """Of one problem."""

    list: list[Finding] = field(default_factory=list)

    def agreed(self, command: str, verdict: Any = "") -> None:
        self.list.append(Finding(command, "agreed", str(verdict)))

    def rounding(self, command: str, verdict: Any, detail: str) -> None:
        self.list.append(Finding(command, "rounding", str(verdict), detail))

    def unknown(self, command: str, reason: Any) -> None:
        self.list.append(Finding(command, "unknown", "UNKNOWN", str(reason)))

    def disagreed(self, command: str, detail: str) -> None:
        self.list.append(Finding(command, "disagreed", detail=detail))

    def require(self, holds: Any, command: str, detail: str) -> bool:
        if not holds:
            self.disagreed(command, detail)
        return bool(holds)

    @contextmanager
    def of(self, command: str) -> Iterator[None]:
        """Refusals are noted, and anything else that is raised is a disagreement."""
        try:
            yield
        except REFUSALS as refusal:
            self.list.append(
                Finding(command, "refused", detail=f"{type(refusal).__name__}: {refusal}".splitlines()[0])
            )
        except Exception as error:  # noqa: BLE001
            import traceback

            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.filename.rsplit('/', 2)[-1]}:{where.lineno}"
            self.disagreed(command, f"{type(error).__name__} at {place}: {error}")

    @property
    def failures(self) -> list[Finding]:
        return [f for f in self.list if f.outcome == "disagreed"]
