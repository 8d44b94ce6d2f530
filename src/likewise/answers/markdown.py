"""Answers as Markdown. Names, levels and labels are the user's own and are escaped, so that they cannot become Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from likewise.answers.answer import Answer, Pair, Role, Span, Words


def render(answer: Answer, *, title: str) -> str:
    """The answer below a heading: in a sentence, its facts as a table, then the pair and the tables."""
    facts = [[fact.title, words_md(fact.words)] for fact in answer.facts]
    parts = [f"## {title}", f"**{answer.title}**: {words_md(answer.summary)}", table_md(("", ""), facts)]
    parts += [f"### The pair\n\n{_pair_md(pair)}" for pair in answer.blocks if isinstance(pair, Pair)]
    for table in (table for table in answer.tables if not table.detail):
        rows = [[words_md(cell.words) for cell in row] for row in table.rows]
        parts.append(f"### {escape_md(table.title)}\n\n{table_md(table.columns, rows)}")
    for step in answer.steps:
        parts.append(f"{escape_md(step.why)}:\n\n{code_block_md(step.how)}")
    return "\n\n".join(parts)


def words_md(said: Words) -> str:
    """Text in one line, commands and digests as code."""
    return " ".join("".join(map(_span_md, said)).split())


def _span_md(span: Span) -> str:
    if span.role is Role.PAUSE:
        return ", "
    return f"`{span.text}`" if span.role is Role.CODE else escape_md(span.text, strip=False)


def code_block_md(command: str) -> str:
    """Commands on lines of their own."""
    return f"```\n{command}\n```"


def table_md(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts that are Markdown already, or need no escaping."""
    lines = [_row_md(columns), _row_md(["---"] * len(columns)), *map(_row_md, rows)]
    return "\n".join(lines)


def _row_md(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pair_md(pair: Pair) -> str:
    rows = [
        (f"{row.name} (differs)" if row.differs else row.name, row.first, row.second) for row in pair.features
    ]
    rows += [(row.name, row.first, row.second) for row in pair.treatment]
    return table_md(("", "x", "x'"), [[escape_md(text) for text in row] for row in rows])


def escape_md(text: str, *, strip: bool = True) -> str:
    """Text that Markdown shows as it is, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#~!$&])", r"\\\1", " ".join(text.split()) if strip else text)
