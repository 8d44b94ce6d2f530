"""scikit-learn's perceptrons: imported exactly and compared with the original, alone and behind pipelines; refusals by name; planted verdicts."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.special import expit
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

import likewise as lw
from likewise.families.scored_model import Scores
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.repaired.outputs import last_layer

RANDOM = np.random.default_rng(0)
COUNT = 120
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 90, COUNT),
        "job": RANDOM.choice(["none", "some", "much"], COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
    }
)
Y = ((X.income > 40) ^ (X.age > 50)).astype(int) + (X.sex == "m")
SPACE = lw.Space(
    {
        "age": lw.Integer(18, 80),
        "income": lw.Continuous(0, 90),
        "job": lw.Categorical(["none", "some", "much"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
NUMBERS = lw.Space({"age": SPACE["age"], "income": SPACE["income"]})
NOBODY = np.empty((0, 4))
ACTIVATIONS = ("relu", "tanh", "logistic", "identity")


def fitted(model, x=X, y=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


def perceptron(kind=MLPClassifier, sizes=(6, 4), **options):
    return kind(
        hidden_layer_sizes=sizes, **{"max_iter": 80, "learning_rate_init": 0.03, "random_state": 1, **options}
    )


def behind(model):
    encoded = ColumnTransformer(
        [
            ("levels", OneHotEncoder(), ["job", "sex"]),
            ("numbers", StandardScaler(), ["age"]),
            ("others", MinMaxScaler(), ["income"]),
        ]
    )
    return make_pipeline(encoded, model)


def people(space, count=60):
    random = np.random.default_rng(1)
    columns = []
    for name in space.names:
        lo, hi = space[name].code_range
        whole = space[name].kind != "continuous"
        drawn = random.integers(int(lo), int(hi) + 1, count) if whole else random.uniform(lo, hi, count)
        drawn[:2] = lo, hi  # extreme ones
        columns.append(drawn.astype(float))
    return np.stack(columns, axis=1)


def outputs(network, rows):
    """The scores by the formula, in float64."""
    bends = {
        "relu": lambda y: np.maximum(y, 0),
        "tanh": np.tanh,
        "logistic": expit,
        "identity": lambda y: y,
    }
    values = np.asarray(rows, dtype=float)
    for i, (weights, biases) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        values = values @ weights + biases
        if i < len(network.coefs_) - 1:
            values = bends[network.activation](values)
    return values


@pytest.mark.draw(12)
@pytest.mark.parametrize("sizes", [(5,), (6, 4), (3, 3, 3), ()])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["two", "three", "number"])
class TestEqualsTheOriginal:
    def test_alone(self, kind, activation, sizes):
        x = X[["age", "income"]] / 50.0
        space = lw.Space({"age": lw.Continuous(0.3, 1.7), "income": lw.Continuous(0, 2)})
        self.compare(self.made(kind, activation, sizes), lambda model: model, x, space)

    @pytest.mark.some_days
    def test_behind_a_pipeline(self, kind, activation, sizes):
        self.compare(self.made(kind, activation, sizes), behind, X, SPACE)

    @staticmethod
    def made(kind, activation, sizes):
        estimator = MLPRegressor if kind == "number" else MLPClassifier
        return perceptron(estimator, sizes, activation=activation), kind

    @staticmethod
    def compare(made, wrap, x, space):
        (network, kind), codes = made, people(space)
        y = {"two": Y > 0, "three": Y, "number": X.income * 0.1 + Y}[kind]
        model = fitted(wrap(network), x, y)
        imported = import_model(model, space, rows=space.encode(x))
        scores = Scores(imported.model, len(space))
        rows = imported.replay.inputs.of(codes)
        inner = model if wrap(network) is network else model[-1]
        given = rows if inner is model else model[:-1].transform(rows)
        theirs = outputs(inner, given)
        assert np.allclose(scores.scores(codes), theirs, rtol=1e-9, atol=1e-9)
        assert np.allclose(imported.replay.scores(codes), theirs, rtol=1e-12, atol=1e-12)
        for row, wanted in list(zip(codes.tolist(), theirs, strict=True))[:6]:
            for found, value in zip(scores.enclose([Fraction(c) for c in row], 128), wanted, strict=True):
                assert float(found.middle) == pytest.approx(value, rel=1e-9, abs=1e-9)
        if kind == "number":
            assert np.allclose(model.predict(rows), theirs[:, 0])
        assert imported.program.error is not None
        assert imported.program.error < 1e-6


class TestHeads:
    def test_two_classes_are_decided_by_the_sign(self):
        model = fitted(behind(perceptron()), y=Y > 0)
        head = import_model(model, SPACE, rows=NOBODY).model.head
        assert (head.labels, head.link, head.zero_is_upper) == ((False, True), "logistic", False)

    def test_more_classes_have_a_score_each(self):
        imported = import_model(fitted(behind(perceptron())), SPACE, rows=NOBODY).model
        assert (imported.n_scores, imported.head.rule, imported.head.link) == (3, "argmax", "softmax")
        assert imported.bodies[0].hidden is imported.bodies[2].hidden

    def test_a_threshold_on_the_probability(self):
        inner = fitted(behind(perceptron()), y=Y > 0)
        model = fitted(FixedThresholdClassifier(FrozenEstimator(inner), threshold=0.3), y=Y > 0)
        imported = import_model(model, SPACE, rows=SPACE.encode(X))
        codes = people(SPACE)
        decided = [imported.model.decide([Fraction(c) for c in row]) for row in codes.tolist()]
        assert decided == model.predict(imported.replay.inputs.of(codes)).tolist()

    def test_a_scaled_target(self):
        inner = behind(perceptron(MLPRegressor))
        model = fitted(TransformedTargetRegressor(inner, transformer=StandardScaler()), y=X.income)
        imported = import_model(model, SPACE, rows=SPACE.encode(X))
        codes = people(SPACE)
        theirs = model.predict(imported.replay.inputs.of(codes))
        assert np.allclose(Scores(imported.model, 4).scores(codes)[:, 0], theirs)

    def test_no_bend_is_a_linear_model_and_proved(self):
        model = fitted(behind(perceptron(activation="identity")), y=Y > 0)
        result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ScoreGap(1000), X=X, budget=10)
        assert result.verdict == "FAIR"


class TestRefusals:
    def refused(self, model, match, space=SPACE):
        with pytest.raises(lw.UnsupportedModel, match=match):
            import_model(model, space, rows=np.empty((0, len(space))))

    def test_not_fitted(self):
        self.refused(perceptron(), "not fitted")

    def test_several_labels(self):
        for labels in (2, 3):
            y = np.stack([n < Y for n in range(labels)], axis=1).astype(int)
            self.refused(fitted(behind(perceptron()), y=y), "several labels")

    def test_several_outputs(self):
        model = fitted(behind(perceptron(MLPRegressor)), y=X[["income", "age"]])
        self.refused(model, "2 outputs")

    def test_numbers_that_are_none(self):
        model = fitted(behind(perceptron()))
        model[-1].coefs_[0][0, 0] = np.inf
        self.refused(model, "finite")

    def test_changed_after_fitting(self):
        model = fitted(behind(perceptron()), y=Y > 0)
        network = model[-1]
        network.out_activation_ = "softmax"
        self.refused(model, "disagrees|fails")


class TestVerdicts:
    def test_planted_bias_is_found_and_checked(self):
        model = fitted(behind(perceptron()), y=(X.sex == "m") ^ (X.age > 50))
        result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=20)
        assert result.verdict == "BIASED"
        assert result.certificate is not None
        first, second = model.predict(result.pair)
        assert first != second

    def test_what_is_not_looked_at_is_proved(self):
        encoded = ColumnTransformer([("numbers", StandardScaler(), ["age", "income"])])
        model = fitted(make_pipeline(encoded, perceptron(activation="tanh")), y=Y > 0)
        result = lw.verify(model, SPACE, lw.Similarity(free=["sex", "job"]), X=X, budget=20)
        assert result.verdict == "FAIR"
        assert result.certificate is not None

    def test_several_classes(self):
        model = fitted(behind(perceptron(activation="tanh", max_iter=300)))
        for asked in (lw.SameDecision(), lw.ScoreGap(0.01), lw.ProbabilityGap(0.01)):
            result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), asked, X=X, budget=20)
            assert result.verdict == "BIASED"
            assert result.certificate is not None

    def test_one_against_the_rest(self):
        model = fitted(behind(OneVsRestClassifier(perceptron())))
        result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=60)
        assert result.verdict == "BIASED"
        assert "black_box" not in result.stats
        first, second = model.predict(result.pair)
        assert first != second

    def test_numbers_alone(self):
        model = fitted(
            make_pipeline(StandardScaler(), perceptron(MLPRegressor, activation="tanh")),
            X[["age", "income"]],
            X.age,
        )
        result = lw.verify(model, NUMBERS, lw.Similarity(within={"age": 5}), lw.ScoreGap(1e-3), budget=20)
        assert result.verdict == "BIASED"


MIXES = {
    "pca": lambda: PCA(3),
    "incremental": lambda: IncrementalPCA(3),
    "svd": lambda: TruncatedSVD(3),
    "lda": lambda: LinearDiscriminantAnalysis(n_components=1),
    "eigen": lambda: LinearDiscriminantAnalysis(n_components=1, solver="eigen"),
    "ica": lambda: FastICA(2, random_state=0, whiten="unit-variance"),
    "gaussian": lambda: GaussianRandomProjection(4, random_state=0),
    "sparse": lambda: SparseRandomProjection(4, random_state=0),
    "twice": lambda: make_pipeline(PCA(4), StandardScaler(with_std=False), TruncatedSVD(2)),
}


class TestMixes:
    @pytest.mark.some_days
    @pytest.mark.draw(8)
    @pytest.mark.parametrize("activation", ["relu", "tanh", "identity"])
    @pytest.mark.parametrize("mix", MIXES)
    def test_become_layers(self, mix, activation):
        encoded = ColumnTransformer(
            [
                ("levels", OneHotEncoder(drop="first"), ["job", "sex"]),
                ("numbers", StandardScaler(), ["age", "income"]),
            ],
            sparse_threshold=0,
        )
        parts = [encoded, *(step for _, step in getattr(MIXES[mix](), "steps", [("", MIXES[mix]())]))]
        model = fitted(make_pipeline(*parts, perceptron(activation=activation)), y=Y > 0)
        imported = import_model(model, SPACE, rows=SPACE.encode(X))
        codes = people(SPACE)
        rows = imported.replay.inputs.of(codes)
        theirs = outputs(model[-1], model[:-1].transform(rows))
        assert np.allclose(Scores(imported.model, 4).scores(codes), theirs, rtol=1e-9, atol=1e-9)
        if activation == "relu":
            exact = imported.model.exact([Fraction(c) for c in codes[5].tolist()])
            assert float(exact[0]) == pytest.approx(theirs[5, 0], rel=1e-9, abs=1e-9)
        assert imported.program.error is not None
        assert imported.program.error < 1e-6

    def test_of_raw_columns(self):
        x = X[["age", "income"]] / 50.0
        space = lw.Space({"age": lw.Continuous(0.3, 1.7), "income": lw.Continuous(0, 2)})
        model = fitted(make_pipeline(PCA(2), perceptron(MLPRegressor)), x, X.income)
        imported = import_model(model, space, rows=space.encode(x))
        codes = people(space)
        theirs = model.predict(imported.replay.inputs.of(codes))
        assert np.allclose(Scores(imported.model, 2).scores(codes)[:, 0], theirs)

    @pytest.mark.parametrize("activation", ["relu", "tanh", "identity"])
    def test_quotients_are_products_with_the_nearest_reciprocals(self, activation):
        for front in ((PCA(2, whiten=True),), (PCA(2), StandardScaler())):
            model = fitted(
                make_pipeline(StandardScaler(), *front, perceptron(activation=activation)),
                X[["age", "income"]],
                Y > 0,
            )
            imported = import_model(model, NUMBERS, rows=np.empty((0, 2)))
            codes = people(NUMBERS)
            theirs = outputs(model[-1], model[:-1].transform(imported.replay.inputs.of(codes)))
            assert np.allclose(Scores(imported.model, 2).scores(codes), theirs, rtol=1e-9, atol=1e-9)
            assert imported.program.error is not None
            assert imported.program.error < 1e-9

    def test_bins_of_mixes_are_refused(self):
        model = fitted(
            make_pipeline(StandardScaler(), PCA(2), KBinsDiscretizer(3), perceptron()), X[["age", "income"]]
        )
        with pytest.raises(lw.UnsupportedModel, match="does more to mixed columns"):
            import_model(model, NUMBERS, rows=np.empty((0, 2)))

    def test_products_are_refused(self):
        model = fitted(make_pipeline(PolynomialFeatures(2), perceptron()), X[["age", "income"]])
        with pytest.raises(lw.UnsupportedModel, match="MLPClassifier on PolynomialFeatures"):
            import_model(model, NUMBERS, rows=np.empty((0, 2)))


class TestRepairs:
    @pytest.mark.some_days
    @pytest.mark.draw(1)
    @pytest.mark.parametrize("activation", ["relu", "tanh"])
    @pytest.mark.parametrize("classes", [2, 3])
    def test_the_mean_over_settings_is_proved(self, classes, activation):
        model = fitted(behind(perceptron(activation=activation)), y=np.minimum(Y, classes - 1))
        repaired = lw.repair(model, SPACE, lw.Similarity(free=["sex"]), X=X, budget=20)
        assert repaired.result.verdict == "FAIR"
        turned = X.assign(sex=X.sex.map({"f": "m", "m": "f"}))
        assert (repaired.model.predict(X) == repaired.model.predict(turned)).all()

    def test_scores_are_those_before_the_last_function(self):
        model = fitted(behind(perceptron()), y=Y > 0)
        shown = last_layer(FrozenEstimator(model), X)
        assert np.allclose(expit(shown), model.predict_proba(X)[:, 1])
        assert model[-1].out_activation_ == "logistic"


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_saved_models_are_trusted(tmp_path, solver):
    model = fitted(behind(perceptron(solver=solver)), y=Y > 0)
    skops.io.dump(model, tmp_path / "net.skops")
    assert (load_model(tmp_path / "net.skops").predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("single", [False, True])
def test_the_program_is_never_off_by_more_than_is_said(activation, single):
    x = (X[["age", "income"]] / 50.0).astype(np.float32 if single else np.float64)
    space = lw.Space({"age": lw.Continuous(0.3, 1.7), "income": lw.Continuous(0, 2)})
    model = fitted(perceptron(MLPRegressor, (8, 8), activation=activation), x, X.income)
    imported = import_model(model, space, rows=np.empty((0, 2)))
    codes = people(space).astype(np.float32).astype(np.float64)[2:]
    given = pd.DataFrame(codes, columns=["age", "income"]).astype(np.float32 if single else np.float64)
    computed, score = model.predict(given), Scores(imported.model, 2)
    if single and activation == "identity":
        assert imported.program.error is None
        return
    for row, value in zip(codes.tolist(), computed.tolist(), strict=True):
        off = abs(Fraction(value) - score.enclose([Fraction(c) for c in row], 128)[0].middle)
        assert off <= imported.program.error
    assert imported.program.error < (1e-2 if single else 1e-10)


def test_how_a_classifier_compares_probabilities_is_not_covered():
    model = fitted(behind(perceptron(activation="identity")), y=Y > 0)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ScoreGap(1000), X=X, budget=10)
    assert result.verdict == "FAIR"
    assert not result.covers_floating_point
