"""Searches, thresholds, calibration and transformed targets: decided and scored as the original does."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from tests.conformance.agreement import assert_agrees, import_quietly, probing_rows
from tests.conformance.people import NUMBERS, SPACE, WORDS, people, quick_logistic
from tests.strategies import logistic_model
from tests.tiers import examples

import likewise as lw
from likewise.errors import SpecError, UnsupportedModel
from likewise.importers.imported_model import import_model

X, TARGET, LABELS = people()


def prepared():
    return ColumnTransformer([("n", StandardScaler(), NUMBERS), ("w", OneHotEncoder(), WORDS)])


def fitted(model, y=LABELS):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def logistic():
    return make_pipeline(prepared(), quick_logistic())


SEARCHES = {
    "grid": GridSearchCV(logistic(), {"logisticregression__C": [0.1, 1.0]}, cv=2),
    "random": RandomizedSearchCV(logistic(), {"logisticregression__C": [0.1, 1.0]}, n_iter=1, cv=2),
    "halving": HalvingGridSearchCV(logistic(), {"logisticregression__C": [0.1, 1.0]}, cv=2),
    "inside": make_pipeline(prepared(), GridSearchCV(SVC(), {"C": [0.5, 1.0]}, cv=2)),
    "frozen": FrozenEstimator(fitted(logistic())),
    "nested": Pipeline([("a", prepared()), ("b", Pipeline([("c", "passthrough"), ("d", quick_logistic())]))]),
}


@pytest.mark.draw(3)
@pytest.mark.parametrize("name", SEARCHES)
def test_searches_are_their_best_estimator(name):
    assert_agrees(fitted(SEARCHES[name]), SPACE, X)


# -- thresholds ---------------------------------------------------------------------------------------------


def agrees_on_decisions(model):
    """Scores are shifted against decision_function; everything else must agree."""
    imported = assert_agrees(model, SPACE, X, decides=None)
    codes = import_quietly(model, SPACE, X).rows
    labels = imported.replay.decisions(codes).tolist()
    assert set(labels) == {"no", "yes"}, "a threshold that decides alike for everybody tests nothing"
    return imported


FITTED = FrozenEstimator(fitted(logistic()))


@examples(15, suppress_health_check=list(HealthCheck))
@given(
    threshold=st.sampled_from([0.3, 0.5, 0.7, 0.123456789, "auto"]),
    method=st.sampled_from(["auto", "predict_proba", "decision_function"]),
    positive=st.sampled_from([None, "yes", "no"]),
)
def test_fixed_thresholds(threshold, method, positive):
    model = fitted(
        FixedThresholdClassifier(FITTED, threshold=threshold, response_method=method, pos_label=positive)
    )
    agrees_on_decisions(model)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_tuned_thresholds(method):
    model = fitted(
        TunedThresholdClassifierCV(logistic(), response_method=method, cv=2, random_state=0), LABELS == "yes"
    )
    assert_agrees(model, SPACE, X, decides=None)


def test_a_threshold_inside_a_threshold_or_a_calibration_has_no_effect():
    inner = FixedThresholdClassifier(logistic(), threshold=0.9)
    assert agrees_on_decisions(fitted(FixedThresholdClassifier(inner, threshold=0.4)))
    assert_agrees(fitted(CalibratedClassifierCV(inner, ensemble=False, cv=2)), SPACE, X, decides=None)


def test_a_threshold_around_a_calibration_compares_the_calibrated_probability():
    calibrated = CalibratedClassifierCV(logistic(), ensemble=False, cv=2)
    agrees_on_decisions(fitted(FixedThresholdClassifier(calibrated, threshold=0.45)))


def test_on_the_score_the_threshold_itself_belongs_to_the_positive_label():
    inside = logistic_model([1.0, 0.5], 0.0, "ab")
    space = lw.Space({"a": lw.Integer(-1, 2), "b": lw.Integer(0, 2)})
    for positive, on_it in ((None, 1), (1, 1), (0, 0)):
        level = -1.0 if positive == 0 else 1.0  # -f >= -1 is f <= 1
        model = FixedThresholdClassifier(
            FrozenEstimator(inside), threshold=level, response_method="decision_function", pos_label=positive
        ).fit(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), [0, 1])
        imported = import_model(model, space, rows=np.empty((0, 2)))
        rows = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 1.0]])  # scores 1, 1, 1.5, 0.5
        exact = [imported.model.exact([Fraction(c) for c in row])[0] for row in rows.tolist()]
        assert exact[0] == exact[1] == 0
        assert [imported.model.head.decide([score]) for score in exact] == [on_it, on_it, 1, 0]
        assert imported.replay.decisions(rows).tolist() == [on_it, on_it, 1, 0]


@examples(30)
@given(
    level=st.floats(0.001, 0.999),
    weights=st.lists(st.sampled_from([0.1, 1 / 3, -0.7, 2.0, 1e-9, 1e-17]), min_size=2, max_size=2),
)
def test_the_rational_threshold_decides_as_the_irrational_one(level, weights):
    """In balls of 2000 bits: f >= logit(t) exactly where the imported score is positive, and it is never zero."""
    from flint import arb, ctx, fmpq

    space = lw.Space({"a": lw.Integer(-20, 20), "b": lw.Integer(0, 3)})
    inside = logistic_model(weights, 0.25, "ab")
    model = FixedThresholdClassifier(FrozenEstimator(inside), threshold=level).fit(
        pd.DataFrame({"a": [0, 1], "b": [0, 1]}), [0, 1]
    )
    imported = import_model(model, space, rows=np.empty((0, 2)))
    exact = Fraction(level)
    with ctx.workprec(2000):
        logit = arb(
            fmpq(exact.numerator, exact.denominator) / fmpq((1 - exact).numerator, (1 - exact).denominator)
        ).log()
        for a in range(-20, 21):
            for b in range(4):
                f = Fraction(0.25) + Fraction(weights[0]) * a + Fraction(weights[1]) * b
                (score,) = imported.model.exact([Fraction(a), Fraction(b)])
                if exact == Fraction(1, 2):
                    assert (score >= 0) == (f >= 0)
                else:
                    assert score != 0
                    assert (score > 0) == (arb(fmpq(f.numerator, f.denominator)) > logit)


def test_doubles_of_continuous_features_are_told_apart():
    """The two doubles on either side of the point where f = logit(t) are decided differently."""
    inside = logistic_model([1.0], 0.0, ["a"])
    model = FixedThresholdClassifier(FrozenEstimator(inside), threshold=0.3).fit(
        pd.DataFrame({"a": [0, 1]}), [0, 1]
    )
    space = lw.Space({"a": lw.Continuous(-2, 2)})
    imported = import_model(model, space, rows=np.empty((0, 1)))
    below = float(np.log(0.3 / 0.7))
    candidates = [below]
    for _ in range(3):
        candidates = [np.nextafter(candidates[0], -3), *candidates, np.nextafter(candidates[-1], 3)]
    signs = [imported.model.exact([Fraction(c)])[0] > 0 for c in candidates]
    assert signs == sorted(signs)
    assert set(signs) == {False, True}


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5])
def test_thresholds_that_decide_alike_for_everybody_are_refused(threshold):
    model = fitted(FixedThresholdClassifier(logistic(), threshold=threshold, response_method="predict_proba"))
    with pytest.raises(UnsupportedModel, match="decides alike for everybody"):
        import_quietly(model, SPACE, X)


def test_a_threshold_does_not_move_probabilities():
    inside, similar = fitted(logistic()), lw.Similarity(free=["city"])
    model = fitted(FixedThresholdClassifier(FrozenEstimator(inside), threshold=0.3))
    gap = lw.measure(model, SPACE, similar, of="probability", budget=5)
    plain = lw.measure(inside, SPACE, similar, of="probability", budget=5)
    assert gap.lower <= plain.upper
    assert plain.lower <= gap.upper


def test_a_kernel_machine_keeps_a_threshold_of_zero_and_refuses_what_is_no_double():
    machine = make_pipeline(prepared(), SVC())
    kept = FixedThresholdClassifier(machine, threshold=0.0, response_method="decision_function")
    assert_agrees(fitted(kept), SPACE, X)
    moved = FixedThresholdClassifier(machine, threshold=1e-30, response_method="decision_function")
    with pytest.raises(UnsupportedModel, match="no doubles"):
        import_quietly(fitted(moved), SPACE, X)


# -- calibration --------------------------------------------------------------------------------------------


CALIBRATED = {
    "not an ensemble": CalibratedClassifierCV(logistic(), ensemble=False, cv=2),
    "frozen": CalibratedClassifierCV(FrozenEstimator(fitted(logistic()))),
    "without probabilities": CalibratedClassifierCV(
        make_pipeline(prepared(), RidgeClassifier()), ensemble=False, cv=2
    ),
    "linear machine": CalibratedClassifierCV(
        make_pipeline(prepared(), SVC(kernel="linear")), ensemble=False, cv=2
    ),
    "last step": make_pipeline(prepared(), CalibratedClassifierCV(RidgeClassifier(), ensemble=False, cv=2)),
    "searched": GridSearchCV(CalibratedClassifierCV(logistic(), ensemble=False, cv=2), {"cv": [2]}, cv=2),
}


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", CALIBRATED)
def test_sigmoid_calibration(name):
    model = fitted(CALIBRATED[name])
    imported = assert_agrees(model, SPACE, X, decides=None)
    assert imported.model.head.link == "logistic"
    gap = lw.measure(model, SPACE, lw.Similarity(free=["city"]), of="probability", X=X)
    assert gap.upper - gap.lower <= 1e-6
    assert abs(np.ptp(gap.probabilities) - gap.lower) < 1e-9


def test_an_isotonic_calibration_moves_the_decision():
    """To where the table passes 1/2; its probabilities are no logistic function of the score, and are those of an ensemble of one where they are asked for."""
    model = fitted(CalibratedClassifierCV(logistic(), method="isotonic", ensemble=False, cv=2))
    imported = assert_agrees(model, SPACE, X, decides=None)
    assert imported.model.head.link is None
    gap = lw.measure(model, SPACE, lw.Similarity(free=["city"]), of="probability", X=X)
    assert gap.upper - gap.lower <= 2e-6
    assert abs(np.ptp(gap.probabilities) - gap.lower) < 1e-9


def test_a_calibrated_kernel_model_keeps_its_score_and_has_a_link():
    model = fitted(CalibratedClassifierCV(make_pipeline(prepared(), SVC()), ensemble=False, cv=2))
    imported = assert_agrees(model, SPACE, X, decides=None)
    sigmoid = model.calibrated_classifiers_[0].calibrators[0]
    assert (imported.model.head.slope, imported.model.head.offset) == (-sigmoid.a_, -sigmoid.b_)
    around = import_quietly(fitted(FixedThresholdClassifier(FrozenEstimator(model), threshold=0.4)), SPACE, X)
    assert around.model.body.family == "sums"


def test_libsvm_does_not_evaluate_the_formula_that_it_has_fitted():
    """Why Platt's probabilities are refused: near 1/2 they are 1/2, and elsewhere they may be off as well."""
    rows = np.linspace(-1, 1, 2001)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(kernel="linear", probability=True, random_state=0).fit(rows[::50], rows[::50, 0] > 0)
    model._probA, model._probB = np.array([-0.5]), np.array([0.7])
    formula = 1 / (1 + np.exp(-0.5 * model.decision_function(rows) - 0.7))
    off = np.abs(model.predict_proba(rows)[:, 1] - formula)
    assert 0.004 < off.max() < 0.006


