"""Constraints on individuals, linear or between levels, read from text by a grammar of our own.

A `Constraint` says  sum of coefficient * value <= bound  over the individual's features, with rational
coefficients taken exactly from the text (``0.1`` is one tenth). Levels that are numbers count by their
value. The text is parsed, never evaluated::

    chain   = linear (("<=" | ">=" | "==") linear)+        18 <= age <= 65
    linear  = term (("+" | "-") term)*                     age - 14
    term    = factor (("*" | "/") factor)*                 2 * age, 3 * (age - 14) / 2
    factor  = ("+" | "-")* (number | name | "(" linear ")")

At most one factor of a product has features in it and divisors have none; anything else is not linear.
Names that are no plain identifiers stand in backquotes or double quotes (the quote doubled inside), and
if the known names are given, a bare one is taken too, longest first: ``credit-amount <= 5000``.

Implications between levels (``if housing == own then job != none``, see `implications`) are constraints as well: of
indicators instead of values.

In: text. Out: one `Constraint` for a comparison by <= or >=, two for ==, and so on along a chain, and one for
each conclusion of an implication; all of them carry the whole text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from likewise.errors import InternalError, SpecError
from likewise.spec.features import Feature, Level
from likewise.spec.implications import Indicator, is_implication, parse_implication
from likewise.spec.numbers import number_text, short_repr
from likewise.spec.tokens import Token, quoted_name, refuse, tokenize

_DEEPEST_NESTING = 50


@dataclass(frozen=True, slots=True)
class Constraint:
    """sum of coefficient * value <= bound, or of indicators: see `forbidding`. Equal when the mathematics is; the
    text is for people."""

    text: str = field(compare=False)
    coefficients: tuple[tuple[str, Fraction], ...]
    bound: Fraction
    indicators: tuple[Indicator, ...] = ()

    @classmethod
    def forbidding(cls, text: str, indicators: Iterable[Indicator]) -> Constraint:
        """Not all of these conditions hold: the sum of their indicators is at most one less than there are."""
        conditions = tuple(sorted(indicators, key=Indicator.canonical))
        return cls(text, (), Fraction(len(conditions) - 1), conditions)

    def __post_init__(self) -> None:
        if self.indicators:
            self._check_indicators()
            return
        kept = tuple(sorted((name, Fraction(by)) for name, by in self.coefficients if by != 0))
        names = [name for name, _ in kept]
        if not kept:
            raise SpecError(f"constraint {self.text!r} says nothing about any feature")
        if len(set(names)) < len(names):
            raise SpecError(f"constraint {self.text!r} has two coefficients for one feature")
        object.__setattr__(self, "coefficients", kept)
        object.__setattr__(self, "bound", Fraction(self.bound))

    def _check_indicators(self) -> None:
        if self.coefficients or len(self.indicators) < 2 or self.bound != len(self.indicators) - 1:
            raise SpecError(
                f"constraint {self.text!r} must forbid two conditions or more, and nothing else",
                hint="make it by Constraint.forbidding, or from text: if a == b then c != d",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The features it speaks of, sorted."""
        named = {name for name, _ in self.coefficients} | {condition.name for condition in self.indicators}
        return tuple(sorted(named))

    def holds(self, values: Mapping[str, Fraction | Level]) -> bool:
        """Whether these values satisfy it, decided exactly."""
        if self.indicators:
            return not all(condition.holds(values[condition.name]) for condition in self.indicators)
        return sum(by * _as_fraction(values[name]) for name, by in self.coefficients) <= self.bound

    def canonical(self) -> str:
        """Text that parses to exactly this constraint, whatever `text` says."""
        if self.indicators:
            *given, last = self.indicators
            conditions = " and ".join(condition.canonical() for condition in given)
            return f"if {conditions} then {last.negated().canonical()}"
        parts = []
        for name, by in self.coefficients:
            sign = "-" if by < 0 else "+"
            parts.append(f"{sign} {abs(by)} * {quoted_name(name)}")
        return " ".join(parts).removeprefix("+ ") + f" <= {self.bound}"

    def __str__(self) -> str:
        return self.text


def parse_constraints(
    text: str, features: Mapping[str, Feature] | Iterable[str] = ()
) -> tuple[Constraint, ...]:
    """The constraints `text` spells; `features` are the known ones: for bare names with hyphens or spaces their names
    are enough, implications need their levels."""
    if not isinstance(text, str):
        raise SpecError(f"a constraint is text, got {short_repr(text)}", hint='for instance "18 <= age"')
    names = list(features)
    if is_implication(text, names):
        known = features if isinstance(features, Mapping) else {}
        return tuple(
            Constraint.forbidding(text.strip(), conditions) for conditions in parse_implication(text, known)
        )
    return _Parser(text, tokenize(text, names)).chain()


