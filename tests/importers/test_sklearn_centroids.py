"""Nearest centroids: what is compared is linear, and decisions are those of the original; small spaces by brute force; planted verdicts; refusals. And neighbours within a radius, which may have none."""

import io
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.neighbors import NearestCentroid, RadiusNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.errors import SpecError, UnsupportedModel
from likewise.importers.imported_model import import_model

SPACE = lw.Space({"a": lw.Integer(0, 9), "b": lw.Integer(0, 5), "sex": lw.Categorical(["f", "m"])})
SIMILAR = lw.Similarity(free=["sex"])
EVERYBODY = pd.DataFrame(list(itertools.product(range(10), range(6), ["f", "m"])), columns=["a", "b", "sex"])
RANDOM = np.random.default_rng(0)
MERIT = EVERYBODY.a + EVERYBODY.b + 2 * (EVERYBODY.sex == "m") + RANDOM.normal(0, 1, len(EVERYBODY))
LABELS = {2: np.where(MERIT > 8, "yes", "no"), 3: np.array(["p", "q", "r"])[np.digitize(MERIT, [6, 10])]}


def pipeline(model, columns=("a", "b", "sex")):
    numbers = [name for name in columns if name != "sex"]
    words = [(OneHotEncoder(), ["sex"])] if "sex" in columns else []
    return make_pipeline(make_column_transformer(*words, (StandardScaler(), numbers)), model)


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"shrink_threshold": 0.2}])
def test_decisions_are_those_of_the_original_and_of_brute_force(classes, options):
    model = pipeline(NearestCentroid(**options)).fit(EVERYBODY, LABELS[classes])
    imported = import_model(model, SPACE, rows=SPACE.encode(EVERYBODY), like=EVERYBODY)
    codes = SPACE.encode(EVERYBODY)
    exact = [imported.model.exact([Fraction(c) for c in row]) for row in codes.tolist()]
    labels = model.predict(EVERYBODY)
    assert [imported.model.head.decide(row) for row in exact] == labels.tolist()
    differ = any(labels[i] != labels[i + 1] for i in range(0, len(labels), 2))
    result = lw.verify(model, SPACE, SIMILAR, X=EVERYBODY, budget=60)
    assert "black_box" not in result.stats
    assert result.verdict == ("BIASED" if differ else "FAIR")
    assert lw.check(io.BytesIO(result.certificate.content)).accepted
    with pytest.raises(SpecError, match="divide columns by their spread"):
        lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(0.1), X=EVERYBODY, budget=60)


def test_what_does_not_see_the_sex_is_fair():
    model = pipeline(NearestCentroid(), ("a", "b")).fit(EVERYBODY, LABELS[2])
    assert lw.verify(model, SPACE, SIMILAR, X=EVERYBODY, budget=60).verdict == "FAIR"
    planted = pipeline(NearestCentroid()).fit(EVERYBODY, LABELS[2])
    planted[-1].centroids_[:, :2] = [[0.5, 0.5 - 1e-9], [0.5, 0.5]]
    found = lw.verify(planted, SPACE, SIMILAR, X=EVERYBODY, budget=60)
    assert found.verdict == "FAIR"
    assert not found.covers_floating_point


@pytest.mark.parametrize("options", [{"metric": "manhattan"}, {"priors": "empirical"}])
def test_other_distances_are_named(options):
    model = pipeline(NearestCentroid(**options)).fit(EVERYBODY, LABELS[3])
    with pytest.raises(UnsupportedModel, match="other distances"):
        import_model(model, SPACE, rows=SPACE.encode(EVERYBODY), like=EVERYBODY)


def test_who_has_no_neighbours_cannot_be_asked_about():
    """And it is said which option would let the model answer."""
    rows = EVERYBODY.assign(sex=(EVERYBODY.sex == "m").astype(int))[::7]
    space = lw.Space({"a": lw.Integer(0, 30), "b": lw.Integer(0, 30), "sex": lw.Integer(0, 1)})
    model = RadiusNeighborsClassifier(radius=1.5).fit(rows, LABELS[2][::7])
    with pytest.raises(UnsupportedModel, match="nobody is within the radius") as error:
        lw.verify(model, space, SIMILAR, X=rows, budget=60)
    assert "own predict fails" in error.value.message
    assert "No neighbors found" in error.value.message
    known = RadiusNeighborsClassifier(radius=1.5, outlier_label="most_frequent").fit(rows, LABELS[2][::7])
    assert lw.verify(known, space, SIMILAR, X=rows, budget=5).verdict in {"BIASED", "UNKNOWN"}
