"""Onto the terminal: an answer with a little colour where it helps, plain text, or one JSON object and nothing else.

All text is readable without colour; colour is added on a terminal only, and not where NO_COLOR is set.
Output is written in one piece once everything is known, so an error never follows half an answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.streams import silence_stdout

if TYPE_CHECKING:
    from likewise.answers.answer import Answer
    from likewise.answers.terminal import Line


def emit_answer(answer: Answer) -> None:
    """Write an answer to stdout, with its next steps."""
    from likewise.answers.terminal import answer_lines

    emit_lines(answer_lines(answer))


def emit_lines(lines: Sequence[Line]) -> None:
    """Write lines to stdout, in colour on a terminal."""
    from likewise.answers.terminal import colour_lines, plain_text

    emit(colour_lines(lines) if wants_colour() else plain_text(lines))


def emit(text: str) -> None:
    """Write text to stdout as it is; a reader that has gone is no error."""
    try:
        click.echo(text, color=wants_colour())
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def emit_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Write one JSON object, or one list of them, to stdout."""
    emit(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def wants_colour() -> bool:
    """Whether whoever reads stdout sees colours, and wants them."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def report_defect(*, debug: bool) -> None:
    """What to do about an internal error, on stderr."""
    again = "" if debug else " and what the same command prints with --debug"
    click.echo(f"This is a defect of Likewise, not of your input. Please report it{again}.", err=True)
