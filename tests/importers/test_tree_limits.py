"""Where tests of columns change on the raw number: compared with the program itself, on both sides."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import likewise as lw
from likewise.importers.inputs import Inputs
from likewise.importers.recoding import identity_recoding
from likewise.importers.trees.library_forest import Forest, order_depth_first
from likewise.importers.trees.limits import doubles_of_keys, keys_of_doubles, raw_limits
from likewise.importers.trees.reached_columns import reach_columns


def forest(*, single, strict):
    return Forest(trees=(), bias=(Fraction(0),), single=single, strict=strict)


def awkward_doubles(random, count):
    """Of all sizes, on float32 numbers, between two of them, and one double beside both."""
    some = random.normal(size=count) * 10.0 ** random.integers(-40, 30, count)
    small = some.astype(np.float32)
    middle = (small.astype(np.float64) + np.nextafter(small, np.float32(np.inf)).astype(np.float64)) / 2
    places = np.concatenate(
        [some, small.astype(np.float64), middle, [0.0, 1e-45, -1e-45, 3.4028234663852886e38]]
    )
    return np.concatenate([places, np.nextafter(places, -np.inf), np.nextafter(places, np.inf)])


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_limit_is_the_last_double_that_goes_left(single, strict):
    thresholds = awkward_doubles(np.random.default_rng(0), 500)

    def goes_left(values):
        with np.errstate(over="ignore"):
            seen = values.astype(np.float32).astype(np.float64) if single else values
        return seen < thresholds if strict else seen <= thresholds

    limits = forest(single=single, strict=strict).limits(thresholds)
    assert goes_left(limits).all()
    assert not goes_left(np.nextafter(limits, np.inf)).any()


def test_keys_count_doubles_in_order():
    values = np.sort(awkward_doubles(np.random.default_rng(1), 200))
    keys = keys_of_doubles(values)
    assert (np.diff(keys) >= 0).all()
    assert (doubles_of_keys(keys) == values).all()
    assert (doubles_of_keys(keys + 1) == np.nextafter(values, np.inf)).all()


@pytest.mark.parametrize("single", [False, True])
def test_raw_limits_are_those_of_the_pipeline_itself(single):
    random = np.random.default_rng(2)
    space = lw.Space(
        {"wide": lw.Continuous(-1e6, 3e6), "small": lw.Continuous(-1e-3, 1e-3), "age": lw.Integer(-40, 90)}
    )
    X = pd.DataFrame(
        {
            "wide": random.uniform(-1e6, 3e6, 50),
            "small": random.uniform(-1e-3, 1e-3, 50),
            "age": random.integers(-40, 91, 50),
        }
    )
    prepared = ColumnTransformer(
        [("z", StandardScaler(), ["small", "wide"]), ("m", MaxAbsScaler(), ["age"])],
        transformer_weights={"m": -3.7},
    ).fit(X)
    inputs = Inputs(recoding=identity_recoding(space), columns=space.names, like=X, named=True)
    found = reach_columns([("prepared", prepared)], inputs, model="trees")
    columns = np.repeat(np.arange(3), 150)
    made = prepared.transform(X)
    thresholds = np.concatenate(
        [random.choice(made[:, c], 150) + random.choice([0, 1e-9, 0.1], 150) for c in range(3)]
    )
    limits = forest(single=single, strict=False).limits(thresholds)
    raw = raw_limits(found, columns, limits)
    names, steps = ["small", "wide", "age"], [0, 0, 1]
    for c in range(3):
        mine = columns == c
        feature, falls = space[names[c]], c == 2
        for codes, holds in (
            (raw[mine], True),
            (raw[mine] + 1 if steps[c] else np.nextafter(raw[mine], np.inf), False),
        ):
            inside = (feature.lo <= codes) & (codes <= feature.hi)
            assert inside.sum() > 100
            rows = pd.DataFrame({n: np.full(inside.sum(), space[n].lo) for n in space.names})
            rows[names[c]] = codes[inside].astype(int) if steps[c] else codes[inside]
            values = prepared.transform(rows)[:, c]
            if single:
                values = values.astype(np.float32).astype(np.float64)
            assert ((values <= thresholds[mine][inside]) ^ falls == holds).all()


def test_depth_first_renumbers_children():
    left = np.array([2, -1, 3, -1, -1])
    right = np.array([1, -1, 4, -1, -1])
    order, then = order_depth_first(left, right)
    assert order.tolist() == [0, 2, 3, 4, 1]
    assert then.tolist() == [4, 3, -1, -1, -1]
