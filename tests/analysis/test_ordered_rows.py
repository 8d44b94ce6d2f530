"""Rows and shares of claims about ordered pairs: a row is judged by the pairs in which it stands on either side, and every verdict is that of looking at all of them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from tests.tiers import some
from tests.verifying.test_one_way import EVERYBODY, MODELS, SPACE, breaks, exact_scores, fitted, labels

import likewise as lw
from likewise.analysis import row_claim

PEOPLE = EVERYBODY.to_dict("records")


def ordered_pairs(feature: str, direction: int, within: float = np.inf, also=()):
    """All pairs of everybody, the second of which has at least as much of the feature; nobody beside themselves."""
    for i, j in product(range(len(PEOPLE)), repeat=2):
        x, other = PEOPLE[i], PEOPLE[j]
        step = (other[feature] - x[feature]) * direction
        if i != j and 0 <= step <= within and all(x[k] == other[k] for k in x if k not in (feature, *also)):
            yield i, j


def sides_of_everybody(model, pairs, of: str, at_most=0) -> tuple[np.ndarray, np.ndarray]:
    """Who is the first of a pair that breaks the claim, and who is the second."""
    scores, leads, zero_is_upper = exact_scores(model)
    scores = leads if of == "decision" else scores
    first, second = np.zeros((2, len(PEOPLE)), dtype=bool)
    for i, j in pairs:
        if breaks(of, scores[i], scores[j], Fraction(at_most), zero_is_upper):
            first[i] = second[j] = True
    return first, second


def check_audit(model, claim, similar, pairs, of, at_most=0, every=1) -> lw.Audit:
    """Every row of everybody, or each so many: its verdict, that it stands where it is said to, and that its counterpart is such a pair."""
    pairs, asked = list(pairs), EVERYBODY[::every]
    first, second = sides_of_everybody(model, pairs, of, at_most)
    found = lw.audit(model, SPACE, similar or claim, claim if similar else None, X=asked, budget=60)
    rows = found.rows.sort_values("row").reset_index(drop=True)
    rows.row = asked.index[rows.row]
    assert (rows.biased == (first | second)[rows.row]).all()
    assert found.undecided == 0
    biased = rows[rows.biased]
    stands = {"first": first, "second": second}
    assert all(stands[side][row] for row, side in zip(biased.row, biased.row_is, strict=True))
    assert found.sides == biased.row_is.value_counts().reindex(["first", "second"], fill_value=0).to_dict()
    index = {tuple(person.values()): at for at, person in enumerate(PEOPLE)}
    for row in biased.to_dict("records"):
        other = {k: row.get(f"counterpart_{k}", row[k]) for k in PEOPLE[0]}
        pair = (row["row"], index[tuple(other.values())])
        assert (pair if row["row_is"] == "first" else pair[::-1]) in pairs
    return found


@pytest.mark.some_days
@pytest.mark.draw(12)
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("of", ["score", "decision"])
def test_every_row_is_that_of_looking_at_every_pair(name, of):
    model = fitted(name, 0)
    for feature, direction in some(list(product(("income", "age"), (1, -1))), 1, f"{name} {of}"):
        claim = lw.Monotone(feature, direction, of=of)
        found = check_audit(model, claim, None, ordered_pairs(feature, direction), of)
        verdict = lw.verify(model, SPACE, claim, X=EVERYBODY, budget=60).verdict
        assert verdict == ("BIASED" if found.biased else "FAIR")  # everybody is a row


@pytest.mark.draw(3)
@pytest.mark.parametrize("name", ["affine", "kernel", "tree", "forest", "network"])
@pytest.mark.parametrize("of", ["score", "decision"])
def test_rows_that_are_searched_one_by_one(name, of, monkeypatch):
    monkeypatch.setattr(row_claim, "judge_rows", lambda *_: None)
    model = fitted(name, 0)
    for direction in some((1, -1), 1, f"{name} {of}"):
        claim, pairs = lw.Monotone("income", direction, of=of), ordered_pairs("income", direction)
        check_audit(model, claim, None, pairs, of, every=5)


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("singly", [False, True])
@pytest.mark.parametrize("name", ["affine", "affine in pieces", "kernel", "boosting"])
def test_what_else_may_differ_and_how_far(name, singly, monkeypatch):
    if singly:
        monkeypatch.setattr(row_claim, "judge_rows", lambda *_: None)
    model = fitted(name, 0)
    for direction, way in ((1, "up"), (-1, "down")):
        similar = lw.Similarity(free=["sex"], within={"income": 2}, order={"income": way})
        pairs = ordered_pairs("income", direction, 2, also=("sex",))
        check_audit(model, lw.SameDecision(), similar, pairs, "decision", every=4 if singly else 1)


@pytest.mark.parametrize("name", ["affine", "boosting", "network"])
def test_falls_of_probabilities_and_of_classes_of_interest(name):
    model = fitted(name, 1)
    claim = lw.Monotone("age", 1, of="probability", at_most=0.02)
    check_audit(model, claim, None, ordered_pairs("age", 1), "probability", 0.02)
    found = lw.audit(model, SPACE, lw.Monotone("age", 1, of="decision", class_of_interest=0), X=EVERYBODY)
    turned = lw.audit(model, SPACE, lw.Monotone("age", -1, of="decision"), X=EVERYBODY)
    assert found.biased == turned.biased  # who has less gets the upper class, or who has more the lower one
    assert found.sides == dict(zip(("second", "first"), turned.sides.values(), strict=True))


def test_three_classes():
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(EVERYBODY, labels(0, 3))
    classes = model.predict(EVERYBODY)
    for direction in (1, -1):
        claim = lw.Monotone("income", direction, of="decision", class_of_interest=2)
        found = lw.audit(model, SPACE, claim, X=EVERYBODY)
        expected = np.zeros(len(PEOPLE), dtype=bool)
        for i, j in ordered_pairs("income", direction):
            if classes[i] == 2 != classes[j]:
                expected[[i, j]] = True
        assert (found.rows.sort_values("row").biased.to_numpy() == expected).all()


@pytest.mark.parametrize("name", ["affine", "kernel", "tree"])
def test_the_largest_fall_of_every_row(name):
    model = fitted(name, 0)
    scores, _, _ = exact_scores(model)
    if name == "tree":
        assert len(set(scores)) > 2
    largest = np.zeros(len(PEOPLE))
    for i, j in ordered_pairs("income", -1):
        largest[[i, j]] = np.maximum(largest[[i, j]], float(scores[i] - scores[j]))
    for judge in ("together", "singly"):
        with pytest.MonkeyPatch.context() as patch:
            if judge == "singly":
                patch.setattr(row_claim, "judge_rows", lambda *_: None)
            every = 7 if judge == "singly" else 1
            found = lw.audit(model, SPACE, lw.Monotone("income", -1), X=EVERYBODY[::every])
        gaps = found.rows.sort_values("row").gap.to_numpy(dtype=float)
        assert np.allclose(gaps, largest[::every], atol=2e-3 * largest.max())


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.usefixtures("clock_of_looks")
@pytest.mark.parametrize("method", ["exact", "certified", "sampled"])
@pytest.mark.parametrize("name", list(MODELS))
def test_shares_are_those_of_audits(name, method):
    model = fitted(name, 0)
    for direction in (1, -1):
        claim = lw.Monotone("income", direction, of="decision")
        true = lw.audit(model, SPACE, claim, X=EVERYBODY).share
        found = lw.share(model, SPACE, claim, method=method, X=EVERYBODY, budget=3)
        assert found.lower <= true <= found.upper
        if method == "exact":
            assert found.lower == pytest.approx(true) == found.upper
        rows = lw.share(model, SPACE, claim, over=EVERYBODY)
        assert rows.lower == rows.upper == true


def test_shares_of_sums():
    """By the distribution of a linear score, which is not counted one by one."""
    random = np.random.default_rng(0)
    names = [f"n{i}" for i in range(6)]
    rows = pd.DataFrame(random.integers(0, 10, (400, 6)), columns=names).astype(float)
    model = LogisticRegression().fit(rows, rows @ [1, -1, 2, 0.5, -0.3, 1] > 11)
    space = lw.Space({name: lw.Integer(0, 9) for name in names})
    for direction in (1, -1):
        claim = lw.Monotone("n1", direction, of="decision")
        exact = lw.share(model, space, claim, method="exact", budget=30)
        summed = lw.share(model, space, claim, method="certified", budget=30)
        assert summed.lower <= exact.lower <= exact.upper <= summed.upper
        assert exact.upper == pytest.approx(exact.lower)
        assert summed.upper - summed.lower < 0.01
        assert (exact.lower == 0) == (direction == -1)


def test_the_table_says_on_which_side_rows_stand(tmp_path):
    model = fitted("kernel", 0)
    found = lw.audit(model, SPACE, lw.Monotone("income", -1, of="decision"), X=EVERYBODY)
    shown = found._repr_html_()
    assert f"{found.sides['first']:,} of them stand as the first" in shown
    assert "row is" in shown
    found.save(tmp_path / "rows.csv")
    assert set(pd.read_csv(tmp_path / "rows.csv").row_is.dropna()) <= {"first", "second"}
    unordered = lw.audit(model, SPACE, lw.Similarity(free=["sex"]), X=EVERYBODY)
    assert "row_is" not in unordered.rows
    assert unordered.sides is None
    assert "sides" not in unordered.to_dict()


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_windows_of_numbers(slope):
    """A line that rises or falls with income: who has less of it can only be the first, by the end of the window above them."""
    rows = pd.DataFrame({"income": np.linspace(0, 4, 41), "age": np.tile([0.0, 1.0], 21)[:41]})
    model = LogisticRegression().fit(rows, slope * rows.income + 0.1 * rows.age > slope * 2)
    space = lw.Space({"income": lw.Continuous(0, 4), "age": lw.Continuous(0, 1)})
    similar = lw.Similarity(within={"income": 0.5}, order={"income": "up"})
    found = lw.audit(model, space, similar, X=rows).rows.sort_values("row")
    score = {
        step: model.decision_function(rows.assign(income=(rows.income + step).clip(0, 4)))
        for step in (-0.5, 0, 0.5)
    }
    first, second = (score[0] > 0) & (score[0.5] <= 0), (score[-0.5] > 0) & (score[0] <= 0)
    assert (found.biased.to_numpy() == (first | second)).all()
    assert (found.row_is[found.biased] == np.where(first, "first", "second")[found.biased.to_numpy()]).all()
    assert found.biased.any() == (slope < 0)
