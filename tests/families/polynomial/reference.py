"""The rule `polynomial` in rationals, straight from spec/certificate-v1.md, section 8, and random cells to try it on.

Shares nothing with `likewise.families.polynomial` but the model and the pair space. Polynomials are dictionaries from
sorted tuples of axes to coefficients.
"""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

import likewise as lw
from likewise.families.polynomial.body import PolynomialScore, PolynomialSum
from likewise.model.embedding import Column
from likewise.spec.pairs import Variable, pair_space

HALF = Fraction(1, 2)


# -- the rule -----------------------------------------------------------------------------------------


@dataclass
class Axes:
    """Groups of axes (their places as lists of y's, or None) and each copy's columns as polynomials."""

    groups: list
    columns: tuple
    count: int = 0
    empty: bool = False


def axes_of(score, pairs, lo, hi):
    lo, hi = [Fraction(v) for v in lo], [Fraction(v) for v in hi]
    axes = Axes([], ({}, {}))
    for k, relation in enumerate(pairs.relations):
        feature = pairs.space[pairs.space.names[k]]
        i, j = pairs.first[k], pairs.second[k]
        sides = [(i, (0, 1))] if relation.kind == "same" else [(i, (0,)), (j, (1,))]
        if feature.kind in ("categorical", "ordinal"):
            for v, copies in sides:
                _levels(axes, score, k, int(lo[v]), int(hi[v]), copies)
        elif relation.kind == "within":
            at = [n for n, v in enumerate(pairs.variables) if v.side == "difference" and v.feature == k]
            limits = (lo[at[0]], hi[at[0]]) if at else (-relation.tolerance, relation.tolerance)
            _paired(axes, score, k, lo, hi, i, j, limits)
        else:
            for v, copies in sides:
                _number(axes, score, k, lo[v], hi[v], copies, feature.kind == "integer")
    return axes


def _axis(axes, low, high):
    """The polynomial m + w y, with a new axis if w > 0."""
    m, w = (low + high) / 2, (high - low) / 2
    if w == 0:
        return {(): m}, None
    axes.count += 1
    return {(): m, (axes.count - 1,): w}, axes.count - 1


def _owned(score, k):
    return [c for c, column in enumerate(score.embedding) if column.feature == k]


def _number(axes, score, k, low, high, copies, whole):
    value, axis = _axis(axes, low, high)
    if axis is not None:
        places = None
        if whole and high - low + 1 <= 1024:
            m, w = (low + high) / 2, (high - low) / 2
            places = [{axis: (code - m) / w} for code in range(int(low), int(high) + 1)]
        axes.groups.append(([axis], places))
    for c in _owned(score, k):
        column = score.embedding[c]
        for side in copies:
            axes.columns[side][c] = plus(scaled(value, column.slope), {(): column.offset})


def _paired(axes, score, k, lo, hi, i, j, limits):
    p, q = max(limits[0], lo[j] - hi[i]), min(limits[1], hi[j] - lo[i])
    low = max((lo[i] + lo[j]) / 2, lo[i] + p / 2, lo[j] - q / 2)
    high = min((hi[i] + hi[j]) / 2, hi[i] + q / 2, hi[j] - p / 2)
    if low > high or p > q:
        axes.empty = True
        return
    u, first = _axis(axes, low, high)
    d, second = _axis(axes, p / 2, q / 2)
    axes.groups += [([axis], None) for axis in (first, second) if axis is not None]
    for c in _owned(score, k):
        column = score.embedding[c]
        for side, sign in ((0, -1), (1, 1)):
            value = plus(u, scaled(d, sign))
            axes.columns[side][c] = plus(scaled(value, column.slope), {(): column.offset})


def _levels(axes, score, k, low, high, copies):
    members, ys = [], []
    for c in _owned(score, k):
        table = score.embedding[c].table[low : high + 1]
        value, axis = _axis(axes, min(table), max(table))
        if axis is not None:
            m, w = value[()], value[(axis,)]
            members.append(axis)
            ys.append([(entry - m) / w for entry in table])
        for side in copies:
            axes.columns[side][c] = value
    if members:
        places = [dict(zip(members, row, strict=True)) for row in zip(*ys, strict=True)]
        axes.groups.append((members, places))


