"""Lines: what they say about the rounding of the program that computes them is true, and not by much."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from tests.tiers import examples

import likewise as lw
from likewise.families.scored_model import rounding_error
from likewise.importers.imported_model import import_model
from likewise.importers.transformers.casts import single_line
from likewise.importers.transformers.composition import selected_places
from likewise.importers.transformers.scalers import inverse_operations, scale_columns, scaler_operations
from likewise.importers.transformers.traced_columns import Arithmetic, Line, Operation, Step

ordinary = st.floats(-1e9, 1e9)
scales = st.floats(1e-9, 1e9).flatmap(lambda s: st.sampled_from([s, -s]))
tiny = st.sampled_from([5e-324, 1e-310, -2e-308, 1e-300])
operations = st.lists(
    st.one_of(
        st.tuples(st.just("plus"), ordinary | tiny),
        st.tuples(st.just("times"), scales),
        st.tuples(st.just("over"), scales),
        st.tuples(st.just("inverse"), scales),
    ),
    max_size=6,
)


def computed(x, given):
    """As a program does it, `inverse` being a division that multiplies by 1 / s."""
    value = np.float64(x)
    for kind, number in given:
        if kind == "plus":
            value = value + number
        elif kind == "times":
            value = value * number
        else:
            value = value / number if kind == "over" else value * (1 / np.float64(number))
    return Fraction(float(value))


def allowed(line, x):
    growth = (1 + Fraction(1, 2**53)) ** line.roundings - 1
    return growth * (abs(line.offset + line.slope * Fraction(x)) + line.slack)


@examples(400, deadline=None)
@given(given=operations, x=ordinary | tiny)
@example(given=[("plus", -1e9), ("over", 3.0)], x=1e9)
@example(given=[("over", 3.0), ("plus", -1.0), ("over", 1e-9)], x=3.0)
@example(given=[("times", 1e-9), ("times", 1e9)], x=5e-324)
def test_a_line_is_as_far_from_the_program_as_it_says(given, x):
    chain = Arithmetic(
        tuple(Operation("over" if kind == "inverse" else kind, Fraction(number)) for kind, number in given)
    )
    line = chain.on(Line())
    exact = line.offset + line.slope * Fraction(x)
    assert abs(computed(x, given) - exact) <= allowed(line, x)


def test_the_first_subtraction_loses_nothing_to_what_is_subtracted():
    line = Arithmetic((Operation("plus", Fraction(-(10**9))), Operation("over", Fraction(3)))).on(Line())
    assert line.slack <= Fraction(1, 2**1000)
    again = Operation("plus", Fraction(5)).on(line)
    assert again.slack >= 5  # from the second on, it does


def test_without_the_slack_the_bound_would_be_wrong():
    given = [("over", 3.0), ("plus", -1 / 3)]
    line = Arithmetic(tuple(Operation(kind, Fraction(number)) for kind, number in given)).on(Line())
    off = abs(computed(1.0000000001, given) - (line.offset + line.slope * Fraction(1.0000000001)))
    growth = (1 + Fraction(1, 2**53)) ** line.roundings - 1
    assert off > growth * abs(line.offset + line.slope * Fraction(1.0000000001))
    assert off <= allowed(line, 1.0000000001)


# -- what a proof says about the rounding of a pipeline -----------------------------------------------------

X = np.array([[20.0, 0.0], [30.0, 1.0], [40.0, 3.0], [50.0, 2.0], [35.0, 5.0], [25.0, 4.0]])
SPACE = lw.Space({"age": lw.Integer(20, 50), "debts": lw.Integer(0, 5)})


def test_the_rounding_of_scalers_is_in_the_error_bound():
    labels = [0, 0, 1, 1, 1, 0]
    plain = LogisticRegression().fit(StandardScaler().fit_transform(X), labels)
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, labels)
    model = import_model(scaled, SPACE, rows=np.empty((0, 2))).model
    bound = rounding_error(model, SPACE)
    assert (
        model.rounding.operations == 2 * 2 + 2 + 3
    )  # as for two weights, and one subtraction and one division
    assert bound < Fraction(1, 10**13)
    rows = np.array([[a, d] for a in range(20, 51) for d in range(6)], dtype=float)
    theirs = scaled.decision_function(rows)
    worst = max(
        abs(Fraction(float(s)) - model.exact([Fraction(c) for c in row])[0])
        for s, row in zip(theirs, rows.tolist(), strict=True)
    )
    assert 0 < worst <= bound
    assert plain.coef_.shape == scaled[-1].coef_.shape


@pytest.mark.parametrize(
    ("transformer", "covered"),
    [
        (StandardScaler(), True),
        (FunctionTransformer(np.sqrt), True),
        (KBinsDiscretizer(2, encode="ordinal", strategy="uniform"), True),
        (FunctionTransformer(np.log1p), False),
        (make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), False),
    ],
)
def test_proofs_cover_the_rounding_of_what_is_determined_and_of_nothing_else(transformer, covered):
    model = make_pipeline(transformer, LogisticRegression()).fit(X, [0, 0, 1, 1, 1, 0])
    result = lw.verify(model, SPACE, lw.Similarity(within={"age": 1}), lw.ScoreGap(50.0))
    assert result.verdict == "FAIR"
    assert result.covers_floating_point is covered


@pytest.mark.parametrize(
    ("selection", "places"),
    [
        ("b", [1]),
        (2, [2]),
        (-1, [3]),
        ([3, 0], [3, 0]),
        (np.array([1, 2]), [1, 2]),
        (["d", "a"], [3, 0]),
        (slice(1, 3), [1, 2]),
        (slice("b", "c"), [1, 2]),
        (slice(None, "b"), [0, 1]),
        (slice("c", None), [2, 3]),
        (np.array([True, False, False, True]), [0, 3]),
        ([], []),
    ],
)
def test_selections(selection, places):
    assert selected_places(selection, "abcd", 4, Step(path=("s",), kind="t")) == places


# -- single precision ---------------------------------------------------------------------------------------------------

units = st.floats(1e-4, 1e4).flatmap(lambda s: st.sampled_from([s, -s]))
single_operations = st.lists(
    st.one_of(
        st.tuples(st.just("plus"), st.floats(-1e6, 1e6)),
        st.tuples(st.just("times"), units),
        st.tuples(st.just("over"), units),
        st.tuples(st.just("inverse"), units),
        st.tuples(st.just("cast"), st.just(0.0)),
    ),
    max_size=6,
)
WAYS = {
    "rounded first": np.float32,
    "rounded after": np.float64,
}


def computed_singly(x, given, constant):
    """From the first cast on in float32: with the stored number rounded first, or with what comes out rounded once more."""
    value, single = np.float64(x), False
    for kind, number in given:
        single = single or kind == "cast"
        by = constant(number) if single else np.float64(number)
        if kind == "plus":
            value = value + by
        elif kind == "times":
            value = value * by
        elif kind != "cast":
            value = value / by if kind == "over" else value * (1 / by)
        value = np.float32(value) if single else value
    return Fraction(float(value))


@examples(400, deadline=None)
@given(given=single_operations, x=st.floats(-1e6, 1e6) | st.sampled_from([1e-44, 1e-38, 3e-45]))
@example(given=[("cast", 0.0), ("plus", -1e6), ("over", 1e-4)], x=1e6 - 1 / 32)
@example(given=[("cast", 0.0), ("times", 1e-4), ("times", 1e4)], x=3e-45)
@example(given=[("plus", 0.1), ("cast", 0.0)], x=-0.1)
def test_a_line_of_casts_is_as_far_from_the_program_as_it_says(given, x):
    line = Arithmetic(
        tuple(Operation("over" if kind == "inverse" else kind, Fraction(number)) for kind, number in given)
    ).on(Line())
    exact = line.offset + line.slope * Fraction(x)
    growth = Fraction(np.nextafter(np.expm1(line.roundings * 2.0**-53 * (1 - 1e-9)), 0.0))
    for constant in WAYS.values():
        off = abs(computed_singly(x, given, constant) - exact)
        assert off <= growth * (abs(exact) + line.slack)


@examples(200, deadline=None)
@given(given=single_operations, x=st.floats(-1e6, 1e6))
def test_a_line_of_a_number_in_single_precision_covers_every_cast(given, x):
    """As programs of one precision have it: every operation in float32, stored numbers too."""
    plain = [(kind, number) for kind, number in given if kind != "cast"]
    chain = Arithmetic(tuple(Operation("over" if k == "inverse" else k, Fraction(n)) for k, n in plain))
    line = single_line(chain.on(Line()))
    exact = line.offset + line.slope * Fraction(x)
    growth = Fraction(np.nextafter(np.expm1(line.roundings * 2.0**-53 * (1 - 1e-9)), 0.0))
    for constant in WAYS.values():
        off = abs(computed_singly(x, [("cast", 0.0), *plain], constant) - exact)
        assert off <= growth * (abs(exact) + line.slack)


SCALERS = (
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    RobustScaler(),
    RobustScaler(with_centering=False),
    MinMaxScaler((-1, 2)),
    MaxAbsScaler(),
)


@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
def test_scalers_do_what_they_were_fitted_to_do_and_take_it_back(scaler):
    rows = np.array([[3.0], [7.0], [12.0], [-1.5]])
    fitted, step = scaler.fit(rows), Step(path=("scaler",), kind=type(scaler).__name__)
    line = Arithmetic(scaler_operations(fitted, 0, step)).on(Line())
    back = Arithmetic(inverse_operations(fitted, step)).on(line)
    for x, made in zip(rows.ravel().tolist(), fitted.transform(rows).ravel().tolist(), strict=True):
        assert float(line.offset + line.slope * Fraction(x)) == pytest.approx(made, abs=1e-12)
        assert float(back.offset + back.slope * Fraction(x)) == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize("scaler", [MinMaxScaler((0.25, 0.75), clip=True), MaxAbsScaler(clip=True)], ids=repr)
def test_clipped_scalers_bend_where_they_meet_the_ends_of_their_range(scaler):
    fitted = scaler.fit(np.array([[2.0], [7.0], [12.0]]))
    (column,) = scale_columns(fitted, [None], Step(path=("scaler",), kind=type(scaler).__name__))
    for x in (-20.0, -12.0, -11.0, 2.0, 2.5, 11.5, 12.0, 12.5, 40.0):
        made = float(fitted.transform([[x]])[0, 0])
        assert float(column.action.spline.exact(Fraction(x))) == pytest.approx(made, abs=1e-12)


def test_what_is_subtracted_counts_by_its_size_and_a_division_twice():
    plus, over = Operation("plus", Fraction(-7)), Operation("over", Fraction(3))
    line = Arithmetic((over, plus, Operation("times", Fraction(-2)))).on(Line())
    assert (line.slope, line.offset) == (Fraction(-2, 3), 14)
    assert line.roundings == 4
    assert line.slack >= 14
