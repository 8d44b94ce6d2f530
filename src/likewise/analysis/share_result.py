"""Share: what is known of the share of individuals who have a differently treated counterpart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from likewise.verifying.shown import ShownResult

ShareMethod = Literal["exact", "certified", "sampled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(ShownResult):
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
        False where searches for counterparts, row by row, rest on floating point; never of a certified
        share. If `method` is 'sampled', each drawn individual's verdict is proved, and the
        share itself is known with the `confidence` only. `stats` has `proved_lower` and `proved_upper`, the
        part that is proved without the sample, if there is one.
    reason : str or None
        Why it is wider than it aims at.
    stats : dict
        Seconds and the like.
    """

    lower: float
    upper: float
    method: ShareMethod
    confidence: float | None
    over: str
    proved: bool = True
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether both ends are the same number, or the doubles around it."""
        from likewise.answers.share import is_exact

        return is_exact(self.to_dict())

    def in_words(self) -> str:
        """The number, or the two that it is between, if they are told apart by the digits that are shown."""
        from likewise.answers.answer import words_text
        from likewise.answers.share import share_in_words

        return words_text(share_in_words(self.to_dict()))

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
