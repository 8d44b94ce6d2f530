"""Classifiers of more than two classes: labels, scores and probabilities of the original, ties included, or a refusal by name."""

import copy
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.multiclass import _ovr_decision_function
from tests.conformance.agreement import BITS, HAIR, RELATIVE, import_quietly, probing_rows
from tests.conformance.people import NUMBERS, SPACE, WORDS, people

import likewise as lw
from likewise.families.kernel.body import KernelScore, RbfSum
from likewise.importers.imported_model import import_model
from likewise.importers.unfold import unfold
from likewise.model.head import vote_pairs
from likewise.model.question import question_of
from likewise.spec.features import Integer

X, TARGET, BINARY = people()
THREE = np.array(["low", "middle", "high"])[np.digitize(TARGET, np.quantile(TARGET, [1 / 3, 2 / 3]))]
FIVE = np.digitize(TARGET, np.quantile(TARGET, [0.2, 0.4, 0.6, 0.8]))


def prepared(*, sparse=False):
    encoder = OneHotEncoder(sparse_output=sparse)
    return ColumnTransformer(
        [("n", StandardScaler(), NUMBERS), ("w", encoder, WORDS)], sparse_threshold=float(sparse)
    )


def fitted(model, y=THREE):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def exact_scores(model, codes):
    if not isinstance(model.bodies[0], RbfSum):
        return [model.exact([Fraction(c) for c in row]) for row in codes.tolist()]
    sums = [KernelScore(body=body, embedding=model.embedding) for body in model.bodies]
    return [[s.enclose([Fraction(c) for c in row], BITS).middle for s in sums] for row in codes.tolist()]


def clear(head, scores):
    """Whether no score that decides is a hair's breadth from a tie."""
    if head.rule == "votes":
        return min(map(abs, scores)) > HAIR
    first, second = sorted(scores)[-1:-3:-1]
    return first - second > HAIR


def shown_by(model, ours, head):
    """What `decision_function` shows of our scores: libsvm's are bent by default, which scikit-learn's own code does here."""
    if head.rule == "argmax" or unfold(model).final.decision_function_shape == "ovo":
        return ours
    return _ovr_decision_function(ours < 0, -ours, len(head.labels))


def assert_classes_agree(model, space=SPACE, frame=X):
    imported = import_quietly(model, space, frame)
    assert imported.model.n_scores > 1
    given, head = probing_rows(space, frame, imported), imported.model.head
    if isinstance(imported.model.bodies[0], RbfSum):  # balls are slow
        given = given[::4]
    codes = given.copy()
    for k, name in enumerate(space.names):
        if isinstance(space[name], Integer) and not isinstance(imported.space[name], Integer):
            codes[:, k] -= space[name].lo
    rows = space.decode(given, like=frame)
    exact = exact_scores(imported.model, codes)
    ours = np.array([[float(score) for score in scores] for scores in exact])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, theirs = model.predict(rows), model.decision_function(rows)
        assert np.abs(imported.replay.scores(codes) - ours).max() <= RELATIVE * (1 + np.abs(ours).max())
        safe = [i for i, scores in enumerate(exact) if clear(head, scores)]
        assert np.abs(shown_by(model, ours, head) - theirs)[safe].max() <= RELATIVE * (
            1 + np.abs(theirs).max()
        )
        assert [head.decide(exact[i]) for i in safe] == [labels[i] for i in safe]
        assert len(set(labels)) > 1, "a model that decides alike for everybody tests nothing"
        if head.link == "softmax":
            powers = np.exp(ours - ours.max(axis=1, keepdims=True))
            expected = powers / powers.sum(axis=1, keepdims=True)
            assert np.abs(expected - model.predict_proba(rows)).max() <= RELATIVE
    return imported


