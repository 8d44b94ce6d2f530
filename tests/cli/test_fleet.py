"""Several claims side by side: in processes of their own, the longest first, whatever becomes of one of them."""

import json
import pickle
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cli.valid_reports import check_junit, check_sarif

from likewise.cli import fleet
from likewise.cli.claim_process import ClaimProcess, Crash, _Service
from likewise.cli.fleet import Fleet
from likewise.cli.fleet_table import FleetTable
from likewise.cli.outcomes import ClaimOutcome, exit_code
from likewise.progress import Snapshot
from likewise.search.workers import pack


@pytest.fixture
def claims(spec, shelf):
    """Claim files of a BIASED, a FAIR and an UNKNOWN claim, and one about a kernel."""
    hard = Path(spec(name="hard.toml"))
    hard.write_text(
        f'[model]\npath = "{shelf}/s.skops"\n[data]\npath = "{shelf}/s.csv"\n[similarity]\nfree = ["sex"]\n'
    )
    fair = spec(("m.skops", "fair.skops"), ("within = { age = 2 }", ""), name="fair.toml")
    kernel = spec(("m.skops", "rbf.skops"), name="kernel.toml")
    return {"biased": spec(name="biased.toml"), "fair": fair, "hard": str(hard), "kernel": kernel}


@pytest.fixture
def in_processes(monkeypatch):
    """Nothing is decided before processes are started."""
    monkeypatch.setattr(fleet, "ALONE_SECONDS", 0.0)


def verdicts(done):
    return [entry["verdict"] for entry in json.loads(done.stdout)]


def test_short_claims_need_no_process(run, claims, monkeypatch):
    monkeypatch.setattr(fleet, "ClaimProcess", lambda: pytest.fail("a process was started"))
    monkeypatch.setattr(fleet, "ALONE_SECONDS", 60.0)  # however slow the machine
    done = run("verify", claims["fair"], claims["biased"], "--jobs", "2", "--json")
    assert verdicts(done) == ["FAIR", "BIASED"]
    assert done.exit_code == 1


@pytest.mark.some_days
def test_claims_in_processes_have_the_answers_that_one_process_gives(run, claims, in_processes, tmp_path):
    specs = [claims["fair"], claims["biased"], claims["hard"]]
    line = ["verify", *specs, "--budget", "0.5", "--certificate", f"{tmp_path}/c"]
    alone, beside = (run(*line, "--jobs", jobs, "--json") for jobs in ("1", "2"))
    assert alone.exit_code == beside.exit_code == 1
    for one, other in zip(json.loads(alone.stdout), json.loads(beside.stdout), strict=True):
        assert {key: one[key] for key in ("spec", "verdict", "claim", "pair", "certified")} == {
            key: other[key] for key in ("spec", "verdict", "claim", "pair", "certified")
        }
    assert sorted(path.name for path in (tmp_path / "c").glob("*.likewise")) == [
        "biased.likewise",
        "fair.likewise",
    ]
    assert run("explain", f"{tmp_path}/c/fair.likewise").exit_code == 0


