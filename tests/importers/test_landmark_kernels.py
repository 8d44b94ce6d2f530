"""Nystroem and KernelPCA in front of linear models: scores compared with the original; small spaces by brute force; planted verdicts; refusals."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.scored_model import only_score, program_parts
from likewise.importers.imported_model import import_model
from likewise_check import check

RANDOM = np.random.default_rng(0)
COUNT = 120
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "income": RANDOM.uniform(0, 90, COUNT),
        "sex": RANDOM.choice(["f", "m"], COUNT),
    }
)
MERIT = X.income / 30 + (X.sex == "m") + np.sin(X.age / 15) + RANDOM.normal(0, 0.3, COUNT)
LABELS = np.where(MERIT.median() < MERIT, "yes", "no")
SPACE = lw.Space(
    {"age": lw.Integer(18, 80), "income": lw.Continuous(0, 90), "sex": lw.Categorical(["f", "m"])}
)
MAPS = {
    "rbf": {"gamma": 0.3},
    "rbf of its own gamma": {"kernel": "rbf"},
    "polynomial": {"kernel": "polynomial", "degree": 2, "coef0": 0.7},
    "polynomial by default": {"kernel": "poly"},
    "linear": {"kernel": "linear", "gamma": 7.0},
    "given": {"kernel": "rbf", "kernel_params": {"gamma": 0.2}},
}
MODELS = {
    "logistic": LogisticRegression(),
    "ridge": Ridge(),
    "margin": LinearSVC(),
    "descent": SGDClassifier(random_state=0),
}


def columns():
    words = ("words", OneHotEncoder(), ["sex"])
    return ColumnTransformer([words, ("numbers", StandardScaler(), ["age", "income"])])


def fitted(kernel_map, model, *behind, labels=LABELS):
    return make_pipeline(columns(), kernel_map, *behind, model).fit(
        X, MERIT if isinstance(model, Ridge) else labels
    )


def compare(model):
    """The imported model, once its scores are those of the original within what is stated of it."""
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    codes = SPACE.encode(X)[:30].tolist()
    scores = [only_score(one, 3) for one in program_parts(imported.model)]
    ours = [[float(s.enclose([Fraction(c) for c in row], 80).middle) for s in scores] for row in codes]
    asked = model.predict if isinstance(model[-1], Ridge) else model.decision_function
    theirs = np.asarray(asked(X[:30])).reshape(30, -1)
    assert imported.program.error is not None
    assert np.abs(np.array(ours) - theirs).max() <= float(imported.program.error)
    assert not imported.program.large
    assert imported.program.observed.error <= imported.program.error
    return imported


@pytest.mark.some_days
@pytest.mark.draw(8)
@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_original(kind, name):
    compare(fitted(Nystroem(n_components=12, random_state=0, **MAPS[kind]), MODELS[name]))


@pytest.mark.parametrize("kind", ["rbf", "polynomial by default", "linear"])
@pytest.mark.parametrize("name", ["logistic", "ridge"])
def test_scores_behind_centred_kernels(kind, name):
    options = {"kernel": "rbf", "n_components": 7, **MAPS[kind]}
    compare(fitted(KernelPCA(**options), MODELS[name]))


def test_all_components_scalers_behind_them_and_eigenvalues_of_zero():
    few = X[:25]
    model = make_pipeline(columns(), KernelPCA(kernel="rbf"), StandardScaler(), LogisticRegression())
    compare(model.fit(few, LABELS[:25]))
    kept = make_pipeline(columns(), KernelPCA(kernel="linear", n_components=6), Ridge()).fit(few, MERIT[:25])
    kept[1].eigenvalues_[-1] = 0.0
    compare(kept)


def test_scalers_between_them_pipelines_and_several_classes():
    kernel_map = Nystroem(gamma=0.3, n_components=10, random_state=0)
    compare(fitted(kernel_map, LogisticRegression(), StandardScaler(), MaxAbsScaler()))
    compare(fitted(kernel_map, LogisticRegression(), PCA(4)))
    several = compare(
        fitted(kernel_map, LogisticRegression(), labels=np.digitize(MERIT, [1.0, 2.5]).astype(str))
    )
    assert several.model.n_scores == 3
    nested = make_pipeline(make_pipeline(columns(), kernel_map), make_pipeline(StandardScaler(), LinearSVC()))
    compare(nested.fit(X, LABELS))
    powers = Nystroem(kernel="poly", degree=2, n_components=10, random_state=0)
    compare(make_pipeline(columns(), PCA(2), powers, Ridge()).fit(X, MERIT))


def test_a_model_that_knows_nothing_is_constant():
    model = fitted(Nystroem(n_components=5, random_state=0), Ridge())
    model[-1].coef_ = np.zeros_like(model[-1].coef_)
    assert (
        lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.ScoreGap(1e-9), budget=60).verdict == "FAIR"
    )


SMALL = lw.Space({"a": lw.Integer(-2, 2), "b": lw.Categorical([0.0, 1.0]), "c": lw.Integer(0, 2)})
PEOPLE = list(itertools.product(range(-2, 3), (0.0, 1.0), range(3)))
PAIRS = [
    (i, j)
    for (i, x), (j, y) in itertools.combinations(enumerate(PEOPLE), 2)
    if x[0] == y[0] and abs(x[2] - y[2]) <= 1
]
SIMILAR = lw.Similarity(free=["b"], within={"c": 1})


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("made", [Nystroem, KernelPCA])
@pytest.mark.parametrize("kind", ["rbf", "polynomial", "linear"])
def test_small_spaces_by_brute_force(kind, made, tmp_path):
    rows = pd.DataFrame(PEOPLE, columns=["a", "b", "c"])
    random = np.random.default_rng(2)
    y = rows.a + 0.4 * rows.b + 0.2 * rows.c + random.normal(0, 0.3, len(rows))
    options = {"kernel": "rbf", "n_components": 8, "random_state": 0, **MAPS[kind]}
    kernel_map = made(**{**options, "kernel": "poly" if kind == "polynomial" else options["kernel"]})
    model = make_pipeline(kernel_map, Ridge()).fit(rows, y)
    said = model.predict(rows)
    largest = max(abs(said[i] - said[j]) for i, j in PAIRS)
    assert lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    fair = lw.verify(model, SMALL, SIMILAR, lw.ScoreGap(1.001 * largest), budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted
    for limit in (-3.0, 0.3):  # of all, and of some
        decider = make_pipeline(kernel_map, LogisticRegression()).fit(rows, (y > limit) & (rows.index != 7))
        decided = decider.predict(rows)
        broken = any(decided[i] != decided[j] for i, j in PAIRS)
        assert lw.verify(decider, SMALL, SIMILAR, budget=60).verdict == ("BIASED" if broken else "FAIR")


@pytest.mark.parametrize(
    "kernel_map",
    [
        Nystroem(gamma=0.5, n_components=10, random_state=0),
        KernelPCA(kernel="rbf", gamma=0.5, n_components=6),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_planted_model_gets_its_verdict(kernel_map):
    random = np.random.default_rng(4)
    rows = pd.DataFrame({"x": random.uniform(-2, 2, 80), "sex": random.integers(0, 2, 80)})
    space = lw.Space({"x": lw.Continuous(-2, 2), "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"])
    blind = make_pipeline(
        ColumnTransformer([("x", "passthrough", ["x"])]), kernel_map, LogisticRegression()
    ).fit(rows, rows.x > 0)
    assert lw.verify(blind, space, similar, budget=60).verdict == "FAIR"
    seeing = make_pipeline(kernel_map, LogisticRegression()).fit(rows, rows.x + rows.sex > 0.5)
    assert lw.verify(seeing, space, similar, budget=60).verdict == "BIASED"
    moderate = lw.measure(seeing, space, similar, of="probability", budget=30)
    asked = pd.DataFrame({"x": np.repeat(np.linspace(-2, 2, 401), 2), "sex": [0, 1] * 401})
    said = seeing.predict_proba(asked)[:, 1].reshape(-1, 2)
    assert moderate.lower - 1e-9 <= np.abs(said[:, 0] - said[:, 1]).max() + 1e-3
    assert np.abs(said[:, 0] - said[:, 1]).max() <= moderate.upper


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda: fitted(Nystroem(kernel="laplacian", n_components=5), LogisticRegression()), "laplacian"),
        (lambda: fitted(Nystroem(lambda x, y: x @ y, n_components=5), LogisticRegression()), "one's own"),
        (lambda: fitted(Nystroem(n_components=5), MLPClassifier(max_iter=3)), "in front of a network"),
        (lambda: fitted(Nystroem(n_components=5), SVC()), "takes distances or powers"),
        (lambda: fitted(Nystroem(n_components=5), GaussianNB()), "has products of its columns behind it"),
        (
            lambda: fitted(Nystroem(n_components=5), LogisticRegression(), PolynomialFeatures(2)),
            "has products of its columns behind it",
        ),
        (lambda: fitted(KernelPCA(kernel="sigmoid", n_components=3), LogisticRegression()), "sigmoid"),
        (lambda: fitted(KernelPCA(n_components=3), SVC()), "takes distances or powers"),
        (lambda: fitted(RBFSampler(n_components=5), SVC()), "takes distances or powers"),
        (lambda: fitted(RBFSampler(n_components=5), GaussianNB()), "has products of its columns behind it"),
        (lambda: fitted(RBFSampler(n_components=5), MLPClassifier(max_iter=3)), "in front of a network"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_refused_is_searched_and_names_the_reason(model, reason):
    made = model()
    with pytest.raises(UnsupportedModel, match=reason):
        import_model(made, SPACE, rows=SPACE.encode(X), like=X)
    answer = lw.verify(made, SPACE, lw.Similarity(free=["sex"]), X=X, budget=1)
    assert answer.verdict in ("BIASED", "UNKNOWN")


@pytest.mark.filterwarnings("ignore")
def test_a_degree_that_is_no_whole_number_is_refused():
    model = fitted(Nystroem(kernel="poly", degree=1.5, coef0=100, n_components=5), LinearSVC())
    with pytest.raises(UnsupportedModel, match="which is no polynomial"):
        import_model(model, SPACE, rows=SPACE.encode(X), like=X)