ESTIMATORS = {
    "logistic": (LogisticRegression(), "argmax", "softmax"),
    "logistic, no intercept": (LogisticRegression(fit_intercept=False), "argmax", "softmax"),
    "logistic, tuned": (LogisticRegressionCV(Cs=2, cv=2), "argmax", "softmax"),
    "discriminant": (LinearDiscriminantAnalysis(), "argmax", "softmax"),
    "linear svc": (LinearSVC(), "argmax", None),
    "crammer singer": (LinearSVC(multi_class="crammer_singer"), "argmax", None),
    "ridge": (RidgeClassifier(), "argmax", None),
    "ridge, no intercept": (RidgeClassifier(fit_intercept=False), "argmax", None),
    "ridge, tuned": (RidgeClassifierCV(), "argmax", None),
    "sgd": (SGDClassifier(loss="log_loss", random_state=0), "argmax", None),
    "perceptron": (Perceptron(random_state=0), "argmax", None),
    "passive aggressive": (PassiveAggressiveClassifier, "argmax", None),
    "svc": (SVC(), "votes", None),
    "svc, ovo": (SVC(decision_function_shape="ovo"), "votes", None),
    "svc, linear": (SVC(kernel="linear"), "votes", None),
    "svc, poly": (SVC(kernel="poly", degree=2, coef0=1.0), "votes", None),
    "nusvc": (NuSVC(nu=0.3), "votes", None),
    "ovr, logistic": (OneVsRestClassifier(LogisticRegression(solver="liblinear")), "argmax", None),
    "ovr, linear svc": (OneVsRestClassifier(LinearSVC()), "argmax", None),
    "ovr, svc": (OneVsRestClassifier(SVC()), "argmax", None),
    "ovr, poly": (OneVsRestClassifier(SVC(kernel="poly", degree=2)), "argmax", None),
    "ovr, tuned inside": (OneVsRestClassifier(GridSearchCV(SVC(kernel="linear"), {"C": [1, 2]}, cv=2)), "argmax", None),
    "tuned": (GridSearchCV(SVC(gamma=0.1), {"C": [0.5, 1.0]}, cv=2), "votes", None),
    "products": (make_pipeline(PolynomialFeatures(2), RidgeClassifier()), "argmax", None),
}  # fmt: skip


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_in_pipelines(name):
    estimator, rule, link = ESTIMATORS[name]
    if isinstance(estimator, type):  # deprecated: warns as soon as it is made
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator = estimator(random_state=0)
    head = assert_classes_agree(fitted(make_pipeline(prepared(), estimator))).model.head
    assert (head.rule, head.link, head.labels) == (rule, link, ("high", "low", "middle"))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_five_classes_of_machines_on_sparse_columns(kernel):
    machines = SVC(kernel=kernel, decision_function_shape="ovo")
    imported = assert_classes_agree(fitted(make_pipeline(prepared(sparse=True), machines), FIVE))
    assert imported.model.n_scores == 10
    assert imported.model.head.labels == (0, 1, 2, 3, 4)


def test_sums_of_gaussians_share_their_centres():
    bodies = assert_classes_agree(fitted(make_pipeline(prepared(), OneVsRestClassifier(SVC())))).model.bodies
    assert all(body.centres is bodies[0].centres and body.gamma == bodies[0].gamma for body in bodies)
    assert len({row.tobytes() for row in bodies[0].centres}) == len(bodies[0].centres) <= len(X)


def test_one_vs_rest_of_pipelines_that_choose_different_columns():
    inside = make_pipeline(SelectKBest(k=2), LinearSVC())
    model = fitted(make_pipeline(prepared(), OneVsRestClassifier(inside)))
    chosen = {tuple(e[0].get_support()) for e in model[-1].estimators_}
    assert len(chosen) > 1, "all choose the same columns: this tests nothing"
    assert assert_classes_agree(model).model.n_scores == 3
    assert_classes_agree(fitted(OneVsRestClassifier(make_pipeline(prepared(), RidgeClassifier()))))


