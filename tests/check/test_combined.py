"""Combined bodies (section 11): reading, enclosures, several scores, witnesses, and the rules that apply."""

import copy
import random
from fractions import Fraction

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    decision,
    integer,
    line,
    proof,
    score,
    table,
)
from tests.check.builder import witness as witness_of
from tests.check.ensembles import missing, trees
from tests.check.kernels import claim_of, random_kernel, rbf, sloped, tabled
from tests.check.samples import averaged, combined, largest
from tests.check.several import affine_body, asked, classes

HALF = Fraction(1, 2)
FEATURES = [integer("age", 0, 3), categorical("sex", ["f", "m"])]
RELATIONS = [SAME, FREE]
BLIND = rbf(HALF, 1, [sloped(0, HALF), tabled(1, [2, 2])], [(1, [0, 0]), (-2, [1, 1])])
SEEING = rbf(HALF, 1, [sloped(0, HALF), tabled(1, [0, 1])], [(1, [0, 0]), (-2, [1, 1])])
FLAT = affine(-1, [line(0, HALF)])


def proved(model, nodes=(["independent"],), prop=None):
    return checked(proof(FEATURES, RELATIONS, prop or decision(), model, list(nodes)))


@pytest.mark.parametrize("how", ["mean", "max", "min"])
def test_independent_if_every_body_is(how) -> None:
    weights = ["1/3", "2/3"] if how == "mean" else None
    assert proved(combined(how, BLIND, FLAT, weights=weights)).accepted
    report = proved(combined(how, BLIND, SEEING, weights=weights))
    assert not report.accepted
    assert "depends" in report.reason


def test_enclosures_hold_the_score_and_are_as_narrow_as_asked() -> None:
    for seed in range(6):
        rng = random.Random(seed)
        kernel = random_kernel(rng, "citlH", 4)
        other = copy.deepcopy(kernel.model())
        other["body"]["bias"] = "1/8"
        weights = [Fraction(1, 3), Fraction(2, 3)]
        codes = [Fraction(rng.randint(0, 1)) for _ in range(5)]
        first = Fraction(kernel.score(codes))
        second = first - Fraction(kernel.model()["body"]["bias"]) + Fraction(1, 8)
        truths = {"mean": first / 3 + second * 2 / 3, "max": max(first, second), "min": min(first, second)}
        for how, true in truths.items():
            given = [str(w) for w in weights] if how == "mean" else None
            model = combined(how, kernel.model(), other, weights=given)
            body = claim_of(kernel.features, kernel.relations, score(1), model).model.body
            ((low, high),) = body.ends(codes, 100)
            assert 0 <= high - low <= Fraction(1, 2**100)
            assert low - Fraction(1, 10**50) <= true <= high + Fraction(1, 10**50)


def test_enumerated_and_witnesses_by_enclosures() -> None:
    model = combined("mean", BLIND, SEEING, weights=["1/2", "1/2"])
    alone = claim_of(FEATURES, RELATIONS, decision(), SEEING).model.body
    gap = max(
        abs(
            alone.score([Fraction(age), Fraction(0)], 64)[0]
            - alone.score([Fraction(age), Fraction(1)], 64)[0]
        )
        for age in range(4)
    )
    near = Fraction(1, 10**9)
    assert proved(model, [["enumerated"]], score(gap / 2 + near)).accepted
    assert not proved(model, [["enumerated"]], score(gap / 2 - near)).accepted
    body = claim_of(FEATURES, RELATIONS, decision(), model).model.body
    ends = [body.ends([Fraction(0), Fraction(sex)], 140)[0] for sex in (0, 1)]
    lines = witness_of(FEATURES, RELATIONS, score(Fraction(1, 100)), model, [0, 0], [0, 1], [0, 0])
    stated = [[f"{a.numerator}/{a.denominator}" for a in pair] for pair in ends]
    lines[5]["witness"]["scores"] = stated
    assert checked(lines).accepted
    lines[5]["witness"]["scores"] = [stated[1], stated[0]]
    assert "not those of the model" in checked(lines).reason
    lines[5]["witness"]["scores"] = ["1", "0"]
    assert not checked(lines).accepted


