"""Neighbours: for many individuals, all settings of what may differ that similar ones have.

Rows that have the same values of what is `within` a tolerance or in `pairs` have the same settings around them, and are taken together: whoever scores them
computes what rows share once. The scores of trees are constant between the thresholds of a continuous feature, so that one code between each two of those in a window
stands for all: the window's lowest double, and the double after each threshold. (Not where a constraint speaks of the feature.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.search.extremes import similar_windows
from likewise.search.pace import Pace
from likewise.search.validity import Validity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.judge import Judge
    from likewise.search.budget import Budget
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

MOST_SETTINGS = 20_000  # of what may differ, around one row
FIRST_PIECE_SECONDS = 0.002  # of scoring, by the judge's own word, before anything is known of its pace
WINDOW_SLACK = 1e-9
MOST_KEYS = 2**62  # whole numbers that rows become


def distinct_rows(rows: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each different row first occurs, and which of those every row is the same as. Rows become whole numbers first, which are sorted many times as fast as rows."""
    keys, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        values, place = np.unique(column, return_inverse=True)
        if size * len(values) > MOST_KEYS:
            known, keys = np.unique(keys, return_inverse=True)
            size = len(known)
        keys, size = keys * len(values) + place, size * len(values)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back


def count_settings(pairs: PairSpace, judge: Judge, moving: Sequence[int]) -> float:
    """At most how many settings of what may differ a row has around it."""
    return prod((_most_partner_codes(pairs, judge, k) for k in moving), start=1.0)


def _most_partner_codes(pairs: PairSpace, judge: Judge, k: int) -> float:
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    if not variable.discrete:
        cuts = cuts_of(pairs, judge, k)
        if cuts is None:
            return float("inf")
        if relation.tolerance is None:
            return len(cuts) + 2
        low, high = relation.apart
        beyond = np.searchsorted(cuts, cuts + float(high - low) * (1 + WINDOW_SLACK), side="right")
        return int((beyond - np.arange(len(cuts))).max(initial=0)) + 3
    size = int(variable.hi - variable.lo) + 1
    if relation.fixed is not None:
        return 2  # the other level, and its own
    if relation.tolerance is not None:
        low, high = relation.apart
        own = not low <= 0 <= high  # which is listed besides
        return min(size, math.floor(high) - math.ceil(low) + 1 + own)
    return size


def partner_codes(pairs: PairSpace, k: int, code: float) -> list[float]:
    """The codes of a discrete feature that may stand beside this one, in increasing order."""
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    lo, hi = int(variable.lo), int(variable.hi)
    if relation.fixed is not None:
        return [float(relation.fixed[1])] if code == relation.fixed[0] else []
    if relation.kind == "pairs":
        return [float(at) for at in relation.partners(int(code), hi + 1)]
    if relation.missing is not None:
        if code == relation.missing:
            return [code]
        hi = int(variable.last)
    if relation.tolerance is not None:
        low, high = relation.apart
        lo, hi = max(lo, int(code) + math.ceil(low)), min(hi, int(code) + math.floor(high))
    return [float(at) for at in range(lo, hi + 1)]


def cuts_of(pairs: PairSpace, judge: Judge, k: int) -> Floats | None:
    """Thresholds between which all scores, and who is valid, are the same along a continuous feature; None where there are no such."""
    if any(not constraint.terms[k].constant for constraint in pairs.constraints):
        return None
    return judge.cuts(k) if judge.depends(k) else np.empty(0)


def representatives(pairs: PairSpace, k: int, code: float, cuts: Floats) -> list[float]:
    """One code for every part, between two cuts, of what may stand beside this one, in increasing order; none where no double may."""
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    if relation.missing is not None and code == relation.missing:
        return [code]
    low, high = _window(pairs, k, code)
    if low > high:
        return []
    inside = cuts[(cuts >= low) & (cuts < high)]
    found = [low, *np.nextafter(inside, np.inf).tolist()]
    if pairs.allowance is not None and code != variable.missing:
        # The nearest code of each part: the last one of those below, its own, and the first one of those above.
        found = [
            *inside[inside < code].tolist(),
            code,
            *np.nextafter(inside[inside >= code], np.inf).tolist(),
        ]
    if variable.missing is not None and relation.missing is None:
        found.append(float(variable.missing))
    return found


