"""The claim's lines: every departure from the specification is rejected, in the line where it stands."""

import io

import pytest
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
    packed,
    pairs,
    probability,
    proof,
    score,
    sealed,
    table,
    within,
    worth,
)

from likewise_check import check
from likewise_check.core import space

HEADER, SPACE, SIMILARITY, PROPERTY, MODEL = range(5)


def put(values: list, path: tuple, value: object) -> list:
    """The certificate with the value at the path replaced; Ellipsis takes it away."""
    place = values
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return values


FEATURE = (SPACE, "space", "features")
CASES = [
    ((HEADER, "kind"), "guess", "one of"),
    ((HEADER, "kind"), None, "one of"),
    ((HEADER, "kind"), ["proof"], "one of"),
    ((HEADER, "tool"), 1, "text"),
    ((HEADER, "words"), ..., "exactly the keys"),
    ((HEADER, "more"), 1, "exactly the keys"),
    ((HEADER, "digests"), None, "exactly the keys"),
    ((HEADER, "digests", "model"), ..., "exactly the keys"),
    ((HEADER, "digests", "more"), "", "exactly the keys"),
    ((SPACE,), [], "exactly the keys"),
    ((SPACE, "more"), 1, "exactly the keys"),
    ((SPACE, "space"), [], "exactly the keys"),
    (FEATURE, [], "1 to 10000 features"),
    (FEATURE, {}, "array"),
    ((*FEATURE, 0), "age", "known kind"),
    ((*FEATURE, 0, "kind"), "complex", "known kind"),
    ((*FEATURE, 0, "kind"), ["integer"], "known kind"),
    ((*FEATURE, 0, "kind"), "categorical", "exactly the keys"),
    ((*FEATURE, 1, "kind"), "integer", "exactly the keys"),
    ((*FEATURE, 0, "name"), "sex", "same name"),
    ((*FEATURE, 0, "name"), 7, "text"),
    ((*FEATURE, 0, "lo"), "4", "above hi"),
    ((*FEATURE, 0, "lo"), "1/2", "whole"),
    ((*FEATURE, 0, "hi"), "7/2", "whole"),
    ((*FEATURE, 0, "hi"), 3, "number"),
    ((*FEATURE, 1, "levels"), [], "distinct"),
    ((*FEATURE, 1, "levels"), ["f", "f"], "distinct"),
    ((*FEATURE, 1, "levels"), [True, True], "distinct"),
    ((*FEATURE, 1, "levels"), [{"number": "1"}, {"number": "2/2"}], "distinct"),
    ((*FEATURE, 1, "levels"), ["f", 1], "exactly the keys"),
    ((*FEATURE, 1, "levels"), [None, None], "distinct"),
    ((*FEATURE, 0, "missing"), False, "must be true"),
    ((*FEATURE, 0, "missing"), None, "must be true"),
    ((*FEATURE, 0, "missing"), 1, "must be true"),
    ((*FEATURE, 1, "missing"), True, "exactly the keys"),
    ((*FEATURE, 1, "levels"), ["f", {"number": "1", "more": "1"}], "exactly the keys"),
    ((*FEATURE, 1, "levels"), "fm", "array"),
    ((SPACE, "space", "constraints"), None, "array"),
    ((SPACE, "space", "constraints"), [constraint([], 0)] * 1001, "more than 1000 constraints"),
    ((SPACE, "space", "constraints"), [[]], "exactly the keys"),
    ((SPACE, "space", "constraints"), [constraint([], 0, text=1)], "text"),
    ((SPACE, "space", "constraints"), [constraint([(2, 1)], 0)], "from 0 to 1"),
    ((SPACE, "space", "constraints"), [constraint([(-1, 1)], 0)], "from 0 to 1"),
    ((SPACE, "space", "constraints"), [constraint([(True, 1)], 0)], "from 0 to 1"),
    ((SPACE, "space", "constraints"), [constraint([("0", 1)], 0)], "from 0 to 1"),
    ((SPACE, "space", "constraints"), [constraint([(0, 1), (0, 1)], 0)], "strictly increasing"),
    ((SPACE, "space", "constraints"), [constraint([(1, 1)], 0)], "no numbers"),
    ((SPACE, "space", "constraints"), [constraint([(1, [1])], 0)], "2 entries"),
    ((SPACE, "space", "constraints"), [constraint([(1, [1, 2, 3])], 0)], "2 entries"),
    ((SPACE, "space", "constraints"), [constraint([(0, [1, 2, 3, 4])], 0)], "no levels"),
    ((SPACE, "space", "constraints"), [constraint([(1, [1, 2]), (1, [1, 2])], 0)], "strictly increasing"),
    ((SPACE, "space", "constraints"), [{"text": "", "terms": [[1, ["0", 1]]], "bound": "0"}], "number"),
    ((SPACE, "space", "constraints"), [{"text": "", "terms": [[0]], "bound": "0"}], "2 entries"),
    ((SPACE, "space", "constraints"), [{"text": "", "terms": [[0, 1]], "bound": "0"}], "number"),
    ((SPACE, "space", "constraints"), [{"text": "", "terms": {}, "bound": "0"}], "array"),
    ((SIMILARITY, "similarity"), [SAME], "2 entries"),
    ((SIMILARITY, "similarity"), None, "array"),
    ((SIMILARITY, "similarity", 0), {"kind": "alike"}, "known kind"),
    ((SIMILARITY, "similarity", 0), {"kind": "same", "tolerance": "1"}, "exactly the keys"),
    ((SIMILARITY, "similarity", 0), {"kind": "within"}, "exactly the keys"),
    ((SIMILARITY, "similarity", 0), within(0), "above 0"),
    ((SIMILARITY, "similarity", 0), within(-1), "above 0"),
    ((SIMILARITY, "similarity", 0), within("1/2"), "whole"),
    ((SIMILARITY, "similarity", 1), within(1), "categorical"),
    ((SIMILARITY, "similarity", 0), pairs(), "only levels kinds"),
    ((SIMILARITY, "similarity", 1), {"kind": "pairs"}, "exactly the keys"),
    ((SIMILARITY, "similarity", 1), {"kind": "pairs", "allowed": None}, "array"),
    ((SIMILARITY, "similarity", 1), pairs([0]), "2 entries"),
    ((SIMILARITY, "similarity", 1), pairs([0, 2]), "from 0 to 1"),
    ((SIMILARITY, "similarity", 1), pairs(["0", 1]), "from 0 to 1"),
    ((SIMILARITY, "similarity", 1), pairs([1, 0]), "smaller position first"),
    ((SIMILARITY, "similarity", 1), pairs([1, 1]), "smaller position first"),
    ((SIMILARITY, "similarity", 1), pairs([0, 1], [0, 1]), "strictly increasing"),
    ((PROPERTY, "property"), {"kind": "fairness"}, "known kind"),
    ((PROPERTY, "property"), {"kind": "decision"}, "exactly the keys"),
    ((PROPERTY, "property"), {"kind": "decision", "delta": "0"}, "exactly the keys"),
    ((PROPERTY, "property"), score(-1), "at least 0"),
    ((PROPERTY, "property"), probability(-1), "at least 0"),
    ((PROPERTY, "property"), probability(1), "below 1"),
    ((MODEL, "model"), None, "exactly the keys"),
    ((MODEL, "model", "family"), None, "text"),
    ((MODEL, "model", "body"), {}, "known kind"),
    ((MODEL, "model", "body", "kind"), "kernel", "known kind"),
    ((MODEL, "model", "body", "more"), "kernel", "exactly the keys"),
    ((MODEL, "model", "body", "columns"), {}, "array"),
    ((MODEL, "model", "body", "columns", 0), [], "from 0 to 1"),
    ((MODEL, "model", "body", "columns", 0, "feature"), 2, "from 0 to 1"),
    ((MODEL, "model", "body", "columns", 0, "feature"), False, "from 0 to 1"),
    ((MODEL, "model", "body", "columns", 0, "feature"), 1, "exactly the keys"),
    ((MODEL, "model", "body", "columns", 1, "feature"), 0, "exactly the keys"),
    ((MODEL, "model", "body", "columns", 1, "table"), ["0"], "2 entries"),
    ((MODEL, "model", "body", "columns", 1, "table"), ["0", "1", "1"], "2 entries"),
    ((MODEL, "model", "body", "bias"), 0, "number"),
    ((MODEL, "model", "head"), None, "exactly the keys"),
    ((MODEL, "model", "head", "labels"), None, "needs a model with labels"),
    ((MODEL, "model", "head", "labels"), ["no"], "2 entries"),
    ((MODEL, "model", "head", "labels"), ["no", None], "exactly the keys"),
    ((MODEL, "model", "head", "labels"), ["no", {"number": 1}], "number"),
    ((MODEL, "model", "head", "zero"), None, "one of"),
    ((MODEL, "model", "head", "link"), "probit", "one of"),
    ((MODEL, "model", "head", "link"), True, "one of"),
    ((MODEL, "model", "head", "link"), ["logistic"], "3 entries"),
    ((MODEL, "model", "head", "link"), ["probit", "1", "0"], "one of"),
    ((MODEL, "model", "head", "link"), ["logistic", "0", "1"], "slope other than 0"),
    ((MODEL, "model", "head", "link"), ["logistic", 1, "1"], "number"),
    ((MODEL, "model", "head", "link"), ["logistic", "1", None], "number"),
    ((MODEL, "model", "body", "kind"), "forest", "known kind"),
    ((MODEL, "model", "rounding", "sizes"), ["1"], "2 entries"),
    ((MODEL, "model", "rounding", "sizes"), ["1", "-1"], "at least 0"),
    ((MODEL, "model", "rounding", "constant"), "-1", "at least 0"),
    ((MODEL, "model", "rounding", "operations"), 10**7 + 1, "from 0 to"),
    ((MODEL, "model", "rounding", "operations"), -1, "from 0 to"),
    ((MODEL, "model", "rounding", "operations"), "4", "from 0 to"),
]


