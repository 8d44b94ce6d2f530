"""One order of arguments in all functions; the order that `audit` had is accepted with a warning, and what is neither is refused."""

import inspect

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.errors import SpecError

X = pd.DataFrame({"sex": [0, 1, 0, 1], "age": [20, 30, 40, 50]})
SPACE, SIMILAR = lw.Space.from_data(X), lw.Similarity(free=["sex"])
MODEL = LogisticRegression().fit(X, [0, 0, 1, 1])
GAP = lw.ScoreGap(1.0)


@pytest.mark.parametrize(
    "name", ["verify", "measure", "audit", "share", "radius", "near", "regions", "repair", "compare"]
)
def test_all_functions_have_one_order(name):
    parameters = inspect.signature(getattr(lw, name)).parameters
    places = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    wanted = ["model", "space", "similar", *(["property"] if name != "measure" else [])]
    assert [place for place in places if place != "other"] == wanted
    assert parameters["X"].kind is inspect.Parameter.KEYWORD_ONLY


def test_the_order_of_before_is_taken_with_a_warning():
    today = lw.audit(MODEL, SPACE, SIMILAR, GAP, X=X)
    for given, named in (
        ((MODEL, X, SPACE, SIMILAR, GAP), {}),
        ((MODEL, X, SPACE, SIMILAR), {"property": GAP}),
        ((MODEL, X, SPACE), {"similar": SIMILAR, "property": GAP}),
        ((MODEL, X), {"space": SPACE, "similar": SIMILAR, "property": GAP}),
    ):
        with pytest.warns(DeprecationWarning, match=r"call audit\(model, space, similar, X=X\)") as told:
            before = lw.audit(*given, **named)
        assert told[0].filename == __file__
        assert before.rows.equals(today.rows)
    named = lw.audit(model=MODEL, X=X, space=SPACE, similar=SIMILAR, property=GAP)
    assert named.rows.equals(today.rows)


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((MODEL, X, SPACE, SIMILAR), {"X": X}, "rows are given twice"),
        ((MODEL, SPACE, SPACE, SIMILAR), {}, "more than one space"),
        ((MODEL, X, SIMILAR), {}, "is no space"),
        ((MODEL, SPACE, SIMILAR), {}, "needs rows"),
    ],
)
def test_what_is_neither_order_is_refused(given, named, message):
    with pytest.raises(SpecError, match=message) as told:
        lw.audit(*given, **named)
    assert "audit(model, space, similar, X=X)" in str(told.value)
