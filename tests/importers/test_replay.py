"""Replays: a pair counts only if the original shows it however its two individuals are asked."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.importers.imported_model import import_model
from likewise.model.question import question_of

SPACE = lw.Space({"a": lw.Integer(-1, 1), "b": lw.Integer(0, 1)})


THREE = lw.Space({"a": lw.Integer(-1, 1), "b": lw.Integer(0, 2)})


class Wavering:
    """Says what it is told to of the upper individual, by the number of rows and its place among them."""

    def __init__(self, said):
        self.said = said

    def predict(self, X):
        rows = np.asarray(X)
        return np.array([int(a > 0 and self.said[len(rows), i]) for i, (a, _) in enumerate(rows.tolist())])


@pytest.mark.parametrize("wrong", [None, (1, 0), (2, 0), (2, 1)])
def test_the_original_is_asked_about_each_and_about_both(wrong, monkeypatch):
    model = LogisticRegression().fit([[-1, 0], [1, 1], [-1, 1], [1, 0]], [0, 1, 0, 1])
    replay = import_model(model, SPACE, rows=np.empty((0, 2))).replay
    question = question_of(lw.SameDecision(), replay.head, "model")
    assert replay.confirms([1, 0], [-1, 0], question)
    said = {place: place != wrong for place in ((1, 0), (2, 0), (2, 1))}
    monkeypatch.setattr(model, "predict", Wavering(said).predict)
    assert replay.confirms([1, 0], [-1, 0], question) == (wrong is None)


@pytest.mark.parametrize("wrong", [None, (1, 0), (2, 0), (2, 1)])
def test_so_it_is_about_several_classes(wrong, monkeypatch):
    model = LogisticRegression().fit([[a, b] for a in (-1, 1) for b in (0, 1, 2)], [0, 0, 2, 1, 1, 2])
    replay = import_model(model, THREE, rows=np.empty((0, 2))).replay
    question = question_of(lw.SameDecision(), replay.head, "model")
    assert replay.confirms([1, 0], [-1, 0], question)
    said = {place: place != wrong for place in ((1, 0), (2, 0), (2, 1))}
    monkeypatch.setattr(model, "predict", Wavering(said).predict)
    assert replay.confirms([1, 0], [-1, 0], question) == (wrong is None)