@pytest.mark.parametrize(
    ("path", "value", "reason"), CASES, ids=[f"{case[0][-1]}-{case[2]}-{i}" for i, case in enumerate(CASES)]
)
def test_departures(path, value, reason):
    report = checked(put(samples.gap(), path, value))
    assert not report.accepted
    assert report.readable
    assert reason in report.reason
    assert report.line == path[0] + 1


@pytest.mark.parametrize(
    ("feature", "reason"),
    [
        (integer("age"), "only trees"),
        (continuous("age", 0, 3), "only trees"),
        (continuous("age", 0, (1 << 1024) - (1 << 971)), "must be a double"),
        (continuous("age", 0, (1 << 1024) - (1 << 971) - (1 << 970)), "must be a double"),
        (continuous("age", 0, "1/3"), "must be a double"),
    ],
)
def test_missing_values_are_for_trees(feature, reason):
    values = put(samples.gap(), (*FEATURE, 0), {**feature, "missing": True})
    report = checked(values)
    assert reason in report.reason
    limited = put(values, (SPACE, "space", "constraints"), [constraint([(0, 1)], 3)])
    assert ("missing values" if reason == "only trees" else reason) in checked(limited).reason
    assert checked(limited).line == 2


def test_levels_may_be_missing():
    values = put(samples.gap(), (*FEATURE, 1, "levels"), ["f", None])
    assert checked(values).accepted
    limits = (SPACE, "space", "constraints")
    assert checked(put(values, limits, [constraint([(1, [0, 1])], 0)])).accepted
    assert "no numbers" in checked(put(values, limits, [constraint([(1, 1)], 0)])).reason


