"""Claims about nobody (section 6): a pair that the end of a proof or the claim itself shows, and narrowing,
which finds contradictions.

A relation *moves* if no individual is similar to itself by it. Where none does, one valid individual is a pair; else two are needed.

Narrowing keeps codes of every feature, at first all. Of a constraint sum_k t_k(x_k) <= bound with least values v_k over what is kept, r = bound - sum_k v_k is the room that each
term has above its least value: without room (r < 0) nobody satisfies it, and codes with t_k > v_k + r belong to nobody. Codes are kept as a tuple whose first and last
entry are the least and the largest: both ends of an interval for numbers, all positions for levels.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from likewise_check.core.claim import Claim
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Reader, Rejected, array_of
from likewise_check.core.numbers import double_down, double_up, number
from likewise_check.core.space import Constraint, Feature, Relation, Space, Term, are_near, joint_limit

MOST_PASSES = 16
MOST_ENTRIES = 1 << 18  # of terms that are looked at in all passes together

Kept: TypeAlias = tuple[Fraction | int, ...]
Codes: TypeAlias = list[Fraction]


def shown_keys(content: object, space: Space) -> dict[str, Reader]:
    """The keys of an end that show somebody, with their readers: none, `somebody`, or `somebody` and `other`."""
    if type(content) is not dict or "somebody" not in content:
        return {}
    codes = array_of(number, len(space.features))
    return {key: codes for key in ("somebody", "other") if key in content}


def check_somebody(claim: Claim, shown: Sequence[Codes]) -> None:
    """Rejects unless the individuals that the end states, none, one or two, or the claim itself show a
    pair."""
    for codes, name in zip(shown, ("somebody", "other"), strict=False):
        if not claim.space.holds(codes):
            raise Rejected(f"{name} is not a valid individual")
    space, similarity = claim.space, claim.similarity
    if len(shown) == 2:
        x, other = shown
        if not all(map(Relation.allows, similarity, x, other)) or not are_near(similarity, x, other):
            raise Rejected("somebody and other are not similar")
        return
    moving = [k for k, relation in enumerate(similarity) if relation.moves]
    if shown and not moving:
        return
    kept = find_codes(space, similarity)
    free = joint_limit(similarity) is None and all(space.features[k].discrete for k in moving)
    if not (free if moving and not space.constraints else not moving and _greatest_satisfies(space, kept)):
        who = "pair is shown that" if moving else "individual is shown who"
        raise Rejected(f"no {who} satisfies the constraints: the claim may be vacuous")


def find_codes(space: Space, similarity: Sequence[Relation]) -> list[Kept]:
    """The codes that narrowing keeps; rejects where it finds that there is nobody, or no pair."""
    kept = [_all_codes(feature) for feature in space.features]
    for _ in range(min(MOST_PASSES, MOST_ENTRIES // max(1, _entries(space)))):
        before = list(kept)
        if not _pass(space, kept):
            raise Rejected("no individual satisfies the constraints: a claim about nobody")
        if kept == before:
            break
    for codes, relation in zip(kept, similarity, strict=True):
        span = codes[-1] - codes[0]
        if relation.limits is not None and (span < relation.limits[0] or -span > relation.limits[1]):
            raise Rejected("no two individuals are so far apart as the relations ask: a claim about nobody")
    return kept


def _greatest_satisfies(space: Space, kept: list[Kept]) -> bool:
    """Whether the greatest code of one feature after the other, with a pass after each, makes a valid
    individual."""
    named = sorted({term.feature for constraint in space.constraints for term in constraint.terms})
    if len(named) * _entries(space) > MOST_ENTRIES:
        return False
    for k in named:
        kept[k] = (kept[k][-1],) * 2
        if not _pass(space, kept):
            return False
    return space.holds([Fraction(codes[-1]) for codes in kept])


def _entries(space: Space) -> int:
    """How many terms and codes of levels a pass looks at."""
    terms = (term for constraint in space.constraints for term in constraint.terms)
    return sum(max(1, space.features[term.feature].levels) for term in terms)


def _pass(space: Space, kept: list[Kept]) -> bool:
    for constraint in space.constraints:
        look_at_clock()
        if not _narrow(constraint, kept, space.features):
            return False
    return True


def _all_codes(feature: Feature) -> Kept:
    if feature.levels:
        return tuple(range(feature.levels))
    return (feature.lo, feature.hi) if feature.discrete else (double_up(feature.lo), double_down(feature.hi))


def _narrow(constraint: Constraint, kept: list[Kept], features: Sequence[Feature]) -> bool:
    """Drops what nobody has who satisfies the constraint; False if there is nobody."""
    least = [min(_values(term, kept[term.feature])) for term in constraint.terms]
    room = constraint.bound - sum(least)
    if room < 0:
        return False
    for term, value in zip(constraint.terms, least, strict=True):
        kept[term.feature] = _cut(term, kept[term.feature], value + room, features[term.feature])
    return True


def _values(term: Term, codes: Kept) -> list[Fraction]:
    """The term at the codes; of an interval at its ends."""
    return [term.at(Fraction(code)) for code in codes]


def _cut(term: Term, codes: Kept, most: Fraction, feature: Feature) -> Kept:
    """The codes at which the term is not above `most`; there is always one, where it is least."""
    if feature.levels:
        values = zip(codes, _values(term, codes), strict=True)
        return tuple(code for code, value in values if value <= most)
    if term.weight == 0:
        return codes
    lo, hi = codes
    end = most / term.weight
    if term.weight > 0:
        return lo, hi if hi <= end else Fraction(end // 1) if feature.discrete else double_down(end)
    return lo if lo >= end else Fraction(-(-end // 1)) if feature.discrete else double_up(end), hi
