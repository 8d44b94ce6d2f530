"""`likewise warm-up`: every family once, and what it takes."""

from click.testing import CliRunner

from likewise.analysis import warming
from likewise.cli.app import cli


def test_every_family_is_warmed_up(monkeypatch):
    asked = []
    monkeypatch.setattr(warming, "warm_up_family", asked.append)
    done = CliRunner().invoke(cli, ["warm-up"])
    assert done.exit_code == 0
    assert asked == list(warming.FAMILIES)
    assert [line.split()[0] for line in done.output.splitlines()] == asked
