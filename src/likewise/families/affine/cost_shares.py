"""Shares of costs: a line of a sum of one-feature terms, less L/2 times shares of what features cost, exactly (specification, section 21).

What a feature moves the score by, over what that costs, is its own rate r_k. With shares y_k = r_k / L no feature gains anything by itself, and the shares are in the dual unit ball exactly where L
is at least the dual norm of all rates: the least constant, of numbers without constraints.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.cells.leaf import Leaf
from likewise.cells.separable import exact_bound
from likewise.model.witness_set import EVEN_LEAN, GapSet
from likewise.spec.distance import Cost, Distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.allowance import Allowance
    from likewise.spec.pairs import PairSpace
    from likewise.spec.terms import Separable, Term

    Floats = NDArray[np.float64]


def line_less_costs(
    score: Separable, pairs: PairSpace, lo: Floats, hi: Floats, slack: Fraction
) -> Leaf | None:
    """The leaf that closes a cell so, if it does."""
    allowance = pairs.allowance
    if allowance is None or allowance.forms or not allowance.constant:
        return None
    shares = _shares(score, pairs, allowance)
    if shares is None:
        return None
    costs = tuple(
        None if cost is None else _scaled(cost, allowance.constant / 2 * shares[k])
        for k, cost in enumerate(allowance.costs)
    )
    less = Distance(power=1, costs=costs, bound=Fraction(0))
    multipliers = (*[Fraction(0)] * (2 * len(pairs.constraints)), Fraction(1))
    line = GapSet(delta=slack).direction(EVEN_LEAN)
    held = exact_bound(score, replace(pairs, distance=less, allowance=None), line, multipliers, None)
    found = held.bound(lo.tolist(), hi.tolist())
    if found is not None and line.clearance(found) is None:
        return None
    own = tuple(shares[k] for k, cost in enumerate(allowance.costs) if cost is not None)
    return Leaf(rule="separable", lean=EVEN_LEAN, shares=own)


def _shares(score: Separable, pairs: PairSpace, allowance: Allowance) -> dict[int, Fraction] | None:
    """The share of each feature that costs something, in the dual unit ball; None where these are not enough."""
    rates: dict[int, Fraction] = {}
    for k, cost in enumerate(allowance.costs):
        if cost is None:
            continue
        rate = Fraction(0) if pairs.relations[k].kind == "same" else _rate(pairs, k, score.terms[k], cost)
        if rate is None:
            return None
        rates[k] = rate / allowance.constant
    if allowance.norm == 1:
        return {k: min(rate, Fraction(1)) for k, rate in rates.items()}
    total = sum(rates.values()) if allowance.norm == "max" else sum(rate * rate for rate in rates.values())
    return rates if total <= 1 else None


def _rate(pairs: PairSpace, k: int, term: Term, cost: Cost) -> Fraction | None:
    """How fast the score changes with a feature, over what that costs; None where there is no such number."""
    if term.pieces is not None:
        return None
    if term.table is None:
        return None if not cost.each else abs(term.slope) / cost.each
    relation, places = pairs.relations[k], range(len(term.table))
    found = Fraction(0)
    for i in places:
        for j in places:
            rise = term.table[i] - term.table[j]
            if rise <= 0 or not relation.allows(i, j):
                continue
            price = cost.at(Fraction(i), Fraction(j))
            if not price:
                return None
            found = max(found, rise / price)
    return found


def _scaled(cost: Cost, factor: Fraction) -> Cost:
    if cost.each is not None:
        return Cost(each=cost.each * factor)
    if cost.unequal is not None:
        return Cost(unequal=cost.unequal * factor)
    return Cost(table=tuple(tuple(factor * entry for entry in row) for row in cost.table or ()))
