"""Sums of squares in the product form: expansions right, bounds below every sample, and blind to small products."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC
from tests.strategies import logistic_model

import likewise as lw
from likewise import paper
from likewise.errors import UnsupportedModel
from likewise.importers.imported_model import import_model
from likewise.model.embedding import identity_columns
from likewise.paper import Answer, moments
from likewise.paper.cases import make_cases
from likewise.paper.meta import run_cases
from likewise.paper.moments import Program, memory_of, monomials, relax
from likewise.paper.polynomials import _expand_kernel, add, evaluate, make_axes, multiply, scale
from likewise.paper.prepare import prepare_problem
from likewise.paper.squares import SumsOfSquares, _grid_polynomial
from likewise.spec.pairs import pair_space

SECONDS = 60.0


def box(n):
    return [{(): 1.0, (i, i): -1.0} for i in range(n)]


def random_polynomial(random, n, degree):
    return {monomial: float(random.normal()) for monomial in monomials(n, degree)}


def test_arithmetic_is_that_of_values():
    random = np.random.default_rng(0)
    p, q = random_polynomial(random, 3, 2), random_polynomial(random, 3, 3)
    for y in random.uniform(-1, 1, (20, 3)):
        a, b = evaluate(p, y), evaluate(q, y)
        assert evaluate(add(p, q), y) == pytest.approx(a + b)
        assert evaluate(multiply(p, q), y) == pytest.approx(a * b)
        assert evaluate(scale(p, -2.0), y) == pytest.approx(-2 * a)


def test_one_of_is_zero_at_its_values_only():
    found = _grid_polynomial(0, 3)
    assert [abs(evaluate(found, np.array([y]))) < 1e-12 for y in (-1, -1 / 3, 1 / 3, 1, 0, 0.9)] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_expansion_is_the_decision_function(degree):
    random = np.random.default_rng(degree)
    space = lw.Space({"a": lw.Integer(-2, 7), "b": lw.Continuous(0, 3), "sex": lw.Integer(0, 2)})
    X = np.stack([random.integers(-2, 8, 40), random.uniform(0, 3, 40), random.integers(0, 3, 40)], axis=1)
    model = SVC(kernel="poly", degree=degree, gamma=0.3, coef0=0.7).fit(X, X[:, 0] + X[:, 2] > 3)
    embedding = identity_columns(space, space.names, step="SVC")
    prepared = SimpleNamespace(imported=SimpleNamespace(model=SimpleNamespace(embedding=embedding)))
    case = next(iter(make_cases(pair_space(space, lw.Similarity(free=["sex"])), None, ())))
    axes = make_axes(case.pairs)
    for owner, side in ((case.pairs.first, 0), (case.pairs.second, 1)):
        polynomial = _expand_kernel(prepared, model, axes, owner)
        for y in random.uniform(-1, 1, (10, len(axes.live))):
            individual = axes.point(y)[side]
            assert individual[2] == case.values[0][side]
            score = model.decision_function([individual])[0]
            assert evaluate(polynomial, y) == pytest.approx(score, rel=1e-9, abs=1e-9)


def test_bounds_lie_below_every_sample_and_rise_with_the_order():
    random = np.random.default_rng(1)
    product = multiply(random_polynomial(random, 2, 2), random_polynomial(random, 2, 2))
    program = Program(variables=2, objective=product, inequalities=box(2))
    assert program.least_order == 2
    lowest = min(evaluate(product, y) for y in random.uniform(-1, 1, (2_000, 2)))
    second, third = (relax(program, order, SECONDS).lower for order in (2, 3))
    assert second <= third + 1e-6
    assert third <= lowest + 1e-6
    assert third >= lowest - 0.2


def test_equalities_keep_integers_whole():
    """(y - 0.2)^2 over y in {-1, 1} is at least 0.64; over the interval it is 0."""
    objective = {(): 0.04, (0,): -0.4, (0, 0): 1.0}
    whole = Program(
        variables=1, objective=objective, inequalities=box(1), equalities=[_grid_polynomial(0, 1)]
    )
    relaxed = Program(variables=1, objective=objective, inequalities=box(1))
    assert relax(whole, 1, SECONDS).lower == pytest.approx(0.64, abs=1e-6)
    assert relax(relaxed, 1, SECONDS).lower == pytest.approx(0, abs=1e-6)


def test_what_is_too_large_is_not_started_and_what_is_too_slow_is_stopped(monkeypatch):
    program = Program(variables=19, objective={(0,) * 4: 1.0}, inequalities=box(19))
    assert memory_of(19, 2) > moments.MOST_MEMORY
    assert "not started" in relax(program, 2, SECONDS).reason
    small = Program(variables=2, objective={(0, 1): 1.0}, inequalities=box(2))
    assert "stopped" in relax(small, 1, 1e-3).reason


# -- the meta-algorithm with sums of squares; an affine score is a polynomial, too ---------------------

SPACE = lw.Space({"a": lw.Continuous(-2, 2), "b": lw.Integer(0, 1), "sex": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["sex"])


def by_squares(model, space=SPACE, similar=SIMILAR, property=None, **options):
    prepared = prepare_problem(model, space, similar, property)
    squares = SumsOfSquares(prepared, most_order=options.pop("most_order", 2))
    return run_cases(prepared, make_cases(prepared.pairs, None, ()), squares)


def test_a_biased_model_is_found():
    finding = by_squares(logistic_model([1.0, 0.5, 1.0], 0.0, SPACE.names))
    assert finding.answer == Answer.BIASED
    assert finding.decisions == (1, 0)


def test_a_fair_model_is_no():
    far = logistic_model([1.0, 0.5, 1.0], 5.0, SPACE.names)
    assert by_squares(far).answer == Answer.NO
    assert lw.verify(far, SPACE, SIMILAR).verdict == "FAIR"


def test_a_small_product_is_zero_to_the_solver():
    """The scores of the pair are 1e3 times the tolerance, their product is not: No, and BIASED by `verify`."""
    model = logistic_model([1e4, 0.0, 1e-3], -5e-4, SPACE.names)
    assert by_squares(model).answer == Answer.NO
    assert lw.verify(model, SPACE, SIMILAR).verdict == "BIASED"


def test_a_gap_with_a_tolerance():
    """Nothing is fixed here: one case, two variables and the band between them."""
    space = lw.Space({"a": lw.Continuous(0, 2)})
    model, similar = logistic_model([1.0], 0.0, space.names), lw.Similarity(within={"a": 1})
    assert by_squares(model, space, similar, lw.ScoreGap(0.95)).answer == Answer.BIASED
    assert by_squares(model, space, similar, lw.ScoreGap(1.05)).answer == Answer.NO


# -- polynomial kernels end to end, once they can be imported ------------------------------------------


@pytest.fixture
def quadratic():
    """A degree-2 machine on two features and one that may differ."""
    random = np.random.default_rng(0)
    space = lw.Space({"a": lw.Integer(-3, 3), "b": lw.Continuous(-1, 1), "sex": lw.Integer(0, 1)})
    X = np.stack([random.integers(-3, 4, 80), random.uniform(-1, 1, 80), random.integers(0, 2, 80)], axis=1)
    model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, X[:, 0] + X[:, 1] + 2 * X[:, 2] > 0.5)
    try:
        import_model(model, space, rows=np.empty((0, 3)))
    except UnsupportedModel:
        pytest.skip("polynomial kernels are not imported yet")
    return model, space


def test_a_polynomial_kernel_end_to_end(quadratic):
    model, space = quadratic
    finding = paper.verify_individual_bias(model, space, lw.Similarity(free=["sex"]))
    assert finding.algorithm == "meta-algorithm, sums of squares"
    assert finding.answer == Answer.BIASED
    assert len(set(model.predict(finding.pair[list(space.names)].to_numpy()))) == 2
    narrow = space.replace(a=lw.Integer(3, 3), b=lw.Continuous(0.5, 1))
    assert paper.verify_individual_bias(model, narrow, lw.Similarity(free=["sex"])).answer == Answer.NO
