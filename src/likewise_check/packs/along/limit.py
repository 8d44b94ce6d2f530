"""What the features of a pair keep together where some change along with others, and the parts that a proof about such pairs has (sections 22 and 26).

A part is one step of every feature that others go along with (equal, from one level to another, or by a whole number), one segment of every feature that conditions name, and one move of every feature
with a table: a run of positions that stay the same, or one position that becomes another one. Its similarity has relations of sections 2 and 18 alone, in a root that may be smaller, so that a
proof of it takes rules that are known; here is what a pair satisfies, which parts there are, and in what order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Any

from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected
from likewise_check.core.space import Relation, Space
from likewise_check.packs.along.equation import Along, Case, Span, Step
from likewise_check.packs.along.words import tell_equation

MOST_PARTS = 10_000
_SAME = Relation(kind="same")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlongLimit:
    """What the features of a pair keep together."""

    space: Space
    relations: tuple[Relation, ...]
    all: tuple[Along, ...]

    @property
    def pack(self) -> str:
        return "along"

    @property
    def numbers(self) -> int:
        return 0

    def penalty(self, _numbers: Sequence[Fraction], _scale: int) -> None:
        """Nothing: no leaf is about the whole similarity."""

    def in_words(self, names: Sequence[str]) -> str:
        """For each feature what it changes along with, and how."""
        return "; ".join(tell_equation(one, self.space.features, names) for one in self.all)

    def allows(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether every feature differs as its band or its table says."""
        return all(
            one.allows(x, other, one.step(int(x[one.leader]), int(other[one.leader]))) for one in self.all
        )

    def parts(self) -> Iterator[tuple[Relation, ...]]:
        """The similarities of all parts, in order."""
        leaders = sorted({one.leader for one in self.all})
        found = 0
        for chosen in _choices([list(islice(self._steps(j), MOST_PARTS + 1)) for j in leaders], found):
            steps = dict(zip(leaders, chosen, strict=True))
            segments = self._segments([one for one in self.all if one.names(steps[one.leader])])
            for spans in _choices(segments.values(), found):
                relations, moves = self._with(steps, dict(zip(segments, spans, strict=True)))
                for moved in _choices(moves.values(), found):
                    for k, move in zip(moves, moved, strict=True):
                        relations[k] = move
                    found += 1
                    yield tuple(relations)

    def _steps(self, j: int) -> Iterator[Step]:
        feature, relation = self.space.features[j], self.relations[j]
        yield ()
        if any(one.by_difference for one in self.all if one.leader == j):
            reach = int(min(relation.tolerance or 0, feature.hi - feature.lo))
            yield from ((d,) for d in range(-reach, reach + 1) if d)
            return
        for i in range(feature.levels):
            look_at_clock()
            yield from ((i, k) for k in range(feature.levels) if i != k and relation.allows(i, k))

    def _segments(self, awake: Sequence[Along]) -> dict[int, list[Span]]:
        """The ranges of the features that their conditions name, cut below and above each interval."""
        starts: dict[int, set[int]] = {}
        for condition in (condition for one in awake for case in one.cases for condition in case.where):
            look_at_clock()
            feature = self.space.features[condition.feature]
            own = starts.setdefault(condition.feature, {int(feature.lo)})
            own.update(low for low, _ in condition.spans)
            own.update(high + 1 for _, high in condition.spans if high < feature.hi)
        found = {}
        for c, own in sorted(starts.items()):
            lows = sorted(own)
            ends = [*(low - 1 for low in lows[1:]), int(self.space.features[c].hi)]
            found[c] = list(zip(lows, ends, strict=True))
        return found

    def _with(
        self, steps: Mapping[int, Step], segments: Mapping[int, Span]
    ) -> tuple[list[Relation], dict[int, tuple[Relation, ...]]]:
        """The relations of the parts with these steps and segments, and the moves of the features that have a choice."""
        found, moves = list(self.relations), {}
        for j, step in steps.items():
            found[j] = _step_relation(step)
        for c, span in segments.items():
            found[c] = Relation(kind="same", inside=span)
        codes = {c: lo for c, (lo, _) in segments.items()}  # one of each stands for all
        for one in self.all:
            look_at_clock()
            step = steps[one.leader]
            case = one.case(codes) if one.names(step) else Case()
            if step in case.tables:
                moves[one.feature] = case.tables[step].moves
            else:
                low, high = one.band(case, step)
                between = Relation(kind="between", limits=(low, high))
                found[one.feature] = between if low or high else _SAME
        return found, moves


def _choices(lists: Iterable[Sequence[Any]], before: int) -> Iterator[tuple[Any, ...]]:
    """One of each list, counted before they are made: each makes a part at least."""
    if before + prod(map(len, lists)) > MOST_PARTS:
        raise Rejected(f"more than {MOST_PARTS} parts")
    return product(*lists)


def _step_relation(step: Step) -> Relation:
    """The relation of a feature that others go along with, in a part with this step of it."""
    if not step:
        return _SAME
    if len(step) == 2:
        return Relation(kind="free", fixed=(step[0], step[1]))
    return Relation(kind="between", limits=(Fraction(step[0]), Fraction(step[0])))
