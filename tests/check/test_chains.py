"""Chains of two links (section 17): lines and rises are above what they bound and near it, and whatever is changed in a certificate of them is refused or true."""

import json
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.check import samples
from tests.check.builder import checked, sealed
from tests.check.test_schema import LINE
from tests.check.test_sums import NUMBERS, SLOPES, changed
from tests.check.truth import linked

from likewise_check.core.cells import LeafRefused
from likewise_check.core.fields import Rejected
from likewise_check.packs.sums.chains import Chain, line_above, read_link, rise

INNER = ["logistic", "3/2", "-1/3"]
STEPS = [
    "table",
    [
        ["1/8", "0", "0", "0"],
        ["1/3", "1/4", "1/4", "1/4"],
        ["1/2", "3/4", "3/4", "3/4"],
        ["7/8", "1", "1", "1"],
    ],
]
JUMPS = ["table", [["1/4", "0", "1/8", "1/4"], ["1/2", "1/2", "1/2", "1/2"], ["3/4", "3/4", "1", "1"]]]
CHAINS = [
    ["chain", INNER, outer] for outer in (["logistic", "4", "-2"], ["logistic", "9", "-7"], STEPS, JUMPS)
]
PAIRS = st.tuples(SLOPES, SLOPES)


def texts(numbers):
    return [str(one) for one in numbers]


def ordered(ends):
    low, high = ends
    return (low, high) if low is None or high is None else (min(low, high), max(low, high))


@pytest.mark.parametrize("given_link", CHAINS)
@given(
    ends=st.tuples(NUMBERS, NUMBERS),
    alphas=PAIRS,
    tangents=PAIRS,
    share=st.fractions(0, 1, max_denominator=9),
)
def test_lines_are_above_and_below_their_chains(given_link, ends, alphas, tangents, share):
    link, (low, high) = read_link(given_link, "it"), ordered(ends)
    t = low + share * (high - low)
    r = link.slope * t + link.offset
    above = line_above(link, texts(alphas), texts(tangents), low, high, below=False)
    below = line_above(link, texts(alphas), texts(tangents), low, high, below=True)
    assert below[0] * r + below[1] <= linked(given_link, t) <= above[0] * r + above[1]


@pytest.mark.parametrize("given_link", CHAINS)
@given(end=NUMBERS, beyond=st.fractions(0, 40, max_denominator=4))
def test_lines_without_limits(given_link, end, beyond):
    link, none = read_link(given_link, "it"), ["0", "0"]
    value = linked(given_link, end + beyond)
    assert value <= line_above(link, none, none, end, None, below=False)[1]
    assert line_above(link, none, none, end, None, below=True)[1] <= value
    assert linked(given_link, end - beyond) <= line_above(link, none, none, None, end, below=False)[1]
    with pytest.raises(LeafRefused):
        line_above(link, ["1", "0"], none, None, end, below=False)


@pytest.mark.parametrize("given_link", CHAINS)
@given(
    factors=PAIRS,
    distance=NUMBERS,
    ends=st.tuples(st.none() | NUMBERS, st.none() | NUMBERS),
    cuts=st.sets(NUMBERS, max_size=4),
    t=NUMBERS,
)
def test_rises_are_above_their_chains(given_link, factors, distance, ends, cuts, t):
    link, (c, d) = read_link(given_link, "it"), (factors[0] + Fraction(1, 64), factors[1] + Fraction(1, 64))
    low, high = ordered(ends)
    bound = rise(link, (c, d), distance, low, high, texts(sorted(cuts)))
    at = t if low is None else max(t, low)
    at = at if high is None else min(at, high)
    assert c * linked(given_link, at + distance) - d * linked(given_link, at) <= bound
    assert bound <= rise(link, (c, d), distance, low, high, []) + Fraction(1, 2**90)


def sigma(r):
    return 1 / (1 + exp(-r))


@pytest.mark.parametrize("given_link", CHAINS[:3])
def test_many_cuts_come_near_what_a_chain_rises_by(given_link):
    """Seen on a fine grid in float64; half as many cuts are not as near."""
    link, one, grid = read_link(given_link, "it"), (Fraction(1), Fraction(1)), range(-400, 401)
    most = max(
        float(linked(given_link, Fraction(t + 80, 100)) - linked(given_link, Fraction(t, 100))) for t in grid
    )
    found = [
        float(
            rise(
                link,
                one,
                Fraction(4, 5),
                Fraction(-4),
                Fraction(4),
                texts(Fraction(8 * i, n) - 4 for i in range(1, n)),
            )
        )
        for n in (32, 64, 128)
    ]
    off = [bound - most for bound in found]
    assert -1e-9 < off[2] < off[1] < off[0]
    assert off[2] < 2e-3


def test_one_point_is_what_it_is():
    link = read_link(CHAINS[0], "it")
    value = sigma(4 * sigma(1.5 * 2 - 1 / 3) - 2) - sigma(4 * sigma(1.5 - 1 / 3) - 2)
    found = rise(link, (Fraction(1), Fraction(1)), Fraction(1), Fraction(1), Fraction(1), [])
    assert abs(float(found) - value) < 1e-14


