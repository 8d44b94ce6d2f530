"""``likewise report``: the file, the exit codes of verify, and documents of other commands."""

import hashlib
import json
import re
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

OF_ANOTHER_SHAPE = {
    key: [1] for key in ("fair", "biased", "undecided", "empty", "shares", "around", "reason")
}
ON = "--model m.skops --data d.csv --label approved --free sex"


def test_the_exit_code_is_that_of_the_verdict(run, tmp_path):
    done = run(f"report {ON} -o {tmp_path / 'r.html'}")
    assert done.exit_code == 1
    assert "verdict  BIASED" in done.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="pair"' in text
    assert 'id="disparity"' in text
    done = run(f"report {ON.replace('m.skops', 'fair.skops')} -o {tmp_path / 'r.html'} -q")
    assert (done.exit_code, done.output) == (0, "FAIR\n")
    done = run(f"report --model s.skops --data s.csv --free sex -o {tmp_path / 'r.html'} --budget 0.5 -q")
    assert (done.exit_code, done.output) == (3, "UNKNOWN\n")


def test_the_certificate_is_named(run, tmp_path):
    saved = tmp_path / "mine.likewise"
    run(f"report {ON} -o {tmp_path / 'r.html'} --certificate {saved} -q")
    assert saved.exists()
    assert "likewise-check mine.likewise" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_what_another_command_said_is_taken_with_its_file(run, tmp_path):
    said = run("radius --model m.skops --data d.csv --label approved --within age=2 --json --budget 5")
    (tmp_path / "radius.json").write_text(said.stdout)
    done = run(f"report {ON} -o {tmp_path / 'r.html'} --radius {tmp_path / 'radius.json'} -q")
    assert done.exit_code == 1
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="radius"' in text
    assert "radius.json: nothing here tells whether that was about the same claim" in text


def test_a_repair_is_read_from_its_file(run, tmp_path):
    said = run(f"repair {ON} --json")
    assert said.exit_code == 0, said.output
    (tmp_path / "repair.json").write_text(said.stdout)
    done = run(f"report {ON} -o {tmp_path / 'r.html'} --repair {tmp_path / 'repair.json'} -q")
    assert done.exit_code == 1, done.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="repair"' in text
    assert 'The verdict on it is <strong class="said fair">FAIR</strong>' in text
    (tmp_path / "repair.json").write_text(json.dumps({**json.loads(said.stdout), "result": {}}))
    done = run(f"report {ON} -o {tmp_path / 'x.html'} --repair {tmp_path / 'repair.json'} -q")
    assert done.exit_code == 2
    assert "not what Likewise answers about repair" in done.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        (json.dumps({"rows": []}), "regions: not what Likewise answers"),
        (
            json.dumps(OF_ANOTHER_SHAPE),
            "not what Likewise answers about regions",
        ),
        (None, "cannot be read"),
    ],
)
def test_files_that_are_no_answer(run, tmp_path, content, message):
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    done = run(f"report {ON} -o {tmp_path / 'r.html'} --regions {path} -q")
    assert done.exit_code == 2
    assert message in done.output
    assert not (tmp_path / "r.html").exists()


def test_a_measure_that_cannot_be_had_is_left_out_with_its_reason(run, tmp_path):
    done = run(
        f"report --model svc.skops --data d.csv --label approved --free sex --of probability -o {tmp_path / 'r.html'}"
    )
    assert done.exit_code in (0, 1)
    assert "without" in done.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Not in this report: how large the difference can be" in text


def test_an_output_is_needed(run):
    assert run(f"report {ON}").exit_code == 2


def test_rows_are_audited(run, tmp_path, monkeypatch):
    """The analysis gets the claim and what is left of the budget, and its answer a section."""
    asked = {}

    def audit(problem, run):
        X = problem.claim.X
        asked.update(rows=len(X), similar=problem.claim.similarity.free, budget=run.budget)
        counts = {
            "total": len(X),
            "biased": 1,
            "undecided": 0,
            "share": 1 / len(X),
            "share_at_most": 1 / len(X),
        }
        row = {"row": 7, "biased": True, "gap": 1.25, "proved": True, "counterpart_sex": 1}
        return {**counts, "proved": True, "reasons": {}, "rows": [row]}

    monkeypatch.setattr("likewise.analysis.audit.audit_problem", audit)
    assert run(f"report {ON} -o {tmp_path / 'r.html'} --budget 20 -q").exit_code == 1
    assert asked["rows"] == 120
    assert asked["similar"] == ("sex",)
    assert 0 < asked["budget"].seconds <= 20
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="audit"' in text
    assert "sex = 1" in text


