"""Every next step that a command prints is run as it is printed: it ends with one of its codes, and is about the same claim."""

import json
import re
import shlex

import pytest
from tests.cli.conftest import ON_DATA

# On small models; each says something about one claim, by flags, by a claim file, and by both.
FLAGS = f"--model m.skops {ON_DATA} --free sex"
LINES = {
    "biased": f"verify {FLAGS}",
    "fair": f"verify --model fair.skops {ON_DATA} --free sex --within age=2",
    "a gap": f"verify {FLAGS} --property probability:0.01",
    "a gap that is kept": f"verify {FLAGS} --property score:99",
    "unknown": "verify --model s.skops --data s.csv --free sex --budget 0.1 --seed 3 --jobs 1",
    "a pickle": f"verify --model m.joblib {ON_DATA} --free sex --allow-pickle --import-budget 300",
    "some individuals": [*f"verify {FLAGS} --where".split(), "income <= 50 + age", "--where", "age >= 20"],
    "along": f"verify {FLAGS} --along income=sex:-10",
    "in one direction": f"verify --model m.skops {ON_DATA} --property monotone:income,down",
    "by a name": f"verify --model m.skops {ON_DATA} --property influence:income,score=0.1",
    "measure a fall": f"measure --model m.skops {ON_DATA} --property monotone:income,down",
    "as fast as a distance": f"verify --model m.skops {ON_DATA} --property lipschitz:0.001 --metric l1:income=1",
    "no faster": f"verify --model m.skops {ON_DATA} --property lipschitz:9 --metric l1:income=1",
    "one class": f"verify --model three.skops {ON_DATA} --free sex --within age=9 --class-of-interest middle",
    "measure": f"measure {FLAGS}",
    "measure probabilities": f"measure {FLAGS} --of probability --tolerance 0.01",
    "measure a margin": f"measure {FLAGS} --of margin",
    "measure nothing": f"measure --model fair.skops {ON_DATA} --free sex",
    "measure in no time": "measure --model s.skops --data s.csv --free sex --budget 0.1 --of margin",
    "measure a class": f"measure --model three.skops {ON_DATA} --free sex --class-of-interest low",
    "audit": f"audit {FLAGS} --by sex --property score:1",
    "share": f"share {FLAGS} --method sampled --budget 1",
    "near": "near --model s.skops --data s.csv --free sex --budget 0.1",
    "radius": "radius --model s.skops --data s.csv --free sex --within b0=1 --budget 0.1",
    "compare": f"compare --model fair.skops --with m.skops {ON_DATA} --free sex",
    "compare in no time": f"compare --model rbf.skops --with rbf.skops {ON_DATA} --free sex --budget 0.01",
    "repair": f"repair {FLAGS} --weights observed",
    "repair to a file": f"repair {FLAGS} --output here.skops",
    "repair without success": f"repair {FLAGS} --method threshold --budget 5",
}
CODES = (0, 1, 3)


def steps(text):
    """The commands as a terminal shows them: what stands below a reason, lines that go on put together."""
    after = re.search(r"^next     .*", text, flags=re.MULTILINE | re.DOTALL)
    if after is None:
        return []
    shown = after[0].replace("\\\n", " ").splitlines()
    assert all(line.endswith(":") for line in shown[::2])
    return [line.strip() for line in shown[1::2]]


@pytest.mark.some_days
@pytest.mark.draw(7)
@pytest.mark.parametrize("name", LINES)
def test_it_runs_as_it_is_printed(name, run):
    line = LINES[name] if isinstance(LINES[name], list) else LINES[name].split()
    printed = run(*line)
    assert printed.exit_code in CODES, printed.output
    told = steps(printed.stdout)
    assert told or name == "compare in no time"
    for step in told:
        program, *words = shlex.split(step)
        assert program == "likewise"
        assert [word for word in _claimed(line[1:]) if word not in words] == []
        followed = run(*_quick(words))
        assert followed.exit_code in CODES, (step, followed.output)
        asked = _paragraph(printed.stdout, "claim") or _paragraph(printed.stdout, line[0])
        assert _similar(asked) in (
            _paragraph(followed.stdout, "claim") or _paragraph(followed.stdout, words[0])
        )
        if "--property" in line and "--property" in words and line[0] == words[0]:
            assert asked == _paragraph(followed.stdout, "claim")


def _similar(claim):
    """Of a claim in words, who is similar."""
    return re.search(r"who (.*?)(?: get | are alike |$)", claim)[1]


def test_programs_are_told_the_same(run):
    line = LINES["biased"].split()
    document = json.loads(run(*line, "--json").stdout)
    told = [shlex.join(shlex.split(step)) for step in steps(run(*line).stdout)]
    assert [step["command"] for step in document["next"]] == told
    assert document["warnings"] == []
    assert document["summary"].startswith("Two similar individuals break the claim")


def _claimed(given):
    """The words of a claim: from --model to what is allowed to differ, and what is needed to read the model."""
    found, words = [], iter(given)
    for word in words:
        if word in ("--allow-pickle",):
            found.append(word)
        elif word in (
            "--data",
            "--label",
            "--free",
            "--within",
            "--where",
            "--import-budget",
            "--class-of-interest",
        ):
            found += [word, next(words)]
    return found


