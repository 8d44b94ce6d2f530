"""Features that change along by tables and under conditions (section 26): who is a pair, the parts and their order, what is well formed, and that a proof shows the largest gap of all pairs and no less.

The brute force reads the similarity line by itself, as the specification says it, and shares no code with the checker.
"""

import copy
import random
from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    continuous,
    integer,
    line,
    number,
    ordinal,
    pairs,
    proof,
    score,
    table,
    within,
    witness,
)
from tests.check.kernels import seeds

from likewise_check.core.cells import Tree
from likewise_check.core.fields import Rejected
from likewise_check.core.space import read_similarity, read_space
from likewise_check.packs.along import limit

SEX, JOB, SECTOR, YEARS = range(4)
FEATURES = [
    categorical("sex", ["f", "m"]),
    categorical("job", ["engineer", "nurse", "teacher"]),
    categorical("sector", ["public", "private", "none"]),
    integer("years", 3, 6),
]
MODEL = affine(
    0, [table(SEX, 1, [0, 10]), table(JOB, 1, [5, 1, 0]), table(SECTOR, 1, [0, 3, 9]), line(YEARS, 1)]
)
LEAF = ["separable", "1/2"]
# From m to f engineers become teachers, and all others stay; in the public sector only.
M_TO_F = [[0, 2], [1, 1], [2, 2]]
F_TO_M = [[1, 1], [2, 0], [2, 2]]
PUBLIC = [[SECTOR, [[0, 0]]]]


def tabled(*cases, j=SEX) -> dict:
    return {"kind": "along", "with": j, "cases": [{"where": w, "tables": t} for w, t in cases]}


def banded(*cases, j=SEX, rest=0) -> dict:
    rows = [
        {"where": where, "bands": [[*step, number(low), number(high)] for *step, low, high in bands]}
        for where, bands in cases
    ]
    return {"kind": "along", "with": j, "cases": rows, "else": number(rest)}


JOBS = tabled((PUBLIC, [[0, 1, F_TO_M], [1, 0, M_TO_F]]))
LINE = [FREE, JOBS, SAME, SAME]


# -- the specification, read once more ---------------------------------------------------------------------------


def codes_of(feature: dict) -> list[int]:
    if "levels" in feature:
        return list(range(len(feature["levels"])))
    return list(range(int(feature["lo"]), int(feature["hi"]) + 1))


def keeps(relation: dict, k: int, x, y) -> bool:
    """Whether feature k of (x, y) keeps its relation."""
    kind = relation["kind"]
    if kind == "same":
        return x[k] == y[k]
    if kind == "free":
        return True
    if kind == "within":
        return abs(x[k] - y[k]) <= Fraction(relation["tolerance"])
    if kind == "pairs":
        return x[k] == y[k] or sorted((x[k], y[k])) in relation["allowed"]
    j = relation["with"]
    cases = relation.get("cases") or [{"where": [], "bands": relation["bands"]}]
    for case in cases:
        if all(any(lo <= x[c] <= hi for lo, hi in spans) for c, spans in case["where"]):
            for i, other, allowed in case.get("tables", ()):
                if (x[j], y[j]) == (i, other):
                    return [x[k], y[k]] in allowed
            for *step, low, high in case.get("bands", ()):
                if step == ([x[j], y[j]] if len(step) == 2 else [y[j] - x[j]]):
                    return Fraction(low) <= y[k] - x[k] <= Fraction(high)
            break
    return abs(y[k] - x[k]) <= Fraction(relation.get("else", "0"))


def all_pairs(features, similarity) -> list[tuple]:
    everybody = list(product(*map(codes_of, features)))
    return [
        (x, y)
        for x in everybody
        for y in everybody
        if all(keeps(relation, k, x, y) for k, relation in enumerate(similarity))
    ]


def score_of(x) -> int:
    return 10 * x[SEX] + (5, 1, 0)[x[JOB]] + (0, 3, 9)[x[SECTOR]] + x[YEARS]


