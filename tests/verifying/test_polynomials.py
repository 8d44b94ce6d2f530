"""Polynomial models end to end: verdicts against exhaustion, brackets that hold, certificates of the right shape."""

import gzip
import json
import math
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR
from tests.posing import posed
from tests.strategies import all_pairs, breaks, value
from tests.verifying.polynomials import drawn

import likewise as lw
from likewise.search.portfolio import decide
from likewise.verifying.certification import Statement, write_proof


def verified(case, property=None):
    return lw.verify(case.model, case.space, case.similar, property, budget=60)


@pytest.mark.draw(8)
@pytest.mark.parametrize("seed", range(110))
def test_the_verdict_is_the_one_of_exhaustion(seed):
    case = drawn(seed)
    pairs = all_pairs(case)
    gap = max(value("score", first, second) for _, _, first, second in pairs)
    level = float(gap) if Fraction(float(gap)) >= gap else math.nextafter(float(gap), math.inf)
    properties = [lw.ScoreGap(level), lw.ScoreGap(0.9 * level)]
    if case.kind == "svc":
        properties += [lw.SameDecision(), lw.SameDecision(0.25)]
    for property in properties:
        broken = any(breaks(case, property, first, second) for _, _, first, second in pairs)
        result = verified(case, property)
        if result.reason is not None and result.reason.startswith("rounding"):
            assert broken  # by a pair that floating point does not show
        elif broken:
            assert result.verdict == "BIASED"
        else:
            assert result.verdict == "FAIR", (property, result.reason)
            assert result.certificate is not None


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(0, 110, 5))
def test_the_bracket_holds_the_largest_value(seed):
    case = drawn(seed)
    pairs = all_pairs(case)
    for of in ("score", "margin") if case.kind == "svc" else ("score",):
        largest = max(value(of, first, second) for _, _, first, second in pairs)
        found = lw.measure(
            case.model, case.space, case.similar, of=of, tolerance=1e-6, budget=60, certify=True
        )
        assert Fraction(found.lower) <= largest <= Fraction(found.upper)
        assert found.upper - found.lower <= 1.001e-6
        assert found.proved


SPACE = lw.Space(
    {
        "age": lw.Integer(18, 70),
        "sex": lw.Categorical([0, 1]),
        "income": lw.Continuous(0, 4),
        "grade": lw.Ordinal([0, 1, 3]),
    }
)


def mixed_model(kind=SVR, degree=2, **options):
    random = np.random.default_rng(3)
    X = pd.DataFrame({"age": random.integers(18, 70, 60), "sex": random.integers(0, 2, 60)})
    X["income"], X["grade"] = random.uniform(0, 4, 60).round(2), random.choice([0, 1, 3], 60)
    signal = X.income + 0.4 * X.sex * X.grade - 0.02 * X.age
    y = (signal > signal.median()).astype(int) if kind is SVC else signal
    options |= {} if kind is KernelRidge else {"C": 0.01}
    return kind(kernel="poly", degree=degree, gamma=0.02, coef0=1.0, **options).fit(X, y)


SIMILARITIES = [
    lw.Similarity(free=["sex"]),
    lw.Similarity(free=["sex"], within={"income": 0.25, "grade": 1}),
    lw.Similarity(free=["income"], within={"age": 3}),
]


@pytest.mark.draw(3)
@pytest.mark.parametrize("similar", SIMILARITIES, ids=["free", "within", "both"])
@pytest.mark.parametrize(("kind", "degree"), [(SVR, 2), (KernelRidge, 3), (SVC, 4)])
def test_gaps_over_continuous_features_are_bracketed(kind, degree, similar):
    model = mixed_model(kind, degree)
    first, second = sampled_pairs(similar)
    score = model.decision_function if kind is SVC else model.predict
    sampled = np.abs(score(first) - score(second)).max()
    found = lw.measure(model, SPACE, similar, tolerance=0.05 * sampled, budget=60, certify=True)
    assert found.reason is None
    assert sampled <= found.upper <= found.lower + 0.0501 * sampled
    assert found.proved


def sampled_pairs(similar, count=4000):
    random = np.random.default_rng(0)

    def drawn_rows():
        return pd.DataFrame(
            {
                "age": random.integers(18, 71, count),
                "sex": random.integers(0, 2, count),
                "income": random.uniform(0, 4, count),
                "grade": random.choice([0, 1, 3], count),
            }
        )

    first, second = drawn_rows(), drawn_rows()
    for name in SPACE.names:
        if name in similar.within:
            t = similar.within[name]
            if name == "grade":
                place = first.grade.map({0: 0, 1: 1, 3: 2}) + random.integers(-1, 2, count)
                second[name] = np.array([0, 1, 3])[np.clip(place, 0, 2)]
            else:
                moved = first[name] + t * random.choice([-1, 0, 1], count)
                second[name] = moved.clip(float(SPACE[name].lo), float(SPACE[name].hi))
        elif name not in similar.free:
            second[name] = first[name]
    return first, second


def test_a_masked_model_is_fair_by_independence():
    """Unlike an RBF kernel, a polynomial one does not see a column that is 0 in every support vector."""
    random = np.random.default_rng(5)
    X = pd.DataFrame({"a": random.integers(0, 6, 40), "sex": np.zeros(40, dtype=int)})
    model = SVC(kernel="poly", degree=2).fit(X, (X.a + random.normal(size=40) > 2.5).astype(int))
    space = lw.Space({"a": lw.Integer(0, 5), "sex": lw.Integer(0, 3)})
    result = lw.verify(model, space, lw.Similarity(free=["sex"]), budget=30)
    assert result.stats["engine"] == "independence"
    assert result.verdict == "FAIR"


def test_constraints_exclude_pairs():
    model, similar = mixed_model(), SIMILARITIES[0]
    whole = lw.measure(model, SPACE, similar, tolerance=1e-3, budget=60, certify=True)
    part = SPACE.where("age <= 30").where("grade <= 1")
    result = lw.verify(model, part, similar, lw.ScoreGap(0.9 * whole.lower), budget=60)
    assert result.verdict == "FAIR"


def test_cells_without_similar_levels_are_closed_as_empty():
    """Levels within a tolerance have no coordinate of their own: cells of two levels too far apart are excluded."""
    model = mixed_model()
    similar = lw.Similarity(within={"grade": 1})
    found = lw.measure(model, SPACE, similar, tolerance=1e-3, budget=60, certify=True)
    wider = lw.measure(model, SPACE, lw.Similarity(free=["grade"]), tolerance=1e-3, budget=60)
    assert found.upper < wider.lower


def test_proofs_follow_the_schema_whether_or_not_they_are_checked():
    schema = json.loads((Path(__file__).parents[2] / "spec" / "certificate-v1.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    similar, property = SIMILARITIES[1], lw.ScoreGap(3.0)
    prepared = posed(mixed_model(), SPACE, similar, property)
    outcome = decide(prepared.task)
    statement = Statement(words="a claim", question=prepared.task.question)
    certificate, _, _ = write_proof(
        prepared, outcome.frontiers or outcome.proof, lambda: Fraction(0), statement
    )
    lines = [json.loads(line) for line in gzip.decompress(certificate.content).splitlines()]
    assert lines[4]["model"]["body"]["kind"] == "polynomial"
    assert lines[4]["model"]["rounding"] is None
    assert any(isinstance(line, list) and line[0] == "polynomial" for line in lines)
    for line in lines:
        validator.validate(line)
