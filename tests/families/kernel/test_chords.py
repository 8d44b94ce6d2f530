"""Chords and tangents in the engine: its float64 bound is that of the checker's rule, in cells of all kinds, and claims that leave room are proved by it."""

import gzip
import io
import json
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from tests.check.kernels import claim_of
from tests.posing import problem_of

import likewise as lw
from likewise.families.kernel.bounder import KernelBounder
from likewise.families.scored_model import only_score
from likewise.spec.pairs import pair_space
from likewise_check import check
from likewise_check.core.bound import Way
from likewise_check.core.cells import make_box
from likewise_check.core.numbers import int_if_whole
from likewise_check.packs.kernel.chords import Chords
from likewise_check.packs.kernel.rule import Kernel

GRADES = ("low", "middle", "high", "top")
SPACE = lw.Space(
    {
        "income": lw.Continuous(0.0, 5.0),
        "age": lw.Integer(18, 60),
        "sex": lw.Categorical(("f", "m")),
        "job": lw.Categorical(("a", "b", "c", "d")),
        "grade": lw.Ordinal(GRADES),
    }
)
SIMILAR = {
    "levels": lw.Similarity(free=["sex"]),
    "two levels": lw.Similarity(free=["sex"], within={"grade": 1}),
    "numbers": lw.Similarity(free=["sex"], within={"age": 5}),
    "free number": lw.Similarity(free=["income"]),
}
CODINGS = {
    "all": OneHotEncoder(categories=[["f", "m"], ["a", "b", "c", "d"]]),
    "dropped": OneHotEncoder(categories=[["f", "m"], ["a", "b", "c", "d"]], drop="first"),
}


def rows(seed: int, count: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.round(rng.gamma(2, 0.8, count).clip(0, 5), 2),
            "age": rng.integers(18, 61, count),
            "sex": rng.choice(["f", "m"], count),
            "job": rng.choice(["a", "b", "c", "d"], count),
            "grade": rng.choice(GRADES, count),
        }
    )


def fitted(estimator, seed: int, coding: str = "all"):
    X = rows(seed)
    columns = make_column_transformer(
        (StandardScaler(), ["income", "age"]),
        (CODINGS[coding], ["sex", "job"]),
        (OrdinalEncoder(categories=[list(GRADES)]), ["grade"]),
    )
    target = np.sin(X["income"]) + 0.02 * X["age"] + 0.3 * (X["sex"] == "m") + 0.5 * (X["job"] == "b")
    y = target > target.median() if isinstance(estimator, SVC) else target
    return make_pipeline(columns, estimator).fit(X, y), X


def lines_of(certificate) -> list:
    return [json.loads(line) for line in gzip.decompress(certificate.content).splitlines()]


def lemma_of(certificate, delta=None):
    """What a leaf has to show of its claim, or of the claim with another gap."""
    _, space, similarity, prop, model, *_ = lines_of(certificate)
    asked = prop["property"] if delta is None else {"kind": "score", "delta": float(delta).hex()}
    return claim_of(space["space"]["features"], similarity["similarity"], asked, model["model"]).lemma()


def random_cell(pairs, rng, fixed: bool):
    """Ends of all variables; with `fixed` one code each of what may differ."""
    lo, hi = (np.array(ends, dtype=float) for ends in pairs.ends)
    for v, variable in enumerate(pairs.variables):
        ends = np.sort(rng.uniform(lo[v], hi[v], 2))
        if variable.discrete:
            ends = np.sort(rng.integers(int(lo[v]), int(hi[v]) + 1, 2)).astype(float)
        if rng.random() < 0.3:
            ends = np.array([lo[v], hi[v]])
        lo[v], hi[v] = ends
    for k, relation in enumerate(pairs.relations):
        if relation.kind != "same" and (fixed or rng.random() < 0.3):
            for v in (pairs.first[k], pairs.second[k]):
                hi[v] = lo[v]
    return lo, hi


