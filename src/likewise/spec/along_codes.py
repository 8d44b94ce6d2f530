"""Equations of `likewise.spec.along` over a space: levels become positions, conditions intervals of codes, shifts exact bands with their tolerance; what a space has no room for is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.errors import DataError, SpecError, suggest_name
from likewise.spec.along_parts import Band, LevelPairs, ResolvedAlong, ResolvedCase, Span, Step, Where
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal
from likewise.spec.metric import exact_amount
from likewise.spec.numbers import short_repr
from likewise.spec.relations import Relation, Tolerance, exact_tolerance, span

if TYPE_CHECKING:
    from likewise.spec.along import Along, Alongs
    from likewise.spec.along_rows import Condition
    from likewise.spec.space import Space


def resolve_all(
    along: Mapping[str, Alongs], within: Mapping[str, Tolerance], space: Space, found: Sequence[Relation]
) -> tuple[ResolvedAlong, ...]:
    """All equations over a space, by feature, with the tolerances that leave room around them; `found` are the relations of the features that they go along with."""
    told = []
    for name, cases in along.items():
        leading = found[space.names.index(cases[0].feature)]
        if leading.kind == "same":
            raise SpecError(
                f"along: {cases[0].feature!r} cannot differ in this space, so {name!r} never changes"
            )
        told.append(_resolve(name, cases, within, space, leading))
    if len({(one.leader, one.by_difference) for one in told}) != len({one.leader for one in told}):
        raise SpecError(
            "along: two features change along with one, by levels and by a rate",
            hint="give shifts for both",
        )
    return tuple(sorted(told, key=lambda one: one.feature))


def _resolve(
    name: str, cases: Alongs, within: Mapping[str, Tolerance], space: Space, leading: Relation
) -> ResolvedAlong:
    """The equation of one feature: `leading` is the relation of the one that it goes along with."""
    tabled = bool(cases[0].table)
    if any(bool(one.table) != tabled for one in cases):
        raise SpecError(
            f"along: {name!r} changes by a table and by numbers",
            hint="give tables for all, or shifts for all",
        )
    if len({one.rate is None for one in cases}) > 1:
        raise SpecError(
            f"along: {name!r} changes along with {cases[0].feature!r} by levels and by a rate",
            hint="give shifts for both",
        )
    feature, leader = space[name], space[cases[0].feature]
    found, otherwise = [], None
    if tabled:
        for one in cases:
            tables = _resolved_tables(name, one, feature, leader)
            found.append(ResolvedCase(where=_resolved_where(name, one, space), tables=tables))
        _refuse_unchanged(name, any(v != w for case in found for _, pairs in case.tables for v, w in pairs))
    else:
        tolerance = exact_tolerance(name, within.get(name, 0), feature)
        for one in cases:
            bands = _resolved_bands(name, one, (feature, leader), leading, tolerance)
            found.append(ResolvedCase(where=_resolved_where(name, one, space), bands=bands))
        _refuse_unchanged(name, any(end for case in found for _, band in case.bands for end in band))
        # Around a shift that is not whole a tolerance reaches whole numbers that its whole part does not; around none it does not.
        otherwise = tolerance if isinstance(feature, Continuous) else Fraction(math.floor(tolerance))
    last = next((n for n, case in enumerate(found) if not case.where), len(found))
    return ResolvedAlong(
        feature=space.names.index(name),
        leader=space.names.index(cases[0].feature),
        cases=tuple(found[: last + 1]),  # behind one that always holds none counts
        otherwise=otherwise,
    )


def _refuse_unchanged(name: str, changes: bool) -> None:
    if not changes:
        raise SpecError(
            f"along: {name!r} never changes by that", hint=f"leave it out: then {name!r} is the same"
        )


# -- tables -------------------------------------------------------------------------------------------------------


def _resolved_tables(
    name: str, along: Along, feature: Feature, leader: Feature
) -> tuple[tuple[Step, LevelPairs], ...]:
    """For each step which positions may stand beside which: levels that are not named stay the same."""
    if not isinstance(feature, Categorical | Ordinal):
        raise SpecError(
            f"along: {name!r} is {feature.kind}, it has no levels that a table could name",
            hint=f'give a shift: Along({along.feature!r}, {{("male", "female"): -3000}})',
        )
    found: dict[Step, LevelPairs] = {}
    for first, second, rows in along.table:
        step = _positions(leader, along.feature, (first, second), along)
        images: dict[int, set[int]] = {}
        for own, becomes in rows:
            v, *several = _positions(feature, name, (own, *becomes), along)
            if v in images:  # None and NaN are one level
                raise SpecError(f"along: a table of {name!r} says twice what {own!r} becomes")
            images[v] = set(several)
        pairs = tuple((v, w) for v in range(feature.size) for w in sorted(images.get(v, {v})))
        turned = tuple(sorted((w, v) for v, w in pairs))
        if not pairs:
            raise SpecError(
                f"along: by a table of {name!r} nobody has a counterpart",
                hint="leave the table out, or pairs of it",
            )
        if found.get(step, pairs) != pairs:
            raise SpecError(
                f"along: two tables of {name!r} by {along.feature!r} contradict each other",
                hint="a table is given once; the other way round it is the inverse",
            )
        found[step], found[step[::-1]] = pairs, turned
    return tuple(sorted(found.items()))


def _positions(feature: Feature, name: str, levels: Sequence[Level], along: Along) -> tuple[int, ...]:
    if isinstance(feature, Continuous | Integer):
        raise SpecError(
            f"along: {name!r} is {feature.kind}, it has no levels",
            hint=f"Along({along.feature!r}, rate=1) goes along with a whole number; or make it levels: space.replace({{{name!r}: Categorical([...])}})",
        )
    try:
        return tuple(map(feature.position, levels))
    except DataError as error:
        raise SpecError(f"along: feature {name!r}: {error.message}", hint=error.hint) from None


# -- shifts and rates ---------------------------------------------------------------------------------------------


def _resolved_bands(
    name: str, along: Along, features: tuple[Feature, Feature], leading: Relation, tolerance: Fraction
) -> tuple[tuple[Step, Band], ...]:
    """Bands of x' - x by steps, mirrored, with the room around them; of the feature and the one that it goes along with."""
    feature, leader = features
    if isinstance(feature, Categorical):
        raise SpecError(
            f"along: {name!r} is categorical, its levels cannot be shifted",
            hint=f'give a table: Along({along.feature!r}, table={{("male", "female"): {{"engineer": "teacher"}}}}); or make it Ordinal, and shift by steps',
        )
    if feature.missing:
        raise SpecError(f"along: {name!r} may be missing, which cannot be shifted", hint="impute a number")
    by_step = (
        _bands_by_levels(along, leader)
        if along.rate is None
        else _bands_by_rate(name, along, exact_amount(along.rate), leader, leading)
    )
    bands = [(step, _whole_band(name, feature, band, tolerance)) for step, band in sorted(by_step.items())]
    for _, (low, high) in bands:
        if low > span(feature) or high < -span(feature):
            raise SpecError(
                f"along: a shift of {name!r} by {amount_text_exact(low)} leads out of its range from anywhere",
                hint=f"{name!r} is at most {amount_text_exact(span(feature))} wide in this space",
            )
    return tuple(bands)


