"""Columns in pieces: scores, maxima, rounding; what is malformed is rejected."""

from bisect import bisect_left
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.check import samples
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    line,
    pieces,
    proof,
    score,
    within,
    witness,
)
from tests.check.strategies import fractions, number_text
from tests.tiers import examples

from likewise.cells.curves import polynomial_maximum
from likewise_check.core.cells import make_box
from likewise_check.core.numbers import int_if_whole
from likewise_check.core.space import Relation
from likewise_check.packs.pieces import curves
from likewise_check.packs.pieces.columns import Pieces, sum_columns
from likewise_check.packs.pieces.curves import Curves
from likewise_check.packs.pieces.maximum import evaluate_polynomial, magnitude_on, poly_maximum, trim_zeros

SLACK = Fraction(1, 2**60)
POLY = st.lists(fractions(-3, 3), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cuts": ["1", "1"]}, "strictly increasing"),
        ({"cuts": ["2", "1"]}, "strictly increasing"),
        ({"cuts": ["1"]}, "one piece more"),
        ({"cuts": ["1", "2", "3"]}, "one piece more"),
        ({"cuts": "1"}, "array"),
        ({"cuts": [1, "2"]}, "number"),
        ({"pieces": [["0"], [], ["1"]]}, "1 to 6 coefficients"),
        ({"pieces": [["0"], ["0"] * 7, ["1"]]}, "1 to 6 coefficients"),
        ({"pieces": [["0"], ["1"]]}, "one piece more"),
        ({"pieces": [["0"], ["1"], "1"]}, "array"),
        ({"pieces": [["0"], ["1"], [1]]}, "number"),
        ({"weight": 1}, "number"),
        ({"slope": "1"}, "exactly the keys"),
        ({"feature": 1}, "exactly the keys"),
        ({"feature": 2}, "from 0 to 1"),
    ],
)
def test_malformed_columns_are_rejected(change, reason):
    model = affine(0, [{**pieces(0, 1, [1, 2], [[0], [1], [2]]), **change}])
    report = checked(proof([samples.AGE, samples.SEX], [SAME, FREE], score(0), model, [["independent"]]))
    assert reason in report.reason
    assert report.line == 5


def test_ten_thousand_cuts_and_no_more():
    def report(count):
        column = pieces(0, 1, range(count), [[i % 2] for i in range(count + 1)])
        feature = integer("n", 0, 20_000)
        return checked(proof([feature], [within(3)], score(1), affine(0, [column]), [["separable", "1/2"]]))

    assert report(10_000).accepted
    assert "at most 10000 cuts" in report(10_001).reason
    none = proof(
        [samples.AGE], [FREE], score(9), affine(0, [pieces(0, 1, [], [[0, 0, 1]])]), [["enumerated"]]
    )
    assert checked(none).accepted


@pytest.mark.parametrize("kind", ["rbf", "polynomial"])
def test_other_bodies_have_no_columns_in_pieces(kind):
    from tests.check.kernels import rbf
    from tests.check.polynomials import polynomial

    column = {"feature": 0, "cuts": ["1"], "pieces": [["0"], ["1"]]}
    model = rbf(1, 0, [column], [(1, [0])]) if kind == "rbf" else polynomial([column], [(1, [0])])
    report = checked(proof([samples.AGE], [FREE], score(9), model, [["enumerated"]]))
    assert "exactly the keys" in report.reason


def test_a_code_at_a_cut_belongs_to_the_left():
    model = affine(0, [pieces(0, 2, [1, "3/2"], [[0], [5, 1], [7, 0, "1/2"]]), line(0, 1, 1, -1)])
    for code, expected in ((0, -1), (1, 0), (2, 19), (3, 25)):
        values = witness([samples.AGE], [FREE], decision(-99), model, [code], [code], [expected, expected])
        assert checked(values).accepted, code
        values[5]["witness"]["scores"][0] = number_text(Fraction(expected) + Fraction(1, 9))
        assert "scores" in checked(values).reason


