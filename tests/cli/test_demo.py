"""The demo: its structure, and that what it shows can be read."""

import re

import pytest


@pytest.fixture(scope="module")
def shown():
    from click.testing import CliRunner

    from likewise.cli.app import cli

    done = CliRunner().invoke(cli, ["demo"])
    assert done.exit_code == 0
    assert done.stderr == ""
    return done.stdout


def test_biased_measured_fair_next(shown):
    titles = [title for title, line in re.findall(r"^(.+)\n(-+)$", shown, flags=re.MULTILINE) if line]
    assert titles == [
        "likewise demo: German Credit",
        "1  Is the model fair?",
        "2  How unfair can it be?",
        "3  And without the attribute?",
        "Next",
    ]
    # Whether both ends of the bracket meet depends on the last digits of the model, which differ between processors.
    found = re.findall(r"^(?:verdict +(\w+)|largest +(?:between )?0\.)", shown, flags=re.MULTILINE)
    assert found == ["BIASED", "", "FAIR"]


def test_levels_are_shown_by_name(shown):
    pairs = re.findall(r"^  sex-marital-status +(\S+) +<> (\S+)$", shown, flags=re.MULTILINE)
    assert len(pairs) == 2
    assert all(re.match("male|female", side) for pair in pairs for side in pair)
    assert re.search(r"^  decision +good +bad$", shown, flags=re.MULTILINE)
    assert "P(good)" in shown


def test_80_columns_without_colour(shown):
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_commands_it_names_exist(shown):
    from likewise.cli.app import cli

    assert set(re.findall(r"^  likewise (\w+)", shown, flags=re.MULTILINE)) <= set(cli.commands)
