"""Each rule holds exactly where the specification says, ties included."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.check import samples
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    line,
    ordinal,
    probability,
    proof,
    score,
    table,
    within,
    worth,
)
from tests.check.strategies import claims, fractions, number_text
from tests.check.truth import Claim, sigma
from tests.tiers import examples

from likewise_check.core import enumerated, leaves, properties, separable
from likewise_check.core import line as line_module

SEX = categorical("sex", ["f", "m"])


def one_leaf(
    leaf, prop, model, *, features=(SEX,), relations=(FREE,), constraints=(), clearance=0, covers=False
):
    return checked(
        proof(
            features,
            relations,
            prop,
            model,
            [leaf],
            constraints=constraints,
            clearance=clearance,
            covers=covers,
        )
    )


def two(low, high, **head):
    """A model with these two scores."""
    return affine(0, [table(0, 1, [low, high])], **head)


# --- separable -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "way", "holds"),
    [
        (0, 0, "1", True),  # B = max s = 0 = T, a > 0: a tie that holds, as a witness needs s > 0
        (-1, 0, "1", True),
        (0, "1/1000000000000000000000000", "1", False),
        (0, 0, "0", False),  # B = max -s' = 0 = T, a = 0: a tie that does not hold, as s' <= 0 is allowed
        ("0x1p-20000", 1, "0", True),
        (-1, 1, "1/2", False),
        (1, 2, "1/3", True),  # B = 2/3 - 2/3 = T, a > 0
        (1, 2, "0", True),
    ],
)
def test_ties_of_decisions(low, high, way, holds):
    report = one_leaf(["separable", way], decision(0), two(low, high), clearance="0")
    assert report.accepted == holds
    assert report.refused == (() if holds else (0,))
    if not holds:
        assert "does not separate" in report.reason
        assert report.line == 6


@pytest.mark.parametrize(
    ("low", "high", "way", "holds"),
    [(0, 1, "0", False), (0, 1, "1", True), (-1, 0, "0", False), (-2, -1, "0", True)],
)
def test_zero_of_the_upper_label(low, high, way, holds):
    # g = -f: a witness has -f > 0 and -f' <= 0.
    report = one_leaf(["separable", way], decision(0), two(low, high, zero="upper"))
    assert report.accepted == holds


@pytest.mark.parametrize(
    ("delta", "holds"), [("1", True), ("999999999999999999999/1000000000000000000000", False), ("2", True)]
)
def test_ties_of_scores(delta, holds):
    assert one_leaf(["separable", "1/2"], score(delta), two(0, 1)).accepted == holds


@pytest.mark.parametrize("prop", [score(0), probability(0)])
def test_no_gap_at_all(prop):
    assert one_leaf(["separable", "1/2"], prop, two(3, 3)).accepted
    assert not one_leaf(["separable", "1/2"], prop, two(3, "0x1.8000000000000000000000000000001p+1")).accepted


def test_tangents_of_a_probability():
    # s = 1/2, s' = -1/2 has sigma(s) - sigma(s') = 0.2449...; the best tangent is at p = sigma(-1/2).
    close = Fraction(sigma(Fraction(-1, 2))).limit_denominator(10**30)
    delta = Fraction(sigma(Fraction(1, 2))) - Fraction(sigma(Fraction(-1, 2)))
    for slack, holds in ((Fraction(1, 10**25), True), (-Fraction(1, 10**25), False)):
        report = one_leaf(
            ["separable", number_text(close)], probability(number_text(delta + slack)), two("-1/2", "1/2")
        )
        assert report.accepted == holds
    assert not one_leaf(
        ["separable", "1/100"], probability(number_text(delta + Fraction(1, 1000))), two("-1/2", "1/2")
    ).accepted


@pytest.mark.parametrize(
    ("way", "prop", "reason"),
    [
        ("-1/9", decision(0), "from 0 to 1"),
        ("10/9", decision(0), "from 0 to 1"),
        ("1", score(1), "1/2"),
        ("1/3", probability(0), "1/2"),
        ("0", probability("1/4"), "below 1 - delta"),
        ("3/4", probability("1/4"), "below 1 - delta"),
        ("x", score(1), "number"),
    ],
)
def test_ways(way, prop, reason):
    report = one_leaf(["separable", way], prop, two(0, 0))
    assert reason in report.reason
    assert report.refused == ()


@pytest.mark.parametrize(
    "leaf",
    [
        ["separable"],
        ["separable", 1],
        ["separable", None],
        ["separable", "1/2", "0"],
        ["separable", "1/2", {}],
        ["separable", "1/2", [0]],
        ["separable", "1/2", [["0"]]],
        ["separable", "1/2", ["0"]],
        ["separable", "1/2", ["0", "0", "0"]],
        ["separable", "1/2", ["0", "-1"]],
        ["separable", "1/2", ["0", "0"], []],
        ["empty"],
        ["empty", "0"],
        ["empty", ["0"]],
        ["empty", ["0", "-1"]],
        ["empty", ["0", "0"], []],
        ["enumerated", []],
        ["independent", "1"],
        ["trust"],
        [],
        [1],
        [["separable"]],
        [None],
    ],
)
def test_malformed_leaves(leaf):
    report = one_leaf(leaf, score(1), two(0, 0), constraints=[constraint([], 0)])
    assert not report.accepted
    assert report.refused == ()
    assert report.line == 6


def test_multipliers_may_be_left_out_or_none():
    assert one_leaf(["separable", "1/2", []], score(1), two(0, 1)).accepted
    assert one_leaf(["separable", "1/2"], score(1), two(0, 1), constraints=[constraint([], 0)]).accepted


def test_what_is_kept_between_leaves_is_bounded(monkeypatch):
    monkeypatch.setattr(separable, "MOST_LINES", 1)
    monkeypatch.setattr(line_module, "MOST_BOXES", 3)
    for sample in samples.PROOFS:
        assert checked(sample()).accepted


# --- empty -----------------------------------------------------------------------------------------


def test_empty_cells():
    features, relations = [SEX, integer("n", 0, 4)], [FREE, within(1)]
    never = [constraint([(1, 1)], 2), constraint([(1, -1)], "-5/2")]  # n <= 2 and n >= 5/2
    model = affine(0, [line(1, 9), table(0, 1, [0, 1])])
    for leaf, reason in [
        (["empty", ["1", "1", "0", "0"]], "nobody"),
        (["empty", ["0", "0", "1", "1"]], "nobody"),
        (["empty", ["1", "0", "0", "1"]], "do not show"),
        (["empty", ["0", "0", "0", "0"]], "do not show"),
    ]:
        report = one_leaf(leaf, score(0), model, features=features, relations=relations, constraints=never)
        assert reason in report.reason
    # B = 0 is not enough: n <= 2 and n >= 2 has a pair.
    touching = [constraint([(1, 1)], 2), constraint([(1, -1)], -2)]
    report = one_leaf(
        ["empty", ["1", "1", "0", "0"]],
        score(0),
        model,
        features=features,
        relations=relations,
        constraints=touching,
    )
    assert report.refused == (0,)


@pytest.mark.parametrize(
    "feature", [continuous("n", 0, 9), integer("n", 0, 9), ordinal("n", list("abcdefghij"))]
)
@pytest.mark.parametrize("leaf", [["empty", []], ["separable", "1/2"], ["enumerated"]])
def test_cells_that_no_pair_can_enter(feature, leaf):
    """x <= 3 and x' >= 5 with a tolerance of 1: no points, whatever the score."""
    if leaf == ["enumerated"] and feature["kind"] == "continuous":
        return
    column = table(0, 1, range(10)) if "levels" in feature else line(0, 1)
    others = ["separable", "1/2"]
    nodes = [["split", 0, "3"], ["split", 1, "5"], others, leaf, others]
    assert checked(proof([feature], [within(1)], score(1), affine(0, [column]), nodes)).accepted


