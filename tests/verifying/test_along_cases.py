"""Counterfactual pairs by tables between levels and under conditions, for every family: verdicts and brackets are those of looking at every pair, certificates are accepted, and two ways of writing one claim give one answer."""

import functools
import json
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer
from tests.tiers import some
from tests.verifying.test_along import MODELS, decision

import likewise as lw
from likewise.errors import SpecError
from likewise.families.scored_model import scores_of
from likewise.importers.imported_model import import_model
from likewise.spec.enclosure import as_several
from likewise.spec.pairs import pair_space

RANGES = {"income": range(4), "job": range(3), "sector": range(3), "sex": range(2)}
NAMES = list(RANGES)
EVERYBODY = pd.DataFrame(list(product(*RANGES.values())), columns=NAMES).astype(float)
SPACE = lw.Space(
    {
        "income": lw.Integer(0, 3),
        "job": lw.Categorical([0.0, 1.0, 2.0]),
        "sector": lw.Categorical([0.0, 1.0, 2.0]),
        "sex": lw.Categorical([0.0, 1.0]),
    }
)
PEOPLE = [tuple(map(int, row)) for row in EVERYBODY.to_numpy()]
EXACT = [[*map(Fraction, person)] for person in PEOPLE]
STEP = (0.0, 1.0)

TABLE = {STEP: {0.0: 2.0, 1.0: [1.0, 2.0]}}
JOBS = lw.Along("sex", table=TABLE)
PUBLIC_JOBS = lw.Along("sex", table=TABLE, where={"sector": [0.0, 2.0]})
PAID_JOBS = lw.Along("sex", table={STEP: {2.0: 0.0, 0.0: []}}, where={"income": {"from": 2}})
PAY = lw.Along("sex", {STEP: -1}, where={"sector": [1.0]})
PAYS = [
    lw.Along("sex", {STEP: -1}, where={"sector": [1.0], "job": [0.0, 1.0]}),
    lw.Along("sex", {STEP: (1, 2)}, where={"sector": [1.0, 2.0]}),
    lw.Along("sex", {STEP: 1}),
]
CLAIMS = {
    "a table": lw.Similarity(free=["sex"], along={"job": JOBS}),
    "a table where": lw.Similarity(free=["sex"], along={"job": PUBLIC_JOBS}),
    "a table where paid": lw.Similarity(free=["sex"], along={"job": [PAID_JOBS, JOBS]}),
    "a shift where": lw.Similarity(free=["sex"], along={"income": PAY}),
    "shifts where": lw.Similarity(free=["sex"], along={"income": PAYS}),
    "both": lw.Similarity(free=["sex"], along={"income": PAY, "job": PUBLIC_JOBS}),
    "with room": lw.Similarity(free=["sex"], within={"income": 1}, along={"income": PAY, "job": JOBS}),
}


def inside(change: set[tuple[int, int]], a: int, b: int, step: tuple[int, int]) -> bool:
    """Whether (a, b) is in a relation of the step (0, 1), in its inverse at (1, 0), and equal where sex is."""
    if step == (0, 1):
        return (a, b) in change
    return (b, a) in change if step == (1, 0) else a == b


ALL_JOBS = {(0, 2), (1, 1), (1, 2), (2, 2)}
HIGH_JOBS = {(1, 1), (2, 0)}
SAME = {(v, v) for v in range(4)}


def shift(low: int, high: int) -> set[tuple[int, int]]:
    return {(a, b) for a in range(4) for b in range(4) if low <= b - a <= high}


