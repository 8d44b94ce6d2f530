"""Features that change along with others, as flags and in claim files: the same claim, told in words, and written down again."""

import json

import pytest

import likewise as lw
from likewise.cli.ui.choices import choose
from likewise.spec.file import read_spec, spec_text

ALONG = '[similarity.along.income]\nwith = "sex"\nshift = [[0, 1, -10]]\n[property]'
RATE = '[similarity.along.income]\nwith = "age"\nrate = "1/2"\n[property]'


def test_a_file_and_flags_say_the_same(run, spec):
    path = spec(("[property]", ALONG))
    of_file = json.loads(run("measure", path, "--json").stdout)
    of_flags = json.loads(
        run("measure", spec(name="plain.toml"), "--along", "income=sex:0:1:-10", "--json").stdout
    )
    assert of_file["lower"] == of_flags["lower"]
    assert of_file["pair"] == of_flags["pair"]
    one, two = of_file["pair"]
    if one["sex"] != two["sex"]:
        assert abs(abs(one["income"] - two["income"]) - 10) < 1e-9
    plain = json.loads(run("measure", spec(), "--json").stdout)
    assert plain["lower"] != of_file["lower"]


def test_the_relation_is_named_in_words(run, spec):
    said = " ".join(run("verify", spec(("[property]", ALONG))).stdout.split())
    assert "and along with sex in income (-10 from 0 to 1)" in said
    assert "likewise repair" not in said
    rate = " ".join(run("verify", spec(("[property]", RATE))).stdout.split())
    assert "and along with age in income (1/2 for each 1 of age)" in rate


def test_what_is_written_is_read_again(spec, tmp_path):
    for more in (ALONG, RATE):
        claim = read_spec(spec(("[property]", more)))
        (tmp_path / "again.toml").write_text(spec_text(claim, folder=tmp_path))
        assert read_spec(tmp_path / "again.toml").similarity == claim.similarity


def test_a_rate_as_a_flag(run, spec):
    flags = json.loads(run("measure", spec(), "--along", "income=age:1/2", "--json").stdout)
    file = json.loads(run("measure", spec(("[property]", RATE)), "--json").stdout)
    assert flags["lower"] == file["lower"]


def test_what_is_not_known_of_them_is_refused(run, spec):
    path = spec(("[property]", ALONG))
    for command in (("share", "--method", "certified"), ("regions",), ("near",), ("repair",)):
        done = run(*command[:1], path, *command[1:])
        assert done.exit_code == 2, command
        assert "features change along with others (income)" in " ".join(done.stderr.split()), command


@pytest.mark.some_days
def test_rows_and_shares(run, spec):
    """A biased row has a counterpart that obeys the equation; the share of rows is that of the audit."""
    path = spec(("[property]", ALONG))
    found = json.loads(run("audit", path, "--json").stdout)
    assert found["undecided"] == 0
    assert 0 < found["biased"] < found["total"]
    for row in found["rows"]:
        if row["biased"] and row["sex"] != row["counterpart_sex"]:
            step = row["counterpart_income"] - row["income"]
            assert abs(step - (-10 if row["sex"] == 0 else 10)) < 1e-9
    counted = json.loads(run("share", path, "--over", "data", "--json").stdout)
    assert counted["lower"] == counted["upper"] == found["share"]
    drawn = json.loads(run("share", path, "--budget", "2", "--json").stdout)
    assert 0 <= drawn["lower"] <= drawn["upper"] <= 1


def test_flags_that_cannot_be_read(run, spec):
    for text, words in (
        ("incom=sex:0:1:-10", "no feature 'incom'"),
        ("income=sexx:0:1:-10", "names no feature that it changes along with"),
        ("income=sex:0:7:-10", "unknown level"),
        ("income=sex:0:1:much", "no number"),
        ("income=age:30:31:-10", "--along income=age:RATE changes by a rate"),
    ):
        done = run("verify", spec(), "--along", text)
        assert done.exit_code == 2
        assert words in done.stderr


def test_the_report_names_the_relation(run, spec, tmp_path):
    page = tmp_path / "report.html"
    run("report", spec(("[property]", ALONG)), "--output", str(page))
    assert "changes along with sex: -10 from 0 to 1" in page.read_text()


def test_a_radius_around_the_equation(run, spec):
    """The tolerance that is looked for is the room around the shift; that of a leader is refused."""
    path = spec(("[property]", ALONG))
    assert run("radius", path, "--feature", "income").exit_code in (0, 1, 3)
    led = run("radius", spec(("[property]", RATE)), "--feature", "age")
    assert led.exit_code == 2
    assert "other features change along with it" in led.stderr