# --- independent -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "relations", "margin", "holds"),
    [
        ([line(0, 1)], [SAME, FREE, within(1)], 0, True),
        ([line(0, 1)], [within(1), SAME, SAME], 0, False),
        ([line(0, 1), line(0, -1, offset=7)], [within(1), SAME, SAME], 0, True),
        ([table(1, 1, [3, 3]), table(2, 2, ["1/2", "1/2"])], [SAME, FREE, FREE], 0, True),
        ([table(1, 1, [3, 3]), table(2, 2, ["1/2", "1/3"])], [SAME, FREE, FREE], 0, False),
        ([table(2, 2, [1, 0]), table(2, 1, [0, 2])], [SAME, FREE, FREE], 5, True),
        ([line(0, 1)], [SAME, FREE, FREE], "-1/1000", False),
    ],
)
def test_independent(columns, relations, margin, holds):
    features = [integer("n"), SEX, ordinal("o", ["a", "b"])]
    report = one_leaf(
        ["independent"], decision(margin), affine(0, columns), features=features, relations=relations
    )
    assert report.accepted == holds
    assert report.refused == (() if holds else (0,))


# --- enumerated ------------------------------------------------------------------------------------


def test_enumerated_needs_discrete_variables_or_single_values():
    features = [SEX, continuous("c", "3/8", "3/8")]
    model = affine(0, [table(0, 1, [0, 1]), line(1, 3)])
    for relation in (SAME, FREE, within(1)):
        assert one_leaf(
            ["enumerated"], score(1), model, features=features, relations=[FREE, relation]
        ).accepted
        wide = [SEX, continuous("c", "3/8", "1/2")]
        report = one_leaf(["enumerated"], score(9), model, features=wide, relations=[FREE, relation])
        assert "continuous" in report.reason
        assert report.refused == (0,)


