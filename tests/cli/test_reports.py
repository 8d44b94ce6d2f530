"""Several claim files in one run, and its JUnit and SARIF reports."""

import json
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
import xmlschema
from tests.cli.valid_reports import check_junit, check_sarif

from likewise.answers.terminal import plain_text
from likewise.cli import outcomes
from likewise.cli.junit import junit_document
from likewise.cli.options import SearchFlags
from likewise.cli.outcomes import ClaimOutcome, exit_code, summary_lines
from likewise.errors import BudgetError


@pytest.fixture
def claims(spec, shelf):
    """Claim files of a BIASED, a FAIR and an UNKNOWN claim."""
    hard = Path(spec(name="hard.toml"))
    hard.write_text(
        f'[model]\npath = "{shelf}/s.skops"\n[data]\npath = "{shelf}/s.csv"\n[similarity]\nfree = ["sex"]\n'
    )
    fair = spec(("m.skops", "fair.skops"), ("within = { age = 2 }", ""), name="fair.toml")
    return {"biased": spec(name="biased & co.toml"), "fair": fair, "unknown": str(hard)}


def read_reports(folder: Path) -> tuple[Xml.Element, dict]:
    return check_junit((folder / "out.xml").read_bytes()), check_sarif((folder / "out.sarif").read_bytes())


def reports(folder: Path) -> list[str]:
    return ["--junit", str(folder / "out.xml"), "--sarif", str(folder / "out.sarif")]


def test_a_run_of_all_verdicts(run, claims, tmp_path):
    done = run(
        "verify", *claims.values(), "--budget", "0.5", *reports(tmp_path), "--certificate", f"{tmp_path}/c"
    )
    assert done.exit_code == 1
    tree, document = read_reports(tmp_path)
    assert [[child.tag for child in case] for case in tree.iter("testcase")] == [["failure"], [], ["error"]]
    failure, error = tree.find(".//failure"), tree.find(".//error")
    assert "sex: " in failure.get("message")
    assert "decision: yes and no" in failure.get("message")
    assert "<>" in failure.text
    assert error.get("type") == "UNKNOWN"
    assert error.get("message").startswith("the budget of 0.5 s is used up; ")
    (found,) = document["runs"]
    assert [result["ruleId"] for result in found["results"]] == ["likewise/biased", "likewise/unknown"]
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("/biased%20%26%20co.toml")
    lines = Path(claims["biased"]).read_text().splitlines()
    assert lines[place["region"]["startLine"] - 1] == "[similarity]"
    assert found["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [
        "biased & co.likewise",
        "fair.likewise",
    ]
    table = done.stdout.splitlines()
    assert table[-1] == "3 claims: 1 BIASED, 1 UNKNOWN, 1 FAIR"
    rows = table[len(table) - table[::-1].index("") :]
    assert [line.split()[0] for line in rows[1:-1] if line[0] != " "] == ["BIASED", "FAIR", "UNKNOWN"]


def test_fingerprints_stay_while_the_pair_changes(run, claims, tmp_path):
    prints = set()
    for seed in ("0", "7"):
        run("verify", claims["biased"], "--seed", seed, *reports(tmp_path))
        (result,) = read_reports(tmp_path)[1]["runs"][0]["results"]
        prints.add(json.dumps(result["fingerprints"]))
    run("verify", claims["biased"], "--free", "age", *reports(tmp_path))
    (result,) = read_reports(tmp_path)[1]["runs"][0]["results"]
    assert len(prints) == 1
    assert json.dumps(result["fingerprints"]) not in prints


def test_json_is_a_list_for_several_and_one_object_for_one(run, claims):
    many = json.loads(run("verify", claims["biased"], claims["fair"], "--json").stdout)
    one = json.loads(run("verify", claims["fair"], "--json").stdout)
    assert [(entry["spec"], entry["verdict"]) for entry in many] == [
        (claims["biased"], "BIASED"),
        (claims["fair"], "FAIR"),
    ]
    assert set(many[1]) == {*one, "spec"}


def test_quiet_is_one_line_a_claim(run, claims):
    done = run("verify", claims["fair"], claims["biased"], "-q")
    assert done.stdout == f"FAIR     {claims['fair']}\nBIASED   {claims['biased']}\n"


def test_flags_without_a_spec_have_reports_too(run, on_data, tmp_path):
    line = f"verify --model m.skops {on_data} --free sex".split()
    assert run(*line, *reports(tmp_path)).exit_code == 1
    tree, document = read_reports(tmp_path)
    assert tree.find(".//testcase").get("classname") == "claim given by flags"
    place = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "m.skops"}}


def test_an_input_error_ends_the_run_before_any_search(run, claims, spec, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "likewise.verifying.verification.verify_problem", lambda *_, **__: pytest.fail("searched")
    )
    wrong = spec(('kind = "decision"', 'kind = "descision"'), name="wrong.toml")
    done = run("verify", claims["fair"], wrong, "gone.toml", *reports(tmp_path))
    assert done.exit_code == 2
    assert wrong in done.stderr
    assert done.stdout == ""
    tree, document = read_reports(tmp_path)
    assert [error.get("type") for error in tree.iter("error")] == ["UNKNOWN", "INPUT", "INPUT"]
    (invocation,) = document["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolConfigurationNotifications"]) == 2
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["likewise/unknown"]