def _bands_by_levels(along: Along, leader: Feature) -> dict[Step, Band]:
    found: dict[Step, Band] = {}
    for first, second, low, high in along.shift:
        step = _positions(leader, along.feature, (first, second), along)
        band = exact_amount(low), exact_amount(high)
        if found.get(step, band) != band:  # None and NaN are one level
            raise SpecError(
                f"along: two shifts of {along.feature!r} contradict each other",
                hint="a shift is given once; the other way round it is the opposite",
            )
        found[step] = band
        found[step[::-1]] = -found[step][1], -found[step][0]
    return found


def _bands_by_rate(
    name: str, along: Along, rate: Fraction, leader: Feature, leading: Relation
) -> dict[Step, Band]:
    if not isinstance(leader, Integer | Ordinal) or leading.kind != "within" or leader.missing:
        raise SpecError(
            f"along: {name!r} has a rate of {along.feature!r}, which must be an Integer or Ordinal within a tolerance, and never missing",
            hint=f"within={{{along.feature!r}: 2}}; of levels give a shift, of other numbers a Mahalanobis metric says it nearly",
        )
    reach = int(min(leading.tolerance or Fraction(0), span(leader)))
    return {(d,): (rate * d, rate * d) for d in range(-reach, reach + 1) if d}


def _whole_band(name: str, feature: Feature, band: Band, tolerance: Fraction) -> Band:
    """A band with its tolerance; of whole numbers only the whole ones in it are meant."""
    low, high = band[0] - tolerance, band[1] + tolerance
    if isinstance(feature, Continuous):
        return low, high
    whole = Fraction(math.ceil(low)), Fraction(math.floor(high))
    if whole[0] > whole[1]:
        raise SpecError(
            f"along: {name!r} is {feature.kind} and cannot change by {amount_text_exact(low)}",
            hint=f"give whole numbers, or room around them: within={{{name!r}: 1}}",
        )
    return whole


