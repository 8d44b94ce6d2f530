"""Small linear problems for the tests, and their answers by exhaustion: exact, and independent of `src`.

`linear_cases` draws a space, a similarity, weights and an estimator with exactly these weights. `all_pairs`
lists the scores of every similar pair of a discrete case in rationals, from the definitions of DESIGN.md
section 1 alone; `breaks` and `value` say what a property makes of a pair.
"""

import itertools
from collections import defaultdict
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

import likewise as lw

DIGITS = Context(prec=80)


# -- estimators with given weights --------------------------------------------------------------------


def two_rows(names):
    return pd.DataFrame(np.array([[0.0] * len(names), [1.0] * len(names)]), columns=list(names))


def logistic_model(weights, bias, names):
    """score 0 is the lower label."""
    model = LogisticRegression().fit(two_rows(names), [0, 1])
    model.coef_, model.intercept_ = np.array([weights], dtype=float), np.array([bias], dtype=float)
    return model


def svc_model(weights, bias, names):
    """score 0 is the upper label. Two support vectors: the weights themselves, and nothing."""
    model = SVC(kernel="linear").fit(two_rows(names), [0, 1])
    model.support_vectors_ = np.array([[0.0] * len(weights), weights], dtype=float)
    model.dual_coef_, model.intercept_ = np.array([[-1.0, 1.0]]), np.array([float(bias)])
    model._dual_coef_, model._intercept_ = -model.dual_coef_, -model.intercept_
    return model


def regression_model(weights, bias, names):
    model = LinearRegression().fit(two_rows(names), [0.0, 1.0])
    model.coef_, model.intercept_ = np.array(weights, dtype=float), float(bias)
    return model


MODELS = {"logistic": logistic_model, "svc": svc_model, "regression": regression_model}


# -- cases --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    space: lw.Space
    similar: lw.Similarity
    weights: tuple[float, ...]
    bias: float
    kind: str

    @property
    def model(self) -> Any:
        return MODELS[self.kind](self.weights, self.bias, self.space.names)

    def score(self, values) -> Fraction:
        """Of an individual given by its values, not its codes."""
        return Fraction(self.bias) + sum(
            (Fraction(w) * Fraction(v) for w, v in zip(self.weights, values, strict=True)), Fraction(0)
        )


tie_weights = st.sampled_from([1.0, -1.0, 0.5, 2.0, -0.25, 3.0, 0.0])
plain_weights = st.integers(-(10**6), 10**6).map(lambda n: n / 271828.0)
tiny_weights = st.sampled_from([1e-13, -1e-13, 3e-13, 1e-12])
KINDS = ("integer", "categorical", "ordinal", "fixed")


@st.composite
def discrete_features(draw):
    kind = draw(st.sampled_from(KINDS))
    if kind == "integer":
        lo = draw(st.integers(-3, 2))
        return lw.Integer(lo, lo + draw(st.integers(0, 4)))
    if (
        kind == "fixed"
    ):  # a continuous feature of one value: exhaustible, and on its own path through the code
        value = draw(st.sampled_from([0.0, 1.5, -0.1, 3.0]))
        return lw.Continuous(value, value)
    levels = draw(st.lists(st.integers(-4, 5), min_size=1, max_size=4, unique=True))
    return lw.Categorical(levels) if kind == "categorical" else lw.Ordinal(levels)


@st.composite
def constraint_texts(draw, space, someone):
    """A constraint that `someone` satisfies, often with equality; one in ten may exclude everybody."""
    coefficients = [draw(st.integers(-2, 2)) for _ in space.names]
    spared = draw(st.integers(0, len(space) - 1))
    coefficients[spared] = coefficients[spared] or 1
    text = " + ".join(f"{a} * {name}" for a, name in zip(coefficients, space.names, strict=True))
    reached = sum(a * Fraction(v) for a, v in zip(coefficients, someone, strict=True))
    if draw(st.integers(0, 9)) == 0:
        return f"{text} <= {draw(st.integers(-6, 0))}"
    sign, slack = draw(st.sampled_from([("<=", 0), ("<=", 1), (">=", 0), (">=", -1), ("==", 0)]))
    return f"{text} {sign} {reached + slack}"


def relation_choices(feature):
    choices = ["same", "free"]
    if feature.kind in ("integer", "ordinal", "continuous"):
        choices.append("within")
    if feature.kind in ("categorical", "ordinal") and feature.size > 1:
        choices.append("pairs")
    return choices


@st.composite
def similarities(draw, space, tolerances=(1, 2)):
    """At least one feature that has more than one value may differ."""
    free, within, pairs = [], {}, {}
    for name, feature in space.features.items():
        choice = draw(st.sampled_from(relation_choices(feature)))
        if choice == "free":
            free.append(name)
        elif choice == "within":
            within[name] = draw(st.sampled_from(tolerances))
        elif choice == "pairs":
            every = list(itertools.combinations(feature.levels, 2))
            pairs[name] = draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))
    similar = lw.Similarity(free=free, within=within, pairs=pairs)
    if all(relation.kind == "same" for relation in similar.relations(space)):
        movable = next(name for name in space.names if differs(space[name]))
        similar = lw.Similarity(free=[movable])
    return similar


