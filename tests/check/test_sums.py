"""Sums of scores (section 17): valid ones are accepted, and whatever is changed in them is refused or true."""

import json
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.check import samples
from tests.check.builder import checked, sealed
from tests.check.test_mutation import mutants, truth
from tests.check.test_schema import LINE
from tests.check.truth import linked

from likewise_check.core.cells import LeafRefused
from likewise_check.packs.sums.chains import read_link
from likewise_check.packs.sums.links import Logistic, Table

NUMBERS = st.fractions(min_value=-6, max_value=6, max_denominator=16)
SLOPES = st.fractions(min_value=0, max_value=2, max_denominator=64)
LINKS = [
    ["logistic", "1", "0"],
    ["logistic", "3/2", "-1/3"],
    ["table", [["0", "0", "0", "1"]]],
    ["table", [["-1", "0", "1/8", "1/4"], ["1/2", "1/2", "1/2", "1/2"], ["2", "3/4", "1", "1"]]],
]


@pytest.mark.parametrize("sample", samples.SUMS)
def test_samples_are_accepted_and_fit_the_schema(sample):
    assert checked(sample()).accepted, checked(sample()).reason
    assert "sums" in checked(sample()).packs
    for raw in sealed(sample()):
        LINE.validate(json.loads(raw))


def judge_mutants(sample):
    for path, changed in mutants(sample(), 25):
        report = checked(changed)
        if not report.accepted:
            continue
        assert all(LINE.is_valid(json.loads(raw)) for raw in sealed(changed)), path
        if changed[0]["kind"] == "proof":
            assert truth(changed, grid=5)[1] is None, path


@pytest.mark.some_days
@pytest.mark.parametrize("sample", samples.SUMS)
def test_what_is_changed_is_refused_or_true(sample):
    judge_mutants(sample)


def lies():
    """Leaves of `summed` that say too much, by place and value."""
    part = (5, 2, 1)
    return {
        "a threshold of a line": ((*part, 2, 0, 0), "1/4"),
        "an upper limit": ((*part, 0, 1, 0), "1/4"),
        "a lower limit": ((*part, 1, 0, 0), "-1/4"),
        "a limit of a vote": ((5, 2, 2, 0, 0, 0), "1/2"),
        "no part where one counts": ((5, 2, 0), None),
        "no lower limit under a slope": ((*part, 0, 0), None),
        "a negative slope": ((*part, 0, 2), "-1/4"),
        "a rule of another body": ((5, 2, 0, 2, 0, 1), "trees"),
        "a gap that is too small": ((3, "property", "delta"), "6/5"),
        "a link that falls": ((4, "model", "body", "parts", 2, "link", 1, 0, 1), "2"),
        "a slope of a link of 0": ((4, "model", "body", "parts", 1, "link", 1), "0"),
    }


def changed(values, path, value):
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return values


LINE_OF_A_SCORE, SPOILT = ["0", "separable"], ["0", "no rule"]


def where_nobody_is(*parts):
    """A leaf of the rule in a cell without a pair, by a sum of two parts with links; the other cells are looked through."""
    link = ["logistic", "1", "0"]
    model = samples.added("0", *[("1", link, samples.affine(0, [samples.line(0, 1)]))] * 2)
    nodes = [
        ["split", 0, "0"],
        ["split", 1, "1"],
        ["enumerated"],
        ["sum", "1/2", list(parts)],
        ["enumerated"],
    ]
    return samples.proof(
        [samples.integer("age", 0, 3)], [samples.within(1)], samples.score("9"), model, nodes
    )


@pytest.mark.parametrize(
    ("parts", "accepted"),
    [
        ([[[LINE_OF_A_SCORE, SPOILT, None, "no number"], SPOILT, None], SPOILT], True),
        ([[[None, LINE_OF_A_SCORE, None, "no number"], SPOILT, None], SPOILT], True),
        ([["difference", LINE_OF_A_SCORE, SPOILT, SPOILT, None], SPOILT], True),
        ([[[SPOILT, LINE_OF_A_SCORE, "0", "0"], SPOILT, None], SPOILT], False),
        ([["difference", SPOILT, [LINE_OF_A_SCORE, None], [None, None], "0"], SPOILT], False),
        ([SPOILT, [[LINE_OF_A_SCORE, None, "0", "0"], None, []]], False),
        ([[[LINE_OF_A_SCORE, None, "0", "0"], None]], False),
        ([[[LINE_OF_A_SCORE, None, "0", "0"], None, []]], False),
        ([[[LINE_OF_A_SCORE, None, "0"], None, []], None], False),
    ],
)
def test_what_follows_a_line_that_finds_no_pair_is_not_looked_at(parts, accepted):
    """In the order in which it is written: what stands before it must hold, and arrays have as many entries as ever."""
    report = checked(where_nobody_is(*parts))
    assert report.accepted is accepted, report.reason


@pytest.mark.parametrize("lie", lies())
def test_lies_are_refused(lie):
    assert not checked(changed(samples.summed(), *lies()[lie])).accepted


