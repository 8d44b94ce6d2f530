"""What the commands print, word for word; `make snapshots` writes the files again, and the diff shows what has changed."""

import sys

import pytest
from tests.cli import snapshots

from likewise.answers.answer import Role, Span, verdict, words
from likewise.answers.terminal import colour_lines, plain_text
from likewise.cli.output import emit_lines

WIDTH = 80


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    snapshots.furnish(folder)
    return folder


@pytest.mark.some_days
@pytest.mark.draw(12)
@pytest.mark.parametrize("name", snapshots.LINES)
def test_it_prints_what_it_did(name, furnished):
    text = snapshots.printed(name, furnished)
    assert text == (snapshots.FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    assert all(line.isprintable() for line in text.splitlines())  # no escapes: no colour


def test_no_snapshot_is_left_over():
    assert {path.stem for path in snapshots.FOLDER.iterdir()} == set(snapshots.LINES)


@pytest.mark.parametrize(("setting", "value"), [("NO_COLOR", "1"), ("NO_COLOR", ""), ("TERM", "dumb")])
def test_terminals_without_colour(setting, value, monkeypatch, capsys):
    lines = [words(Span("verdict", Role.TITLE), "  ", verdict("BIASED")), words("  sex  m <> f")]
    text = plain_text(lines)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    emit_lines(lines)
    assert capsys.readouterr().out == f"{colour_lines(lines)}\n" != f"{text}\n"
    monkeypatch.setenv(setting, value)
    emit_lines(lines)
    assert capsys.readouterr().out == f"{text}\n"
