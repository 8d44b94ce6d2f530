"""The frame of a pair shows what differs first, and is a frame like any other in all else."""

import copy
import pickle

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw

NAMES = [f"f{i:02}" for i in range(30)]
SPACE = lw.Space({name: lw.Integer(0, 9) for name in NAMES})


def biased(frames):
    rows = np.random.default_rng(0).integers(0, 10, (80, 30))
    X = pd.DataFrame(rows, columns=NAMES)
    model = LogisticRegression(solver="liblinear").fit(X, X["f17"] > 4)
    X = X if frames == "pandas" else pl.from_pandas(X)
    return model, lw.verify(model, SPACE, lw.Similarity(free=["f17"]), X=X)


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_what_differs_is_printed_first(frames):
    model, found = biased(frames)
    pair = found.pair
    assert list(pair.columns) == NAMES
    for text in (str(pair), repr(pair), pair._repr_html_()):
        assert "f17" in text
        assert text.index("f17") < text.index("f00")
    assert set(model.predict(pair if frames == "pandas" else pair.to_pandas())) == {False, True}


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_it_is_a_frame_like_any_other(frames):
    _, found = biased(frames)
    pair, plain = found.pair, pd.DataFrame if frames == "pandas" else pl.DataFrame
    assert isinstance(pair, plain)
    assert nw.from_native(pair).shape == (2, 30)
    for back in (pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair)):
        assert back.equals(pair)
    part = pair[["f00", "f17"]]
    assert str(part).index("f00") < str(part).index("f17")


def test_missing_values_do_not_differ_from_each_other():
    from likewise.verifying.pair_frame import differing_first

    frame = pd.DataFrame({"a": [np.nan, np.nan], "b": [1, 2], "c": ["x", "x"], "d": [None, 3.0]})
    assert differing_first(frame) == ["b", "d", "a", "c"]
