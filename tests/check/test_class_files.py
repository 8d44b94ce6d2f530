"""Certificates about models with classes as files: every single change of small ones, malformed ones, and the schema."""

import copy
import json
from fractions import Fraction

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    line,
    proof,
    sealed,
    table,
)
from tests.check.kernels import sloped
from tests.check.samples import gap
from tests.check.several import Truth, affine_body, all_cubes, asked, classes, joined_cubes, numbers
from tests.check.test_classes import grown, opening, with_nodes
from tests.check.test_mutation import changed_at, mutants
from tests.check.test_schema import LINE
from tests.check.test_softmax import Truthful, apt
from tests.check.truth import value

from likewise_check.core import leaves
from likewise_check.core import line as lines_module
from likewise_check.packs.classes import forms, outcome, scores

AGE, SEX = integer("age", 0, 2), categorical("sex", ["f", "m"])
COLUMNS = [(line(0, 0), [0, 4, 8]), (table(1, 0, [0, 1]), [0, 1, 0])]
STEPS = affine_body([0, -2, -8], COLUMNS)  # one class an age, whatever the sex
# Who wins by votes: 0 at age 0, 1 at age 1, 2 at age 2; at age 1 the sex has a vote of no weight.
VOTES = affine_body([1, 1, 3], [(line(0, 0), [-2, -1, -2]), (table(1, 0, [0, 1]), [0, -1, 0])])


def start(prop, model, constraints=()) -> list:
    return proof([AGE, SEX], [SAME, FREE], prop, model, [], constraints=constraints)


def proved(values, cubes=None) -> list:
    truth = Truth(values)
    nodes = [opening(cubes)]
    for case in truth.cases(cubes):
        nodes += grown(truth, case, truth.variables())
    return with_nodes(values, nodes)


def stepped() -> list:
    return proved(start(asked("decision", 0), classes(STEPS, "abc")))


def one_class() -> list:
    return proved(start(asked("decision", "1/2", 1), classes(STEPS, [1, True, "x"])))


def ballots() -> list:
    return proved(start(asked("decision", 0, 2), classes(VOTES, "abc", "votes")), joined_cubes(3))


def scored() -> list:
    values = start(asked("score", 1), classes(STEPS, "abc"))
    return with_nodes(values, [["cases"], *[["separable", "1/2"]] * 2, ["enumerated"]])


def soft() -> list:
    values = start(asked("probability", "1/2", 1), classes(STEPS, "abc", link="softmax"))
    nodes = [["cases"], ["split", 0, "0"], apt([0, -1, -8], [0, -2, -8], 1, Fraction(1, 2))]
    nodes += [["split", 0, "1"], apt([0, 3, 0], [0, 2, 0], 1, Fraction(1, 2)), ["odds", [["1", "-1"]]]]
    return with_nodes(values, nodes)


def refuted() -> list:
    body = affine_body([0, -2, -9], [COLUMNS[0], (COLUMNS[1][0], [0, 3, 0])])
    values = start(asked("decision", 0), classes(body, "abc"))
    found = {"x": ["0", "1"], "other": ["0", "0"], "scores": [["0", "1", "-9"], ["0", "-2", "-9"]]}
    return [{**values[0], "kind": "witness"}, *values[1:5], {"witness": found}, {"end": {"sha256": ""}}]


SAMPLES = [stepped, one_class, ballots, scored, soft, refuted]


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_hold_and_fit_the_schema(sample) -> None:
    report = checked(sample())
    assert report.accepted, report
    assert "class" in report.claim
    for raw in sealed(sample()):
        LINE.validate(json.loads(raw))
    if report.kind == "proof":
        assert checked(sample(), jobs=2).accepted


def true_if_accepted(changes) -> int:
    """How many are accepted, all of which must be true, and fit the schema."""
    survivors = 0
    for path, changed in changes:
        report = checked(changed)
        if not report.accepted:
            continue
        survivors += 1
        assert survivors % 10 or all(LINE.is_valid(json.loads(raw)) for raw in sealed(changed)), path
        truth = (Truthful if changed[4]["model"]["head"]["link"] == "softmax" else Truth)(changed, grid=3)
        if report.kind == "witness":
            pair = changed[5]["witness"]
            x, other = tuple(map(value, pair["x"])), tuple(map(value, pair["other"]))
            assert truth.broken(x, other), path
            assert truth.related(x, other), path
        else:
            assert truth.witness() is None, path
    return survivors