def test_enumerated_looks_at_individuals_on_the_border_of_a_constraint():
    """Numbers up to 3: 3 is one of them, and 3 away from 0."""
    for gap in (2, 3):
        report = one_leaf(
            ["enumerated"],
            score(gap),
            affine(0, [line(0, 1)]),
            features=[integer("n", 0, 9)],
            relations=[FREE],
            constraints=[constraint([(0, 1)], 3)],
        )
        assert report.accepted == (gap == 3), report.reason


def test_enumerated_points_are_limited(monkeypatch):
    features = [integer("a", 0, 9), integer("b", 0, 9)]
    model = affine(0, [line(0, 1), line(1, 1)])
    monkeypatch.setattr(enumerated, "MOST_POINTS", 1000)
    monkeypatch.setattr(leaves, "MOST_POINTS", 1999)
    assert one_leaf(["enumerated"], score(9), model, features=features, relations=[SAME, FREE]).accepted
    nodes = [["split", 0, "4"], ["enumerated"], ["enumerated"]]
    cases = proof(features, [SAME, FREE], score(9), model, nodes)
    assert checked(cases).accepted
    monkeypatch.setattr(leaves, "MOST_POINTS", 999)
    assert "in all" in checked(cases).reason
    monkeypatch.setattr(enumerated, "MOST_POINTS", 999)
    report = one_leaf(["enumerated"], score(9), model, features=features, relations=[SAME, FREE])
    assert "more than 999 points" in report.reason


@pytest.mark.slow
def test_a_million_points():
    features = [integer(f"n{k}", 0, 1) for k in range(10)]
    model = affine(0, [line(k, 1) for k in range(10)])
    report = one_leaf(["enumerated"], score(10), model, features=features, relations=[FREE] * 10)
    assert report.accepted, report.reason
    big = [integer("n", 0, 1023)]
    assert one_leaf(
        ["enumerated"], score(1023), affine(0, [line(0, 1)]), features=big, relations=[FREE]
    ).accepted


def test_probabilities_that_cannot_be_told_apart(monkeypatch):
    monkeypatch.setattr(properties, "_PRECISIONS", (64,))
    delta = number_text(Fraction(sigma(Fraction(1))) - Fraction(sigma(Fraction(0))))
    report = one_leaf(["enumerated"], probability(delta), two(0, 1))
    assert "bits can tell" in report.reason
    monkeypatch.undo()
    assert one_leaf(["enumerated"], probability(delta), two(0, 1)).seconds < 1


# --- all rules, against brute force ----------------------------------------------------------------


@examples(150)
@given(claims())
def test_enumerated_at_the_root_is_accepted_exactly_if_the_claim_is_true(claim):
    truth = Claim(proof(**claim, nodes=[]))
    assume(truth.exhaustive)
    smallest = truth.smallest_clearance()
    report = checked(proof(**claim, nodes=[["enumerated"]]))
    assert report.accepted == (smallest is not None and truth.witness() is None)
    if report.accepted:
        # For probabilities the truth is known to 80 digits, the checker's bound to 2^-250.
        room = 0 if claim["prop"]["kind"] != "probability" else Fraction(1, 10**60)
        smallest = max(smallest, Fraction(0))
        at = checked(
            proof(
                **claim, nodes=[["enumerated"]], clearance=number_text(max(smallest - room, 0)), covers=None
            )
        )
        beyond = checked(
            proof(
                **claim, nodes=[["enumerated"]], clearance=number_text(smallest + room + Fraction(1, 10**50))
            )
        )
        assert "covers_floating_point" in at.reason
        assert "above the smallest" in beyond.reason


