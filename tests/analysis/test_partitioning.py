"""regions: every individual of every fair and of every biased box is what the box says, and shares add up to one."""

import gzip
import io
import itertools
import json
import signal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from tests.check import builder

import likewise as lw
from likewise.analysis.region_result import Region, Regions
from likewise.errors import SpecError
from likewise.spec.boxes import parse_box

LEVELS = {"job": ["none", "skilled", "other work", "manager"], "sex": ["f", "m"]}
SPACE = lw.Space(
    {
        "age": lw.Integer(0, 4),
        "grade": lw.Ordinal(["low", "middle", "high"]),
        "job": lw.Categorical(LEVELS["job"]),
        "sex": lw.Categorical(LEVELS["sex"]),
    }
)
KINDS = ["linear", "rbf", "polynomial", "forest"]


def everybody(space):
    values = [
        range(f.lo, f.hi + 1) if isinstance(f, lw.Integer) else f.levels for f in space.features.values()
    ]
    return pd.DataFrame(list(itertools.product(*values)), columns=list(space.names))


def fitted(kind, seed):
    """A pipeline that decides by all features, with a sex that matters where others leave it close."""
    rows = everybody(SPACE)
    random = np.random.default_rng(seed)
    score = (rows["age"] - 2) * random.normal(1, 0.3) + (rows["job"] == "manager") * 2.0
    score += (rows["sex"] == "m") * random.choice([-1.5, 1.5]) + random.normal(0, 0.5, len(rows))
    last = {
        "linear": LogisticRegression(),
        "rbf": SVC(gamma=0.3, C=2.0),
        "polynomial": SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0),
        "forest": RandomForestClassifier(6, max_depth=4, random_state=seed),
    }[kind]
    levels = make_column_transformer((OneHotEncoder(), ["job", "sex", "grade"]), remainder=StandardScaler())
    return make_pipeline(levels, last).fit(rows, score > 0.5)


def similar_pairs(space, similar, rows):
    """Which two of the rows are similar, by looking at all of them."""
    codes = space.encode(rows)
    together = np.ones((len(rows), len(rows)), dtype=bool)
    for k, relation in enumerate(similar.relations(space)):
        for i, j in itertools.product(range(len(rows)), repeat=2):
            together[i, j] &= relation.allows(Fraction(codes[i, k]), Fraction(codes[j, k]))
    return together


def ways(certificate):
    """The ways of all leaves: 0 says that everybody gets the upper decision, 1 that everybody gets the lower one; where zero is upper the
    other way round."""
    lines = [json.loads(line) for line in gzip.decompress(certificate.content).splitlines()]
    return {line[1] for line in lines if isinstance(line, list) and line[0] != "split"}


def checked(model, space, similar, found, rows=None):
    """Compare every region with everybody in it; returns how many of each kind there are."""
    rows = everybody(space) if rows is None else rows
    valid = np.array([all(c.holds(row) for c in space.constraints) for row in rows.to_dict("records")])
    codes, decided = lw.Space(space.features).encode(rows), model.predict(rows)
    treated_differently = (
        similar_pairs(lw.Space(space.features), similar, rows)
        & (decided[:, None] != decided[None])
        & valid[None]
        & valid[:, None]
    ).any(axis=1)
    seen = np.zeros(len(rows), dtype=int)
    for region in found:
        box = parse_box(region.rule, space)
        inside = np.array([box.holds(row) for row in codes.tolist()])
        assert inside.any()
        assert box.share == region.measure == Fraction(int(inside.sum()), len(rows))
        seen += inside
        if region.kind == "fair":
            assert not treated_differently[inside & valid].any()
            assert len(region.certificates) == 1
        elif region.kind == "biased":
            assert treated_differently[inside & valid].all()
            assert sorted(map(sorted, map(ways, region.certificates))) == [["0"], ["1"]]
            reports = [lw.check(io.BytesIO(certificate.content)) for certificate in region.certificates]
            assert [report.decided for report in reports] == [1, 0]  # upper first, also where zero is upper
        elif region.kind == "empty":
            assert not valid[inside].any()
        for certificate in region.certificates:
            assert lw.check(io.BytesIO(certificate.content)).accepted
    assert (seen == 1).all()
    assert sum((region.measure for region in found), Fraction(0)) == 1
    return treated_differently[valid]


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_everybody_is_where_brute_force_puts_them(kind, seed):
    model, similar = fitted(kind, seed), lw.Similarity(free=["sex"])
    found = lw.regions(model, SPACE, similar)
    truth = checked(model, SPACE, similar, found)
    assert not found.undecided
    assert found.share("biased") == Fraction(int(truth.sum()), len(truth))
    assert found.reason is None