def widest(similarity) -> Fraction:
    return Fraction(max(score_of(x) - score_of(y) for x, y in all_pairs(FEATURES, similarity)))


def parts_of(features, similarity):
    space = read_space({"space": {"features": features, "constraints": []}})
    return space, list(read_similarity({"similarity": similarity}, space).limit.parts())


def in_part(space, part, x, y) -> bool:
    """Whether a pair satisfies the relations of a part and lies in its root."""
    for relation, box, code, other in zip(part, Tree(space, part).cell, x, y, strict=True):
        first, second = box.intervals[0], box.intervals[-1]
        if not (
            relation.allows(code, other) and first[0] <= code <= first[1] and second[0] <= other <= second[1]
        ):
            return False
        if box.difference and not box.difference[0][0] <= other - code <= box.difference[0][1]:
            return False
    return True


# -- examples -----------------------------------------------------------------------------------------------------


def random_table(rng: random.Random, levels: int) -> list:
    found = [[v, w] for v in range(levels) for w in range(levels) if rng.random() < 0.45]
    return found or [[rng.randrange(levels), rng.randrange(levels)]]


def mirrored_tables(rng: random.Random, levels: int, places: int) -> list:
    steps = [(i, j) for i in range(levels) for j in range(i)]
    rows = []
    for i, j in rng.sample(steps, rng.randint(1, len(steps))):
        allowed = random_table(rng, places)
        rows += [[i, j, allowed], [j, i, sorted([w, v] for v, w in allowed)]]
    return sorted(rows)


def mirrored_bands(rng: random.Random, steps: list[tuple]) -> list:
    rows = []
    for step in rng.sample(steps, rng.randint(1, len(steps))):
        low = rng.randint(-2, 2)
        high = low + rng.choice([0, 0, 1])
        turned = step[::-1] if len(step) == 2 else (-step[0],)
        rows += [(*step, low, high), (*turned, -high, -low)]
    return sorted(rows)


def random_condition(rng: random.Random, c: int, codes: list[int]) -> list:
    spans, at = [], codes[0]
    while at <= codes[-1]:
        end = rng.randint(at, codes[-1])
        if rng.random() < 0.6:
            spans.append([at, end])
        at = end + 1
    return [c, spans or [[codes[-1], codes[-1]]]]


def random_where(rng: random.Random, shared: list[int], features) -> list:
    return [random_condition(rng, c, codes_of(features[c])) for c in shared if rng.random() < 0.6]


def random_line(rng: random.Random) -> tuple[list, list]:
    """A small space and a similarity line: a leader by levels, one by differences, followers of both sorts, shared features."""
    features = [
        categorical("a", "uvw"[: rng.randint(2, 3)]),
        integer("b", 0, 2),
        rng.choice([categorical("c", "xyz"), ordinal("c", "xyz")]),
        integer("d", -1, 2),
        categorical("e", "pqr"),
        integer("f", 4, 6),
    ]
    leader = rng.choice([FREE, pairs((0, 1))])
    size, shared = len(features[0]["levels"]), [4, 5]
    tables = [
        (random_where(rng, shared, features), mirrored_tables(rng, size, 3)) for _ in range(rng.randint(1, 3))
    ]
    levels = [(i, j) for i in range(size) for j in range(i)]
    by, steps = rng.choice([(0, levels), (1, [(1,)])])
    bands = [
        (random_where(rng, shared, features), mirrored_bands(rng, steps)) for _ in range(rng.randint(1, 2))
    ]
    numbers = banded(*bands, j=by, rest=rng.choice([0, 1]))
    return features, [leader, within(1), tabled(*tables, j=0), numbers, SAME, SAME]


