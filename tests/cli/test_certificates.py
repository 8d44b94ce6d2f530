"""Certificates on the command line: saved by verify and measure, explained, and tied to the exported model."""

import json
import subprocess
import sys

import pytest

import likewise as lw

CLAIM = "--data d.csv --label approved --free sex"


def checked(*args):
    command = [sys.executable, "-m", "likewise_check", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("model", "code", "kind"), [("fair", 0, "proof"), ("m", 1, "witness")])
def test_verify_saves_what_the_checker_accepts(run, tmp_path, model, code, kind):
    path = tmp_path / "c.likewise"
    done = run(f"verify --model {model}.skops {CLAIM} --certificate {path}")
    assert done.exit_code == code
    assert f"likewise-check {path}" in " ".join(done.stdout.split())  # however it is wrapped
    report = lw.check(path)
    assert (report.accepted, report.kind) == (True, kind)
    assert checked(path).returncode == code


def test_measure_saves_a_proof_of_its_upper_end(run, tmp_path):
    path = tmp_path / "c.likewise"
    done = run(f"measure --model m.skops {CLAIM} --certificate {path} --json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["certified"] is True
    assert lw.check(path).accepted
    assert lw.load_certificate(path).outline().kind == "proof"


def test_measure_writes_none_unless_asked(run):
    done = run(f"measure --model m.skops {CLAIM} --json")
    assert json.loads(done.stdout)["certified"] is False


@pytest.mark.parametrize("command", ["verify", "measure"])
def test_a_place_that_cannot_be_written_is_an_input_error(run, tmp_path, command):
    done = run(f"{command} --model fair.skops {CLAIM} --certificate {tmp_path}/nowhere/c.likewise")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_the_export_ties_the_certificate_to_the_model(run, tmp_path):
    path, own, other = tmp_path / "c.likewise", tmp_path / "own.json", tmp_path / "other.json"
    run(f"verify --model fair.skops {CLAIM} --certificate {path}")
    for model, place in (("fair", own), ("m", other)):
        done = run(f"export --model {model}.skops {CLAIM} -o {place}")
        assert done.exit_code == 0
        assert "LogisticRegression" in done.stdout
    assert own.read_bytes() == lw.load_certificate(path).model_line()
    assert checked(path, "--model", own).returncode == 0
    refused = checked(path, "--model", other)
    assert refused.returncode == 4
    assert "another model" in refused.stdout
    assert checked(path, "--model", tmp_path / "none.json").returncode == 2


def test_the_whole_export_ties_the_certificate_to_the_claim(run, tmp_path):
    path, own, other = tmp_path / "c.likewise", tmp_path / "own.lines", tmp_path / "other.lines"
    run(f"verify --model fair.skops {CLAIM} --certificate {path}")
    done = run(f"export --model fair.skops {CLAIM} --whole -o {own}")
    assert done.exit_code == 0
    assert "space, similarity, property" in done.stdout
    run(f"export --model fair.skops {CLAIM} --property score:1 --whole -o {other}")
    assert checked(path, "--claim", own, "--expect", "fair").returncode == 0
    assert checked(path, "--claim", own, "--expect", "biased").returncode == 1
    refused = checked(path, "--claim", other)
    assert refused.returncode == 4
    assert "another property" in refused.stdout


def test_an_export_that_cannot_be_written_is_an_input_error(run, tmp_path):
    done = run(f"export --model m.skops {CLAIM} -o {tmp_path}/nowhere/m.json")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_explain_tells_a_proof(run, tmp_path):
    path = tmp_path / "c.likewise"
    run(f"verify --model fair.skops {CLAIM} --certificate {path}")
    done = run("explain", str(path))
    assert done.exit_code == 0
    for words in ("differ only in sex", "holds for every similar pair", "independent", "does not cover"):
        assert words in " ".join(done.stdout.split())
    told = json.loads(run("explain", str(path), "--json").stdout)
    assert (told["kind"], told["nodes"], told["rules"]) == ("proof", 1, {"independent": 1})
    assert told["digests"] == lw.check(path).digests


def test_explain_tells_a_witness(run, tmp_path):
    path = tmp_path / "c.likewise"
    run(f"verify --model m.skops {CLAIM} --certificate {path}")
    assert "it does not hold: a pair that breaks it" in run("explain", str(path)).stdout
    told = json.loads(run("explain", str(path), "--json").stdout)
    assert (told["kind"], told["nodes"], told["clearance"]) == ("witness", 0, None)


def test_explain_refuses_what_is_no_certificate(run, tmp_path):
    whole = tmp_path / "c.likewise"
    run(f"verify --model fair.skops {CLAIM} --certificate {whole}")
    cut = tmp_path / "cut.likewise"
    cut.write_bytes(whole.read_bytes()[:-40])
    other = tmp_path / "other.likewise"
    other.write_text("{}")
    for path, said in (
        (cut, "not a readable certificate"),
        (other, "not a certificate"),
        (tmp_path / "none", "cannot be read"),
    ):
        done = run("explain", str(path))
        assert done.exit_code == 2
        assert said in done.stderr
        assert done.stdout == ""
        assert checked(path).returncode in (2, 4)


ON_S = "--model s.skops --data s.csv --free sex --budget 0.3"


@pytest.fixture
def older(run, tmp_path):
    """A certificate of an earlier run."""
    path = tmp_path / "c.likewise"
    run(f"verify --model fair.skops {CLAIM} --certificate {path} -q")
    assert lw.check(path).accepted
    return path


@pytest.mark.some_days
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"verify {ON_S}", 3),
        (f"radius {ON_S} --feature b0", 3),
        (f"card {ON_S}", 0),
        ("verify none.toml", 2),
        ("verify", 2),
    ],
)
def test_a_run_without_a_certificate_leaves_none_of_an_earlier_run(run, older, line, code):
    content = older.read_bytes()
    done = run(f"{line} --certificate {older}")
    assert done.exit_code == code
    assert not older.exists()
    moved = older.with_name("c.likewise.old")
    assert moved.read_bytes() == content
    assert f"no certificate was written to {older}; the older one is now {moved}" in done.stderr