def boxes_of(pairs, lo, hi):
    """The cell as the checker has it."""

    def ends(v):
        return int_if_whole(Fraction(lo[v])), int_if_whole(Fraction(hi[v]))

    found = []
    for k, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        place = pairs.difference[k] if pairs.difference else None
        variables = [first] if first == second else [first, second]
        found.append(make_box(*map(ends, variables), difference=() if place is None else (ends(place),)))
    return found


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("similar", SIMILAR)
def test_the_bound_is_that_of_the_checker(similar, coding):
    rng = np.random.default_rng(5)
    model, X = fitted(SVR(C=3), 1, coding)
    result = lw.verify(model, SPACE, SIMILAR[similar], lw.ScoreGap(500.0), X=X)
    assert result.verdict == "FAIR"
    lemma = lemma_of(result.certificate)
    read = problem_of(model, SPACE, SIMILAR[similar], lw.ScoreGap(500.0), X=X).imported.model
    bounder = KernelBounder(only_score(read, len(SPACE)), pair_space(SPACE, SIMILAR[similar]))
    checker, pairs, seen = Chords(lemma), bounder.pairs, 0
    bias = Fraction(bounder.score.body.bias)
    for n in range(60):
        lo, hi = random_cell(pairs, rng, fixed=n % 2 == 0)
        lean = float(rng.choice([0.0, 0.25, 0.5, 1.0]))
        found = bounder.bound(lo[None], hi[None], np.array([lean]), np.array([1e6]))
        way = Way(Fraction(lean), 1 - Fraction(lean), Fraction(0))
        if np.isneginf(found.upper[0]):
            continue
        assert found.rules == ["chords"]
        bound = checker.bound(way, found.hints[0][0], boxes_of(pairs, lo, hi))
        if bound is None:
            continue
        seen += 1
        size = 1 + np.abs(bounder.score.body.coefficients).sum()
        true = float(bound + (2 * Fraction(lean) - 1) * bias)
        assert abs(found.upper[0] - true) <= 1e-9 * size
    assert seen >= 20


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize(
    "estimator", [SVR(C=2), SVC(C=2), KernelRidge(kernel="rbf", gamma=0.1)], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("similar", ["levels", "numbers"])
def test_claims_with_room_are_proved(estimator, similar):
    """What `measure` brackets `verify` proves, with little room and with much, and with much in fewer cells."""
    model, X = fitted(estimator, 2)
    bracket = lw.measure(model, SPACE, SIMILAR[similar], X=X, tolerance=0.02, budget=60)
    cells = []
    for times in (1.05, 3, 12):
        level = times * bracket.upper
        result = lw.verify(model, SPACE, SIMILAR[similar], lw.ScoreGap(level), X=X, budget=60)
        assert result.verdict == "FAIR", (times, result.reason)
        report = check(io.BytesIO(result.certificate.content))
        assert report.accepted
        cells.append(result.stats["cells"])
        if times == 12 and similar == "levels":
            assert "chords" in report.rules
    assert cells == sorted(cells, reverse=True)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("coding", CODINGS)
def test_what_cubics_just_close_the_checker_accepts(coding):
    """Cubics of a smaller reach than that of the specification would be refused here: a proof is then checked twice."""
    rng = np.random.default_rng(6)
    model, X = fitted(SVR(C=3), 1, coding)
    lemma = partial(lemma_of, lw.verify(model, SPACE, SIMILAR["levels"], lw.ScoreGap(500.0), X=X).certificate)
    read = problem_of(model, SPACE, SIMILAR["levels"], lw.ScoreGap(500.0), X=X).imported.model
    bounder, lean = KernelBounder(only_score(read, len(SPACE)), pair_space(SPACE, SIMILAR["levels"])), 0.5
    seen = 0
    for _ in range(40):
        lo, hi = random_cell(bounder.pairs, rng, fixed=True)

        def bound_at(level, lo=lo, hi=hi):
            return bounder.bound(lo[None], hi[None], np.array([lean]), np.array([level / 2]))

        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if bound_at(middle).closes[0] else (middle, high)
        found = bound_at(high)
        if found.rules == ["kernel"] and np.isfinite(found.upper[0]) and high > 1e-3:
            seen += 1
            *hints, tangent = found.hints[0]
            leaf = ["kernel", "0x1p-1", hints, tangent]
            assert Kernel(lemma(delta=high))(leaf, boxes_of(bounder.pairs, lo, hi)) is not None
    assert seen >= 10
