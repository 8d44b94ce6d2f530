"""Properties, lines, lemmas, relations and maxima one by one, at their borders.

What is a witness, how far other pairs are from being one, and that enclosures hold what they enclose.
"""

from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import affine, between, integer, line, ordinal
from tests.check.test_logarithm import true_log, true_sigma

from likewise_check.core.affine import read_affine
from likewise_check.core.bound import conclude, read_way, tangent_at
from likewise_check.core.cells import LeafRefused, make_box
from likewise_check.core.head import Labels
from likewise_check.core.lemma import Lemma
from likewise_check.core.maxima import linear_maximum, table_maximum
from likewise_check.core.numbers import lower_root
from likewise_check.core.properties import Property, _sigma_gap
from likewise_check.core.space import Relation, read_similarity, read_space

HALF, ONE = Fraction(1, 2), Fraction(1)
HAIR = Fraction(1, 2**200)


def asked(kind, bound, **more):
    return Property(kind=kind, bound=Fraction(bound), **more)


def test_a_decision_is_strict_at_x_alone():
    decision = asked("decision", HALF)
    assert decision.broken_by(HALF + HAIR, -HALF)
    assert not decision.broken_by(HALF, -HALF)
    assert not decision.broken_by(ONE, HAIR - HALF)
    assert decision.clearance(Fraction(0), Fraction(2)) == 5 * HALF  # s' must fall by that, whatever s does
    assert decision.clearance(Fraction(-3), -HALF) == 7 * HALF


def test_scores_move_both_so_they_may_move_by_half_of_what_is_missing():
    gap = asked("score", 3)
    assert gap.broken_by(4 * ONE + HAIR, ONE)
    assert not gap.broken_by(4 * ONE, ONE)
    assert gap.clearance(ONE, ONE) == Fraction(3, 2)
    eased = asked("score", 3, square=Fraction(4))
    assert eased.clearance(ONE, ONE) == Fraction(5, 2)
    assert eased.broken_by(5 * ONE + HAIR, Fraction(0))
    assert not eased.broken_by(5 * ONE, Fraction(0))
    assert not eased.broken_by(Fraction(-9), Fraction(0))  # far apart the other way round


def test_the_clearance_of_probabilities_keeps_them_from_a_witness():
    likely = asked("probability", HALF)
    room = likely.clearance(Fraction(0), Fraction(0))
    assert ONE - HAIR < room <= 1  # sigma has slope 1/4 at most: two scores, each by 1, are 1/2
    s, other = Fraction(5, 4), Fraction(-1, 4)
    missing = HALF - true_sigma(s) + true_sigma(other)
    assert 0 < likely.clearance(s, other) <= 2 * missing


@pytest.mark.parametrize("bits", [4, 16, 64])
def test_differences_of_probabilities_are_enclosed(bits):
    for n in range(-6, 7):
        s, other = Fraction(n, 3), Fraction(n + 1, 5)
        low, high = _sigma_gap(s, other, bits)
        assert low < true_sigma(s) - true_sigma(other) < high


def test_the_root_is_never_above():
    for square in (2, 3, 5, Fraction(1, 3), Fraction(10**40 + 1)):
        root = lower_root(Fraction(square))
        assert root * root < square < (root + Fraction(2, 2**160)) ** 2
    assert lower_root(Fraction(9, 4)) == Fraction(3, 2)


def test_tangents_are_below_the_true_one():
    for p, delta in (
        (Fraction(1, 5), HALF),
        (Fraction(1, 3), Fraction(1, 7)),
        (Fraction(7, 10), Fraction(1, 9)),
    ):
        q = p + delta
        a, b, threshold = tangent_at(p, delta)
        assert (a, b) == (q * (1 - q), p * (1 - p))
        true = a * true_log(q / (1 - q)) - b * true_log(p / (1 - p))
        assert 0 < true - threshold < Fraction(1, 2**160)


def test_a_line_holds_up_to_its_limit_and_its_clearance_counts_both_sides():
    way = read_way("1/4", asked("decision", 1))
    assert conclude("it", ONE, ONE, closed=False).clearance == 0
    with pytest.raises(LeafRefused):
        conclude("it", ONE, ONE, closed=True)
    assert conclude("it", ONE - HAIR, ONE, closed=True, spread=Fraction(2)).clearance == HAIR / 2
    assert conclude("it", 2, 8, closed=False, unit=3, spread=way.a + way.b).clearance == 2


# -- lemmas -----------------------------------------------------------------------------------------------

SPACE = read_space({"space": {"features": [integer("n", -9, 9)], "constraints": []}})


def lemma(kind="decision", bound=0, **more):
    body = read_affine(affine(0, [line(0, 1)])["body"], SPACE)
    return Lemma(
        space=SPACE,
        similarity=(Relation(kind="free"),),
        first=body,
        second=body,
        asked=asked(kind, bound),
        **more,
    )


def test_enclosures_tell_a_witness_by_their_worst_corner_and_others_by_their_best():
    at = lemma()
    told = [
        ((1, 2), (-2, -1), True),
        ((-1, 2), (-2, -1), None),
        ((1, 2), (-2, 1), None),
        ((-2, -1), (-2, -1), False),
        ((1, 2), (1, 2), False),
    ]
    for first, second, known in told:
        ends = [tuple(map(Fraction, pair)) for pair in (first, second)]
        assert at._broken_between(at.asked, *ends) is known