def test_a_new_certificate_replaces_an_older_one(run, older):
    done = run(f"verify --model m.skops {CLAIM} --certificate {older}")
    assert (done.exit_code, done.stderr) == (1, "")
    assert lw.check(older).kind == "witness"
    assert [path.name for path in older.parent.iterdir()] == [older.name]


def test_older_certificates_in_a_folder(run, spec, tmp_path):
    folder = tmp_path / "proofs"
    names = [spec(("m.skops", f"{model}.skops"), name=f"{model}.toml") for model in ("m", "fair")]
    run("verify", *names, "--certificate", str(folder), "-q")
    assert sorted(path.name for path in folder.iterdir()) == ["fair.likewise", "m.likewise"]
    done = run("verify", *names, "--certificate", str(folder), "--free", "nothing")
    assert done.exit_code == 2
    assert sorted(path.name for path in folder.iterdir()) == ["fair.likewise.old", "m.likewise.old"]
    assert done.stderr.count("no certificate was written") == 2


def test_older_certificates_stay_where_one_of_the_places_is_taken(run, spec, tmp_path):
    folder = tmp_path / "proofs"
    names = [spec(("m.skops", f"{model}.skops"), name=f"{model}.toml") for model in ("fair", "m")]
    run("verify", *names, "--certificate", str(folder), "-q")
    (folder / "m.likewise").write_text("mine")
    done = run("verify", *names, "--certificate", str(folder))
    assert done.exit_code == 2
    assert f"{folder / 'm.likewise'}: already exists and is no certificate" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["fair.likewise", "m.likewise"]


REGIONS = f"regions --model m.skops {CLAIM} -q"


def test_older_certificates_of_regions(run, older, tmp_path):
    folder = tmp_path / "proofs"
    folder.mkdir()
    for name in ("fair-1", "fair-98", "fair-99", "biased-98-upper", "biased-98-lower", "mine"):
        (folder / f"{name}.likewise").write_bytes(older.read_bytes())
    done = run(f"{REGIONS} --around 3 --certificates {folder}")
    assert done.exit_code == 0, done.output
    left = ["biased-98-lower", "biased-98-upper", "fair-98", "fair-99"]
    kept = ["fair-1.likewise", "mine.likewise", *(f"{name}.likewise.old" for name in left)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(kept)
    assert (folder / "fair-1.likewise").read_bytes() != older.read_bytes()
    assert done.stderr.count("no certificate was written to") == 3
    assert "nor to 1 more places" in done.stderr


def test_an_error_of_regions_leaves_no_certificate_of_an_earlier_run(run, older, tmp_path):
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "fair-1.likewise").write_bytes(older.read_bytes())
    assert run(f"{REGIONS} --certificates {folder} --around 5000").exit_code == 2
    assert [path.name for path in folder.iterdir()] == ["fair-1.likewise.old"]


@pytest.mark.parametrize("command", ["verify", "measure", "radius", "report -o r.html", "card", "repair"])
def test_a_file_that_is_no_certificate_is_left_alone(run, tmp_path, command):
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    done = run(f"{command} --model m.skops {CLAIM} --certificate {path}")
    assert done.exit_code == 2
    assert "already exists and is no certificate" in done.stderr
    assert path.read_text() == "mine"
