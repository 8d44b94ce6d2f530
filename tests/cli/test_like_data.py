"""--like-data alone, with a value, and beside a claim file: what follows it is never taken for its value."""

import json

from likewise.cli.app import cli
from likewise.cli.optional_values import OptionalValue
from likewise.cli.steps import repeat_command
from likewise.cli.table import options_of

LINE = "verify --model m.skops --data d.csv --label approved --free sex --json"


def stats(done):
    assert done.exit_code == 1, done.output
    return json.loads(done.stdout)["stats"]


def test_alone_it_is_the_nearest_and_with_a_value_the_most_frequent(run):
    for line in (f"{LINE} --like-data", f"{LINE} --like-data=nearest"):
        found = stats(run(line))
        assert "nearest_row" in found
        assert "frequency" not in found
    found = stats(run(f"{LINE} --like-data=frequent"))
    assert "nearest_row" not in found
    assert set(found["frequency"]) == {"rarer_rows", "usual_share", "rarest", "rarest_share"}
    plain = stats(run(LINE))
    assert not {"nearest_row", "frequency"} & set(plain)


def test_a_claim_file_behind_it_stays_a_claim_file(run):
    assert run("init d.csv --model m.skops --label approved --free sex -o claim.toml").exit_code == 0
    assert "nearest_row" in stats(run("verify --like-data claim.toml --json"))
    assert "frequency" in stats(run("verify --like-data=frequent claim.toml --json"))
    assert "nearest_row" in stats(run("verify --json --like-data -- claim.toml"))


def test_other_values_are_refused_and_help_shows_the_form(run):
    done = run(f"{LINE} --like-data=often")
    assert done.exit_code == 2
    assert "'often'" in done.stderr
    assert "--like-data[=frequent]" in run("verify --help").stdout


def test_the_pair_is_told_in_words(run):
    done = run(f"{LINE.replace(' --json', '')} --like-data=frequent")
    assert "the first individual is more frequent than" in " ".join(done.stdout.split())


def test_next_steps_repeat_it_as_it_was_given():
    (option,) = (one for one in options_of("verify") if isinstance(one, OptionalValue))
    assert option in cli.commands["verify"].params
    for value, word in (("nearest", "--like-data"), ("frequent", "--like-data=frequent")):
        line = repeat_command("verify", "verify", {"like_data": value}, "claim.toml", None, {})
        assert line == ["likewise", "verify", "claim.toml", word]
    assert repeat_command("verify", "verify", {"like_data": None}, None, None, {}) == ["likewise", "verify"]
