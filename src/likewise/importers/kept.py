"""Kept similarity: whoever is similar in the user's space is similar in the model's, or nothing may be proved there.

A proof is about codes (`recoding`), and whatever a recoding loses on the way, a pair or an individual, no checker can miss. So the way is
tried before anything is searched. Similarity is a product of one relation a feature: for every feature that is declared anew, values u and v that may stand
beside each other must have codes of the new range that may. All values of a feature are tried up to `ALL_VALUES` of them, beyond that the
first, the last and some in between; of a continuous number its ends, what is missing, and neighbours at the tolerance. Constraints join
features: individuals that satisfy the user's must satisfy the model's.

Only this direction is needed. A pair too many in the model's space cannot make a claim look true, and no witness is shown that the user's own space and
the model's own program do not confirm.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.importers.recoding import Part, Recoding
from likewise.importers.selfcheck import sample_codes
from likewise.spec.features import Continuous, Feature
from likewise.spec.pairs import PairSpace, pairs_of
from likewise.spec.similarity import Relation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALL_VALUES = 48
AT_AN_END = 12  # values tried at each end of a longer range


def similar_codes(recoding: Recoding, relations: tuple[Relation, ...]) -> PairSpace:
    """The pairs of the model's space; raises InternalError where one of the user's is not among them."""
    pairs = pairs_of(recoding.space, recoding.relations(relations))
    for k, (given, kept) in enumerate(zip(relations, pairs.relations, strict=True)):
        _check_feature(recoding, k, given, kept)
    if recoding.parts and recoding.given.constraints:
        _check_individuals(recoding, pairs)
    return pairs


def _check_feature(recoding: Recoding, k: int, given: Relation, kept: Relation) -> None:
    name = recoding.given.names[k]
    feature, part = recoding.given[name], recoding.parts.get(k)
    new = recoding.space[recoding.space.names[k]]
    if part is None and given == kept and feature.code_range == new.code_range:
        return
    values = _values(feature, given)
    codes = (part or Part()).coded(np.array(values)).tolist()
    for value, code in zip(values, codes, strict=True):
        if not _within(new, code):
            raise _lost(name, f"the value with the code {value!r} has the code {code!r} there, outside of it")
    for u, code in zip(values, codes, strict=True):
        for v, other in zip(values, codes, strict=True):
            if given.allows(Fraction(u), Fraction(v)) and not kept.allows(Fraction(code), Fraction(other)):
                raise _lost(name, f"the values with the codes {u!r} and {v!r} are similar, but not there")


def _check_individuals(recoding: Recoding, pairs: PairSpace) -> None:
    """That nobody who satisfies the constraints is lost."""
    everybody = pairs_of(recoding.given, (Relation("same"),) * len(recoding.given))
    rows = sample_codes(recoding.given, np.empty((0, len(recoding.given))))
    for row, code in zip(rows.tolist(), recoding.coded(rows).tolist(), strict=True):
        x, codes = [Fraction(c) for c in row], [Fraction(c) for c in code]
        if everybody.valid(x, x) and not pairs.valid(codes, codes):
            raise _lost("an individual", f"the one with the codes {row!r} is not there")


def _values(feature: Feature, relation: Relation) -> list[float]:
    """Codes of the user's feature to try."""
    lo, hi = feature.code_range
    if isinstance(feature, Continuous):
        return sorted(set(_numbers(feature, float(relation.tolerance or 0))))
    if hi - lo < ALL_VALUES:
        return [float(value) for value in range(int(lo), int(hi) + 1)]
    first, last = int(lo), int(hi)
    between = np.linspace(first, last, ALL_VALUES - 2 * AT_AN_END).round().tolist()
    ends = [*range(first, first + AT_AN_END), *range(last - AT_AN_END + 1, last + 1)]
    reached = [value + int(relation.tolerance or 0) for value in (first, first + 1)]
    return sorted({float(v) for v in (*ends, *between, *reached) if first <= v <= last})


def _numbers(feature: Continuous, tolerance: float) -> Iterable[float]:
    """Ends, the middle, what the tolerance reaches from there and the doubles beside it, and what is missing."""
    for start in (feature.lo, feature.lo / 2 + feature.hi / 2, feature.hi):
        for reached in (start - tolerance, start, start + tolerance):
            for value in (math.nextafter(reached, -math.inf), reached, math.nextafter(reached, math.inf)):
                if feature.lo <= value <= feature.hi:
                    yield value
    if feature.missing_code is not None:
        yield feature.missing_code


def _within(feature: Feature, code: float) -> bool:
    lo, hi = feature.code_range
    return lo <= code <= hi and (isinstance(feature, Continuous) or code == int(code))


def _lost(name: str, what: str) -> InternalError:
    return InternalError(
        f"the space that the model would be proved over has lost {name}: {what}",
        hint="please report this; nothing was proved",
    )