@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_box_around_a_person_is_fair_and_cannot_be_widened_by_one_value(kind):
    model, similar = fitted(kind, 1), lw.Similarity(free=["sex"])
    rows = everybody(SPACE)
    fair = ~(
        similar_pairs(SPACE, similar, rows) & (model.predict(rows)[:, None] != model.predict(rows)[None])
    ).any(axis=1)
    for i in (int(np.flatnonzero(fair)[0]), int(np.flatnonzero(fair)[-1]), int(np.flatnonzero(~fair)[0])):
        found = lw.regions(model, SPACE, similar, around=rows[i : i + 1])
        (region,) = found
        assert region.kind == ("fair" if fair[i] else "biased")
        box = parse_box(region.rule, SPACE)
        inside = np.array([box.holds(row) for row in SPACE.encode(rows).tolist()])
        assert inside[i]
        assert (fair[inside] == fair[i]).all()
        assert all(lw.check(io.BytesIO(c.content)).accepted for c in region.certificates)
        if fair[i]:
            for wider in widened(box):
                others = np.array([wider.holds(row) for row in SPACE.encode(rows).tolist()])
                assert not fair[others].all()


def widened(box):
    """The box with one more value of one feature."""
    for k, name in enumerate(box.space.names):
        feature, part = box.space[name], box.parts[k]
        if isinstance(feature, lw.Integer):
            yield from (
                box.with_part(k, (lo, hi))
                for lo, hi in ((part[0] - 1, part[1]), (part[0], part[1] + 1))
                if feature.lo <= lo and hi <= feature.hi
            )
        else:
            yield from (
                box.with_part(k, tuple(sorted((*part, p))))
                for p in range(len(feature.levels))
                if p not in part
            )


