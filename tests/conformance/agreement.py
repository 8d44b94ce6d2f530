"""What conformance means: the imported model says what the original says, on rows of every sort.

Rows: the data, random individuals, every value of every discrete feature, and for continuous features their ends,
the places where a column of theirs is zero or cut, and one ulp to either side of both; missing values where there may be some. Compared are exact scores with
the original's own, labels wherever the score is not a hair's breadth from zero, and probabilities.
"""

import warnings
from fractions import Fraction

import numpy as np

from likewise.families.kernel.body import RbfSum
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise.spec.features import Continuous, Integer

RELATIVE = 1e-9  # the original is float64; its sums have some hundred terms of ordinary size
HAIR = 1e-7
BITS = 80


def import_quietly(model, space, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_model(model, space, rows=space.encode(X), like=X)


def probing_rows(space, X, imported, seed=0):
    """Codes of the user's own space."""
    random = np.random.default_rng(seed)
    drawn = [space.encode(X)[:20], np.array([_anyone(space, random) for _ in range(20)])]
    for k, name in enumerate(space.names):
        values = _values(space[name], [c for c in imported.model.embedding if c.feature == k])
        rows = np.array([_anyone(space, random) for _ in values])
        rows[:, k] = values
        drawn.append(rows)
    return np.concatenate(drawn)


def _anyone(space, random):
    return [_some(space[name], random) for name in space.names]


def _some(feature, random):
    if feature.missing and random.random() < 0.2:
        return feature.missing_code
    if isinstance(feature, Continuous):
        return random.uniform(feature.lo, feature.hi)
    if isinstance(feature, Integer):
        return float(random.integers(feature.lo, feature.hi + 1))
    return float(random.integers(feature.size))


def _values(feature, columns):
    missing = [feature.missing_code] if feature.missing else []
    if isinstance(feature, Integer):
        return np.arange(feature.lo, feature.hi + 1, dtype=float)[:40].tolist() + missing
    if not isinstance(feature, Continuous):
        return np.arange(feature.size, dtype=float)
    places = [feature.lo, feature.hi]
    places += [
        float(-c.offset / c.slope) for c in columns if c.table is None and c.slope and c.pieces is None
    ]
    places += sorted({float(cut) for c in columns if c.pieces is not None for cut in c.pieces.cuts})
    near = [np.nextafter(p, to) for p in places for to in (-np.inf, np.inf)]
    return np.array([p for p in (*places, *near) if feature.lo <= p <= feature.hi] + missing)


def assert_agrees(model, space, X, *, decides="decision_function"):
    """The imported model, after it was compared with the original on all these rows."""
    imported = import_quietly(model, space, X)
    given = probing_rows(space, X, imported)
    if isinstance(imported.model.body, RbfSum):  # balls are slow: every third row
        given = given[::3]
    codes = imported.recoding.coded(given)
    frame = space.decode(given, like=X)
    score = only_score(imported.model, len(space))
    exact = [score.enclose([Fraction(c) for c in row], BITS) for row in codes.tolist()]
    ours = np.array([float(value.middle) for value in exact])
    head = imported.model.head
    linked = np.array([float(head.link_argument(value.middle)) for value in exact])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if decides is not None:
            theirs = np.ravel(model.predict(frame) if head.labels is None else getattr(model, decides)(frame))
            size = 1 + np.abs(theirs).max()
            assert np.abs(ours - theirs).max() <= RELATIVE * size
        if head.labels is not None:
            decided = model.predict(frame)
            deciding = ours if head.undecided is None else linked
            clear = np.flatnonzero(np.abs(deciding) > HAIR)
            assert [head.decide([exact[i].middle]) for i in clear] == [decided[i] for i in clear]
        if head.link == "logistic":
            given_probabilities = model.predict_proba(frame)[:, 1]
            assert np.abs(1 / (1 + np.exp(-linked)) - given_probabilities).max() <= RELATIVE
    return imported