def plus(left, right):
    total = dict(left)
    for key, value in right.items():
        total[key] = total.get(key, Fraction(0)) + value
    return total


def scaled(polynomial, factor):
    return {key: factor * value for key, value in polynomial.items()}


def times(left, right):
    product = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(sorted(a + b))
            product[key] = product.get(key, Fraction(0)) + x * y
    return product


def polynomial_of(body, columns):
    total = {(): Fraction(0)}
    for coefficient, product in zip(body.coefficients, body.products, strict=True):
        value = {(): coefficient}
        for c in product:
            value = times(value, columns[c])
        total = plus(total, value)
    return total


def majorant(score, pairs, lo, hi, a, b, threshold, hints):
    """The rule's bound of S on a cell, None where it has no pair; maxima over an interval are in float64."""
    axes = axes_of(score, pairs, lo, hi)
    if axes.empty:
        return None
    assert len(hints) == axes.count, (hints, axes.count)
    S = polynomial_of(score.body, axes.columns[0])
    S = plus(scaled(S, a), scaled(polynomial_of(score.body, axes.columns[1]), -b))
    S = plus(S, {(): -threshold})
    group = {axis: g for g, (members, _) in enumerate(axes.groups) for axis in members}
    functions = [{} for _ in axes.groups]
    constant = Fraction(0)

    def give(axis, power, amount):
        functions[group[axis]] = plus(functions[group[axis]], {(axis,) * power: amount})

    for key, c in S.items():
        powers = Counter(key)
        odd = [axis for axis, p in powers.items() if p % 2]
        if not key:
            constant += c
        elif len({group[axis] for axis in key}) == 1:
            functions[group[key[0]]] = plus(functions[group[key[0]]], {key: c})
        elif len(key) == 2:
            f, other = key
            sign = 1 if c >= 0 else -1
            tau = Fraction(hints[f] - sign * hints[other], 64)
            give(f, 2, abs(c) / 2)
            give(other, 2, abs(c) / 2)
            give(f, 1, -abs(c) * tau)
            give(other, 1, abs(c) * tau * sign)
            constant += abs(c) * tau**2 / 2
        elif not odd:
            for axis in powers:
                give(axis, 2, max(c, 0) / len(powers))
        elif len(odd) == 1:
            give(odd[0], 1, c / 2)
            constant += abs(c) / 2
        else:
            for axis in odd:
                give(axis, 2, abs(c) / len(odd))
    total = float(constant)
    for (members, places), function in zip(axes.groups, functions, strict=True):
        total += (
            float(max(value_at(function, y) for y in places))
            if places
            else interval_max(members[0], function)
        )
    return total


def value_at(polynomial, y):
    total = Fraction(0)
    for key, value in polynomial.items():
        for axis in key:
            value *= y[axis]
        total += value
    return total


def interval_max(axis, function):
    n, constant = [0.0] * 4, 0.0
    for key, value in function.items():
        power, value = len(key), float(value)
        if power <= 3:
            n[power] += value
        elif power % 2 == 0:
            n[2] += max(value, 0.0)
        else:
            n[1] += value / 2
            constant += abs(value) / 2
    ys = [
        -1.0,
        1.0,
        *(r.real for r in np.roots([3 * n[3], 2 * n[2], n[1]]) if abs(r.imag) < 1e-9 and abs(r) < 1),
    ]
    return constant + max(n[1] * y + n[2] * y**2 + n[3] * y**3 for y in ys)


# -- random cells -------------------------------------------------------------------------------------