def _quick(words):
    """The same in little time: a step that searches longer would take ten times as long."""
    if "--budget" in words:
        at = words.index("--budget")
        assert float(words[at + 1]) > 0
        words = [*words[:at], *words[at + 2 :]]
    return [*words, "--budget", "0.3"]


def _paragraph(text, title):
    found = re.search(rf"^{title} +(.*(?:\n {{9}}.*)*)", text, flags=re.MULTILINE)
    return "" if found is None else " ".join(found[1].split())


def test_a_spec_file_with_flags_over_it(run, spec, tmp_path):
    path = spec(name="a claim's file.toml")
    printed = run("verify", path, "--model", "fair.skops", "--property", "probability:0.2")
    (told,) = steps(printed.stdout)
    words = shlex.split(told)
    assert words == ["likewise", "measure", path, "--model", "fair.skops", "--of", "probability"]
    assert run(*words[1:]).exit_code in CODES


@pytest.mark.some_days
@pytest.mark.parametrize("line", ["verify", "measure --of margin"])
def test_a_search_that_was_written_down_goes_on_from_there(run, tmp_path, line):
    file = f"{tmp_path}/state"
    hard = "--model s.skops --data s.csv --free sex --jobs 1 --budget 0.1"
    (longer,) = (
        step for step in steps(run(f"{line} {hard} --checkpoint {file}").stdout) if "--budget" in step
    )
    words = shlex.split(longer)[1:]
    assert words[words.index("--checkpoint") + 1] == file
    assert "--resume" in words
    assert run(*_quick(words)).exit_code == 3


@pytest.mark.some_days
def test_of_several_claims_each_goes_on_from_its_own_state(run, shelf, tmp_path):
    claim = (
        f'[model]\npath = "{shelf}/s.skops"\n[data]\npath = "{shelf}/s.csv"\n[similarity]\nfree = ["sex"]\n'
    )
    specs = [tmp_path / "one.toml", tmp_path / "two.toml"]
    for spec in specs:
        spec.write_text(claim)
    line = [
        "verify",
        *map(str, specs),
        "--jobs",
        "1",
        "--budget",
        "0.1",
        "--checkpoint",
        f"{tmp_path}/states",
    ]
    (longer,) = json.loads(run(*line, "--json").stdout)[1]["next"]
    words = shlex.split(longer["command"])[1:]
    assert (tmp_path / "states" / "two.checkpoint").exists()
    assert run(*_quick(words)).exit_code == 3


def test_types_that_are_trusted_are_trusted_again(run, spec, monkeypatch):
    path = spec()
    told = steps(run("verify", path, "--trust", "sklearn.some.Type", "--trust", "other.Type").stdout)
    assert all("--trust sklearn.some.Type --trust other.Type" in step for step in told)


def test_init_says_how_the_model_is_opened(run, tmp_path):
    output = tmp_path / "claim of mine.toml"
    done = run(
        "init",
        "d.csv",
        "--model",
        "m.joblib",
        "--allow-pickle",
        "--label",
        "approved",
        "--free",
        "sex",
        "-o",
        str(output),
    )
    assert done.exit_code == 0, done.output
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("  likewise "))
    assert run(*shlex.split(told)[1:]).exit_code in CODES


def test_explain_and_card_name_commands_that_run(run, spec, tmp_path, monkeypatch):
    from likewise_check.__main__ import main

    path, proof = spec(), tmp_path / "my proof.likewise"
    run("verify", path, "--certificate", str(proof))
    (check,) = steps(run("explain", str(proof)).stdout)
    program, *words = shlex.split(check)
    assert (program, main(words)) == ("likewise-check", 1)  # an accepted witness
    card = run("card", path, "--property", "score:3").stdout
    verify, checked = re.search(r"```\n(.*)\n(.*)\n```", card).groups()
    monkeypatch.chdir(tmp_path)
    assert run(*shlex.split(verify)[1:]).exit_code in CODES
    assert main(shlex.split(checked)[1:]) == 0


@pytest.mark.parametrize("way", ["up", "down"])
def test_nothing_that_would_be_refused_is_suggested_of_a_claim_in_one_direction(run, way):
    done = run(f"verify --model m.skops --data d.csv --label approved --property monotone:income,{way}")
    assert done.exit_code == (0 if way == "up" else 1), done.output
    assert ("likewise audit" in done.output) == (way == "down")  # who is in a pair that breaks it
    assert ("likewise measure" in done.output) == (way == "down")
    assert "likewise repair" not in done.output


def test_nothing_that_would_be_refused_is_suggested_of_other_claims(run):
    steep = run(f"verify --model m.skops {ON_DATA} --property lipschitz:0.001 --metric l1:income=1")
    assert steep.exit_code == 1, steep.output
    assert "likewise measure" in steep.output
    assert "likewise audit" in steep.output
    assert "likewise repair" not in steep.output
    along = run(f"verify {FLAGS} --along income=sex:-10")
    assert along.exit_code == 1, along.output
    assert "likewise audit" in along.output
    assert "likewise repair" not in along.output