def test_integers_with_tables_and_products_of_them():
    bins = ColumnTransformer([("b", KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ["age"])])
    assert_classes_agree(fitted(make_pipeline(bins, LogisticRegression())))
    lines = ColumnTransformer([("n", StandardScaler(), NUMBERS)])
    inside = make_pipeline(PolynomialFeatures(2), LinearSVC())
    assert_classes_agree(fitted(make_pipeline(lines, OneVsRestClassifier(inside))))


# -- one vs rest of two classes ------------------------------------------------------------------------------


@pytest.mark.parametrize(("estimator", "link"), [(LogisticRegression(), "logistic"), (SVC(), None)])
def test_one_vs_rest_of_two_classes_puts_zero_into_the_lower_one(estimator, link):
    model = fitted(make_pipeline(prepared(), OneVsRestClassifier(estimator)), BINARY)
    imported = import_quietly(model, SPACE, X)
    assert imported.model.n_scores == 1
    head = imported.model.head
    assert (head.labels, head.link, head.zero_is_upper) == (("no", "yes"), link, False)


def test_a_zero_score_inside_one_vs_rest_is_the_lower_class():
    frame = pd.DataFrame({"a": [-1.0, 0.0, 1.0]})
    model = OneVsRestClassifier(SVC(kernel="linear")).fit(frame, ["no", "no", "yes"])
    inside = model.estimators_[0]
    for one in ("intercept_", "_intercept_"):
        setattr(inside, one, np.zeros(1))
    space = lw.Space({"a": lw.Integer(-1, 1)})
    head = import_model(model, space, rows=np.empty((0, 1))).model.head
    assert model.predict(frame)[1] == head.decide([Fraction(0)]) == "no"
    assert inside.predict(frame)[1] == 1


# -- ties ----------------------------------------------------------------------------------------------------

GRID = lw.Space({"a": lw.Integer(-3, 3), "b": lw.Integer(-3, 3)})
POINTS = pd.DataFrame(list(product(range(-3, 4), repeat=2)), columns=["a", "b"])
EVERYBODY = GRID.encode(POINTS)


def small(random, *shape):
    return random.integers(-2, 3, shape).astype(float)


def with_ties(estimator, random):
    """The fitted estimator with whole numbers for parameters: all its sums are exact, and ties occur."""
    labels = np.resize([2, 0, 1, 3], len(POINTS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator.fit(POINTS, labels)
    if isinstance(estimator, OneVsRestClassifier):
        for one in model.estimators_:
            one.coef_, one.intercept_ = small(random, 1, 2), small(random, 1)
    elif isinstance(estimator, SVC):
        model.dual_coef_ = model._dual_coef_ = small(random, *model.dual_coef_.shape)
        model.intercept_ = model._intercept_ = small(random, *model.intercept_.shape)
    else:
        model.coef_, model.intercept_ = small(random, 4, 2), small(random, 4)
    return model


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LinearSVC(),
        RidgeClassifier(),
        OneVsRestClassifier(LinearSVC()),
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=2, gamma=1.0),
    ],
    ids=["logistic", "linear svc", "ridge", "one vs rest", "svc", "svc, poly"],
)
def test_ties_are_broken_as_the_original_does(estimator, seed):
    model = with_ties(copy.deepcopy(estimator), np.random.default_rng(seed))
    imported = import_model(model, GRID, rows=EVERYBODY, like=POINTS)
    rows = [[Fraction(c) for c in row] for row in EVERYBODY.tolist()]
    assert [imported.model.decide(row) for row in rows] == model.predict(POINTS).tolist()
    assert [list(map(float, imported.model.exact(row))) for row in rows] == imported.replay.scores(
        EVERYBODY
    ).tolist()
    assert any(_tied(imported.model.head, imported.model.exact(row)) for row in rows)