def test_a_probability_needs_the_link():
    report = checked(put(samples.likely(), (MODEL, "model", "head", "link"), None))
    assert "logistic" in report.reason


@pytest.mark.parametrize("name", ["space", "similarity", "property", "model"])
@pytest.mark.parametrize("digest", ["", "0" * 64, None])
def test_digests(name, digest):
    lines = sealed(samples.gap())
    values = samples.gap()
    import json

    values[0]["digests"] = json.loads(lines[0])["digests"]
    right = values[0]["digests"][name]
    values[0]["digests"][name] = right.upper() if digest is None else digest
    lines[0] = json.dumps(values[0]).encode()
    report = check(io.BytesIO(packed(lines)))
    assert f"the {name} line" in report.reason
    assert report.line == ["space", "similarity", "property", "model"].index(name) + 2


def test_limits(monkeypatch):
    monkeypatch.setattr(space, "MOST_LEVELS", 1)
    assert "at most 1 levels" in checked(samples.gap()).reason
    monkeypatch.setattr(space, "MOST_LEVELS", 2)
    assert checked(samples.gap()).accepted
    monkeypatch.setattr(space, "MOST_FEATURES", 1)
    assert "1 to 1 features" in checked(samples.gap()).reason


@pytest.mark.parametrize("labels", [[True, False], [0, 1], [{"number": "1/2"}, "x"]])
def test_labels(labels):
    assert checked(put(samples.gap(), (MODEL, "model", "head", "labels"), labels)).accepted


@pytest.mark.parametrize("many", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_ten_thousand_features_and_a_hundred_thousand_levels(many):
    features = [continuous(f"f{k}") for k in range(many - 10)]
    features += [ordinal(f"o{k}", [worth(i) for i in range(many)]) for k in range(10)]
    relations = [*[FREE] * (many // 2), *[SAME] * (many // 2 - 10), *[within(many // 2)] * 10]
    limits = [constraint([(k, 1), (many - 5, 1)], 2 * many) for k in range(many // 10)]
    model = affine(
        0,
        [*(line(k, 1) for k in range(many - 10)), *(table(k, 1, [1] * many) for k in range(many - 10, many))],
    )
    nodes = [["split", 3, "1/2"], ["separable", "1/2"], ["separable", "1/2", ["0x1p-19"] * (many // 5)]]
    values = proof(features, relations, score(2 * many), model, nodes, constraints=limits)
    values[-1]["end"]["somebody"] = ["0"] * many
    report = checked(values)
    assert report.accepted, report.reason


def test_levels_and_constraints_in_words():
    features = [integer("a"), categorical("b", [True, worth(1), "1"]), ordinal("c", ["x", "y"])]
    features.append(categorical("d", ["p", None, "q"]))
    nodes = [["independent"]]
    for prop, words in [
        (decision(2), "both scores at least 2 from"),
        (score(1), "scores"),
        (probability("1/8"), "0.125"),
    ]:
        report = checked(
            proof(features, [SAME, FREE, within(1), pairs([0, 2])], prop, affine(0, [line(0, 1)]), nodes)
        )
        assert report.accepted, report.reason
        assert words in report.claim
        assert "in 'b'" in report.claim
        assert "'c' by at most 1 step" in report.claim
        assert "between allowed levels in 'd'" in report.claim
