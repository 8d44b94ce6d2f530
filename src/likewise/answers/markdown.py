"""Answers as Markdown. Names, categories, labels and files are not ours: `escape_md`, `code_md` and
`code_block_md` are the only ways in.

What is escaped is shown as it is: no markup, link, image or cell of a table can come of it. Characters that
are not seen or that turn others around are written out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from likewise.answers.answer import Answer, Pair, Role, Span, Words, words_text

_BLANK = re.compile(r"\s")
# Marks of Markdown and of the tables, links and formulas that sites add to it.
_MARKS = re.compile(r"[\\`*_\[\]{}<>|#~!$&]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BACKTICKS = re.compile("`+")
_SHORTEST_FENCE = 3


def render(answer: Answer, *, title: str) -> str:
    """The answer below a heading: in a sentence, its facts as a table, then the pair and the tables."""
    facts = [[escape_md(fact.title), words_md(fact.words)] for fact in answer.facts]
    parts = [f"## {escape_md(title)}", f"**{escape_md(answer.title)}**: {words_md(answer.summary)}"]
    parts.append(table_md(("", ""), facts))
    parts += [f"### The pair\n\n{_pair_md(pair)}" for pair in answer.blocks if isinstance(pair, Pair)]
    for table in (table for table in answer.tables if not table.detail):
        rows = [[words_md(cell.words) for cell in row] for row in table.rows]
        columns = [escape_md(column) for column in table.columns]
        parts.append(f"### {escape_md(table.title)}\n\n{table_md(columns, rows)}")
    for step in answer.steps:
        parts.append(f"{escape_md(step.why)}:\n\n{code_block_md(step.how)}")
    return "\n\n".join(parts)


def words_md(said: Words) -> str:
    """Text in one line, commands and digests as code."""
    parts = [_spans_md(role, tuple(spans)) for role, spans in groupby(said, key=lambda span: span.role)]
    return " ".join("".join(parts).split())


def _spans_md(role: Role, spans: tuple[Span, ...]) -> str:
    if role is Role.PAUSE:
        return ", "
    text = words_text(spans)
    return code_md(text) if role is Role.CODE else escape_md(text, strip=False)


def escape_md(text: str, *, strip: bool = True) -> str:
    """Text that Markdown shows as it is, in one line."""
    return _MARKS.sub(r"\\\g<0>", _one_line(" ".join(text.split()) if strip else text))


def code_md(text: str) -> str:
    """Code in a line; as text where it has a bar, which tables cannot hold in code."""
    shown = _one_line(text)
    if "|" in shown or not shown.strip():
        return escape_md(text, strip=False)
    fence = _fence(shown, 1)
    room = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{room}{shown}{room}{fence}"


def code_block_md(command: str) -> str:
    """Commands on lines of their own."""
    shown = "\n".join(map(_one_line, command.split("\n")))
    fence = _fence(shown, _SHORTEST_FENCE)
    return f"{fence}\n{shown}\n{fence}"


def _fence(text: str, least: int) -> str:
    """More backticks than the text has anywhere in a row."""
    return "`" * max([least, *(len(run) + 1 for run in _BACKTICKS.findall(text))])


def _one_line(text: str) -> str:
    """The text with blanks for ends of lines, and other characters that are not seen written out."""
    blank = _BLANK.sub(" ", text)
    if blank.isprintable():
        return blank
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in blank)


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