def _tied(head, scores):
    if head.rule == "argmax":
        return sorted(scores)[-1] == sorted(scores)[-2]
    count = [0] * len(head.labels)
    for (first, second), score in zip(vote_pairs(len(count)), scores, strict=True):
        count[first if score > 0 else second] += 1
    return sorted(count)[-1] == sorted(count)[-2] or 0 in scores


def test_another_rule_for_ties_is_refused():
    model = with_ties(LogisticRegression(), np.random.default_rng(0))
    model.predict = lambda rows: model.classes_[3 - np.argmax(model.decision_function(rows)[:, ::-1], axis=1)]
    with pytest.raises(lw.UnsupportedModel, match=r"it says (.|\n)*, but its own scores say"):
        import_model(model, GRID, rows=EVERYBODY, like=POINTS)


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("decision_function", lambda given: given + np.array([0, 1e-9, 0, 0])),
        ("predict", lambda given: given[::-1]),
        ("predict", lambda given: np.column_stack([given, given])),
        ("predict_proba", lambda given: given[:, ::-1]),
    ],
)
def test_a_changed_model_is_refused(method, change):
    model = with_ties(LogisticRegression(), np.random.default_rng(1))
    own = getattr(model, method)
    setattr(model, method, lambda rows: change(own(rows)))
    with pytest.raises(lw.UnsupportedModel, match="disagrees with the original"):
        import_model(model, GRID, rows=EVERYBODY, like=POINTS)


# -- replay --------------------------------------------------------------------------------------------------


def breaks(property, imported, x, other):
    """By the definition, from exact scores of all classes."""
    head, scores = (
        imported.model.head,
        [imported.model.exact([Fraction(c) for c in row]) for row in (x, other)],
    )
    places = [head.place(one) for one in scores]
    wanted = property.class_of_interest
    if isinstance(property, lw.ScoreGap):
        gaps = {label: abs(a - b) for label, a, b in zip(head.labels, *scores, strict=True)}
        return max(gaps.values() if wanted is None else [gaps[wanted]]) > property.delta
    if places[0] == places[1] or (wanted is not None and wanted not in [head.labels[p] for p in places]):
        return False
    if head.rule == "votes":
        return True
    return all(
        one[i] - score > property.margin if k < i else one[i] - score >= property.margin
        for one, i in zip(scores, places, strict=True)
        for k, score in enumerate(one)
        if k != i
    )


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("estimator", [RidgeClassifier(), SVC(kernel="linear")], ids=["argmax", "votes"])
def test_the_original_confirms_what_breaks_a_property(estimator):
    random = np.random.default_rng(3)
    imported = import_model(with_ties(estimator, random), GRID, rows=EVERYBODY, like=POINTS)
    properties = [lw.SameDecision(), lw.SameDecision(class_of_interest=2)]
    if imported.model.head.rule == "argmax":
        properties += [lw.SameDecision(1.0), lw.SameDecision(1.0, class_of_interest=0)]
        properties += [lw.ScoreGap(4.0), lw.ScoreGap(4.0, class_of_interest=1)]
    pairs = [random.choice(EVERYBODY, 2) for _ in range(40)]
    for property in properties:
        question = question_of(property, imported.model.head, "model")
        told = [imported.replay.confirms(x, other, question) for x, other in pairs]
        assert told == [breaks(property, imported, x, other) for x, other in pairs]
        assert len(set(told)) == 2


def test_the_original_confirms_gaps_of_probabilities():
    imported = import_model(with_ties(LogisticRegression(), np.random.default_rng(0)), GRID, rows=EVERYBODY)
    given = imported.replay.probabilities(EVERYBODY)

    def confirms(x, other, property):
        question = question_of(property, imported.model.head, "model")
        return imported.replay.confirms(EVERYBODY[x], EVERYBODY[other], question)

    for x, other in ((0, 48), (3, 30), (24, 24)):
        gaps = np.abs(given[x] - given[other])
        for place, label in enumerate((0, 1, 2, 3)):
            property = lw.ProbabilityGap(0.25, class_of_interest=label)
            assert confirms(x, other, property) == (gaps[place] > 0.25)
        assert confirms(x, other, lw.ProbabilityGap(0.25)) == (gaps.max() > 0.25)