@pytest.mark.parametrize("sample", SAMPLES)
def test_changed_certificates_are_true_if_accepted(sample) -> None:
    assert true_if_accepted(mutants(sample()))


def changed(sample, *path_and_value) -> list:
    *path, new = path_and_value
    return changed_at(sample(), path, new)


HEAD = (4, "model", "head")
BODY = (4, "model", "body")
SHARED = [0, [0, True]]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (changed(stepped, 3, "property", decision(0)), "must have a class"),
        (changed(gap, 3, "property", asked("decision", 0)), "has a class, but the model has none"),
        (changed(stepped, 3, "property", asked("decision", 0, 3)), "from 0 to 2"),
        (changed(stepped, 3, "property", asked("decision", 0, -1)), "from 0 to 2"),
        (changed(stepped, 3, "property", asked("decision", 0, True)), "whole number or null"),
        (changed(stepped, 3, "property", asked("decision", -1)), "at least 0"),
        (changed(stepped, 3, "property", asked("probability", "1/2")), "needs a link"),
        (changed(ballots, 3, "property", asked("decision", 1)), "0 for votes"),
        (changed(ballots, 3, "property", asked("score", 1)), "votes have no score"),
        (changed(stepped, *HEAD, "labels", ["a"]), "two labels or more"),
        (changed(stepped, *HEAD, "labels", ["a", 1, {"number": "2/2"}]), "no two of them equal"),
        (changed(stepped, *HEAD, "labels", ["a", 1, None]), "object"),
        (changed(stepped, *HEAD, "classes", "ranks"), "one of"),
        (changed(stepped, *HEAD, "link", "logistic"), "one of"),
        (changed(ballots, *HEAD, "link", "identity"), "without a link"),
        (changed(ballots, *HEAD, "labels", ["a", "b"]), "3 to 6"),
        (changed(ballots, *HEAD, "labels", list("abcdefg")), "3 to 6"),
        (changed(stepped, *HEAD, "labels", list("abcd")), "4 entries"),
        (changed(stepped, *BODY, "bias", "0"), "array"),
        (changed(stepped, *BODY, "columns", 0, "weight", ["0", "1"]), "3 entries"),
        (changed(stepped, *BODY, "columns", 0, "weight", ["0", "1", 2]), "of score 2 must be a number"),
        (changed(stepped, 4, "model", "rounding", {}), "rounding"),
        (changed(stepped, 5, ["cases", []]), 'are ["cases"]'),
        (changed(scored, 5, ["cases", []]), 'are ["cases"]'),
        (changed(stepped, 5, ["enumerated"]), 'begins with "cases" or "independent"'),
        (changed(stepped, 5, ["split", 0, "0"]), "unknown rule"),
        (changed(stepped, 6, ["cases"]), "unknown rule"),
        (changed(stepped, 5, ["independent"]), "depends on what may differ"),
        (changed(gap, 5, ["cases"]), "unknown rule"),
        (changed(gap, 6, ["softmax", "1/2", ["1"], []]), "softmax: only for"),
        (changed(scored, 6, ["softmax", "1/2", ["1"], []]), "softmax: only for"),
        (changed(stepped, 6, ["softmax", "1/2", ["1/2", "1/2"], [["0", ["1"]]]]), "softmax: only for"),
        (changed(stepped, 6, ["separable"]), "no way"),
        (changed(stepped, 6, ["separable", "1"]), "must be an array"),
        (changed(stepped, 6, ["separable", [0, "1"]]), "3 entries"),
        (changed(stepped, 6, ["separable", [2, 0, "1"]]), "place of a condition"),
        (changed(stepped, 6, ["separable", [0, -1, "1"]]), "place of a condition"),
        (changed(stepped, 6, ["separable", [0, True, "1"]]), "place of a condition"),
        (changed(stepped, 6, ["separable", [0, 0, "2"]]), "from 0 to 1"),
        (changed(stepped, 6, ["kernel", [0, 0, "1"], [], 0]), "not a kernel"),
        (changed(stepped, 6, ["sos", [0, 0, ["1"]], 0, []]), "not a polynomial"),
        (changed(stepped, 6, ["trees", [0, 0, "1"]]), "has no trees"),
        (changed(ballots, 5, ["cases"]), "2 entries"),
        (changed(ballots, 5, 1, 0, [[SHARED[1], SHARED[1]]]), "strictly increasing"),
        (changed(ballots, 5, 1, 0, [[[3, True]]]), "score of a cube"),
        (changed(ballots, 5, 1, 0, [[[0, 1]]]), "true or false"),
        (changed(soft, 7, ["separable", "1/2"]), "not a rule"),
        (changed(soft, 7, ["softmax", "1/2", ["1/2", "1/2"]]), "a softmax leaf is"),
        (changed(soft, 7, 1, "1/2"), "below 1 - delta"),
        (changed(soft, 7, 2, ["1/2", "1/3"]), "with sum 1"),
        (changed(soft, 7, 2, ["3/2", "-1/2"]), "at least 0"),
        (changed(soft, 7, 2, ["1"]), "2 entries"),
        (changed(soft, 7, 3, []), "1 entries"),
        (changed(soft, 7, 3, 0, 0, "3/2"), "slope must be"),
        (changed(soft, 7, 3, 0, 1, ["1/2", "1/2"]), "1 entries"),
        (changed(soft, -1, "end", "clearance", "1/9"), "clearance"),
        (changed(soft, -1, "end", "covers_floating_point", True), "covers"),
        (changed(refuted, 5, "witness", "scores", 0, ["0", "1"]), "3 entries"),
        (changed(refuted, 5, "witness", "scores", 0, "0"), "array"),
    ],
)
def test_malformed_certificates_are_rejected(values, reason) -> None:
    report = checked(values)
    assert not report.accepted
    assert reason in report.reason


