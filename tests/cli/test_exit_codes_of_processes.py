"""Exit codes as the shell gets them: of every verdict, of every analysis, and after Ctrl-C."""

import gzip
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LIKEWISE = [sys.executable, "-m", "likewise"]
GOLDEN = Path(__file__).parents[1] / "certificate" / "golden"
ON = "--data d.csv --label approved --free sex"
HARD = "--model s.skops --data s.csv --free sex"  # a subset sum: no budget of a test decides it
BUDGET = "--budget 0.3"
PATIENCE = 120  # seconds for a process to get somewhere on a busy machine


def ended(shelf, line, *, command=LIKEWISE):
    return subprocess.run(
        [*command, *line.split()], cwd=shelf, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        pytest.param(f"verify --model fair.skops {ON} -q", 0, "FAIR", marks=pytest.mark.slow),
        pytest.param(f"verify {HARD} {BUDGET} -q", 3, "UNKNOWN", marks=pytest.mark.slow),
        ("verify --nonsense", 2, "No such option"),
        ("verify none.toml", 2, "error: none.toml"),
        ("explain none.likewise", 2, "error: none.likewise"),
    ],
)
def test_the_codes_of_verify(shelf, line, code, said):
    """BIASED is among the tests of processes."""
    done = ended(shelf, line)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_internal_error_is_101(shelf):
    broken = (
        "import likewise.certificate.certificate as module, likewise.cli\n"
        "def fails(path): raise ZeroDivisionError('by zero')\n"
        "module.load_certificate = fails\n"
        "likewise.cli.main()"
    )
    done = ended(shelf, "explain any.likewise", command=[sys.executable, "-c", broken])
    assert done.returncode == 101
    assert "internal error: ZeroDivisionError: by zero" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_codes_of_the_checker(tmp_path):
    """0 accepted, 4 rejected, 2 unreadable: of a proof, of one with another bound, of no certificate at all."""
    lines = gzip.decompress((GOLDEN / "v1-score-bound.likewise").read_bytes()).splitlines(keepends=True)
    altered = tmp_path / "altered.likewise"
    altered.write_bytes(gzip.compress(b"".join(lines[:-1])))
    (tmp_path / "text.likewise").write_text("hello")
    check = [sys.executable, "-m", "likewise_check"]
    files = {GOLDEN / "v1-score-bound.likewise": 0, altered: 4, tmp_path / "text.likewise": 2}
    for path, code in files.items():
        assert ended(tmp_path, str(path), command=check).returncode == code


COMPILES_FOREVER = """
import os, signal, threading
import likewise.cli
import likewise.compiled.entry as entry

def compile_forever(self, sig):
    def work():
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait()
    return entry.compile_beside(work, lambda: 9.0)

entry.Entry.compile = compile_forever
likewise.cli.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [f"measure --model rbf.skops {ON}", f"verify --model rbf.skops {ON} --property score:9"]
)
def test_ctrl_c_while_loops_are_compiled_ends_it(shelf, line):
    """By hand in the middle of it: a compiler that would never come back."""
    done = ended(shelf, line, command=[sys.executable, "-c", COMPILES_FOREVER])
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "interrupted" in done.stdout + done.stderr


INTERRUPTED_WHILE_COMPILING = """
import os, signal
import likewise.cli
import likewise.compiled.entry as entry

optimize = entry._PartLibrary._optimize_functions
asked = []

def interrupted(self, module):
    if not asked:
        asked.append(os.kill(os.getpid(), signal.SIGINT))
    optimize(self, module)

entry._PartLibrary._optimize_functions = interrupted
likewise.cli.main()
"""


@pytest.mark.some_days
def test_ctrl_c_in_the_middle_of_what_really_is_compiled(shelf, tmp_path, monkeypatch):
    """With nothing kept: the compiler is at work on its first part, and goes on with it while the command ends."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "nothing"))
    command = [sys.executable, "-c", INTERRUPTED_WHILE_COMPILING]
    done = ended(shelf, f"measure --model rbf.skops {ON}", command=command)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "interrupted" in done.stdout + done.stderr
    assert not list((tmp_path / "nothing").rglob("*.tmp"))


def interrupted(shelf, line):
    """A process that gets SIGINT once its live line shows that the search is under way: exit code, stdout, stderr.

    stderr is a terminal, for only there is a live line.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*LIKEWISE, *line.split()],
        cwd=shelf,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    seen, sent, give_up = b"", False, time.monotonic() + PATIENCE
    try:
        while process.poll() is None and time.monotonic() < give_up:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    seen += os.read(ours, 65536)
                except OSError:  # the other side is closed
                    break
            if not sent and b"branch and bound" in seen:
                process.send_signal(signal.SIGINT)
                sent = True
        assert sent, f"no search within {PATIENCE} s: {seen[-300:]!r}"
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
        os.close(ours)
    return process.returncode, out.decode(), seen.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (f"verify {HARD}", 3, r"^bounds   the largest margin .* is at most\s"),
        (f"measure {HARD} --of margin", 3, r"^largest  between -?[\d.]+ and [\d.]+ "),
        (f"radius {HARD} --feature b0", 3, r"^proved   at no level"),
        (f"compare {HARD} --with s.skops --of margin", 3, r"^change   not decided"),
        (f"card {HARD}", 0, r"^\| verdict \| UNKNOWN, after "),
        (f"report {HARD} -o page.html", 3, r"^verdict  UNKNOWN"),
    ],
)
def test_ctrl_c_gives_the_bounds_so_far(shelf, line, code, said):
    found, out, err = interrupted(shelf, f"{line} --budget 600")
    assert found == code
    assert re.search(said, out, flags=re.MULTILINE)
    assert "Traceback" not in out + err
    if not line.startswith("report"):  # whose page has it
        assert "interrupted after" in " ".join(out.split())


@pytest.mark.slow
def test_ctrl_c_with_json_is_one_object(shelf):
    code, out, err = interrupted(shelf, f"verify {HARD} --json --budget 600")
    answer = json.loads(out)
    assert code == 3
    assert answer["verdict"] == "UNKNOWN"
    assert "interrupted" in answer["reason"]
    assert answer["bounds"][1] is not None
    assert "Traceback" not in err
