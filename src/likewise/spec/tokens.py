"""The words of a constraint: text in, tokens out, and errors with a caret under the place.

Tokens are numbers (exact decimals), names, the operators ``+ - * / ( )`` and the comparisons
``<= >= ==``; where levels are spoken of, also ``{ , }`` and ``!=``. A name is an identifier ``[A-Za-z_][A-Za-z0-9_.]*``, or anything in backquotes or double
quotes, or, bare, one of the known names that begins with a letter: of all readings at one place the
longest wins, so with a feature ``credit-amount`` the text ``credit-amount`` is that feature, and
``credit - amount`` is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NoReturn

from likewise.errors import SpecError
from likewise.spec.numbers import DECIMAL_PATTERN, exact_decimal

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_NUMBER = re.compile(DECIMAL_PATTERN)
_QUOTED = re.compile(r'`((?:[^`]|``)+)`|"((?:[^"]|"")+)"')
_COMPARISON = re.compile(r"<=|>=|==")

_STRICT_HINT = "strict comparison: on whole numbers write a <= b - 1"
_REFUSED = (
    ("!=", "!= is not a linear constraint", "use <=, >= or ==; between levels: if a == b then c != d"),
    ("<>", "<> is not a linear constraint", "use <=, >= or =="),
    ("=<", "unknown comparison =<", "write <="),
    ("=>", "unknown comparison =>", "write >="),
    ("<", "strict comparison < is not supported", _STRICT_HINT),
    (">", "strict comparison > is not supported", "strict comparison: on whole numbers write a >= b + 1"),
    ("=", "a single = is no comparison", "write =="),
    ("**", "powers are not linear", "constraints are sums of number * feature"),
    ("^", "powers are not linear", "constraints are sums of number * feature"),
    ("//", "// is not an operator here", "divide by a number with /"),
    ("\u2264", "unknown character '\u2264'", "write <="),
    ("\u2265", "unknown character '\u2265'", "write >="),
    ("`", "this backquote is never closed", "a name is written `like this`"),
    ('"', "this double quote is never closed", 'a name is written "like this"'),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word; `text` is the feature's own name for names, `number` is set for numbers only."""

    sort: Literal["number", "name", "operator", "comparison", "end"]
    text: str
    place: int
    number: Fraction = Fraction(0)
    quoted: bool = False

    def is_word(self, word: str) -> bool:
        """Whether it is this word of the grammar, not a name in quotes."""
        return self.sort == "name" and self.text == word and not self.quoted


def tokenize(text: str, names: Iterable[str] = (), *, levels: bool = False) -> list[Token]:
    """The tokens of `text`, ended by one of sort ``end``; `levels` tells that it speaks of them."""
    bare = sorted({name for name in names if name[:1].isalpha() or name[:1] == "_"}, key=len, reverse=True)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = (levels and _level_token(text, at)) or _next_token(text, at, bare)
        tokens.append(token)
    tokens.append(Token(sort="end", text="", place=len(text)))
    return tokens


def _level_token(text: str, at: int) -> tuple[Token, int] | None:
    """What only texts about levels have: braces, commas, != and the empty level."""
    if text[at] in "{,}":
        return Token(sort="operator", text=text[at], place=at), at + 1
    if text.startswith("!=", at):
        return Token(sort="comparison", text="!=", place=at), at + 2
    if text.startswith('""', at) and not _QUOTED.match(text, at):
        return Token(sort="name", text="", place=at, quoted=True), at + 2
    return None


def _next_token(text: str, at: int, bare: list[str]) -> tuple[Token, int]:
    name = _bare_name(text, at, bare)
    if name:
        return Token(sort="name", text=name, place=at), at + len(name)
    if found := _QUOTED.match(text, at):
        quote = text[at]
        name = found[0][1:-1].replace(quote * 2, quote)
        return Token(sort="name", text=name, place=at, quoted=True), found.end()
    if found := _NUMBER.match(text, at):
        try:
            number = exact_decimal(found[0])
        except SpecError as error:
            refuse(text, at, error.message)
        return Token(sort="number", text=found[0], place=at, number=number), found.end()
    if found := _COMPARISON.match(text, at):
        return Token(sort="comparison", text=found[0], place=at), found.end()
    for spelling, message, hint in _REFUSED:
        if text.startswith(spelling, at):
            refuse(text, at, message, hint=hint)
    if text[at] in "+-*/()":
        return Token(sort="operator", text=text[at], place=at), at + 1
    refuse(
        text,
        at,
        f"unknown character {text[at]!r}",
        hint="put names with characters other than letters, digits, _ and . in backquotes",
    )


def _bare_name(text: str, at: int, bare: list[str]) -> str:
    identifier = _IDENTIFIER.match(text, at)
    longest = identifier[0] if identifier else ""
    for name in bare:  # longest first
        if len(name) <= len(longest):
            break
        if text.startswith(name, at) and not _continues_name(text, at + len(name)):
            return name
    return longest


def _continues_name(text: str, at: int) -> bool:
    return at < len(text) and (text[at].isalnum() or text[at] in "_.")


def quoted_name(name: str) -> str:
    """`name` as constraints spell it: bare if it is an identifier, else in backquotes."""
    return name if _IDENTIFIER.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def refuse(text: str, place: int, message: str, *, hint: str | None = None) -> NoReturn:
    """Raise a `SpecError` that shows the text with a caret under `place`."""
    # Tabs and line breaks would move the caret away from its place, so they are shown as blanks.
    line = "".join(" " if char.isspace() else char for char in text)
    raise SpecError(f"constraint: {message}\n    {line}\n    {' ' * place}^", hint=hint)
