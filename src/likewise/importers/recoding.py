"""Recoding: the space that a model is proved over, where it is not the user's own, and the way from one to the other.

Bodies of certificates other than trees know numbers and levels, but neither missing numbers nor logarithms. So a feature
may be declared anew; everything behind the importers works on the codes of the new one:

levels      An integer with a table is the `Ordinal` of its values (codes count from 0), missing ones last. `within` t
            becomes t steps, and pairs of positions where a value may be missing: that is similar to itself only.
treated as  A number that may be missing, where every column treats that as the number c of its range, is one that may not
            be. Nothing is lost. Let m be the map that puts c in the place of missing: the score of x is that of m(x), and the pairs of the new space
            are exactly the m(x), m(x') of similar x and x'. `same`: both are missing or neither. `within` t: both missing, which becomes c and c, or
            neither. `free`: missing beside v becomes c beside v, which was similar already.
highest     A continuous number that may be missing and is treated otherwise then (an indicator, a fill outside of its range) keeps its
            codes. The code of missing, the next double above hi, is a number like any other from here on, and the columns
            have a piece of their own for it. `same` and `free` mean the same as before; `within` would put hi beside it and is refused.
bent        A continuous number of which every column is a line of one monotone function u = g(x) is the number u (`monotone`).
            A proof over all doubles u between the ends of g covers every x: `same` x have the same u, `free` x any two. `within`
            and constraints speak of x, and are refused.

Whoever is similar in the user's space must be similar in the model's, or nothing may be proved there: whatever is lost on the way, a pair or an individual, no
checker can miss. So `Recoding.pairs` tries the way before anything is searched. Similarity is a product of one relation a feature: for every feature that is declared anew, values u and v that may stand
beside each other must have codes of the new range that may. All values of a feature are tried up to `ALL_VALUES` of them, beyond that the
first, the last and some in between; of a continuous number its ends, what is missing, and neighbours at the tolerance. Constraints join
features: individuals that satisfy the user's must satisfy the model's.

Only this direction is needed. A pair too many in the model's space cannot make a claim look true, and no witness is shown that the user's own space and
the model's own program do not confirm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.importers.self_check import sample_codes
from likewise.spec.features import Continuous, Feature, Ordinal
from likewise.spec.pairs import PairSpace, make_pair_space, make_parts
from likewise.spec.similarity import Relation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from likewise.importers.transformers.monotone import MonotoneMap
    from likewise.spec.allowance import Allowance
    from likewise.spec.along_parts import ResolvedAlong
    from likewise.spec.distance import Distance
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

MOST_PAIRS = 50_000  # of positions, where `within` becomes pairs: a certificate lists them


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRecoding:
    """What is done to the codes of one feature, in this order: missing is a number, a function is taken, codes start at 0."""

    gap: tuple[float, float] | None = None  # the code of missing, and the number that it is treated as
    bend: MonotoneMap | None = None
    shift: float = 0.0

    def coded(self, values: Floats) -> Floats:
        """The model's codes of the user's."""
        if self.gap is not None:
            values = np.where(values == self.gap[0], self.gap[1], values)
        if self.bend is not None:
            values = self.bend.of(values)
        return values - self.shift

    def raw(self, codes: Floats) -> Floats:
        """User's codes that have these codes, or come nearest to them."""
        values = codes + self.shift
        return values if self.bend is None else self.bend.nearest(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoding:
    """From the user's space (`given`) to the model's; `parts` by feature number. `notes` belong to the claim's words."""

    given: Space
    space: Space
    parts: Mapping[int, FeatureRecoding] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def coded(self, rows: Floats) -> Floats:
        """Codes of the user's space as codes of the model's."""
        codes = rows.copy()
        for k, part in self.parts.items():
            codes[:, k] = part.coded(rows[:, k])
        return codes

    def raw(self, codes: Floats) -> Floats:
        """Individuals of the user's space that have these codes, or nearly so."""
        rows = codes.copy()
        for k in self.parts:
            rows[:, k] = self.raw_part(k, codes[:, k])
        return rows

    def settled(self, codes: Floats) -> Floats:
        """Codes nearby that some individual really has."""
        return self.coded(self.raw(codes)) if self.bent else codes

    def raw_part(self, k: int, codes: Floats) -> Floats:
        """`raw` of one feature; NaN stays what it is."""
        part, known = self.parts.get(k), ~np.isnan(codes)
        if part is None:
            return codes
        values, place = np.unique(codes[known], return_inverse=True)
        raw = np.full_like(codes, np.nan)
        raw[known] = part.raw(values)[place.ravel()]
        return raw

    def settled_part(self, k: int, codes: Floats) -> Floats:
        """`settled` of one feature."""
        part = self.parts.get(k)
        return codes if part is None or part.bend is None else part.coded(self.raw_part(k, codes))

    @property
    def bent(self) -> bool:
        """Whether there are codes that nobody has."""
        return any(part.bend is not None for part in self.parts.values())

    def relations(self, relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
        """The same similarity, in codes of the model's space."""
        return tuple(self._relation(k, relation) for k, relation in enumerate(relations))

    def refuse_unmeasured(self, distance: Distance | Allowance | None) -> None:
        """Refuse a distance of codes that the model does not see: those of a function of a number, or of one that may be missing. Codes that only start elsewhere are as far apart as before."""
        for k in () if distance is None else distance.features:
            part, name = self.parts.get(k, FeatureRecoding()), self.given.names[k]
            if part.bend is not None or part.gap is not None:
                raise UnsupportedModel(
                    f"the model sees {name!r} through a function, and how far that moves when {name!r} does is not known",
                    hint=f"leave {name!r} out of the metric, or declare it as Integer(lo, hi), of which tables are made",
                )

    def pairs(
        self,
        relations: tuple[Relation, ...],
        distance: Distance | None = None,
        along: tuple[ResolvedAlong, ...] = (),
    ) -> PairSpace:
        """The pairs of the model's space that are as similar as the user says; raises InternalError where one of the user's is not among them."""
        if along:
            parts = tuple(self.pairs(part) for part in make_parts(relations, along, self.given))
            recoded = tuple(one.recoded(self._condition_shifts(one.shared)) for one in along)
            return replace(self.pairs(relations, distance), along=recoded, branches=parts)
        self.refuse_unmeasured(distance)
        pairs = make_pair_space(self.space, self.relations(relations), distance)
        for k, (given, kept) in enumerate(zip(relations, pairs.relations, strict=True)):
            _check_feature(self, k, given, kept)
        if self.parts and self.given.constraints:
            _check_individuals(self, pairs)
        return pairs

    def _condition_shifts(self, features: Iterable[int]) -> dict[int, int]:
        """By how much codes of features that are the same in both start lower than the user's."""
        for k in features:
            part, name = self.parts.get(k, FeatureRecoding()), self.given.names[k]
            if part.bend is not None or part.gap is not None:
                raise UnsupportedModel(
                    f"the model sees {name!r} through a function, and a condition of what changes along is about it",
                    hint=f"declare {name!r} as Integer(lo, hi), of which tables are made, or as levels",
                )
        return {k: int(self.parts[k].shift) for k in features if k in self.parts}

    def _relation(self, k: int, relation: Relation) -> Relation:
        if relation.inside is not None:
            moved = self._condition_shifts([k]).get(k, 0)
            return replace(relation, inside=(relation.inside[0] - moved, relation.inside[1] - moved))
        if relation.kind != "within":
            return relation
        name, part = self.given.names[k], self.parts.get(k, FeatureRecoding())
        if part.bend is not None:
            raise UnsupportedModel(
                f"the model sees {part.bend.title(name)}, and how far that moves when {name!r} does is not known",
                hint=f"let {name!r} be the same, or free; or declare it as Integer(lo, hi), of which tables are made",
            )
        if relation.missing is None:
            return relation
        feature = self.space[self.space.names[k]]
        if isinstance(feature, Ordinal) and part.gap is None:  # its last level is missing
            return _step_relation(name, feature, relation)
        if feature.missing:  # trees know missing numbers
            return relation
        if part.gap is None:
            raise UnsupportedModel(
                f"the model tells a missing {name!r} from every number, and {name!r} is within a tolerance",
                hint=f"let {name!r} be the same, or free; or impute a number between its bounds, without an indicator; or "
                f"declare it as Integer(lo, hi, missing=True)",
            )
        return _relation_among_numbers(feature, relation)


def identity_recoding(space: Space) -> Recoding:
    """Where the model is over the user's own space."""
    return Recoding(given=space, space=space)


def _relation_among_numbers(feature: Feature, relation: Relation) -> Relation:
    """The tolerance among numbers, where missing is one of them; free where it reaches across all."""
    lo, hi = map(Fraction, feature.code_range)
    return Relation("free") if (relation.tolerance or 0) >= hi - lo else replace(relation, missing=None)


def _step_relation(name: str, feature: Ordinal, relation: Relation) -> Relation:
    """`within` as pairs of positions; the last one is missing, and beside itself only."""
    numbers, tolerance = feature.size - 1, int(relation.tolerance or 0)
    if numbers * tolerance > MOST_PAIRS:
        raise UnsupportedModel(
            f"{name!r} may be missing and is within {tolerance:,}: that is {numbers * tolerance:,} pairs of values",
            hint=f"at most {MOST_PAIRS:,} are taken: use coarser units, a smaller tolerance, or let {name!r} be free",
        )
    pairs = [(i, j) for i in range(numbers) for j in range(i + 1, min(i + tolerance, numbers - 1) + 1)]
    return Relation("pairs", allowed=tuple(pairs))


ALL_VALUES = 48
VALUES_AT_END = 12  # values tried at each end of a longer range


def _check_feature(recoding: Recoding, k: int, given: Relation, kept: Relation) -> None:
    name = recoding.given.names[k]
    feature, part = recoding.given[name], recoding.parts.get(k)
    new = recoding.space[recoding.space.names[k]]
    if part is None and given == kept and feature.code_range == new.code_range:
        return
    values = _probe_codes(feature, given)
    codes = (part or FeatureRecoding()).coded(np.array(values)).tolist()
    for value, code in zip(values, codes, strict=True):
        if not _is_within(new, code):
            raise _lost_error(
                name, f"the value with the code {value!r} has the code {code!r} there, outside of it"
            )
    for u, code in zip(values, codes, strict=True):
        for v, other in zip(values, codes, strict=True):
            if given.allows(Fraction(u), Fraction(v)) and not kept.allows(Fraction(code), Fraction(other)):
                raise _lost_error(
                    name, f"the values with the codes {u!r} and {v!r} are similar, but not there"
                )


def _check_individuals(recoding: Recoding, pairs: PairSpace) -> None:
    """That nobody who satisfies the constraints is lost."""
    same = (Relation("same"),) * len(
        recoding.given
    )  # pairs in one direction do not pair people with themselves
    everybody, there = make_pair_space(recoding.given, same), make_pair_space(pairs.space, same)
    rows = sample_codes(recoding.given, np.empty((0, len(recoding.given))))
    for row, code in zip(rows.tolist(), recoding.coded(rows).tolist(), strict=True):
        x, codes = [Fraction(c) for c in row], [Fraction(c) for c in code]
        if everybody.valid(x, x) and not there.valid(codes, codes):
            raise _lost_error("an individual", f"the one with the codes {row!r} is not there")


def _probe_codes(feature: Feature, relation: Relation) -> list[float]:
    """Codes of the user's feature to try."""
    lo, hi = feature.code_range
    if isinstance(feature, Continuous):
        return sorted(set(_probe_numbers(feature, float(relation.tolerance or 0))))
    if hi - lo < ALL_VALUES:
        return [float(value) for value in range(int(lo), int(hi) + 1)]
    first, last = int(lo), int(hi)
    between = np.linspace(first, last, ALL_VALUES - 2 * VALUES_AT_END).round().tolist()
    ends = [*range(first, first + VALUES_AT_END), *range(last - VALUES_AT_END + 1, last + 1)]
    reached = [value + int(relation.tolerance or 0) for value in (first, first + 1)]
    return sorted({float(v) for v in (*ends, *between, *reached) if first <= v <= last})


def _probe_numbers(feature: Continuous, tolerance: float) -> Iterable[float]:
    """Ends, the middle, what the tolerance reaches from there and the doubles beside it, and what is missing."""
    for start in (feature.lo, feature.lo / 2 + feature.hi / 2, feature.hi):
        for reached in (start - tolerance, start, start + tolerance):
            for value in (math.nextafter(reached, -math.inf), reached, math.nextafter(reached, math.inf)):
                if feature.lo <= value <= feature.hi:
                    yield value
    if feature.missing_code is not None:
        yield feature.missing_code


def _is_within(feature: Feature, code: float) -> bool:
    lo, hi = feature.code_range
    return lo <= code <= hi and (isinstance(feature, Continuous) or code == int(code))


def _lost_error(name: str, what: str) -> InternalError:
    return InternalError(
        f"the space that the model would be proved over has lost {name}: {what}",
        hint="please report this; nothing was proved",
    )
