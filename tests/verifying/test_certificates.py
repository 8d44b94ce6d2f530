"""Every kind of certificate is accepted: from memory, from disk, by the command, by two processes, with the model."""

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.certificate.kinds import KINDS, SMALL, parity, run

import likewise as lw
from likewise.spec.numbers import parse_number

PAPER = Path(__file__).parents[2].parent / "shared" / "data" / "paper"


@pytest.fixture(scope="module", params=KINDS)
def solved(request):
    return run(request.param)


@pytest.fixture
def path(solved, tmp_path):
    return solved.certificate.save(tmp_path / "c.likewise")


@pytest.mark.some_days
@pytest.mark.draw(40)
def test_the_answer_is_the_expected_one_by_the_expected_rules_and_is_accepted_from_disk(solved, path):
    kind, outline = solved.kind, solved.certificate.outline()
    if kind.of is None:
        assert solved.result.verdict == kind.verdict
    assert outline.kind == ("witness" if kind.verdict == "BIASED" else "proof")
    assert kind.rules <= set(outline.rules)
    if outline.kind == "proof":
        assert outline.nodes >= kind.nodes
    report = lw.check(path)
    assert report.accepted, report.reason
    assert report.readable
    assert (report.reason, report.line, report.refused) == (None, None, ())
    assert report.cells == outline.nodes
    # Floating point is covered alike in the result, the end and the report.
    if solved.kind.verdict == "BIASED":
        assert "covers_floating_point" not in solved.end
        return
    assert report.covers_floating_point is solved.end["covers_floating_point"]
    assert report.clearance == parse_number(solved.end["clearance"]) == outline.clearance
    if solved.kind.of is None:
        assert solved.result.covers_floating_point is report.covers_floating_point


@pytest.mark.draw(4)
def test_two_processes_say_the_same(solved, path):
    alone, together = lw.check(path), lw.check(path, jobs=2)
    assert together.accepted
    assert {**alone.to_dict(), "seconds": 0} == {**together.to_dict(), "seconds": 0}


def command(*args):
    done = subprocess.run(
        [sys.executable, "-m", "likewise_check", *map(str, args)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.draw(3)
def test_the_command_accepts_it_for_the_model_and_for_no_other(solved, path, tmp_path):
    model = tmp_path / "model.json"
    model.write_bytes(solved.certificate.model_line())
    code, out = command(path, "--model", model, "--json")
    said = json.loads(out)
    assert (code, said["accepted"]) == (0 if said["kind"] == "proof" else 1, True)
    model.write_bytes(run("masked" if solved is not run("masked") else "gaps").certificate.model_line())
    code, out = command(path, "--model", model, "--json")
    assert code == 4
    assert "another model" in json.loads(out)["reason"]


def test_each_probability_cell_has_a_tangent_of_its_own():
    for name in ("probability", "probability-bound"):
        solved = run(name)
        middle = (1 - parse_number(solved.lines[3]["property"]["delta"])) / 2
        ways = {parse_number(line[1]) for line in solved.lines[5:-1] if line[0] == "separable"}
        assert len(ways) > 1
        assert middle not in ways


def test_constraints_bring_multipliers():
    leaves = [line for line in run("constrained").lines[5:-1] if line[0] == "separable"]
    assert any(len(leaf) == 3 and any(m != "0" for m in leaf[2]) for leaf in leaves)


def test_a_gap_of_integers_takes_more_than_1000_cells():
    assert run("many-gaps").certificate.outline().nodes >= 1000


def test_a_bound_is_proved_at_the_upper_end_that_is_reported():
    for name in ("score-bound", "margin-bound", "probability-bound"):
        solved = run(name)
        level = solved.lines[3]["property"]
        assert parse_number(level.get("delta", level.get("margin"))) == Fraction(solved.result.upper)
        assert solved.result.lower <= solved.result.upper


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_jobs(jobs):
    result = parity(6, 40).solve(n_jobs=jobs)
    assert result.verdict == "FAIR"
    assert result.certificate.content == run("gaps").certificate.content


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "2", None])
def test_no_jobs_are_an_error(jobs):
    with pytest.raises(lw.SpecError, match="n_jobs"):
        parity(6, 40).solve(n_jobs=jobs)


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_runs_the_checker(make):
    with make(1) as executor:
        asked = []
        submit = executor.submit
        executor.submit = lambda *args: asked.append(args[0].__name__) or submit(*args)
        result = parity(6, 40).solve(executor=executor)
        bound = KINDS["score-bound"]().solve(executor=executor)
    assert result.verdict == "FAIR"
    assert bound.certificate is not None
    assert asked == ["check_bytes", "check_bytes"]


@pytest.mark.parametrize("name", SMALL)
def test_without_certificate_nothing_is_fair(name):
    kind = run(name).kind
    if kind.of is not None:
        found = lw.measure(kind.model, kind.space, kind.similar, of=kind.of)
        assert found.certificate is None
        return
    result = lw.verify(kind.model, kind.space, kind.similar, kind.property, certify=False)
    assert result.certificate is None
    if kind.verdict == "FAIR":
        assert result.verdict == "UNKNOWN"
        assert "not checked" in result.reason
    else:
        assert result.verdict == "BIASED"


# -- the paper's linear models ------------------------------------------------------------------------


def paper_problem(name):
    if name == "fraud":
        if not PAPER.is_dir():
            pytest.skip(f"{PAPER} does not exist: Fraud is not shipped")
        return lw.datasets.paper_problem("fraud", PAPER)
    return lw.datasets.paper_problem(name)


ESTIMATORS = {
    "logistic": lambda: LogisticRegression(solver="liblinear"),
    "svc": lambda: SVC(kernel="linear", C=0.01),
}


@pytest.mark.parametrize("estimator", ["logistic", pytest.param("svc", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["german", "adult", "credit", "fraud"])
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_the_papers_masked_linear_models_are_fair(name, estimator, tmp_path):
    data = paper_problem(name)
    X = data.X.assign(**dict.fromkeys(data.protected, 0))
    rows = X.head(1000)
    model = ESTIMATORS[estimator]().fit(rows, data.y.head(1000))
    similar = lw.Similarity(free=list(data.protected))
    result = lw.verify(model, data.space, similar, X=data.X.head(100))
    assert result.verdict == "FAIR"
    report = lw.check(result.certificate.save(tmp_path / "c.likewise"))
    assert report.accepted
    assert report.covers_floating_point is result.covers_floating_point
