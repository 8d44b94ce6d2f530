"""The tree, the end, refused leaves, and that the number of jobs changes nothing."""

import io
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from tests.check import samples
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    continuous,
    decision,
    integer,
    line,
    packed,
    proof,
    score,
    sealed,
    table,
    within,
)
from tests.tiers import some

from likewise_check import check
from likewise_check.core import cells, leaves
from likewise_check.core import proof as proofs
from likewise_check.core.affine import Affine
from likewise_check.core.rounding import Rounding, covers

LEAF = ["separable", "1/2"]


def tree(nodes, **options):
    features = [integer("n", 0, 3), continuous("c", 0, 1), categorical("s", ["f", "m"])]
    model = affine(0, [line(0, 1), line(1, 1), table(2, 1, [0, 1])])
    return checked(proof(features, [within(2), SAME, FREE], score(3), model, nodes), **options)


@pytest.mark.parametrize(
    "nodes",
    [
        [LEAF],
        [["split", 0, "0"], LEAF, LEAF],
        [["split", 0, "2"], ["split", 0, "1"], LEAF, LEAF, ["split", 1, "2"], LEAF, LEAF],
        [["split", 0, "2"], LEAF, ["split", 1, "2"], LEAF, LEAF],
        [["split", 2, "1/2"], LEAF, ["split", 2, "0x1.8p-1"], LEAF, LEAF],
        [["split", 3, "0"], ["split", 4, "0"], LEAF, LEAF, ["split", 4, "0"], LEAF, LEAF],
    ],
)
def test_complete_trees(nodes):
    report = tree(nodes)
    assert report.accepted, report.reason
    assert report.cells == len(nodes)
    assert report.rules == {"separable": (len(nodes) + 1) // 2}


@pytest.mark.parametrize(
    ("nodes", "reason", "node"),
    [
        ([], "not complete", 0),
        ([["split", 0, "0"]], "not complete", 1),
        ([["split", 0, "0"], LEAF], "not complete", 2),
        ([["split", 0, "0"], ["split", 1, "0"], LEAF, LEAF], "not complete", 4),
        ([LEAF, LEAF], "complete proof", 1),
        ([LEAF, ["split", 0, "0"], LEAF, LEAF], "complete proof", 1),
        ([["split", 0, "-1"], LEAF, LEAF], "lo <= at < hi", 0),
        ([["split", 0, "3"], LEAF, LEAF], "lo <= at < hi", 0),
        ([["split", 0, "1/2"], LEAF, LEAF], "whole number", 0),
        ([["split", 0, "1"], ["split", 0, "1"], LEAF, LEAF, LEAF], "lo <= at < hi", 1),
        ([["split", 0, "1"], LEAF, ["split", 0, "1"], LEAF, LEAF], "lo <= at < hi", 2),
        ([["split", 2, "0"], LEAF, LEAF], "lo < at < hi", 0),
        ([["split", 2, "1"], LEAF, LEAF], "lo < at < hi", 0),
        ([["split", 2, "1/2"], ["split", 2, "1/2"], LEAF, LEAF, LEAF], "lo < at < hi", 1),
        ([["split", 6, "0"], LEAF, LEAF], "variable from 0 to 5", 0),
        ([["split", -1, "0"], LEAF, LEAF], "variable must be", 0),
        ([["split", True, "0"], LEAF, LEAF], "variable must be", 0),
        ([["split", "0", "0"], LEAF, LEAF], "variable must be", 0),
        ([["split", 0, 0], LEAF, LEAF], "place of a split", 0),
        ([["split", 0], LEAF, LEAF], "3 entries", 0),
        ([["split", 0, "0", "0"], LEAF, LEAF], "only a continuous", 0),
        ([["split", 0, "0", "0", "0"], LEAF, LEAF], "4 entries", 0),
    ],
)
def test_broken_trees(nodes, reason, node):
    report = tree(nodes)
    assert not report.accepted
    assert reason in report.reason
    assert report.line == 6 + node


def test_limits(monkeypatch):
    monkeypatch.setattr(cells, "DEEPEST_TREE", 1)
    assert tree([["split", 0, "0"], LEAF, LEAF]).accepted
    assert "deeper than 1" in tree([["split", 0, "0"], ["split", 1, "0"], LEAF, LEAF, LEAF]).reason
    monkeypatch.setattr(proofs, "MOST_NODES", 2)
    assert "more than 2" in tree([["split", 0, "0"], LEAF, LEAF]).reason


def test_ten_thousand_deep():
    splits = [["split", 0, str(at)] for at in range(9_999, -1, -1)]
    model = affine(0, [line(0, 1)])
    nodes = [*splits, *[LEAF] * 10_001]
    assert checked(proof([integer("n", 0, 10_000)], [SAME], score(0), model, nodes)).accepted


# --- the end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("nodes", 2, "must state 3 nodes"),
        ("nodes", "3", "must state 3 nodes"),
        ("nodes", None, "must state 3 nodes"),
        ("clearance", "1500000001/1000000000", "above the smallest of the leaves, 1.5"),
        ("clearance", "-1/1000", "below 0"),
        ("clearance", 1, "number"),
        ("clearance", "0", "covers_floating_point"),
        ("covers_floating_point", False, "covers_floating_point"),
        ("covers_floating_point", 1, "covers_floating_point"),
        ("covers_floating_point", None, "covers_floating_point"),
        ("more", 1, "exactly the keys"),
    ],
)
def test_wrong_ends(key, value, reason):
    values = samples.gap()
    values[-1]["end"][key] = value
    report = checked(values)
    assert reason in report.reason
    assert report.line == 9
    assert report.clearance is None
    assert not report.covers_floating_point


