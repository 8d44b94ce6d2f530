"""PCA with all components in front of RBF kernels: distances stay as they are, up to what is stated."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import likewise as lw
from likewise.families.scored_model import only_score, program_parts
from likewise.importers.imported_model import import_model
from likewise_check import check

RANDOM = np.random.default_rng(0)
COUNT = 120
X = pd.DataFrame(
    {
        "age": RANDOM.integers(0, 6, COUNT),
        "income": RANDOM.integers(0, 4, COUNT),
        "job": RANDOM.choice([*"abc"], COUNT),
        "sex": RANDOM.integers(0, 2, COUNT),
    }
)
MERIT = X.age / 3 + (X.job == "b") + 0.3 * X.sex * X.income + RANDOM.normal(0, 0.1, COUNT)
SPACE = lw.Space(
    {
        "age": lw.Integer(0, 5),
        "income": lw.Integer(0, 3),
        "job": lw.Categorical([*"abc"]),
        "sex": lw.Categorical([0, 1]),
    }
)
PEOPLE = pd.DataFrame(list(itertools.product(range(6), range(4), "abc", (0, 1))), columns=list(X))
MODELS = {
    "machine": SVR(gamma=0.2, C=2.0),
    "ridge": KernelRidge(kernel="rbf", gamma=0.2, alpha=0.5),
    "landmarks": make_pipeline(Nystroem(gamma=0.2, n_components=15, random_state=0), Ridge()),
}


def fitted(model, pca=None, y=MERIT, drop=None):
    words = ("words", OneHotEncoder(drop=drop), ["job"])
    columns = ColumnTransformer([words, ("numbers", StandardScaler(), ["age", "income", "sex"])])
    return make_pipeline(columns, pca or PCA(), model).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_original_within_what_is_stated(name):
    model = fitted(MODELS[name])
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    (part,) = program_parts(imported.model)
    codes, said = SPACE.encode(PEOPLE), model.predict(PEOPLE)
    score = only_score(part, 4)
    ours = [float(score.enclose([Fraction(c) for c in row], 80).middle) for row in codes.tolist()]
    assert imported.program.error is not None
    assert np.abs(np.array(ours) - said).max() <= imported.program.error
    assert not imported.program.large


@pytest.mark.parametrize("name", MODELS)
def test_small_spaces_by_brute_force(name, tmp_path):
    model = fitted(MODELS[name])
    said = model.predict(PEOPLE)
    groups = PEOPLE.groupby(["age", "income", "job"]).indices.values()
    largest = max(float(np.ptp(said[rows])) for rows in groups)
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(model, SPACE, similar, lw.ScoreGap(0.999 * largest), budget=60).verdict == "BIASED"
    fair = lw.verify(model, SPACE, similar, lw.ScoreGap(1.01 * largest), budget=60)
    assert fair.verdict == "FAIR"
    fair.certificate.save(tmp_path / "fair.lw")
    assert check(tmp_path / "fair.lw").accepted


def test_decisions_of_several_classes_and_one_hot_columns_stay_such():
    model = fitted(SVC(gamma=0.1), y=np.digitize(MERIT, [1.0, 2.0]), drop="first")
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    assert imported.model.n_scores == 3
    jobs = [c for c, column in enumerate(imported.model.embedding) if column.feature == 2]
    assert set(np.unique(imported.model.bodies[0].centres[:, jobs])) == {0.0, 1.0}


def test_a_rotation_that_was_changed_is_none():
    model = fitted(MODELS["machine"])
    model[1].components_ = model[1].components_ * (1 + 1e-6)
    assert import_model(model, SPACE, rows=SPACE.encode(X), like=X).model.body.family == "mixed"


@pytest.mark.parametrize("pca", [PCA(3), PCA(whiten=True)])
def test_what_changes_distances_stays_a_sum(pca):
    model = import_model(fitted(MODELS["machine"], pca), SPACE, rows=SPACE.encode(X), like=X).model
    assert model.body.family == "mixed"
    assert len(model.body.sums) == model.body.centres.shape[1]
