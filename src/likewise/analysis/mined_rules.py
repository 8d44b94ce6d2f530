"""mine_rules: what do all rows of the data obey that strangers to them need not? Rules between two features, offered as constraints.

Candidates are implications between levels (whoever rents has one of these jobs) and inequalities between two numbers: differences, sums and ratios that no row
exceeds, or all but a few. A rule is offered only if it tells something: were the two features independent, many rows would break it. So people are drawn whose
features are distributed as in the data and independent of each other, and of the candidates those are taken, one after another, that exclude most of whom none
before has excluded.

A rule that all rows obey need not be true of whoever comes next. Nothing is applied here: it is for a person to say who can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import SpecError
from likewise.spec.constraints import Constraint, parse_constraints
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.implications import condition_text
from likewise.spec.tokens import quoted_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

DRAWN = 20_000  # people with independent features
LEAST_EXPECTED = 10.0  # rows that would break a rule if features were independent; by chance all of so many obey once in 20,000 times
LEAST_SHARE = 0.005  # of the people drawn that a rule has to exclude, whom none before it excludes
LEAST_ROWS = 20  # that have the level that an implication is about
DIGITS = 3  # of bounds between continuous numbers, rounded so that the rule says less
ROUNDING = 1e-9  # of the size of a sum: closer to its bound than that, it is added up exactly
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedRule:
    """A rule that rows obey.

    Attributes
    ----------
    rule : str
        As `Space.where` takes it.
    rows : int
        Rows that it says something about: those that have the level of its condition; all rows for an inequality.
    exceptions : int
        Rows that break it.
    expected : float
        Rows that would break it if every feature were independent of the others.
    """

    rule: str
    rows: int
    exceptions: int
    expected: float

    def __str__(self) -> str:
        broken = "none breaks it" if not self.exceptions else f"{self.exceptions} break it"
        return f"{self.rule}    ({self.rows:,} rows, {broken}; about {self.expected:,.0f} would by chance)"


def mine_rules(space: Space, X: Any, *, exceptions: int = 0, most: int = 20) -> list[MinedRule]:
    """Constraints that the rows of a frame obey and that would not hold by chance, those that exclude most people first.

    Parameters
    ----------
    space : Space
        Whose features the rules are between.
    X : frame
        The rows.
    exceptions : int
        How many rows may break a rule.
    most : int
        How many rules to return at most.

    Returns
    -------
    list of MinedRule
        None of them is applied: `space.where(rule.rule)` is the space of those who obey it.

    Examples
    --------
    >>> import likewise as lw
    >>> data = lw.datasets.load_german()
    >>> print(lw.mine_rules(data.space, data.X)[0].exceptions)
    0
    """
    for name, value, least in (("exceptions", exceptions, 0), ("most", most, 1)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise SpecError(f"{name} must be a whole number from {least}, not {value!r}")
    rows = space.encode(X, allow_extra=True)
    if not len(rows):
        return []
    random = np.random.default_rng(SEED)
    drawn = np.stack([random.choice(column, DRAWN) for column in rows.T], axis=1)
    found = []
    for text, told in dict(_candidates(space, rows, exceptions)).items():
        rule = _judge(space, text, told, rows, drawn, exceptions)
        if rule is not None:
            found.append(rule)
    return _choose(found, most)


def _choose(found: Sequence[tuple[MinedRule, Mask]], most: int) -> list[MinedRule]:
    """One rule after another, the one that excludes most of those who are left."""
    chosen: list[MinedRule] = []
    left = np.ones(DRAWN, dtype=bool)
    open_ = list(found)
    while open_ and len(chosen) < most:
        counts = [int((mask & left).sum()) for _, mask in open_]
        best = int(np.argmax(counts))
        if counts[best] < LEAST_SHARE * DRAWN:
            break
        rule, mask = open_.pop(best)
        chosen.append(rule)
        left &= ~mask
    return chosen


def _judge(
    space: Space, text: str, told: int, rows: Floats, drawn: Floats, exceptions: int
) -> tuple[MinedRule, Mask] | None:
    """A candidate that says enough, with those among the people drawn whom it excludes."""
    parsed = parse_constraints(text, space.features)
    excluded = _broken(space, parsed, drawn)
    expected = float(excluded.mean()) * len(rows)
    if expected < LEAST_EXPECTED * (1 + exceptions):
        return None
    broken = int(_broken(space, parsed, rows).sum())
    if broken > exceptions:
        return None
    return MinedRule(rule=text, rows=told, exceptions=broken, expected=expected), excluded


# -- candidates -------------------------------------------------------------------------------------------


def _candidates(space: Space, rows: Floats, exceptions: int) -> Iterator[tuple[str, int]]:
    """Rules, and how many rows each says something about."""
    names = list(space.names)
    levels = [k for k, n in enumerate(names) if isinstance(space[n], Categorical | Ordinal)]
    numbers = [
        k for k, n in enumerate(names) if isinstance(space[n], Continuous | Integer) and not space[n].missing
    ]
    for a, b in permutations(levels, 2):
        yield from _implications(space, a, b, rows, exceptions)
    for a, b in combinations(numbers, 2):
        yield from ((text, len(rows)) for text in _inequalities(space, a, b, rows, exceptions))


def _implications(space: Space, a: int, b: int, rows: Floats, exceptions: int) -> Iterator[tuple[str, int]]:
    """For each level of one feature: the levels of another that nobody, or hardly anybody, has along with it."""
    name, other = space.names[a], space.names[b]
    first, second = space[name], space[other]
    if not isinstance(first, Categorical | Ordinal) or not isinstance(second, Categorical | Ordinal):
        return
    together = np.zeros((len(first.levels), len(second.levels)), dtype=np.int64)
    np.add.at(together, (rows[:, a].astype(int), rows[:, b].astype(int)), 1)
    for place, counts in enumerate(together):
        if counts.sum() < LEAST_ROWS or first.levels[place] is None:
            continue
        order = np.argsort(counts, kind="stable")
        rare = order[np.cumsum(counts[order]) <= exceptions].tolist()
        kept = [level for p, level in enumerate(second.levels) if p not in rare]
        if not rare or not kept or None in second.levels:
            continue
        given = condition_text(name, [first.levels[place]], first.levels)
        yield f"if {given} then {condition_text(other, kept, second.levels)}", int(counts.sum())


def _inequalities(space: Space, a: int, b: int, rows: Floats, exceptions: int) -> Iterator[str]:
    """Differences and sums of two numbers, and ratios to a number that is never negative."""
    x, y = quoted_name(space.names[a]), quoted_name(space.names[b])
    first, second = rows[:, a], rows[:, b]
    whole = all(isinstance(space[space.names[k]], Integer) for k in (a, b))
    for left, right, apart in ((x, y, first - second), (y, x, second - first)):
        bound = _bound(apart, exceptions, whole=whole)
        offset = "" if not bound else f" {'+' if bound > 0 else '-'} {_plain(abs(bound))}"
        yield f"{left} <= {right}{offset}"
    yield f"{x} + {y} <= {_plain(_bound(first + second, exceptions, whole=whole))}"
    yield f"{x} + {y} >= {_plain(-_bound(-(first + second), exceptions, whole=whole))}"
    for left, right, above, below in ((x, y, first, second), (y, x, second, first)):
        some = below > 0
        if some.all() or (below.min() >= 0 and (above[~some] <= 0).all()):
            bound = _bound(above[some] / below[some], exceptions, whole=False)
            if bound > 0:
                yield f"{left} <= {_plain(bound)} * {right}"


def _bound(values: Floats, exceptions: int, *, whole: bool) -> Decimal:
    """What all values but so many are at most, rounded up to a few digits of how far they are spread."""
    if len(values) <= exceptions:
        return Decimal(0)
    reached = float(np.partition(values, len(values) - 1 - exceptions)[len(values) - 1 - exceptions])
    if whole:
        return Decimal(int(reached))
    size = float(values.max() - values.min()) or abs(reached) or 1.0
    place = Decimal(1).scaleb(Decimal(size).adjusted() - DIGITS + 1)
    return (
        Decimal(reached).quantize(place, rounding=ROUND_CEILING)
        if place < 1
        else ((Decimal(reached) / place).to_integral_value(rounding=ROUND_CEILING) * place)
    )


def _plain(number: Decimal) -> str:
    """Without exponents and needless zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# -- who breaks a rule ------------------------------------------------------------------------------------