@pytest.mark.parametrize("count", [3, 4])
def test_cubes_must_leave_no_votes_out(count) -> None:
    """With any one cube left out, or any condition more in one of few cubes, some votes are not covered."""
    scores = count * (count - 1) // 2
    body = affine_body(range(scores), [])
    values = start(asked("decision", 0), classes(body, range(count), "votes"))
    for cubes in (all_cubes(count), joined_cubes(count)):
        for i in range(count):
            for n in range(0, len(cubes[i]), 1 + len(cubes[i]) // 5):
                fewer = copy.deepcopy(cubes)
                del fewer[i][n]
                report = checked(with_nodes(values, [["cases", fewer]]))
                covered = cubes != all_cubes(count) and not votes_of(fewer[i], scores) ^ votes_of(
                    cubes[i], scores
                )
                assert f"of class {i} leave out" in report.reason or covered
    everyone = [[[]] for _ in range(count)]  # all that is left to show is who wins
    pairs = count * (count - 1) // 2
    assert checked(with_nodes(values, [["cases", everyone], *[["enumerated"]] * pairs])).accepted


def votes_of(cubes, scores: int) -> set:
    return {
        ups for ups in range(1 << scores) if any(all(ups >> s & 1 == up for s, up in cube) for cube in cubes)
    }


def test_the_end_of_the_last_case_is_the_end() -> None:
    values = scored()
    assert "a case, is missing" in checked([*values[:8], with_nodes(values, values[5:8])[-1]]).reason
    assert "follows the complete proof" in checked([*values[:9], ["enumerated"], values[-1]]).reason


def test_independent() -> None:
    """Without the sex no score depends on what may differ; with an array of zeros it is the same."""
    for weights, good in (([0, 0, 0], True), ([0, 1, 0], False)):
        body = affine_body([0, -2, -9], [COLUMNS[0], (COLUMNS[1][0], weights)])
        values = start(asked("decision", 0), classes(body, "abc"))
        assert checked(with_nodes(values, [["independent"]])).accepted == good
        assert not checked(with_nodes(values, [["independent"], ["independent"]])).accepted
        assert checked(with_nodes(values, [["cases"], *[["independent"]] * 3])).accepted == good
        values = start(asked("score", 0), classes(body, "abc"))
        report = checked(with_nodes(values, [["cases"], *[["independent"]] * 3]), refusals=9)
        assert list(report.refused) == ([] if good else [2])


def test_empty_cells_of_cases() -> None:
    limit = [constraint([(0, 1)], "1/2")]  # age 0 only
    values = start(asked("decision", 0), classes(STEPS, "abc"), limit)
    leaves_of_case = [["split", 0, "0"], ["separable", [0, 0, "0"]], ["empty", ["1", "0"]]]
    assert checked(with_nodes(values, [["cases"], *leaves_of_case * 2, ["enumerated"]])).accepted
    assert checked(with_nodes(values, [["cases"], *[["enumerated"]] * 3])).accepted
    nobody = start(asked("decision", 0), classes(STEPS, "abc"), [constraint([(0, 1)], -1)])
    report = checked(with_nodes(nobody, [["cases"], *[["empty", ["1", "0"]]] * 3]))
    assert "about nobody" in report.reason


def test_what_is_kept_between_leaves_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(leaves, "MOST_LEMMAS", 1)
    monkeypatch.setattr(scores, "MOST_FORMS", 0)
    monkeypatch.setattr(forms, "MOST_LINES", 0)
    monkeypatch.setattr(lines_module, "MOST_BOXES", 1)
    monkeypatch.setattr(outcome, "MOST_INDIVIDUALS", 0)
    for sample in (stepped, ballots, scored, soft):
        assert checked(sample()).accepted


def test_claims_in_words() -> None:
    assert checked(stepped()).claim.endswith("get the same one of 3 classes.")
    said = checked(one_class()).claim
    assert "No two" in said
    assert "different answers to whether their class is 1 (of 3), both by scores" in said
    assert "ahead of all others by at least 0.5" in said
    assert "scores of each of 3 classes that differ by at most 1" in checked(scored()).claim
    assert "probabilities of class 1 that differ by at most 0.5" in checked(soft()).claim


def test_a_softmax_leaf_of_a_cell_without_points_holds() -> None:
    """Two codes that are fixed two steps apart are not within one."""
    age = {"kind": "within", "tolerance": "1"}
    prop, model = (
        asked("probability", "9/10", 0),
        classes(affine_body([0, 0], [(line(0, 0), [0, 1])]), "ab", link="softmax"),
    )
    values = proof([AGE], [age], prop, model, [])
    leaf = ["softmax", "1/20", ["1"], []]
    nodes = [["cases"], ["split", 0, "0"], ["split", 1, "1"], leaf, leaf, leaf]
    report = checked(with_nodes(values, nodes))
    assert report.accepted, report
    three = classes(affine_body([0, 0, 0], [(line(0, 0), [0, 1, 2])]), "abc", link="softmax")
    values = proof([AGE], [age], prop, three, [])
    leaf = ["softmax", "1/20", ["1", "0"], [["1/2", ["1"]]]]
    nodes = [["cases"], ["split", 0, "0"], ["split", 1, "1"], leaf, leaf, ["enumerated"]]
    assert checked(with_nodes(values, nodes)).accepted


def test_multipliers_count_in_the_last_maximum_only() -> None:
    """f_1 = 4 x - 4 x' is bounded by the constraint alone; a bound of trees has no such thing."""
    x = continuous("x", 0, 1)
    model = classes(affine_body([0, 0], [(line(0, 0), [4, 0])]), "ab", link="softmax")
    limits = [constraint([(0, 1)], "1/8")]
    values = proof([x], [FREE], asked("probability", "1/4", 0), model, [], constraints=limits)
    leaf = ["softmax", "1/2", ["1"], []]
    assert not checked(with_nodes(values, [["cases"], leaf])).accepted
    assert checked(with_nodes(values, [["cases"], [*leaf, ["1", "0"]]])).accepted
    values[4]["model"]["body"] = {"kind": "trees", "bias": ["0", "0"], "trees": [[["0", "1"]]]}
    assert checked(with_nodes(values, [["cases"], leaf])).accepted
    assert "no multipliers" in checked(with_nodes(values, [["cases"], [*leaf, ["1", "0"]]])).reason


def rbf_of(terms, biases, **head) -> dict:
    body = {
        "kind": "rbf",
        "gamma": "1",
        "bias": numbers(biases),
        "columns": [sloped(0), sloped(1)],
        "terms": [[numbers(weights), numbers(centre)] for weights, centre in terms],
    }
    return classes(body, range(3), **head)


BINS = [integer("a", 0, 2), integer("b", 0, 1)]


def test_kernel_models_with_classes() -> None:
    """Enumeration and witnesses by enclosures; a tie that enclosures cannot tell is no answer."""
    peaks = [([3, 0, 0], [0, 0]), ([0, 3, 0], [1, 0]), ([0, 0, 3], [2, 0])]
    model = rbf_of(peaks, [0, 0, 0])
    values = proof(BINS, [SAME, FREE], asked("decision", 0), model, [])
    assert checked(with_nodes(values, [["cases"], *[["enumerated"]] * 3])).accepted
    report = checked(with_nodes(values, [["cases"], *[["enumerated"]] * 3], Fraction(1, 9)))
    assert "clearance" in report.reason
    values = proof(BINS, [FREE, SAME], asked("decision", 0), model, [])
    report = checked(with_nodes(values, [["cases"], *[["enumerated"]] * 3]))
    assert "holds a witness" in report.reason
    around = [["2", "4"], ["1", "2"], ["0", "1"]]
    found = {"x": ["0", "0"], "other": ["2", "0"], "scores": [around, around[::-1]]}
    lines = [{**values[0], "kind": "witness"}, *values[1:5], {"witness": found}, {"end": {"sha256": ""}}]
    assert checked(lines).accepted
    for raw in sealed(lines):
        LINE.validate(json.loads(raw))
    off = copy.deepcopy(lines)
    off[5]["witness"]["scores"][1][1] = ["2", "3"]
    assert "the stated scores" in checked(off).reason
    tied = [([3, 3, 0], [0, 0]), ([0, 0, 3], [2, 0])]
    values[4]["model"] = rbf_of(tied, [0, 0, 0])
    assert "on the border" in checked(with_nodes(values, [["cases"], *[["enumerated"]] * 3])).reason


def test_votes_of_kernel_models() -> None:
    """Votes that enclosures cannot tell do not matter where the class is the same either way."""
    sure = [
        ([1, 1, 0], [0, 0]),
        ([0, 0, 1], [1, 0]),
        ([0, 0, -1], [1, 0]),
    ]  # score (1, 2) is 0 but for rounding
    values = proof(BINS, [SAME, FREE], asked("decision", 0), rbf_of(sure, [1, 1, 0], way="votes"), [])
    everyone = [[[]] for _ in range(3)]
    assert checked(with_nodes(values, [["cases", everyone], *[["enumerated"]] * 3])).accepted
    values[4]["model"] = rbf_of(sure, [-1, -1, 0], way="votes")
    report = checked(with_nodes(values, [["cases", everyone], *[["enumerated"]] * 3]))
    assert "on the border" in report.reason or "holds a witness" in report.reason


def test_softmax_of_scores_in_another_order() -> None:
    """P_0 is the same at both although all scores differ: delta = 0 is kept, and no precision alone would tell."""
    body = affine_body([0, 1, 2], [(table(0, 0, [0, 1]), [7, 8, 6])])
    values = proof([SEX], [FREE], asked("probability", 0, 0), classes(body, "abc", link="softmax"), [])
    assert checked(with_nodes(values, [["cases"], ["enumerated"]])).accepted
    values[3]["property"]["class"] = 1
    assert "holds a witness" in checked(with_nodes(values, [["cases"], ["enumerated"]])).reason
    model = rbf_of([([1, 2, 3], [0, 0])], [0, 0, 0], link="softmax")
    values = proof(BINS, [SAME, FREE], asked("probability", "1/2"), model, [])
    assert checked(with_nodes(values, [["cases"], *[["enumerated"]] * 3])).accepted
    assert (
        "softmax: only for"
        in checked(with_nodes(values, [["cases"], ["softmax", "1/4", ["1/2", "1/2"], [["0", ["1"]]]]])).reason
    )
