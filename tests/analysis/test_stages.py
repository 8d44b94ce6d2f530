"""measure comes down to the lower end of forests in stages: what it says is the same, and what a stage has proved stays proved."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.analysis.test_measure_in_time import checked_at_leisure, climb_by
from tests.families.trees.forests import all_scores, prepared_of, random_case
from tests.questions import gauged

import likewise as lw
from likewise.analysis import disparity_search
from likewise.analysis.disparity_search import DisparitySearch
from likewise.analysis.measure import certify_upper
from likewise.search.budget import Budget


@pytest.fixture(autouse=True)
def stages_from_the_first_cell_on(monkeypatch):
    monkeypatch.setattr(disparity_search, "STAGE_CELLS", 1)
    monkeypatch.setattr(disparity_search, "LEAST_STAGE", Fraction(1, 1000))


def posed(case):
    gauge = gauged("score")
    return prepared_of(case, gauge, gauge.question(Fraction(0)))


def stages_of(monkeypatch):
    """The levels that nothing exceeded, as they come."""
    found, asked = [], DisparitySearch._next_stage

    def note(self):
        if self.proved_stage is not None:
            found.append(self.proved_stage[0])
        return asked(self)

    monkeypatch.setattr(DisparitySearch, "_next_stage", note)
    return found


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(12))
def test_stages_end_at_the_largest_gap(monkeypatch, seed):
    case = random_case(seed, features=3, trees=8, depth=3)
    largest = max(first - second for *_, first, second in all_scores(case))
    stages = stages_of(monkeypatch)
    climb = climb_by(monkeypatch, posed(case), 1e-4)
    assert climb.lower == largest == climb.upper
    assert climb.proved
    assert stages == sorted(stages, reverse=True)
    assert all(stage >= largest for stage in stages)


@pytest.mark.draw(3)
@pytest.mark.parametrize("step", [0.05, 0.15, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_whenever_time_is_up_the_upper_end_is_proved(monkeypatch, seed, step):
    case = random_case(seed, features=4, trees=14, depth=4)
    largest = max(first - second for *_, first, second in all_scores(case))
    prepared = posed(case)
    climb = climb_by(monkeypatch, prepared, step)
    assert climb.proved
    assert climb.lower <= largest <= climb.upper
    prepared.task.budget = Budget(600)
    certificate, refusal = certify_upper(prepared, climb, "score", SimpleNamespace(check=checked_at_leisure))
    assert certificate is not None, refusal


def test_what_a_stage_has_proved_stays_proved(monkeypatch):
    """Settling does not succeed: the last stage counts, with its own leaves."""
    case = random_case(5, features=4, trees=14, depth=4)
    largest = max(first - second for *_, first, second in all_scores(case))
    monkeypatch.setattr(DisparitySearch, "_close_at_allowed", lambda *_, **__: False)
    stages, prepared = stages_of(monkeypatch), posed(case)
    climb = climb_by(monkeypatch, prepared, 0.05)
    assert climb.proved
    assert climb.upper == pytest.approx(float(stages[-1]))
    assert largest <= climb.upper
    prepared.task.budget = Budget(600)
    certificate, refusal = certify_upper(prepared, climb, "score", SimpleNamespace(check=checked_at_leisure))
    assert certificate is not None, refusal


@pytest.mark.draw(2)
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("certify", [False, True])
def test_probabilities_of_two_classes(jobs, certify):
    """Two cases that mirror each other, the second of which waits; with processes that take parts of a stage."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame(
        {"a": rng.integers(0, 12, 300), "b": rng.integers(0, 9, 300), "s": rng.integers(0, 2, 300)}
    )
    target = people["a"] + 2 * people["s"] + rng.normal(0, 2, 300) > 6
    model = RandomForestClassifier(25, random_state=0).fit(people, target)
    space = lw.Space({"a": lw.Integer(0, 11), "b": lw.Integer(0, 8), "s": lw.Integer(0, 1)})
    everybody = pd.DataFrame(
        [(a, b, s) for a in range(12) for b in range(9) for s in range(2)], columns=list(people)
    )
    by_sex = model.predict_proba(everybody)[:, 1].reshape(-1, 2)
    found = lw.measure(
        model, space, lw.Similarity(free=["s"]), of="probability", n_jobs=jobs, certify=certify, budget=60
    )
    assert found.proved
    assert found.lower == pytest.approx(np.abs(by_sex[:, 0] - by_sex[:, 1]).max(), abs=1e-12)
    assert found.upper == pytest.approx(found.lower, abs=1e-6)
