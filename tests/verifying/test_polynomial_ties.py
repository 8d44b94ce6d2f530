"""Ties of polynomial models: a limit that is the largest gap itself holds, and one ulp below it does not.

All parameters are short binary fractions, so that scores are rationals that doubles have. With one continuous feature, a gap along it is a
polynomial of degree two at most: its largest value, in rationals, is at an end or where the derivative vanishes.
"""

import io
import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR

import likewise as lw

NAMES = ["income", "age", "sex"]
LO, HI = Fraction(-1), Fraction(1)
AGES, SEXES = range(6), (0, 1)
SIMILAR = lw.Similarity(free=["sex"])
MIXED = lw.Space({"income": lw.Continuous(-1, 1), "age": lw.Integer(0, 5), "sex": lw.Categorical([0, 1])})
DISCRETE = MIXED.replace(income=lw.Integer(-1, 1))


def planted(kind, degree, seed):
    """An estimator with support vectors and coefficients of few binary digits."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame([[0.0] * 3, [1.0] * 3, [2.0] * 3], columns=NAMES)
    options = {"kernel": "poly", "degree": degree, "gamma": 0.5, "coef0": 1.0}
    if kind is KernelRidge:
        model = KernelRidge(**options).fit(rows, [0.0, 1.0, 3.0])
        model.X_fit_ = random.integers(-2, 3, (3, 3)).astype(float)
        model.dual_coef_ = random.choice([0.5, -0.25, 1.0, -0.5], 3)
        return model
    model = kind(**options).fit(rows, [0, 1, 1] if kind is SVC else [0.0, 1.0, 3.0])
    count = len(model.support_vectors_)
    model.support_vectors_ = random.integers(-2, 3, (count, 3)).astype(float)
    dual, bias = random.choice([0.5, -0.25, 1.0, -0.5], (1, count)), np.array([0.25])
    sign = -1 if kind is SVC else 1
    model.dual_coef_, model.intercept_ = dual, bias
    model._dual_coef_, model._intercept_ = sign * dual, sign * bias
    return model


def score(model, person):
    vectors = model.X_fit_ if isinstance(model, KernelRidge) else model.support_vectors_
    total = Fraction(float(np.ravel(getattr(model, "intercept_", 0.0))[0]))
    for weight, vector in zip(np.ravel(model.dual_coef_), vectors, strict=True):
        product = sum(Fraction(float(s)) * v for s, v in zip(vector, person, strict=True))
        total += Fraction(float(weight)) * (product / 2 + 1) ** model.degree
    return total


def largest_gap(model, space):
    """Over everybody, exactly."""
    if space is DISCRETE:
        return max(
            abs(score(model, (income, age, 0)) - score(model, (income, age, 1)))
            for income, age in itertools.product((-1, 0, 1), AGES)
        )
    return max(
        abs(value)
        for age in AGES
        for value in extremes(lambda z, age=age: score(model, (z, age, 0)) - score(model, (z, age, 1)))
    )


def extremes(gap):
    """Values at both ends of [-1, 1], and where the derivative of c + b z + a z^2 is zero."""
    middle, a = gap(Fraction(0)), (gap(HI) + gap(LO)) / 2 - gap(Fraction(0))
    b = (gap(HI) - gap(LO)) / 2
    found = [gap(LO), gap(HI)]
    if a and LO < -b / (2 * a) < HI:
        found.append(middle - b * b / (4 * a))
    return found


CASES = [
    (kind, degree, seed, space)
    for kind, degree, seed, space in itertools.product((SVR, SVC, KernelRidge), (2, 3), range(3), ("mixed", "discrete"))
]  # fmt: skip


@pytest.mark.draw(5)
@pytest.mark.parametrize(("kind", "degree", "seed", "space"), CASES)
def test_the_largest_gap_itself_is_fair_and_one_ulp_less_is_not(kind, degree, seed, space):
    model, over = planted(kind, degree, seed), MIXED if space == "mixed" else DISCRETE
    gap = largest_gap(model, over)
    level = float(gap)
    if Fraction(level) < gap:
        level = math.nextafter(level, math.inf)
    assert level > 0
    for limit in (level, math.nextafter(level, math.inf)):
        result = lw.verify(model, over, SIMILAR, lw.ScoreGap(limit), budget=20)
        assert result.verdict == "FAIR", (limit, result.reason)
        assert lw.check(io.BytesIO(result.certificate.content)).accepted
    below = lw.verify(model, over, SIMILAR, lw.ScoreGap(math.nextafter(level, 0.0)), budget=20)
    hidden = below.reason is not None and below.reason.startswith("rounding")
    assert below.verdict == "BIASED" or hidden


@pytest.mark.parametrize("degree", [2, 3])
def test_the_largest_gap_of_any_class_is_fair_and_one_ulp_less_is_not(degree):
    rows = pd.DataFrame([[0.0] * 3, [1.0] * 3, [2.0] * 3], columns=NAMES)
    model = OneVsRestClassifier(SVC(kernel="poly", degree=degree)).fit(rows, [0, 1, 2])
    model.estimators_ = [planted(SVC, degree, seed) for seed in (10, 11, 12)]
    level = max(largest_gap(one, MIXED) for one in model.estimators_)
    assert Fraction(float(level)) == level
    fair = lw.verify(model, MIXED, SIMILAR, lw.ScoreGap(float(level)), budget=20)
    assert fair.verdict == "FAIR", fair.reason
    below = lw.verify(model, MIXED, SIMILAR, lw.ScoreGap(math.nextafter(float(level), 0.0)), budget=20)
    assert below.verdict == "BIASED", below.reason
