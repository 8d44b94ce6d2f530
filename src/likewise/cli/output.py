"""Onto the terminal: text with a little colour where it helps, or one JSON object and nothing else.

All text is readable without colour; colour is added on a terminal only, and not where NO_COLOR is set.
Output is written in one piece once everything is known, so an error never follows half an answer.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import click

from likewise.cli.streams import silence

_TITLE = re.compile(
    r"^(spec|claim|measure|space|verdict|reading|reason|bounds|between|proof|says|margin|model|radius|proved|refuted|change|audit|rows|biased|undecided|worst|by|file|share|over|basis|compared|next|regions|around|fair|empty|old|new|repaired|changed|before|after|report|without)\b",
    re.MULTILINE,
)
_VERDICT = re.compile(r"^(verdict +)(FAIR|BIASED|UNKNOWN)", re.MULTILINE)
_COLOURS = {"FAIR": "green", "BIASED": "red", "UNKNOWN": "yellow"}
_DIFFERS = re.compile(r"^  .* <> .*$", re.MULTILINE)


def emit(text: str) -> None:
    """Write text to stdout, in colour on a terminal; a reader that has gone is no error."""
    try:
        click.echo(coloured(text) if _wants_colour() else text, color=_wants_colour())
        sys.stdout.flush()
    except BrokenPipeError:
        silence()


def emit_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Write one JSON object, or one list of them, to stdout."""
    emit(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def coloured(text: str) -> str:
    """The same text with verdict, differing features and titles set apart."""
    text = _DIFFERS.sub(lambda found: click.style(found[0], bold=True), text)
    text = _VERDICT.sub(
        lambda found: found[1] + click.style(found[2], fg=_COLOURS[found[2]], bold=True), text
    )
    return _TITLE.sub(lambda found: click.style(found[0], fg="cyan"), text)


def _wants_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
