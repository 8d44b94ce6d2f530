"""Rules `["separable", way]`, `["separable", way, [m, ...]]` and `["empty", [m, ...]]` (section 4).

Separable: every witness of the cell has a g(x) - b g(x') above T (`way`), and so has that line less multiples m >= 0 of the constraints' h, which are <= 0 at
pairs; B is its maximum over the cell (`line`), so B <= T leaves no witness (B < T where a witness may be on the line).

Where features of a pair keep a limit together, what its numbers say is taken off as well (section 19): that is at most 0 at pairs, too.

Empty: with a = b = 0 the line is at least 0 at every pair; B < 0 means that there is none.
"""

from fractions import Fraction
from functools import lru_cache

from likewise_check.core.affine import Affine
from likewise_check.core.bound import conclude, read_way
from likewise_check.core.cells import NO_PAIR, Cell, Holds, LeafRefused
from likewise_check.core.fields import Rejected, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.core.line import MOST_LINES, Line, Terms
from likewise_check.core.numbers import Exact, int_if_whole, number
from likewise_check.core.space import JointLimit, Space


def read_multipliers(items: object, space: Space, limit: JointLimit | None = None) -> list[Fraction]:
    """One multiplier a constraint at x, then one a constraint at x', and perhaps those of a joint limit; none negative, but for the last of these."""
    count = 2 * len(space.constraints)
    more = limit.numbers if limit and type(items) is list and len(items) > count else 0
    found: list[Fraction] = array_of(number, count + more)(items, "the multipliers")
    if min(found[: count + 1], default=0) < 0:
        raise Rejected("a multiplier is negative")
    return found


class Separable:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        if not isinstance(lemma.first, Affine):
            raise Rejected("separable: the body is not affine")
        self._lemma, self._terms = lemma, Terms(lemma)
        self._line = lru_cache(MOST_LINES)(self._read)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the line of the leaf separates its cell from W."""
        line, limit, closed, spread, side = self._line(*_line_texts(leaf))
        bound = line.maximum(cell)
        return conclude("separable", bound, limit, closed=closed, unit=line.scale, spread=spread, side=side)

    def _read(self, text: str, *multipliers: str) -> tuple[Line, Exact, bool, Fraction, str | None]:
        """The line of a leaf, T in its unit, and what `conclude` asks for."""
        way, zeros = read_way(text, self._lemma.asked), ["0"] * (2 * len(self._lemma.space.constraints))
        items = list(multipliers[1:]) if multipliers else zeros
        factors = read_multipliers(items, self._lemma.space, self._terms.limit)
        line = Line(self._terms, way.a, way.b, factors)
        closed, spread = self._lemma.closed(way.a, way.b), self._lemma.spread(way.a, way.b)
        return line, int_if_whole(way.threshold * line.scale), closed, spread, way.side


def _line_texts(leaf: list[object]) -> tuple[str, ...]:
    """The way, and if there are multipliers the word `with` and these."""
    parts: list[object] = leaf[1:2]
    if len(leaf) == 3 and type(leaf[2]) is list:
        parts += ["with", *leaf[2]]
    texts = tuple(part for part in parts if type(part) is str)
    if len(texts) != len(parts) or len(leaf) not in (2, 3) or (len(leaf) == 3) != (len(parts) > 1):
        raise Rejected('a separable leaf is ["separable", way] or ["separable", way, [multiplier, ...]]')
    return texts


class Empty:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        self._space, self._terms = lemma.space, Terms(lemma)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the multipliers show that the cell holds no pair."""
        if len(leaf) != 2:
            raise Rejected('an empty leaf is ["empty", [multiplier, ...]]')
        zero = Fraction(0)
        factors = read_multipliers(leaf[1], self._space, self._terms.limit)
        maximum = Line(self._terms, zero, zero, factors).maximum(cell)
        if maximum is not None and maximum >= 0:
            raise LeafRefused("empty: the multipliers do not show that the cell holds no pair")
        return NO_PAIR
