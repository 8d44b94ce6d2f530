"""Rule `["separable", way]` or `["separable", way, [m, ...]]`: a line separates the score pairs of the cell from W.

The way gives a, b >= 0 and T such that a s - b s' > T on all of W (>= T for a decision with a = 0). B is the maximum of
a g(x) - b g(x') minus multiples m >= 0 of the constraints' h, which are <= 0 at pairs; so B <= T (B < T where a = 0)
leaves no witness. T of a probability is irrational: B is compared with a lower bound of it (`logarithm`).
"""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check import numbers
from likewise_check.cells import Cell
from likewise_check.claim import Claim
from likewise_check.errors import LeafRefused, Rejected
from likewise_check.logarithm import log_bounds
from likewise_check.numbers import Exact, exact
from likewise_check.properties import Property
from likewise_check.rules.holding import NO_PAIR, Holds
from likewise_check.rules.line import KEPT, Line, Terms, read_multipliers


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """a s - b s' > threshold on W, or >= threshold if `closed`; threshold <= T."""

    a: Fraction
    b: Fraction
    threshold: Fraction
    closed: bool


def read_way(text: object, asked: Property) -> Way:
    """What a way means for the property."""
    way = numbers.parse(text, "the way")
    if asked.kind == "decision":
        if not 0 <= way <= 1:
            raise Rejected("the way of a decision must be from 0 to 1")
        return Way(a=way, b=1 - way, threshold=asked.bound, closed=way == 0)
    delta = asked.bound
    if asked.kind == "score" or delta == 0:
        if way != Fraction(1, 2):
            raise Rejected("the way must be 1/2")
        return Way(a=way, b=way, threshold=delta / 2, closed=False)
    if not 0 < way < 1 - delta:
        raise Rejected("the way of a probability must be above 0 and below 1 - delta")
    p, q = way, way + delta
    a, b = q * (1 - q), p * (1 - p)
    low, _ = log_bounds(q / (1 - q))
    _, high = log_bounds(p / (1 - p))
    return Way(a=a, b=b, threshold=a * low - b * high, closed=False)


class _Prepared:
    """A way with multipliers, ready for cells; `holds` belongs to `worst`, the largest maximum seen so far."""

    def __init__(self, terms: Terms, way: Way, multipliers: list[Fraction]) -> None:
        self.line = Line(terms, way.a, way.b, multipliers)
        self.limit = exact(way.threshold * self.line.scale)
        self.closed = way.closed
        self.spread = (way.a + way.b) * self.line.scale
        self.worst: Exact | None = None
        self.holds = NO_PAIR

    def look(self, cell: Cell) -> Holds:
        """The clearance of the worst cell so far, this one included: what counts is the smallest over all leaves."""
        maximum = self.line.maximum(cell)
        if maximum is None:
            return NO_PAIR
        if self.worst is None or maximum > self.worst:
            if maximum > self.limit or (self.closed and maximum == self.limit):
                beyond = numbers.shown(Fraction(maximum - self.limit) / self.line.scale)
                raise LeafRefused(
                    f"separable: the line does not separate (its maximum exceeds the threshold by {beyond})"
                )
            self.worst = maximum
            self.holds = Holds(clearance=(self.limit - maximum) / self.spread)
        return self.holds


class Separable:
    """The rule, prepared for one claim; keeps lines between leaves, as most leaves of a proof share a few."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._terms = Terms(claim)
        self._prepared: dict[tuple[str, ...], _Prepared] = {}
        self._kept = 0

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the line of the leaf separates its cell from W."""
        key = self._key(leaf)
        found = self._prepared.get(key)
        if found is None:
            zeros = [Fraction(0)] * (2 * len(self._claim.space.constraints))
            multipliers = read_multipliers(leaf[2], self._claim) if len(leaf) == 3 else zeros
            found = _Prepared(self._terms, read_way(leaf[1], self._claim.asked), multipliers)
            self._prepared[key] = found
            self._kept += sum(map(len, key)) // 8
        before = found.line.kept
        try:
            return found.look(cell)
        finally:
            self._kept += found.line.kept - before
            if self._kept > KEPT:
                self._prepared.clear()
                self._kept = 0

    def _key(self, leaf: list[object]) -> tuple[str, ...]:
        """The leaf as texts: equal only for equal ways and multipliers."""
        if len(leaf) == 2:
            parts = leaf
        elif len(leaf) == 3 and type(leaf[2]) is list:
            parts = [leaf[0], leaf[1], "with", *leaf[2]]
        else:
            raise Rejected('a separable leaf is ["separable", way] or ["separable", way, [multipliers]]')
        texts = tuple(part for part in parts if type(part) is str)
        if len(texts) != len(parts):
            raise Rejected("the way and the multipliers of a leaf must be texts")
        return texts
