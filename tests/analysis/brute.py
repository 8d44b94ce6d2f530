"""What audits and shares must come to, by looking at everybody: small discrete spaces only."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd

import likewise as lw
from likewise.importers.imported import import_model
from likewise.model.scored import score_of
from likewise.spec.pairs import pair_space

SPACE = lw.Space(
    {
        "a": lw.Integer(0, 5),
        "b": lw.Integer(1, 4),
        "c": lw.Categorical([0, 1, 2]),
        "d": lw.Ordinal([0, 1, 2]),
    }
)


def everybody(space=SPACE):
    """All valid individuals as a frame."""
    ranges = [range(f.lo, f.hi + 1) if f.kind == "integer" else f.levels for f in space.features.values()]
    rows = [dict(zip(space.names, values, strict=True)) for values in itertools.product(*ranges)]
    return pd.DataFrame([row for row in rows if all(c.holds(row) for c in space.constraints)])


def fitted(make, space=SPACE, seed=0):
    """A model of random labels that lean on the features."""
    X = everybody(lw.Space(space.features))
    random = np.random.default_rng(seed)
    weights = random.normal(size=len(space))
    scaled = (X - X.mean()) / X.std()
    return make().fit(X, scaled.to_numpy() @ weights + random.normal(size=len(X)) > 0)


def exact_scores(model, space, X):
    imported = import_model(model, space, rows=np.empty((0, len(space))), like=X)
    score = score_of(imported.model, len(space))
    codes = space.encode(X)
    return [score.enclose([Fraction(c) for c in row], 128).middle for row in codes.tolist()]


def truth(model, space, similar, property, X=None):
    """For every row of X: whether somebody in the space breaks the property with it, and the largest gap of scores."""
    people = everybody(space)
    X = people if X is None else X
    pairs = pair_space(space, similar)
    codes, others = space.encode(X), space.encode(people)
    scores, theirs = exact_scores(model, space, X), exact_scores(model, space, people)
    upper = imported_zero(model, space, X)
    biased, gaps = [], []
    for row, score in zip(codes, scores, strict=True):
        near = [
            s
            for other, s in zip(others, theirs, strict=True)
            if all(r.allows(Fraction(p), Fraction(q)) for r, p, q in zip(pairs.relations, row, other, strict=True))
        ]
        biased.append(any(broken(property, score, s, upper) or broken(property, s, score, upper) for s in near))
        gaps.append(float(max(abs(score - s) for s in near)))
    return np.array(biased), np.array(gaps)


def imported_zero(model, space, X):
    return import_model(model, space, rows=np.empty((0, len(space))), like=X).model.head


def broken(property, first, second, head):
    if isinstance(property, lw.SameDecision):
        m = Fraction(property.margin)
        if head.zero_is_upper:
            return first >= m and second < -m
        return first > m and second <= -m
    if isinstance(property, lw.ScoreGap):
        return first - second > Fraction(property.delta)
    first, second = (1 / (1 + np.exp(-float(head.linked(s)))) for s in (first, second))
    return first - second > property.delta