def lies_about_differences():
    """The same of `differing`, in its leaf with limits."""
    first, last = (6, 2, 0), (7, 2, 2)
    return {
        "a difference that is too small": ((*first, 1, 0), "1/9"),
        "a limit that is too high": ((7, 2, 0, 3, 0, 0), "-3"),
        "a limit of the other individual": ((7, 2, 1, 2, 0, 0), "-9/4"),
        "an upper limit that is too low": ((*last, 3, 1, 0), "1"),
        "a place too far out": ((*first, 4), "41"),
        "a place on the other side": ((*first, 4), "40"),
        "no line": ((*first, 1), None),
        "no limits": ((*first, 2), None),
        "a part without a link": ((4, "model", "body", "parts", 2, "link"), None),
        "a part that counts at one of the two": ((6, 1), "1"),
        "a gap that is too small": ((3, "property", "delta"), "3/8"),
    }


@pytest.mark.parametrize("lie", lies_about_differences())
def test_lies_about_differences_are_refused(lie):
    assert not checked(changed(samples.differing(), *lies_about_differences()[lie])).accepted


def test_a_difference_needs_two_that_count_alike():
    """Of decisions between classes, say: here by a weight of 0."""
    values = changed(samples.exchanged(), (4, "model", "body", "parts", 0, "weight"), "0")
    assert not checked(values).accepted


@pytest.mark.parametrize("given_link", LINKS)
@given(
    factors=st.tuples(SLOPES, SLOPES),
    distance=NUMBERS,
    ends=st.tuples(st.none() | NUMBERS, st.none() | NUMBERS),
    place=NUMBERS,
    t=NUMBERS,
)
def test_rises_are_above_their_links(given_link, factors, distance, ends, place, t):
    link, (c, d) = read_link(given_link, "it"), (factors[0] + Fraction(1, 64), factors[1] + Fraction(1, 64))
    low, high = ends
    if low is not None and high is not None:
        low, high = min(low, high), max(low, high)
    bound = link.rise((c, d), distance, low, high, place)
    at = t if low is None else max(t, low)
    at = at if high is None else min(at, high)
    assert c * linked(given_link, at + distance) - d * linked(given_link, at) <= bound
    if low is not None:
        assert bound <= link.rise((c, d), distance, None, high, place) + Fraction(1, 2**100)
    if high is not None:
        assert bound <= link.rise((c, d), distance, low, None, place) + Fraction(1, 2**100)


def test_rises_are_tight():
    """Without limits, at even weights, two probabilities differ by 2 sigma(D / 2) - 1 at most; with them, by what they differ by at the nearer end."""
    link = read_link(["logistic", "1", "0"], "it")
    sigma = lambda r: 1 / (1 + exp(-r))  # noqa: E731
    one = Fraction(1), Fraction(1)
    free = link.rise(one, Fraction(1), None, None, Fraction(-1, 2))
    assert abs(float(free) - (2 * sigma(0.5) - 1)) < 1e-15
    kept = link.rise(one, Fraction(1), Fraction(2), None, Fraction(2))
    assert abs(float(kept) - (sigma(3) - sigma(2))) < 1e-15
    below = link.rise(one, Fraction(1), None, Fraction(-3), Fraction(-3))
    assert abs(float(below) - (sigma(-2) - sigma(-3))) < 1e-15
    assert link.rise(one, Fraction(-1), None, None, Fraction(0)) == 0


@pytest.mark.parametrize("given_link", LINKS)
@given(
    first=NUMBERS, second=NUMBERS, alpha=SLOPES, tangent=SLOPES, share=st.fractions(0, 1, max_denominator=9)
)
def test_lines_are_above_their_links(given_link, first, second, alpha, tangent, share):
    link, low, high = read_link(given_link, "it"), min(first, second), max(first, second)
    assert isinstance(link, Logistic | Table)
    t = low + share * (high - low)
    for turned, ends, at in ((link, (low, high), t), (link.turned(), (-high, -low), -t)):
        beta = turned.beta(alpha, tangent, *ends)
        value = linked(given_link, t) if turned is link else link.whole - linked(given_link, t)
        assert value <= alpha * (turned.slope * at + turned.offset) + beta


@pytest.mark.parametrize("given_link", LINKS)
@given(end=NUMBERS, beyond=st.fractions(0, 40, max_denominator=4))
def test_lines_without_limits(given_link, end, beyond):
    link = read_link(given_link, "it")
    value = linked(given_link, end + beyond)
    assert value <= link.beta(Fraction(0), Fraction(0), None, None)
    assert value <= link.beta(Fraction(0), Fraction(0), end, None)
    assert linked(given_link, end - beyond) <= link.beta(Fraction(0), Fraction(0), None, end)
    with pytest.raises(LeafRefused):
        link.beta(Fraction(1), Fraction(0), None, end)


def test_lines_are_tight():
    """Where float64 tells the distance, a good line is near the function at its ends and tangents."""
    link = read_link(["logistic", "1", "0"], "it")
    steep = 1 / (1 + exp(-1.0)) * (1 - 1 / (1 + exp(-1.0)))
    beta = link.beta(Fraction(steep), Fraction(1), Fraction(0), Fraction(2))
    assert abs(float(beta) + steep - 1 / (1 + exp(-1.0))) < 1e-12
