"""Claims that scores change no faster than a metric, beside looking at every pair in exact arithmetic."""

import io
import json
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from tests.posing import problem_of
from tests.tiers import some

import likewise as lw
from likewise import check
from likewise.cli.app import cli
from likewise.errors import SpecError
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.search.proof import begin_proof
from likewise.search.slope_tree import SlopeTree
from likewise.spec.allowance import Allowance
from likewise.spec.claim import WrittenClaim
from likewise.spec.file import read_spec, write_spec
from likewise.spec.numbers import double_above, double_below
from likewise.verifying.posed_problem import pose

LEVELS = ["x", "y", "z"]
SPACE = lw.Space({"a": lw.Integer(0, 3), "b": lw.Categorical(LEVELS), "c": lw.Integer(0, 2)})
RANDOM = np.random.default_rng(3)
X = pd.DataFrame(
    {"a": RANDOM.integers(0, 4, 120), "b": RANDOM.choice(LEVELS, 120), "c": RANDOM.integers(0, 3, 120)}
)
Y = np.sin(2 * X.a) + 0.7 * (X.b == "y") * X.c - 0.4 * X.a * (X.b == "z")
COSTS = {("x", "y"): "1/2", ("x", "z"): 2, ("y", "z"): 1}
METRICS = {
    "l1": lw.Metric("l1", weights={"a": "1/3"}, costs={"b": COSTS}),
    "l2": lw.Metric("l2", weights={"a": 1}, costs={"b": 1}),
    "linf": lw.Metric("linf", weights={"a": "1/2"}, costs={"b": COSTS}),
    "matrix": lw.Mahalanobis([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], ["a", ("b", "y"), ("b", "z")]),
}


def behind_columns(estimator):
    encoder = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(encoder, estimator).fit(X, Y)


