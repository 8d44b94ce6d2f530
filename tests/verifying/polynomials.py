"""Small polynomial models with given parameters, and what exhaustion says about them: exact, independent of `src`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR
from tests.strategies import differs, values_of

import likewise as lw

KINDS = {"svc": SVC, "svr": SVR, "ridge": KernelRidge}


@dataclass(frozen=True)
class Case:
    """A space, a similarity, and sum_t a_t (gamma <s_t, x> + coef0)^degree + bias."""

    space: lw.Space
    similar: lw.Similarity
    coefficients: tuple[float, ...]
    centres: tuple[tuple[float, ...], ...]
    gamma: float
    coef0: float
    degree: int
    bias: float
    kind: str

    def score(self, values) -> Fraction:
        """Of an individual given by its values, by the definition."""
        total = Fraction(self.bias)
        for a, centre in zip(self.coefficients, self.centres, strict=True):
            inner = sum((Fraction(s) * Fraction(v) for s, v in zip(centre, values, strict=True)), Fraction(0))
            total += Fraction(a) * (Fraction(self.gamma) * inner + Fraction(self.coef0)) ** self.degree
        return total

    @property
    def model(self) -> Any:
        """An estimator with exactly these parameters."""
        names, count = list(self.space.names), len(self.coefficients)
        rows = pd.DataFrame(np.eye(4 * count, len(names)), columns=names)
        target = np.arange(4 * count) % 2
        model = KINDS[self.kind](kernel="poly", gamma=self.gamma, coef0=1.0, degree=1).fit(rows, target)
        model.coef0, model.degree = self.coef0, self.degree
        if self.kind == "ridge":
            model.dual_coef_, model.X_fit_ = np.array(self.coefficients), np.array(self.centres)
            return model
        terms = len(model.support_)  # libsvm knows how many there are: those not needed get the coefficient 0
        assert terms >= count
        model.support_vectors_, model.dual_coef_ = np.zeros((terms, len(names))), np.zeros((1, terms))
        model.support_vectors_[:count], model.dual_coef_[0, :count] = self.centres, self.coefficients
        model.intercept_ = np.array([self.bias])
        sign = -1 if self.kind == "svc" else 1
        model._dual_coef_, model._intercept_ = sign * model.dual_coef_, sign * model.intercept_
        return model


def feature_of(random):
    kind = random.choice(["integer", "categorical", "ordinal", "fixed"], p=[0.4, 0.25, 0.25, 0.1])
    if kind == "integer":
        lo = int(random.integers(-3, 3))
        return lw.Integer(lo, lo + int(random.integers(0, 5)))
    if kind == "fixed":
        value = float(random.choice([0.0, 1.5, -0.5]))
        return lw.Continuous(value, value)
    levels = [int(v) for v in random.permutation(range(-4, 6))[: int(random.integers(1, 5))]]
    return lw.Categorical(levels) if kind == "categorical" else lw.Ordinal(levels)


def similarity_of(random, space):
    free, within = [], {}
    for name, feature in space.features.items():
        choice = random.choice(["same", "free", "within"])
        if choice == "free" or (choice == "within" and feature.kind == "categorical"):
            free.append(name)
        elif choice == "within":
            within[name] = int(random.integers(1, 3))
    similar = lw.Similarity(free=free, within=within)
    if all(relation.kind == "same" for relation in similar.relations(space)):
        similar = lw.Similarity(free=[next(name for name in space.names if differs(space[name]))])
    return similar


def drawn(seed):
    """A case of at most some hundred individuals; every other one with numbers that make ties likely."""
    random = np.random.default_rng(seed)
    features = [feature_of(random) for _ in range(int(random.integers(1, 5)))]
    if not any(map(differs, features)):
        features.append(lw.Integer(0, 2))
    space = lw.Space({f"f{k}": feature for k, feature in enumerate(features)})
    while np.prod([float(len(values_of(f))) for f in space.features.values()]) > 300:
        space = lw.Space(dict(list(space.features.items())[:-1]))
    tidy = seed % 2 == 0
    count, kind = int(random.integers(2, 6)), str(random.choice(["svc", "svc", "svr", "ridge"]))
    centres = random.integers(-2, 3, (count, len(space))) if tidy else random.normal(size=(count, len(space)))
    coefficients = random.choice([0.5, -0.5, 1.0, -1.0, 0.25], count) if tidy else random.normal(size=count)
    return Case(
        space=space,
        similar=similarity_of(random, space),
        coefficients=tuple(map(float, coefficients)),
        centres=tuple(tuple(map(float, row)) for row in centres),
        gamma=float(random.choice([0.5, 0.25])) if tidy else float(random.uniform(0.05, 0.5)),
        coef0=float(random.choice([0.0, 1.0, -0.5])),
        degree=int(random.integers(2, 5)),
        bias=0.0 if kind == "ridge" else float(random.choice([0.0, 0.5, -1.0]) if tidy else random.normal()),
        kind=kind,
    )
