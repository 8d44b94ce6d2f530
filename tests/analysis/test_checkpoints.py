"""Audits, shares and regions that are interrupted, and taken up again from their files."""

import os
import signal
from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import likewise as lw
from likewise.analysis import region_search, row_claim, row_search, share_enumeration, share_sample
from likewise.analysis.partition import proofs
from likewise.search import checkpoint

SPACE = lw.Space(
    {
        "x": lw.Continuous(0, 4),
        "y": lw.Continuous(0, 4),
        "c": lw.Categorical(["a", "b", "d"]),
        "n": lw.Integer(0, 9),
    }
)
SIMILAR = lw.Similarity(free=["c"])


@pytest.fixture(autouse=True)
def at_every_look(monkeypatch):
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1e9)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "analysis.checkpoint"


def rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": random.uniform(0, 4, 80),
            "y": random.uniform(0, 4, 80),
            "c": random.integers(0, 3, 80),
            "n": random.integers(0, 10, 80),
        }
    )
    return X, X["x"] + X["y"] / 2 + (X["c"] == 1) + X["n"] / 9 > 4


@pytest.fixture(scope="module")
def forest():
    X, y = rows()
    return RandomForestClassifier(6, max_depth=4, random_state=0).fit(X, y), CODED


CODED = SPACE.replace({"c": lw.Integer(0, 2)})


class Stop:
    """A listener that ends the run at the so-many-th telling of a stage."""

    def __init__(self, stage, times):
        self.stage, self.times = stage, times

    def __call__(self, snapshot):
        if self.stage in snapshot.stage:
            self.times -= 1
            if self.times == 0:
                os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.some_days
def test_a_bracket_is_taken_up_again(forest, file):
    model, space = forest
    asked = {"method": "certified", "checkpoint": file, "budget": 60}
    first = lw.share(model, space, SIMILAR, progress=Stop("settling", 3), **asked)
    assert first.reason.startswith("interrupted")
    again = lw.share(model, space, SIMILAR, resume=True, progress=Stop("settling", 20), **asked)
    assert first.lower <= again.lower <= again.upper <= first.upper
    assert again.upper - again.lower < first.upper - first.lower
    assert again.stats["cells"] > first.stats["cells"]
    once_more = lw.share(model, space, SIMILAR, resume=True, **{**asked, "budget": 0})
    assert (once_more.lower, once_more.upper) == (again.lower, again.upper)


@pytest.mark.parametrize("method", ["auto", "sampled"])
def test_a_sample_is_taken_up_again(file, method, monkeypatch):
    """The draws of both runs are those of one, as many as were planned at first."""
    X, y = rows()
    model = SVC(gamma=0.3).fit(X, y)
    monkeypatch.setattr(share_sample.Sampler, "_size", lambda self: (2_000, None))
    monkeypatch.setattr(share_sample, "BATCH_DRAWS", 100)
    monkeypatch.setattr(share_sample, "INTERVAL", 1e9)
    asked = {"method": method, "budget": 600}
    whole = lw.share(model, CODED, SIMILAR, **asked)
    first = lw.share(model, CODED, SIMILAR, checkpoint=file, progress=Stop("samples", 4), **asked)
    assert first.reason.startswith("interrupted")
    drawn = []
    again = lw.share(
        model, CODED, SIMILAR, checkpoint=file, resume=True, progress=lambda s: drawn.append(s.stage), **asked
    )
    assert "100 of 2,000 samples" not in drawn
    assert "2,000 of 2,000 samples" in drawn
    assert (again.lower, again.upper, again.stats["hits"]) == (whole.lower, whole.upper, whole.stats["hits"])


@pytest.fixture
def soon(monkeypatch):
    """Regions are put to the proof after a third of a second."""
    monkeypatch.setattr(region_search, "EXPLORE_SHARE", 0.005)
    monkeypatch.setattr(region_search, "GROW_SHARE", 0.002)