@dataclass(frozen=True, slots=True)
class _Linear:
    """constant + sum of coefficient * name, while parsing."""

    parts: Mapping[str, Fraction]
    constant: Fraction

    def plus(self, other: _Linear, times: int = 1) -> _Linear:
        parts = dict(self.parts)
        for name, by in other.parts.items():
            parts[name] = parts.get(name, Fraction(0)) + times * by
        return _Linear(parts, self.constant + times * other.constant)

    def scaled(self, by: Fraction) -> _Linear:
        return _Linear({name: by * part for name, part in self.parts.items()}, by * self.constant)

    @property
    def is_number(self) -> bool:
        # Names count even with coefficient 0: "(x - x) * y" has no business being accepted.
        return not self.parts


class _Parser:
    """Recursive descent over the tokens; every method leaves `at` behind what it has read."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.token
        self.at += 1
        return token

    def chain(self) -> tuple[Constraint, ...]:
        sides = [self.linear()]
        found: list[Constraint] = []
        while self.token.sort == "comparison":
            comparison = self.take()
            sides.append(self.linear())
            found.extend(self.compared(sides[-2], comparison, sides[-1]))
        if self.token.sort != "end":
            self.refuse_token(self.token)
        if len(sides) == 1:
            refuse(self.text, self.token.place, "a comparison is missing", hint="use <=, >= or ==")
        return tuple(found)

    def compared(self, left: _Linear, comparison: Token, right: _Linear) -> list[Constraint]:
        difference = left.plus(right, times=-1)
        if not any(difference.parts.values()):
            refuse(self.text, comparison.place, "this comparison says nothing about any feature")
        signs = {"<=": (1,), ">=": (-1,), "==": (1, -1)}[comparison.text]
        return [
            Constraint(
                text=self.text.strip(),
                coefficients=tuple((name, sign * by) for name, by in difference.parts.items()),
                bound=-sign * difference.constant,
            )
            for sign in signs
        ]

    def linear(self) -> _Linear:
        total = self.term()
        while self.token.text in ("+", "-") and self.token.sort == "operator":
            sign = 1 if self.take().text == "+" else -1
            total = total.plus(self.term(), times=sign)
        return total

    def term(self) -> _Linear:
        product = self.factor()
        while self.token.text in ("*", "/") and self.token.sort == "operator":
            operator = self.take()
            factor = self.factor()
            product = self.product(product, operator, factor)
        return product

    def product(self, left: _Linear, operator: Token, right: _Linear) -> _Linear:
        if operator.text == "/":
            if not right.is_number:
                refuse(self.text, operator.place, "division by a feature is not linear")
            if right.constant == 0:
                refuse(self.text, operator.place, "division by zero")
            return left.scaled(1 / right.constant)
        if left.is_number:
            return right.scaled(left.constant)
        if right.is_number:
            return left.scaled(right.constant)
        refuse(
            self.text,
            operator.place,
            "a product of two features is not linear",
            hint="constraints are sums of number * feature",
        )

    def factor(self) -> _Linear:
        sign = 1
        while self.token.text in ("+", "-") and self.token.sort == "operator":
            sign = -sign if self.take().text == "-" else sign
        token = self.take()
        if token.sort == "number":
            value = _Linear({}, token.number)
        elif token.sort == "name":
            value = _Linear({token.text: Fraction(1)}, Fraction(0))
        elif token.text == "(" and token.sort == "operator":
            value = self.parenthesis(token)
        else:
            self.refuse_token(token)
        return value.scaled(Fraction(sign))

    def parenthesis(self, opening: Token) -> _Linear:
        self.depth += 1
        if self.depth > _DEEPEST_NESTING:
            refuse(self.text, opening.place, f"more than {_DEEPEST_NESTING} parentheses inside each other")
        value = self.linear()
        if self.token.text != ")" or self.token.sort != "operator":
            if self.token.sort == "comparison":
                refuse(self.text, self.token.place, "a comparison inside parentheses")
            refuse(self.text, opening.place, "this parenthesis is never closed")
        self.take()
        self.depth -= 1
        return value

    def refuse_token(self, token: Token) -> NoReturn:
        if token.sort == "end":
            refuse(self.text, token.place, "the text ends where a number or a feature should follow")
        before = self.tokens[self.at - 1] if self.at else token
        if token.sort == "name" and token.text in ("and", "or", "not"):
            refuse(
                self.text,
                token.place,
                f"{token.text!r} is not part of a constraint",
                hint="every constraint is a text of its own, and all of them hold",
            )
        if token.sort == "name" and before.sort == "number":
            factor = f"{number_text(before.number)} * {quoted_name(token.text)}"
            refuse(self.text, token.place, "an operator is missing", hint=f"write {factor}")
        refuse(self.text, token.place, f"unexpected {token.text!r}")


def _as_fraction(value: Fraction | Level) -> Fraction:
    if value is None:
        raise InternalError("a linear constraint on a feature that may be missing")
    return Fraction(value)