def _several(how="mean") -> dict:
    bodies = [
        affine_body([0, 1, shift], [(line(0, 1), [1, 2, 3]), (table(1, 1, [5, 5]), [1, 0, 1])])
        for shift in (0, 2)
    ]
    weights = {"weights": ["1/4", "3/4"]} if how == "mean" else {}
    return classes({"kind": "combined", "how": how, **weights, "of": bodies}, ["a", "b", "c"])


def test_several_scores_are_means() -> None:
    assert checked(proof(FEATURES, RELATIONS, asked("decision", 0), _several(), [["independent"]])).accepted
    nodes = [["cases"], *[["enumerated"]] * 3]
    for kind in ("decision", "score"):
        assert checked(proof(FEATURES, RELATIONS, asked(kind, 0), _several(), nodes)).accepted
    report = checked(proof(FEATURES, RELATIONS, asked("decision", 0), _several("max"), [["independent"]]))
    assert "must be a mean" in report.reason


def test_a_witness_of_several_scores() -> None:
    relations = [FREE, SAME]
    # Scores are x + 5, 2x + 1 and 3x + 3/4 * 2 + 5, x the age.
    scores = [[["5", "1", "13/2"], ["8", "7", "31/2"]], [["5", "1", "13/2"], ["8", "7", "31/3"]]]
    for stated, right in zip(scores, (True, False), strict=True):
        lines = witness_of(FEATURES, relations, asked("score", 8), _several(), [3, 0], [0, 0], [0, 0])
        lines[5]["witness"]["scores"] = [stated[1], stated[0]]
        assert checked(lines).accepted == right


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"how": "median"}, "must be one of"),
        ({"weights": ["1/2", "1/3"]}, "the sum 1"),
        ({"weights": ["3/2", "-1/2"]}, "the sum 1"),
        ({"weights": ["1"]}, "the sum 1"),
        ({"of": []}, "at least one body"),
        ({"of": [averaged()[4]["model"]["body"]] * 2}, "of a known kind"),
        ({"how": "max"}, "exactly the keys"),
        ({"more": 1}, "exactly the keys"),
    ],
)
def test_what_is_malformed_is_rejected(change, reason) -> None:
    lines = averaged()
    lines[4]["model"]["body"] |= change
    assert reason in checked(lines).reason


@pytest.mark.parametrize("rule", [["separable", "1/2"], ["kernel", "1/2", [], 0], ["polynomial", "1/2", []]])
def test_other_rules_do_not_apply(rule) -> None:
    lines = largest()
    lines[5:8] = [rule]
    lines[-1]["end"]["nodes"] = 1
    assert not checked(lines).accepted


def test_nothing_is_said_about_rounding() -> None:
    lines = averaged()
    lines[4]["model"]["rounding"] = {"sizes": [], "constant": "1", "operations": 1}
    assert "rounding" in checked(lines).reason
    lines = averaged()
    lines[-1]["end"]["clearance"] = "1/10"
    assert not checked(lines).accepted


# -- trees ------------------------------------------------------------------------------------------------

GROWN = trees("1/4", [[[0, "1", 2, "right"], "-2", "3"]])
SHORT = trees("-1", [[[0, "2", 2, "left"], "1/2", "-1/2"], ["1/8"]])
LOOKING = trees("1/4", [[[0, "1", 2, "right"], "-2", [1, [0], 4], "3", "4"]])
GAPPED = [missing(FEATURES[0]), FEATURES[1]]


