"""The tables of ``likewise bench paper``: for a terminal, as Markdown, and everything as JSON."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from likewise import __version__
from likewise.figures import percent_text

if TYPE_CHECKING:
    from likewise.paper.experiment import Document, ExperimentCell, Plan

    Rows = list[tuple[str, ...]]

WIDTH = 150  # of the tables where stdout is no terminal
EMPTY_CELL = "-"

TABLE_1 = (
    "model",
    "accuracy (paper)",
    "accuracy here",
    "paper says",
    "in",
    "published algorithm here",
    "in",
    "Likewise",
    "in",
    "certificate",
)
TABLE_2 = ("model", "paper says", "in", "random testing here", "hits", "samples", "in")
CAPTION_1 = "Table 1: the same decision for all who differ in the protected features only"
CAPTION_2 = "Table 2: random testing; what it does not find proves nothing"


def print_tables(cells: Sequence[ExperimentCell], plan: Plan) -> None:
    """Both tables on stdout."""
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    for caption, header, rows in _make_tables(cells, plan):
        table = Table(title=caption, title_justify="left")
        for name in header:
            table.add_column(name, justify="right" if name in ("in", "hits", "samples") else "left")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for sentence in _notes(cells):
        console.print(sentence, markup=False, highlight=False)


def markdown_tables(cells: Sequence[ExperimentCell], plan: Plan, command: str) -> str:
    """Both tables as Markdown, with the command that made them."""
    from likewise.answers.markdown import table_md

    lines = [f"`{command}`, {_machine_text()}, {date.today()}.", ""]
    for caption, header, rows in _make_tables(cells, plan):
        lines += [f"**{caption}**", "", table_md(header, rows), ""]
    for sentence in _notes(cells):
        lines += [sentence, ""]
    return "\n".join(lines)


def json_document(cells: Sequence[ExperimentCell], plan: Plan, command: str) -> str:
    """Everything as JSON."""
    content = {
        "command": command,
        "likewise": __version__,
        "machine": _machine_text(),
        "date": str(date.today()),
        "budget": plan.budget,
        "seed": plan.seed,
        "samples": plan.samples,
        "rows": [cell.to_dict() for cell in cells],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _machine_text() -> str:
    import sklearn

    return (
        f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"scikit-learn {sklearn.__version__}"
    )


def _make_tables(cells: Sequence[ExperimentCell], plan: Plan) -> list[tuple[str, tuple[str, ...], Rows]]:
    tables: list[tuple[str, tuple[str, ...], Rows]] = [
        (CAPTION_1, TABLE_1, [_table_1_row(cell) for cell in cells])
    ]
    if "testing" in plan.parts:
        tables.append((CAPTION_2, TABLE_2, [_table_2_row(cell) for cell in cells]))
    return tables


def _table_1_row(cell: ExperimentCell) -> tuple[str, ...]:
    row, fit = cell.row, cell.fit
    here = EMPTY_CELL if fit is None else f"{fit.train:.3f} / {fit.test:.3f}"
    return (
        row.title,
        f"{row.train:.3f} / {row.test:.3f}",
        here,
        row.bias,
        row.time,
        *_answer_texts(cell, cell.answers.get("published"), "answer"),
        *_answer_texts(cell, cell.answers.get("ours"), "verdict"),
        "checked" if cell.answers.get("ours", {}).get("checked") else EMPTY_CELL,
    )


def _table_2_row(cell: ExperimentCell) -> tuple[str, ...]:
    row, answer = cell.row, cell.answers.get("testing")
    found, seconds = _answer_texts(cell, answer, "answer")
    details = (answer or {}).get("details", {})
    share = percent_text(details["share"]) if details.get("hits") else str(details.get("hits", EMPTY_CELL))
    samples = f"{details['samples']:,}" if "samples" in details else EMPTY_CELL
    return (
        row.title,
        row.testing or EMPTY_CELL,
        row.testing_time or EMPTY_CELL,
        found,
        share,
        samples,
        seconds,
    )


def _answer_texts(cell: ExperimentCell, answer: Document | None, key: str) -> tuple[str, str]:
    """An answer and its seconds, as shown; or why there is none."""
    if answer is None:
        return ("data missing" if cell.missing else EMPTY_CELL), EMPTY_CELL
    if "error" in answer:
        return f"{answer['error']}", EMPTY_CELL
    return str(answer[key]), _seconds_text(answer["wall"])


def _seconds_text(value: float) -> str:
    return f"{value:.2f}s" if value < 10 else f"{value:.0f}s"


def _notes(cells: Sequence[ExperimentCell]) -> list[str]:
    """What the tables only hint at: missing data, models that were refused, answers that need their reason."""
    notes: dict[str, list[str]] = {}
    for cell in cells:
        if cell.missing:
            where = " (--data DIR names the folder with fraud.csv)" if cell.row.data == "fraud" else ""
            notes.setdefault(cell.missing + where, []).append(cell.row.title)
        for answer in cell.answers.values():
            reason = _unknown_reason(answer)
            if reason and cell.row.title not in notes.setdefault(reason, []):
                notes[reason].append(cell.row.title)
    return [f"{', '.join(titles)}: {reason}" for reason, titles in notes.items()]


def _unknown_reason(answer: dict[str, Any]) -> str | None:
    if "error" in answer:
        return str(answer["message"])
    if answer.get("verdict") == "UNKNOWN":
        return f"UNKNOWN: {answer['reason']}"
    if answer.get("answer") in ("POSSIBLE", "no answer (budget)"):
        return f"{answer['answer']}: {answer['meaning']}"
    return None


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