@pytest.mark.parametrize(
    ("columns", "holds"),
    [
        ([pieces(0, 1, [1, 2], [[3], [3, 0], [3, 0, 0]])], True),
        ([pieces(0, 1, [1, 2], [[3], [3], [3, 0, 1]])], False),
        ([pieces(0, 1, [1], [[3], [4]])], False),
        ([pieces(0, 1, [1], [[3], [4]]), pieces(0, -1, [1], [[0], [1]])], True),
        ([pieces(0, 1, [1], [[3, 1], [3, 1]]), line(0, -1)], True),
        ([pieces(0, 1, [1], [[3], [3]]), line(0, -1)], False),
        ([pieces(0, 1, [1], [[0], [1]]), pieces(0, -1, [2], [[0], [1]])], False),
        ([pieces(0, 0, [1], [[0], [1]])], True),
        ([pieces(0, 1, [99], [[0], [1]])], False),  # also where no code sees it
    ],
)
def test_independent(columns, holds):
    values = proof([samples.AGE], [FREE], score(0), affine(0, columns), [["independent"]])
    assert checked(values).accepted == holds


# --- sums and parts --------------------------------------------------------------------------------


def some_pieces(draw, whole: bool) -> Pieces:
    cuts = sorted(draw(st.sets(fractions(-3, 3), max_size=3)))
    polys = [trim_zeros(map(int_if_whole, draw(POLY))) for _ in range(len(cuts) + 1)]
    return Pieces(cuts=tuple(map(int_if_whole, cuts)), polys=tuple(polys), whole=whole)


@examples(100)
@given(st.data(), fractions(-2, 2), st.booleans())
def test_sums_of_columns(data, slope, whole):
    columns = [(data.draw(fractions(-2, 2)), some_pieces(data.draw, whole)) for _ in range(3)]
    total = sum_columns(columns, slope, whole=whole)
    cuts = {cut for _, column in columns for cut in column.cuts}
    assert set(total.cuts) <= cuts
    for x in [
        Fraction(-4),
        *(cut + step for cut in cuts for step in (0, Fraction(1, 100), Fraction(-1, 100))),
    ]:
        assert total.at(x) == slope * x + sum(weight * column.at(x) for weight, column in columns)


@examples(200)
@given(st.data(), st.booleans())
def test_parts(data, whole):
    column = some_pieces(data.draw, whole)
    ends = st.integers(-4, 4) if whole else fractions(-4, 4)
    lo, hi = sorted([data.draw(ends), data.draw(ends)])
    parts = list(column.parts(lo, hi))
    for _, start, end in parts:
        assert lo <= start <= end <= hi
        assert not whole or Fraction(start).denominator == Fraction(end).denominator == 1
    extent = column.extent(lo, hi)
    points = {
        lo,
        hi,
        *(c for c in column.cuts if lo <= c <= hi),
        *(lo + (hi - lo) * Fraction(i, 9) for i in range(10)),
    }
    for x in points:
        if whole and Fraction(x).denominator != 1:
            continue
        piece = sum(cut < x for cut in column.cuts)
        assert [i for i, start, end in parts if start <= x <= end and i == piece] == [piece]
        assert abs(column.at(x)) <= extent
    if whole:  # no part has a code of another piece
        assert all(bisect_left(column.cuts, x) == i for i, start, end in parts for x in (start, end))


# --- maxima ----------------------------------------------------------------------------------------


@examples(200)
@given(POLY, fractions(-5, 5), fractions(0, 5))
def test_the_maximum_of_a_polynomial(poly, lo, width):
    poly, hi = trim_zeros(poly), lo + width
    found = poly_maximum(poly, lo, hi)
    best = max(evaluate_polynomial(poly, lo + width * Fraction(i, 64)) for i in range(65))
    assert found >= best
    if len(poly) <= 2:
        assert found == max(evaluate_polynomial(poly, lo), evaluate_polynomial(poly, hi))
        return
    # Halving the interval brings sampled values and the bound together: the slope is at most `steep`.
    steep = magnitude_on([i * c for i, c in enumerate(poly)][1:], lo, hi)
    assert found <= best + steep * width / 128 + magnitude_on(poly, lo, hi) * SLACK