FAMILIES = {
    "linear": LinearRegression(),
    "polynomial": SVR(kernel="poly", degree=2, coef0=1, gamma=0.4),
    "rbf": SVR(gamma=0.4),
    "trees": DecisionTreeRegressor(max_depth=4, random_state=0),
    "network": MLPRegressor(hidden_layer_sizes=(4,), max_iter=60, random_state=0),
    "sum": VotingRegressor(
        [("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("line", LinearRegression())]
    ),
}


def everybody(claimed):
    """All pairs of the claim with the least constant that each of them leaves, enclosed: (ends, x, other)."""
    run = Run(budget=Budget(60))
    problem = prepare(claimed, run)
    posed = pose(problem, run)
    people = [tuple(map(Fraction, codes)) for codes in product(range(4), range(3), range(3))]
    scores = {codes: posed.task.oracles.enclose(codes, 128)[0] for codes in people}
    unit = Allowance(
        constant=Fraction(1),
        norm=problem.allowance.norm,
        costs=problem.allowance.costs,
        forms=problem.allowance.forms,
    )
    slack = Fraction(claimed.property.slack)
    for x, other in product(people, people):
        if x != other and posed.pairs.valid(x, other):
            near, far = unit.ends(x, other)
            gap = scores[x].lo - scores[other].hi - slack, scores[x].hi - scores[other].lo - slack
            yield gap, (near, far), x, other


def least_constant(claimed):
    """The least constant of all pairs, between two numbers; None where some pair is at no distance and breaks it."""
    lower = upper = Fraction(0)
    for (low, high), (near, far), _, _ in everybody(claimed):
        if near == 0:
            if low > 0:
                return None
            continue
        lower, upper = max(lower, low / far), max(upper, high / near)
    return lower, upper


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_verdict_is_that_of_looking_at_everybody(family, metric):
    model = behind_columns(FAMILIES[family])
    claim = lw.Lipschitz(1, METRICS[metric], slack=0.01 if metric == "matrix" else 0)
    found = least_constant(make_claim(model, SPACE, claim))
    if found is None:
        assert lw.verify(model, SPACE, lw.Lipschitz(1e6, METRICS[metric]), X=X).verdict == "BIASED"
        return
    lower, upper = found
    above, below = double_above(upper * Fraction(1001, 1000)), double_below(lower * Fraction(999, 1000))
    fair = lw.verify(model, SPACE, lw.Lipschitz(above, claim.metric, slack=claim.slack), X=X)
    assert (fair.verdict, fair.reason) == ("FAIR", None)
    report = check(io.BytesIO(fair.certificate.content))
    assert report.accepted
    biased = lw.verify(model, SPACE, lw.Lipschitz(below, claim.metric, slack=claim.slack), X=X)
    assert biased.verdict == "BIASED"
    assert below < biased.bounds[0] <= double_above(upper)


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("family", ["linear", "trees", "polynomial"])
def test_the_measure_is_the_least_constant_and_verify_agrees_with_it(family, metric):
    model = behind_columns(FAMILIES[family])
    lower, upper = least_constant(make_claim(model, SPACE, lw.Lipschitz(1, METRICS[metric])))
    found = lw.measure(model, SPACE, of="lipschitz", metric=METRICS[metric], X=X, tolerance=1e-9)
    assert found.reason is None
    assert found.certificate is not None
    assert found.lower <= upper
    assert lower <= found.upper <= found.lower + 1e-9
    for constant, verdict in ((found.upper, "FAIR"), (found.lower * 0.999, "BIASED")):
        assert lw.verify(model, SPACE, lw.Lipschitz(constant, METRICS[metric]), X=X).verdict == verdict


NUMBERS = lw.Space({"a": lw.Continuous(0, 1), "b": lw.Continuous(0, 2), "c": lw.Continuous(-1, 1)})
POINTS = pd.DataFrame({name: RANDOM.uniform(f.lo, f.hi, 150) for name, f in NUMBERS.features.items()})
HEIGHTS = np.sin(3 * POINTS.a) + POINTS.b * POINTS.c


def far(kind):
    return lw.Metric(kind, weights={"a": 2, "b": 1})


@pytest.mark.parametrize(("kind", "norm"), [("l1", np.inf), ("l2", 2), ("linf", 1)])
def test_a_linear_score_changes_as_fast_as_the_dual_norm_of_its_slopes(kind, norm):
    model = LinearRegression().fit(POINTS, HEIGHTS)
    truth = np.linalg.norm(model.coef_[:2] / [2, 1], ord=norm)
    found = lw.measure(model, NUMBERS, of="lipschitz", metric=far(kind), X=POINTS)
    assert found.reason is None
    assert found.lower <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= found.upper <= truth * (1 + 1e-5)


@pytest.mark.draw(4)
@pytest.mark.parametrize("kind", ["l1", "l2", "linf"])
@pytest.mark.parametrize("family", ["polynomial", "rbf", "network", "smooth", "sum"])
def test_slopes_of_continuous_scores_are_proved_and_no_pair_is_steeper(family, kind):
    estimators = {
        "polynomial": SVR(kernel="poly", degree=2, coef0=1, gamma=0.5),
        "rbf": SVR(gamma=0.2, C=0.05, epsilon=0.5),
        "network": MLPRegressor(hidden_layer_sizes=(3, 3), max_iter=60, random_state=0),
        "smooth": MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", max_iter=60, random_state=0),
        "sum": VotingRegressor(
            [("line", LinearRegression()), ("bent", SVR(kernel="poly", degree=2, coef0=1, gamma=0.5))]
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimators[family].fit(POINTS, HEIGHTS)
    problem = problem_of(model, NUMBERS, lw.Lipschitz(1, far(kind)))
    run = Run(budget=Budget(60))
    task = pose(problem, run).task
    start = begin_proof(task.pairs)
    tree = SlopeTree(task.pairs, task.slopes, start.lo, start.hi)
    tree.refine(0.0, Budget(60), stop=60, most=150)
    constant = tree.rate * 1.0001
    result = lw.verify(model, NUMBERS, lw.Lipschitz(constant, far(kind)), X=POINTS)
    assert (result.verdict, result.stats["engine"]) == ("FAIR", "slopes")
    assert check(io.BytesIO(result.certificate.content)).accepted
    x = pd.DataFrame({name: RANDOM.uniform(f.lo, f.hi, 4000) for name, f in NUMBERS.features.items()})
    y = x.assign(a=RANDOM.permutation(x.a), b=RANDOM.permutation(x.b))
    apart = np.stack([2 * abs(x.a - y.a), abs(x.b - y.b)])
    norms = {"l1": apart.sum(axis=0), "l2": np.hypot(*apart), "linf": apart.max(axis=0)}
    steepest = np.max(np.abs(model.predict(x) - model.predict(y)) / norms[kind])
    assert steepest <= constant * (1 + 1e-9)


def test_trees_jump_and_a_slack_leaves_room_for_that():
    model = DecisionTreeRegressor(max_depth=2, random_state=0).fit(POINTS, HEIGHTS)
    assert lw.verify(model, NUMBERS, lw.Lipschitz(1e6, far("l1")), X=POINTS).verdict == "BIASED"
    largest = lw.measure(model, NUMBERS, lw.Similarity(free=["a", "b"]), of="score", X=POINTS).upper
    assert lw.verify(model, NUMBERS, lw.Lipschitz(0, far("l1"), slack=largest), X=POINTS).verdict == "FAIR"


@pytest.mark.some_days
def test_what_costs_nothing_may_not_move_the_score_beyond_the_slack():
    model = LinearRegression().fit(POINTS, HEIGHTS)
    moved = abs(float(model.coef_[2])) * 2
    similar = lw.Similarity(free=["c"])
    cases = [(0.0, "BIASED"), (moved * 0.99, "BIASED"), (moved * 1.01, "FAIR")]
    for slack, verdict in some(cases, 1, "slack"):
        claim = lw.Lipschitz(50, far("l1"), slack=slack)
        assert lw.verify(model, NUMBERS, similar, claim, X=POINTS).verdict == verdict


def test_no_constant_is_said_to_be_large_enough_where_a_free_feature_moves_the_score():
    rows = pd.DataFrame({"a": [0, 1, 2, 3] * 2, "sex": [0] * 4 + [1] * 4})
    model = LinearRegression().fit(rows, rows.a + 5 * rows.sex)
    space = lw.Space({"a": lw.Integer(0, 3), "sex": lw.Categorical([0, 1])})
    metric = lw.Metric("l1", weights={"a": 1})
    found = lw.measure(model, space, lw.Similarity(free=["sex"]), of="lipschitz", metric=metric)
    assert found.lower == np.inf
    assert "no constant is large enough" in str(found)
    shown = found._repr_html_()
    assert "nothing is known" not in shown
    assert "search longer" not in shown
    assert found.pair["sex"].nunique() == 2


def test_a_similarity_limits_who_is_compared():
    model = behind_columns(FAMILIES["trees"])
    metric = lw.Metric("l1", weights={"a": 1})
    everybody = lw.measure(model, SPACE, of="lipschitz", metric=metric, X=X)
    near = lw.measure(model, SPACE, lw.Similarity(within={"a": 1}), of="lipschitz", metric=metric, X=X)
    inside = lw.measure(model, SPACE, lw.Similarity(metric=metric, radius=1), of="lipschitz", X=X)
    assert (near.lower, near.upper) == (inside.lower, inside.upper)
    assert near.upper <= everybody.upper
    jumps = model.predict(X)
    assert near.lower <= np.ptp(jumps)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, claim: lw.share(model, SPACE, lw.Similarity(), claim, method="certified"),
        lambda model, claim: lw.regions(model, SPACE, lw.Similarity(), claim, X=X),
        lambda model, claim: lw.radius(model, SPACE, lw.Similarity(), claim, feature="c", X=X),
        lambda model, claim: lw.near(model, SPACE, lw.Similarity(), claim, X=X),
        lambda model, claim: lw.repair(model, SPACE, lw.Similarity(), claim, X=X),
    ],
)
def test_what_is_not_told_of_such_claims_is_refused_in_plain_words(ask):
    model = behind_columns(FAMILIES["linear"])
    with pytest.raises(SpecError, match="for a Lipschitz claim"):
        ask(model, lw.Lipschitz(1, METRICS["l1"]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.Lipschitz(-1, METRICS["l1"]), "constant must not be negative"),
        (lambda: lw.Lipschitz(1, METRICS["l1"], slack=-1), "slack must not be negative"),
        (lambda: lw.Lipschitz(1, "l1"), "metric must be a Metric"),
        (lambda: lw.Lipschitz(1).similarity(lw.Similarity(free=["a"])), "needs a metric"),
    ],
)
def test_claims_that_are_none_are_refused(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_levels_that_may_differ_need_a_cost():
    some = lw.Metric("l1", weights={"a": 1}, costs={"b": {("x", "y"): 1}})
    model = behind_columns(FAMILIES["linear"])
    assert lw.Lipschitz(1, some).similarity().pairs == {"b": (("x", "y"),)}
    with pytest.raises(SpecError, match="may differ that have no cost"):
        lw.verify(model, SPACE, lw.Similarity(free=["b"]), lw.Lipschitz(1, some), X=X)


def test_claim_files_flags_and_calls_say_the_same(tmp_path):
    model = LinearRegression().fit(POINTS, HEIGHTS)
    skops.io.dump(model, tmp_path / "model.skops")
    POINTS.to_csv(tmp_path / "rows.csv", index=False)
    truth = lw.measure(model, NUMBERS, of="lipschitz", metric=far("l2"), X=POINTS)
    claim = lw.Lipschitz(truth.upper, far("l2"))
    written = WrittenClaim(
        NUMBERS,
        claim.similarity(),
        claim,
        model_path=str(tmp_path / "model.skops"),
        data_path=str(tmp_path / "rows.csv"),
    )
    path = tmp_path / "claim.toml"
    write_spec(written, path)
    assert read_spec(path).property == claim
    assert read_spec(path).similarity == claim.similarity()
    metric = ["--metric", "l2:a=2,b=1"]
    for constant, verdict in ((truth.upper, "FAIR"), (truth.lower * 0.99, "BIASED")):
        flags = ["--property", f"lipschitz:{constant!r}", "--quiet"]
        shown = CliRunner().invoke(cli, ["verify", str(path), *flags])
        assert shown.output.startswith(verdict), shown.output
        again = CliRunner().invoke(cli, ["verify", str(path), *flags, *metric])
        assert again.output == shown.output
    for more in ([], metric):
        asked = ["measure", str(path), "--of", "lipschitz", "--json", *more]
        found = json.loads(CliRunner().invoke(cli, asked).output)
        assert (found["of"], found["lower"], found["upper"]) == ("lipschitz", truth.lower, truth.upper)
