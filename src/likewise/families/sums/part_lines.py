"""Lines of one part of a sum over cells, by the part's own family: of its score, and around the link that it goes through.

Every line comes with a threshold that is rounded up. Between two limits of its score a link is below a line (`Side`); or, where the scores of two similar individuals are at most D apart,
what it rises by over a distance D is known (`Difference`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.cells.leaf import Leaf, LinkLine, PartBound, PartDifference, PartLine, Rule
from likewise.errors import InternalError
from likewise.families.oracle import Bounder, Bounds, MemoryBounder
from likewise.families.registry import bounder_of
from likewise.families.sums.chain_rises import Rise, rise_in_pieces
from likewise.families.sums.chains import Chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Score
    from likewise.families.sums.links import Link
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

ROOM = (
    2.0**-40
)  # of the size of a line: what a threshold lies above the bound, so that float64 sums and leans do not matter
RISE_ROOM = 2.0**-46  # of the factors of a difference, for the roundings of what a link rises by
PROPOSED_ROOM = 2.0**-20  # the same where bounds of a part only propose


@dataclass(slots=True)
class Line:
    """Thresholds of one line of a part over cells, with what its rule needs, and pairs that are worth a look; +-inf where there is no bound, or no pair."""

    upper: Floats
    hints: list[tuple[int, ...]] | None = None
    points: Floats | None = None
    rules: list[Rule] | None = None  # where they are not the one of the part

    def at(self, i: int, rule: Rule) -> PartLine:
        """Of one cell, as a leaf has it."""
        threshold = Fraction(float(self.upper[i])) if np.isfinite(self.upper[i]) else Fraction(0)
        by = rule if self.rules is None else self.rules[i]
        return PartLine(
            threshold=threshold, leaf=Leaf(rule=by, hints=() if self.hints is None else self.hints[i])
        )


@dataclass(slots=True)
class Side:
    """A linked part at x, or at x', over cells: limits of its score, and the line around its link (of a chain two rows of slopes and tangents); None: it does not count there."""

    low: Line
    high: Line
    alpha: Floats
    tangent: Floats
    beta: Floats
    flat: Floats  # what the link comes to at most, or at least, without a line
    counts: Mask  # of which cells

    def at(self, i: int, rule: Rule) -> LinkLine:
        """Of one cell, as a leaf has it."""
        slope, tangent = (_one_or_more(numbers[..., i]) for numbers in (self.alpha, self.tangent))
        low, high = (None if np.isposinf(end.upper[i]) else end.at(i, rule) for end in (self.low, self.high))
        return LinkLine(low=low, high=high, slope=slope, tangent=tangent)


@dataclass(slots=True)
class Difference:
    """A linked part over cells by how far its two scores are apart at most: what it brings, by which limits of the scores at x and x' (lower and upper), and where a tangent is taken, or a chain looked at in pieces."""

    line: Line
    worth: Floats
    place: Floats | Rise
    ends: tuple[tuple[Line, Line], tuple[Line, Line]]
    helps: tuple[tuple[Mask, Mask], tuple[Mask, Mask]]

    def at(self, i: int, rule: Rule) -> PartDifference:
        """Of one cell, as a leaf has it."""
        sides = [
            [end.at(i, rule) if helps[i] else None for end, helps in zip(*side, strict=True)]
            for side in zip(self.ends, self.helps, strict=True)
        ]
        (low, high), (low_there, high_there) = sides
        return PartDifference(
            line=self.line.at(i, rule),
            here=(low, high),
            there=(low_there, high_there),
            place=_cuts(self.place, i) if isinstance(self.place, Rise) else Fraction(float(self.place[i])),
        )


@dataclass(slots=True)
class PartTrial:
    """What a part brings to the bound of each cell, and how a leaf says so."""

    by: Rule  # that lines are shown by
    worth: Floats
    lines: list[Line]
    used: list[Mask]  # by line: of which cells
    here: Side | None = None
    there: Side | None = None
    difference: Difference | None = None

    def at(self, i: int) -> PartBound | PartDifference:
        """Of one cell."""
        if self.difference is not None and self.difference.worth[i] <= self.worth[i]:
            return self.difference.at(i, self.by)
        lines = tuple(
            line.at(i, self.by) for line, used in zip(self.lines, self.used, strict=True) if used[i]
        )
        here, there = (
            None if side is None or not side.counts[i] else side.at(i, self.by)
            for side in (self.here, self.there)
        )
        return PartBound(here=here, there=there, lines=lines)


