"""Rule `["sum", way, [part, ...]]` (section 17): a g(x) - b g(x') <= B on the cell, B the sum of what lines of the parts come to.

A part brings c lambda(s(x)) - d lambda(s(x')). Without a link that is a line of its score. With one, limits of s(x) and of s(x') are shown first, and between them lambda is below a line
where c > 0 (above one where c < 0; at x' the other way round), so that a line of the score is left. Or the difference of its two scores is shown to be at most D, and how far lambda rises over a distance D tells the rest. Every line of a score is shown by a rule of the part's own body, in the same cell.
"""

from collections.abc import Callable
from fractions import Fraction

from likewise_check.core.body import Ends
from likewise_check.core.bound import conclude, read_way
from likewise_check.core.cells import NO_PAIR, Cell, Holds
from likewise_check.core.fields import Rejected, anything, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.packs.lines import Lines, NoPair
from likewise_check.packs.sums.body import Sum
from likewise_check.packs.sums.chains import Link, line_above, rise
from likewise_check.packs.sums.links import Limit

ZERO, ONE = Fraction(0), Fraction(1)


class SumOfLines:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        first, second = lemma.first, lemma.second
        if not isinstance(first, Sum) or not isinstance(second, Sum):
            raise Rejected("sum: the body is no sum")
        if first.parts != second.parts:
            raise Rejected("sum: the two bodies do not share their parts")
        self._lemma, self._first, self._second = lemma, first, second
        self._lines = Lines(lemma, [part.body for part in first.parts])

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        _, given, items = array_of(anything, 3)(leaf, 'a leaf ["sum", way, [part, ...]]')
        way, lemma = read_way(given, self._lemma.asked), self._lemma
        parts: list[object] = array_of(anything, len(self._first.parts))(items, "the parts of a leaf")
        a, b = lemma.slope * way.a, lemma.slope * way.b
        bound = (way.a - way.b) * lemma.offset + a * self._first.bias - b * self._second.bias
        try:
            for k, item in enumerate(parts):
                c, d = a * self._first.weights[k], b * self._second.weights[k]
                if item is None and (c or d):
                    raise Rejected(f"sum: part {k} counts, and nothing bounds it")
                if item is not None:
                    bound += self._bound_part(k, c, d, item, cell)
        except NoPair:
            return NO_PAIR
        closed = lemma.closed(way.a, way.b)
        return conclude("sum", bound, way.threshold, closed=closed, side=way.side)

    def _bound_part(self, k: int, c: Fraction, d: Fraction, item: object, cell: Cell) -> Fraction:
        """A number that c lambda(s(x)) - d lambda(s(x')) does not exceed at pairs of the cell."""
        link = self._first.parts[k].link
        if type(item) is list and item and item[0] == "difference":
            return self._bound_difference(k, link, (c, d), item, cell)
        here, there, lines = array_of(anything, 3)(item, f"part {k} of a leaf")
        if link is None:
            if here is not None or there is not None:
                raise Rejected(f"sum: part {k} has no link")
            return self._bound_lines(k, c, d, lines, cell)
        constant, slopes = ZERO, [ZERO, ZERO]
        for side, (factor, given) in enumerate(((c, here), (-d, there))):
            if factor:
                alpha, beta = self._enclose(k, link, side, factor > 0, given, cell)
                constant += factor * (beta + alpha * link.offset)
                slopes[side] = alpha * link.slope
            elif given is not None:
                raise Rejected(f"sum: part {k} does not count at one of the two, and is bounded there")
        return constant + self._bound_lines(k, c * slopes[0], d * slopes[1], lines, cell)

    def _bound_difference(
        self, k: int, link: Link | None, factors: Ends, item: object, cell: Cell
    ) -> Fraction:
        """The same by how far the scores of the two are apart at most: C lambda(s(u)) - E lambda(s(v)) with s(u) <= s(v) + D."""
        _, line, *given, place = array_of(anything, 5)(item, f"part {k} of a leaf")
        c, d = factors
        if link is None or c * d <= 0:
            raise Rejected(f"sum: part {k} is not bounded by a difference")
        distance = 2 * self._lines.show(k, 1 if c > 0 else -1, Fraction(1, 2), line, cell)
        limits = [self._read_limits(k, side, pair, cell) for side, pair in enumerate(given)]
        (u_low, u_high), (v_low, v_high) = limits if c > 0 else reversed(limits)
        # Where s(v) is below p there is no pair, and above q nothing is larger than at q.
        low = _pick(max, v_low, None if u_low is None else u_low - distance)
        high = _pick(min, v_high, None if u_high is None else u_high - distance)
        if high is not None:
            high = _pick(max, high, low)
        above = (c, d) if c > 0 else (-d, -c)
        return rise(link, above, distance, low, high, place)

    def _read_limits(self, k: int, side: int, items: object, cell: Cell) -> tuple[Limit, Limit]:
        """Limits of the score at x (0) or x' (1)."""
        least, most = array_of(anything, 2)(items, f"the limits of part {k} of a leaf")
        # s(x) is 1 s(x) - 0 s(x'), and s(x') is 0 h(x) - 1 h(x') of h = -s.
        way, sign = (ONE, 1) if side == 0 else (ZERO, -1)
        low: Limit = None if least is None else -self._lines.show(k, -sign, way, least, cell)
        high: Limit = None if most is None else self._lines.show(k, sign, way, most, cell)
        if low is not None and high is not None and low > high:
            raise NoPair
        return low, high

    def _enclose(
        self, k: int, link: Link, side: int, above: bool, item: object, cell: Cell
    ) -> tuple[Fraction, Fraction]:
        """alpha and beta of a line in r above the link between the limits of the score at x (0) or x' (1); or of one below it."""
        least, most, slope, place = array_of(anything, 4)(item, f"a side of part {k} of a leaf")
        low, high = self._read_limits(k, side, [least, most], cell)
        return line_above(link, slope, place, low, high, below=not above)

    def _bound_lines(self, k: int, a: Fraction, b: Fraction, items: object, cell: Cell) -> Fraction:
        """A number that a s(x) - b s(x') does not exceed: by one line, or by one at x and one at x' where the signs differ."""
        sides = [(a, b)] if a * b >= 0 else [(a, ZERO), (ZERO, b)]
        sides = [(x, other) for x, other in sides if x or other]
        lines: list[object] = array_of(anything, len(sides))(items, f"the lines of part {k} of a leaf")
        bound = ZERO
        for (x, other), line in zip(sides, lines, strict=True):
            total = abs(x) + abs(other)
            bound += total * self._lines.show(k, 1 if x + other > 0 else -1, abs(x) / total, line, cell)
        return bound


def _pick(which: Callable[..., Fraction], first: Limit, second: Limit) -> Limit:
    """The larger or smaller of two limits, of those that there are."""
    there = [one for one in (first, second) if one is not None]
    return which(there) if there else None