def shares(found):
    return {kind: found.share(kind) for kind in ("fair", "biased", "undecided", "empty")}


def test_regions_are_taken_up_again(forest, file, soon, monkeypatch):
    model, space = forest
    asked = {"checkpoint": file, "budget": 60, "max_boxes": 5}
    first = lw.regions(model, space, SIMILAR, progress=Stop("proving", 3), **asked)
    assert first.reason.startswith("interrupted")
    assert first.fair or first.biased
    recalled = []
    recall = proofs.BoxProver._recall

    def noted(self, key, *more):
        found = recall(self, key, *more)
        recalled.append(found is not None)
        return found

    monkeypatch.setattr(proofs.BoxProver, "_recall", noted)
    again = lw.regions(model, space, SIMILAR, resume=True, progress=Stop("proving", 6), **asked)
    assert recalled.count(True) >= len(first.fair) + 2 * len(first.biased)
    assert {region.rule for region in (*first.fair, *first.biased)} <= {
        region.rule for region in (*again.fair, *again.biased)
    }
    assert sum(shares(again).values()) == 1
    assert all(region.certificates for region in (*again.fair, *again.biased))


@pytest.mark.some_days
def test_rows_of_regions_are_taken_up_again(forest, file, soon):
    model, space = forest
    X, _ = rows()
    asked = {"checkpoint": file, "budget": 60, "max_boxes": 3, "X": X}
    lw.regions(model, space, SIMILAR, progress=Stop("proving", 2), **asked)
    again = lw.regions(model, space, SIMILAR, resume=True, progress=Stop("proving", 6), **asked)
    assert sum(again.people(kind) for kind in ("fair", "biased", "undecided", "empty")) == 1
    with pytest.raises(lw.SpecError, match="another data"):
        lw.regions(model, space, SIMILAR, resume=True, **{**asked, "X": X.head(70)})


@pytest.mark.some_days
def test_certificates_of_another_box_prove_nothing(forest, file, soon):
    """A file in which every proved box has the certificate of another one, and one that says that everybody is fair."""
    model, space = forest
    asked = {"checkpoint": file, "budget": 60, "max_boxes": 4}
    lw.regions(model, space, SIMILAR, progress=Stop("proving", 3), **asked)
    saved = checkpoint._read(file)
    state = saved.state
    keys, contents = list(state.certificates), list(state.certificates.values())
    everybody = replace(state.proved[0], kind="fair", share=state.proved[0].share * 0 + 1, counterparts=())
    whole = tuple((0, 2) if name in ("c",) else (f.lo, f.hi) for name, f in space.features.items())
    lie = replace(everybody, box=whole, parts=())
    certificates = dict(zip(keys, contents[1:] + contents[:1], strict=True)) | {("fair", whole): contents[0]}
    state = replace(state, proved=(lie,), waiting=(), certificates=certificates)
    content = checkpoint.zlib.compress(checkpoint.pickle.dumps(replace(saved, state=state)))
    file.write_bytes(checkpoint.MARK + checkpoint.hashlib.sha256(content).digest() + content)
    again = lw.regions(model, space, SIMILAR, resume=True, progress=Stop("proving", 6), **asked)
    assert "everybody" not in {region.rule for region in again.fair}


def test_another_question_is_refused(forest, file):
    model, space = forest
    lw.share(model, space, SIMILAR, method="certified", budget=0.1, checkpoint=file)
    for wrong in ({"method": "auto"}, {"over": "marginals", "X": rows()[0]}):
        with pytest.raises(lw.SpecError, match="another question"):
            lw.share(model, space, SIMILAR, **{"method": "certified"} | wrong, checkpoint=file, resume=True)
    with pytest.raises(lw.SpecError, match="another question"):
        lw.regions(model, space, SIMILAR, checkpoint=file, resume=True)
    with pytest.raises(lw.SpecError, match="another question"):
        lw.verify(model, space, SIMILAR, checkpoint=file, resume=True)
    other = RandomForestClassifier(5, max_depth=4, random_state=1).fit(*rows())
    with pytest.raises(lw.SpecError, match="another model"):
        lw.share(other, space, SIMILAR, method="certified", checkpoint=file, resume=True)