def test_reports_of_an_earlier_run_are_gone_after_a_usage_error(run, claims, tmp_path):
    run("verify", claims["fair"], *reports(tmp_path))
    assert run("verify", *reports(tmp_path)).exit_code == 2
    assert not (tmp_path / "out.xml").exists()
    assert not (tmp_path / "out.sarif").exists()


@pytest.mark.parametrize("kind", ["--junit", "--sarif"])
def test_a_file_that_is_no_report_is_left_alone(run, claims, kind):
    before = Path(claims["fair"]).read_text()
    done = run("verify", kind, claims["fair"])
    assert done.exit_code == 2
    assert "no such report" in done.stderr
    assert Path(claims["fair"]).read_text() == before


def test_an_error_that_the_search_finds_is_reported_and_ends_the_run(run, claims, tmp_path, monkeypatch):
    def search(*_):
        raise BudgetError("no time for that")

    monkeypatch.setattr("likewise.verifying.verification.verify_problem", search)
    done = run("verify", claims["fair"], claims["biased"], "--jobs", "1", *reports(tmp_path))
    assert done.exit_code == 2
    assert "no time for that" in done.stderr
    tree, _ = read_reports(tmp_path)
    assert [error.get("type") for error in tree.iter("error")] == ["INPUT", "UNKNOWN"]


def test_devices_and_shared_files_are_refused(run, claims, tmp_path):
    for flags in (["--junit", "/dev/null"], ["--junit", "out", "--sarif", "./out"]):
        assert run("verify", claims["fair"], *flags).exit_code == 2
    assert Path("/dev/null").exists()


def test_reports_that_cannot_be_written(run, claims, tmp_path):
    done = run("verify", claims["fair"], "--junit", f"{tmp_path}/none/out.xml")
    assert done.exit_code == 2
    assert "--junit" in done.stderr


def test_the_same_spec_or_certificate_twice(run, claims, tmp_path):
    done = run("verify", claims["fair"], claims["fair"])
    assert done.exit_code == 2
    assert "given twice" in done.stderr
    done = run("verify", "a/claim.toml", "b/claim.toml", "--certificate", str(tmp_path))
    assert done.exit_code == 2
    assert "claim.likewise" in done.stderr


class _Flags:
    """As much of the flags as an outcome without a result looks at."""

    def __init__(self, spec):
        self.spec, self.model, self.import_budget = spec, None, 600.0


def test_claims_behind_an_interrupted_one_are_unknown_and_not_searched(monkeypatch):
    searched = []

    def interrupted(problem, *_, **__):
        searched.append(problem)
        return SimpleNamespace(reason="interrupted after 0.1 s", verdict="UNKNOWN")

    monkeypatch.setattr("likewise.verifying.verification.verify_problem", interrupted)
    loaded = [SimpleNamespace(problem=k) for k in range(3)]
    waiting = [ClaimOutcome(flags=_Flags(f"{one.problem}.toml"), loaded=one) for one in loaded]
    decided = outcomes.decide_claims(waiting, SearchFlags(budget=1.0, jobs=1, seed=0), progress=False)
    assert searched == [0]
    assert [one.verdict for one in decided] == ["UNKNOWN"] * 3
    assert decided[2].reason == "interrupted before it was looked at"
    assert exit_code(decided) == 3


def test_a_folder_takes_the_certificate_of_a_single_spec(run, claims, tmp_path):
    assert run("verify", claims["fair"], "--certificate", str(tmp_path)).exit_code == 0
    assert (tmp_path / "fair.likewise").exists()


def test_the_summary_has_80_columns_and_cuts_no_name():
    names = ["claims/" + "long" * 40 + ".toml", "short.toml"]
    text = plain_text(summary_lines([ClaimOutcome(flags=_Flags(name)) for name in names]))
    assert max(map(len, text.splitlines())) <= 80
    assert names[0] in "".join(
        line.split()[-1] if line[:7].strip() == "" else line.split()[1] for line in text.splitlines()[1:-1]
    )


def test_names_that_xml_cannot_hold_are_replaced():
    tree = check_junit(junit_document([ClaimOutcome(flags=_Flags('a\x00\x1b\ud800<&">.toml'))]))
    assert tree.find(".//testcase").get("classname") == 'a���<&">.toml'


def test_the_schemas_refuse_what_is_no_report(run, claims, tmp_path):
    run("verify", claims["biased"], *reports(tmp_path))
    whole, document = (tmp_path / "out.xml").read_bytes(), json.loads((tmp_path / "out.sarif").read_bytes())
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        check_junit(whole.replace(b"<failure", b"<broken").replace(b"</failure", b"</broken"))
    with pytest.raises(AssertionError):
        check_junit(whole.replace(b'failures="1"', b'failures="0"'))
    for part, value in (("level", "fatal"), ("place", {}), ("message", "words")):
        wrong = json.loads(json.dumps(document))
        wrong["runs"][0]["results"][0][part] = value
        with pytest.raises(jsonschema.ValidationError):
            check_sarif(json.dumps(wrong).encode())