def test_trees_and_missing_values() -> None:
    def of(*models, nodes=(["independent"],), prop=None, how="mean"):
        weights = ["1/3", "2/3"] if how == "mean" else None
        model = combined(how, *models, weights=weights)
        return checked(proof(GAPPED, RELATIONS, prop or decision(), model, list(nodes)))

    for how in ("mean", "max", "min"):
        assert of(GROWN, SHORT, how=how).accepted
        assert "depends" in of(GROWN, LOOKING, how=how).reason
    assert "missing values" in of(GROWN, FLAT).reason  # only trees know them
    assert of(GROWN, LOOKING, nodes=[["enumerated"]], prop=score(Fraction(2, 3))).accepted
    assert not of(GROWN, LOOKING, nodes=[["enumerated"]], prop=score(Fraction(65, 100))).accepted
    assert not of(GROWN, SHORT, nodes=[["trees", "1/2"]]).accepted


def test_several_scores_of_trees() -> None:
    def of(*bodies, nodes=(["independent"],), kind="decision", bound=0):
        body = {"kind": "combined", "how": "mean", "weights": ["1/4", "3/4"], "of": list(bodies)}
        return checked(proof(GAPPED, RELATIONS, asked(kind, bound), classes(body, "abc"), list(nodes)))

    grown = {
        "kind": "trees",
        "bias": ["0", "1/2", "1/3"],
        "trees": [[[0, "1", 2, "left"], ["1", "2", "0"], ["0", "1", "5"]]],
    }
    looking = {
        "kind": "trees",
        "bias": ["0", "0", "1"],
        "trees": [[[1, [0], 2], ["1", "2", "0"], ["0", "2", "1/7"]]],
    }
    assert of(grown, grown).accepted
    assert "depends" in of(grown, looking).reason
    cases = [["cases"], *[["enumerated"]] * 3]
    for kind in ("decision", "score"):
        assert of(grown, grown, nodes=cases, kind=kind).accepted
    assert of(grown, looking, nodes=cases, kind="score", bound="3/4").accepted
    assert not of(grown, looking, nodes=cases, kind="score", bound="37/50").accepted
    assert "3 scores" in of(grown, GROWN["body"]).reason
    short = {**grown, "bias": ["0", "1"], "trees": [[["1", "2"]]]}
    assert "3 scores" in of(grown, short).reason
    single = combined("mean", GROWN, SHORT, weights=["1/2", "1/2"])
    single["body"]["of"][1] = grown
    assert (
        "head of classes" in checked(proof(GAPPED, RELATIONS, decision(), single, [["independent"]])).reason
    )


def test_the_scores_of_a_mean_of_trees() -> None:
    """Forms of the several scores, as cases ask for them."""
    rng = random.Random(5)
    bodies = [
        {
            "kind": "trees",
            "bias": [str(Fraction(rng.randint(-9, 9), 7)) for _ in range(3)],
            "trees": [
                [
                    [0, "1", 2, "left"],
                    *([str(Fraction(rng.randint(-9, 9), 5)) for _ in range(3)] for _ in range(2)),
                ]
            ],
        }
        for _ in range(2)
    ]
    body = {"kind": "combined", "how": "mean", "weights": ["1/4", "3/4"], "of": bodies}
    several = claim_of(GAPPED, RELATIONS, asked("decision", 0), classes(body, "abc")).model.body
    alpha = ((0, Fraction(1)), (2, Fraction(-2, 3)))
    form = several.form(alpha)
    for age in range(5):
        codes = [Fraction(age), Fraction(0)]
        expected = [
            sum(
                Fraction(w)
                * (Fraction(b["bias"][c]) + Fraction(b["trees"][0][1 if age <= 1 or age == 4 else 2][c]))
                for w, b in zip(body["weights"], bodies, strict=True)
            )
            for c in range(3)
        ]
        assert several.ends(codes, 64) == [(value, value) for value in expected]
        assert form.ends(codes, 64)[0][0] == expected[0] - Fraction(2, 3) * expected[2]