@pytest.mark.some_days
def test_one_box_is_taken_up_again(forest, file, monkeypatch):
    model, space = forest
    asked = {"around": rows()[0][:1], "budget": 60}
    whole = lw.regions(model, space, SIMILAR, **asked)
    asked["checkpoint"] = file
    looked, usual = [], proofs.BoxProver.looks_fair

    def looks_fair(self, box, cells):
        looked.append(box.parts)
        return usual(self, box, cells)

    monkeypatch.setattr(proofs.BoxProver, "looks_fair", looks_fair)
    first = lw.regions(model, space, SIMILAR, progress=Stop("widening", 2), **asked)
    assert "interrupted" in first.reason
    before = list(looked)
    again = lw.regions(model, space, SIMILAR, resume=True, **asked)
    assert again.fair[0].rule == whole.fair[0].rule
    assert again.stats["steps"] == whole.stats["steps"]
    assert len(looked) == len(set(looked)) > len(before) > 1  # no box twice
    lw.regions(model, space, SIMILAR, resume=True, **asked)
    assert len(looked) == len(set(looked))
    with pytest.raises(lw.SpecError, match="another question"):
        lw.regions(model, space, SIMILAR, around="x >= 3", checkpoint=file, resume=True)


@pytest.mark.some_days
def test_a_box_that_was_never_fair_is_not_believed(forest, file):
    """A file that calls all boxes fair that were looked at: what they come to gets no certificate."""
    model, space = forest
    asked = {"around": rows()[0][:1], "budget": 60, "checkpoint": file}
    honest = lw.regions(model, space, SIMILAR, **asked)
    saved = checkpoint._read(file)
    assert not all(fair for _, fair in saved.state.looked)
    looked = tuple((parts, True) for parts, _ in saved.state.looked)
    content = checkpoint.zlib.compress(
        checkpoint.pickle.dumps(replace(saved, state=replace(saved.state, looked=looked)))
    )
    file.write_bytes(checkpoint.MARK + checkpoint.hashlib.sha256(content).digest() + content)
    again = lw.regions(model, space, SIMILAR, resume=True, **asked)
    assert again.stats["steps"] != honest.stats["steps"]
    assert all(region.measure <= honest.fair[0].measure for region in again.fair)
    assert all(region.certificates for region in again.fair)


@pytest.mark.draw(2)
@pytest.mark.parametrize("over", ["uniform", "marginals"])
@pytest.mark.parametrize("kind", ["extremes", "beside"])
def test_looking_at_everybody_is_taken_up_again(over, kind, file, monkeypatch):
    X, y = rows()
    X = X.assign(x=X["x"].round().astype(int), y=X["y"].round().astype(int))
    space = CODED.replace({"x": lw.Integer(0, 4), "y": lw.Integer(0, 4)})
    classes = y if kind == "extremes" else np.digitize(X["x"] + X["y"] + X["c"], [3, 6])
    model = LogisticRegression(max_iter=500).fit(X, classes)
    monkeypatch.setattr(share_enumeration, "FIRST_BLOCK_SECONDS", 0.0)
    for name in ("BLOCK_SCORES", "BLOCK_SIZE", "ROWS_AT_A_TIME"):
        monkeypatch.setattr(share_enumeration, name, 60)
    asked = {"over": over, "X": X, "method": "exact", "budget": 60}
    whole = lw.share(model, space, SIMILAR, **asked)
    asked["checkpoint"] = file
    first = lw.share(model, space, SIMILAR, progress=Stop("individuals", 2), **asked)
    assert "interrupted" in first.reason
    seen = checkpoint._read(file).state.everybody.seen
    assert 0 < seen < whole.stats["individuals"]
    told = []
    again = lw.share(
        model, space, SIMILAR, resume=True, progress=lambda shot: told.append(shot.share), **asked
    )
    assert (again.lower, again.upper) == pytest.approx((whole.lower, whole.upper), abs=1e-12)
    assert again.stats["individuals"] == whole.stats["individuals"] == 750
    assert min(share for share in told if share) > seen / 750
    last = lw.share(model, space, SIMILAR, resume=True, **asked)
    assert (last.lower, last.upper) == (again.lower, again.upper)


