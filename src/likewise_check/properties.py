"""The properties (section 2) and their witness sets W, in terms of the gauge values s = g(x), s' = g(x').

    decision      s > margin and s' <= -margin
    score         s - s' > delta
    probability   sigma(s) - sigma(s') > delta

If (s, s') is in W, so is every (t, t') with t >= s and t' <= s': W is monotone. The clearance of a pair outside W (section 6) is
monotone too: it does not grow with s nor with -s'.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from likewise_check import fields, numbers
from likewise_check.errors import Rejected
from likewise_check.logarithm import sigma_bounds

# sigma(s) - sigma(s') = delta > 0 has no rational solution, so enough bits decide; beyond these the checker gives up.
_PRECISIONS = (64, 256, 1024, 4096, 16384, 65536)
_CLEARANCE_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What a witness breaks; `bound` is the margin of a decision, else delta."""

    kind: Literal["decision", "score", "probability"]
    bound: Fraction

    def broken_by(self, s: Fraction, other: Fraction) -> bool:
        """Whether (s, s') is in W, exactly."""
        if self.kind == "decision":
            return s > self.bound and other <= -self.bound
        if self.kind == "score":
            return s - other > self.bound
        if self.bound == 0 or s <= other:
            return s > other
        for bits in _PRECISIONS:
            low, high = _gap(s, other, bits)
            if low > self.bound:
                return True
            if high <= self.bound:
                return False
        raise Rejected(f"two probabilities are closer to delta than {_PRECISIONS[-1]} bits can tell")

    def clearance(self, s: Fraction, other: Fraction) -> Fraction:
        """How far g may move at both without making (s, s'), outside W, a witness; for probabilities a lower bound."""
        if self.kind == "decision":
            return max(self.bound - s, other + self.bound)
        if self.kind == "score":
            return (self.bound - (s - other)) / 2
        _, high = _gap(s, other, _CLEARANCE_BITS)
        return max(Fraction(0), 2 * (self.bound - high))


def read_property(line: object) -> Property:
    """The property of a certificate's fourth line."""
    (content,) = fields.record(line, "the property line", "property")
    kind = fields.kind(content, "the property")
    if kind == "decision":
        _, margin = fields.record(content, "the property", "kind", "margin")
        return Property(kind="decision", bound=numbers.parse(margin, "the margin"))
    if kind not in ("score", "probability"):
        raise Rejected(f"unknown property {kind[:40]!r}")
    _, limit = fields.record(content, "the property", "kind", "delta")
    delta = numbers.parse(limit, "delta")
    if delta < 0:
        raise Rejected("delta must be at least 0")
    if kind == "score":
        return Property(kind="score", bound=delta)
    if delta >= 1:
        raise Rejected("the delta of a probability must be below 1")
    return Property(kind="probability", bound=delta)


def _gap(s: Fraction, other: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """sigma(s) - sigma(s'), enclosed."""
    low, high = sigma_bounds(s, bits)
    low_other, high_other = sigma_bounds(other, bits)
    return low - high_other, high - low_other
