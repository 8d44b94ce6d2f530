"""Rule `["nested", way, [limits, ...]]` (section 24): limits of the inner scores of a cell's pairs, and what the outer function makes of these.

Limits of s_k(x), s_k(x') and s_k(x') - s_k(x) are shown by lines, or are the cell's own. All pairs of the cell then have their inner scores in a cell of the outer
space, in which the trees' own rule holds, or the median is where its limits have it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from likewise_check.core.body import Ends
from likewise_check.core.bound import Way, conclude, read_way
from likewise_check.core.cells import NO_PAIR, Cell, Holds, LeafRefused, Quantity, limits_of, make_box
from likewise_check.core.cells import Limits as CellLimits
from likewise_check.core.fields import Rejected, anything, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.core.numbers import Exact
from likewise_check.core.registry import find_entry
from likewise_check.core.rules import Rule
from likewise_check.core.space import Relation
from likewise_check.packs.lines import Lines, NoPair
from likewise_check.packs.nested.body import USUAL_BITS, Nested, outer_space
from likewise_check.packs.nested.median import Limits, Median

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
# The sign of the score, the way and the factor of T, of each entry.
ENTRIES = ((-1, ONE, -1), (1, ONE, 1), (1, ZERO, -1), (-1, ZERO, 1), (1, HALF, 2), (-1, HALF, 2))
PROPERTIES = ("decision", "score", "probability", "prediction", "line")  # whose T does not depend on the cell
MOST_PREPARED = 16  # outer rules that are kept; dropped beyond, which changes nothing but time


class NestedLimits:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        first, second = lemma.first, lemma.second
        if not isinstance(first, Nested) or not isinstance(second, Nested):
            raise Rejected("nested: the body is not nested")
        if lemma.asked.kind not in PROPERTIES:
            raise Rejected("nested: it does not apply to this property")
        if first.inner != second.inner:
            raise Rejected("nested: the two bodies do not share their inner bodies")
        self._lemma, self._first, self._second = lemma, first, second
        self._lines = Lines(lemma, first.inner)
        self._bits = USUAL_BITS if first.median else _most_bits([0, *_tests(first)])
        self._prepared: dict[tuple[int, tuple[Relation, ...]], Rule] = {}

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the limits show that no pair of the cell is a witness."""
        _, given, items = array_of(anything, 3)(leaf, 'a leaf ["nested", way, [limits, ...]]')
        way = read_way(given, self._lemma.asked)
        lines: list[object] = array_of(anything, len(self._first.inner))(items, "the limits of a leaf")
        shown = [self._show_all(k, item, cell) for k, item in enumerate(lines)]  # all of them must hold
        if None in shown:
            return NO_PAIR
        try:
            known = limits_of(cell)
            limits = [_limits(k, ends, known) for k, ends in enumerate(shown) if ends is not None]
        except NoPair:
            return NO_PAIR
        median = self._first.median
        if median is not None:
            return self._bound_median(median, way, limits)
        holds = self._outer_rule(limits)(["trees", given], _outer_cell(limits))
        return holds if holds is NO_PAIR else replace(holds, clearance=ZERO)

    def _show_all(self, k: int, item: object, cell: Cell) -> list[Fraction | None] | None:
        """What the lines of inner body k show, None where there is no line; None in all where one of them finds no pair."""
        lines: list[object] = array_of(anything, len(ENTRIES))(item, f"the limits of inner body {k}")
        found: list[Fraction | None] = []
        nobody = False
        for line, (sign, way, factor) in zip(lines, ENTRIES, strict=True):
            try:
                found.append(None if line is None else factor * self._lines.show(k, sign, way, line, cell))
            except NoPair:
                nobody = True
        return None if nobody else found

    def _outer_rule(self, limits: list[Limits]) -> Rule:
        """The rule of the outer trees for pairs that are so far apart, prepared once."""
        relations = tuple(
            Relation(kind="free")
            if one.fall is None or one.rise is None
            else Relation(kind="between", limits=(-one.fall, one.rise))
            for one in limits
        )
        bits = max(self._bits, _most_bits(end for one in limits for end in one.ends))
        key = bits, relations
        if key not in self._prepared:
            if len(self._prepared) >= MOST_PREPARED:
                self._prepared.clear()
            first = self._first.outer.unprepared()
            same = self._second.outer is self._first.outer
            lemma = replace(
                self._lemma,
                space=outer_space(len(limits), bits),
                similarity=relations,
                first=first,
                second=first if same else self._second.outer.unprepared(),
            )
            self._prepared[key] = find_entry("RULES", "trees")(lemma)
        return self._prepared[key]

    def _bound_median(self, median: Median, way: Way, limits: list[Limits]) -> Holds:
        """The leaf of a median, by how far it can fall."""
        if self._second.median != median:
            raise Rejected("nested: the two bodies are two medians")
        lemma = self._lemma
        slope = lemma.slope * median.slope
        if slope > 0:
            largest = slope * median.largest(way.a, way.b, limits)
        else:
            largest = -slope * median.largest(way.b, way.a, [one.turned() for one in limits])
        bound = (way.a - way.b) * (lemma.slope * median.offset + lemma.offset) + largest
        return conclude("nested", bound, way.threshold, closed=lemma.closed(way.a, way.b), side=way.side)


def _tests(body: Nested) -> Iterator[Exact]:
    return (node.test for nodes in body.outer.trees for node in nodes if node)


def _most_bits(numbers: Iterable[Exact]) -> int:
    """So many bits that all of these have fewer; few different numbers of them, so that few rules are prepared."""
    bits, largest = USUAL_BITS, max(max(one, -one) for one in numbers)
    while largest >= 1 << bits:
        bits *= 2
    return bits


def _limits(k: int, shown: list[Fraction | None], known: Mapping[Quantity, CellLimits]) -> Limits:
    """What is known of the score of inner body k."""
    low, high, other_low, other_high, fall, rise = shown
    if fall is not None and rise is not None and -fall > rise:
        raise NoPair
    own, other = known.get((k, 0), (None, None)), known.get((k, 1), (None, None))
    ends = *_narrow(k, low, high, own), *_narrow(k, other_low, other_high, other)
    return Limits(*ends, fall, rise, opened=(_is_own(low, own), _is_own(other_low, other)))


def _narrow(k: int, low: Fraction | None, high: Fraction | None, own: CellLimits) -> Ends:
    """The sharper ones of what lines show and of the cell's own limits."""
    lows, highs = ([end for end in ends if end is not None] for ends in ((low, own[0]), (high, own[1])))
    if not lows or not highs:
        raise LeafRefused(f"nested: nothing limits the score of inner body {k} on one side")
    if max(lows) > min(highs) or (_is_own(low, own) and max(lows) == min(highs)):
        raise NoPair
    return max(lows), min(highs)


def _is_own(low: Fraction | None, own: CellLimits) -> bool:
    """Whether the lower limit is the cell's own, above which the score is."""
    return own[0] is not None and (low is None or own[0] >= low)


def _outer_cell(limits: list[Limits]) -> Cell:
    """The cell of the outer space that holds the inner scores of all pairs."""
    return tuple(
        make_box((one.low, one.high), (one.other_low, one.other_high), opened=one.opened) for one in limits
    )