@examples(150)
@given(claims(degree=1), st.data())
def test_separable_at_the_root_is_accepted_exactly_as_specified(claim, data):
    truth = Claim(proof(**claim, nodes=[]))
    assume(truth.exhaustive)
    prop = claim["prop"]
    many = 2 * len(claim["constraints"])
    m = data.draw(st.lists(fractions(0, 2), min_size=many, max_size=many))
    if prop["kind"] == "decision":
        a = data.draw(fractions(0, 1))
        way, b, threshold = a, 1 - a, Fraction(prop["margin"])
    elif prop["kind"] == "score" or prop["delta"] == "0":
        way = a = b = Fraction(1, 2)
        threshold = Fraction(prop["delta"]) / 2
    else:
        delta = Fraction(prop["delta"])
        way = p = data.draw(fractions(0, 1)) * (1 - delta) * Fraction(98, 100) + Fraction(1, 100) * (
            1 - delta
        )
        q = p + delta
        a, b = q * (1 - q), p * (1 - p)
        threshold = a * _log(q / (1 - q)) - b * _log(p / (1 - p))
    largest = truth.line_maximum(a, b, m)
    report = checked(
        proof(
            **claim,
            nodes=[["separable", number_text(way), [number_text(x) for x in m]]],
        )
    )
    if not report.accepted and "about nobody" in report.reason:
        assert next(truth.pairs(), None) is None
        return
    assert report.accepted == (
        largest is not None and (largest < threshold or (largest == threshold and a > 0))
    )
    # Empty, by the same maximum.
    report = checked(proof(**claim, nodes=[["empty", [number_text(x) for x in m]]]))
    assert not report.accepted
    largest = truth.line_maximum(Fraction(0), Fraction(0), m)
    assert report.refused == ((0,) if largest is not None and largest >= 0 else ())


def _log(value: Fraction) -> Fraction:
    from decimal import Context, Decimal, localcontext

    with localcontext(Context(prec=80)):
        return Fraction(Decimal(value.numerator).ln() - Decimal(value.denominator).ln())


@examples(200)
@given(fractions(-3, 3), fractions(-3, 3), fractions(0, 4), fractions(0, 4), fractions(0, 3), st.booleans())
def test_the_corners_of_a_continuous_within(u, v, lo, width, tolerance, negative):
    """max of f(x)/2 - f(x')/2 over |x - x'| <= t, for two cells of one feature, against all critical points."""
    assume(tolerance > 0)
    assume(width > 0)
    hi = lo + width
    at = lo + width / 3
    feature = continuous("c", number_text(lo), number_text(hi))
    slope = -u if negative else u
    reach = min(width, tolerance)
    best = abs(slope) * reach
    model = affine(number_text(v), [line(0, number_text(slope))])
    nodes = [
        ["split", 0, number_text(at)],
        ["separable", "1/2"],
        ["split", 1, number_text(at)],
        ["separable", "1/2"],
        ["separable", "1/2"],
    ]
    cells = [(lo, at, lo, hi), (at, hi, lo, at), (at, hi, at, hi)]
    largest = max(
        slope * (x - y)
        for a, b, c, d in cells
        for x, y in product(
            [a, b, c - tolerance, c + tolerance, d - tolerance, d + tolerance],
            [c, d, a - tolerance, a + tolerance, b - tolerance, b + tolerance],
        )
        if a <= x <= b and c <= y <= d and abs(x - y) <= tolerance
    )
    assert largest == best
    for delta, holds in ((best, True), (best - Fraction(1, 10**30), best == 0)):
        if delta >= 0:
            report = checked(
                proof([feature], [within(number_text(tolerance))], score(number_text(delta)), model, nodes)
            )
            assert report.accepted == (holds or delta >= best)


def test_levels_that_stand_for_numbers():
    """Constraints on levels use what they stand for, not their positions."""
    feature = ordinal("o", [worth(10), worth("1/2"), True])
    model = affine(0, [table(0, 1, [9, 1, 0])])
    limit = [constraint([(0, 1)], 2)]
    for leaf in (["enumerated"], ["separable", "1/2", ["4/9", "0"]]):
        report = one_leaf(leaf, score(9), model, features=[feature], relations=[FREE], constraints=limit)
        assert report.accepted
    assert one_leaf(
        ["enumerated"], score(1), model, features=[feature], relations=[FREE], constraints=limit
    ).accepted
    assert not one_leaf(
        ["enumerated"], score("1/2"), model, features=[feature], relations=[FREE], constraints=limit
    ).accepted
