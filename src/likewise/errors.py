"""Every error Likewise raises on purpose: what is wrong, where, and what would work.

    LikewiseError
    |-- SpecError          the claim is wrong: features, constraints, similarity, property, claim file
    |-- DataError          the data do not fit: rows outside the space, missing values, unknown levels
    |-- UnsupportedModel   the model cannot be imported: which step, why, what would work
    |   `-- MismatchedModel   it is not what it seems, or the space is another one: it is not asked either
    |-- BudgetError        the budget cannot be used
    |-- CertificateError   a certificate cannot be written, read or accepted
    `-- InternalError      an invariant of Likewise itself is broken: a bug, never caught

A message says what is wrong and where; the hint, on a line of its own, says what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Self

_LONG_NUMBER = re.compile(r"[0-9]{100,}")  # digits; numbers come from files, and messages are read by people
_SHOWN_DIGITS = 20


def _shorten_number(found: re.Match[str]) -> str:
    return f"{found[0][:_SHOWN_DIGITS]}... ({len(found[0]):,} digits)"


class LikewiseError(Exception):
    """Base of every error Likewise raises on purpose."""

    message: str
    hint: str | None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = _LONG_NUMBER.sub(_shorten_number, message)
        super().__init__(self.message)
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def located(self, where: str) -> Self:
        """The same error with the place in front: ``raise error.located("feature 'age'") from None``."""
        return type(self)(f"{where}: {self.message}", hint=self.hint)


class SpecError(LikewiseError):
    """The claim itself is wrong: a feature, constraint, similarity, property or claim file."""


class DataError(LikewiseError):
    """The data do not fit the space; the message names row and column."""


class UnsupportedModel(LikewiseError):
    """The model cannot be imported; the message names the step and the reason."""


class MismatchedModel(UnsupportedModel):
    """The model is not what it seems to be: it answers otherwise than what was read of it, or its numbers contradict each other; or the space is not that of the rows
    that it was fitted on."""


class BudgetError(LikewiseError):
    """A budget that cannot be used: negative, not a number, too small to report anything."""


class CertificateError(LikewiseError):
    """A certificate cannot be written, read or accepted."""


class InternalError(LikewiseError):
    """An invariant of Likewise itself is broken; please report it."""


SHORTEST_SLIP = 2  # letters of a name, at least, where one is missing
SHORTEST_EXACT = 5  # letters of a name that nothing but a slip may change
SAME_BEGINNING = 0.6  # of the letters of the longer name


def suggest_name(name: object, candidates: Iterable[object], *, beginnings: bool = True) -> str:
    """``" (did you mean 'age'?)"`` for a candidate that is a slip away from `name`, or ``""`` if none is.

    A name that is only somehow alike is another thing, and naming it misleads. Where one that goes on differently is another thing,
    too, as of models, `beginnings` is False.
    """
    known = [str(candidate) for candidate in candidates]
    same = [other for other in known if _fold(other) == _fold(name)]
    near = same or [other for other in known if _is_one_slip(_fold(name), _fold(other), beginnings)]
    return f" (did you mean {near[0]!r}?)" if near else ""


def _fold(name: object) -> str:
    """Without what is most easily mistaken: case, and what stands between two words."""
    return "".join(char for char in str(name).casefold() if char.isalnum())


def _is_one_slip(one: str, other: str, beginnings: bool) -> bool:
    """Whether one letter more, less or other, or two exchanged, makes one of the other; or most of both is the same beginning."""
    short, long = sorted((one, other), key=len)
    if len(short) < (SHORTEST_SLIP if beginnings else SHORTEST_EXACT) or len(long) == SHORTEST_SLIP:
        return False
    same = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    left, right = short[same:], long[same:]
    if beginnings and (same >= SAME_BEGINNING * len(long) or (not left and len(right) <= len(short))):
        return True
    exchanged = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return exchanged or left == right[1:] or (len(short) == len(long) and left[1:] == right[1:])
