"""Networks: scores against arithmetic that shares nothing with them, errors of judges, what a score depends on, and what is made of networks."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from tests.families.network.networks import (
    BENT,
    RATIONAL,
    SPACE,
    columns,
    random_codes,
    random_network,
    true_score,
)

import likewise as lw
from likewise.errors import InternalError
from likewise.families.family import AffineMap
from likewise.families.network.activation import IDENTITY, RELU, Activation
from likewise.families.network.body import Layer, Network, folded
from likewise.families.network.dyadic import Dyadic, block_diagonal
from likewise.families.network.judge import cross_all
from likewise.families.registry import load_family
from likewise.model.embedding import Column
from likewise.spec.numbers import format_number

FAMILY = load_family("network")
CLOSE = Fraction(1, 10**50)


def as_floats(rows):
    return np.array([[float(c) for c in row] for row in rows])


class TestDyadic:
    def test_doubles_are_taken_exactly(self):
        values = np.array([[0.1, -3.0, 0.0], [5e-324, -1.7e308, 2.0**-1000]])
        found = Dyadic.of(values)
        exact = [Fraction(n, 2**found.exponent) for n in found.numerators.ravel().tolist()]
        assert exact == [Fraction(v) for v in values.ravel().tolist()]
        assert (found.floats == values).all()

    def test_single_precision_is_taken_exactly(self):
        values = np.array([0.1, -2.5], dtype=np.float32)
        assert Dyadic.of(values).fractions == [Fraction(float(v)) for v in values]

    def test_numbers_are_written_as_certificates_write_them(self):
        values = np.array([0.0, 1.0, -3.0, 0.1, -0.75, 2.0**80, 5e-324, 1e300])
        assert Dyadic.of(values).texts() == [format_number(float(v)) for v in values]
        assert Dyadic.of([4.0, 8.0]).texts() == ["4", "8"]

    def test_products_sums_and_blocks(self):
        rng = np.random.default_rng(0)
        a, b, c = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
        found = Dyadic.of(a).times(Dyadic.of(b)).plus(Dyadic.of(c))
        exact = [
            [
                sum((Fraction(a[i, k]) * Fraction(b[k, j]) for k in range(4)), Fraction(c[i, j]))
                for j in range(2)
            ]
            for i in range(3)
        ]
        assert [[Fraction(n, 2**found.exponent) for n in row] for row in found.numerators.tolist()] == exact
        blocks = block_diagonal([Dyadic.of(a), Dyadic.of(c)])
        assert (blocks.floats == np.block([[a, np.zeros((3, 2))], [np.zeros((3, 4)), c]])).all()


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(40))
class TestScores:
    def test_piecewise_linear_ones_are_exact(self, seed):
        rng = random.Random(seed)
        (body,), embedding = random_network(rng), columns(rng)
        score = body.score(embedding, len(SPACE))
        rows = [random_codes(rng) for _ in range(20)]
        exact = [true_score(body, embedding, row) for row in rows]
        assert score.rational
        assert [score.exact(row) for row in rows] == exact
        assert score.reference_scores(as_floats(rows)) == exact
        assert np.allclose(score.scores(as_floats(rows)), [float(v) for v in exact], rtol=1e-9, atol=1e-9)

    def test_bent_ones_are_enclosed(self, seed):
        rng = random.Random(seed)
        (body,), embedding = random_network(rng, BENT + RATIONAL[:1]), columns(rng)
        score = body.score(embedding, len(SPACE))
        for _ in range(10):
            row = random_codes(rng)
            true = true_score(body, embedding, row)
            coarse, fine = score.enclose(row, 64), score.enclose(row, 160)
            assert coarse.lo <= fine.hi
            assert fine.lo <= coarse.hi
            assert fine.lo - CLOSE <= true <= fine.hi + CLOSE
            assert coarse.hi - coarse.lo <= Fraction(1, 2**48)
        rows = as_floats([random_codes(rng) for _ in range(10)])
        exact = [float(true_score(body, embedding, [Fraction(c) for c in row])) for row in rows.tolist()]
        assert np.allclose(score.scores(rows), exact, rtol=1e-9, atol=1e-9)

    def test_judges_know_their_error(self, seed):
        rng = random.Random(seed)
        bodies, embedding = random_network(rng, RATIONAL + BENT, scores=2), columns(rng)
        rows = as_floats([random_codes(rng) for _ in range(8)])
        settings = np.array([[0.0, 0.0], [4.0, 1.0], [2.0, 1.0]])
        parts = [body.score(embedding, len(SPACE)) for body in bodies]
        found = cross_all(parts, rows, [1, 3], settings)
        assert np.isfinite(found.error).all()
        assert (found.error < 1e-11).all()
        for r, row in enumerate(rows.tolist()):
            for s, setting in enumerate(settings.tolist()):
                person = [Fraction(c) for c in (row[0], setting[0], row[2], setting[1])]
                for n, body in enumerate(bodies):
                    off = abs(Fraction(found.values[r, s, n]) - true_score(body, embedding, person))
                    assert off <= Fraction(found.error[r, n]) + CLOSE
        alone = FAMILY.judge(parts[1]).cross(rows, [1, 3], settings)
        assert np.allclose(alone.values, found.values[:, :, 1])

    def test_what_it_does_not_depend_on_changes_nothing(self, seed):
        rng = random.Random(seed)
        (body,), embedding = random_network(rng), columns(rng)
        score = body.score(embedding, len(SPACE))
        for feature, other in ((0, Fraction(1, 2)), (1, Fraction(3)), (2, Fraction(2)), (3, Fraction(1))):
            if not score.depends(feature):
                for _ in range(10):
                    row = random_codes(rng)
                    moved = [*row[:feature], other, *row[feature + 1 :]]
                    assert score.exact(row) == score.exact(moved)

    def test_scores_are_multiples_of_the_common_denominator(self, seed):
        rng = random.Random(seed)
        (body,), embedding = random_network(rng), columns(rng)
        common = body.common_denominator(embedding, SPACE)
        score = body.score(embedding, len(SPACE))
        for _ in range(5):
            assert (score.exact(random_codes(rng)) * common).denominator == 1


def test_columns_that_cancel_are_no_dependence():
    layer = Layer(weights=Dyadic.of([[1.0, 1.0]]), biases=Dyadic.of([0.5]), activation=RELU)
    body = Network(hidden=(layer,), weights=(Fraction(1),), bias=Fraction(0))
    one_hot = tuple(Column(feature=0, table=(Fraction(n == 0), Fraction(n == 1))) for n in range(2))
    assert not body.score(one_hot, 1).depends(0)
    assert body.score((one_hot[0], one_hot[0]), 1).depends(0)


def test_neurons_that_lead_nowhere_do_not_count():
    first = Layer(weights=Dyadic.of([[1.0, 0.0], [0.0, 1.0]]), biases=Dyadic.of([0.0, 0.0]), activation=RELU)
    second = Layer(weights=Dyadic.of([[1.0, 0.0], [1.0, 2.0]]), biases=Dyadic.of([0.0, 0.0]), activation=RELU)
    embedding = (Column(feature=0), Column(feature=1))
    deaf = Network(hidden=(first, second), weights=(Fraction(1), Fraction(0)), bias=Fraction(0))
    assert deaf.score(embedding, 2).depends(0)
    assert not deaf.score(embedding, 2).depends(1)


@pytest.mark.parametrize("seed", range(10))
def test_layers_that_do_not_bend_are_multiplied_into_the_next(seed):
    rng = np.random.default_rng(seed)
    shapes, layers = (4, 3, 5, 2, 3), []
    for n, (width, neurons) in enumerate(itertools.pairwise(shapes)):
        bend = RELU if n == 2 else IDENTITY
        weights, biases = rng.normal(size=(neurons, width)), rng.normal(size=neurons)
        layers.append(Layer(weights=Dyadic.of(weights), biases=Dyadic.of(biases), activation=bend))
    whole = folded(layers)
    assert [layer.activation for layer in whole] == [RELU, IDENTITY]
    values = rng.normal(size=4)
    for chain in (layers, whole):
        out = values
        for layer in chain:
            out = layer.activation.proposed(layer.weights.floats @ out + layer.biases.floats)
        if chain is layers:
            wanted = out
    assert np.allclose(out, wanted)


class TestMadeOfNetworks:
    def test_side_by_side_each_keeps_its_score(self):
        rng = random.Random(3)
        one, two = (random_network(rng, (RELU,))[0] for _ in range(2))
        while len(two.hidden) != len(one.hidden):
            two = random_network(rng, (RELU,))[0]
        embedding = columns(rng)
        places = (tuple(range(6)), (0, 1, 2, 4, 3, 5))
        joined = FAMILY.join_bodies([one, two], places, 6, "several")
        assert joined[0].hidden is joined[1].hidden
        moved = tuple(embedding[c] for c in places[1])
        for _ in range(10):
            row = random_codes(rng)
            assert joined[0].score(embedding, 4).exact(row) == true_score(one, embedding, row)
            assert joined[1].score(embedding, 4).exact(row) == true_score(two, moved, row)

    def test_different_depths_have_no_one_form(self):
        bodies = [random_network(random.Random(seed), (RELU,))[0] for seed in range(8)]
        one, two = next((a, b) for a in bodies for b in bodies if len(a.hidden) != len(b.hidden))
        with pytest.raises(lw.UnsupportedModel, match="different depths"):
            FAMILY.join_bodies([one, two], (tuple(range(6)),) * 2, 6, "several")

    def test_forms_and_multiples(self):
        rng = random.Random(5)
        bodies, embedding = random_network(rng, scores=3), columns(rng)
        form = FAMILY.form(bodies, (Fraction(1), Fraction(-1, 3), Fraction(0)))
        by = AffineMap(slope=Fraction(-2, 3), offset=Fraction(5), size=Fraction(0), operations=1)
        scaled = bodies[0].rescaled(by, "a test")
        for _ in range(10):
            row = random_codes(rng)
            first, second = (true_score(body, embedding, row) for body in bodies[:2])
            assert form.score(embedding, 4).exact(row) == first - second / 3
            assert scaled.score(embedding, 4).exact(row) == Fraction(-2, 3) * first + 5


def test_numbers_beyond_reach_have_no_error_but_an_infinite_one():
    layer = Layer(weights=Dyadic.of([[2.0**200]]), biases=Dyadic.of([0.0]), activation=Activation("tanh"))
    body = Network(hidden=(layer,), weights=(Fraction(1),), bias=Fraction(0))
    judge = FAMILY.judge(body.score((Column(feature=0),), 1))
    assert np.isinf(judge.cross(np.array([[1.0]]), [0], np.array([[1.0], [2.0]])).error).all()


def test_levels_alone_and_numbers_alone():
    layer = Layer(
        weights=Dyadic.of([[1.0, -2.0], [0.5, 3.0]]), biases=Dyadic.of([0.5, -1.0]), activation=RELU
    )
    body = Network(hidden=(layer,), weights=(Fraction(1), Fraction(-1, 3)), bias=Fraction(2))
    levels = tuple(Column(feature=k, table=(Fraction(-1), Fraction(1, 3))) for k in range(2))
    for embedding in (levels, (Column(feature=0), Column(feature=1))):
        score, rows = body.score(embedding, 2), np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        exact = [true_score(body, embedding, [Fraction(c) for c in row]) for row in rows.tolist()]
        assert np.allclose(score.scores(rows), [float(v) for v in exact])
        judged = FAMILY.judge(score).cross(rows, [1], np.array([[0.0], [1.0]]))
        assert np.allclose(judged.values[0, 1], float(exact[0]))


def test_large_products_are_those_of_whole_numbers():
    """Flint multiplies large matrices, NumPy small ones, and both of them exactly."""
    random = np.random.default_rng(3)
    a, b = (
        Dyadic.of(np.ldexp(random.normal(size=(40, 40)), random.integers(-90, 90, (40, 40)))) for _ in "ab"
    )
    found = a.times(b)
    assert found.exponent == a.exponent + b.exponent
    assert (found.numerators == a.numerators.dot(b.numerators)).all()
    with pytest.raises(InternalError):
        Dyadic.of([1.0, np.nan])