@pytest.mark.draw(2)
@pytest.mark.parametrize("kind", ["linear", pytest.param("rbf", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "similar",
    [
        lw.Similarity(free=["sex"], within={"age": 1}),
        lw.Similarity(within={"age": "20%", "grade": 1}),
        lw.Similarity(pairs={"job": [("none", "skilled"), ("skilled", "manager")]}),
        lw.Similarity(free=["sex"], pairs={"job": [("none", "skilled")]}),
    ],
    ids=["free and within", "within", "pairs", "free and pairs"],
)
def test_tolerances_and_pairs_of_levels(kind, similar):
    model = fitted(kind, 0)
    found = lw.regions(model, SPACE, similar, budget=20)
    checked(model, SPACE, similar, found)
    assert found.fair
    assert found.biased


@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", ["linear", "polynomial"])
def test_individuals_that_constraints_exclude_do_not_count(kind):
    model, similar = fitted(kind, 0), lw.Similarity(free=["sex"])
    rules = ["if job == manager then grade != low", "age <= 4", "if sex == m then job != none"]
    found = lw.regions(model, SPACE, similar, where=rules, budget=20)
    checked(model, SPACE.where(*rules), similar, found)
    assert found.fair
    assert found.biased


def test_boxes_that_a_constraint_excludes_are_empty():
    model, similar = fitted("linear", 0), lw.Similarity(free=["sex"])
    found = lw.regions(model, SPACE, similar, where=["age == 2"], budget=20)
    checked(model, SPACE.where("age == 2"), similar, found)
    assert found.empty
    assert found.fair
    assert found.biased
    assert not found.undecided


def test_a_counterpart_that_breaks_a_constraint_is_none():
    """Nobody may be changed in sex here, so nobody is treated differently, although the model looks at it."""
    model = fitted("linear", 0)
    found = lw.regions(
        model,
        SPACE,
        lw.Similarity(free=["sex"]),
        where=['if job in {none, skilled, "other work", manager} then sex == f'],
        budget=10,
    )
    assert not found.biased


def test_gaps_have_fair_and_undecided_regions():
    model, similar = fitted("linear", 0), lw.Similarity(free=["sex"])
    widest = lw.measure(model, SPACE, similar, of="score").upper
    assert [
        region.rule for region in lw.regions(model, SPACE, similar, lw.ScoreGap(1.001 * widest)).fair
    ] == ["everybody"]
    found = lw.regions(model, SPACE, similar, lw.ScoreGap(0.5 * widest), budget=5)
    assert not found.fair
    assert not found.biased
    found = lw.regions(model, SPACE, similar, lw.ProbabilityGap(0.05), budget=5)
    assert found.fair
    assert found.undecided
    assert sum(region.measure for region in found) == 1


@pytest.mark.some_days
@pytest.mark.usefixtures("clock_of_looks")
def test_continuous_boxes_share_nothing_but_borders_and_their_members_are_what_they_say():
    random = np.random.default_rng(0)
    rows = random.uniform(0, 1, (200, 3))
    model = LogisticRegression(C=100).fit(rows, rows @ [2.0, 1.0, 0.8] + random.normal(0, 0.1, 200) > 1.9)
    space = lw.Space({name: lw.Continuous(0, 1) for name in ("a", "b", "c")})
    similar = lw.Similarity(free=["c"], within={"b": 0.05})
    found = lw.regions(model, space, similar, budget=2)
    assert found.fair
    assert found.biased
    assert sum((region.measure for region in found), Fraction(0)) == 1
    for region in (*found.fair, *found.biased):
        box = parse_box(region.rule, space)
        assert box.share == region.measure
        lo, hi = np.array(box.parts).T
        people = lo + random.uniform(0, 1, (40, 3)) * (hi - lo)
        people[:, 2] = random.uniform(0, 1, 40)
        for person in people:
            others = np.stack(
                [
                    person,
                    *(person + np.array([0, b, c - person[2]]) for b in (-0.05, 0, 0.05) for c in (0, 1)),
                ]
            )
            others[:, 1] = np.clip(others[:, 1], 0, 1)
            assert (len(set(model.predict(others))) > 1) == (region.kind == "biased")


def test_boxes_of_a_score_that_jumps_end_beside_the_jump():
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"a": random.uniform(0, 1, 300), "sex": random.integers(0, 2, 300)})
    bins = KBinsDiscretizer(4, encode="onehot", quantile_method="averaged_inverted_cdf")
    columns = make_column_transformer((bins, ["a"]), remainder="passthrough")
    wanted = rows["a"] + 0.2 * rows["sex"] > 0.6
    model = make_pipeline(columns, LogisticRegression(C=100)).fit(rows, wanted)
    space = lw.Space({"a": lw.Continuous(0, 1), "sex": lw.Categorical([0, 1])})
    found = lw.regions(model, space, lw.Similarity(free=["sex"]), budget=5)
    assert found.fair
    assert found.biased
    assert found.share("undecided") < Fraction(1, 10**6)
    assert sum((region.measure for region in found), Fraction(0)) == 1
    for region in (*found.fair, *found.biased):
        lo, hi = parse_box(region.rule, space).parts[0]
        assert abs(region.measure - (Fraction(hi) - Fraction(lo))) < Fraction(1, 2**50)
        ends = pd.DataFrame({"a": [lo, hi, lo, hi], "sex": [0, 0, 1, 1]})
        first, second = model.predict(ends).reshape(2, 2)
        assert list(first != second) == [region.kind == "biased"] * 2


