"""Feasible: does anybody satisfy the constraints at all? A claim about nobody would be FAIR and worthless.

HiGHS proposes an individual (a small mixed-integer program over the space); exact arithmetic confirms it.
Where none is found the space is refused, so that a vacuous FAIR cannot happen. An individual is a pair with itself, unless a relation *moves*: x' is above x by at least so much, or below. Then
a pair is looked for, x and x' alike in all features but those that move.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import SpecError
from likewise.search.integer_program import IntegerProgram, code_sum, difference, separable_sum
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import constraint_terms
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.spec.features import Feature
    from likewise.spec.pairs import PairSpace
    from likewise.spec.space import Space
    from likewise.spec.terms import Separable


def find_individual(space: Space) -> list[Fraction]:
    """Codes of one individual that satisfies every constraint exactly."""
    found = _find_both(space, {})
    if found is not None:
        return found[0]
    raise SpecError(
        f"no individual of the space was found that satisfies its constraints: {_rules(space)}",
        hint="relax a constraint or widen the features: a claim about nobody proves nothing",
    )


def find_moving_pair(pairs: PairSpace) -> tuple[list[Fraction], list[Fraction]] | None:
    """Codes of two similar individuals that satisfy every constraint exactly; None where no relation moves, so that everybody is similar to themselves."""
    moving = {k: one.apart for k, one in enumerate(pairs.relations) if not one.allows(0, 0)}
    if not moving or pairs.branches:
        return None
    found = _find_both(pairs.space, moving)
    if found is not None and pairs.valid(*found):
        return found
    names = ", ".join(repr(pairs.space.names[k]) for k in moving)
    raise SpecError(
        f"no two individuals of the space were found that differ in {names} as the claim asks, and satisfy its constraints: {_rules(pairs.space)}",
        hint="relax a constraint or widen the features: a claim about nobody proves nothing",
    )


def _rules(space: Space) -> str:
    return "; ".join(dict.fromkeys(c.text for c in space.constraints)) or "none"


def _find_both(
    space: Space, moving: Mapping[int, tuple[Fraction, Fraction]]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Two who satisfy the constraints, alike in all but the features that move, whose differences have these limits."""
    constraints = [constraint_terms(space, c) for c in space.constraints]
    for strictness in (1.0, 0.0):  # first well inside, so that rounding does no harm; then as it comes
        found = _propose_both(space, constraints, strictness, moving)
        if found is not None and all(c.exact(codes) <= 0 for c in constraints for codes in found):
            return found
    return None


def _propose_both(
    space: Space,
    constraints: list[Separable],
    strictness: float,
    moving: Mapping[int, tuple[Fraction, Fraction]],
) -> tuple[list[Fraction], list[Fraction]] | None:
    program, places = IntegerProgram(), range(len(space.names))
    features = [space[name] for name in space.names]
    first = [_add_columns(program, feature) for feature in features]
    second = [_add_columns(program, features[k]) if k in moving else first[k] for k in places]
    for k, (low, high) in moving.items():
        apart = difference(code_sum(features[k], second[k]), code_sum(features[k], first[k]))
        program.add_row(apart, float(low), float(high))
    inside = program.add_column(0, strictness)
    for columns in (first, second) if moving else (first,):
        for constraint in constraints:
            weights = (w for t in constraint.terms for w in ((t.slope,) if t.table is None else t.table))
            scale = max(map(abs, weights), default=Fraction(1)) or Fraction(1)
            row = {**separable_sum(constraint, columns, scale), inside: 1.0}
            program.add_row(row, hi=-nearest_double(constraint.bias / scale))
    found = program.maximize({inside: 1.0})
    if found.status:
        return None

    def codes_of(columns: list[list[int]]) -> list[Fraction]:
        picked = zip(space.names, columns, strict=True)
        return [_code_of(space, name, [found.x[i] for i in parts]) for name, parts in picked]

    return codes_of(first), codes_of(second)


def _add_columns(program: IntegerProgram, feature: Feature) -> list[int]:
    if isinstance(feature, (Categorical, Ordinal)):
        return program.add_feature(feature, 0, len(feature.levels) - 1, whole=True)
    return program.add_feature(feature, float(feature.lo), float(feature.hi), whole=feature.kind == "integer")


def _code_of(space: Space, name: str, values: list[float]) -> Fraction:
    feature = space[name]
    if isinstance(feature, (Categorical, Ordinal)):
        return Fraction(int(np.argmax(values)))
    if feature.kind == "integer":
        return Fraction(round(values[0]))
    return Fraction(float(np.clip(values[0], feature.lo, feature.hi)))
