"""A verdict rests on what the checker was asked about, and on nothing else that it accepts."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.verifying.certification import CheckRunner

X = pd.DataFrame({"wage": np.arange(8.0), "sex": [0, 1] * 4})
SPACE = lw.Space({"wage": lw.Continuous(0, 7), "sex": lw.Integer(0, 1)})
FAIR, BIASED = (LogisticRegression().fit(X * [1, sex], X.wage + 9 * sex * X.sex > 6) for sex in (0, 1))


def verdict(model):
    return lw.verify(model, SPACE, lw.Similarity(free=["sex"]), lw.SameDecision(), budget=60)


def answer(monkeypatch, **changes):
    honest = CheckRunner.check

    def check(self, certificate, seconds=60.0):
        return dataclasses.replace(honest(self, certificate, seconds), **changes)

    monkeypatch.setattr(CheckRunner, "check", check)


def test_without_changes():
    assert verdict(FAIR).verdict == "FAIR"
    assert verdict(BIASED).verdict == "BIASED"


@pytest.mark.parametrize("changes", [{"kind": "witness"}, {"digests": {}}])
def test_a_proof_of_something_else_is_not_fair(monkeypatch, changes):
    answer(monkeypatch, **changes)
    result = verdict(FAIR)
    assert result.verdict == "UNKNOWN"
    assert "something else than the proof of this claim" in result.reason


def test_a_witness_of_something_else_proves_nothing(monkeypatch):
    answer(monkeypatch, kind="proof")
    result = verdict(BIASED)
    assert result.verdict == "UNKNOWN"
    assert "something else than the witness of this claim" in result.reason