def _broken(space: Space, parsed: Sequence[Constraint], codes: Floats) -> Mask:
    """Who breaks one of these constraints, exactly."""
    broken = np.zeros(len(codes), dtype=bool)
    for constraint in parsed:
        broken |= _breaks(space, constraint, codes)
    return broken


def _breaks(space: Space, constraint: Constraint, codes: Floats) -> Mask:
    if constraint.indicators:
        all_hold = np.ones(len(codes), dtype=bool)
        for condition in constraint.indicators:
            all_hold &= _has_level(space, condition.name, condition.levels, codes) == condition.inside
        return all_hold
    places = [space.names.index(name) for name, _ in constraint.coefficients]
    by = np.array([float(factor) for _, factor in constraint.coefficients])
    parts = codes[:, places] * by
    excess = parts.sum(axis=1) - float(constraint.bound)
    broken: Mask = excess > 0
    close = np.abs(excess) <= ROUNDING * (np.abs(parts).sum(axis=1) + abs(float(constraint.bound)))
    for i in np.flatnonzero(close).tolist():
        values = zip(codes[i, places].tolist(), constraint.coefficients, strict=True)
        broken[i] = sum(factor * Fraction(code) for code, (_, factor) in values) > constraint.bound
    return broken


def _has_level(space: Space, name: str, levels: frozenset[Any], codes: Floats) -> Mask:
    feature = space[name]
    known = feature.levels if isinstance(feature, Categorical | Ordinal) else ()
    places = [place for place, level in enumerate(known) if level in levels]
    found: Mask = np.isin(codes[:, space.names.index(name)], places)
    return found