@pytest.mark.parametrize("sample", [samples.gap, samples.refuted])
@pytest.mark.parametrize("digest", ["", "0" * 64, 7, None])
def test_the_seal(sample, digest):
    lines = sealed(sample())
    start, _, rest = lines[-1].partition(b'"sha256":"')
    shown = {None: b"null", 7: b"7"}.get(digest, b'"%s"' % str(digest).encode())
    lines[-1] = start + b'"sha256":' + shown + rest[65:]
    assert "sha256" in check(io.BytesIO(packed(lines))).reason


def test_ends_of_the_wrong_sort():
    values = samples.gap()
    values[-1] = {"end": {"sha256": ""}}
    assert "exactly the keys" in checked(values).reason
    values[-1] = {"witness": {}}
    assert "exactly the keys" in checked(values).reason
    values = samples.gap()
    values[0]["kind"] = "witness"
    assert not checked(values).accepted
    values = samples.refuted()
    values[0]["kind"] = "proof"
    assert not checked(values).accepted


def test_nothing_covers_how_a_program_rounds_probabilities():
    values = samples.likely()
    values[-1]["end"]["covers_floating_point"] = True
    assert "covers_floating_point" in checked(values).reason


def test_a_claim_about_nobody():
    values = samples.constrained()
    values[1]["space"]["constraints"].append({"text": "never", "terms": [], "bound": "-1"})
    values[5:-1] = [["empty", ["0", "0", "1", "0", "0", "0"]]]
    values[-1]["end"]["nodes"] = 1
    assert "nobody" in checked(values).reason


def rounded(clearance, operations, sizes=("1",), constant="0"):
    extents = tuple(Fraction(3) for _ in sizes)
    body = Affine(
        constant=Fraction(0),
        tables=(),
        linear=(),
        curves=(),
        extents=extents,
        bias=Fraction(0),
        weights=(Fraction(1),) * len(extents),
        tame=True,
    )
    described = {"sizes": list(sizes), "constant": constant, "operations": operations}
    return covers(clearance, body.read_rounding(described))


@pytest.mark.parametrize("operations", [1, 2, 3, 7, 64, pytest.param(2400, marks=pytest.mark.slow)])
def test_rounding_error_is_exact(operations):
    error = 3 * ((1 + Fraction(1, 2**53)) ** operations - 1) + Fraction(2 * operations, 2**700)
    assert not rounded(error, operations)
    assert rounded(error + Fraction(1, 2**20000), operations)
    assert not rounded(error - Fraction(1, 2**20000), operations)


def test_rounding_error_of_many_operations():
    assert rounded(Fraction(3 * 10**7 + 1, 2**53), 10**7)
    assert not rounded(Fraction(3 * 10**7, 2**53), 10**7)
    enough = 3 * ((1 + Fraction(1, 2**53)) ** 5000 - 1)
    assert rounded(enough + Fraction(1, 10**100), 5000)
    with pytest.raises(Exception, match="closer to the rounding error"):
        rounded(enough + Fraction(2 * 5000, 2**700), 5000)


def test_numbers_on_the_way_that_may_be_too_large_are_never_covered():
    for bits, largest in ((24, 120), (53, 1000)):
        enough = Fraction(2 ** (largest - 1))
        near = Rounding(magnitude=Fraction(2 ** (largest - 5)), operations=6, bits=bits)
        assert covers(enough, near)  # 2 * 7 times as large is still in the range
        assert not covers(enough, replace(near, operations=15))
        assert not covers(enough, replace(near, fits=False))


# --- refused leaves --------------------------------------------------------------------------------


def several(count: int = 700) -> list:
    """A comb of leaves, every hundredth of which does not hold."""
    features, model = (
        [integer("n", 0, count), categorical("s", ["f", "m"])],
        affine(0, [line(0, 1), table(1, 1, [0, 1])]),
    )
    nodes = []
    for i in range(count):
        nodes += [["split", 0, str(i)], ["separable", "1/2"] if i % 100 else ["independent"]]
    return proof(features, [SAME, FREE], score(1), model, [*nodes, ["separable", "1/2"]])


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("refusals", "found"), [(1, 1), (3, 3), (7, 7), (100, 7)])
def test_refused_leaves_are_collected(jobs, refusals, found):
    report = checked(several(), jobs=jobs, refusals=refusals)
    assert not report.accepted
    assert report.refused == tuple(200 * i + 1 for i in range(found))
    assert "independent" in report.reason
    assert report.line == 7


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_comes_first_in_the_file_is_reported(jobs):
    values = several()
    values[5 + 1] = ["separable", "1/2"]  # the first refused leaf holds now; the next one is node 201
    values[5 + 401] = ["unknown"]
    report = checked(values, jobs=jobs, refusals=5)
    assert (report.line, report.refused) == (207, (201,))
    values[5 + 5] = ["unknown"]
    report = checked(values, jobs=jobs, refusals=5)
    assert (report.line, report.refused) == (11, ())
    assert "unknown rule" in report.reason
    values[5 + 5] = ["separable", "1/2"]
    values[5 + 1000] = ["split", 7, "0"]
    report = checked(values, jobs=jobs, refusals=5)
    assert (report.line, report.refused) == (207, (201,))


