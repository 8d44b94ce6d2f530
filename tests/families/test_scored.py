"""The model as mathematics: exact evaluation, decisions at zero, and an honest rounding bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import InternalError, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.scored_model import Model, only_score, rounding_error
from likewise.model.embedding import Column, identity_columns
from likewise.model.head import NUMBER_HEAD, Head

doubles = st.floats(-1e6, 1e6)
SPACE = lw.Space({"a": lw.Integer(-2, 5), "c": lw.Categorical([3, -1, 0.5]), "x": lw.Continuous(-1, 8)})


def model_of(weights, bias, embedding, n):
    sizes = tuple(abs(Fraction(w)) for w in weights)
    return Model(
        family="test",
        rounding=AffineRounding(sizes=sizes, constant=abs(Fraction(bias)), operations=2 * n + 2),
        embedding=embedding,
        bodies=(Affine(weights=tuple(map(Fraction, weights)), bias=Fraction(bias)),),
        head=Head(labels=(0, 1)),
    )


codes = st.tuples(st.integers(-2, 5), st.integers(0, 2), st.floats(-1, 8)).map(
    lambda row: [Fraction(c) for c in row]
)


@given(weights=st.tuples(doubles, doubles, doubles), bias=doubles, row=codes)
def test_levels_count_by_value_and_positions_are_only_codes(weights, bias, row):
    model = model_of(weights, bias, identity_columns(SPACE, SPACE.names, step="test"), 3)
    level = [Fraction(3), Fraction(-1), Fraction(1, 2)][int(row[1])]
    expected = Fraction(bias) + sum(
        Fraction(w) * v for w, v in zip(weights, (row[0], level, row[2]), strict=True)
    )
    assert model.exact(row) == (expected,)
    assert only_score(model, 3).exact(row) == expected
    assert only_score(model, 3).negated().exact(row) == -expected


@given(
    slopes=st.tuples(doubles, doubles),
    offsets=st.tuples(doubles, doubles),
    table=st.tuples(*[doubles] * 3),
    row=codes,
)
def test_columns_of_one_feature_add_up(slopes, offsets, table, row):
    embedding = (
        Column(feature=0, slope=Fraction(slopes[0]), offset=Fraction(offsets[0])),
        Column(feature=0, slope=Fraction(slopes[1]), offset=Fraction(offsets[1])),
        Column(feature=1, table=tuple(map(Fraction, table))),
        Column(feature=1, table=(Fraction(1), Fraction(0), Fraction(0))),
    )
    model = model_of([1.0, -2.0, 0.5, 3.0], 0.25, embedding, 4)
    assert (only_score(model, 3).exact(row),) == model.exact(row)


def test_a_feature_is_a_number_or_levels_not_both():
    embedding = (Column(feature=0, table=(Fraction(0),)), Column(feature=0))
    with pytest.raises(InternalError):
        only_score(model_of([1, 1], 0, embedding, 2), 1)


def test_columns_follow_the_models_order_not_the_spaces():
    columns = identity_columns(SPACE, ("x", "a", "c"), step="test")
    assert [c.feature for c in columns] == [2, 0, 1]


def test_text_levels_are_no_numbers():
    space = lw.Space({"sex": lw.Categorical(["f", "m"])})
    with pytest.raises(UnsupportedModel, match="'sex' has the level 'f'"):
        identity_columns(space, ("sex",), step="LogisticRegression")


@pytest.mark.parametrize("zero_is_upper", [False, True])
def test_zero_belongs_to_one_side(zero_is_upper):
    head = Head(labels=("no", "yes"), zero_is_upper=zero_is_upper)
    tiny = Fraction(1, 10**400)
    assert [head.decide([s]) for s in (-tiny, Fraction(0), tiny)] == [
        "no",
        "yes" if zero_is_upper else "no",
        "yes",
    ]


def test_a_regressor_decides_nothing():
    assert NUMBER_HEAD.decide([Fraction(3)]) == Fraction(3)


@given(
    weights=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
    bias=doubles,
    rows=st.lists(codes, min_size=1, max_size=5),
    order=st.permutations([0, 1, 2]),
)
def test_floating_point_sums_stay_within_the_rounding_bound(weights, bias, rows, order):
    """In any order of addition: the bound may not depend on how a BLAS groups its terms."""
    model = model_of(weights, bias, identity_columns(SPACE, SPACE.names, step="test"), 3)
    bound = rounding_error(model, SPACE)
    for row in rows:
        columns = [float(column.exact(row[column.feature])) for column in model.embedding]
        (exact,) = model.exact(row)
        by_blas = float(np.dot(columns, weights) + bias)
        by_hand = bias
        for k in order:
            by_hand = by_hand + weights[k] * columns[k]
        own = model.rounding.error([Fraction(c) for c in columns])
        assert own <= bound
        assert abs(Fraction(by_blas) - exact) <= own
        assert abs(Fraction(by_hand) - exact) <= own


@given(weights=st.tuples(doubles, doubles, doubles), bias=doubles, row=codes)
def test_float_scores_are_near_the_exact_ones(weights, bias, row):
    model = model_of(weights, bias, identity_columns(SPACE, SPACE.names, step="test"), 3)
    score = only_score(model, 3)
    given_score = score.scores(np.array([[float(c) for c in row]]))[0]
    assert abs(Fraction(float(given_score)) - score.exact(row)) <= Fraction(1, 2**40) * (
        abs(Fraction(bias)) + sum(8 * abs(Fraction(w)) for w in weights) + Fraction(1, 10**300)
    )
