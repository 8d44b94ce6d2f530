"""share: exact ones equal brute force, brackets hold them, intervals hold them as often as they say."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.analysis.brute import (
    MODELS,
    PROPERTIES,
    SIMILAR,
    SPACE,
    Truth,
    constrained_sometimes,
    everybody,
    fitted,
)
from tests.posing import judged

import likewise as lw
from likewise.analysis.intervals import clopper_pearson
from likewise.analysis.measures import marginal_measure, uniform_measure
from likewise.analysis.share_bracket import ShareBracket
from likewise.analysis.share_methods import ShareComputation
from likewise.analysis.share_result import Share
from likewise.analysis.sum_distribution import SumTerm, convolve
from likewise.errors import SpecError
from likewise.importers.recoding import identity_recoding
from likewise.spec.pairs import pair_space


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("name", ["linear", "rbf", "polynomial"])
def test_exact_shares_equal_brute_force(name, similar):
    space = constrained_sometimes(name, similar)
    model = fitted(MODELS[name])
    truth, people = Truth(model, space, SIMILAR[similar]), everybody(space)
    X = people.sample(25, random_state=0)
    for property in PROPERTIES.values():
        biased = truth.biased(property)
        found = lw.share(model, space, SIMILAR[similar], property, method="exact")
        assert found.lower <= biased.mean() <= found.upper
        assert found.upper - found.lower < 1e-15
        weights = np.prod(
            [people[n].map(X[n].value_counts() / len(X)).fillna(0) for n in space.names], axis=0
        )
        found = lw.share(model, space, SIMILAR[similar], property, over="marginals", X=X)
        assert found.method == "exact"
        assert found.lower - 1e-12 <= weights[biased].sum() / weights.sum() <= found.upper + 1e-12
        assert found.upper - found.lower < 1e-9
        rows = lw.share(model, space, SIMILAR[similar], property, over=people)
        assert rows.lower == rows.upper == pytest.approx(biased.mean())


@pytest.mark.draw(3)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("name", ["linear", "rbf", "polynomial"])
def test_certified_brackets_hold_the_share(name, similar):
    model = fitted(MODELS[name])
    truth = Truth(model, SPACE, SIMILAR[similar])
    for property in PROPERTIES.values():
        found = lw.share(model, SPACE, SIMILAR[similar], property, method="certified", budget=30)
        assert found.method == "certified"
        assert found.proved
        assert found.lower <= truth.biased(property).mean() <= found.upper
        assert (
            found.upper - found.lower < 0.02
        )  # small cells are looked through; sums are as fine as their grid


@pytest.mark.draw(2)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_certified_brackets_hold_the_share_of_those_who_satisfy_constraints(name, similar):
    space = SPACE.where("a <= b + c + 1", "a + d >= 2")
    model = fitted(MODELS[name])
    truth = Truth(model, space, SIMILAR[similar])
    for property in PROPERTIES.values():
        found = lw.share(model, space, SIMILAR[similar], property, method="certified", budget=30)
        assert found.lower <= truth.biased(property).mean() <= found.upper
        assert found.upper - found.lower < 1e-3


@pytest.mark.usefixtures("clock_of_looks")
def test_cells_close_in_on_a_share_below_a_slanted_constraint():
    space, model, _, _ = continuous()
    below = space.where("2 * x + y <= 2")
    found = lw.share(model, below, lw.Similarity(free=["s"]), method="certified", budget=3)
    random = np.random.default_rng(1)
    people = pd.DataFrame({"x": random.uniform(0, 1, 200_000), "y": random.uniform(0, 2, 200_000), "s": 0})
    people = people[2 * people["x"] + people["y"] <= 2]
    truth = (model.predict(people) != model.predict(people.assign(s=1))).mean()
    assert found.method == "certified"
    assert found.proved
    assert found.lower - 0.005 <= truth <= found.upper + 0.005
    assert found.upper - found.lower < 0.1


def bracketing(model, space, similar, property, X=None):
    judging = judged(model, space, similar, property, X=X, budget=20)
    pairs = judging.inquiry.pairs
    measure = uniform_measure(pairs, judging.recoding) if X is None else marginal_measure(pairs, judging.rows)
    return ShareBracket(judging=judging, measure=measure)


@pytest.mark.parametrize("similar", SIMILAR)
def test_cells_of_a_linear_model_hold_the_share(similar):
    model = fitted(MODELS["linear"])
    truth = Truth(model, SPACE, SIMILAR[similar])
    for property in PROPERTIES.values():
        found = bracketing(model, SPACE, SIMILAR[similar], property)
        found.run(width=1e-6, seconds=10)
        true = Fraction(int(truth.biased(property).sum()), len(truth.scores))
        assert found.lower <= true <= found.upper
        assert found.upper - found.lower <= Fraction(1, 10**6)


@pytest.mark.usefixtures("clock_of_looks")
def test_every_part_of_a_settled_cell_is_as_it_says():
    space, model, X, _ = continuous()
    similar = lw.Similarity(free=["s"], within={"x": 0.05})
    for data in (None, X):
        found = bracketing(model, space, similar, lw.SameDecision(), data)
        found.run(width=0.02, seconds=1)
        assert found.biased + found.fair + sum(cell.mass for cell in found.partition.boxes.values()) == 1
        assert found.biased > 0
        assert found.fair > 0


def continuous():
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Continuous(0, 2), "s": lw.Categorical([0, 1])})
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"x": random.uniform(0, 1, 200), "y": random.uniform(0, 2, 200), "s": random.integers(0, 2, 200)}
    )
    model = LogisticRegression(C=100).fit(X, X["x"] + X["y"] + 0.3 * X["s"] > 1.7)
    # Biased are those for whom the border passes between s = 0 and s = 1: a strip of the rectangle.
    (u, v, w), b = model.coef_[0], model.intercept_[0]

    def below(c):  # the share with u x + v y <= c
        x = np.linspace(0, 1, 200_001)
        return float(np.clip((c - u * x) / v / 2, 0, 1).mean())

    return space, model, X, below(-b) - below(-b - w)


@pytest.mark.some_days
def test_certified_brackets_hold_a_known_area():
    space, model, _, true = continuous()
    found = lw.share(model, space, lw.Similarity(free=["s"]), method="certified", budget=120)
    assert found.proved
    assert found.lower - 1e-5 <= true <= found.upper + 1e-5
    assert found.upper - found.lower < 0.002
    cells = bracketing(model, space, lw.Similarity(free=["s"]), lw.SameDecision())
    cells.run(width=0.05, seconds=60)
    assert float(cells.lower) - 1e-5 <= true <= float(cells.upper) + 1e-5
    assert cells.upper - cells.lower <= Fraction(1, 20)


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(6))
def test_distributions_of_sums_are_bracketed(seed):
    """Against all combinations of small parts, and against a simulation where one part is uniform."""
    random = np.random.default_rng(seed)
    parts = []
    for size in random.integers(1, 6, 4):
        atoms = random.uniform(0, 3, size)
        atoms -= atoms.min()
        masses = random.dirichlet(np.ones(size))
        exact = tuple(Fraction(a) for a in atoms)
        parts.append(SumTerm(width=max(exact), atoms=exact, masses=tuple(masses.tolist())))
    if seed % 2:
        parts.append(SumTerm(width=Fraction(2)))
    found = convolve(parts, Fraction(1), 4096)
    sums, masses = np.ones(1), np.ones(1)
    for part in parts:
        if part.atoms:
            sums = (sums[:, None] + [float(a) for a in part.atoms]).ravel()
            masses = (masses[:, None] * part.masses).ravel()
    for at in random.uniform(0, 12, 40):
        reached = np.clip((at - sums) / 2, 0, 1) if seed % 2 else sums <= at
        low, high = found.below(Fraction(at))
        assert low - 1e-12 <= (masses * reached).sum() <= high + 1e-12
    low, high = found.below(Fraction(100))
    assert low == pytest.approx(1, abs=1e-9)
    assert found.below(Fraction(0)) == (0.0, 0.0)


@pytest.mark.some_days
@pytest.mark.usefixtures("clock_of_looks")
def test_samples_hold_a_known_area_and_say_so():
    space, model, X, true = continuous()
    found = lw.share(model, space, lw.Similarity(free=["s"]), method="sampled", budget=4)
    assert found.confidence == 0.99
    assert found.lower - 1e-4 <= true <= found.upper + 1e-4
    assert found.upper - found.lower < 0.003
    assert "sampled: 99% sure" in str(found)
    assert 0 < found.stats["settled"] < 1  # what cells have settled is not sampled
    drawn = lw.share(
        model, space, lw.Similarity(free=["s"]), over="marginals", X=X, method="sampled", budget=4
    )
    scores = [
        model.decision_function(pd.DataFrame({"x": X["x"], "y": y, "s": s})) for y in X["y"] for s in (0, 1)
    ]
    grid = np.array(scores).reshape(len(X), 2, len(X))
    assert drawn.lower <= ((grid[:, 0] > 0) != (grid[:, 1] > 0)).mean() <= drawn.upper


@pytest.mark.usefixtures("clock_of_looks")
def test_samples_of_a_constrained_space_are_valid():
    space = SPACE.where("a <= b")
    model = fitted(MODELS["rbf"])
    true = Truth(model, space, SIMILAR["free"]).biased(lw.SameDecision()).mean()
    found = lw.share(model, space, SIMILAR["free"], method="sampled", budget=4)
    assert found.lower <= true <= found.upper


@pytest.mark.parametrize("share", [0.0, 0.002, 0.3, 1.0])
def test_intervals_cover_planted_shares_as_often_as_they_say(share):
    random = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        lower, upper = clopper_pearson(int(random.binomial(500, share)), 500, 0.9)
        held += lower <= share <= upper
    assert held >= 0.87 * 400  # four deviations below the 90 percent that are promised


def test_intervals_are_the_tails_they_are_defined_by():
    from scipy.stats import binom

    lower, upper = clopper_pearson(7, 50, 0.99)
    assert binom.sf(6, 50, lower) == pytest.approx(0.005, rel=1e-6)
    assert binom.cdf(7, 50, upper) == pytest.approx(0.005, rel=1e-6)
    assert clopper_pearson(0, 50, 0.99)[0] == 0.0
    assert clopper_pearson(50, 50, 0.99)[1] == 1.0
    assert clopper_pearson(7, 50, 0.99, unjudged=43) == (lower, 1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda pairs: uniform_measure(pairs, identity_recoding(pairs.space)),
        lambda pairs: marginal_measure(pairs, ROWS),
    ],
)
def test_masses_add_up_and_samples_follow_them(make):
    space = lw.Space({"a": lw.Integer(0, 4), "x": lw.Continuous(0, 1), "c": lw.Categorical(["u", "v"])})
    measure = make(pair_space(space, lw.Similarity(free=["c"])))
    lo, hi = measure.ends()
    shut = np.zeros(3, dtype=bool)
    assert measure.mass(lo, hi, shut) == 1
    left, right, opened = hi.copy(), lo.copy(), shut.copy()
    left[1] = right[1] = 0.25  # a value of the data
    opened[1] = True
    assert measure.mass(lo, left, shut) + measure.mass(right, hi, opened) == 1
    random, count = np.random.default_rng(0), 20_000
    boxes = [np.repeat(end[None], count, axis=0) for end in (lo, left, shut)]
    inside = measure.drawn(random, boxes[0], boxes[1], boxes[2].astype(bool))
    assert inside[:, 1].max() <= 0.25
    rows = measure.individuals(random, count)
    assert np.mean(rows[:, 1] <= 0.25) == pytest.approx(float(measure.mass(lo, left, shut)), abs=0.02)
    for a in range(5):
        box = lo.copy(), hi.copy()
        box[0][0] = box[1][0] = a
        assert np.mean(rows[:, 0] == a) == pytest.approx(float(measure.mass(*box, shut)), abs=0.02)
    assert sum(Fraction(w) for w in measure.weights(0)) == pytest.approx(1)


ROWS = np.array([[0, 0.25, 0], [0, 0.25, 1], [3, 0.5, 1], [4, 1.0, 1], [4, 0.0, 0]])


def test_ends_that_are_shown_alike_are_said_once():
    said = {"method": "exact", "confidence": None, "over": "everybody"}
    assert "counterpart: 14.76%, exact" in str(Share(lower=0.14763000001, upper=0.14763000002, **said))
    assert "between 14.76% and 14.80%" in str(Share(lower=0.14763, upper=0.148, **said))
    assert "between 0% and 0.0000000001%" in str(Share(lower=0.0, upper=1e-12, **said))


def test_shares_of_rows_are_those_of_an_audit_also_where_rounding_hides_a_counterpart():
    """Sex counts by 1e-17: in real arithmetic the row with age 5 has a counterpart on the other side of zero, and no program shows it."""
    space = lw.Space({"age": lw.Integer(0, 9), "sex": lw.Categorical([0, 1])})
    rows = pd.DataFrame({"age": [5, 4, 6], "sex": [0, 1, 0]})
    model = LogisticRegression().fit(rows, [0, 1, 0])
    model.coef_, model.intercept_ = np.array([[1.0, 1e-17]]), np.array([-5.0])
    similar = lw.Similarity(free=["sex"])
    audit, share = lw.audit(model, space, similar, X=rows), lw.share(model, space, similar, over=rows)
    assert (audit.biased, audit.undecided) == (0, 1)
    assert (share.lower, share.upper) == (audit.share, audit.share_at_most) == (0, 1 / 3)
    assert share.reason in audit.reasons


def test_what_is_asked_must_make_sense():
    model, similar = fitted(MODELS["linear"]), lw.Similarity(free=["c"])
    for options, word in (
        ({"method": "guessed"}, "method"),
        ({"confidence": 1.0}, "confidence"),
        ({"over": "nobody"}, "over"),
        ({"over": "marginals"}, "need the data"),
        ({"over": everybody(), "method": "sampled"}, "exact"),
    ):
        with pytest.raises(SpecError, match=word):
            lw.share(model, SPACE, similar, **options)
    space, model, _, _ = continuous()
    with pytest.raises(SpecError, match="not discrete"):
        lw.share(model, space, lw.Similarity(free=["s"]), method="exact")


def test_a_budget_that_ends_claims_nothing_it_does_not_know():
    model, similar = fitted(lambda: SVC(gamma=0.2)), lw.Similarity(free=["c"])
    for method in ("exact", "certified", "sampled"):
        found = lw.share(model, SPACE, similar, method=method, budget=1e-9)
        assert (found.lower, found.upper) == (0.0, 1.0)
        assert found.reason is not None


def test_a_count_that_is_broken_off_leaves_a_bracket(monkeypatch):
    from likewise.analysis import share_enumeration as counting

    model, similar, property = fitted(MODELS["rbf"]), SIMILAR["free"], lw.SameDecision()
    true = Truth(model, SPACE, similar).biased(property).mean()
    monkeypatch.setattr(counting, "ROWS_AT_A_TIME", 9)
    monkeypatch.setattr(counting, "BLOCK_SCORES", 90)

    def stop(snapshot):
        if "individuals" in snapshot.stage:
            judging.budget.interrupted = True

    judging = judged(model, SPACE, similar, property, budget=20, listener=stop)
    found = ShareComputation(judging=judging, over="uniform", confidence=0.99).by("exact")
    assert 0 <= found.lower <= true <= found.upper <= 1
    assert 0 < found.upper - found.lower < 1
    assert "interrupted" in found.reason
