"""What audits and shares must come to, by looking at everybody: small discrete spaces only."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise.spec.pairs import pair_space

SPACE = lw.Space(
    {
        "a": lw.Integer(0, 5),
        "b": lw.Integer(1, 4),
        "c": lw.Categorical([0, 1, 2]),
        "d": lw.Ordinal([0, 1, 2]),
    }
)


MODELS = {
    "linear": lambda: LogisticRegression(C=10),
    "rbf": lambda: SVC(gamma=0.2),
    "polynomial": lambda: SVC(kernel="poly", degree=2, coef0=1),
    "pipeline": lambda: make_pipeline(
        make_column_transformer((OneHotEncoder(), ["c", "d"]), remainder=StandardScaler()),
        LogisticRegression(),
    ),
    "products": lambda: make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()),
}
SIMILAR = {
    "free": lw.Similarity(free=["c"]),
    "free and within": lw.Similarity(free=["d"], within={"a": 1}),
    "pairs and within": lw.Similarity(pairs={"c": [(0, 1)]}, within={"b": 2, "d": 1}),
}
PROPERTIES = {"decision": lw.SameDecision(), "margin": lw.SameDecision(0.2), "score": lw.ScoreGap(0.6)}


def constrained_sometimes(name, similar):
    """The space, in every second combination of a model and a similarity with a constraint."""
    odd = (list(MODELS).index(name) + list(SIMILAR).index(similar)) % 2
    return SPACE.where("a <= b + c + 1") if odd else SPACE


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
    score = only_score(imported.model, len(space))
    codes = space.encode(X)
    return [score.enclose([Fraction(c) for c in row], 128).middle for row in codes.tolist()]


class Truth:
    """For every individual: whether somebody in the space breaks the property with it, and the largest gap of scores."""

    def __init__(self, model, space, similar):
        people = everybody(space)
        self.head = import_model(model, space, rows=np.empty((0, len(space))), like=people).model.head
        self.scores = exact_scores(model, space, people)
        self.near = similar_pairs(space, similar)

    def biased(self, property):
        """One flag an individual."""
        found = np.zeros(len(self.scores), dtype=bool)
        for i, j in zip(*np.nonzero(self.near), strict=True):
            if broken(property, self.scores[i], self.scores[j], self.head):
                found[i] = found[j] = True
        return found

    @property
    def gaps(self):
        scores = np.array([float(s) for s in self.scores])
        return np.where(self.near, np.abs(scores[:, None] - scores), 0).max(axis=1)


def broken(property, first, second, head):
    if isinstance(property, lw.SameDecision):
        m = Fraction(property.margin)
        if head.zero_is_upper:
            return first >= m and second < -m
        return first > m and second <= -m
    if isinstance(property, lw.ScoreGap):
        return first - second > Fraction(property.delta)
    first, second = (1 / (1 + np.exp(-float(head.link_argument(s)))) for s in (first, second))
    return first - second > property.delta


def similar_pairs(space, similar):
    """Which of everybody may stand beside whom."""
    codes = space.encode(everybody(space))
    near = np.ones((len(codes), len(codes)), dtype=bool)
    for k, relation in enumerate(pair_space(space, similar).relations):
        values, at = np.unique(codes[:, k], return_inverse=True)
        allowed = np.array([[relation.allows(Fraction(p), Fraction(q)) for q in values] for p in values])
        near &= allowed[at][:, at]
    return near