def similar(claim: str, x: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two are similar, written down by hand."""
    (i, j, s, sex), (i2, j2, s2, sex2) = x, other
    jobs, pays = SAME, SAME
    if claim == "a table":
        jobs = ALL_JOBS
    if claim in ("a table where", "both"):
        jobs = ALL_JOBS if s != 1 else SAME
    if claim == "a table where paid":
        jobs = HIGH_JOBS if i >= 2 else ALL_JOBS
    if claim in ("a shift where", "both"):
        pays = shift(-1, -1) if s == 1 else SAME
    if claim == "shifts where":
        pays = shift(-1, -1) if s == 1 and j != 2 else shift(1, 2) if s != 0 else shift(1, 1)
    if claim == "with room":
        jobs, pays = ALL_JOBS, shift(-2, 0) if s == 1 else shift(-1, 1)
        if sex == sex2:
            return s == s2 and j == j2 and abs(i - i2) <= 1
    step = (sex, sex2)
    return s == s2 and inside(jobs, j, j2, step) and inside(pays, i, i2, step)


PAIRS = {
    name: [(i, j) for i, j in product(range(len(PEOPLE)), repeat=2) if similar(name, PEOPLE[i], PEOPLE[j])]
    for name in CLAIMS
}


def labels(seed: int, classes: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    worth = EVERYBODY.income + 0.8 * (EVERYBODY.job == 1) - 0.9 * EVERYBODY.sex * (EVERYBODY.job == 2)
    worth = worth + 0.4 * EVERYBODY.sector + random.normal(scale=0.6, size=len(EVERYBODY))
    return np.digitize(worth, np.quantile(worth, np.linspace(0, 1, classes + 1)[1:-1]))


def exact_scores(model, space: lw.Space = SPACE) -> tuple[list[list[Fraction]], bool]:
    """All scores of everybody as the model was read, irrational ones to 200 bits; and whether zero belongs to the upper label."""
    imported = import_model(model, space, rows=EVERYBODY.to_numpy(), like=EVERYBODY)
    score = scores_of(imported.model, len(space))
    codes = imported.recoding.coded(space.encode(EVERYBODY))
    ends = [as_several(score.enclose([Fraction(c) for c in row], 200)) for row in codes.tolist()]
    return [[(end.lo + end.hi) / 2 for end in several] for several in ends], imported.model.head.zero_is_upper


@functools.cache
def known(name: str, seed: int, classes: int = 2):
    """A fitted model, the exact scores of everybody, and how everybody is decided."""
    model = MODELS[name]().fit(EVERYBODY, labels(seed, classes))
    scores, zero_is_upper = exact_scores(model)
    return model, scores, [decision(one, zero_is_upper) for one in scores]


def largest_gap(scores, claim: str) -> Fraction:
    return max(a - b for i, j in PAIRS[claim] for a, b in zip(scores[i], scores[j], strict=True))


def is_pair(claim: str, frame) -> bool:
    one, two = (tuple(map(int, row)) for row in frame[NAMES].to_numpy())
    return similar(claim, one, two)


@pytest.mark.draw(4)
@pytest.mark.parametrize("claim", list(CLAIMS))
def test_pairs_are_those_of_the_definition_each_in_one_part(claim):
    pairs, alike = pair_space(SPACE, CLAIMS[claim]), set(PAIRS[claim])
    for i, j in product(some(range(len(PEOPLE)), 6, claim), range(len(PEOPLE))):
        exact = EXACT[i], EXACT[j]
        assert sum(part.valid(*exact) for part in pairs.branches) == ((i, j) in alike)
        assert pairs.valid(*exact) == ((i, j) in alike)
        if (i, j) in alike:
            assert all(r.allows(*codes) for r, *codes in zip(pairs.relations, *exact, strict=True))


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("name", list(MODELS))
def test_decisions_are_those_of_looking_at_every_pair(name, tmp_path):
    model, _, decided = known(name, 0)
    for claim in some(list(CLAIMS), 2, name):
        result = lw.verify(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60)
        expected = any(decided[i] != decided[j] for i, j in PAIRS[claim])
        assert result.verdict == ("BIASED" if expected else "FAIR"), (claim, result.reason)
        result.certificate.save(tmp_path / "it.likewise")
        assert lw.check(tmp_path / "it.likewise").accepted
        if expected:
            assert is_pair(claim, result.pair)
            assert len(set(model.predict(result.pair[NAMES]))) == 2


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("name", list(MODELS))
def test_gaps_are_those_of_looking_at_every_pair(name, tmp_path):
    model, scores, _ = known(name, 1)
    claims = (
        list(CLAIMS) if name in ("affine", "tree", "boosting") else ["a table where", "shifts where", "both"]
    )
    for claim in some(claims, 1, f"gaps of {name}"):
        truth = largest_gap(scores, claim)
        found = lw.measure(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60, certify=True)
        assert found.reason is None, claim
        assert found.lower <= truth <= found.upper <= truth + Fraction(1, 10**5), claim
        assert is_pair(claim, found.pair)
        found.certificate.save(tmp_path / "it.likewise")
        assert lw.check(tmp_path / "it.likewise").accepted
        room = lw.verify(model, SPACE, CLAIMS[claim], lw.ScoreGap(found.upper), budget=60)
        assert room.verdict == "FAIR", (claim, room.reason)
        broken = lw.verify(model, SPACE, CLAIMS[claim], lw.ScoreGap(float(truth) * 0.9), budget=60)
        assert broken.verdict == ("BIASED" if truth else "FAIR"), claim


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["affine", "tree", "boosting"])
def test_several_classes(name):
    model, scores, decided = known(name, 3, 3)
    for claim in some(list(CLAIMS), 1, f"classes of {name}"):
        expected = any(decided[i] != decided[j] for i, j in PAIRS[claim])
        result = lw.verify(model, SPACE, CLAIMS[claim], X=EVERYBODY, budget=60)
        assert result.verdict == ("BIASED" if expected else "FAIR"), (claim, result.reason)
        assert result.certificate is not None
        gap = largest_gap(scores, claim)
        room = lw.verify(model, SPACE, CLAIMS[claim], lw.ScoreGap(float(gap) + 1e-6), budget=60)
        assert room.verdict == "FAIR", (claim, room.reason)


@pytest.mark.draw(2)
@pytest.mark.parametrize("name", ["affine", "tree", "kernel"])
def test_constraints_hold_of_both(name):
    space = SPACE.where("income <= sector + 2")
    kept = [i for i, person in enumerate(PEOPLE) if person[0] <= person[2] + 2]
    model, scores, _ = known(name, 1)
    for claim in some(list(CLAIMS), 2, f"constraints {name}"):
        alike = [(i, j) for i, j in PAIRS[claim] if i in kept and j in kept]
        truth = max(a - b for i, j in alike for a, b in zip(scores[i], scores[j], strict=True))
        found = lw.measure(model, space, CLAIMS[claim], X=EVERYBODY.iloc[kept], budget=60)
        assert found.lower <= truth <= found.upper <= truth + Fraction(1, 10**5), claim


# -- two ways of writing one claim --------------------------------------------------------------------------------

STEPS = lw.Space({**SPACE.features, "job": lw.Ordinal([0.0, 1.0, 2.0])})
SAYING_THE_SAME = {
    "a table and a shift of the same levels": (
        STEPS,
        {"job": lw.Along("sex", {STEP: (0, 1)})},
        {"job": lw.Along("sex", table={STEP: {0.0: [0.0, 1.0], 1.0: [1.0, 2.0]}})},
    ),
    "a table that leads out of the range": (
        STEPS,
        {"job": lw.Along("sex", {STEP: 1})},
        {"job": lw.Along("sex", table={STEP: {0.0: 1.0, 1.0: 2.0, 2.0: []}})},
    ),
    "a table and its inverse": (
        SPACE,
        {"job": lw.Along("sex", table={STEP: {0.0: 2.0, 2.0: 2.0}})},
        {"job": lw.Along("sex", table={(1.0, 0.0): {0.0: [], 1.0: 1.0, 2.0: [0.0, 2.0]}})},
    ),
    "a condition that always holds": (
        SPACE,
        {"income": lw.Along("sex", {STEP: -1})},
        {"income": lw.Along("sex", {STEP: -1}, where={"sector": [0.0, 1.0, 2.0], "job": [0.0, 1.0, 2.0]})},
    ),
    "a condition and its opposite": (
        SPACE,
        {"income": lw.Along("sex", {STEP: -1})},
        {
            "income": [
                lw.Along("sex", {STEP: -1}, where={"sector": [1.0]}),
                lw.Along("sex", {STEP: -1}, where={"sector": [0.0, 2.0]}),
            ]
        },
    ),
    "values and a range": (
        SPACE,
        {"job": lw.Along("sex", table=TABLE, where={"income": [1, 2]})},
        {"job": lw.Along("sex", table=TABLE, where={"income": {"from": 1, "to": 2}})},
    ),
    "the first that holds": (
        SPACE,
        {"income": lw.Along("sex", {STEP: -1}, where={"sector": [1.0]})},
        {
            "income": [
                lw.Along("sex", {STEP: 0}, where={"sector": [0.0, 2.0]}),
                lw.Along("sex", {STEP: -1}),
            ]
        },
    ),
}


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", ["affine", "tree"])
@pytest.mark.parametrize("said", list(SAYING_THE_SAME))
def test_two_ways_of_writing_one_claim(name, said):
    space, *both = SAYING_THE_SAME[said]
    model, _, _ = known(name, 1)
    claims = [lw.Similarity(free=["sex"], along=along) for along in both]
    one, two = (lw.measure(model, space, claim, X=EVERYBODY, budget=60) for claim in claims)
    assert one.lower == pytest.approx(two.lower, abs=1e-6)
    assert one.upper == pytest.approx(two.upper, abs=1e-6)
    verdicts = [lw.verify(model, space, claim, X=EVERYBODY, budget=60).verdict for claim in claims]
    assert verdicts[0] == verdicts[1] != "UNKNOWN"


@pytest.mark.parametrize("said", list(SAYING_THE_SAME))
def test_two_ways_of_writing_one_claim_have_the_same_pairs(said):
    space, *both = SAYING_THE_SAME[said]
    one, two = (pair_space(space, lw.Similarity(free=["sex"], along=along)) for along in both)
    for x, y in product(some(EXACT, 6, said), EXACT):
        assert one.valid(x, y) == two.valid(x, y)


def test_a_condition_that_always_holds_is_written_as_none():
    """And what uses nothing new is written as before."""
    model = MODELS["affine"]().fit(EVERYBODY, labels(1))
    _, *both = SAYING_THE_SAME["a condition that always holds"]
    lines = []
    for along in both:
        found = lw.verify(model, SPACE, lw.Similarity(free=["sex"], along=along), lw.ScoreGap(50), budget=60)
        lines.append(
            found.certificate.lines()[2] if hasattr(found.certificate, "lines") else _lines(found)[2]
        )
    assert lines[0] == lines[1]
    assert json.loads(lines[0])["similarity"][0] == {
        "kind": "along",
        "with": 3,
        "bands": [[0, 1, "-1", "-1"], [1, 0, "1", "1"]],
        "else": "0",
    }


def _lines(result) -> list[str]:
    import gzip

    return gzip.decompress(result.certificate.content).decode().splitlines()


# -- numbers that become tables ------------------------------------------------------------------------------------


def test_conditions_on_whole_numbers_that_the_model_has_a_table_of():
    """Codes of such a number start at 0 in the model's space, wherever they start in the user's: conditions move with them."""
    rows = pd.DataFrame(list(product(range(20, 26), range(4), range(2))), columns=["age", "pay", "sex"])
    columns = make_column_transformer(
        (SplineTransformer(n_knots=3), ["age"]), (OneHotEncoder(), ["sex"]), remainder="passthrough"
    )
    worth = (rows.age - 22) ** 2 * (1 + rows.sex) + 3 * rows.pay
    model = make_pipeline(columns, LinearRegression()).fit(rows, worth)
    space = lw.Space({"age": lw.Integer(20, 25), "pay": lw.Integer(0, 3), "sex": lw.Categorical([0, 1])})
    scores = dict(zip(rows.itertuples(index=False, name=None), model.predict(rows), strict=True))
    for start, end in ((20, 21), (22, 24), (25, 25)):
        similar = lw.Similarity(
            free=["sex"],
            along={"pay": lw.Along("sex", {(0, 1): -2}, where={"age": {"from": start, "to": end}})},
        )
        gaps = [
            abs(scores[age, pay, 0] - scores[age, pay - 2, 1])
            if start <= age <= end
            else abs(scores[age, pay, 0] - scores[age, pay, 1])
            for age, pay, sex in scores
            if sex == 0 and (pay >= 2 or not start <= age <= end)
        ]
        for factor, verdict in ((0.999, "BIASED"), (1.001, "FAIR")):
            found = lw.verify(model, space, similar, lw.ScoreGap(factor * max(gaps)), X=rows)
            assert found.verdict == verdict, (start, found.reason)
        found = lw.measure(model, space, similar, X=rows)
        assert found.upper == pytest.approx(max(gaps), abs=1e-5)


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["affine", "tree", "kernel"])
def test_a_rate_under_a_condition(name):
    """Income goes along with sector, as steps, of one sex only; by hand."""
    space = lw.Space({**SPACE.features, "sector": lw.Ordinal([0.0, 1.0, 2.0])})
    model = MODELS[name]().fit(EVERYBODY, labels(1))
    claim = lw.Similarity(
        within={"sector": 1},
        along={
            "income": [
                lw.Along("sector", rate=2, where={"sex": [1.0], "job": [0.0, 2.0]}),
                lw.Along("sector", rate=-1, where={"job": [1.0]}),
            ]
        },
    )
    scores, _ = exact_scores(model, space)
    truth = Fraction(0)
    for (x, a), (y, b) in product(zip(PEOPLE, scores, strict=True), repeat=2):
        rate = 2 if x[3] == 1 and x[1] != 1 else -1 if x[1] == 1 else 0
        grown = y[2] - x[2]
        if (x[1], x[3]) == (y[1], y[3]) and abs(grown) <= 1 and y[0] - x[0] == rate * grown:
            truth = max(truth, a[0] - b[0])
    found = lw.measure(model, space, claim, X=EVERYBODY, budget=60, certify=True)
    assert found.lower <= truth <= found.upper <= truth + Fraction(1, 10**5)
    assert found.certificate is not None


# -- what is refused, and words ------------------------------------------------------------------------------------

LEVELS = {STEP: {0.0: 1.0}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"along": {"job": JOBS}}, "'job' changes along with 'sex', which is the same"),
        ({"free": ["sex", "job"], "along": {"job": JOBS}}, "'job' both changes along and is free"),
        ({"free": ["sex"], "within": {"job": 1}, "along": {"job": JOBS}}, "by a table and is within"),
        ({"free": ["sex"], "along": {"income": JOBS}}, "'income' is integer, it has no levels"),
        ({"free": ["sex"], "along": {"job": lw.Along("sex", {STEP: 1})}}, "'job' is categorical"),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table={STEP: {7.0: 0.0}})}},
            "'job': unknown level 7",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table={STEP: {0.0: 7.0}})}},
            "'job': unknown level 7",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table={(0.0, 9.0): {0.0: 1.0}})}},
            "'sex': unknown level",
        ),
        ({"free": ["sex"], "along": {"job": lw.Along("sex", table={STEP: {0.0: 0.0}})}}, "never changes"),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table={STEP: {0.0: [], 1.0: [], 2.0: []}})}},
            "nobody has a counterpart",
        ),
        (
            {
                "free": ["sex"],
                "along": {"job": lw.Along("sex", table={STEP: {0.0: 1.0}, STEP[::-1]: {0.0: 1.0}})},
            },
            "contradict",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table=LEVELS, where={"sex": [0.0]})}},
            "may differ itself",
        ),
        (
            {
                "free": ["sex", "sector"],
                "along": {"job": lw.Along("sex", table=LEVELS, where={"sector": [0.0]})},
            },
            "condition on 'sector', which may differ",
        ),
        (
            {
                "free": ["sex"],
                "along": {"income": PAY, "job": lw.Along("sex", table=LEVELS, where={"income": [1]})},
            },
            "condition on 'income', which may differ",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table=LEVELS, where={"sektor": [0.0]})}},
            "'sektor'",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table=LEVELS, where={"sector": [9.0]})}},
            "unknown level",
        ),
        (
            {
                "free": ["sex"],
                "along": {"job": lw.Along("sex", table=LEVELS, where={"sector": {"from": 0.0}})},
            },
            "have no order",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table=LEVELS, where={"income": [1.5]})}},
            "none of its",
        ),
        (
            {"free": ["sex"], "along": {"job": lw.Along("sex", table=LEVELS, where={"income": {"from": 9}})}},
            "income is at least 9 never holds",
        ),
        ({"free": ["sex"], "along": {"income": [lw.Along("sex", {STEP: 1}), PAY]}}, "never counts"),
        (
            {"free": ["sex", "sector"], "along": {"income": [PAY, lw.Along("sector", {STEP: 1})]}},
            "another feature",
        ),
        (
            {"free": ["sex"], "along": {"job": [lw.Along("sex", {STEP: 1}, where={"income": [1]}), JOBS]}},
            "by numbers",
        ),
        ({"free": ["sex"], "along": {"income": []}}, "must map names"),
    ],
)
def test_what_is_refused(arguments, words):
    with pytest.raises(SpecError) as refused:
        lw.Similarity(**arguments).resolve(SPACE)
    assert words in f"{refused.value}", refused.value


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shift": {STEP: 1}, "table": LEVELS}, "one of the three"),
        ({}, "one of the three"),
        ({"table": {STEP: 1.0}}, "is no table"),
        ({"table": {STEP: "teacher"}}, "is no table"),
        ({"table": {STEP: ["engineer", "teacher"]}}, "is no table"),
        ({"table": {STEP: {}}}, "no table"),
        ({"table": [[0.0, 1.0]]}, "is no table"),
        ({"table": [[0.0, 1.0, 0.0]]}, "is no table"),
        ({"table": [[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 2.0]]}, "says twice"),
        ({"table": {(0.0, 0.0): {0.0: 1.0}}}, "two levels"),
        ({"table": LEVELS, "where": ["sector"]}, "map names to values"),
        ({"table": LEVELS, "where": {"sector": "public"}}, "list of values"),
        ({"table": LEVELS, "where": {"sector": []}}, "names no values"),
        ({"table": LEVELS, "where": {"age": {"form": 3}}}, "unknown key 'form'"),
        ({"table": LEVELS, "where": {"age": {}}}, "is no range"),
    ],
)
def test_what_is_no_equation(arguments, words):
    with pytest.raises(SpecError) as refused:
        lw.Along("sex", **arguments)
    assert words in f"{refused.value}", refused.value


def test_more_parts_than_are_proved_one_by_one_are_refused():
    many = lw.Space({"sex": lw.Categorical([0, 1]), "job": lw.Categorical(list(range(300)))})
    table = {(0, 1): {i: (i + 1) % 300 for i in range(300)}}
    with pytest.raises(SpecError, match="601 cases") as refused:
        pair_space(many, lw.Similarity(free=["sex"], along={"job": lw.Along("sex", table=table)}))
    assert "400" in refused.value.hint


def test_levels_that_stay_are_one_part():
    many = lw.Space({"sex": lw.Categorical([0, 1]), "job": lw.Categorical(list(range(300)))})
    pairs = pair_space(
        many, lw.Similarity(free=["sex"], along={"job": lw.Along("sex", table={(0, 1): {7: 8}})})
    )
    assert (
        len(pairs.branches) == 1 + 2 * 3
    )  # two runs and one that becomes another; back again one run ends before 7


def test_words_and_round_trips():
    for claim in CLAIMS.values():
        assert lw.Similarity.from_dict(json.loads(json.dumps(claim.to_dict()))) == claim
        assert eval(repr(claim), {"Similarity": lw.Similarity, "Along": lw.Along}) == claim  # noqa: S307
        assert hash(claim) == hash(claim.replace())
    assert CLAIMS["a table where paid"].describe(SPACE) == (
        "differ only in sex, and along with sex in job (from 0 to 1 2 becomes 0, 0 has no counterpart, where income is at least 2, "
        "or else from 0 to 1 0 becomes 2, 1 becomes 1 or 2)"
    )
    assert CLAIMS["shifts where"].along["income"] == tuple(PAYS)
    assert CLAIMS["a table"].along["job"] == JOBS
