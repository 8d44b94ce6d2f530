"""Numbers of thousands of digits, wherever a command takes a number from a file or a flag: refused in words, and never an internal error."""

import json

import pytest
from tests.cli.test_bad_input import refused

LONG = "9" * 5000  # Python refuses to turn text of more than 4,300 digits into a whole number
NUMBERS = {
    "too long for Python": LONG,
    "long, and below its limit": LONG[:4000],
    "negative": f"-{LONG[:4000]}",
    "hexadecimal, which has no limit": "0x" + "f" * 5000,
    "binary": "0b" + "1" * 20_000,
    "beyond all doubles": "9" * 400,
}
PLACES = ["lo = 18", "hi = 70", "levels = [0", "hi = 100", "age = 2"]


@pytest.mark.draw(8)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", NUMBERS.values(), ids=list(NUMBERS))
def test_claim_files(run, spec, place, number):
    changed = " = ".join([place.split(" = ")[0], "[" * ("[" in place) + number])
    said = refused(run("verify", spec((place, changed))))
    assert "claim.toml" in said
    assert len(said) < 600


def test_long_numbers_in_claim_files_are_named_by_their_key(run, spec):
    said = refused(run("verify", spec(("hi = 70", f"hi = {LONG[:4000]}"))))
    assert "features.age.hi" in said
    assert "digits is too large" in said


@pytest.mark.draw(6)
@pytest.mark.parametrize(
    "flags",
    [
        ["--property", f"score:{LONG}"],
        ["--within", f"age=-{LONG}"],
        ["--within", f"age={LONG}%"],
        ["--where", f"age <= {LONG}"],
        ["--where", f"age <= 1e{LONG}"],
        ["--seed", LONG],
        ["--jobs", LONG],
        ["--class-of-interest", LONG],
        ["--certificate", LONG],
        ["--data", f"{LONG}.csv"],
    ],
    ids=lambda flags: " ".join(flags)[:24],
)
def test_flags(run, spec, flags):
    done = run("verify", spec(), *flags)
    assert done.exit_code == 2
    assert "Error:" not in done.stderr.replace("Usage", "").replace("\nError: Invalid value", "")
    assert "internal" not in done.stderr


@pytest.mark.parametrize("row", [LONG, "9" * 19, "-" + LONG])
def test_a_row_that_no_table_has(run, spec, row):
    refused(run("regions", spec(), "--around", row, "--budget", "1"))


@pytest.mark.parametrize("number", [LONG, LONG[:4000], f"-{LONG[:400]}", "1e400", "NaN", "Infinity"])
def test_documents_of_analyses(run, spec, tmp_path, number):
    share = {"lower": 0.25, "upper": 0.5, "method": "sampled", "confidence": "?", "over": "rows"}
    (tmp_path / "s.json").write_text(json.dumps(share).replace('"?"', number))
    for command in (["card", spec()], ["report", spec(), "-o", str(tmp_path / "r.html")]):
        said = refused(run(*command, "--share", str(tmp_path / "s.json")), "--share", "JSON")
        assert len(said) < 600


def test_cells_of_data(run, tmp_path, shelf):
    rows = (shelf / "d.csv").read_text().splitlines()
    for cell in (LONG, f"-{LONG}", f"1e{LONG}"):
        cells = rows[1].split(",")
        (tmp_path / "d.csv").write_text("\n".join([rows[0], ",".join([cell, *cells[1:]]), *rows[2:]]) + "\n")
        said = refused(
            run(f"verify --model m.skops --data {tmp_path}/d.csv --label approved --free sex"), "'age'"
        )
        assert len(said) < 600