def test_an_along_is_a_public_value():
    assert lw.Along("sex", {("m", "f"): -3}).to_dict() == {"with": "sex", "shift": [["m", "f", -3]]}


def test_choices_of_the_page_keep_what_changes_along(spec):
    claim = read_spec(spec(("[property]", ALONG)))
    assert (
        choose(claim, {"features": {"age": {"relation": "same"}}}).similarity.along == claim.similarity.along
    )
    assert not choose(claim, {"features": {"sex": {"relation": "same"}}}).similarity.along


WHERE = """[[similarity.along.income]]
with = "sex"
shift = [[0, 1, -10]]
where = { age = { from = 40 } }
[[similarity.along.income]]
with = "sex"
shift = [[0, 1, -5, 5]]
[property]"""
TABLE = """[similarity.along.job]
with = "sex"
table = [[0, 1, "engineer", "teacher"], [0, 1, "nurse", "nurse", "teacher"], [0, 1, "none", []], [0, 1, { missing = true }, "none"]]
where = { sector = ["public", { missing = true }], age = { from = 20, to = 30 } }
[property]"""
ONLY_SEX = ("within = { age = 2 }", "")
MORE_LEVELS = """[features.job]
kind = "categorical"
levels = ["engineer", "teacher", "nurse", "none"]
missing = true
[features.sector]
kind = "categorical"
levels = ["public", "private"]
missing = true
[similarity]"""


def test_conditions_in_a_file(run, spec):
    """A shift by 10 above 40 years, and room of 5 around the same below."""
    found = json.loads(run("audit", spec(ONLY_SEX, ("[property]", WHERE)), "--json").stdout)
    assert found["undecided"] == 0
    seen = set()
    for row in found["rows"]:
        if row["biased"]:
            step = (row["counterpart_income"] - row["income"]) * (1 if row["sex"] == 0 else -1)
            assert row["sex"] != row["counterpart_sex"]
            assert abs(step + 10) < 1e-9 if row["age"] >= 40 else -5 <= step <= 5
            seen.add(row["age"] >= 40)
    assert seen
    said = " ".join(run("verify", spec(ONLY_SEX, ("[property]", WHERE))).stdout.split())
    told = "and along with sex in income (-10 from 0 to 1, where age is at least 40, or else -5 to 5 from 0 to 1)"
    assert told in said


def test_conditions_in_a_report(run, spec, tmp_path):
    page = tmp_path / "report.html"
    run("report", spec(ONLY_SEX, ("[property]", WHERE)), "--output", str(page))
    assert "changes along with sex: -10 from 0 to 1, where age is at least 40, or else" in page.read_text()


def test_tables_and_conditions_are_written_and_read_again(spec, tmp_path):
    for more in (WHERE, TABLE):
        claim = read_spec(spec(ONLY_SEX, ("[similarity]", MORE_LEVELS), ("[property]", more)))
        (tmp_path / "again.toml").write_text(spec_text(claim, folder=tmp_path))
        assert read_spec(tmp_path / "again.toml").similarity == claim.similarity
    jobs = claim.similarity.along["job"]
    assert jobs == lw.Along(
        "sex",
        table={(0, 1): {"engineer": "teacher", "nurse": ["nurse", "teacher"], "none": [], None: "none"}},
        where={"sector": ["public", None], "age": {"from": 20, "to": 30}},
    )
    assert jobs.words == (
        "from 0 to 1 engineer becomes teacher, nurse becomes nurse or teacher, none has no counterpart, missing becomes none, "
        "where sector is public or missing and age is from 20 to 30"
    )


def test_conditions_that_a_file_gets_wrong(run, spec):
    for old, new, words in (
        ("from = 40", "form = 40", "unknown key 'form'"),
        ("age = {", "agee = {", "condition on 'agee', which is no feature"),
        ("from = 40", "from = 90", "never holds"),
        ("age = { from = 40 }", "sex = [1]", "condition on 'sex', which may differ"),
        ("age = { from = 40 }", "income = [1]", "condition on 'income', which may differ"),
        ("where =", "were =", "unknown key 'were'"),
    ):
        done = run("verify", spec(ONLY_SEX, ("[property]", WHERE.replace(old, new))))
        assert done.exit_code == 2, words
        assert words in " ".join(done.stderr.split()), done.stderr
    tolerance = run("verify", spec(("[property]", WHERE)))
    assert "condition on 'age', which may differ" in " ".join(tolerance.stderr.split())


def test_choices_of_the_page_keep_conditions(spec):
    claim = read_spec(spec(ONLY_SEX, ("[property]", WHERE)))
    kept = choose(claim, {"features": {"age": {"relation": "same"}}}).similarity
    assert kept.along == claim.similarity.along
