"""What the features of a pair keep together where some change along with others, and the parts that a proof about such pairs has (sections 22 and 26).

A part is one step of every feature that others go along with (equal, from one level to another, or by a whole number), one segment of every feature that conditions name, and one move of every feature
with a table: a run of positions that stay the same, or one position that becomes another one. Its similarity has relations of sections 2 and 18 alone, in a root that may be smaller, so that a
proof of it takes rules that are known; here is what a pair satisfies, which parts there are, and in what order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected
from likewise_check.core.space import Relation, Space
from likewise_check.packs.along.equation import Along, Case, Condition, Span, Step
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
    def by_difference(self) -> frozenset[int]:
        """The features whose steps are differences, not pairs of levels."""
        return frozenset(one.leader for one in self.all if one.by_difference)

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
            one.allows(x, other, self._step(one.leader, int(x[one.leader]), int(other[one.leader])))
            for one in self.all
        )

    def _step(self, j: int, code: int, other: int) -> Step:
        if code == other:
            return ()
        return (other - code,) if j in self.by_difference else (code, other)

    def parts(self) -> Iterator[tuple[Relation, ...]]:
        """The similarities of all parts, in order."""
        leaders = sorted({one.leader for one in self.all})
        steps = [list(islice(self._steps(j), MOST_PARTS + 1)) for j in leaders]
        found = (
            part
            for chosen in product(*steps)
            for part in self._parts_of_steps(dict(zip(leaders, chosen, strict=True)))
        )
        for count, part in enumerate(found):
            if count == MOST_PARTS:
                raise Rejected(f"more than {MOST_PARTS} parts")
            yield part

    def _steps(self, j: int) -> Iterator[Step]:
        feature, relation = self.space.features[j], self.relations[j]
        yield ()
        if j not in self.by_difference:
            for i in range(feature.levels):
                look_at_clock()
                yield from ((i, k) for k in range(feature.levels) if i != k and relation.allows(i, k))
        else:
            reach = int(min(relation.tolerance or 0, feature.hi - feature.lo))
            yield from ((d,) for d in range(-reach, reach + 1) if d)

    def _parts_of_steps(self, steps: Mapping[int, Step]) -> Iterator[tuple[Relation, ...]]:
        """The parts with these steps, by segments and then by moves."""
        found = list(self.relations)
        for j, step in steps.items():
            found[j] = _step_relation(step)
        awake = [one for one in self.all if one.names(steps[one.leader])]
        conditions = [condition for one in awake for case in one.cases for condition in case.where]
        shared = sorted({condition.feature for condition in conditions})
        for chosen in product(*(self._segments(c, conditions) for c in shared)):
            segments = dict(zip(shared, chosen, strict=True))
            for c, span in segments.items():
                found[c] = Relation(kind="same", inside=span)
            yield from self._parts_of_segments(steps, segments, found)

    def _segments(self, c: int, conditions: Sequence[Condition]) -> list[Span]:
        """The range of a feature, cut below and above each interval of these conditions on it."""
        look_at_clock()
        lo, hi = int(self.space.features[c].lo), int(self.space.features[c].hi)
        spans = [span for condition in conditions if condition.feature == c for span in condition.spans]
        starts = sorted({lo, *(low for low, _ in spans), *(high + 1 for _, high in spans if high < hi)})
        return list(zip(starts, [*(start - 1 for start in starts[1:]), hi], strict=True))

    def _parts_of_segments(
        self, steps: Mapping[int, Step], segments: Mapping[int, Span], relations: Sequence[Relation]
    ) -> Iterator[tuple[Relation, ...]]:
        """The same of one choice of segments: one part for each choice of moves."""
        found, moves = list(relations), []
        codes = {c: lo for c, (lo, _) in segments.items()}  # one of each stands for all
        for one in self.all:
            look_at_clock()
            step = steps[one.leader]
            case = one.case(codes) if one.names(step) else Case()
            if step in case.tables:
                moves.append([(one.feature, move) for move in case.tables[step].moves])
            else:
                low, high = one.band(case, step)
                between = Relation(kind="between", limits=(low, high))
                found[one.feature] = between if low or high else _SAME
        for chosen in product(*moves):
            for k, move in chosen:
                found[k] = move
            yield tuple(found)


def _step_relation(step: Step) -> Relation:
    """The relation of a feature that others go along with, in a part with this step of it."""
    if not step:
        return _SAME
    if len(step) == 2:
        return Relation(kind="free", fixed=(step[0], step[1]))
    return Relation(kind="between", limits=(Fraction(step[0]), Fraction(step[0])))