def differs(feature):
    return feature.lo < feature.hi if feature.kind in ("integer", "continuous") else feature.size > 1


@st.composite
def drawn_weights(draw, count):
    mode = draw(st.sampled_from(["tie", "tie", "plain", "tiny"]))
    source = {"tie": tie_weights, "plain": plain_weights, "tiny": st.one_of(tie_weights, tiny_weights)}[mode]
    weights = tuple(draw(source) for _ in range(count))
    bias = draw(st.sampled_from([0.0, 0.5, -1.0, 0.25, -2.0]) if mode != "plain" else plain_weights)
    return weights, bias


@st.composite
def linear_cases(draw, kinds=("logistic", "svc", "regression"), constrained=None):
    """A discrete case of at most some 400 individuals; perhaps nobody satisfies its constraints."""
    features = draw(st.lists(discrete_features(), min_size=1, max_size=4))
    if not any(map(differs, features)):
        features.append(lw.Integer(0, 2))
    space = lw.Space({f"f{k}": feature for k, feature in enumerate(features)})
    similar = draw(similarities(space))
    if draw(st.booleans()) if constrained is None else constrained:
        someone = [draw(st.sampled_from(values_of(feature))) for feature in features]
        for _ in range(draw(st.integers(1, 2))):
            space = space.where(draw(constraint_texts(space, someone)))
    weights, bias = draw(drawn_weights(len(space)))
    return Case(space, similar, weights, bias, draw(st.sampled_from(kinds)))


def properties_of(kind):
    """Properties that a kind of model can be asked for, with levels at which ties are likely."""
    decision = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.1]).map(lw.SameDecision)
    gap = st.sampled_from([0.0, 0.5, 1.0, 2.0, 0.3]).map(lw.ScoreGap)
    probability = st.sampled_from([0.0, 0.1, 0.25, 0.5]).map(lw.ProbabilityGap)
    return st.one_of(
        {"logistic": [decision, gap, probability], "svc": [decision, gap], "regression": [gap]}[kind]
    )


# -- exhaustion ---------------------------------------------------------------------------------------


def values_of(feature):
    if feature.kind == "integer":
        return list(range(feature.lo, feature.hi + 1))
    if feature.kind == "continuous":
        assert feature.lo == feature.hi, "a continuous feature cannot be exhausted"
        return [feature.lo]
    return list(feature.levels)


def alike(case, name, value, other):
    """The definition of similarity for one feature, from what the user wrote."""
    feature = case.space[name]
    if name in case.similar.free:
        return True
    if name in case.similar.pairs:
        return value == other or {value, other} in [set(pair) for pair in case.similar.pairs[name]]
    tolerance = case.similar.within.get(name, 0)
    if feature.kind in ("categorical", "ordinal"):
        return abs(feature.levels.index(value) - feature.levels.index(other)) <= tolerance
    return abs(Fraction(value) - Fraction(other)) <= Fraction(tolerance)


def all_pairs(case):
    """(values, values', score, score') of every ordered similar pair of valid individuals."""
    names = case.space.names
    shared = [k for k, name in enumerate(names) if name not in case.similar.names]
    groups = defaultdict(list)
    for values in itertools.product(*(values_of(case.space[name]) for name in names)):
        named = dict(zip(names, values, strict=True))
        if all(constraint.holds(named) for constraint in case.space.constraints):
            groups[tuple(values[k] for k in shared)].append((values, case.score(values)))
    return [
        (x, other, first, second)
        for group in groups.values()
        for (x, first), (other, second) in itertools.product(group, repeat=2)
        if all(alike(case, name, a, b) for name, a, b in zip(names, x, other, strict=True))
    ]


def sigma(score):
    """The logistic function to some 80 digits, by decimal: not the ball arithmetic of `src`."""
    exact = DIGITS.divide(Decimal(score.numerator), Decimal(score.denominator))
    return DIGITS.divide(Decimal(1), DIGITS.add(Decimal(1), DIGITS.exp(DIGITS.minus(exact))))


def probability_gap(first, second):
    return Fraction(DIGITS.subtract(sigma(first), sigma(second)))


def breaks(case, property, first, second):
    """Whether a similar pair with these scores is a witness."""
    if isinstance(property, lw.ScoreGap):
        return first - second > Fraction(property.delta)
    if isinstance(property, lw.ProbabilityGap):
        return first > second and probability_gap(first, second) > Fraction(property.delta)
    margin = Fraction(property.margin)
    if case.kind == "svc":
        return first >= margin and second < -margin
    return first > margin and second <= -margin


def value(of, first, second):
    if of == "score":
        return first - second
    return min(first, -second) if of == "margin" else probability_gap(first, second)


def plain(number):
    return number.item() if hasattr(number, "item") else number


def rows_of(pair, names):
    """The two individuals of a result's frame as tuples of Python values."""
    columns = [[plain(v) for v in pair[name]] for name in names]
    return tuple(zip(*columns, strict=True))
