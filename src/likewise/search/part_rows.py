"""Rows in parts: where features change along with others, who is similar to a row is who is so in one of the parts of the pairs (`spec.along`), and rows are judged in each of them.

In a part every feature has an ordinary relation, in which the row is the x; pairs in which it is the x' are those of the part the other way round, which is one of them as well. Nobody is beside a row in a part that
begins at another level, or whose shift leads out of a range from there, or whose conditions do not hold of it.

A shift of a number may lead to one that is no double (2.1 + 3 is none): there is such an individual in the real numbers, but none that a program can be asked about. Such a row is put beside everybody nearly there,
who are more. That nobody of them is treated differently is a proof; where somebody is, the row is left undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.search.budget import BudgetUntil
from likewise.search.certainty import ScoreEstimate
from likewise.search.extremes import similar_windows
from likewise.search.judgement import BIASED, FAIR, NOT_REPRESENTABLE, UNDECIDED, Judgement
from likewise.spec.relations import Relation, limits_relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget
    from likewise.search.inquiry import Inquiry
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

NEARLY = Fraction(1, 2**46)  # of the numbers of a feature: some of their roundings


def judge_in_parts(
    inquiry: Inquiry,
    rows: Floats,
    budget: Budget,
    judge: Callable[[Inquiry, Floats, Budget], Judgement | None],
) -> Judgement | None:
    """What is known of rows in all parts together, by what judges some of them in one part; None where that cannot. Each part has an even share of what is left of the budget."""
    found = Judgement.open(len(rows), rows.shape[1])
    found.verdict[:], found.gap[:], found.gap_error[:] = FAIR, 0.0, 0.0
    asked = []
    for part in inquiry.parts():
        some = np.flatnonzero(rows_beside(part.pairs, rows)[0]) if part.moving else np.empty(0, dtype=np.intp)
        if len(some):
            asked.append((part, some))
    for done, (part, some) in enumerate(asked):
        until = BudgetUntil(budget, budget.elapsed + budget.left / (len(asked) - done))
        judged = judge(part, rows[some], until)
        if judged is None:
            return None
        found.put(some, found.repeated(some).united(judged))
    found.reasons = {i: reason for i, reason in found.reasons.items() if found.verdict[i] == UNDECIDED}
    return found


def judge_nearly(
    inquiry: Inquiry, rows: Floats, judge: Callable[[Inquiry, Floats], Judgement | None]
) -> Judgement | None:
    """What is known of rows in one part by what judges rows beside those whom doubles can name: of the others by everybody nearly there."""
    _, named = rows_beside(inquiry.pairs, rows)
    found = Judgement.open(len(rows), rows.shape[1])
    if named.any():
        exact = judge(inquiry, rows[named])
        if exact is None:
            return None
        found.put(np.flatnonzero(named), exact)
    if named.all():
        return found
    wider = replace(inquiry, pairs=widened(inquiry.pairs))
    others = np.flatnonzero(~named)
    nearly = judge(wider, rows[others])
    if nearly is None:
        return None
    broken = (nearly.verdict == BIASED) | ~rows_beside(wider.pairs, rows[others])[1]
    nearly.verdict[broken] = UNDECIDED
    nearly.reasons |= dict.fromkeys(np.flatnonzero(broken).tolist(), NOT_REPRESENTABLE)
    nearly.counterpart[:], nearly.gap_error[:] = np.nan, np.inf
    nearly.other.take(slice(None), ScoreEstimate.unknown(len(others)))
    found.put(others, nearly)
    return found


def rows_beside(pairs: PairSpace, rows: Floats) -> tuple[Flags, Flags]:
    """Beside which rows there is somebody in a part, constraints left aside, and beside which of them somebody whom doubles can name."""
    there, named = np.ones(len(rows), dtype=bool), np.ones(len(rows), dtype=bool)
    for k, relation in enumerate(pairs.relations):
        if relation.inside is not None:
            there &= (rows[:, k] >= relation.inside[0]) & (rows[:, k] <= relation.inside[1])
        if not relation.apart_always:
            continue
        codes = rows[:, k]
        low, high = similar_windows(pairs, k, codes)
        inside = low <= high
        named &= inside
        if relation.limits is not None and not inside.all():
            different, back = np.unique(codes[~inside], return_inverse=True)
            real = [not is_alone(pairs, k, Fraction(code)) for code in different.tolist()]
            inside[~inside] = np.array(real, dtype=bool)[back.ravel()]
        there &= inside
    return there, there & named


def is_alone(pairs: PairSpace, k: int, code: Fraction) -> bool:
    """Whether no number may stand beside that of a feature that never is the same. Exact."""
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    if relation.fixed is not None:
        return code != relation.fixed[0]
    low, high = relation.apart
    return code + low > Fraction(variable.hi) or code + high < Fraction(variable.lo)


def widened(pairs: PairSpace) -> PairSpace:
    """More pairs: of numbers that are not whole, limits are a few roundings further apart."""

    def wider(k: int, relation: Relation) -> Relation:
        variable = pairs.variables[pairs.first[k]]
        if relation.limits is None or variable.discrete:
            return relation
        low, high = relation.limits
        room = NEARLY * max(abs(Fraction(variable.lo)), abs(Fraction(variable.hi)), abs(low), abs(high))
        return limits_relation(low - room, high + room)

    return replace(pairs, relations=tuple(wider(k, relation) for k, relation in enumerate(pairs.relations)))
