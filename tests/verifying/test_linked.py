"""Probabilities of calibrated kernel models, a link with slope and offset, against exhaustion."""

import gzip
import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC
from tests.questions import gauged

import likewise as lw
from likewise.model.head import logistic
from likewise.model.witness_set import ProbabilitySet

SPACE = lw.Space(
    {
        "age": lw.Integer(0, 5),
        "job": lw.Categorical([0, 1, 2]),
        "sex": lw.Categorical([0, 1]),
        "debt": lw.Integer(0, 3),
    }
)
SIMILAR = lw.Similarity(free=["sex"], within={"debt": 1}, pairs={"job": [(0, 2)]})
KERNELS = {
    "rbf": lambda: SVC(gamma=0.15, C=2.0),
    "poly": lambda: SVC(kernel="poly", degree=2, gamma=0.3, coef0=1.0, C=0.5),
}


def everybody():
    return pd.DataFrame(itertools.product(range(6), range(3), range(2), range(4)), columns=list(SPACE.names))


def calibrated(kind, slope=None, offset=None):
    random = np.random.default_rng(5)
    rows = everybody().iloc[random.permutation(144)[:60]]
    score = rows.to_numpy() @ np.array([1.0, -0.8, 1.5, -1.0]) + random.normal(size=60)
    y = np.where(score > np.median(score), "yes", "no")
    model = CalibratedClassifierCV(FrozenEstimator(KERNELS[kind]().fit(rows, y))).fit(rows, y)
    if slope is not None:
        sigmoid = model.calibrated_classifiers_[0].calibrators[0]
        sigmoid.a_, sigmoid.b_ = -slope, -offset
    return model


def alike(x, y):
    jobs = x.job == y.job or {x.job, y.job} == {0, 2}
    return x.age == y.age and jobs and abs(x.debt - y.debt) <= 1


def largest_gap(model):
    frame = everybody()
    people = list(zip(frame.itertuples(), model.predict_proba(frame)[:, 1], strict=True))
    return max(p - q for (x, p), (y, q) in itertools.product(people, repeat=2) if alike(x, y))


LINKS = [(None, None), (0.7, 0.9), (-1.3, 0.4), (2.0, -1.5)]


@pytest.mark.draw(2)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("kind", KERNELS)
def test_verdicts_on_probabilities_are_those_of_exhaustion(kind, link):
    model = calibrated(kind, *link)
    gap = largest_gap(model)
    for factor, verdict in ((1.002, "FAIR"), (0.998, "BIASED")):
        result = lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(gap * factor), budget=60)
        assert result.verdict == verdict, result.reason
        assert result.certificate is not None


@pytest.mark.draw(2)
@pytest.mark.parametrize("link", LINKS[:3])
@pytest.mark.parametrize("kind", KERNELS)
def test_the_largest_probability_gap_is_bracketed(kind, link):
    model = calibrated(kind, *link)
    found = lw.measure(model, SPACE, SIMILAR, of="probability", tolerance=0.01, budget=60, certify=True)
    assert found.lower - 1e-9 <= largest_gap(model) <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.0101
    assert found.certificate is not None
    first, second = found.probabilities
    assert abs(first - second) == pytest.approx(found.lower, abs=1e-9)


@pytest.mark.draw(2)
@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize(("kind", "rule"), [("rbf", "kernel"), ("poly", "polynomial")])
def test_cells_of_continuous_features_are_closed_under_a_link(kind, rule, falling):
    """The proof has leaves of the family's own rule, and no sampled pair is above the upper end."""
    space = SPACE.replace(age=lw.Continuous(0, 5), debt=lw.Continuous(0, 3))
    reach = 0.25 if kind == "rbf" else 0.0
    similar = lw.Similarity(free=["sex"], within={"debt": reach}, pairs={"job": [(0, 2)]})
    model = calibrated(kind, -1.3 if falling else 1.3, 0.4)
    found = lw.measure(model, space, similar, of="probability", tolerance=0.02, budget=60, certify=True)
    lines = [json.loads(line) for line in gzip.decompress(found.certificate.content).splitlines()]
    assert rule in {line[0] for line in lines if isinstance(line, list)}
    random = np.random.default_rng(0)
    x = pd.DataFrame(
        {
            "age": random.uniform(0, 5, 20_000),
            "job": random.choice([0, 2], 20_000),
            "sex": random.integers(0, 2, 20_000),
            "debt": random.uniform(0, 3, 20_000),
        }
    )
    other = x.assign(
        job=random.choice([0, 2], 20_000),
        sex=random.integers(0, 2, 20_000),
        debt=np.clip(x["debt"] + random.uniform(-reach, reach, 20_000), 0, 3),
    )
    gaps = np.abs(model.predict_proba(x)[:, 1] - model.predict_proba(other)[:, 1])
    assert 0.8 * found.lower <= gaps.max() <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.0201