def test_a_line_may_be_attained_where_no_condition_that_counts_is_strict():
    for strict, of_x, of_other, of_both in (
        ((True, False), False, True, False),
        ((False, True), True, False, False),
        ((False, False), True, True, True),
        ((True, True), False, False, False),
    ):
        at = lemma(strict=strict)
        zero = Fraction(0)
        assert [at.closed(ONE, zero), at.closed(zero, ONE), at.closed(HALF, HALF)] == [
            of_x,
            of_other,
            of_both,
        ]
    assert lemma(steps=(1, 2)).spread(Fraction(3), Fraction(5)) == 13


def test_zero_of_the_upper_label_turns_decisions_alone():
    upper = Labels(upper_at_zero=True, link=(Fraction(3), ONE))
    assert upper.gauge(asked("decision", 0)) == (-1, 0)
    assert upper.gauge(asked("score", 1)) == (1, 0)
    assert upper.gauge(asked("probability", HALF)) == (3, 1)


def test_signs_and_offsets_count_for_scores_and_for_what_a_program_rounds():
    body = read_affine(affine(-3, [line(0, -2, offset=5)])["body"], SPACE)
    assert body.score([Fraction(1)]) == -15
    described = {"sizes": ["2"], "constant": "3", "operations": 4}
    known = body.read_rounding(described)
    assert known.fits
    assert (known.magnitude, known.factor) == (3 + 2 * 14, 3)  # |x + 5| is at most 14
    assert not body.read_rounding({**described, "sizes": ["1"]}).fits
    assert not body.read_rounding({**described, "constant": "2"}).fits
    assert not body.read_rounding({**described, "operations": 0}).fits


# -- relations --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "one_way", "moves"),
    [
        (-1, 1, False, False),
        (-3, 1, True, False),
        (-1, 3, True, False),
        (0, 2, True, False),
        (1, 2, True, True),
    ],
)
def test_who_is_first_matters_unless_the_limits_mirror_each_other(low, high, one_way, moves):
    (relation,) = read_similarity({"similarity": [between(low, high)]}, SPACE)
    assert relation.one_way is one_way
    assert relation.moves is moves
    allowed = [d for d in range(-4, 5) if relation.allows(Fraction(2), Fraction(2 + d))]
    assert allowed == list(range(low, high + 1))


def test_a_number_that_is_missing_is_near_no_number():
    space = read_space({"space": {"features": [{**integer("n", 0, 3), "missing": True}], "constraints": []}})
    (feature,) = space.features
    (relation,) = read_similarity({"similarity": [{"kind": "within", "tolerance": "2"}]}, space)
    assert feature.missing == feature.end == 4
    assert [relation.allows(Fraction(4), Fraction(code)) for code in (2, 3, 4)] == [False, False, True]
    assert not relation.allows(Fraction(3), Fraction(4))


def test_allowed_pairs_are_so_in_either_order():
    space = read_space({"space": {"features": [ordinal("o", ["a", "b", "c"])], "constraints": []}})
    (relation,) = read_similarity({"similarity": [{"kind": "pairs", "allowed": [[0, 2]]}]}, space)
    together = {(i, j) for i in range(3) for j in range(3) if relation.allows(i, j)}
    assert together == {(0, 0), (1, 1), (2, 2), (0, 2), (2, 0)}


def test_who_is_in_the_space_has_codes_from_end_to_end_and_keeps_constraints_on_their_border():
    assert [SPACE.holds([Fraction(n)]) for n in (-10, -9, 9, 10)] == [False, True, True, False]
    space = read_space(
        {
            "space": {
                "features": [integer("n", 0, 9)],
                "constraints": [{"text": "", "terms": [[0, "1"]], "bound": "3"}],
            }
        }
    )
    assert [space.holds([Fraction(n)]) for n in (-1, 0, 3, 4, 10)] == [False, True, True, False, False]


# -- maxima -----------------------------------------------------------------------------------------------

RELATIONS = (
    Relation(kind="same"),
    Relation(kind="free"),
    Relation(kind="within", tolerance=Fraction(1)),
    Relation(kind="between", limits=(Fraction(-1), Fraction(2))),
    Relation(kind="pairs", allowed=frozenset({(0, 2), (1, 3)})),
)
ENDS = ((0, 3), (1, 2), (2, 3), (0, 0), (0, 1))


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.kind)
def test_maxima_over_small_boxes_are_those_of_all_codes(relation):
    for first, second in product(ENDS, ENDS):
        if relation.kind == "same":
            box, codes = make_box(first), [(i, i) for i in range(first[0], first[1] + 1)]
        else:
            box = make_box(first, second)
            codes = list(product(*(range(lo, hi + 1) for lo, hi in (first, second))))
        allowed = [(i, j) for i, j in codes if relation.allows(i, j)]
        for u, v in product((-2, -1, 0, 1, 3), repeat=2):
            most = max((u * i + v * j for i, j in allowed), default=None)
            if relation.kind != "pairs":
                assert linear_maximum(u, v, box, relation) == most
            assert table_maximum([u * i for i in range(4)], [v * j for j in range(4)], box, relation) == most
        u, v = [3, -1, 4, 1], [-5, 9, 2, -6]
        most = max((u[i] + v[j] for i, j in allowed), default=None)
        assert table_maximum(u, v, box, relation) == most
