"""A proof that was found and could not be checked in time: UNKNOWN, with the bound that the search has."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import likewise as lw
from likewise.answers.sentences import bounds_in_words
from likewise.verifying.certification import CheckReport, CheckRunner

SPACE = lw.Space({"age": lw.Integer(0, 9), "sex": lw.Integer(0, 1)})
X = [[age, sex] for age in range(10) for sex in range(2)]
Y = [int(age + 2 * sex > 5) for age, sex in X]
SIMILAR = lw.Similarity(free=["sex"])


@pytest.mark.parametrize("estimator", [SVC(), LogisticRegression()], ids=["kernel", "linear"])
def test_the_bound_is_told(monkeypatch, estimator):
    claim = lw.ScoreGap(50.0)
    late = CheckReport(accepted=False, finished=False, reason="late")
    monkeypatch.setattr(CheckRunner, "check", lambda *_args: late)
    result = lw.verify(estimator.fit(X, Y), SPACE, SIMILAR, claim, budget=60)
    assert result.verdict == "UNKNOWN"
    assert "a proof was found, but checking it takes longer" in result.reason
    assert result.bounds == (0.0, 50.0)
    assert "is at most 50 as far as the search tells" in bounds_in_words(claim, result.bounds)
