"""Answer: everything that one answer says, as a value that four renderers show.

Text is a row of spans, each with its role: a verdict, a number that was asked for, a feature, a command. Colour, bold letters and markup
come from the roles alone. What may be long (rows, boxes, features) is cut where the value is made, and says how much is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """What a piece of text is."""

    PLAIN = "plain"
    TITLE = "title"  # of a fact, in the margin
    VERDICT = "verdict"  # FAIR, BIASED or UNKNOWN
    STRONG = "strong"  # what was asked for: an end of a bracket, a count, a share
    DIFFERS = "differs"  # a feature in which a pair differs
    FEATURE = "feature"
    CODE = "code"  # a command, a file, a digest
    PAUSE = "pause"  # between two parts of a line: blanks on a terminal, a comma in a sentence


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text with its role."""

    text: str
    role: Role = Role.PLAIN


Words = tuple[Span, ...]


def words(*parts: str | Span | Words | None) -> Words:
    """Pieces of a sentence in a row; a plain string is plain text, None is nothing."""
    found: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            found.append(Span(part))
        elif isinstance(part, Span):
            found.append(part)
        else:
            found += part or ()
    return tuple(span for span in found if span.text)


def join_words(separator: str, parts: Iterable[Words]) -> Words:
    """Sentences with a separator between them."""
    found: list[Span] = []
    for part in parts:
        found += [Span(separator), *part] if found else part
    return tuple(found)


def words_text(said: Words) -> str:
    """The text without its roles."""
    return "".join(span.text for span in said)


def verdict(name: object) -> Span:
    """A verdict."""
    return Span(str(name), Role.VERDICT)


def strong(text: object) -> Span:
    """What was asked for."""
    return Span(str(text), Role.STRONG)


def feature(name: object) -> Span:
    """The name of a feature."""
    return Span(str(name), Role.FEATURE)


def spacer(blanks: int = 3) -> Span:
    """Room between two parts of a line."""
    return Span(" " * blanks, Role.PAUSE)


def code(text: object) -> Span:
    """A command, a file or a digest."""
    return Span(str(text), Role.CODE)


# -- blocks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A titled paragraph; without a title it continues the one before. `whole` keeps long words in one piece."""

    title: str
    words: Words
    warns: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a cell of a table says, and the value that it stands for, by which it is sorted."""

    words: Words
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows below the names of their columns; a detail is shown where there is room for it, in the report."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    detail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A feature, or what the model makes of the two: the text of each."""

    name: str
    first: str
    second: str
    differs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two individuals, what differs first, and how the model treats them; `shown` features that are the same are shown where there is
    little room, and `rest` says where the others are."""

    features: tuple[PairRow, ...]
    treatment: tuple[PairRow, ...]
    shown: int
    rest: str

    @property
    def differing(self) -> tuple[PairRow, ...]:
        """The features in which the two differ."""
        return tuple(row for row in self.features if row.differs)

    @property
    def same(self) -> tuple[PairRow, ...]:
        """The features that they share."""
        return tuple(row for row in self.features if not row.differs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a list: its figures, what they are figures of, and a remark."""

    figures: tuple[str, ...]
    words: Words
    remark: Words = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A fact with entries below it, whose figures are named; `left` says how many more there are, what they come to, and where they are."""

    title: str
    words: Words
    items: tuple[Item, ...]
    figures: tuple[str, ...] = ()
    left: tuple[int, tuple[str, ...], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing by its kind and what it is drawn from; text shows nothing of it."""

    kind: str
    drawn: Mapping[str, Any]


Block = Fact | Table | Pair | Listing | Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A question to ask next: what for, and how it is asked, ready to be pasted into a shell or into Python."""

    why: str
    how: str
    shell: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: its title, the whole of it in one sentence, its parts in their order, what to ask next, and its document for programs."""

    title: str
    summary: Words
    blocks: tuple[Block, ...]
    steps: tuple[Step, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts, in their order."""
        return tuple(block for block in self.blocks if isinstance(block, Fact))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The texts of the facts that warn."""
        return tuple(words_text(fact.words) for fact in self.facts if fact.warns)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The pictures, in their order."""
        return tuple(block for block in self.blocks if isinstance(block, Picture))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in their order."""
        return tuple(block for block in self.blocks if isinstance(block, Table))


def fact(title: str, *parts: str | Span | Words | None, warns: bool = False, whole: bool = False) -> Fact:
    """A titled paragraph of these pieces."""
    return Fact(title=title, words=words(*parts), warns=warns, whole=whole)
