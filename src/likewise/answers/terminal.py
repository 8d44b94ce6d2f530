"""Answers as text of at most 80 columns, readable without colour; on a terminal, rich colours it by the roles of its spans.

A fact is a paragraph with its title in the margin. The pair stands side by side, what differs marked with ``<>``. Long names and values are
wrapped, never cut: two levels may differ in their last letter. A command is alone on its lines, and lines end in a backslash where it goes
on, so that it can be pasted.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from likewise.answers.answer import (
    Answer,
    Block,
    Fact,
    Listing,
    Pair,
    PairRow,
    Role,
    Span,
    Step,
    Table,
    Words,
    words,
    words_text,
)

WIDTH = 80
UNLIMITED_WIDTH = 10**6  # columns, where lines are not to be broken
TITLE_WIDTH = 9
LONGEST_TITLE = 24  # that the margin is made wider for: a model's name
NAME_WIDTH = 26  # at most; names that need less leave more for the values
LEAST_VALUE = 12  # columns for each value of a pair, however long the names are
DIFFERS_MARK = "<>"
GAP = "  "
LINE_CONTINUATION = " \\"  # at the end of a line of a command
MOST, LEAST = 24, 8  # characters for one value of a table but the last, and however many there are
FIGURE = 8  # columns for the figures of a list

Line = Words

STYLES = {
    Role.TITLE: "cyan",
    Role.STRONG: "bold",
    Role.DIFFERS: "bold",
    "FAIR": "bold green",
    "BIASED": "bold red",
    "UNKNOWN": "bold yellow",
}


def render(answer: Answer, width: int = WIDTH) -> str:
    """The answer as plain text, its next steps included."""
    return plain_text(answer_lines(answer, width))


def answer_lines(answer: Answer, width: int = WIDTH) -> list[Line]:
    """The answer line by line, with its next steps."""
    return [*block_lines(answer, width), *_step_lines(answer.steps, width)]


def block_lines(answer: Answer, width: int = WIDTH) -> list[Line]:
    """The answer line by line, without its next steps."""
    longest = max((len(fact.title) for fact in answer.facts), default=0)
    margin = longest + 1 if TITLE_WIDTH < longest <= LONGEST_TITLE else TITLE_WIDTH
    return [line for block in answer.blocks for line in _lines_of_block(block, width, margin)]


def plain_text(lines: Iterable[Line]) -> str:
    """The lines without colour."""
    return "\n".join(map(words_text, lines))


def colour_lines(lines: Iterable[Line]) -> str:
    """The same with the escape codes of a terminal around what has a role."""
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, color_system="standard", no_color=False, width=UNLIMITED_WIDTH)
    painted = Text("\n").join(Text.assemble(*((span.text, _style(span)) for span in line)) for line in lines)
    with console.capture() as captured:
        console.print(painted, soft_wrap=True, end="", markup=False, highlight=False)
    return captured.get()


def _style(span: Span) -> str:
    return STYLES.get(span.text if span.role is Role.VERDICT else span.role, "")


# -- paragraphs -------------------------------------------------------------------------------------------


def _lines_of_block(block: Block, width: int, margin: int) -> list[Line]:
    if isinstance(block, Fact):
        return paragraph(block.title, block.words, width, whole=block.whole, margin=margin)
    if isinstance(block, Table) and not block.detail:
        head = [(Span(block.title, Role.TITLE),)] if block.title else []
        return [*head, *table_lines(block, width)]
    if isinstance(block, Pair):
        return pair_lines(block)
    if isinstance(block, Listing):
        return _listing_lines(block, width)
    return []  # a picture, or a detail


def paragraph(
    title: str, said: Words | str, width: int = WIDTH, *, whole: bool = False, margin: int = TITLE_WIDTH
) -> list[Line]:
    """Text under a title in the margin, wrapped; `whole` keeps even words that are longer than a line."""
    said = words(said)
    first = f"{title.rstrip():<{margin - 1}} "
    head = (Span(title.rstrip(), Role.TITLE), Span(first[len(title.rstrip()) :]))
    return [
        words(head if number == 0 else " " * margin, line)
        for number, line in enumerate(_wrap_words(said, width, first=len(first), later=margin, whole=whole))
    ]


def _wrap_words(said: Words, width: int, *, first: int = 0, later: int = 0, whole: bool = True) -> list[Line]:
    """The words in lines that leave room for an indent; each piece keeps its role."""
    lines = textwrap.wrap(
        words_text(said),
        width,
        initial_indent=" " * first,
        subsequent_indent=" " * later,
        break_on_hyphens=False,
        break_long_words=not whole,
    )
    cut = [line[(first if number == 0 else later) :] for number, line in enumerate(lines)]
    return _restore_roles(cut, said)


def _restore_roles(lines: Sequence[str], said: Words) -> list[Line]:
    """Lines that a text was wrapped into, with the roles of the text: blanks at their ends are all that was lost."""
    roles = [(char, span.role) for span in said for char in span.text]
    at = 0
    found: list[Line] = []
    for line in lines:
        spans: list[Span] = []
        for char in line:
            while at < len(roles) and roles[at][0].isspace() and not char.isspace():
                at += 1
            role = roles[at][1] if at < len(roles) else Role.PLAIN
            at += 1
            if spans and spans[-1].role is role:
                spans[-1] = Span(spans[-1].text + char, role)
            else:
                spans.append(Span(char, role))
        found.append(tuple(spans))
    return found


def _listing_lines(block: Listing, width: int) -> list[Line]:
    lines = paragraph(block.title, block.words, width)
    for item in block.items:
        start = "  " + "".join(f"{figure:>{FIGURE}}  " for figure in item.figures)
        said = _wrap_words(item.words, width, first=len(start), later=len(start), whole=False)
        lines += [
            words(start if number == 0 else " " * len(start), line) for number, line in enumerate(said)
        ] or [words(start.rstrip())]
        indent = len(start) + 2
        remark = _wrap_words(item.remark, width, first=indent, later=indent, whole=False)
        lines += [words(" " * indent, line) for line in remark]
    if block.left is not None:
        lines.append(words(f"  ... {block.left[0]} more ({block.left[2]})"))
    return lines


# -- next steps -------------------------------------------------------------------------------------------


def _step_lines(steps: Sequence[Step], width: int) -> list[Line]:
    """What for, and the command on lines of its own."""
    lines: list[Line] = []
    for number, step in enumerate(steps):
        lines += paragraph("next" if number == 0 else "", f"{step.why}:", width)
        told = command_lines(step.how, width) if step.shell else [" " * (TITLE_WIDTH + 2) + step.how]
        lines += [words(Span(line, Role.CODE)) for line in told]
    return lines


def command_lines(command: str, width: int = WIDTH) -> list[str]:
    """A command in lines that can be pasted together: a backslash says that it goes on. An option stays with its value where both fit."""
    first, *others = _split_options(command)
    lines = [" " * (TITLE_WIDTH + 2) + first]
    for part in others:
        if len(lines[-1]) + 1 + len(part) + len(LINE_CONTINUATION) <= width:
            lines[-1] += f" {part}"
            continue
        fits = len(part) + len(LINE_CONTINUATION) <= width
        for piece in [part] if fits else map(shlex.quote, shlex.split(part)):
            indent = max(0, min(TITLE_WIDTH + 4, width - len(LINE_CONTINUATION) - len(piece)))
            lines[-1] += LINE_CONTINUATION
            lines.append(" " * indent + piece)
    return lines


def _split_options(command: str) -> list[str]:
    """The words of a command, quoted as a shell wants them, each option with its value."""
    parts: list[list[str]] = []
    for word in shlex.split(command):
        after_option = bool(parts) and len(parts[-1]) == 1 and parts[-1][0].startswith("--")
        if after_option and not word.startswith("-"):
            parts[-1].append(word)
        else:
            parts.append([word])
    return [shlex.join(part) for part in parts]


# -- tables -----------------------------------------------------------------------------------------------


def table_lines(table: Table, width: int = WIDTH) -> list[Line]:
    """The header and the rows, two blanks before and between the columns; what is too wide is wrapped in its column."""
    rows = [
        tuple(words(name) for name in table.columns),
        *(tuple(c.words for c in row) for row in table.rows),
    ]
    needed = [max(len(words_text(row[i])) for row in rows) for i in range(len(table.columns))]
    widths = [min(MOST, need) for need in needed]
    room = min(width, WIDTH) - len(GAP) * len(widths)
    while sum(widths) > room and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    widths[-1] = max(widths[-1], room - sum(widths[:-1]))
    return [line for row in rows for line in _row_lines(row, widths)]


def _row_lines(row: Sequence[Words], widths: Sequence[int]) -> list[Line]:
    cells = [
        _restore_roles(textwrap.wrap(words_text(cell), at), cell)
        for cell, at in zip(row, widths, strict=True)
    ]
    return [_pad_cells(line, widths) for line in zip_longest(*cells, fillvalue=())]


def _pad_cells(cells: Sequence[Words], widths: Sequence[int]) -> Line:
    last = max((i for i, cell in enumerate(cells) if cell), default=0)
    line: list[Span] = []
    for i, (cell, width) in enumerate(zip(cells[: last + 1], widths, strict=False)):
        blanks = "" if i == last else " " * (width - len(words_text(cell)))
        line += [Span(GAP), *cell, Span(blanks)]
    return words(tuple(line))


# -- the pair ---------------------------------------------------------------------------------------------


def pair_lines(pair: Pair) -> list[Line]:
    """Both individuals side by side, what differs first and marked with <>."""
    same = pair.same
    kept = same[: pair.shown]
    header = PairRow(name="", first="x", second="x'")
    widths = _pair_widths([header, *pair.differing, *kept, *pair.treatment])
    lines = _pair_row(header, widths)
    for row in (*pair.differing, *kept):
        lines += _pair_row(row, widths)
    if len(kept) < len(same):
        lines.append(words(f"  ... {len(same) - len(kept)} more the same ({pair.rest})"))
    for row in pair.treatment:
        lines += _pair_row(row, widths)
    return lines


def _pair_widths(rows: Sequence[PairRow]) -> tuple[int, int, int]:
    """Columns for names, x and x': what they need, and no more than 80 together."""
    name, left, right = (max(len(getattr(row, part)) for row in rows) for part in ("name", "first", "second"))
    room = WIDTH - 2 - 2 - 4  # indent, gap after the name, mark between the values
    name = min(name, max(NAME_WIDTH, room - left - right))
    values = room - name
    half = max(values // 2, LEAST_VALUE)
    if left + right > values:
        left = min(left, max(half, values - right))
        right = values - left
    return name, left, right


def _pair_row(row: PairRow, widths: tuple[int, int, int]) -> list[Line]:
    columns = [
        _fold_text(text, at) for text, at in zip((row.name, row.first, row.second), widths, strict=True)
    ]
    lines = []
    for i, (name, left, right) in enumerate(zip_longest(*columns, fillvalue="")):
        mark = DIFFERS_MARK if row.differs and i == 0 else ""
        text = f"  {name:<{widths[0]}}  {left:<{widths[1]}} {mark:<2} {right}".rstrip()
        lines.append(words(Span(text, Role.DIFFERS if row.differs else Role.PLAIN)))
    return lines


def _fold_text(text: str, width: int) -> list[str]:
    """The text in pieces of at most `width` characters, none left out; after a blank, a hyphen or the like where there is one late enough."""
    pieces = []
    while len(text) > width:
        ends = [at + 1 for at in range(width // 2, width) if text[at] in " -_/,."]
        cut = ends[-1] if ends else width
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]