# -- refusals ------------------------------------------------------------------------------------------------


def inside(estimator):
    return lambda: make_pipeline(prepared(), estimator)


SEVEN = np.arange(len(X)) % 7
MULTILABEL = np.stack([t < TARGET for t in np.quantile(TARGET, [0.3, 0.5, 0.6])], axis=1).astype(int)
WRONG_GAMMA = OneVsRestClassifier(make_pipeline(SelectKBest(k=3), SVC(gamma="scale")))

REFUSED = {
    "break ties": (inside(SVC(break_ties=True)), THREE, "SVC(break_ties=True) breaks ties", "break_ties=False"),
    "seven votes": (inside(SVC()), SEVEN, "SVC was fitted on 7 classes", "OneVsRestClassifier(SVC(...))"),
    "calibrated": (
        lambda: CalibratedClassifierCV(FrozenEstimator(fitted(make_pipeline(prepared(), LinearSVC())))), THREE,
        "CalibratedClassifierCV around a classifier of 3 classes is not supported", "LinearSVC inside of it"),
    "threshold": (
        lambda: FixedThresholdClassifier(FrozenEstimator(fitted(make_pipeline(prepared(), LogisticRegression())))), None,
        "FixedThresholdClassifier around a classifier of 3 classes is not supported", "LogisticRegression inside"),
    "regressors": (inside(OneVsRestClassifier(LinearRegression())), THREE, "OneVsRestClassifier of LinearRegression", ""),
    "several labels": (inside(OneVsRestClassifier(LinearSVC())), MULTILABEL, "several labels at once", "one model for each label"),
    "several labels, ridge": (inside(RidgeClassifier()), MULTILABEL, "several labels at once", "one model for each label"),
    "two labels": (inside(OneVsRestClassifier(LinearSVC())), MULTILABEL[:, :2], "several labels at once", ""),
    "different columns": (inside(WRONG_GAMMA), THREE, "different kinds or on different columns", "one kind of model"),
    "kernel on products": (inside(make_pipeline(PolynomialFeatures(2), SVC())), THREE, "powers of products", ""),
    "unfitted": (None, None, "OneVsRestClassifier is not fitted", "call fit"),
    "outputs": (inside(KernelRidge()), np.stack([TARGET] * 3, axis=1), "KernelRidge was fitted on 3 outputs", ""),
}  # fmt: skip


@pytest.mark.draw(7)
@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_and_why(name):
    make, labels, message, hint = REFUSED[name]
    model = OneVsRestClassifier(LinearSVC()) if make is None else make()
    if labels is not None:
        model = fitted(model, labels)
    with pytest.raises(lw.UnsupportedModel) as caught:
        import_quietly(model, SPACE, X)
    assert message in str(caught.value)
    assert hint in str(caught.value)


def test_machines_of_different_gamma_are_refused():
    model = fitted(make_pipeline(prepared(), OneVsRestClassifier(SVC())))
    model[-1].estimators_[1].set_params(gamma=2.0).fit(prepared().fit_transform(X), THREE == "low")
    with pytest.raises(lw.UnsupportedModel, match="different gamma"):
        import_quietly(model, SPACE, X)


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (SGDClassifier(loss="log_loss", random_state=0), "normalises the probabilities of each class"),
        (OneVsRestClassifier(LogisticRegression()), "divides the probabilities of each class"),
        (LinearSVC(), None),
    ],
)
def test_probabilities_that_are_no_softmax_are_refused_with_the_reason(estimator, why):
    head = import_quietly(fitted(make_pipeline(prepared(), estimator)), SPACE, X).model.head
    assert head.link is None
    assert why in head.unlinked if why else head.unlinked is None
