"""Cases of several classes against what classes, gaps and probabilities are by definition."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from likewise.model.conditions import Condition, enclose_form
from likewise.model.cubes import all_votes, vote_cubes, vote_winners
from likewise.model.head import Head, count_votes, log_odds, most_voted
from likewise.model.question import Question
from likewise.spec.enclosure import Enclosure

ARGMAX = Head(labels=("a", "b", "c"), rule="argmax", link="softmax")
VOTES = Head(labels=("a", "b", "c"), rule="votes")


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_cubes_hold_all_votes_of_their_class_and_no_others(classes):
    won, ways = vote_winners(classes), all_votes(classes)
    for i, known in enumerate(vote_cubes(classes)):
        inside = np.zeros(len(ways), dtype=bool)
        for cube in known:
            assert list(cube) == sorted(cube)
            inside |= np.all([ways[:, s] == up for s, up in cube], axis=0)
        assert np.array_equal(inside, won == i)


def test_the_winner_of_votes_is_the_smallest_of_those_with_most():
    for signs in product((-1, 1), repeat=3):
        count = [0, 0, 0]
        for (i, j), sign in zip(((0, 1), (0, 2), (1, 2)), signs, strict=True):
            count[i if sign > 0 else j] += 1
        assert count_votes(3, [Fraction(s) for s in signs]) == count
        assert most_voted(count) == count.index(max(count))


def scores_of(values):
    return tuple(Enclosure.of(Fraction(v)) for v in values)


def test_a_form_of_enclosures_takes_the_other_end_where_its_factor_is_negative():
    alpha = (Fraction(-2), Fraction(3), Fraction(0))
    scores = tuple(Enclosure(Fraction(lo), Fraction(hi)) for lo, hi in ((1, 2), (-1, 5), (-9, 9)))
    assert enclose_form(alpha, scores) == Enclosure(Fraction(-7), Fraction(13))
    assert Condition(alpha=alpha, strict=True).decided(scores, Fraction(-8))
    assert Condition(alpha=alpha, strict=True).decided(scores, Fraction(12)) is None
    assert Condition(alpha=alpha, strict=True).decided(scores, Fraction(13)) is False
    assert Condition(alpha=alpha, strict=False).decided(scores, Fraction(13)) is None


def class_by_margin(values, margin):
    """The class that leads as the margin asks for, if there is one: of level ones the smaller."""
    for i, value in enumerate(values):
        ahead = [value - other for other in values]
        if all(a > margin for a in ahead[:i]) and all(a >= margin for a in ahead[i + 1 :]):
            return i
    return None


@pytest.mark.draw(2)
@pytest.mark.parametrize("of", [None, 0, 2])
@pytest.mark.parametrize("margin", [0, 1])
def test_decisions_differ_where_their_classes_do(of, margin):
    question = Question(kind="decision", level=Fraction(margin), of=of, head=ARGMAX)
    every = list(product(range(3), repeat=3))
    for first, second in product(every, every):
        i, j = class_by_margin(first, margin), class_by_margin(second, margin)
        broken = i is not None and j is not None and i != j and (of is None or of in (i, j))
        assert question.decided(scores_of(first), scores_of(second)) is broken
        found = question.broken(scores_of(first), scores_of(second))
        assert (found is not None) is broken


def test_every_broken_decision_breaks_exactly_one_case_of_argmax_and_a_pair_of_cubes_of_votes():
    for head in (ARGMAX, VOTES):
        question = Question(kind="decision", level=Fraction(0), of=None, head=head)
        every = list(product((-1, 0, 2), repeat=3))
        for first, second in product(every[::2], every[::3]):
            here, there = scores_of(first), scores_of(second)
            ways = [(c, a, b) for c in question.cases() for a, b in ((here, there), (there, here))]
            conditions = [
                all(x.decided(a, Fraction(0)) for x in c.conditions[0])
                and all(x.decided(b, Fraction(0)) for x in c.conditions[1])
                for c, a, b in ways
            ]
            differ = head.decide([s.lo for s in here]) != head.decide([s.lo for s in there])
            assert any(conditions) is differ is question.decided(here, there)


def test_wide_enclosures_leave_decisions_open():
    unsure = (Enclosure(Fraction(-1), Fraction(1)), *scores_of((1, 1)))
    question = Question(kind="decision", level=Fraction(0), of=None, head=VOTES)
    assert question.decided(unsure, scores_of((1, 1, 1))) is None
    assert question.decided(scores_of((1, 1, 1)), scores_of((-1, 1, 1))) is True


def test_softmax_gaps_are_those_of_the_probabilities():
    random = np.random.default_rng(0)
    for _ in range(200):
        first, second = random.integers(-8, 9, (2, 3)) / 4
        gaps = np.exp(first) / np.exp(first).sum() - np.exp(second) / np.exp(second).sum()
        delta = float(random.choice([0, 0.1, 0.3]))
        question = Question(kind="probability", level=Fraction(delta), of=None, head=ARGMAX)
        largest = float(np.abs(gaps).max())
        if abs(largest - delta) > 1e-12:
            assert question.decided(scores_of(first), scores_of(second)) is (largest > delta)
        value = float(question.value(scores_of(first), scores_of(second)))
        assert math.isclose(value, largest, abs_tol=1e-12)
        assert np.allclose(
            1 / (1 + np.exp(-log_odds(first[None], 1))), np.exp(first[1]) / np.exp(first).sum()
        )


def test_equal_probabilities_are_no_gap_of_zero():
    question = Question(kind="probability", level=Fraction(0), of=None, head=ARGMAX)
    assert question.decided(scores_of((1, 2, 3)), scores_of((2, 3, 4))) is False