@pytest.mark.parametrize("jobs", [2, 3])
def test_jobs_change_nothing(jobs, monkeypatch):
    monkeypatch.setattr(leaves, "BATCH", 2)
    monkeypatch.setattr(leaves, "MOST_PENDING", 1)
    good = several()
    for i in range(0, 1400, 200):
        good[5 + i + 1] = ["separable", "1/2"]
    for values in [*(sample() for sample in some([*samples.PROOFS, *samples.WITNESSES], 4)), good]:
        one, more = checked(values).to_dict(), checked(values, jobs=jobs).to_dict()
        assert one["accepted"]
        del one["seconds"], more["seconds"]
        assert one == more


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_check_that_is_out_of_time_accepts_nothing(jobs):
    good = several()
    for i in range(0, 1400, 200):
        good[5 + i + 1] = ["separable", "1/2"]
    late = checked(good, jobs=jobs, seconds=0)
    assert not late.accepted
    assert not late.finished
    assert "time" in late.reason
    assert late.reason in late.in_words()
    assert late.clearance is None
    in_time = checked(good, jobs=jobs, seconds=1e6)
    assert in_time.accepted
    assert in_time.finished
    assert checked(samples.gap(), jobs=jobs).finished


@pytest.mark.parametrize("dies_at", [0, 3])
def test_what_a_worker_that_dies_was_to_judge_is_judged_here(monkeypatch, dies_at):
    """At once, or in the middle: the answer is that of one process, also where leaves are refused."""
    monkeypatch.setattr(leaves, "BATCH", 2)
    monkeypatch.setattr(leaves, "MOST_PENDING", 3)
    good = several()
    for i in range(0, 1400, 200):
        good[5 + i + 1] = ["separable", "1/2"]
    for values in (samples.gap(), good, several()):
        alone = checked(values, refusals=5).to_dict()
        with monkeypatch.context() as patched:
            patched.setattr(leaves, "_judge_in_worker", partial(_die_at, dies_at))
            dead = checked(values, jobs=2, refusals=5).to_dict()
        del alone["seconds"], dead["seconds"]
        assert dead == alone


judged = []


def _die_at(batches, *asked):
    """In a worker process: judge so many batches, and die."""
    judged.append(asked)
    if len(judged) > batches:
        os._exit(1)
    return leaves._judge.judge(*asked)


def test_processes_that_cannot_be_started_are_not_needed(monkeypatch):
    class Refuses(ProcessPoolExecutor):
        def submit(self, *_, **__):
            raise OSError("no more processes")

    monkeypatch.setattr(leaves, "ProcessPoolExecutor", Refuses)
    assert checked(samples.gap(), jobs=2).accepted


def test_what_a_worker_process_does(monkeypatch):
    monkeypatch.setattr(leaves, "_judge", None, raising=False)
    asked = []
    with monkeypatch.context() as here:  # Ctrl-C is ignored in a worker, not in this process
        here.setattr(signal, "signal", lambda *what: asked.append(what))
        leaves._start_worker(None)
    assert asked == [(signal.SIGINT, signal.SIG_IGN)]
    late = leaves._judge_in_worker([(3, 9, ["unknown"], (), None)], 1, -1.0)
    assert late.late
    assert late.malformed is None
    tally = leaves._judge_in_worker([(3, 9, ["unknown"], (), None)], 1, 60.0)
    assert not tally.late
    assert tally.malformed == (
        "unknown rule; known: split, separable, empty, enumerated, independent, kernel, chords, polynomial, sos, trees, network, sum, nested, mixed, identical, slope, softmax, odds",
        9,
    )


def test_progress():
    seen = []
    assert checked(several(), progress=seen.append, refusals=100).refused
    assert seen == [1000]


def test_wrong_use():
    for options in ({"jobs": 0}, {"refusals": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            check(io.BytesIO(b""), **options)


def test_interrupts_pass():
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checked(several(), progress=stop, refusals=100)


def test_both_zero_labels_and_margins():
    assert checked(samples.upper()).accepted
    values = samples.upper()
    values[4]["model"]["head"]["zero"] = "lower"
    assert not checked(values).accepted
    values = samples.gap()
    values[3]["property"] = decision(-2)
    assert not checked(values).accepted
