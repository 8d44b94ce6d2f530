"""Functions of several scores (section 24): valid ones are accepted, and whatever is changed in them is refused or true."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.check import samples
from tests.check.builder import FREE, SAME, checked, integer, proof, score, sealed
from tests.check.test_schema import LINE
from tests.check.test_sums import changed, judge_mutants

from likewise_check.packs.nested.median import Limits, Median

NUMBERS = st.fractions(min_value=-4, max_value=4, max_denominator=4)
WEIGHTS = st.fractions(min_value=Fraction(1, 4), max_value=3, max_denominator=4)


@pytest.mark.parametrize("sample", samples.NESTED)
def test_samples_are_accepted_and_fit_the_schema(sample):
    assert checked(sample()).accepted, checked(sample()).reason
    assert "nested" in checked(sample()).packs
    for raw in sealed(sample()):
        LINE.validate(json.loads(raw))


@pytest.mark.parametrize("sample", samples.NESTED)
def test_what_is_changed_is_refused_or_true(sample):
    judge_mutants(sample)


LIES = {
    "a limit that some exceed": ((6, 2, 0, 1, 0), "3"),
    "a difference that some exceed": ((6, 2, 1, 4, 0), "1/4"),
    "no limit on one side": ((6, 2, 1, 2), None),
    "no differences": ((9, 2, 1), [["3", "separable"], ["1", "separable"], *[None] * 4]),
    "a rule of another body": ((6, 2, 0, 0, 1), "trees"),
    "five entries": ((6, 2, 0), [["0", "separable"]] * 5),
    "limits of one score only": ((6, 2), [[["0", "separable"]] * 6]),
    "a cut of a score that is not there": ((5, 1), 2),
    "a cut of a difference": ((5, 2), 2),
    "a gap that is too small": ((3, "property", "delta"), "1/2"),
    "a test of a score that is not there": ((4, "model", "body", "outer", "trees", 1, 0, 0), 2),
    "a kernel inside": ((4, "model", "body", "inner", 0, "kind"), "rbf"),
    "a rounding": ((4, "model", "rounding"), {"constant": "9", "operations": 9, "bits": 53}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_proof_that_says_too_much_is_refused(lie):
    assert not checked(changed(samples.oblique(), *LIES[lie])).accepted


MEDIAN_LIES = {
    "a weight of 0": ((4, "model", "body", "outer", "weights", 1), "0"),
    "a slope of 0": ((4, "model", "body", "outer", "slope"), "0"),
    "a weight too many": ((4, "model", "body", "outer", "weights"), ["1"] * 4),
    "a gap that is too small": ((3, "property", "delta"), "7/8"),
    "a rise that some exceed": ((6, 2, 1, 5, 0), "1/4"),
    "a weight that makes sex tell": ((4, "model", "body", "outer", "weights", 1), "3"),
}


@pytest.mark.parametrize("lie", MEDIAN_LIES)
def test_a_proof_of_a_median_that_says_too_much_is_refused(lie):
    assert not checked(changed(samples.halfway(), *MEDIAN_LIES[lie])).accepted


def test_a_cut_leaves_its_place_out_on_its_right():
    """Above 3/2 the tree says 0, at 3/2 it says 1."""
    outer = samples.trees(0, [[[0, "3/2", 2], "1", "0"]])["body"]
    values = samples.oblique()
    values[4]["model"]["body"] |= {"outer": outer, "inner": values[4]["model"]["body"]["inner"][:1]}
    values[3]["property"]["delta"] = "0"
    leaf = samples.limits("separable", "0", "7/2", "0", "7/2", "1/4", "1/4")
    young, old = leaf.copy(), leaf.copy()
    young[1], young[3] = ["3/2", "separable"], ["3/2", "separable"]
    old[0], old[2] = ["-2", "separable"], ["-2", "separable"]
    values[5:-1] = [
        ["inner", 0, 0, "3/2"],
        ["split", 0, "1"],
        *(["nested", "1/2", [one]] for one in (young, old, leaf)),
    ]
    values[-1]["end"]["nodes"] = 5
    assert checked(values).accepted, checked(values).reason
    assert not checked(changed(values, (5, 3), "5/4")).accepted


HUGE = ("0", "0x1p+5000", "0x1p+5001")  # scores of x = 0, 1 and 2


def _huge(test: str, delta: int) -> list:
    """A proof cell by cell about x = 0, 1 or 2 of which the score says 0, 2^5000 or 2^5001, and a tree whether that is above a test."""
    column = {"feature": 0, "weight": HUGE[1], "slope": "1", "offset": "0"}
    inner = {"body": {"kind": "affine", "bias": "0", "columns": [column]}}
    model = samples.nested(samples.trees(0, [[[0, test, 2], "0", "1"]])["body"], inner)

    def leaf(low, high, other_low, other_high):
        ends = [f"-{HUGE[low]}", HUGE[high], f"-{HUGE[other_low]}", HUGE[other_high]]
        return ["nested", "1/2", [[*([end, "separable"] for end in ends), None, None]]]

    nodes = [["split", 0, "0"], ["split", 1, "0"], leaf(0, 0, 0, 0), leaf(0, 0, 1, 2), leaf(1, 2, 0, 2)]
    return proof([integer("x", 0, 2)], [FREE], score(delta), model, nodes)


def test_no_score_is_too_large_to_be_anywhere():
    """What is beyond all doubles is limited and tested like any other number."""
    for test in ("0x1.8p+5000", "1/2"):  # a huge test, and huge limits alone
        assert not checked(_huge(test, 0)).accepted
        assert checked(_huge(test, 1)).accepted, checked(_huge(test, 1)).reason
    assert checked(_huge("0x1p+5001", 0)).accepted


def test_a_nested_body_is_no_part_of_another_one():
    body = {"kind": "combined", "how": "max", "of": [samples.oblique()[4]["model"]["body"]]}
    values = samples.oblique()
    values[2]["similarity"] = [SAME, SAME]
    values[4]["model"]["body"] = body
    values[5:-1] = [["independent"]]
    values[-1]["end"]["nodes"] = 1
    assert "nested" in checked(values).reason


@given(
    members=st.lists(st.tuples(WEIGHTS, *[NUMBERS] * 4, st.booleans()), min_size=1, max_size=5),
    ways=st.tuples(*[st.fractions(0, 2, max_denominator=4)] * 2),
    places=st.data(),
)
def test_no_median_is_beyond_its_limits(members, ways, places):
    """Whatever the numbers are between their limits."""
    median = Median(weights=tuple(w for w, *_ in members), slope=Fraction(1), offset=Fraction(0))
    share = st.fractions(0, 1, max_denominator=4)
    limits, here, there = [], [], []
    for _, a, b, c, d, known in members:
        (low, high), (low_there, high_there) = sorted((a, b)), sorted((c, d))
        z, other = (
            one + (two - one) * places.draw(share) for one, two in ((low, high), (low_there, high_there))
        )
        fall = z - other if known else None
        limits.append(Limits(low, high, low_there, high_there, fall, None))
        here.append(z)
        there.append(other)
    a, b = ways
    assert a * median.at(here) - b * median.at(there) <= median.largest(a, b, limits)


@pytest.mark.parametrize("how", ["mean", "max", "min"])
def test_it_is_no_part_of_a_combined_body(how):
    values = samples.oblique()
    model = values[4]["model"]
    weights = {"weights": ["1"]} if how == "mean" else {}
    model["body"] = {"kind": "combined", "how": how, **weights, "of": [model["body"]]}
    values[2]["similarity"] = [{"kind": "same"}] * len(values[2]["similarity"])
    values[5:-1] = [["independent"]]
    values[-1]["end"]["nodes"] = 1
    assert "other than combined, nested" in checked(values).reason
    assert not LINE.is_valid(values[4])
    model["body"]["of"] = [samples.summed()[4]["model"]["body"]]
    assert LINE.is_valid(values[4])