def random_pairs(rng: random.Random, features, count: int) -> list[tuple]:
    """Two who mostly share what is shared, so that many of them are similar."""
    found = []
    for _ in range(count):
        x = [rng.choice(codes_of(feature)) for feature in features]
        y = [
            code if rng.random() < 0.4 or k > 3 else rng.choice(codes_of(features[k]))
            for k, code in enumerate(x)
        ]
        if rng.random() < 0.05:
            y[5] = rng.choice(codes_of(features[5]))
        found.append((tuple(x), tuple(y)))
    return found


@pytest.mark.some_days
@seeds(5, 25)
def test_every_pair_is_in_exactly_one_part_and_nobody_else_is_in_any(seed):
    rng = random.Random(seed)
    features, similarity = random_line(rng)
    space, found = parts_of(features, similarity)
    read = read_similarity({"similarity": similarity}, space)
    similar = 0
    for x, y in random_pairs(rng, features, 120):
        asked, turned = (
            all(keeps(relation, k, *both) for k, relation in enumerate(similarity))
            for both in ((x, y), (y, x))
        )
        similar += asked
        assert sum(in_part(space, part, x, y) for part in found) == asked
        exact = [Fraction(code) for code in x], [Fraction(code) for code in y]
        allowed = all(r.allows(*both) for r, *both in zip(read, *exact, strict=True))
        assert (allowed and read.limit.allows(*exact)) == asked
        assert turned == asked  # pairs have no first and second
    assert 5 < similar < 115


def test_parts_come_by_steps_then_segments_then_moves():
    similarity = [
        FREE,
        tabled((PUBLIC, [[0, 1, F_TO_M], [1, 0, M_TO_F]]), ([], [[0, 1, [[0, 0]]], [1, 0, [[0, 0]]]])),
        SAME,
        SAME,
    ]
    _, found = parts_of(FEATURES, similarity)
    told = [(part[SEX].fixed, part[SECTOR].inside, part[JOB].inside or part[JOB].fixed) for part in found]
    assert told == [
        (None, None, None),
        ((0, 1), (0, 0), (1, 2)),
        ((0, 1), (0, 0), (2, 0)),
        ((0, 1), (1, 2), (0, 0)),
        ((1, 0), (0, 0), (1, 2)),
        ((1, 0), (0, 0), (0, 2)),
        ((1, 0), (1, 2), (0, 0)),
    ]
    assert [part[JOB].kind for part in found] == [
        "same",
        *("same", "free", "same") * 2,
    ]


def test_segments_are_cut_by_conditions_of_relations_that_are_awake_alone():
    features = [*FEATURES, categorical("race", "ab"), integer("wage", 0, 5)]
    shift = banded(([[YEARS, [[4, 4], [5, 6]]]], [(0, 1, 1, 1), (1, 0, -1, -1)]), j=4)
    _, found = parts_of(features, [FREE, JOBS, SAME, SAME, FREE, shift])
    told = [(part[SEX].fixed, part[4].fixed, part[SECTOR].inside, part[YEARS].inside) for part in found]
    years = [(3, 3), (4, 4), (5, 6)]
    assert told[:7] == [
        (None, None, None, None),
        *((None, (0, 1), None, span) for span in years),
        *((None, (1, 0), None, span) for span in years),
    ]
    assert told[7:10] == [((0, 1), None, (0, 0), None)] * 2 + [((0, 1), None, (1, 2), None)]
    assert len(found) == 7 + 2 * (3 + 2 * 3 * 3)


# -- proofs and witnesses -----------------------------------------------------------------------------------------