@examples(100)
@given(fractions(-4, 4), fractions(-4, 4), fractions(-3, 3), fractions(1, 3), st.booleans())
def test_maxima_that_are_known(root, other, lo, width, fourth):
    """-(x - r)^2 (x - s)^2 and -(x - r)^2 are at most 0, and 0 at r: the bound is within 2^-60 of the size."""
    square = [-root * root, 2 * root, -1]
    poly = square
    if fourth:
        more = [other * other, -2 * other, 1]
        poly = [sum(square[i] * more[n - i] for i in range(3) if 0 <= n - i < 3) for n in range(5)]
    inside = [r for r in (root, other)[: 1 + fourth] if lo <= r <= lo + width]
    found = poly_maximum(trim_zeros(map(Fraction, poly)), lo, lo + width)
    if inside:
        assert 0 <= found <= magnitude_on(poly, lo, lo + width) * SLACK
    else:
        ends = [evaluate_polynomial(poly, lo), evaluate_polynomial(poly, lo + width)]
        assert found >= max(ends)


@pytest.mark.parametrize("narrow", [Fraction(1, 2**10), Fraction(1, 2**40)])
def test_narrow_pieces_far_from_zero_are_bounded_by_their_own_size(narrow):
    """T_5 of (x - 1000) / narrow: its powers of x are huge, and cancel; its maximum is 1, at three places."""
    away = (Fraction(-1000) / narrow, 1 / narrow)
    powers = [(Fraction(1),)]
    for _ in range(5):
        powers.append(
            tuple(a * away[0] + b * away[1] for a, b in zip((*powers[-1], 0), (0, *powers[-1]), strict=True))
        )
    cheby = [0, 5, 0, -20, 0, 16]
    poly = tuple(sum(c * p[i] for c, p in zip(cheby, powers, strict=True) if i < len(p)) for i in range(6))
    lo, hi = 1000 - narrow, 1000 + narrow
    assert magnitude_on(poly, lo, hi) > 2**70
    found = poly_maximum(poly, lo, hi)
    assert 1 <= found <= 1 + 1e4 * SLACK
    assert found <= polynomial_maximum(poly, lo, hi) <= 1 + 1e4 * SLACK


def test_maxima_at_several_places_and_of_all_sizes():
    cheby = [0, 5, 0, -20, 0, 16]  # T_5: 1 at three places of [-1, 1]
    for scale in (Fraction(1), Fraction(2) ** 900, Fraction(1, 2**900)):
        found = poly_maximum(tuple(scale * c for c in cheby), -1, 1)
        assert scale <= found <= scale * (1 + 41 * SLACK)
    flat = (Fraction(1), 0, 0, 0, -Fraction(1, 2**80))
    assert 1 <= poly_maximum(flat, -1, 1) <= 1 + 2 * SLACK
    tiny = poly_maximum((0, 0, Fraction(1)), Fraction(-1, 2**1074), Fraction(1, 2**1074))
    assert tiny == Fraction(1, 2**2148)
    assert poly_maximum((1, 2, 3), 5, 5) == 86


@examples(150)
@given(st.data(), st.sampled_from(["same", "free", "within"]), st.booleans())
def test_maxima_over_boxes(data, kind, whole):
    """Never below what codes of the box have; exactly their largest for whole numbers and linear pieces; else as specified."""
    column = some_pieces(data.draw, whole)
    linear = data.draw(st.booleans())
    if linear:
        polys = tuple(trim_zeros(poly[:2]) for poly in column.polys)
        column = Pieces(cuts=column.cuts, polys=polys, whole=whole)
    first, second = ((data.draw(fractions(-2, 2)), data.draw(fractions(-2, 2))) for _ in range(2))
    ends = st.integers(-4, 4) if whole else fractions(-4, 4)
    intervals = [tuple(sorted([data.draw(ends), data.draw(ends)])) for _ in range(1 if kind == "same" else 2)]
    tolerance = Fraction(data.draw(st.integers(1, 3))) if kind == "within" else None
    relation = Relation(kind=kind, tolerance=tolerance)
    found = Curves(column, first, second).maximum(make_box(*intervals), relation)

    def codes(lo, hi):
        if whole:
            return [Fraction(x) for x in range(int(lo), int(hi) + 1)]
        near = {cut + step for cut in column.cuts for step in (0, Fraction(1, 10**9))}
        near |= {lo + (hi - lo) * Fraction(i, 6) for i in range(7)}
        return sorted(x for x in near if lo <= x <= hi)

    sides = [codes(*interval) for interval in intervals]
    points = [(x, x) for x in sides[0]] if kind == "same" else list(product(*sides))
    sums = [
        first[0] * column.at(x) + first[1] * x + second[0] * column.at(y) + second[1] * y
        for x, y in points
        if relation.allows(x, y)
    ]
    if sums:
        assert found >= max(sums)
        if whole and linear:
            assert found == max(sums)
    elif whole:
        assert found is None


