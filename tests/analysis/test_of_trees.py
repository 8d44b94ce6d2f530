"""Every analysis of a tree ensemble equals looking at everybody."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import likewise as lw

NAMES = ["age", "sex", "pay"]
SPACE = lw.Space({"age": lw.Integer(0, 9), "sex": lw.Categorical(["f", "m"]), "pay": lw.Integer(0, 7)})
EVERYBODY = pd.DataFrame(list(itertools.product(range(10), ["f", "m"], range(8))), columns=NAMES)
SIMILAR = lw.Similarity(free=["sex"])


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    rows = EVERYBODY.iloc[random.integers(0, len(EVERYBODY), 300)].reset_index(drop=True)
    score = rows["age"] + 2 * (rows["sex"] == "m") + rows["pay"] + random.normal(0, 1, 300)
    columns = make_column_transformer((OrdinalEncoder(), ["sex"]), remainder="passthrough")
    boosting = GradientBoostingClassifier(n_estimators=25, max_depth=3, random_state=0)
    return make_pipeline(columns, boosting).fit(rows, score > 9)


@pytest.fixture(scope="module")
def flips(model):
    """Whether somebody of this age and pay is decided otherwise if of the other sex, by age and pay."""
    decided = model.predict(EVERYBODY).reshape(10, 2, 8)
    return decided[:, 0] != decided[:, 1]


def test_audit(model, flips):
    audit = lw.audit(model, SPACE, SIMILAR, X=EVERYBODY)
    biased = audit.rows.sort_values("row")["biased"].to_numpy(dtype=bool).reshape(10, 2, 8)
    assert (biased == flips[:, None]).all()
    assert 0 < biased.mean() < 1


def test_share(model, flips):
    share = lw.share(model, SPACE, SIMILAR)
    assert share.method == "exact"
    assert share.lower <= flips.mean() <= share.upper <= share.lower + 1e-15


def test_regions(model, flips):
    regions = lw.regions(model, SPACE, SIMILAR, budget=30)
    assert sum(region.measure for region in (*regions.fair, *regions.biased, *regions.undecided)) == 1
    assert float(sum(region.measure for region in regions.biased)) == pytest.approx(flips.mean())
    assert float(sum(region.measure for region in regions.fair)) == pytest.approx(1 - flips.mean())
    assert regions.undecided == []
    assert all(region.certificates for region in regions.fair)


def test_radius_and_compare(model):
    by_score = model.decision_function(EVERYBODY).reshape(10, 2, 8)
    found = lw.radius(model, SPACE, lw.Similarity(), lw.ScoreGap(1.0), feature="age")
    apart = [
        max(np.abs(by_score[t:] - by_score[: 10 - t]).max() if t else 0 for t in range(s + 1))
        for s in range(10)
    ]
    assert found.proved == max(t for t in range(10) if apart[t] <= 1)
    assert found.refuted == found.proved + 1
    assert lw.compare(model, model, SPACE, SIMILAR).change == "same"
