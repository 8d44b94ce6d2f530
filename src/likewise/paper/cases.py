"""Value pairs: the paper's set V_p, and the similar pairs that are left once one of them is fixed.

A chosen set D of discrete features takes every pair of values (v, v') that the similarity allows; in each case
x_D = v and x'_D = v', and the other discrete features may be relaxed to whole intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from likewise.errors import SpecError, suggest_name
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from likewise.spec.pairs import PairSpace

MOST_VALUES = 256  # of one feature that is fixed: the paper means "small sets of values"

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """All cases of one claim: for each fixed feature its value pairs."""

    pairs: PairSpace
    fixed: tuple[int, ...]
    relaxed: tuple[int, ...]
    choices: tuple[tuple[Pair, ...], ...]

    def __len__(self) -> int:
        return prod(len(choice) for choice in self.choices) - self._count_trivial

    @property
    def _count_trivial(self) -> int:
        """Cases in which x = x', left out: those with v = v' if nothing else may differ."""
        if self._others_may_differ:
            return 0
        return prod(sum(v == w for v, w in choice) for choice in self.choices)

    @property
    def _others_may_differ(self) -> bool:
        relations = enumerate(self.pairs.relations)
        return any(relation.kind != "same" for k, relation in relations if k not in self.fixed)

    def __iter__(self) -> Iterator[Case]:
        for values in product(*self.choices):
            if self._others_may_differ or any(v != w for v, w in values):
                yield Case(values=values, pairs=self._restrict_pairs(values))

    def _restrict_pairs(self, values: Sequence[Pair]) -> PairSpace:
        variables = list(self.pairs.variables)
        for k, ends in zip(self.fixed, values, strict=True):
            for v, value in zip((self.pairs.first[k], self.pairs.second[k]), ends, strict=True):
                variables[v] = replace(variables[v], lo=value, hi=value)
        for k in self.relaxed:
            for v in (self.pairs.first[k], self.pairs.second[k]):
                variables[v] = replace(variables[v], discrete=False)
        return replace(self.pairs, variables=tuple(variables))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One element of V_p, and the pairs with these values."""

    values: tuple[Pair, ...]
    pairs: PairSpace

    @property
    def reversed(self) -> tuple[Pair, ...]:
        """The same case with x and x' exchanged."""
        return tuple((w, v) for v, w in self.values)


def make_cases(pairs: PairSpace, fixed: Sequence[str] | None, relaxed: Sequence[str]) -> Cases:
    """The cases for D = `fixed`: all discrete features that may differ in any way, unless named."""
    names = pairs.space.names
    if fixed is None:
        fixed = [
            name
            for name, relation in zip(names, pairs.relations, strict=True)
            if relation.kind == "free" and not isinstance(pairs.space[name], Continuous)
        ]
    for name in (*fixed, *relaxed):
        if name not in pairs.space:
            raise SpecError(f"no feature {name!r} in the space{suggest_name(name, names)}")
    for name in fixed:
        if isinstance(pairs.space[name], Continuous):
            raise SpecError(
                f"feature {name!r} is continuous and cannot be fixed", hint="leave it out of fixed"
            )
    for name in relaxed:
        if name in fixed:
            raise SpecError(f"feature {name!r} is both fixed and relaxed", hint="keep one of the two")
        if not isinstance(pairs.space[name], Integer):
            raise SpecError(f"feature {name!r} has no whole numbers to relax", hint="relax integers only")
    chosen = tuple(names.index(name) for name in fixed)
    return Cases(
        pairs=pairs,
        fixed=chosen,
        relaxed=tuple(names.index(name) for name in relaxed),
        choices=tuple(_value_pairs(pairs, k) for k in chosen),
    )


def _value_pairs(pairs: PairSpace, k: int) -> tuple[Pair, ...]:
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    count = int(variable.hi - variable.lo) + 1
    if count > MOST_VALUES:
        raise SpecError(
            f"feature {pairs.space.names[k]!r} has {count} values, too many to fix",
            hint=f"fix features with at most {MOST_VALUES} values",
        )
    values = [float(variable.lo + i) for i in range(count)]
    if relation.kind == "same":
        return tuple((v, v) for v in values)
    return tuple(
        (v, w)
        for v in values
        for w in values
        if relation.tolerance is None or abs(v - w) <= relation.tolerance
    )