def test_what_is_specified_for_two_curved_parts():
    """x^2 - x'^2 within 1/2 on [0, 1]: 1 by separate maxima; 3/4 in truth; cut off at distance t where parts are apart."""
    square = pieces(0, 1, [], [[0, 0, 1]])
    leaf = ["separable", "1/2"]

    def holds(delta, nodes, feature=None):
        feature = feature or continuous("c", 0, 1)
        return checked(proof([feature], [within("1/2")], score(delta), affine(0, [square]), nodes)).accepted

    room = Fraction(1, 2**50)
    assert holds(1 + room, [leaf])
    assert not holds(1 - room, [leaf])
    # x in [3/4, 1], x' in [0, 1/2]: x' is at least 1/4, x at most 1; the other way round for -x^2.
    for sign, at, after in ((1, 0, 1), (-1, 1, 0)):
        square["weight"] = str(sign)
        nodes = [["split", at, "3/4"], leaf, ["split", after, "1/2"], leaf, leaf]
        assert holds(Fraction(15, 16) + room, nodes)
        assert not holds(Fraction(15, 16) - room, nodes)


def test_pairs_of_parts_are_limited(monkeypatch):
    column = pieces(0, 1, range(9), [[i] for i in range(10)])
    values = proof([integer("n", 0, 9)], [within(2)], score(2), affine(0, [column]), [["separable", "1/2"]])
    assert checked(values).accepted
    monkeypatch.setattr(curves, "MOST_PAIRS", 43)
    assert "more than 43 pairs of pieces" in checked(values).reason
    assert checked(values).refused == (0,)
    monkeypatch.setattr(curves, "MOST_PAIRS", 44)
    assert checked(values).accepted


def test_pieces_far_apart():
    """x at most 3 and x' at least 7: no pair within 2, curved or not."""
    for column in (pieces(0, 1, [4], [[0], [1]]), pieces(0, 1, [4], [[0, 0, 1], [0, 0, 0, 1]])):
        leaf = ["separable", "1/2"]
        nodes = [["split", 0, "3"], ["split", 1, "6"], leaf, leaf, leaf]
        report = checked(proof([integer("n", 0, 9)], [within(2)], score(9**3), affine(0, [column]), nodes))
        assert report.accepted


def test_multipliers_and_pieces():
    """n <= 2 holds the square down; with a = 0 or b = 0 as well."""
    feature, limits = integer("n", 0, 4), [constraint([(0, 1)], 2)]
    model = affine(0, [pieces(0, 1, ["5/2"], [[0, 0, "1/2"], [1, 1]])])  # 0, 1/2, 2, 4, 5
    for nodes, delta, holds in (
        ([["separable", "1/2", ["5/4", "0"]]], 5, True),
        ([["separable", "1/2", ["0", "0"]]], 4, False),
        ([["split", 0, "2"], ["separable", "1/2"], ["empty", ["1", "0"]]], 2, True),
        ([["split", 0, "2"], ["separable", "1/2"], ["empty", ["0", "1"]]], 2, False),
        ([["enumerated"]], 2, True),
        ([["enumerated"]], "3/2", False),
    ):
        values = proof([feature], [FREE], score(delta), model, nodes, constraints=limits)
        assert checked(values).accepted == holds


# --- rounding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [True, False])
def test_the_size_of_a_column_in_pieces(whole):
    """E is that of the largest sum |c_i| m^i over the parts that the feature meets: 1 + 2 * 3 + 9 = 16 here."""
    feature = (integer if whole else continuous)("n", -3, 2)
    column = pieces(0, 1, [-4, "1/2", 5], [[999], [1, -2, 1], [-12], [999]])
    model = affine(0, [column], operations=1)
    error = Fraction(1, 2**53) * (1 + 16) + Fraction(2, 2**700)
    for clearance, covers in ((error, False), (error + Fraction(1, 2**1100), True)):
        for stated in (True, False):
            values = proof(
                [feature],
                [SAME],
                score(2 * error + Fraction(1, 2**600)),
                model,
                [["separable", "1/2"]],
                clearance=number_text(clearance),
                covers=stated,
            )
            report = checked(values)
            assert report.accepted == (stated == covers), report.reason