def _window(pairs: PairSpace, k: int, code: float) -> tuple[float, float]:
    """The smallest and the largest double that may stand beside this one, missing left aside. Exact."""
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    if relation.tolerance is None:
        return float(variable.lo), float(variable.last)
    low, high = (float(end[0]) for end in similar_windows(pairs, k, np.array([code])))
    while (lower := math.nextafter(low, -math.inf)) >= variable.lo and relation.allows(code, lower):
        low = lower
    while (higher := math.nextafter(high, math.inf)) <= variable.last and relation.allows(code, higher):
        high = higher
    return low, high


def moving_features(pairs: PairSpace, judge: Judge) -> tuple[int, ...]:
    """The features that may differ and matter to a score or to a constraint, and with them those that must differ; none where none matters."""
    differing = [k for k, relation in enumerate(pairs.relations) if relation.kind != "same"]
    constrained = {k for c in pairs.constraints for k, t in enumerate(c.terms) if not t.constant}
    matter = {k for k in differing if judge.depends(k) or k in constrained}
    return tuple(k for k in differing if k in matter or pairs.relations[k].apart_always) if matter else ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbours:
    """Rows that have the same settings of what may differ around them.

    `distinct` rows differ in what is shared; row i shares it with the `back[i]`-th of them, and its own setting is the `own[i]`-th. `counterparts` (rows,
    settings) are valid and differ in something that a score depends on: others are treated alike.
    """

    some: NDArray[np.intp]  # places of the rows among all
    rows: Floats
    moving: tuple[int, ...]
    settings: Floats
    distinct: NDArray[np.intp]
    back: NDArray[np.intp]
    own: NDArray[np.intp]
    counterparts: Flags

    def with_settings(self, chosen: NDArray[np.intp]) -> Floats:
        """Each row with one of the settings."""
        codes = self.rows.copy()
        codes[:, list(self.moving)] = self.settings[chosen]
        return codes