@pytest.mark.some_days
def test_what_needs_no_state_runs_with_a_file(file):
    X, y = rows()
    model = LogisticRegression(solver="liblinear").fit(X, y)
    found = lw.share(model, CODED, SIMILAR, checkpoint=file)
    again = lw.share(model, CODED, SIMILAR, checkpoint=file, resume=True)
    assert (found.lower, found.upper) == (again.lower, again.upper)


def test_a_full_disk_ends_no_analysis(forest, file, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_file", full)
    with pytest.warns(UserWarning, match="No space left") as told:
        found = lw.share(*forest, SIMILAR, method="certified", budget=0.3, checkpoint=file)
    assert found.upper < 1
    assert len(told) == 1


@pytest.fixture(scope="module")
def searched():
    """A kernel model and a similarity that takes a search of its own for each row."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(0, 1, (12, 3)), columns=["x", "y", "z"])
    model = SVC(gamma=2.0).fit(X, X["x"] + X["y"] > 1)
    return model, lw.Space.from_data(X), lw.Similarity(within={"x": 0.05, "y": 0.05}), X


@pytest.fixture(scope="module")
def audited(searched):
    *claim, X = searched
    return lw.audit(*claim, X=X)


@pytest.mark.some_days
def test_rows_are_taken_up_again(searched, audited, file, monkeypatch):
    (*claim, X), whole = searched, audited
    first = lw.audit(*claim, X=X, checkpoint=file, progress=Stop("of 12 rows", 3))
    assert 0 < first.undecided < 12
    judged = []
    judge = row_search.judge_rows_singly
    monkeypatch.setattr(
        row_claim, "judge_rows_singly", lambda *of, **more: judged.append(len(of[2])) or judge(*of, **more)
    )
    again = lw.audit(*claim, X=X, checkpoint=file, resume=True)
    assert sum(judged) == first.undecided
    assert again.undecided == 0
    assert again.rows.equals(whole.rows)
    share = lw.share(*claim, over=X, checkpoint=file, resume=True)
    assert share.lower == share.upper == whole.share
    assert sum(judged) == first.undecided
    with pytest.raises(lw.SpecError, match="another data"):
        lw.audit(*claim, X=X.head(10), checkpoint=file, resume=True)


def test_rows_that_were_left_undecided_are_judged_again(searched, audited, file, monkeypatch):
    *claim, X = searched
    with monkeypatch.context() as patched:
        patched.setattr(row_search, "MOST_EVEN_SHARES", 0.0)
        patched.setattr(row_search, "LEAST_SECONDS", 0.0)
        first = lw.audit(*claim, X=X, checkpoint=file)
    assert first.undecided
    again = lw.audit(*claim, X=X, checkpoint=file, resume=True)
    assert again.undecided == 0
    assert again.rows["biased"].to_list() == audited.rows["biased"].to_list()


def test_workers_read_no_model(searched, audited, monkeypatch):
    """They are sent what was read, once."""
    *claim, X = searched
    sent = []

    class Inline(Executor):
        def submit(self, work, name, content, *more):
            sent.append(content)
            future = Future()
            with monkeypatch.context() as patched:
                patched.setattr("likewise.problem.import_model", lambda *_, **__: pytest.fail("read again"))
                future.set_result(work(name, content, *more))
            return future

    together = lw.audit(*claim, X=X, executor=Inline(), n_jobs=2)
    assert together.rows["biased"].to_list() == audited.rows["biased"].to_list()
    assert sum(content is not None for content in sent) == 2  # once a worker
