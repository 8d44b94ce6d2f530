"""Answers as small HTML that screen readers can follow, with nothing unescaped: for notebooks, and piece by piece for the report.

There is no style and no script: a notebook has its own, and the report's style sheet knows the classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from markupsafe import Markup

from likewise.answers.answer import (
    Answer,
    Block,
    Cell,
    Fact,
    Listing,
    Pair,
    Picture,
    Role,
    Span,
    Table,
    Words,
    code,
    words,
)
from likewise.answers.texts import escape_unprintable
from likewise.html_tables import table as html_table

_TAGS = {
    Role.STRONG: Markup("<strong>{}</strong>"),
    Role.VERDICT: Markup('<strong class="said {}">{}</strong>'),
    Role.FEATURE: Markup('<span class="feature">{}</span>'),
    Role.DIFFERS: Markup("<strong>{}</strong>"),
    Role.CODE: Markup("<code>{}</code>"),
}
DIFFERS_TEXTS = {True: "yes", False: "no"}


def render(answer: Answer) -> str:
    """The answer for a notebook: its facts as a table, then the pair and the tables."""
    facts = [*answer.facts, *_step_facts(answer)]
    shown = [facts_table(answer.title, facts)] if facts else []
    others = [block for block in answer.blocks if not isinstance(block, Fact | Picture)]
    for listed, blocks in groupby(others, key=lambda block: isinstance(block, Listing)):
        kept = list(blocks)
        shown += [_listing_table(answer.title, kept)] if listed else [_block_html(block) for block in kept]
    return "".join(shown)


def words_html(said: Words) -> Markup:
    """Text with its roles as markup."""
    return Markup("").join(map(_span_html, said))


def sentence_html(said: Words) -> Markup:
    """The same as a sentence of its own: with a capital letter and a full stop."""
    if not said:
        return Markup("")
    first, last = said[0], said[-1].text[-1:]
    opened = (Span(f"{first.text[:1].upper()}{first.text[1:]}", first.role), *said[1:])
    return words_html(opened if last in ".!?:" else words(opened, "."))


def _span_html(span: Span) -> Markup:
    if span.role is Role.PAUSE:
        return Markup(", ")
    text = escape_unprintable(span.text)
    if span.role is Role.VERDICT:
        return _TAGS[span.role].format(span.text.lower(), text)
    return _TAGS[span.role].format(text) if span.role in _TAGS else Markup("{}").format(text)


def facts_table(caption: str, facts: Sequence[Fact]) -> str:
    """Facts below a caption, one a row; those without a title continue the row before."""
    rows: list[tuple[str, Markup]] = []
    for fact in facts:
        if fact.title or not rows:
            rows.append((fact.title, words_html(fact.words)))
        else:
            rows[-1] = (rows[-1][0], rows[-1][1] + "; " + words_html(fact.words))
    return html_table(caption, rows)


def _step_facts(answer: Answer) -> list[Fact]:
    return [Fact(title="next", words=words(code(step.how), f" ({step.why})")) for step in answer.steps]


def _block_html(block: Block) -> str:
    if isinstance(block, Pair):
        return pair_table(block)
    return plain_table(block) if isinstance(block, Table) and not block.detail else ""


def pair_table(pair: Pair) -> str:
    """Both individuals with all their features, what differs first, then how the model treats them."""
    rows = [(row.name, row.first, row.second, DIFFERS_TEXTS[row.differs]) for row in pair.features]
    rows += [(row.name, row.first, row.second, "") for row in pair.treatment]
    caption = "two similar individuals, and how the model treats them"
    return html_table(caption, rows, columns=("", "x", "x'", "differs"))


def plain_table(table: Table) -> str:
    """A table below its title."""
    rows = [[words_html(cell.words) for cell in row] for row in table.rows]
    return html_table(table.title, rows, columns=table.columns)


def _listing_table(caption: str, listings: Iterable[Block]) -> str:
    """Lists of several kinds as one table: the kind, the figure, and what it is the figure of."""
    rows: list[tuple[str | Markup, ...]] = []
    named: tuple[str, ...] = ()
    for listing in listings:
        if isinstance(listing, Listing):
            named = listing.figures
            rows += [(listing.title, *item.figures, words_html(item.words)) for item in listing.items]
            if listing.left is not None:
                rows.append((listing.title, *listing.left[1], f"({listing.left[0]} more)"))
    return html_table(caption, rows, columns=("kind", *named, "rule"))


def sort_key(cell: Cell) -> str:
    """What a cell is sorted by; nothing where its value is not known."""
    return "" if cell.value is None else str(cell.value)
