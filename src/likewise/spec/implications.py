"""Implications between levels, read from text::

    implication = "if" conditions "then" conditions        if housing == own and sex in {f, m} then job != none
    conditions  = condition ("and" condition)*
    condition   = name ("==" | "!=") level | name ["not"] "in" "{" level ("," level)* "}"
    level       = a bare word or known level, a number, or anything in double quotes or backquotes

"If A and B then C and D" forbids that A, B and not C hold together, and that A, B and not D do. With indicators, which are 1
where a condition holds and 0 elsewhere, a forbidden conjunction of n conditions is linear: their sum is at most n - 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from likewise.errors import suggest_name
from likewise.spec.features import Categorical, Feature, Level, Ordinal, level_hint
from likewise.spec.tokens import Token, quoted_name, refuse, tokenize

_START = re.compile(r"\s*if\s+[^\W\d]|\s*if\s*[`\"]")


@dataclass(frozen=True, slots=True)
class Indicator:
    """1 where a feature has one of these levels (`inside`) or none of them, 0 elsewhere."""

    name: str
    levels: frozenset[Level]
    inside: bool = True

    def holds(self, value: object) -> bool:
        return (value in self.levels) == self.inside

    def negated(self) -> Indicator:
        return replace(self, inside=not self.inside)

    def canonical(self) -> str:
        """Text that parses to exactly this condition."""
        levels = ", ".join(sorted(map(_level_text, self.levels)))
        return f"{quoted_name(self.name)} {'in' if self.inside else 'not in'} {{{levels}}}"


def is_implication(text: str, names: Iterable[str]) -> bool:
    """Whether a text is to be read as an implication: it starts with `if`, which is not the name of a feature there."""
    if not _START.match(text):
        return False
    first = text.lstrip()
    return not any(name.startswith("if ") and first.startswith(name) for name in names)


def parse_implication(text: str, features: Mapping[str, Feature]) -> list[tuple[Indicator, ...]]:
    """The conjunctions that `text` forbids, one for each of its conclusions."""
    return _Parser(text, tokenize(text, _known_names(features), levels=True), features).implication()


def _known_names(features: Mapping[str, Feature]) -> list[str]:
    """Names and levels that may stand bare in a text."""
    words = {level for f in features.values() if isinstance(f, Categorical | Ordinal) for level in f.levels}
    return [*features, *(word for word in words if isinstance(word, str))]


class _Parser:
    """Recursive descent over the tokens; every method leaves `at` behind what it has read."""

    def __init__(self, text: str, tokens: list[Token], features: Mapping[str, Feature]) -> None:
        self.text, self.tokens, self.features = text, tokens, features
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.token
        self.at += 1
        return token

    def implication(self) -> list[tuple[Indicator, ...]]:
        self.take()  # if
        given = self.conditions()
        if not self.token.is_word("then"):
            self.refuse_token("'and' or 'then'")
        self.take()
        concluded = self.conditions()
        if self.token.sort != "end":
            self.refuse_token("'and' or the end")
        return [(*given, conclusion.negated()) for conclusion in concluded]

    def conditions(self) -> list[Indicator]:
        found = [self.condition()]
        while self.token.is_word("and"):
            self.take()
            found.append(self.condition())
        return found

    def condition(self) -> Indicator:
        subject = self.take()
        if subject.sort != "name":
            self.at -= 1
            self.refuse_token("the name of a feature")
        feature = self.feature(subject)
        if self.token.sort == "comparison" and self.token.text in ("==", "!="):
            equal = self.take().text == "=="
            return Indicator(subject.text, frozenset([self.level(feature, subject.text)]), equal)
        inside = not self.token.is_word("not")
        if not inside:
            self.take()
        if not self.token.is_word("in"):
            self.refuse_token("==, !=, in {...} or not in {...}")
        self.take()
        return Indicator(subject.text, frozenset(self.levels(feature, subject.text)), inside)

    def feature(self, subject: Token) -> Categorical | Ordinal:
        feature = self.features.get(subject.text)
        if feature is None:
            refuse(
                self.text,
                subject.place,
                f"no feature {subject.text!r}{suggest_name(subject.text, self.features)}",
            )
        if not isinstance(feature, Categorical | Ordinal):
            refuse(
                self.text,
                subject.place,
                f"{subject.text!r} is {feature.kind}, and implications are between levels",
                hint="numbers have linear constraints, such as a <= b - 14; or make the feature Ordinal",
            )
        return feature

    def levels(self, feature: Categorical | Ordinal, name: str) -> list[Level]:
        opening = self.take()
        if opening.text != "{" or opening.sort != "operator":
            refuse(self.text, opening.place, "a list of levels is missing", hint="write in {own, rent}")
        found = [self.level(feature, name)]
        while self.token.text == "," and self.token.sort == "operator":
            self.take()
            found.append(self.level(feature, name))
        if self.token.text != "}" or self.token.sort != "operator":
            refuse(self.text, opening.place, "this list of levels is never closed")
        self.take()
        return found

    def level(self, feature: Categorical | Ordinal, name: str) -> Level:
        minus = self.token.text == "-" and self.token.sort == "operator"
        if minus:
            self.take()
        if self.token.sort not in ("name", "number") or (minus and self.token.sort != "number"):
            self.refuse_token(f"a level of {name}")
        token = self.take()
        for level in feature.levels:
            if _token_is_level(level, token, minus=minus):
                return level
        given = f"-{token.text}" if minus else token.text
        refuse(
            self.text,
            token.place,
            f"{name!r} has no level {given!r}{suggest_name(given, feature.levels)}",
            hint=level_hint(feature.levels, given),
        )

    def refuse_token(self, wanted: str) -> NoReturn:
        token = self.token
        if token.sort == "end":
            refuse(self.text, token.place, f"the text ends where {wanted} should follow")
        if token.is_word("or"):
            refuse(
                self.text,
                token.place,
                "'or' is not part of an implication",
                hint="several levels of one feature are written in {a, b}; otherwise give a rule for each case",
            )
        if token.sort == "comparison":
            refuse(
                self.text,
                token.place,
                f"{token.text} compares numbers, and implications are between levels",
                hint="use ==, !=, in {...} or not in {...}",
            )
        hint = "levels with blanks or signs stand in double quotes" if token.sort == "name" else None
        refuse(self.text, token.place, f"{token.text!r} stands where {wanted} should", hint=hint)


def _token_is_level(level: Level, token: Token, *, minus: bool) -> bool:
    """Whether a token means this level: by its text, or as a number."""
    if level is None:
        return False
    if isinstance(level, bool):
        return token.sort == "name" and token.text in (str(level), str(level).lower())
    if isinstance(level, str):
        return level == ("-" if minus else "") + token.text
    if token.sort != "number":
        return str(level) == token.text
    number = -token.number if minus else token.number
    return Fraction(level) == number or (isinstance(level, float) and level == float(number))


def _level_text(level: Level) -> str:
    if isinstance(level, str):
        return '"' + level.replace('"', '""') + '"'
    return str(level).lower() if isinstance(level, bool) else repr(level)


def is_condition(text: str, features: Mapping[str, Feature]) -> bool:
    """Whether a text is a condition on the levels of a feature, and not a comparison of numbers."""
    tokens = tokenize(text, _known_names(features), levels=True)
    feature = features.get(tokens[0].text) if tokens[0].sort == "name" else None
    asks = tokens[1] if len(tokens) > 1 else tokens[0]
    levelled = (
        asks.text in ("==", "!=") if asks.sort == "comparison" else asks.is_word("in") or asks.is_word("not")
    )
    return isinstance(feature, Categorical | Ordinal) and levelled


def parse_condition(text: str, features: Mapping[str, Feature]) -> Indicator:
    """The one condition that `text` spells."""
    parser = _Parser(text, tokenize(text, _known_names(features), levels=True), features)
    condition = parser.condition()
    if parser.token.sort != "end":
        parser.refuse_token("'and' or the end")
    return condition


def condition_text(name: str, levels: Sequence[Level], known: Sequence[Level]) -> str:
    """The shorter way to say that a feature has one of these of its levels; bare where that can be read back."""
    others = [level for level in known if level not in levels]
    inside = len(levels) <= len(others) + 1
    listed = levels if inside else others
    words = [_bare_level_text(level) for level in listed]
    if len(words) == 1:
        return f"{quoted_name(name)} {'==' if inside else '!='} {words[0]}"
    return f"{quoted_name(name)} {'in' if inside else 'not in'} {{{', '.join(words)}}}"


def _bare_level_text(level: Level) -> str:
    """A level as people write it: text without quotes where it is one plain word."""
    plain = (
        isinstance(level, str) and level.isidentifier() and level not in ("and", "in", "not", "then", "or")
    )
    return str(level) if plain else _level_text(level)