def test_proofs_through_probabilities_claim_nothing_about_rounding():
    dropped = ColumnTransformer([("n", StandardScaler(), NUMBERS)])
    narrow = SPACE.replace(age=lw.Integer(18, 19), income=lw.Continuous(0, 1))
    for around in (
        FixedThresholdClassifier(make_pipeline(dropped, quick_logistic()), threshold=0.3),
        CalibratedClassifierCV(make_pipeline(dropped, quick_logistic()), ensemble=False, cv=2),
    ):
        result = lw.verify(fitted(around), narrow, lw.Similarity(within={"age": 1}), lw.ScoreGap(1000.0))
        assert result.verdict == "FAIR"
        assert not result.covers_floating_point


# -- targets ------------------------------------------------------------------------------------------------


@pytest.mark.draw(4)
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), None])
def test_scaled_targets_are_scaled_back(scaler):
    regressor = make_pipeline(prepared(), LinearRegression())
    assert_agrees(fitted(TransformedTargetRegressor(regressor, transformer=scaler), TARGET), SPACE, X)


def test_bent_targets_are_refused():
    regressor = make_pipeline(prepared(), LinearRegression())
    bent = [
        TransformedTargetRegressor(regressor, func=np.sqrt, inverse_func=np.square),
        TransformedTargetRegressor(regressor, transformer=FunctionTransformer(np.cbrt, np.square)),
    ]
    for model in bent:
        with pytest.raises(UnsupportedModel, match="bends its predictions"):
            import_quietly(fitted(model, np.abs(TARGET) + 1), SPACE, X)
    scaled = TransformedTargetRegressor(make_pipeline(prepared(), SVR()), transformer=StandardScaler())
    with pytest.raises(UnsupportedModel, match="no doubles"):
        import_quietly(fitted(scaled, TARGET), SPACE, X)


def test_platt_probabilities_are_no_link():
    model = fitted(make_pipeline(prepared(), SVC(kernel="linear", probability=True)))
    assert_agrees(model, SPACE, X)
    with pytest.raises(SpecError, match=r"stops up to 0\.005 away"):
        lw.verify(model, SPACE, lw.Similarity(free=["city"]), lw.ProbabilityGap(0.1))


def test_probing_rows_reach_every_value():
    """The conformance tests themselves: no level and no end of a range is left out."""
    imported = import_quietly(fitted(logistic()), SPACE, X)
    rows = probing_rows(SPACE, X.iloc[:0], imported)
    for k, name in enumerate(SPACE.names):
        feature = SPACE[name]
        if isinstance(feature, lw.Continuous):
            assert {feature.lo, feature.hi, np.nextafter(feature.lo, np.inf)} <= set(rows[:, k])
        else:
            assert len(set(rows[:, k])) == feature.size