def random_case(random, degree):
    """A score with several columns on some features, a pair space of all relations, and its root."""
    features, columns = {}, []
    for k in range(int(random.integers(1, 5))):
        kind = random.choice(["integer", "continuous", "categorical", "ordinal", "wide"])
        name = f"f{k}"
        if kind == "continuous":
            lo = float(random.normal())
            features[name] = lw.Continuous(lo, lo + float(random.choice([0.0, 1.0, 50.0])))
        elif kind in ("integer", "wide"):
            lo = int(random.integers(-4, 4))
            features[name] = lw.Integer(lo, lo + int(random.integers(0, 9 if kind == "integer" else 3000)))
        else:
            levels = list(range(int(random.integers(1, 6))))
            features[name] = lw.Categorical(levels) if kind == "categorical" else lw.Ordinal(levels)
        for _ in range(int(random.choice([0, 1, 1, 1, 2]))):
            if kind in ("categorical", "ordinal"):
                table = tuple(Fraction(float(v)) for v in random.normal(size=features[name].size).round(1))
                columns.append(Column(feature=k, table=table))
            else:
                slope, offset = (Fraction(float(v)) for v in random.normal(size=2))
                columns.append(Column(feature=k, slope=slope, offset=offset))
    space = lw.Space(features)
    every = [m for d in range(degree + 1) for m in combinations_with_replacement(range(len(columns)), d)]
    chosen = [m for m in every if random.random() < 0.7] or [()]
    body = PolynomialSum(
        coefficients=tuple(Fraction(float(v)) for v in random.normal(size=len(chosen))),
        products=tuple(chosen),
    )
    free, within = [], {}
    for name, feature in features.items():
        choice = random.integers(3)
        if choice == 1 or (choice == 2 and feature.kind == "categorical"):
            free.append(name)
        elif choice == 2:
            within[name] = (
                int(random.integers(1, 4)) if feature.kind != "continuous" else float(random.uniform(0.1, 2))
            )
    if not free and not within:
        free = [next(iter(features))]
    try:
        pairs = pair_space(space, lw.Similarity(free=free, within=within))
    except lw.SpecError:  # what was to differ has one value only
        return random_case(random, degree)
    if random.random() < 0.5:
        pairs = with_differences(pairs)
    return PolynomialScore(body=body, embedding=tuple(columns)), pairs


def with_differences(pairs):
    """The same with a variable x' - x for every number that is `within`, after all others."""
    more = []
    for k, relation in enumerate(pairs.relations):
        variable = pairs.variables[pairs.first[k]]
        if relation.kind == "within" and pairs.space[pairs.space.names[k]].kind in ("integer", "continuous"):
            reach, discrete = float(relation.tolerance), variable.discrete
            more.append(Variable(feature=k, side="difference", discrete=discrete, lo=-reach, hi=reach))
    return replace(pairs, variables=(*pairs.variables, *more))


def random_cell(random, pairs):
    lo, hi = [], []
    for v in pairs.variables:
        ends = sorted(random.uniform(v.lo, v.hi, 2)) if random.random() < 0.7 else (v.lo, v.hi)
        if random.random() < 0.15:
            ends = (ends[0], ends[0])
        low, high = (round(ends[0]), round(ends[1])) if v.discrete else ends
        lo.append(float(np.clip(low, v.lo, v.hi)))
        hi.append(float(np.clip(high, v.lo, v.hi)))
    return lo, hi


def random_pairs(random, pairs, lo, hi, count):
    """Points of a cell that are similar, as codes of both copies."""
    found = []
    for _ in range(count):
        point = [
            float(random.integers(int(a), int(b) + 1))
            if v.discrete
            else random.choice([a, b, random.uniform(a, b)])
            for v, a, b in zip(pairs.variables, lo, hi, strict=True)
        ]
        for k, relation in enumerate(pairs.relations):
            if relation.kind == "within" and random.random() < 0.9:
                i, j, t = pairs.first[k], pairs.second[k], float(relation.tolerance)
                point[j] = float(np.clip(point[i] + random.choice([-t, t, 0.0]), lo[j], hi[j]))
        x, other = ([Fraction(float(c)) for c in side] for side in pairs.split(point))
        inside = all(
            lo[n] <= other[v.feature] - x[v.feature] <= hi[n]
            for n, v in enumerate(pairs.variables)
            if v.side == "difference"
        )
        if inside and pairs.valid(x, other):
            found.append((x, other))
    return found