@pytest.mark.parametrize(
    "wrong",
    [
        ["chain", STEPS, INNER],
        ["chain", None, INNER],
        ["chain", INNER, None],
        ["chain", INNER, ["chain", INNER, INNER]],
        ["chain", ["chain", INNER, INNER], INNER],
        ["chain", INNER],
        ["chain", INNER, ["logistic", "0", "1"]],
        ["chain", ["logistic", "-1", "1"], INNER],
        ["chain", INNER, ["table", [["0", "1", "1", "1"], ["1", "0", "0", "0"]]]],
    ],
)
def test_other_chains_are_refused(wrong):
    assert isinstance(read_link(["chain", INNER, STEPS], "it"), Chain)
    with pytest.raises(Rejected):
        read_link(wrong, "it")


@pytest.mark.parametrize("cuts", [["1", "1"], ["2", "1"], "1", ["x"], [str(n) for n in range(1001)]])
def test_cuts_rise_and_are_not_too_many(cuts):
    link = read_link(CHAINS[0], "it")
    with pytest.raises(Rejected):
        rise(link, (Fraction(1), Fraction(1)), Fraction(1), None, None, cuts)
    assert rise(link, (Fraction(1), Fraction(1)), Fraction(1), None, None, ["0", "1"]) < 1


def lies():
    """Of `chained`, by place and value: its leaf by differences, and the one by lines."""
    young, old = (6, 2), (7, 2, 0)
    return {
        "no cuts": ((*young, 0, 4), []),
        "other cuts": ((*young, 0, 4), ["40", "41"]),
        "cuts that fall": ((*young, 1, 4), ["1", "0"]),
        "a place, not cuts": ((*young, 1, 4), "0"),
        "a cut that is no number": ((*young, 1, 4, 2), 1),
        "a difference that is too small": ((*young, 0, 1, 0), "1/9"),
        "a limit that is too high": ((*young, 1, 2, 0, 0), "-1"),
        "an upper limit": ((*old, 0, 1, 0), "3"),
        "a lower limit": ((*old, 1, 0, 0), "-9/4"),
        "one slope": ((*old, 0, 2), "3/20"),
        "three slopes": ((*old, 0, 2), ["3/20", "7/40", "0"]),
        "a negative slope": ((*old, 0, 2, 1), "-7/40"),
        "a steep slope of the inner link": ((*old, 0, 2, 0), "1"),
        "a steep slope of the outer link": ((*old, 0, 2, 1), "1"),
        "a negative tangent": ((*old, 0, 3, 0), "-1"),
        "a far tangent of the inner link": ((*old, 0, 3, 0), "9"),
        "a far tangent of the outer link": ((*old, 0, 3, 1), "9"),
        "one tangent": ((*old, 1, 3), ["0"]),
        "no lower limit under a slope": ((*old, 0, 0), None),
        "a threshold of the line that is left": ((*old, 2, 0, 0), "1/4"),
        "a plain link": ((4, "model", "body", "parts", 0, "link"), ["logistic", "1", "0"]),
        "a steeper outer link": ((4, "model", "body", "parts", 0, "link", 2, 1), "6"),
        "a steeper inner link": ((4, "model", "body", "parts", 1, "link", 1, 1), "3"),
        "a table inside": ((4, "model", "body", "parts", 0, "link", 1), STEPS),
        "a gap that is too small": ((3, "property", "delta"), "9/40"),
    }


@pytest.mark.parametrize("lie", lies())
def test_lies_about_chains_are_refused(lie):
    assert checked(samples.chained()).accepted
    assert not checked(changed(samples.chained(), *lies()[lie])).accepted


def through(outer):
    """A witness against a gap of 1/2 through a chain, with its scores enclosed."""
    link = ["chain", INNER, outer]
    model = samples.added("-1/2", ("1", link, samples.affine(-1, [samples.table(1, 1, [0, 3])])))
    pair = [samples.AGE, samples.SEX], [samples.SAME, samples.FREE], samples.score("1/2"), model
    values = samples.witness(*pair, [0, 1], [0, 0], ["0", "0"])
    scores = [linked(link, Fraction(t)) - Fraction(1, 2) for t in (2, -1)]
    ends = [[Fraction(round(s * 2**60) + side, 2**60) for side in (-1, 1)] for s in scores]
    values[5]["witness"]["scores"] = [texts(two) for two in ends]
    return values


@pytest.mark.parametrize("outer", [STEPS, ["logistic", "9", "-7"]])
def test_a_witness_through_a_chain_is_enclosed(outer):
    values = through(outer)
    assert checked(values).accepted, checked(values).reason
    assert all(LINE.is_valid(json.loads(raw)) for raw in sealed(values))
    for side in range(2):
        wrong = changed(through(outer), (5, "witness", "scores", side), ["1/8", "1/7"])
        assert not checked(wrong).accepted
    assert not checked(through(["logistic", "1/64", "0"])).accepted
