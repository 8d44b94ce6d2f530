"""Rows beside counterfactual pairs: every row's verdict, gap and counterpart, and shares, are those of looking at every pair, for every family; together and one by one."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier
from tests.tiers import some
from tests.verifying.test_along import (
    CLAIMS,
    EVERYBODY,
    MODELS,
    PAIRS,
    RANGES,
    SPACE,
    decision,
    exact_scores,
    labels,
    shifted,
)

import likewise as lw
from likewise.analysis import row_claim, row_search
from likewise.errors import SpecError
from likewise.problem import make_claim, prepare
from likewise.run import open_run
from likewise.search.judgement import NOT_REPRESENTABLE
from likewise.search.part_rows import rows_beside, widened
from likewise.verifying.posed_problem import pose

PEOPLE = list(map(tuple, EVERYBODY.to_numpy().astype(int).tolist()))


@cache
def fitted(name: str, seed: int = 0, classes: int = 2):
    return MODELS[name]().fit(EVERYBODY, labels(seed, classes))


@cache
def scored(name: str, seed: int = 0, classes: int = 2) -> tuple[list[list[Fraction]], list[int]]:
    """The scores and the decisions of everybody."""
    scores, zero_is_upper = exact_scores(fitted(name, seed, classes))
    return scores, [decision(one, zero_is_upper) for one in scores]


def biased_people(claim: str, breaks) -> np.ndarray:
    """Who is one of a pair that breaks the claim."""
    found = np.zeros(len(PEOPLE), dtype=bool)
    for i, j in PAIRS[claim]:
        if breaks(i, j):
            found[[i, j]] = True
    return found


def sorted_rows(found: lw.Audit) -> pd.DataFrame:
    return found.rows.sort_values("row").reset_index(drop=True)


def counterparts(rows: pd.DataFrame) -> list[tuple[int, ...]]:
    return [
        tuple(int(row.get(f"counterpart_{name}", row[name])) for name in RANGES)
        for row in rows.to_dict("records")
    ]


def check_decisions(claim: str, *model: str | int, every: int = 1) -> None:
    _, decided = scored(*model)
    expected = biased_people(claim, lambda i, j: decided[i] != decided[j])
    asked = EVERYBODY[::every]
    found = lw.audit(fitted(*model), SPACE, CLAIMS[claim], X=asked, budget=60)
    assert found.undecided == 0, found.reasons
    rows = sorted_rows(found)
    assert (rows.biased.to_numpy(dtype=bool) == expected[::every]).all(), claim
    biased = rows[rows.biased.astype(bool)]
    index = {person: at for at, person in enumerate(PEOPLE)}
    for row, other in zip(biased.row, counterparts(biased), strict=True):
        own = asked.index[row]
        assert shifted(claim, PEOPLE[own], other)
        assert decided[own] != decided[index[other]]
    assert "row_is" not in rows  # pairs have no first and second


@pytest.mark.some_days
@pytest.mark.parametrize("name", list(MODELS))
def test_decisions_of_every_row_are_those_of_looking_at_every_pair(name):
    for claim in some(list(CLAIMS), 1, name):
        check_decisions(claim, name)


@pytest.mark.slow
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_rows_that_are_searched_one_by_one(name, monkeypatch):
    monkeypatch.setattr(row_claim, "judge_rows", lambda *_: None)
    monkeypatch.setattr(row_search, "GAP_CELLS", 100)  # gaps are not compared here
    claims = list(CLAIMS)[:: 1 if name in ("affine", "tree") else 2]
    for claim in some(claims, 1, name):
        check_decisions(claim, name, every=29 if name == "network" else 11)


@pytest.mark.draw(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_the_largest_gap_of_every_row(name):
    model, (scores, _) = fitted(name, 1), scored(name, 1)
    for claim in some(("a shift", "a shift with room", "a rate"), 1, name):
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
        alone = [
            not any(shifted(claim, person, other) for other in PEOPLE if other != person) for person in PEOPLE
        ]
        shown = rows[[name for name in rows if name.startswith("counterpart_")]]
        assert not shown[np.array(alone)].drop(columns="counterpart_decision").notna().any(axis=None)


@pytest.mark.parametrize("name", ["affine", "tree", "forest", "boosting"])
def test_rows_of_three_classes(name):
    for claim in some(list(CLAIMS), 2, name):
        check_decisions(claim, name, 3, 3)


@pytest.mark.draw(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_shares_are_those_of_counting(name):
    model, (_, decided) = fitted(name), scored(name)
    for claim in some(("a shift", "a shift and a tolerance", "a rate"), 1, name):
        true = float(biased_people(claim, lambda i, j: decided[i] != decided[j]).mean())
        for method in ("auto", "exact"):
            found = lw.share(model, SPACE, CLAIMS[claim], method=method, budget=30)
            assert found.lower == pytest.approx(true) == found.upper
            assert found.method == "exact"
        rows = lw.share(model, SPACE, CLAIMS[claim], over=EVERYBODY, budget=30)
        assert rows.lower == rows.upper == true


@pytest.mark.some_days
@pytest.mark.usefixtures("clock_of_looks")
@pytest.mark.parametrize("name", ["affine", "tree"])
def test_sampled_shares_hold_the_true_one(name):
    model = fitted(name)
    true = lw.audit(model, SPACE, CLAIMS["a shift"], X=EVERYBODY).share
    for over in ("uniform", "marginals"):
        found = lw.share(model, SPACE, CLAIMS["a shift"], over=over, method="sampled", X=EVERYBODY, budget=3)
        assert found.lower <= true <= found.upper
        assert found.upper - found.lower < 0.2


def test_certified_shares_are_refused():
    with pytest.raises(SpecError, match="certified bracket of a share") as refused:
        lw.share(fitted("affine"), SPACE, CLAIMS["a shift"], method="certified")
    assert "sampled" in refused.value.hint


@pytest.mark.parametrize("name", ["affine", "kernel", "network"])
def test_constraints_hold_of_counterparts(name):
    space = SPACE.where("income <= age + 3")
    rows = EVERYBODY[EVERYBODY.income <= EVERYBODY.age + 3]
    model, decided = fitted(name), dict(zip(PEOPLE, scored(name)[1], strict=True))
    people = [person for person in PEOPLE if person[0] <= person[1] + 3]
    for claim in ("a shift", "a shift and a tolerance"):
        found = sorted_rows(lw.audit(model, space, CLAIMS[claim], X=rows, budget=60))
        expected = [
            any(shifted(claim, one, two) and decided[one] != decided[two] for two in people) for one in people
        ]
        assert found.biased.tolist() == expected


def test_a_model_that_does_not_look_at_what_others_change_along_with():
    """The counterpart has the other sex, although the score is the same for both: else it would be no pair."""
    rows = EVERYBODY[["income", "sex"]]
    model = LogisticRegression().fit(rows[["income"]].assign(sex=0.0), rows.income > 2)
    space = lw.Space({"income": lw.Integer(0, 5), "sex": lw.Categorical([0.0, 1.0, 2.0])})
    similar = lw.Similarity(pairs={"sex": [(0.0, 1.0)]}, along={"income": lw.Along("sex", {(0.0, 1.0): -1})})
    found = sorted_rows(lw.audit(model, space, similar, X=rows)).drop_duplicates(["income", "sex"])
    decided = model.predict(pd.DataFrame({"income": np.arange(6.0), "sex": 0.0}))
    for row in found.to_dict("records"):
        other = row["income"] + {0.0: -1, 1.0: 1}.get(row["sex"], 99)
        expected = 0 <= other <= 5 and decided[int(other)] != decided[int(row["income"])]
        assert row["biased"] == expected
        if expected:
            assert (row["counterpart_income"], row["counterpart_sex"]) == (other, 1.0 - row["sex"])


NUMBERS = pd.DataFrame(
    [(wage, sex) for wage in np.arange(0, 10.001, 0.25) for sex in (0, 1)], columns=["wage", "sex"]
)
WAGES = lw.Space({"wage": lw.Continuous(0, 10), "sex": lw.Categorical([0, 1])})
REGRESSORS = {
    "linear": LinearRegression,
    "trees": lambda: GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0),
    "kernel": lambda: SVR(gamma=0.2),
}
EVERY = {"linear": 1, "trees": 1, "kernel": 5}  # of so many numbers one is asked about


def wage_model(name: str):
    random = np.random.default_rng(0)
    worth = NUMBERS.wage * 2 + 3 * NUMBERS.sex + random.normal(size=len(NUMBERS))
    return REGRESSORS[name]().fit(NUMBERS, worth)


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_shifts_of_numbers_that_are_not_whole(name):
    """Quarters are doubles, and so is a quarter less a number of them."""
    model, asked = wage_model(name), NUMBERS[:: EVERY[name]]
    similar = lw.Similarity(free=["sex"], along={"wage": lw.Along("sex", {(0, 1): -1.5})})
    predicted = {
        key: float(p)
        for key, p in zip(map(tuple, NUMBERS.to_numpy().tolist()), model.predict(NUMBERS), strict=True)
    }
    gaps = []
    for wage, sex in asked.to_numpy().tolist():
        other = (wage - 1.5, 1.0) if sex == 0 else (wage + 1.5, 0.0)
        gaps.append(abs(predicted[wage, sex] - predicted[other]) if other in predicted else 0.0)
    delta = float(np.median([gap for gap in gaps if gap])) + 1e-4
    found = lw.audit(model, WAGES, similar, lw.ScoreGap(delta), X=asked, budget=60)
    rows = sorted_rows(found)
    assert found.undecided == 0, found.reasons
    assert rows.biased.tolist() == [gap > delta for gap in gaps]
    assert np.allclose(rows.gap.astype(float), gaps, atol=2e-3)
    for row in rows[rows.biased].to_dict("records"):
        assert abs(Fraction(row["wage"]) - Fraction(row["counterpart_wage"])) == Fraction(3, 2)
        assert row["sex"] != row["counterpart_sex"]


@pytest.mark.some_days
@pytest.mark.parametrize("name", list(REGRESSORS))
def test_shifts_that_lead_to_no_double(name):
    """A tenth is no double: nobody can be asked about, but in the real numbers there is somebody. What all nearly there have in common is proved; who would be biased is left undecided."""
    model, asked = wage_model(name), NUMBERS[:: EVERY[name]]
    similar = lw.Similarity(free=["sex"], along={"wage": lw.Along("sex", {(0, 1): "1/10"})})
    other = asked.assign(wage=asked.wage + np.where(asked.sex == 0, 0.1, -0.1), sex=1 - asked.sex)
    inside = other.wage.between(0, 10).to_numpy()
    gaps = np.where(inside, np.abs(model.predict(asked) - model.predict(other)), 0.0)
    delta = float(np.median(gaps[inside])) * 0.999  # of a line all gaps are the same
    found = lw.audit(model, WAGES, similar, lw.ScoreGap(delta), X=asked, budget=60)
    rows = sorted_rows(found)
    assert found.biased == 0
    assert rows.biased.isna().tolist() == (gaps > delta).tolist()
    assert all("rounding" in reason for reason in found.reasons)
    if name != "kernel":
        assert set(found.reasons) == {NOT_REPRESENTABLE}
    with_room = lw.audit(
        model, WAGES, similar.replace(within={"wage": 0.001}), lw.ScoreGap(delta), X=asked, budget=60
    )
    assert with_room.biased >= found.undecided
    assert with_room.undecided == 0


def test_who_stands_in_a_part():
    """By hand: whom a shift leads to, in the real numbers, and whether doubles can name them."""
    similar = lw.Similarity(free=["sex"], along={"wage": lw.Along("sex", {(0, 1): "1/10"})})
    with open_run(budget=10) as run:
        posed = pose(prepare(make_claim(wage_model("linear"), WAGES, similar, lw.ScoreGap(1)), run), run)
    rows = np.array([[wage, sex] for wage, sex in product((0.0, 0.05, 5.0, 9.95, 10.0), (0.0, 1.0))])
    shifts = {part.relations[1].fixed: part for part in posed.pairs.branches}
    for fixed, shift in (((0, 1), 0.1), ((1, 0), -0.1)):
        there, named = rows_beside(shifts[fixed], rows)
        expected = (rows[:, 1] == fixed[0]) & (rows[:, 0] + shift <= 10) & (rows[:, 0] + shift >= 0)
        assert (there == expected).all()
        assert not named.any()
        assert (rows_beside(widened(shifts[fixed]), rows)[1] == expected).all()


@pytest.mark.some_days
@pytest.mark.parametrize("name", ["affine", "tree", "kernel"])
def test_brackets_are_not_below_the_gaps_of_rows(name):
    """The lower end of a bracket is at least what an audit of the same rows shows, also within little time."""
    random = np.random.default_rng(5)
    rows = EVERYBODY.iloc[random.permutation(len(EVERYBODY))[:40]].reset_index(drop=True)
    model = fitted(name, 2)
    for claim in some(list(CLAIMS), 2, name):
        audit = lw.audit(model, SPACE, CLAIMS[claim], lw.ScoreGap(100), X=rows)
        found = lw.measure(model, SPACE, CLAIMS[claim], X=rows, budget=20)
        assert found.lower >= audit.rows.gap.astype(float).max() * (1 - 1e-9) - 1e-9


@pytest.mark.some_days
def test_rows_of_deep_forests_are_known_to_brackets(monkeypatch):
    """By the rows alone, where nothing else looks for pairs."""
    from likewise.analysis import disparity_problem

    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.integers(0, 40, (200, 4)), columns=list("abcd")).assign(
        sex=random.integers(0, 2, 200)
    )
    model = RandomForestClassifier(20, random_state=0).fit(rows, random.integers(0, 2, 200))
    space = lw.Space({**{name: lw.Integer(0, 39) for name in "abcd"}, "sex": lw.Categorical([0, 1])})
    similar = lw.Similarity(free=["sex"], within={"a": 4}, along={"b": lw.Along("sex", {(0, 1): -3})})
    audit = lw.audit(model, space, similar, lw.ProbabilityGap(0.9), X=rows)
    monkeypatch.setattr(disparity_problem, "find_deepest", lambda _: None)
    monkeypatch.setattr(disparity_problem, "climb_for_a_while", lambda *_: None)
    found = lw.measure(model, space, similar, of="probability", X=rows, budget=2)
    assert found.lower >= audit.rows.gap.astype(float).max() - 1e-6


def test_workers_judge_rows_in_parts():
    model = fitted("tree")
    rows = pd.concat([EVERYBODY] * 3, ignore_index=True)
    alone = sorted_rows(lw.audit(model, SPACE, CLAIMS["a shift"], X=rows))
    together = sorted_rows(lw.audit(model, SPACE, CLAIMS["a shift"], X=rows, n_jobs=2))
    pd.testing.assert_frame_equal(alone, together)


def test_pairs_like_the_data_are_of_a_row():
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(EVERYBODY, labels(0))
    for claim in ("a shift", "a rate"):
        found = lw.verify(model, SPACE, CLAIMS[claim], X=EVERYBODY, like_data=True)
        assert found.verdict == "BIASED"
        assert math.isclose(found.stats["nearest_row"]["distance"], 0)
        one, two = map(tuple, found.pair[list(RANGES)].to_numpy().astype(int).tolist())
        assert shifted(claim, one, two)


def room_needed(x: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """How far income is from what the shift says, of two of the same age; by hand."""
    (i, a, s), (i2, a2, s2) = x, other
    low, high = {(0, 1): (-1, -1), (1, 0): (1, 1), (1, 2): (1, 2), (2, 1): (-2, -1)}.get((s, s2), (0, 0))
    return max(low - (i2 - i), i2 - i - high, 0) if a == a2 else None


@pytest.mark.some_days
@pytest.mark.parametrize("name", ["affine", "kernel", "tree"])
def test_the_radius_is_the_room_around_a_shift(name):
    """A pair that is a shift apart has no room: the level that it refutes is how far it is from the equation."""
    model, (scores, _) = fitted(name, 1), scored(name, 1)
    gaps = {}
    for i, j in product(range(len(PEOPLE)), repeat=2):
        room = room_needed(PEOPLE[i], PEOPLE[j])
        if room is not None:
            gap = max(float(a - b) for a, b in zip(scores[i], scores[j], strict=True))
            gaps[room] = max(gaps.get(room, 0.0), gap)
    largest = [max(gaps.get(room, 0.0) for room in range(up_to + 1)) for up_to in range(8)]
    deltas = {largest[0] * 1.01, largest[0] * 0.9, largest[1] * 1.01, largest[7] * 1.01}
    for delta in some(sorted(deltas), 2, name):
        true = next((room for room, gap in enumerate(largest) if gap > delta), None)
        found = lw.radius(
            model, SPACE, CLAIMS["a shift"], lw.ScoreGap(delta), feature="income", X=EVERYBODY, budget=60
        )
        assert found.reason is None
        assert found.largest >= 7  # from 0 to 5, where the shift leads 2 the other way
        assert found.refuted == true
        assert found.proved == (found.largest if true is None else true - 1 if true else None)