class PartBounder:
    """Lines of one part's score over cells, by its family's own bounder, and of its negation."""

    def __init__(self, score: Score, link: Link | Chain, pairs: PairSpace) -> None:
        self.score, self.link, self.pairs = score, link, pairs
        self._made: dict[int, Any] = {}
        self._remembers: bool | None = None
        self._known: tuple[Floats, Floats, dict[int, list[Any]]] | None = None
        self._size: float | None = None
        self.turned = link.turned()
        self.scores = score.scorer()
        steepest = link.steepest()
        self.steepness = 1.0 if steepest is None else float(steepest)  # of the link, for proposing

    def of(self, sign: int) -> Any:
        """The bounder of the score, or of its negation."""
        if sign not in self._made:
            made = bounder_of(self.score if sign > 0 else self.score.negated(), self.pairs)
            if made is None:
                raise InternalError("a part of a sum has no bounds")
            self._made[sign] = made
        return self._made[sign]

    @property
    def remembers(self) -> bool:
        """Whether its family keeps something about each cell."""
        if self._remembers is None:
            self._remembers = isinstance(self.of(1), MemoryBounder)
        return self._remembers

    def memories(self, sign: int, lo: Floats, hi: Floats) -> list[Any]:
        """What the bounder of a sign knows of cells: made once for all lines of the same arrays of cells."""
        if self._known is None or self._known[0] is not lo or self._known[1] is not hi:
            self._known = lo, hi, {}
        made = self._known[2]
        if sign not in made:
            bounder, cells = self.of(sign), zip(lo.tolist(), hi.tolist(), strict=True)
            made[sign] = [bounder.memory(low, high) for low, high in cells]
        return made[sign]

    @property
    def rule(self) -> Rule:
        """That closes cells of its family."""
        return str(self.of(1).rule)

    def line(self, sign: int, lo: Floats, hi: Floats, lean: Floats, *, points: bool = False) -> Line:
        """A bound of lean h(x) - (1 - lean) h(x'), h the score times the sign, with room."""
        bounder = self.of(sign)
        if self.remembers:
            return self._remembered(sign, lo, hi, lean, points=points)
        found = bounder.bound(lo, hi, lean, np.zeros(len(lo)))
        if bounder.exact and bounder.rule == "separable":
            size = np.abs(found.upper) + np.abs(found.first) + np.abs(found.second)
            return Line(
                found.upper + 2 * found.noise + ROOM * np.where(np.isfinite(size), size, 0),
                None,
                found.points,
            )
        return self._proposed(bounder, lo, hi, lean, found)

    def _remembered(self, sign: int, lo: Floats, hi: Floats, lean: Floats, *, points: bool) -> Line:
        bounder, memories = self.of(sign), self.memories(sign, lo, hi)
        upper, pairs = np.empty(len(lo)), lo.copy()
        for i, (memory, one) in enumerate(zip(memories, lean.tolist(), strict=True)):
            upper[i], first, second = bounder.bound_anywhere(memory, one)
            upper[i] += 2 * bounder.noise(one) + ROOM * (abs(first) + abs(second))
            if points:
                near = bounder.on_grid(one)
                bounder.bound_memory(memory, near)
                if bounder.propose(memory, near) is not None:
                    pairs[i] = bounder.pair()
        return Line(upper, None, pairs)

    def _proposed(self, bounder: Bounder, lo: Floats, hi: Floats, lean: Floats, found: Bounds) -> Line:
        """Bounds that are best near a threshold, with a threshold that they close at."""
        size = np.abs(found.first) + np.abs(found.second)
        reached = lean * found.first - (1 - lean) * found.second
        upper, hints = np.full(len(lo), np.inf), list(found.hints or [()] * len(lo))
        rules = None if found.rules is None else list(found.rules)
        guess = found.upper
        for again in range(2):
            some = np.flatnonzero(np.isfinite(guess) & np.isinf(upper))
            if not len(some):
                break
            room = size[some] + np.abs(guess[some] - reached[some]) + (self._usual_size() if again else 0.0)
            threshold = guess[some] + PROPOSED_ROOM * room
            there = bounder.bound(lo[some], hi[some], lean[some], threshold)
            closes = there.upper < threshold if there.closes is None else there.closes
            for n, i in enumerate(some.tolist()):
                if closes[n]:
                    upper[i] = threshold[n]
                    hints[i] = () if there.hints is None else there.hints[n]
                    if rules is not None and there.rules is not None:
                        rules[i] = there.rules[n]
                else:
                    guess[i] = max(guess[i], float(there.upper[n]))
        upper = np.where(np.isneginf(found.upper), -np.inf, upper)
        return Line(upper, hints, found.points, rules)

    def _usual_size(self) -> float:
        """How large scores are at most, or 1: room above a bound that is 0, as all scores there may be."""
        if self._size is None:
            lo, hi = (np.array([ends]) for ends in self.pairs.ends)
            bounds = [self.of(sign).bound(lo, hi, np.ones(1), np.zeros(1)).upper[0] for sign in (1, -1)]
            self._size = max((abs(float(one)) for one in bounds if np.isfinite(one)), default=0.0) or 1.0
        return self._size

    # -- links ----------------------------------------------------------------------------------------------------

    def side(self, lo: Floats, hi: Floats, *, first: bool, above: bool) -> Side:
        """The link between two limits of the score at x (`first`) or x', and a line above it, or below."""
        one = np.full(len(lo), 1.0 if first else 0.0)
        high = self.line(1 if first else -1, lo, hi, one)
        low = self.line(-1 if first else 1, lo, hi, one)
        least, most = -low.upper, high.upper
        gone = np.isneginf(most) | np.isposinf(least)  # no pair
        least, most = np.where(gone, 0.0, least), np.where(gone, 0.0, most)
        most = np.maximum(least, most)
        if above:
            alpha, tangent = self._bounded_line(self.link, least, most)
            beta = self.link.beta_above(alpha, tangent, least, most)
            flat = self.link.beta_above(np.zeros_like(alpha), tangent, least, most)
            return Side(low, high, alpha, tangent, beta, flat, np.ones(len(lo), dtype=bool))
        alpha, tangent = self._bounded_line(self.turned, -most, -least)
        whole = float(self.link.whole)
        beta = whole - self.turned.beta_above(alpha, tangent, -most, -least)
        flat = whole - self.turned.beta_above(np.zeros_like(alpha), tangent, -most, -least)
        return Side(low, high, alpha, tangent, beta, flat, np.ones(len(lo), dtype=bool))

    def difference(
        self,
        lo: Floats,
        hi: Floats,
        over: Floats,
        under: Floats,
        *,
        here: Side,
        there: Side,
        rising: bool,
        points: bool,
    ) -> Difference:
        """What over * link(s(u)) - under * link(s(v)) comes to at most, u and v the two individuals, x first if `rising`; infinite where one of them does not count."""
        line = self.line(1 if rising else -1, lo, hi, np.full(len(lo), 0.5), points=points)
        known = np.isfinite(line.upper) & (over > 0) & (under > 0)
        distance = np.where(known, 2 * line.upper, 0.0)
        over, under = np.where(known, over, 1.0), np.where(known, under, 1.0)
        first, second = (here, there) if rising else (there, here)
        lows = -second.low.upper, -first.low.upper - distance
        highs = second.high.upper, first.high.upper - distance
        low, high = np.maximum(*lows), np.minimum(*highs)
        crossed = low > high
        low = np.where(np.isposinf(low), 0.0, low)  # no pair: see `side`
        high = np.maximum(low, high)
        needs_low, needs_high = np.isfinite(low), np.isfinite(high)
        place: Floats | Rise
        if isinstance(self.link, Chain):
            place = rise_in_pieces(self.link, over, under, distance, low, high)
            worth = place.worth
        else:
            place = self.link.rise_places(over, under, distance, low, high)
            free = self.link.rise_places(
                over, under, distance, np.full_like(low, -np.inf), np.full_like(high, np.inf)
            )
            curved = (distance > 0) & (self.link.kind == "logistic") & ~crossed
            needs_low, needs_high = (
                needs_low & (~curved | (free < place)),
                needs_high & (~curved | (free > place)),
            )
            low, high = np.where(needs_low, low, -np.inf), np.where(needs_high, high, np.inf)
            worth = self.link.rise(over, under, distance, low, high, place)
        worth = np.where(
            known, worth + RISE_ROOM * (over + under), np.where(np.isneginf(line.upper), -np.inf, np.inf)
        )
        ends = (needs_low & (lows[0] >= lows[1]), needs_high & (highs[0] <= highs[1]))
        others = (needs_low & ~ends[0], needs_high & ~ends[1])
        helps = (others, ends) if rising else (ends, others)
        return Difference(
            line=line,
            worth=worth,
            place=place,
            ends=((here.low, here.high), (there.low, there.high)),
            helps=helps,
        )

    @staticmethod
    def _bounded_line(link: Link | Chain, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        known = np.isfinite(least) & np.isfinite(most)
        alpha, tangent = link.line_above(np.where(known, least, 0.0), np.where(known, most, 0.0))
        return np.where(known, alpha, 0.0), np.where(known, tangent, 0.0)


def _one_or_more(numbers: Floats) -> Fraction | tuple[Fraction, ...]:
    """As a leaf has them: a number of a link, two of a chain."""
    if np.ndim(numbers):
        return tuple(Fraction(one) for one in numbers.tolist())
    return Fraction(float(numbers))


def _cuts(rise: Rise, i: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(cut) for cut in rise.cuts_of(i).tolist())
