"""Rounding of programs: over a whole space no computed score is off by more than the bound, and none is larger than its size says."""

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

from likewise.families.network.activation import Activation
from likewise.families.network.body import Layer, Network
from likewise.families.network.dyadic import Dyadic
from likewise.families.network.rounding import NetworkRounding
from likewise.families.scored_model import Model
from likewise.model.embedding import Column, embed_rows
from likewise.model.head import NUMBER_HEAD
from likewise.spec.terms import nearest_double


def model_of(body, embedding):
    last = np.array([nearest_double(weight) for weight in body.weights])
    rounding = NetworkRounding(layers=body.hidden, weights=last, bias=nearest_double(body.bias))
    return Model(family="one", rounding=rounding, embedding=embedding, bodies=(body,), head=NUMBER_HEAD)


def computed(model, rows):
    """As a program goes through the layers, in float64."""
    values = embed_rows(model.embedding, rows)
    for layer in model.body.hidden:
        values = layer.activation.proposed(values @ layer.weights.floats.T + layer.biases.floats)
    return values @ model.rounding.weights + model.rounding.bias


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold(seed):
    rng = random.Random(seed)
    (body,), embedding = random_network(rng, RATIONAL + BENT), columns(rng)
    # The program takes its columns and its last row as doubles.
    embedding = tuple(
        Column(feature=c.feature, table=tuple(Fraction(float(v)) for v in c.table))
        if c.table is not None
        else Column(feature=c.feature, slope=Fraction(round(c.slope * 8), 8))
        for c in embedding
    )
    body = body.with_last_row([Fraction(float(w)) for w in body.weights], body.bias)
    model = model_of(body, embedding)
    rows = np.array([[float(c) for c in random_codes(rng)] for _ in range(20)])
    exact = [true_score(body, embedding, [Fraction(c) for c in row]) for row in rows.tolist()]
    found = model.rounding.bound(model, SPACE)
    errors = model.rounding.errors(model, rows)
    for value, true, error in zip(computed(model, rows), exact, errors, strict=True):
        assert abs(Fraction(value) - true) <= Fraction(found.error)
        assert abs(Fraction(value) - true) <= error
        assert abs(true) <= Fraction(found.size)


def test_outputs_of_small_sums_are_not_small():
    """The logistic function of next to nothing is 1/2, and limits may keep 0 out."""
    for bend in (Activation("logistic"), Activation("clip", (Fraction(3), Fraction(4)))):
        layer = Layer(weights=Dyadic.of([[2.0**-40]]), biases=Dyadic.of([0.0]), activation=bend)
        body = Network(hidden=(layer,), weights=(Fraction(1),), bias=Fraction(0))
        model = model_of(body, (Column(feature=0),))
        size = model.rounding.bound(model, SPACE).size
        assert size >= true_score(body, model.embedding, [Fraction(1)] * 4)