def test_what_is_known_when_the_budget_is_over_adds_up_to_everybody():
    model = fitted("linear", 0)
    found = lw.regions(model, SPACE, lw.Similarity(free=["sex"]), budget=0.001)
    assert "0.001" in found.reason
    assert sum(region.measure for region in found) == 1
    assert found.to_dict()["shares"]["undecided"] == 1.0


def test_an_interrupt_ends_with_what_is_known():
    model, heard = fitted("linear", 0), []

    def listener(snapshot):
        heard.append(snapshot)
        if snapshot.closed == 3:
            signal.raise_signal(signal.SIGINT)

    found = lw.regions(model, SPACE, lw.Similarity(free=["sex"]), progress=listener)
    assert found.reason.startswith("interrupted")
    assert sum(region.measure for region in found) == 1
    assert heard[-1].seconds < 60


def test_a_model_that_does_not_look_at_it_is_fair_everywhere():
    rows = everybody(SPACE)
    model = make_pipeline(make_column_transformer(("passthrough", ["age"])), LogisticRegression()).fit(
        rows, rows["age"] > 2
    )
    (region,) = lw.regions(model, SPACE, lw.Similarity(free=["sex"]))
    assert (region.kind, region.rule, region.measure) == ("fair", "everybody", 1)
    assert str(region).split() == ["fair", "100%", "everybody"]


def test_around_a_rule_and_what_is_wrong_with_it():
    model, similar = fitted("linear", 0), lw.Similarity(free=["sex"])
    found = lw.regions(model, SPACE, similar, around="age <= 0 and job == none")
    (region,) = found.fair
    box, start = parse_box(region.rule, SPACE), parse_box("age <= 0 and job == none", SPACE)
    assert all(
        set(part) <= set(wide) or part[0] >= wide[0]
        for part, wide in zip(start.parts, box.parts, strict=True)
    )
    with pytest.raises(SpecError, match="2 features"):
        lw.regions(model, SPACE, similar, around="age <= grade")
    with pytest.raises(SpecError, match="no level 'nun'"):
        lw.regions(model, SPACE, similar, around="job == nun")
    with pytest.raises(SpecError, match="no 'grade'"):
        lw.regions(model, SPACE, similar, around={"age": 1})


@pytest.mark.some_days
def test_max_boxes_keeps_the_largest_and_leaves_the_rest_undecided():
    model, similar = fitted("linear", 0), lw.Similarity(free=["sex"])
    everything = lw.regions(model, SPACE, similar)
    found = lw.regions(model, SPACE, similar, max_boxes=2)
    checked(model, SPACE, similar, found)
    assert len(everything.fair) > 2
    assert [len(found.fair), len(found.biased)] == [2, 2]
    assert [r.measure for r in found.fair] == [r.measure for r in everything.fair[:2]]
    assert "max_boxes" in found.reason
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(SpecError, match="max_boxes"):
            lw.regions(model, SPACE, similar, max_boxes=wrong)


def test_what_is_printed_is_the_largest_of_each_kind():
    regions = [Region(kind="fair", rule=f"age == {n}", box={}, measure=Fraction(1, 20)) for n in range(12)]
    found = Regions(fair=regions, biased=regions[:1], undecided=[], reason="the time < was over")
    lines = str(found).splitlines()
    assert len(lines) == (1 + 10 + 1) + (1 + 1) + 1
    assert lines[0].startswith("fair     60.00% of the space, 12 regions: ")
    assert lines[11] == "  ... 2 more (.fair has them)"
    html = found._repr_html_()
    assert html.count('<th scope="col">') == 3
    assert "the time &lt; was over" in html
    assert "<td>10.00%</td><td>(2 more)</td>" in html
    assert html.count("<tr>") == 1 + 12 + 1  # the reason is a table of its own