def neighbourhoods(
    pairs: PairSpace,
    judge: Judge,
    moving: tuple[int, ...],
    rows: Floats,
    most: Callable[[], int],
) -> Iterator[Neighbours]:
    """All rows with the settings around them, those that come first in the data first; `most` is asked before each piece how many individuals it may have."""
    cuts = {k: cuts_of(pairs, judge, k) for k in moving if not pairs.variables[pairs.first[k]].discrete}
    costs = (None,) * len(pairs.relations) if pairs.distance is None else pairs.distance.costs
    relations, counted = pairs.relations, () if pairs.allowance is None else pairs.allowance.features
    centred = [
        k
        for k in moving
        if relations[k].kind != "free"
        or relations[k].fixed is not None
        or costs[k] is not None
        or k in counted
    ]
    around, group = np.unique(rows[:, centred], axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    borders = np.searchsorted(group.ravel()[order], np.arange(len(around) + 1))
    for g in np.argsort(order[borders[:-1]]).tolist():
        some = order[borders[g] : borders[g + 1]]
        choices: list[list[float]] = []
        absent: list[int] = []
        for k in moving:
            code, parts = float(rows[some[0], k]), cuts.get(k)
            near = partner_codes(pairs, k, code) if parts is None else representatives(pairs, k, code, parts)
            if relations[k].apart_always:  # nobody beside this row has what it has itself
                near, absent = sorted([*near, code]), [*absent, len(choices)]
            choices.append(near)
        settings = np.array(list(product(*choices)))
        own_codes = rows[some[0], list(moving)]
        similar = np.logical_and.reduce([settings[:, j] != own_codes[j] for j in absent], axis=0)
        similar = similar & _near_enough(pairs, moving, own_codes, settings)
        start = 0
        while start < len(some):
            end = start + max(1, most() // len(settings))
            yield _neighbours(pairs, judge, moving, some[start:end], rows, settings, similar)
            start = end


def lists_distances(pairs: PairSpace, moving: Sequence[int]) -> bool:
    """Whether it is known of listed settings who is within the distance, if there is one: it is a sum of costs of codes that are listed one by one."""
    if pairs.distance is None:
        return True
    listed = (pairs.variables[pairs.first[k]].discrete for k in moving if pairs.distance.costs[k] is not None)
    return not pairs.distance.forms and all(listed)


def _near_enough(pairs: PairSpace, moving: Sequence[int], own: Floats, settings: Floats) -> Flags:
    """Which settings are within the distance of a row's own, in whole numbers."""
    near = np.ones(len(settings), dtype=bool)
    distance = pairs.distance
    if distance is None:
        return near
    tables: list[tuple[int, Floats, list[Fraction]]] = []
    for j, k in enumerate(moving):
        cost, code = distance.costs[k], Fraction(float(own[j]))
        if cost is not None:
            codes = np.unique(settings[:, j])
            tables.append((j, codes, [cost.at(code, Fraction(c)) ** distance.power for c in codes.tolist()]))
    scale = lcm(distance.bound.denominator, *(c.denominator for _, _, costs in tables for c in costs))
    bound = int(distance.bound * scale)
    spent: NDArray[Any] = np.zeros(len(settings), dtype=np.int64)
    for j, codes, costs in tables:
        whole = [min(int(c * scale), bound + 1) for c in costs]
        fits = (bound + 1) * len(tables) < MOST_KEYS
        spent = (
            spent
            + np.array(whole, dtype=np.int64 if fits else object)[np.searchsorted(codes, settings[:, j])]
        )
    near &= (spent <= bound).astype(bool)
    return near


def paced_neighbourhoods(
    pairs: PairSpace,
    judge: Judge,
    moving: tuple[int, ...],
    rows: Floats,
    budget: Budget,
    most: int,
) -> Iterator[Neighbours]:
    """The same in pieces as large as the budget allows, and no longer than it lasts: what is done with a piece counts as a part of it."""
    pace = Pace(budget, first=int(judge.pace * FIRST_PIECE_SECONDS), most=most)
    if not pace.fits(1):
        return
    for near in neighbourhoods(pairs, judge, moving, rows, lambda: pace.size):
        yield near
        pace.done(near.counterparts.size)
        if not pace.fits(near.counterparts.shape[1]):
            return


def _neighbours(
    pairs: PairSpace,
    judge: Judge,
    moving: tuple[int, ...],
    some: NDArray[np.intp],
    rows: Floats,
    settings: Floats,
    similar: Flags,
) -> Neighbours:
    part = rows[some]
    shared = [k for k in range(rows.shape[1]) if k not in moving]
    distinct, back = distinct_rows(part[:, shared])
    own = _own_places(part[:, list(moving)], settings)
    matters = [i for i, k in enumerate(moving) if judge.depends(k)]
    _, kind = np.unique(settings[:, matters], axis=0, return_inverse=True)
    kind = kind.ravel()
    allowed = Validity(pairs, moving).allowed(part[distinct], settings)[back]
    return Neighbours(
        some=some,
        rows=part,
        moving=moving,
        settings=settings,
        distinct=distinct,
        back=back,
        own=own,
        counterparts=allowed & similar & (kind != kind[own][:, None]),
    )


def _own_places(own: Floats, settings: Floats) -> NDArray[np.intp]:
    """Where each row's own setting, or the one that stands for it, is among all: settings are a product in increasing order."""
    place = np.zeros(len(own), dtype=np.intp)
    for j in range(own.shape[1]):
        values = np.unique(settings[:, j])
        place = place * len(values) + np.searchsorted(values, own[:, j], side="right") - 1
    return place