@pytest.mark.parametrize(
    ("claimed", "limit"), [("decision", "the limit of <strong>0<"), ("score:3", "the limit of <strong>3<")]
)
def test_claims_with_tolerances_show_how_the_gap_grows(run, tmp_path, claimed, limit):
    path = tmp_path / "r.html"
    assert run(f"report {ON} --within age=2 --property {claimed} -o {path} -q").exit_code in (0, 1)
    text = path.read_text(encoding="utf-8")
    assert 'id="margins"' in text
    assert limit in text
    found = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["margins"]
    lows, highs = ([point[side] for point in found["points"]] for side in (1, 2))
    assert [point[0] for point in found["points"]] == [0, 0.5, 1, 2, 4]
    assert lows == sorted(lows)
    assert highs == sorted(highs)


def test_claims_without_tolerances_have_no_such_section(run, tmp_path):
    run(f"report {ON} -o {tmp_path / 'r.html'} -q")
    assert 'id="margins"' not in (tmp_path / "r.html").read_text(encoding="utf-8")


NAMES = """
[display]
title = "Loans, spring 2026"
author = "Risk <team>"
features = { sex = "Sex of the applicant" }
labels = { yes = "granted", no = "refused" }
"""


def test_names_for_readers_and_digests_of_the_files(run, spec, tmp_path):
    path = spec()
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(NAMES)
    assert run("report", path, "-o", str(tmp_path / "r.html"), "-q").exit_code == 1
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    shown = text[: text.index('<script type="application/json"')]
    assert "<h1>Loans, spring 2026</h1>" in shown
    assert "Risk &lt;team&gt;" in shown
    assert "Individuals who differ only in Sex of the applicant" in shown
    assert "for the other refused" in shown or "for the other granted" in shown
    assert '<th scope="row">Sex of the applicant</th>' in shown
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert digest in shown
    assert shown.count("sha256 of the model file") == shown.count("sha256 of the data") == 1


def test_three_sentences_come_first(run, tmp_path):
    for model, first in (
        ("m", "Two individuals who differ only in sex"),
        ("fair", "Any two individuals who are alike"),
    ):
        run(f"report {ON.replace('m.skops', model + '.skops')} -o {tmp_path / 'r.html'} -q")
        text = (tmp_path / "r.html").read_text(encoding="utf-8")
        sentences = re.findall(r'<p class="summary">(.*?)</p>', text)
        assert len(sentences) == 3
        assert sentences[0].startswith(first)
        assert "rows of the data" in sentences[1]
        assert model == "m" or "for everybody whom the space allows, not for a sample" in sentences[0]


def test_a_claim_in_one_direction_is_told_without_denying_twice(run, tmp_path):
    done = run(
        f"report {ON.replace('--free sex', '--free sex --property monotone:age')} -o {tmp_path / 'r.html'} -q"
    )
    assert done.exit_code == 1, done.output
    first = re.findall(r'<p class="summary">(.*?)</p>', (tmp_path / "r.html").read_text(encoding="utf-8"))[0]
    assert "break the claim that such two get scores of which the second is not lower" in first


@pytest.mark.some_days
def test_everything_is_asked_in_one_command(run, tmp_path):
    done = run(f"report {ON} --within age=2 --full --budget 5 -o {tmp_path / 'r.html'} -q")
    assert done.exit_code == 1, done.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    sections = ("disparity", "margins", "radius", "share", "regions", "audit", "groups", "repair")
    assert [name for name in sections if f'<section id="{name}"' not in text] == []
    assert "so that share may be larger than that of the biased regions" in text


def test_close_probabilities_do_not_promise_equal_decisions(run, tmp_path):
    on = ON.replace("m.skops", "m.skops") + " --property probability:0.999"
    assert run(f"report {on} -o {tmp_path / 'r.html'} -q").exit_code == 0
    assert "can lie on both sides of the threshold" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "can lie on both sides of the threshold" in " ".join(run(f"verify {on}").stdout.split())


@pytest.mark.some_days
def test_nothing_is_called_exact_of_a_model_that_is_only_asked(run, tmp_path):
    rows = pd.DataFrame({"age": [20, 30, 40, 50] * 3, "sex": [0, 1] * 6})
    joblib.dump(KNeighborsClassifier(1).fit(rows, rows.sex), tmp_path / "knn.joblib")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    on = f"--model {tmp_path / 'knn.joblib'} --allow-pickle --data {tmp_path / 'rows.csv'} --free sex"
    assert run(f"report {on} --budget 5 -o {tmp_path / 'r.html'} -q").exit_code == 1
    sentences = re.findall(r'<p class="summary">(.*?)</p>', (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "asked but not read" in sentences[2]
    assert "exact" not in sentences[2]
