"""Rows beside counterfactual pairs by tables and under conditions: every row's verdict, gap and counterpart, shares and radii are those of looking at every pair; together and one by one."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.tiers import some
from tests.verifying.test_along import MODELS, decision
from tests.verifying.test_along_cases import (
    CLAIMS,
    EVERYBODY,
    NAMES,
    PAIRS,
    PEOPLE,
    SPACE,
    STEP,
    exact_scores,
    labels,
    similar,
)

import likewise as lw
from likewise.analysis import row_claim, row_search
from likewise.errors import SpecError


@cache
def fitted(name: str, seed: int = 0):
    return MODELS[name]().fit(EVERYBODY, labels(seed))


@cache
def decisions(name: str) -> list[int]:
    scores, zero_is_upper = exact_scores(fitted(name))
    return [decision(one, zero_is_upper) for one in scores]


def sorted_rows(found: lw.Audit) -> pd.DataFrame:
    return found.rows.sort_values("row").reset_index(drop=True)


def biased_people(claim: str, decided: list[int]) -> np.ndarray:
    found = np.zeros(len(PEOPLE), dtype=bool)
    for i, j in PAIRS[claim]:
        if decided[i] != decided[j]:
            found[[i, j]] = True
    return found


def check_decisions(claim: str, name: str, every: int = 1) -> None:
    decided, asked = decisions(name), EVERYBODY[::every]
    found = lw.audit(fitted(name), SPACE, CLAIMS[claim], X=asked, budget=60)
    assert found.undecided == 0, found.reasons
    rows = sorted_rows(found)
    assert (rows.biased.to_numpy(dtype=bool) == biased_people(claim, decided)[::every]).all(), claim
    for row in rows[rows.biased.astype(bool)].to_dict("records"):
        own = PEOPLE[asked.index[row["row"]]]
        other = tuple(int(row.get(f"counterpart_{name}", row[name])) for name in NAMES)
        assert similar(claim, own, other)
        assert decided[PEOPLE.index(own)] != decided[PEOPLE.index(other)]


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_decisions_of_every_row_are_those_of_looking_at_every_pair(name):
    for claim in some(list(CLAIMS), 1, name):
        check_decisions(claim, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["affine", "tree", "kernel"])
def test_rows_that_are_searched_one_by_one(name, monkeypatch):
    monkeypatch.setattr(row_claim, "judge_rows", lambda *_: None)
    monkeypatch.setattr(row_search, "GAP_CELLS", 100)  # gaps are not compared here
    for claim in some(("a table where", "shifts where", "both"), 1, name):
        check_decisions(claim, name, every=11)


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_the_largest_gap_of_every_row(name):
    model = fitted(name, 1)
    scores, _ = exact_scores(model)
    for claim in some(("a table where", "shifts where", "with room"), 1, name):
        largest = np.zeros(len(PEOPLE))
        for i, j in PAIRS[claim]:
            apart = max(abs(float(a - b)) for a, b in zip(scores[i], scores[j], strict=True))
            largest[[i, j]] = np.maximum(largest[[i, j]], apart)
        delta = float(np.median(largest)) + 1e-9
        found = lw.audit(model, SPACE, CLAIMS[claim], lw.ScoreGap(delta), X=EVERYBODY, budget=60)
        rows = sorted_rows(found)
        assert found.undecided == 0, found.reasons
        assert (rows.biased.to_numpy(dtype=bool) == (largest > delta)).all()
        assert np.allclose(rows.gap.to_numpy(dtype=float), largest, atol=1e-6 * max(1, largest.max()))


@pytest.mark.parametrize("name", ["affine", "tree", "kernel"])
def test_shares_are_those_of_everybody(name):
    model, decided = fitted(name), decisions(name)
    for claim in some(list(CLAIMS), 2, name):
        true = biased_people(claim, decided).mean()
        found = lw.share(model, SPACE, CLAIMS[claim], budget=30)
        assert found.lower - 1e-12 <= true <= found.upper + 1e-12
        if found.method == "exact":
            assert found.lower == pytest.approx(true)
        rows = lw.share(model, SPACE, CLAIMS[claim], over=EVERYBODY, budget=30)
        assert rows.lower == rows.upper == true


@pytest.mark.usefixtures("clock_of_looks")
def test_sampled_shares_hold_the_true_one():
    model = fitted("tree")
    true = lw.audit(model, SPACE, CLAIMS["both"], X=EVERYBODY).share
    found = lw.share(model, SPACE, CLAIMS["both"], over="uniform", method="sampled", X=EVERYBODY, budget=3)
    assert found.lower <= true <= found.upper


def test_the_model_that_does_not_look_at_a_condition():
    """Who shares the sector is a counterpart, although the score does not depend on it."""
    model = MODELS["affine"]().fit(EVERYBODY.assign(sector=0.0), labels(0))
    scores, zero_is_upper = exact_scores(model)
    decided = [decision(one, zero_is_upper) for one in scores]
    for claim in ("a table where", "a shift where", "both"):
        rows = sorted_rows(lw.audit(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60))
        assert (rows.biased.to_numpy(dtype=bool) == biased_people(claim, decided)).all()


@pytest.mark.parametrize("name", ["affine", "tree"])
def test_the_radius_is_the_room_around_what_the_case_says(name):
    model = fitted(name, 1)
    scores, _ = exact_scores(model)
    gaps = np.zeros(8)
    for (i, x), (j, y) in product(enumerate(PEOPLE), repeat=2):
        if x[1:3] != y[1:3]:
            continue
        sign = y[3] - x[3]
        low, high = (-1, -1) if x[2] == 1 and x[1] != 2 else (1, 2) if x[2] else (1, 1)
        low, high = (low, high) if sign == 1 else (-high, -low) if sign == -1 else (0, 0)
        room = max(low - (y[0] - x[0]), y[0] - x[0] - high, 0)
        gap = max(float(a - b) for a, b in zip(scores[i], scores[j], strict=True))
        gaps[room:] = np.maximum(gaps[room:], gap)
    for delta in some((gaps[0] * 1.01, gaps[1] * 1.01, gaps[-1] * 1.01), 1, name):
        true = next((room for room, gap in enumerate(gaps) if gap > delta), None)
        found = lw.radius(
            model, SPACE, CLAIMS["shifts where"], lw.ScoreGap(delta), feature="income", X=EVERYBODY, budget=60
        )
        assert found.reason is None
        assert found.refuted == true
        assert found.proved == (found.largest if true is None else true - 1 if true else None)


def test_the_radius_of_a_condition_is_refused():
    claim = lw.Similarity(
        free=["sex"], along={"job": lw.Along("sex", table={STEP: {0.0: 1.0}}, where={"income": {"to": 1}})}
    )
    with pytest.raises(SpecError, match="'income' is not looked for"):
        lw.radius(fitted("affine"), SPACE, claim, lw.ScoreGap(1), feature="income")


def test_brackets_are_not_below_the_gaps_of_rows():
    model = fitted("tree", 2)
    for claim in some(list(CLAIMS), 2):
        audit = lw.audit(model, SPACE, CLAIMS[claim], lw.ScoreGap(100), X=EVERYBODY)
        found = lw.measure(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=20)
        assert found.lower >= audit.rows.gap.astype(float).max() * (1 - 1e-9) - 1e-9


def test_workers_search_and_judge_in_parts():
    model = fitted("boosting", 1)
    rows = pd.concat([EVERYBODY] * 3, ignore_index=True)
    alone = sorted_rows(lw.audit(model, SPACE, CLAIMS["both"], X=rows))
    together = sorted_rows(lw.audit(model, SPACE, CLAIMS["both"], X=rows, n_jobs=2))
    pd.testing.assert_frame_equal(alone, together)
