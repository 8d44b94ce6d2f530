"""How one feature differs, by the step of the one that it goes along with (section 22), in cases with conditions on features that a pair shares (section 26).

A relation of section 22 is one of a single case without conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from likewise_check.core.deadline import look_at_clock
from likewise_check.core.numbers import Exact
from likewise_check.core.space import Relation

Step: TypeAlias = tuple[int, ...]  # (): equal; (i, i'): from level to level; (d,): by so much
Band: TypeAlias = tuple[Fraction, Fraction]
Span: TypeAlias = tuple[int, int]  # codes from one to another
Pairs: TypeAlias = tuple[tuple[int, int], ...]  # positions v and v', strictly increasing


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The code of a feature lies in one of these intervals."""

    feature: int
    spans: tuple[Span, ...]

    def holds(self, code: Exact) -> bool:
        """Whether it does."""
        return any(lo <= code <= hi for lo, hi in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Which positions may stand beside which, and the relations that they fall into (section 26): runs of positions that stay, then each that becomes another one."""

    pairs: Pairs
    listed: frozenset[tuple[int, int]]
    moves: tuple[Relation, ...]

    @classmethod
    def of(cls, pairs: Pairs) -> "Table":
        """The table of these pairs."""
        runs: list[Span] = []
        for v, beside in pairs:
            if v == beside and runs and runs[-1][1] == v - 1:
                runs[-1] = runs[-1][0], v
            elif v == beside:
                runs.append((v, v))
        stay = (Relation(kind="same", inside=run) for run in runs)
        change = (Relation(kind="free", fixed=pair) for pair in pairs if pair[0] != pair[1])
        return cls(pairs=pairs, listed=frozenset(pairs), moves=(*stay, *change))

    def mirrored(self) -> Pairs:
        """The pairs with x and x' in each other's places."""
        return tuple(sorted((beside, v) for v, beside in self.pairs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is asked for, by steps, where all conditions hold: bands of x'_k - x_k, or pairs of positions."""

    where: tuple[Condition, ...] = ()
    bands: Mapping[Step, Band] = field(default_factory=dict)
    tables: Mapping[Step, Table] = field(default_factory=dict)

    def holds(self, codes: Mapping[int, Exact] | Sequence[Exact]) -> bool:
        """Whether all conditions hold at these codes, by feature."""
        look_at_clock()
        return all(condition.holds(codes[condition.feature]) for condition in self.where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """How feature k differs; `otherwise` is how far where no band is named, None of one with tables, which is the same then."""

    feature: int
    leader: int
    cases: tuple[Case, ...]
    otherwise: Fraction | None

    def names(self, step: Step) -> bool:
        """Whether a step is named in some case."""
        return any(step in case.bands or step in case.tables for case in self.cases)

    @property
    def by_difference(self) -> bool:
        """Whether steps are differences, not pairs of levels."""
        return len(next(iter(self.cases[0].bands or self.cases[0].tables))) == 1

    @property
    def farthest(self) -> Fraction | None:
        """How far x'_k is from x_k at most; None of positions."""
        if self.otherwise is None:
            return None
        return max([self.otherwise, *(high for case in self.cases for _, high in case.bands.values())])

    def case(self, codes: Mapping[int, Exact] | Sequence[Exact]) -> Case:
        """The first one that holds at these codes; one that asks for nothing where none does."""
        return next((case for case in self.cases if case.holds(codes)), Case())

    def band(self, case: Case, step: Step) -> Band:
        """From where to where x'_k - x_k may be at a step; of positions, unless a table says more."""
        rest = self.otherwise or Fraction(0)
        return case.bands.get(step, (-rest, rest))

    def allows(self, x: Sequence[Fraction], other: Sequence[Fraction], step: Step) -> bool:
        """Whether feature k of a pair differs as it says at this step."""
        case, code, beside = self.case(x), x[self.feature], other[self.feature]
        if step in case.tables:
            return (int(code), int(beside)) in case.tables[step].listed  # positions are whole
        low, high = self.band(case, step)
        return low <= beside - code <= high
