"""Checkpoints on the command line: written, taken up, refused; Ctrl-C ends a command and its processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

LIKEWISE = [sys.executable, "-m", "likewise"]
HARD = "--model s.skops --data s.csv --free sex"


def processes_of(session):
    """Those of a session that run; not those that ended and wait for somebody to take note of it."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=", "-s", str(session)], capture_output=True, text=True, check=False
    )
    return [line for line in listed.stdout.splitlines() if not line.split()[1].startswith("Z")]


@pytest.mark.some_days
def test_ctrl_c_writes_the_state_and_ends_all_processes(shelf, tmp_path, run):
    verify = ["verify", *HARD.split(), "--quiet", "--checkpoint", f"{tmp_path}/state"]
    line = [*LIKEWISE, *verify, "--budget", "600", "--jobs", "2"]
    with subprocess.Popen(
        line, cwd=shelf, stdout=subprocess.PIPE, start_new_session=True, text=True
    ) as process:
        until = time.perf_counter() + 120
        while len(processes_of(process.pid)) < 3 and time.perf_counter() < until:
            time.sleep(0.1)  # workers are started once the search is under way
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all of them
        assert process.communicate(timeout=60)[0].startswith("UNKNOWN")
    assert process.returncode == 3
    assert (tmp_path / "state").exists()
    until = time.perf_counter() + 10
    while (left := processes_of(process.pid)) and time.perf_counter() < until:
        time.sleep(0.1)
    assert not left
    assert run(*verify, "--budget", "0.1", "--jobs", "1", "--resume").exit_code == 3


@pytest.mark.some_days
@pytest.mark.parametrize(
    "line",
    [
        f"verify {HARD}",
        f"measure {HARD} --of margin",
        "audit --model rbf.skops --data d.csv --label approved --within income=5",
        "share --model rbf.skops --data d.csv --label approved --free sex --method certified",
        f"regions {HARD}",
    ],
)
def test_a_state_is_written_and_taken_up(tmp_path, run, line):
    kept = ["--jobs", "1", "-q", "--budget", "0.01", "--checkpoint", f"{tmp_path}/state"]
    assert run(*line.split(), *kept).exit_code == 3
    assert (tmp_path / "state").exists()
    done = run(*line.split(), *kept)
    assert done.exit_code == 2
    assert "--resume" in done.stderr
    assert run(*line.split(), *kept, "--resume").exit_code == 3
    done = run(*line.split(), *kept, "--resume", "--within", "b0=1" if "s.csv" in line else "age=1")
    assert done.exit_code == 2
    assert "another similarity" in done.stderr
