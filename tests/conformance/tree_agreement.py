"""What conformance means for trees: on every row, also on and beside every threshold, the original's own answers.

Rows are codes of the user's space: data, random individuals (missing values among them), every level, and for numbers all thresholds of the
imported trees, one code to either side of them, and float32 numbers next to them. Trees are walked here by splitting rows, not as the package does.
"""

import warnings
from fractions import Fraction

import numpy as np

from likewise.importers.imported_model import import_model
from likewise.spec.features import Continuous, Integer

EXACT_ROWS = 25
MOST_THRESHOLDS = 150
LOGARITHM = Fraction(1, 10**13)  # that the logarithm of a prediction is off from the score that it is exp of


def import_quietly(model, space, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_model(model, space, rows=space.encode(X), like=X)


def body_of(model):
    return model.bodies[0].ensemble


def adversarial_rows(imported, space, X, at_least, seed=1):
    """Codes of the user's own space."""
    random = np.random.default_rng(seed)
    parts = [space.encode(X)]
    for k in range(len(space)):
        values = telling_values(imported, space, k, random)
        rows = anyone(space, len(values), random)
        rows[:, k] = values
        parts.append(rows)
    found = sum(map(len, parts))
    return np.concatenate([*parts, anyone(space, max(at_least - found, 100), random)])


def anyone(space, count, random):
    columns = []
    for name in space.names:
        feature = space[name]
        if isinstance(feature, Continuous):
            values = random.uniform(feature.lo, feature.hi, count)
        elif isinstance(feature, Integer):
            values = random.integers(feature.lo, feature.hi + 1, count).astype(float)
        else:
            values = random.integers(feature.size, size=count).astype(float)
        if feature.missing:
            values[random.uniform(size=count) < 0.2] = feature.missing_code
        columns.append(values)
    return np.stack(columns, axis=1)


def telling_values(imported, space, k, random):
    feature, now = space[space.names[k]], imported.space[space.names[k]]
    if isinstance(feature, Integer):
        values = np.arange(feature.lo, feature.hi + 1, dtype=float)
    elif not isinstance(feature, Continuous):
        return np.arange(feature.size, dtype=float)
    else:
        assert isinstance(now, Continuous)
        tests = [tree.threshold[tree.feature == k] for tree in body_of(imported.model).trees]
        places = np.unique(np.concatenate(tests))
        places = random.choice(places, min(len(places), MOST_THRESHOLDS), replace=False)
        single = places.astype(np.float32)
        near = [np.nextafter(places, to) for to in (-np.inf, np.inf)]
        near += [np.nextafter(single, np.float32(to)).astype(float) for to in (-np.inf, np.inf)]
        middle = (near[2] + single) / 2
        values = np.concatenate(
            [[feature.lo, feature.hi], places, single.astype(float), *near, middle, np.nextafter(middle, 1e9)]
        )
        values = values[(values >= feature.lo) & (values <= feature.hi)]
    return np.append(values, feature.missing_code) if feature.missing else values


def split_rows(tree, codes, missing, node=0, rows=None, found=None):
    """The leaf of every row."""
    if found is None:
        rows, found = np.arange(len(codes)), np.empty(len(codes), dtype=int)
    k = int(tree.feature[node])
    if k == -1:
        found[rows] = node
        return found
    column = codes[rows, k]
    left = np.isin(column, list(tree.levels[node])) if node in tree.levels else column <= tree.threshold[node]
    if k in missing:
        left = np.where(column == float(missing[k]), tree.missing_left[node], left)
    split_rows(tree, codes, missing, node + 1, rows[left], found)
    split_rows(tree, codes, missing, int(tree.right[node]), rows[~left], found)
    return found


def scores_of(body, codes):
    total = np.tile([float(b) for b in body.bias], (len(codes), 1))
    for tree in body.trees:
        total += float(tree.factor) * tree.values[split_rows(tree, codes, body.missing)]
    return total


def recoded(codes, space, imported):
    """Numbers that the importer has declared as levels count from 0."""
    codes = codes.copy()
    for k, name in enumerate(space.names):
        if isinstance(space[name], Integer) and not isinstance(imported.space[name], Integer):
            codes[:, k] -= space[name].lo
    return codes


def original_scores(model, imported, frame):
    head = imported.model.head
    if imported.model.n_scores > 1:
        return model.predict_proba(frame) if head.link == "identity" else model.decision_function(frame)
    if head.link == "exponential":
        return np.log(np.ravel(model.predict(frame)))[:, None]
    return np.ravel(model.predict(frame) if head.labels is None else model.decision_function(frame))[:, None]


def assert_agrees(model, space, X, *, at_least=400):
    """The imported model and how many rows it was compared on."""
    imported = import_quietly(model, space, X)
    given = adversarial_rows(imported, space, X, at_least)
    codes, frame = recoded(given, space, imported), space.decode(given, like=X)
    body, head, rounding = body_of(imported.model), imported.model.head, imported.model.rounding
    ours = scores_of(body, codes)
    stated = rounding.error() + (LOGARITHM if head.link == "exponential" else 0)
    error = float(stated)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = original_scores(model, imported, frame)
        decided = None if head.labels is None else model.predict(frame).tolist()
        linked = getattr(head, "link", None) not in (None, "exponential")
        probabilities = model.predict_proba(frame) if linked else None
    assert np.abs(ours - theirs).max() <= 2 * error + 1e-300
    _assert_exact(body, codes, theirs, stated)
    if decided is not None:
        _assert_labels(imported, ours, decided, 4 * error)
    if probabilities is not None:
        _assert_probabilities(head, ours, probabilities)
    return imported, len(codes)


def _assert_exact(body, codes, theirs, error):
    """That the stated rounding covers the program, in rationals."""
    for i in range(0, len(codes), max(1, len(codes) // EXACT_ROWS)):
        exact = body.exact([Fraction(code) for code in codes[i].tolist()])
        for value, given in zip(exact, theirs[i].tolist(), strict=True):
            assert abs(value - Fraction(given)) <= error


def _assert_labels(imported, ours, decided, room):
    head = imported.model.head
    if imported.model.n_scores > 1:
        ranked = np.sort(ours, axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > room
        labels = [head.labels[i] for i in np.argmax(ours, axis=1)]
    else:
        clear = np.abs(ours[:, 0]) > room
        labels = [head.labels[int(score > 0)] for score in ours[:, 0]]
    assert clear.mean() > 0.5
    assert [labels[i] for i in np.flatnonzero(clear)] == [decided[i] for i in np.flatnonzero(clear)]


def _assert_probabilities(head, ours, probabilities):
    if head.link == "logistic":
        expected = 1 / (1 + np.exp(-float(head.slope) * ours[:, 0]))
        probabilities = probabilities[:, 1]
    elif head.link == "softmax":
        powers = np.exp(ours - ours.max(axis=1, keepdims=True))
        expected = powers / powers.sum(axis=1, keepdims=True)
    else:
        expected = ours
    assert np.abs(expected - probabilities).max() <= 1e-9