SHIFTS = [(0, 1, 1, 2), (1, 0, -2, -1)]
CLAIMS = {
    "a table": [FREE, tabled(([], [[0, 1, F_TO_M], [1, 0, M_TO_F]])), SAME, SAME],
    "a table under a condition": LINE,
    "two cases": [
        FREE,
        tabled((PUBLIC, [[0, 1, F_TO_M], [1, 0, M_TO_F]]), ([], [[0, 1, [[0, 1]]], [1, 0, [[1, 0]]]])),
        SAME,
        SAME,
    ],
    "a shift under a condition": [FREE, SAME, SAME, banded((PUBLIC, SHIFTS))],
    "a shift with a range": [FREE, SAME, SAME, banded(([[SECTOR, [[0, 0], [2, 2]]]], SHIFTS), rest=1)],
    "both": [
        FREE,
        JOBS,
        SAME,
        banded((PUBLIC, SHIFTS), ([[SECTOR, [[1, 1]]]], [(0, 1, -1, -1), (1, 0, 1, 1)])),
    ],
    "beside a tolerance": [
        FREE,
        tabled(([[SECTOR, [[1, 2]]]], [[0, 1, F_TO_M], [1, 0, M_TO_F]])),
        SAME,
        within(1),
    ],
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_proof_shows_the_largest_gap_of_all_pairs_and_no_less(name):
    similarity = CLAIMS[name]
    count = len(parts_of(FEATURES, similarity)[1])
    largest = widest(similarity)
    for delta, holds in ((largest, True), (largest - Fraction(1, 100), False)):
        report = checked(proof(FEATURES, similarity, score(delta), MODEL, [LEAF] * count))
        assert report.accepted is holds, report.reason
    for nodes in (count - 1, count + 1):
        assert not checked(proof(FEATURES, similarity, score(largest), MODEL, [LEAF] * nodes)).accepted


@pytest.mark.parametrize("name", CLAIMS)
def test_a_witness_is_a_pair_of_the_claim(name):
    similarity, rng = CLAIMS[name], random.Random(1)
    similar = set(all_pairs(FEATURES, similarity))
    everybody = list(product(*map(codes_of, FEATURES)))
    several = [
        (x, y)
        for x, y in product(everybody, repeat=2)
        if score_of(x) - score_of(y) > 1 and x[SECTOR] == y[SECTOR]
    ]
    for x, y in rng.sample(several, 60):
        scores = [score_of(x), score_of(y)]
        report = checked(witness(FEATURES, similarity, score(1), MODEL, x, y, scores))
        assert report.accepted is ((x, y) in similar), report.reason


def changed_places(value, path=()):
    """Every whole number of a relation, by the way to it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from changed_places(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from changed_places(item, (*path, i))
    elif isinstance(value, int):
        yield path


@pytest.mark.parametrize("name", CLAIMS)
def test_every_number_of_a_relation_counts(name):
    """Whatever number is another one: the claim is no more well formed, or it is about other pairs, and the leaves show the largest gap of those, and no less."""
    similarity = CLAIMS[name]
    for path in changed_places(similarity):
        for step in (-1, 1):
            mutant = copy.deepcopy(similarity)
            place = mutant
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] += step
            try:
                count = len(parts_of(FEATURES, mutant)[1])
            except Rejected:
                continue
            largest = widest(mutant)
            for delta, holds in ((largest, True), (largest - Fraction(1, 100), False)):
                report = checked(proof(FEATURES, mutant, score(delta), MODEL, [LEAF] * count))
                assert report.accepted is holds, (path, report.reason)


def test_a_proof_of_a_narrower_claim_is_none_of_a_wider_one():
    """The leaves that show a gap of fewer pairs do not show it of more: by a table that allows more, and by a condition of one that allows less."""
    small = [[0, 1, [[0, 0], [2, 1], [2, 2]]], [1, 0, [[0, 0], [1, 2], [2, 2]]]]
    large = [[0, 1, [[0, 0], [2, 0], [2, 1], [2, 2]]], [1, 0, [[0, 0], [0, 2], [1, 2], [2, 2]]]]
    everywhere = [[SECTOR, [[0, 2]]]]
    narrow = [
        [FREE, tabled((everywhere, small)), SAME, SAME],
        [FREE, tabled((everywhere, small), ([], large)), SAME, SAME],
    ]
    wide = [
        [FREE, tabled((everywhere, large)), SAME, SAME],
        [FREE, tabled((PUBLIC, small), ([], large)), SAME, SAME],
    ]
    for less, more in zip(narrow, wide, strict=True):
        gap = widest(less)
        assert gap < widest(more)
        count = len(parts_of(FEATURES, less)[1])
        assert checked(proof(FEATURES, less, score(gap), MODEL, [LEAF] * count)).accepted
        for nodes in range(1, 2 * count + 4):
            assert not checked(proof(FEATURES, more, score(gap), MODEL, [LEAF] * nodes)).accepted


def test_one_case_without_conditions_says_what_bands_say():
    plain = {"kind": "along", "with": 0, "bands": banded(([], SHIFTS))["cases"][0]["bands"], "else": "1"}
    assert (
        parts_of(FEATURES, [FREE, SAME, SAME, plain])[1]
        == parts_of(FEATURES, [FREE, SAME, SAME, banded(([], SHIFTS), rest=1)])[1]
    )


def test_an_ordinal_by_a_table_is_one_by_steps():
    features = [FEATURES[0], ordinal("job", ["a", "b", "c"]), *FEATURES[2:]]
    up, down = [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2]], [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2]]
    by_table = [FREE, tabled((PUBLIC, [[0, 1, up], [1, 0, down]])), SAME, SAME]
    by_steps = [FREE, banded((PUBLIC, [(0, 1, 0, 1), (1, 0, -1, 0)])), SAME, SAME]
    assert all_pairs(features, by_table) == all_pairs(features, by_steps)
    for similarity in (by_table, by_steps):
        count = len(parts_of(features, similarity)[1])
        largest = max(score_of(x) - score_of(y) for x, y in all_pairs(features, similarity))
        for delta, holds in ((largest, True), (largest - 1, False)):
            assert checked(proof(features, similarity, score(delta), MODEL, [LEAF] * count)).accepted is holds


def test_the_claim_says_tables_and_conditions():
    report = checked(proof(FEATURES, LINE, score(20), MODEL, [LEAF] * 7))
    assert report.accepted
    assert "along" in report.packs
    assert report.decided is None
    assert (
        "'job' changes along with 'sex', where 'sector' is 'public' from 'f' to 'm' ('engineer' has no counterpart, 'teacher' becomes 'engineer' or 'teacher', all others stay), "
        "from 'm' to 'f' ('engineer' becomes 'teacher', all others stay), and is the same otherwise"
    ) in report.claim
    similarity = [FREE, SAME, SAME, banded((PUBLIC, SHIFTS), ([[SECTOR, [[1, 1]]]], SHIFTS))]
    report = checked(proof(FEATURES, similarity, score(20), MODEL, [LEAF] * 7))
    assert (
        "'years' changes along with 'sex', where 'sector' is 'public' by 1 to 2 from 'f' to 'm', by -2 to -1 from 'm' to 'f', or else where 'sector' is 'private'"
        in report.claim
    )


# -- what is not well formed --------------------------------------------------------------------------------------

BOTH = [[0, 1, F_TO_M], [1, 0, M_TO_F]]


def with_where(*where) -> list:
    return [FREE, tabled((list(where), BOTH)), SAME, SAME]


@pytest.mark.parametrize(
    ("similarity", "why"),
    [
        ([FREE, tabled(([], [[1, 0, M_TO_F]])), SAME, SAME], "mirrored"),
        ([FREE, tabled(([], [[0, 1, F_TO_M], [1, 0, M_TO_F[1:]]])), SAME, SAME], "mirrored"),
        ([FREE, tabled(([], BOTH[::-1])), SAME, SAME], "increasing"),
        ([FREE, tabled(([], [[0, 0, [[0, 0]]]])), SAME, SAME], "step"),
        ([FREE, tabled(([], [[0, 1, []], [1, 0, []]])), SAME, SAME], "at least one"),
        ([FREE, tabled(([], [[0, 1, F_TO_M[::-1]], [1, 0, M_TO_F]])), SAME, SAME], "increasing"),
        ([FREE, tabled(([], [[0, 1, [[0, 3]]], [1, 0, [[3, 0]]]])), SAME, SAME], "from 0 to 2"),
        ([FREE, tabled(([], [[0, 2, F_TO_M], [2, 0, M_TO_F]])), SAME, SAME], "from 0 to 1"),
        ([FREE, tabled(), SAME, SAME], "cases"),
        ([FREE, tabled(([], [])), SAME, SAME], "tables"),
        ([FREE, {**JOBS, "else": "0"}, SAME, SAME], ""),
        ([FREE, {**JOBS, "bands": []}, SAME, SAME], ""),
        ([FREE, SAME, SAME, {key: v for key, v in banded(([], SHIFTS)).items() if key != "else"}], ""),
        ([FREE, SAME, SAME, tabled(([], BOTH))], "levels kinds"),
        ([FREE, banded(([], SHIFTS)), SAME, SAME], "categorical"),
        ([SAME, tabled(([], BOTH)), SAME, SAME], "may differ"),
        ([FREE, SAME, tabled(([], BOTH), j=YEARS), within(1)], "goes along with levels"),
        ([FREE, SAME, SAME, banded(([], [(0, 1, 1, 1), (1, 0, -1, -2)]))], "above high"),
        ([FREE, SAME, SAME, banded(([], [(0, 1, 1, 1)]))], "mirrored"),
        ([FREE, SAME, SAME, banded(([], SHIFTS), rest=-1)], "below 0"),
        ([FREE, SAME, SAME, banded(([], SHIFTS), rest="1/2")], "whole"),
        (with_where([SECTOR, []]), "intervals"),
        (with_where([SECTOR, [[1, 0]]]), "ends before"),
        (with_where([SECTOR, [[0, 1], [1, 2]]]), "increasing"),
        (with_where([SECTOR, [[0, 3]]]), "from 0 to 2"),
        (with_where([YEARS, [[2, 4]]]), "from 3 to 6"),
        (with_where([YEARS, [[4, 4]]], [SECTOR, [[0, 0]]]), "strictly increasing"),
        (with_where([SECTOR, [[0, 0]]], [SECTOR, [[1, 1]]]), "strictly increasing"),
        (with_where([SEX, [[0, 0]]]), "not the same"),
        (with_where([JOB, [[0, 0]]]), "not the same"),
        (with_where([7, [[0, 0]]]), "from 0 to 3"),
        ([FREE, tabled(([[YEARS, [[4, 4]]]], BOTH)), SAME, within(1)], "not the same"),
        ([FREE, tabled(([[YEARS, [[4, 4]]]], BOTH)), SAME, banded(([], SHIFTS))], "not the same"),
    ],
)
def test_relations_that_are_not_well_formed_are_rejected(similarity, why):
    report = checked(proof(FEATURES, similarity, score(100), MODEL, [LEAF] * 7))
    assert not report.accepted
    assert why in report.reason, report.reason


def test_conditions_on_numbers_that_are_not_whole_or_missing_are_rejected():
    for last in (continuous("years", 3, 6), {**integer("years", 3, 6), "missing": True}):
        report = checked(
            proof([*FEATURES[:3], last], with_where([YEARS, [[4, 4]]]), score(100), MODEL, [LEAF] * 7)
        )
        assert not report.accepted
        assert "neither whole" in report.reason


@pytest.mark.parametrize("most", [100, pytest.param(limit.MOST_PARTS, marks=pytest.mark.slow)])
def test_more_parts_than_allowed_are_rejected(most, monkeypatch):
    monkeypatch.setattr(limit, "MOST_PARTS", most)
    features = [*FEATURES[:3], integer("years", 0, most)]
    spans = [[2 * i, 2 * i] for i in range(most // 5)]
    report = checked(proof(features, with_where([YEARS, spans]), score(10**6), MODEL, [LEAF] * (most + 1)))
    assert not report.accepted
    assert "parts" in report.reason