@pytest.mark.some_days
def test_a_claim_whose_process_is_killed_is_reported_and_the_others_go_on(
    run, claims, in_processes, monkeypatch, tmp_path
):
    class Victim(ClaimProcess):
        """Killed before it can answer, if it is sent the claim about the subset sum."""

        def ask(self, request):
            if b"b43" not in request:
                super().ask(request)
                return
            self._process.kill()
            self._process.join()

    monkeypatch.setattr(fleet, "ClaimProcess", Victim)
    reports = ["--junit", f"{tmp_path}/out.xml", "--sarif", f"{tmp_path}/out.sarif"]
    done = run("verify", claims["hard"], claims["fair"], "--jobs", "2", *reports)
    assert done.exit_code == 3
    assert "its process was ended by SIGKILL" in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "2 claims: 1 UNKNOWN, 1 FAIR"
    assert claims["hard"] in done.stderr
    assert "defect" not in done.stderr
    assert check_junit((tmp_path / "out.xml").read_bytes()).find(".//error").get("type") == "CRASHED"
    (found,) = check_sarif((tmp_path / "out.sarif").read_bytes())["runs"]
    assert found["invocations"][0]["executionSuccessful"] is False
    assert "SIGKILL" in found["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.slow
def test_a_claim_that_fails_in_its_process_is_reported_and_the_others_go_on(
    run, claims, in_processes, monkeypatch
):
    def no_problem(outcome):
        return None if outcome.flags.spec == claims["hard"] else outcome.loaded.problem

    monkeypatch.setattr(fleet, "_expected_length", lambda outcome: 1.0)
    monkeypatch.setattr(ClaimOutcome, "problem", property(no_problem))
    done = run("verify", claims["hard"], claims["fair"], "--jobs", "2")
    assert done.exit_code == 101
    assert done.stdout.splitlines()[-1] == "2 claims: 1 UNKNOWN, 1 FAIR"
    assert f"{claims['hard']}: internal error: AttributeError" in done.stderr
    assert "defect of Likewise" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_nobody_foresaw_is_told_by_the_process():
    ours, theirs = Pipe()
    service = _Service(theirs)
    service._requests.put(pack(SimpleNamespace(flags=None)))
    service.verify_next()
    said = pickle.loads(ours.recv_bytes())
    assert said.defect
    assert said.why.startswith("internal error: AttributeError: ")
    assert "Traceback" in said.trace


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_claim_that_fails_here_is_reported_and_the_others_go_on(run, claims, monkeypatch, jobs):
    from likewise.verifying import verification

    verify = verification.verify_problem

    def fails(problem, *more):
        if problem.claim.similarity.within:
            raise ZeroDivisionError("by zero")
        return verify(problem, *more)

    monkeypatch.setattr(verification, "verify_problem", fails)
    done = run("verify", claims["biased"], claims["fair"], "--jobs", jobs, "-q")
    assert done.stdout == f"UNKNOWN  {claims['biased']}\nFAIR     {claims['fair']}\n"
    assert done.exit_code == 101
    assert "internal error: ZeroDivisionError: by zero" in done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_what_is_running_and_leaves_what_waits(run, claims, spec, in_processes, monkeypatch):
    another = Path(spec(name="another.toml"))
    another.write_text(Path(claims["hard"]).read_text())
    deal = Fleet._deal

    def deal_and_interrupt(self):
        deal(self)
        self.whole.interrupt()

    monkeypatch.setattr(Fleet, "_deal", deal_and_interrupt)
    specs = [claims["hard"], str(another), claims["biased"]]
    done = run("verify", *specs, "--jobs", "2", "--budget", "600", "--json")
    reasons = [entry["reason"] for entry in json.loads(done.stdout)]
    assert done.exit_code == 3
    assert [reason.split(" after")[0] for reason in reasons] == [
        "interrupted",
        "interrupted",
        "interrupted before it was looked at",
    ]


class Obliging:
    """A process that finds everything fair, at once."""

    def __init__(self):
        self.connection, self._theirs = Pipe()

    def ask(self, request):
        self._theirs.send_bytes(b"x")

    def answer(self):
        self.connection.recv_bytes()
        return SimpleNamespace(verdict="FAIR", reason=None, stats={}, bounds=(0.0, 1.0))

    def close(self):
        self.connection.close()
        self._theirs.close()


@pytest.mark.parametrize(("jobs", "shares"), [("2", [1, 1, 2]), ("7", [2, 2, 2])])
def test_the_longest_goes_first_and_processes_are_shared_out(
    run, claims, in_processes, monkeypatch, jobs, shares
):
    monkeypatch.setattr(fleet, "ClaimProcess", Obliging)
    sent = []
    monkeypatch.setattr(fleet, "pack", lambda request: sent.append(request) or b"")
    done = run("verify", claims["biased"], claims["hard"], claims["kernel"], "--jobs", jobs, "-q")
    assert [Path(request.flags.spec).stem for request in sent] == ["kernel", "hard", "biased"]
    assert [request.look.jobs for request in sent] == shares
    assert done.stdout.count("FAIR") == 3


def test_a_claim_that_cannot_be_sent_is_searched_here(run, claims, in_processes, monkeypatch):
    def refuse(request):
        if request.flags.spec == claims["fair"]:
            raise TypeError("cannot pickle")
        return pack(request)

    monkeypatch.setattr(fleet, "pack", refuse)
    monkeypatch.setattr(fleet, "ClaimProcess", Obliging)
    assert run("verify", claims["biased"], claims["fair"], "--jobs", "2", "-q").stdout.count("FAIR") == 2


@pytest.mark.slow
def test_a_checkpoint_of_another_claim_is_told_and_what_was_found_is_printed(
    run, claims, in_processes, tmp_path
):
    states = tmp_path / "states"
    states.mkdir()
    (states / "hard.checkpoint").write_text("no checkpoint")
    line = ["verify", claims["hard"], claims["fair"], "--jobs", "2", "--checkpoint", str(states), "--resume"]
    done = run(*line)
    assert done.exit_code == 2
    assert "is no checkpoint" in done.stderr
    assert "1 FAIR" in done.stdout


def test_the_code_of_a_crash_is_behind_biased_and_before_unknown():
    def outcome(verdict, crash=None):
        return ClaimOutcome(flags=None, result=SimpleNamespace(verdict=verdict), crash=crash)

    defect = outcome("UNKNOWN", Crash.by(ValueError("x")))
    killed = outcome("UNKNOWN", Crash.ended(-9))
    assert exit_code([defect, outcome("FAIR")]) == 101
    assert exit_code([defect, outcome("BIASED")]) == 1
    assert exit_code([killed, outcome("FAIR")]) == 3
    assert Crash.ended(7).why == "its process was ended with exit code 7"


def test_the_table_has_a_line_a_claim_and_fits_the_terminal():
    table = FleetTable([f"{n}.toml" for n in range(100)])
    table.show(7, Snapshot(stage="branch and bound", seconds=2.0, closed=5, open=3))
    table.show(8, Snapshot(stage="measuring", seconds=2.0, lower=0.25, upper=0.5))
    result = SimpleNamespace(verdict="FAIR", stats={"seconds": 1.25}, bounds=(0.0, float("inf")))
    table.settle(3, ClaimOutcome(flags=SimpleNamespace(spec="3.toml"), result=result))
    lines = [tuple(str(cell) for cell in line) for line in table.lines()]
    assert lines[0][:3] == ("7.toml", "branch and bound", "5 closed, 3 open")
    assert lines[1][:3] == ("8.toml", "measuring", "0.25 to 0.5")
    assert lines[2] == ("3.toml", "FAIR", "at least 0", "1.2")
    assert table.counts() == "97 waiting, 2 running, 1 FAIR"
    for place in range(10, 60):
        table.settle(place, replace(ClaimOutcome(flags=SimpleNamespace(spec="a"), result=result)))
    assert table.table(24).row_count == 18
