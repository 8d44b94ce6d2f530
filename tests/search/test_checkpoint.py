"""A search that is interrupted, and taken up again from its file: the same verdict, a certificate that is accepted, and nothing believed that the file says."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.search.test_branch_and_bound import parity
from tests.search.test_parted_search import Inline
from tests.search.test_parts import MODELS, SIMILAR, SPACE, rows

import likewise as lw
from likewise.search import checkpoint, parted_search, workers
from likewise.search.proof import Split


@pytest.fixture(autouse=True)
def at_every_look(monkeypatch):
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1e9)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "search.checkpoint"


def verified(size=10, gap=0.75, **more):
    model, space, similar = parity(size, gap)
    return lw.verify(model, space, similar, **more)


class Stop:
    """A listener that ends the search, once some cells are closed."""

    def __init__(self, closed):
        self.closed = closed

    def __call__(self, snapshot):
        if "branch" in snapshot.stage and snapshot.closed >= self.closed:
            os.kill(os.getpid(), signal.SIGINT)
            self.closed = float("inf")


@pytest.mark.some_days
def test_an_interrupted_search_is_taken_up_again(file):
    first = verified(11, checkpoint=file, progress=Stop(10))
    assert first.verdict == "UNKNOWN"
    assert first.reason.startswith("interrupted")
    seen = []
    again = verified(11, checkpoint=file, resume=True, progress=lambda snapshot: seen.append(snapshot.closed))
    assert again.verdict == "FAIR"
    assert again.stats["checked"]
    assert again.stats["cells"] == verified(11).stats["cells"]
    assert next(closed for closed in seen if closed) >= 10
    done = verified(11, checkpoint=file, resume=True)
    assert done.certificate.content == again.certificate.content


def test_parts_that_are_away_are_open_in_the_file(file, monkeypatch):
    for name in ("ALONE_SECONDS", "SPREAD_SECONDS"):
        monkeypatch.setattr(workers, name, 0.0)
    monkeypatch.setattr(parted_search, "MOST_SECONDS", 0.05)
    first = verified(checkpoint=file, executor=Inline(), progress=Stop(20))
    assert first.verdict == "UNKNOWN"
    again = verified(checkpoint=file, resume=True)
    assert again.verdict == "FAIR"
    assert again.stats["cells"] == verified().stats["cells"]


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("name", MODELS)
def test_a_bracket_is_taken_up_again(name, file):
    model = MODELS[name].fit(*rows())
    whole = lw.measure(model, SPACE, SIMILAR)
    first = lw.measure(model, SPACE, SIMILAR, checkpoint=file, progress=Stop(3))
    again = lw.measure(model, SPACE, SIMILAR, checkpoint=file, resume=True)
    assert again.lower >= first.lower
    assert again.lower == pytest.approx(whole.lower, abs=1e-6)
    assert again.upper == pytest.approx(whole.upper, abs=2e-6)
    assert again.proved == whole.proved


def test_another_claim_or_model_is_refused(file):
    model, space, similar = parity(10, 0.75)
    lw.verify(model, space, similar, checkpoint=file, progress=Stop(5))
    for claim, wrong in [
        ((model, space, similar, lw.SameDecision(0.1)), "question"),
        ((parity(10, 0.5)[0], space, similar), "model"),
    ]:
        with pytest.raises(lw.SpecError, match=f"another {wrong}"):
            lw.verify(*claim, checkpoint=file, resume=True)
    with pytest.raises(lw.SpecError, match="another question"):
        lw.measure(model, space, similar, of="margin", checkpoint=file, resume=True)
    other, narrower, alike = parity(8, 0.75)
    with pytest.raises(lw.SpecError, match="another space"):
        lw.verify(other, narrower, alike, checkpoint=file, resume=True)


def test_what_is_there_is_not_overwritten(file):
    file.write_text("mine")
    with pytest.raises(lw.SpecError, match="already exists"):
        verified(checkpoint=file)
    with pytest.raises(lw.SpecError, match="no checkpoint"):
        verified(checkpoint=file, resume=True)
    assert file.read_text() == "mine"
    with pytest.raises(lw.SpecError, match="no folder"):
        verified(checkpoint=file.parent / "nowhere" / "file")
    with pytest.raises(lw.SpecError, match="resume needs"):
        verified(resume=True)


def test_a_damaged_file_is_refused(file):
    verified(checkpoint=file, progress=Stop(5))
    content = file.read_bytes()
    for damaged in (content[:-1], content[:40], content[:-1] + b"x"):
        file.write_bytes(damaged)
        with pytest.raises(lw.SpecError, match="damaged"):
            verified(checkpoint=file, resume=True)


def write(file, value):
    """A file with its digest, whatever it holds."""
    content = checkpoint.zlib.compress(pickle.dumps(value))
    file.write_bytes(checkpoint.MARK + checkpoint.hashlib.sha256(content).digest() + content)


class Evil:
    def __reduce__(self):
        return os.system, ("touch evil",)


@pytest.mark.parametrize("value", [Evil(), {"a": 1}, np.array([1.0]), checkpoint.Checkpoint, [Evil]])
def test_a_file_cannot_run_anything(file, value, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write(file, value)
    with pytest.raises(lw.SpecError, match="no checkpoint"):
        verified(checkpoint=file, resume=True)
    assert not (tmp_path / "evil").exists()


def test_a_file_cannot_start_the_command(file, monkeypatch):
    """A file that names a module of ours whose import does something."""
    monkeypatch.delitem(sys.modules, "likewise.__main__", raising=False)
    content = checkpoint.zlib.compress(b"clikewise.__main__\nmain\n.")
    file.write_bytes(checkpoint.MARK + checkpoint.hashlib.sha256(content).digest() + content)
    with pytest.raises(lw.SpecError, match="no value of a checkpoint"):
        verified(checkpoint=file, resume=True)
    assert "likewise.__main__" not in sys.modules


def changed(file, change):
    saved = checkpoint._read(file)
    write(file, replace(saved, frontiers=tuple(change(one) for one in saved.frontiers)))


def closed(frontier):
    """All that is open closed by a leaf of another cell."""
    leaf = next(node for node in frontier.nodes if node is not None and not isinstance(node, Split))
    return replace(frontier, nodes=tuple(leaf if node is None else node for node in frontier.nodes), open=())


def test_made_up_leaves_are_no_proof(file):
    """Of a claim that does not hold, and of a bracket."""
    model = MODELS["trees"].fit(*rows())
    true = lw.measure(model, SPACE, SIMILAR)
    claim = model, SPACE, SIMILAR, lw.ScoreGap(1.01 * true.upper)
    lw.verify(*claim, checkpoint=file, progress=Stop(2))
    changed(file, closed)
    assert (
        lw.verify(*claim, checkpoint=file, resume=True).verdict == "FAIR"
    )  # cut where the checker refused them
    file.unlink()
    lw.measure(model, SPACE, SIMILAR, checkpoint=file, progress=Stop(2))
    changed(file, closed)
    again = lw.measure(model, SPACE, SIMILAR, checkpoint=file, resume=True)
    assert again.upper >= true.lower


def test_two_runs_on_one_file(file):
    with (
        checkpoint.Checkpoint(file, resume=False).held(),
        pytest.raises(lw.SpecError, match="another run is writing"),
    ):
        verified(checkpoint=file)
    assert verified(checkpoint=file).verdict == "FAIR"
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_full_disk_ends_no_search(file, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_file", full)
    with pytest.warns(UserWarning, match="No space left") as told:
        assert verified(checkpoint=file).verdict == "FAIR"
    assert len(told) == 1


SCRIPT = """
import sys
import likewise as lw
from likewise.search import checkpoint
from tests.search.test_branch_and_bound import parity

checkpoint.INTERVAL, checkpoint.WRITING_SHARE = 0.0, 1e9
model, space, similar = parity(10, 0.75)
print("ready", flush=True)
lw.verify(model, space, similar, checkpoint=sys.argv[1], resume=True)
"""


def killed_and_resumed(file, moments):
    for seconds in moments:
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(file)], stdout=subprocess.PIPE)
        with process:
            process.stdout.readline()
            time.sleep(seconds)
            process.kill()
        if file.exists():
            checkpoint._read(file)  # whole, whenever it was
    again = verified(checkpoint=file, resume=True)
    assert again.verdict == "FAIR"
    assert again.stats["checked"]
    assert again.stats["cells"] == verified().stats["cells"]


@pytest.mark.some_days
def test_killed_and_resumed(file):
    killed_and_resumed(file, [0.5])


@pytest.mark.slow
def test_killed_and_resumed_at_many_moments(file):
    killed_and_resumed(file, np.random.default_rng(0).uniform(0, 1, 6))