def test_several_classes_and_gaps_of_forests_have_fair_regions():
    rows = everybody(SPACE)
    columns = make_column_transformer((OneHotEncoder(), ["job", "sex", "grade"]), remainder="passthrough")
    three = make_pipeline(columns, LogisticRegression()).fit(rows, rows["age"].clip(0, 2))
    similar = lw.Similarity(free=["sex"])
    (region,) = lw.regions(three, SPACE, similar, lw.ScoreGap(100.0)).fair
    assert region.rule == "everybody"
    found = lw.regions(fitted("forest", 0), SPACE, similar, lw.ScoreGap(0.1), budget=20)
    assert sum((region.measure for region in found), Fraction(0)) == 1
    assert not found.biased


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "function", [np.log1p, np.sqrt, np.reciprocal], ids=lambda function: function.__name__
)
def test_numbers_that_the_model_sees_through_a_function(function):
    """Shares are of the number itself, and so are rules, whichever way the function goes."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"income": random.uniform(1, 50, 400), "sex": random.integers(0, 2, 400)})
    wanted = function(rows["income"]) + 0.1 * rows["sex"] > function(17.0)
    bend = FunctionTransformer(function)
    model = make_pipeline(
        make_column_transformer((bend, ["income"]), remainder="passthrough"), LogisticRegression(C=1e5)
    )
    model.fit(rows, wanted)
    space = lw.Space({"income": lw.Continuous(1, 50), "sex": lw.Categorical([0, 1])})
    found = lw.regions(model, space, lw.Similarity(free=["sex"]), budget=10)
    assert found.fair
    assert found.biased
    assert sum((region.measure for region in found), Fraction(0)) == 1
    assert float(found.share("undecided")) < 1e-3
    grid = np.linspace(1, 50, 400)
    flips = np.array([model.predict(pd.DataFrame({"income": grid, "sex": [sex] * 400})) for sex in (0, 1)])
    differently = flips[0] != flips[1]
    assert float(found.share("biased")) == pytest.approx(differently.mean(), abs=0.01)
    seen = np.zeros(400, dtype=int)
    for region in found:
        box = parse_box(region.rule, space)
        assert box.share == region.measure
        lo, hi = box.parts[0]
        inside = (grid >= lo) & (grid <= hi)
        seen += inside
        if region.kind in ("fair", "biased"):
            assert (differently[inside] == (region.kind == "biased")).all()
            assert all(lw.check(io.BytesIO(c.content)).accepted for c in region.certificates)
    assert (seen >= 1).all()
    (around,) = lw.regions(model, space, lw.Similarity(free=["sex"]), around={"income": 45.0, "sex": 0})
    pair = pd.DataFrame({"income": [45.0, 45.0], "sex": [0, 1]})
    assert around.kind == ("fair" if len(set(model.predict(pair))) == 1 else "biased")
    assert parse_box(around.rule, space).holds((45.0, 0))


@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", ["linear", "forest"])
def test_no_change_of_a_leaf_makes_the_checker_say_something_else_of_everybody(kind):
    """Of the certificates of biased regions: each leaf changed to other ways and rules, and the file sealed again."""
    found = lw.regions(fitted(kind, 0), SPACE, lw.Similarity(free=["sex"]))
    said = set()
    for certificate in found.biased[0].certificates:
        lines = [json.loads(line) for line in gzip.decompress(certificate.content).splitlines()]
        truth = check_lines(lines).decided
        assert truth in (0, 1)
        said.add(truth)
        for place in (n for n, line in enumerate(lines) if isinstance(line, list) and line[0] != "split"):
            rule, way = lines[place][:2]
            others = [[rule, {"0": "1", "1": "0"}[way]], [rule, "1/2"], [rule, "1/1000"], ["enumerated"]]
            for leaf in (*others, ["independent"], ["empty", []]):
                changed = check_lines([*lines[:place], leaf, *lines[place + 1 :]])
                assert changed.decided is None
        zero = lines[4]["model"]["head"]["zero"]
        lines[4]["model"]["head"]["zero"] = {"lower": "upper", "upper": "lower"}[zero]
        assert not check_lines(lines).accepted or check_lines(lines).decided == truth
    assert said == {0, 1}


def check_lines(lines):
    lines = json.loads(json.dumps(lines))
    lines[-1]["end"] |= {"clearance": "0", "covers_floating_point": False}
    return builder.checked(lines)