def test_the_certificate_has_slope_and_offset_exactly():
    model = calibrated("rbf")
    result = lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(0.9), budget=60)
    line = json.loads(gzip.decompress(result.certificate.content).splitlines()[4])
    name, slope, offset = line["model"]["head"]["link"]
    sigmoid = model.calibrated_classifiers_[0].calibrators[0]
    assert name == "logistic"
    assert [_value(slope), _value(offset)] == [Fraction(float(-sigmoid.a_)), Fraction(float(-sigmoid.b_))]
    assert line["model"]["head"]["labels"] is None


def _value(text):
    mantissa, _, exponent = text.partition("p")
    return int(mantissa, 16) * Fraction(2) ** int(exponent) if exponent else Fraction(text)


def test_decisions_of_a_calibrated_kernel_model_are_refused_but_scores_are_not():
    model = calibrated("rbf")
    with pytest.raises(lw.SpecError, match="decides by the calibrated probability"):
        lw.verify(model, SPACE, SIMILAR)
    assert lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(100.0)).verdict == "FAIR"


def test_a_calibration_of_slope_zero_is_refused():
    found = lw.verify(calibrated("rbf", 0.0, 1.0), SPACE, SIMILAR, lw.ProbabilityGap(0.1), budget=0.5)
    assert found.verdict == "UNKNOWN"
    assert "slope 0" in found.stats["black_box"]


def test_the_gap_zero_of_probabilities():
    result = lw.verify(calibrated("rbf", -1.3, 0.4), SPACE, SIMILAR, lw.ProbabilityGap(0.0), budget=60)
    assert result.verdict == "BIASED"


# -- the question itself ----------------------------------------------------------------------------------


@pytest.mark.some_days
@pytest.mark.parametrize("seed", range(5))
def test_lines_of_a_linked_question_have_all_witnesses_on_one_side(seed):
    random = np.random.default_rng(seed)
    slope, offset = Fraction(float(random.uniform(0.1, 3))), Fraction(float(random.normal()))
    question = ProbabilitySet(delta=Fraction(float(random.uniform(0.05, 0.9))), slope=slope, offset=offset)
    scores = [Fraction(float(s)) for s in random.normal(scale=6, size=30)]
    leans = [Fraction(n, 16) for n in range(17)]
    for first, second in itertools.product(scores, repeat=2):
        linked = [logistic(np.array([float(slope * s + offset)]))[0] for s in (first, second)]
        assert question.holds(first, second) == (linked[0] - linked[1] > float(question.delta))
        if question.holds(first, second):
            for lean in leans:
                line = question.direction(lean)
                assert line.a * first - line.b * second > line.threshold
    for lean in leans[1:-1]:
        line = question.direction(lean)
        threshold = question.threshold(np.array([float(lean)]))[0]
        assert float(line.threshold / (line.a + line.b)) == pytest.approx(threshold, rel=1e-4, abs=1e-4)


def test_a_linked_gauge_caps_what_a_bound_allows():
    gauge = gauged("probability", slope=Fraction(3, 2), offset=Fraction(-1, 3))
    lean, bound = np.array([0.3, 0.5, 0.8]), np.array([1.0, 0.7, 0.5])
    cap = gauge.cap(lean, bound)
    for at, level, most in zip(lean, cap, bound, strict=True):
        (case,) = gauge.question(Fraction(float(level))).cases()
        assert case.line.threshold(np.array([at]))[0] == pytest.approx(most, abs=1e-9)
