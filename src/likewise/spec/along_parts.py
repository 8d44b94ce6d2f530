"""Parts of counterfactual pairs: the equations of `likewise.spec.along` in codes of a space, and the similarities that pairs fall into by them.

A pair belongs to one *part*: one *step* of every feature that others go along with (the same, from one level to another, or by a whole number), one *segment* of every feature that a condition names (an interval of
codes in which the same conditions hold), and one *move* of every feature that goes along by a table (a run of levels that stay, or one that becomes another one). In a part every feature has an ordinary relation
(`parts_of`), and similarity is the union of the parts; bounds, proofs and judges are about one part at a time. Who would leave the declared range of a feature by a shift is nobody, and no pair.

Which parts there are, and in what order, is what the specification says (sections 22 and 26): the checker finds them by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING

from likewise.errors import SpecError
from likewise.spec.features import Categorical, Feature, Integer, Ordinal
from likewise.spec.relations import Relation, limits_relation, span

if TYPE_CHECKING:
    from likewise.spec.along import Alongs
    from likewise.spec.space import Space

Step = tuple[int, ...]  # (): equal; (i, i'): from level to level; (d,): by so much
Band = tuple[Fraction, Fraction]
Span = tuple[int, int]  # codes from one to another
LevelPairs = tuple[tuple[int, int], ...]  # positions v and v', strictly increasing
Where = tuple[tuple[int, tuple[Span, ...]], ...]  # features, and the codes that they have

MOST_PARTS = 400  # of a similarity: each is searched and proved by itself
MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCase:
    """What is asked for, by steps, mirrored, where conditions hold: bands of x' - x, or pairs of positions."""

    where: Where = ()
    bands: tuple[tuple[Step, Band], ...] = ()
    tables: tuple[tuple[Step, LevelPairs], ...] = ()

    def holds(self, codes: Mapping[int, int]) -> bool:
        """Whether all conditions hold at these codes."""
        return all(any(lo <= codes[c] <= hi for lo, hi in spans) for c, spans in self.where)

    @property
    def steps(self) -> frozenset[Step]:
        """Those that something is asked for at."""
        return frozenset(step for step, _ in (*self.bands, *self.tables))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedAlong:
    """An equation in codes of a space, and how far the feature may differ at all other steps: None with tables, where it is the same."""

    feature: int
    leader: int
    cases: tuple[ResolvedCase, ...]
    otherwise: Fraction | None

    @property
    def steps(self) -> frozenset[Step]:
        """Those that something is asked for at, under some condition."""
        return frozenset().union(*(case.steps for case in self.cases))

    @property
    def by_difference(self) -> bool:
        """Whether steps are differences, not pairs of levels."""
        return len(next(iter(self.steps))) == 1

    @property
    def shared(self) -> frozenset[int]:
        """The features that conditions are about."""
        return frozenset(c for case in self.cases for c, _ in case.where)

    @property
    def hull(self) -> Relation:
        """What all steps together allow at most."""
        if self.otherwise is not None:
            ends = (high for case in self.cases for _, (_, high) in case.bands)
            return Relation("within", max(self.otherwise, *ends))
        listed = (pair for case in self.cases for _, pairs in case.tables for pair in pairs)
        allowed = tuple(sorted({(v, w) for v, w in listed if v < w}))  # each also the other way round
        return Relation("pairs", allowed=allowed) if allowed else Relation("same")

    def moves(self, step: Step, codes: Mapping[int, int]) -> list[Relation]:
        """The relations that the feature may have at a step, where features that are shared have these codes: one, unless a table asks for several."""
        none = ResolvedCase()
        case = none if step not in self.steps else next((c for c in self.cases if c.holds(codes)), none)
        tables = dict(case.tables)
        if step in tables:
            return table_moves(tables[step])
        rest = self.otherwise or Fraction(0)
        low, high = dict(case.bands).get(step, (-rest, rest))
        return [limits_relation(low, high) if low or high else Relation("same")]

    def recoded(self, shift: Mapping[int, int]) -> ResolvedAlong:
        """The same where codes of features are less by so much; how far they are apart stays what it is."""

        def moved(c: int, spans: tuple[Span, ...]) -> tuple[int, tuple[Span, ...]]:
            return c, tuple((lo - shift.get(c, 0), hi - shift.get(c, 0)) for lo, hi in spans)

        cases = (replace(case, where=tuple(moved(*one) for one in case.where)) for case in self.cases)
        return replace(self, cases=tuple(cases))


