"""Share: what is known of the share of individuals who have a differently treated counterpart."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from likewise.html_tables import table
from likewise.verifying.wording import warning_of

Method = Literal["exact", "certified", "sampled"]
_UNPROVED = {
    "exact": "every one looked at, but that some have none is floating point, not proved",
    "sampled": "by a sample, but that some have none is floating point, not proved",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The share lies between lower and upper: exactly, or with at least the confidence stated for a sample.

    Attributes
    ----------
    lower, upper : float
        The ends.
    method : str
        'exact', 'certified' or 'sampled'.
    confidence : float or None
        Of a sample; None otherwise.
    over : str
        What it is a share of.
    proved : bool
        False where searches for counterparts, row by row, rest on floating point; never of a certified share.
    reason : str or None
        Why it is wider than it aims at.
    stats : dict
        Seconds and the like.
    """

    lower: float
    upper: float
    method: Method
    confidence: float | None
    over: str
    proved: bool = True
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether both ends are the same number, or the doubles around it."""
        return self.method == "exact" and self.upper - self.lower <= 4 * math.ulp(self.upper)

    def in_words(self) -> str:
        """The number, or the two that it is between, if they are told apart by the digits that are shown."""
        lower, upper = percent(self.lower), percent(self.upper)
        return lower if lower == upper or self.exact else f"between {lower} and {upper}"

    def __str__(self) -> str:
        warning = warning_of(self.stats)
        reason = f"  ({self.reason})" if self.reason else ""
        reason += "" if warning is None else f"; {warning}"
        return f"share of {self.over} with a differently treated counterpart: {self.in_words()}, {self._basis()}{reason}"

    def _basis(self) -> str:
        if not self.proved:
            return _UNPROVED[self.method]
        if self.method == "sampled":
            return f"with confidence {self.confidence:g}"
        return "exact" if self.method == "exact" else "proved"

    def _repr_html_(self) -> str:
        rows = [
            ("share", self.in_words()),
            ("of", self.over),
            (
                "basis",
                f"{self.method}: {self._basis()}" if self.method != "exact" or not self.proved else "exact",
            ),
        ]
        if self.reason is not None:
            rows.append(("reason", self.reason))
        if (warning := warning_of(self.stats)) is not None:
            rows.append(("warning", warning))
        return table("Individuals with a differently treated counterpart", rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "method": self.method,
            "confidence": self.confidence,
            "over": self.over,
            "proved": self.proved,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


def percent(share: float) -> str:
    """A share for people: as many digits as tell it from 0 and 1."""
    return f"{100 * share:.6g}%"