def amount_text_exact(amount: Fraction) -> str:
    """An exact number for people."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):g}"


# -- conditions ---------------------------------------------------------------------------------------------------


def _resolved_where(name: str, along: Along, space: Space) -> Where:
    """The conditions by feature, those left out that always hold."""
    found: dict[int, tuple[Span, ...]] = {}
    for condition in along.where:
        if condition.feature not in space:
            raise SpecError(
                f"along: {name!r} has a condition on {condition.feature!r}, which is no feature of the space{suggest_name(condition.feature, space.names)}",
                hint=f"the features are {', '.join(space.names[:12])}{', ...' if len(space) > 12 else ''}",
            )
        feature = space[condition.feature]
        spans = condition_spans(condition, feature)
        if spans != (tuple(map(int, feature.code_range)),):
            found[space.names.index(condition.feature)] = spans
    return tuple(sorted(found.items()))


def condition_spans(condition: Condition, feature: Feature) -> tuple[Span, ...]:
    """The codes that a condition leaves, in intervals that are as long as can be."""
    name = condition.feature
    if isinstance(feature, Continuous):
        raise SpecError(
            f"along: a condition on {name!r}, which is continuous",
            hint=f"conditions are about levels and whole numbers: space.replace({{{name!r}: Integer(lo, hi)}})",
        )
    if isinstance(feature, Integer) and feature.missing:
        raise SpecError(f"along: a condition on {name!r}, which may be missing", hint="impute a number")
    if condition.values is None:
        return (_range_span(condition, feature),)
    codes = sorted({_code_of(name, feature, value) for value in condition.values})
    spans: list[Span] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1] = spans[-1][0], code
        else:
            spans.append((code, code))
    return tuple(spans)


def _code_of(name: str, feature: Categorical | Ordinal | Integer, value: Level) -> int:
    if not isinstance(feature, Integer):
        try:
            return feature.position(value)
        except DataError as error:
            raise SpecError(f"along: a condition on {name!r}: {error.message}", hint=error.hint) from None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if is_number and value == math.floor(value) and feature.lo <= value <= feature.hi:  # type: ignore[arg-type]
        return int(value)
    raise SpecError(
        f"along: a condition on {name!r}: {short_repr(value)} is none of its values",
        hint=f"whole numbers from {feature.lo} to {feature.hi}",
    )


def _range_span(condition: Condition, feature: Categorical | Ordinal | Integer) -> Span:
    name = condition.feature
    if isinstance(feature, Categorical):
        raise SpecError(
            f"along: a condition on {name!r}, which is categorical: its levels have no order, from and to mean nothing",
            hint=f'list them: where={{{name!r}: ["..."]}}',
        )
    if isinstance(feature, Ordinal):
        lo, hi = 0, feature.size - 1 - feature.missing  # the last one is missing
        lo = lo if condition.start is None else _code_of(name, feature, condition.start)
        hi = hi if condition.end is None else _code_of(name, feature, condition.end)
    else:
        ends = condition.start, condition.end
        if any(end is not None and (isinstance(end, str | bool) or not math.isfinite(end)) for end in ends):
            raise SpecError(
                f"along: a condition on {name!r}: from and to are numbers", hint='{"from": 18, "to": 30}'
            )
        lo = feature.lo if condition.start is None else max(feature.lo, math.ceil(condition.start))  # type: ignore[arg-type]
        hi = feature.hi if condition.end is None else min(feature.hi, math.floor(condition.end))  # type: ignore[arg-type]
    if lo > hi:
        raise SpecError(
            f"along: the condition that {condition.words} never holds",
            hint="look at the features of the space",
        )
    return int(lo), int(hi)


# -- a pair ------------------------------------------------------------------------------------------------------


def shift_between(
    cases: Alongs, space: Space, first: Mapping[str, Fraction], second: Mapping[str, Fraction]
) -> Band:
    """By how much a feature changes, at least and at most, between two individuals, by the first of the equations whose conditions hold; without room around it."""
    for one in cases:
        if not all(_holds(condition, space, first) for condition in one.where):
            continue
        grown = second[one.feature] - first[one.feature]
        if one.rate is not None:
            return exact_amount(one.rate) * grown, exact_amount(one.rate) * grown
        step = int(first[one.feature]), int(second[one.feature])
        return _bands_by_levels(one, space[one.feature]).get(step, (Fraction(0), Fraction(0)))
    return Fraction(0), Fraction(0)


def _holds(condition: Condition, space: Space, codes: Mapping[str, Fraction]) -> bool:
    spans = condition_spans(condition, space[condition.feature])
    return any(lo <= codes[condition.feature] <= hi for lo, hi in spans)


def largest_shift(cases: Alongs, leader: Feature) -> Fraction:
    """The most that a feature changes by, in size, wherever the other one goes."""
    return max(
        abs(exact_amount(one.rate)) * span(leader)
        if one.rate is not None
        else max((high for _, high in _bands_by_levels(one, leader).values()), default=Fraction(0))
        for one in cases
    )