def table_moves(pairs: LevelPairs) -> list[Relation]:
    """Runs of levels that stay the same, then each level that becomes another one."""
    runs: list[Span] = []
    for v, other in pairs:
        if v == other and runs and runs[-1][1] == v - 1:
            runs[-1] = runs[-1][0], v
        elif v == other:
            runs.append((v, v))
    stay = [Relation("same", inside=run) for run in runs]
    return stay + [Relation("free", fixed=pair) for pair in pairs if pair[0] != pair[1]]


def measure_leaders(along: Mapping[str, Alongs], space: Space, found: list[Relation]) -> None:
    """Give whole numbers that may differ in any way, and that others have a rate of, the tolerance that this is."""
    for cases in along.values():
        j, leader = space.names.index(cases[0].feature), space[cases[0].feature]
        rated = any(one.rate is not None for one in cases)
        if rated and found[j].kind == "free" and isinstance(leader, Integer | Ordinal):
            found[j] = Relation("within", span(leader))


def parts_of(
    relations: tuple[Relation, ...], along: Sequence[ResolvedAlong], space: Space
) -> tuple[tuple[Relation, ...], ...]:
    """The similarities of all parts, in order; `relations` are those of all other features."""
    differences = {one.leader: one.by_difference for one in along}
    leaders = sorted(differences)
    steps = [list(_steps(space[space.names[j]], relations[j], by_difference=differences[j])) for j in leaders]
    found = (
        part
        for chosen in product(*steps)
        for part in _parts_of_steps(relations, along, space, dict(zip(leaders, chosen, strict=True)))
    )
    count = math.prod(map(len, steps))
    if count <= MOST_COUNTED:
        parts = tuple(islice(found, MOST_PARTS))
        count = len(parts) + sum(1 for _ in islice(found, MOST_COUNTED))
    if count > MOST_PARTS:
        names = sorted({*leaders, *(c for one in along for c in one.shared)})
        raise SpecError(
            f"along: what {', '.join(space.names[j] for j in names)} may be falls into {count:,} cases, which are proved one by one",
            hint=f"at most {MOST_PARTS:,} are taken: name the levels that may differ in pairs, or a smaller tolerance, or fewer entries of tables and conditions",
        )
    return parts


def _parts_of_steps(
    relations: tuple[Relation, ...],
    along: Sequence[ResolvedAlong],
    space: Space,
    chosen: Mapping[int, Step],
) -> Iterator[tuple[Relation, ...]]:
    """The parts of one step of every feature that others go along with."""
    found = list(relations)
    for j, step in chosen.items():
        found[j] = _step_relation(step)
    awake = [one for one in along if chosen[one.leader] in one.steps]
    shared = sorted({c for one in awake for c in one.shared})
    for segments in product(*(_segments(c, awake, space[space.names[c]]) for c in shared)):
        codes = {}
        for c, segment in zip(shared, segments, strict=True):
            found[c], codes[c] = Relation("same", inside=segment), segment[0]
        moves = [one.moves(chosen[one.leader], codes) for one in along]
        for taken in product(*moves):
            for one, relation in zip(along, taken, strict=True):
                found[one.feature] = relation
            yield tuple(found)


def _segments(c: int, awake: Sequence[ResolvedAlong], feature: Feature) -> list[Span]:
    """The codes of a feature in intervals, of which each condition holds in all or in none."""
    lo, hi = map(int, feature.code_range)
    named = (spans for one in awake for case in one.cases for k, spans in case.where if k == c)
    spans = [one for several in named for one in several]
    starts = sorted({lo, *(low for low, _ in spans), *(high + 1 for _, high in spans if high < hi)})
    return list(zip(starts, [*(start - 1 for start in starts[1:]), hi], strict=True))


def _step_relation(step: Step) -> Relation:
    if not step:
        return Relation("same")
    if len(step) == 2:
        return Relation("free", fixed=(step[0], step[1]))
    return limits_relation(Fraction(step[0]), Fraction(step[0]))


def _steps(feature: Feature, relation: Relation, *, by_difference: bool) -> Iterator[Step]:
    """Equal first, then all others in increasing order."""
    yield ()
    if by_difference:
        reach = int(min(relation.tolerance or Fraction(0), span(feature)))
        yield from ((d,) for d in range(-reach, reach + 1) if d)
        return
    places = range(feature.size or 0) if isinstance(feature, Categorical | Ordinal) else ()
    yield from ((i, j) for i in places for j in places if i != j and relation.allows(i, j))
