"""Rules `["separable", way]`, `["separable", way, [m, ...]]` and `["empty", [m, ...]]`.

Separable: the way gives a, b >= 0 and T such that a s - b s' > T on all of W (>= T for a decision with a = 0). B is the maximum
over the cell of a g(x) - b g(x') minus multiples m >= 0 of the constraints' h, which are <= 0 at pairs; so B <= T (B < T where
a = 0) leaves no witness. (A lemma about two bodies tells which of its conditions are strict: > T if one of those with a factor above 0 is.) T of a probability is irrational: B is compared with a lower bound of it (`logarithm`).

Empty: with a = b = 0 the line is at least 0 at every pair; B < 0 means that there is none.
"""

from fractions import Fraction

from likewise_check.core.affine import Affine
from likewise_check.core.cells import Cell, Holds, LeafRefused
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, array_of
from likewise_check.core.line import Line, Terms
from likewise_check.core.logarithm import log_bounds
from likewise_check.core.numbers import Exact, exact, number, shown
from likewise_check.core.properties import Property

# How much is kept between leaves, in entries; beyond it everything kept is dropped, which changes nothing but time.
KEPT = 100_000
_NO_PAIR = Holds(clearance=None)


def read_way(text: object, asked: Property) -> tuple[Fraction, Fraction, Fraction]:
    """a, b and T of a way, or a lower bound of T."""
    way, delta = number(text, "the way"), asked.bound
    if asked.kind == "decision":
        if not 0 <= way <= 1:
            raise Rejected("the way of a decision must be from 0 to 1")
        return way, 1 - way, asked.bound
    if asked.kind == "score" or delta == 0:
        if way != Fraction(1, 2):
            raise Rejected("the way must be 1/2")
        return way, way, delta / 2
    return tangent(way, delta)


def tangent(p: Fraction, delta: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """a, b and a lower bound of T of the tangent at p to the boundary of a probability's W."""
    if not 0 < p < 1 - delta:
        raise Rejected("the way of a probability must be above 0 and below 1 - delta")
    q = p + delta
    a, b = q * (1 - q), p * (1 - p)
    low, _ = log_bounds(q / (1 - q))
    _, high = log_bounds(p / (1 - p))
    return a, b, a * low - b * high if delta else Fraction(0)


def read_multipliers(items: object, claim: Claim) -> list[Fraction]:
    """One multiplier a constraint at x, then one a constraint at x', none negative."""
    found: list[Fraction] = array_of(number, 2 * len(claim.space.constraints))(items, "the multipliers")
    if min(found, default=0) < 0:
        raise Rejected("a multiplier is negative")
    return found


class _Separation:
    """A way with multipliers, ready for cells; `holds` belongs to `worst`, the largest maximum seen so far."""

    def __init__(self, terms: Terms, claim: Claim, way: object, multipliers: list[Fraction]) -> None:
        a, b, threshold = read_way(way, claim.asked)
        self.line = Line(terms, a, b, multipliers)
        self._limit = exact(threshold * self.line.scale)
        self._closed = claim.closed(a, b)
        self._spread = claim.spread(a, b) * self.line.scale
        self._worst: Exact | None = None
        self._holds = _NO_PAIR

    def look(self, cell: Cell) -> Holds:
        """The clearance of the worst cell so far, this one included: what counts is the smallest over all leaves."""
        maximum = self.line.maximum(cell)
        if maximum is None:
            return _NO_PAIR
        if self._worst is None or maximum > self._worst:
            if maximum > self._limit or (self._closed and maximum == self._limit):
                beyond = shown(Fraction(maximum - self._limit) / self.line.scale)
                raise LeafRefused(f"separable: the line does not separate, B exceeds T by {beyond}")
            self._worst = maximum
            self._holds = Holds(clearance=(self._limit - maximum) / self._spread)
        return self._holds


class Separable:
    """The rule, prepared for one claim; keeps lines between leaves, as most leaves of a proof share a few."""

    def __init__(self, claim: Claim) -> None:
        if not isinstance(claim.model.body, Affine):
            raise Rejected("separable: the body is not affine")
        self._claim, self._terms = claim, Terms(claim)
        self._separations: dict[tuple[str, ...], _Separation] = {}
        self._kept = 0

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the line of the leaf separates its cell from W."""
        if self._kept > KEPT:
            self._separations, self._kept = {}, 0
        key = _texts(leaf)
        if key not in self._separations:
            zeros = [Fraction(0)] * (2 * len(self._claim.space.constraints))
            multipliers = read_multipliers(leaf[2], self._claim) if len(leaf) == 3 else zeros
            self._separations[key] = _Separation(self._terms, self._claim, leaf[1], multipliers)
            self._kept += sum(map(len, key)) // 8 + len(zeros)
        separation = self._separations[key]
        self._kept -= separation.line.kept
        try:
            return separation.look(cell)
        finally:
            self._kept += separation.line.kept


def _texts(leaf: list[object]) -> tuple[str, ...]:
    """The leaf as texts: equal only for equal ways and multipliers."""
    parts = [*leaf[:2], "with", *leaf[2]] if len(leaf) == 3 and type(leaf[2]) is list else leaf
    texts = tuple(part for part in parts if type(part) is str)
    if len(texts) != len(parts) or len(leaf) not in (2, 3):
        raise Rejected('a separable leaf is ["separable", way] or ["separable", way, [multiplier, ...]]')
    return texts


class Empty:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim, self._terms = claim, Terms(claim)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the multipliers show that the cell holds no pair."""
        if len(leaf) != 2:
            raise Rejected('an empty leaf is ["empty", [multiplier, ...]]')
        zero = Fraction(0)
        maximum = Line(self._terms, zero, zero, read_multipliers(leaf[1], self._claim)).maximum(cell)
        if maximum is not None and maximum >= 0:
            raise LeafRefused("empty: the multipliers do not show that the cell holds no pair")
        return _NO_PAIR
