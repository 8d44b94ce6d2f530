"""Every error Likewise raises on purpose: what is wrong, where, and what would work.

    LikewiseError
    |-- SpecError          the claim is wrong: features, constraints, similarity, property, spec file
    |-- DataError          the data do not fit: rows outside the space, missing values, unknown levels
    |-- UnsupportedModel   the model cannot be imported: which step, why, what would work
    |-- BudgetError        the budget cannot be used
    |-- CertificateError   a certificate cannot be written, read or accepted
    `-- InternalError      an invariant of Likewise itself is broken: a bug, never caught

A message says what is wrong and where; the hint, on a line of its own, says what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class LikewiseError(Exception):
    """Base of every error Likewise raises on purpose."""

    message: str
    hint: str | None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def located(self, where: str) -> Self:
        """The same error with the place in front: ``raise error.located("feature 'age'") from None``."""
        return type(self)(f"{where}: {self.message}", hint=self.hint)


class SpecError(LikewiseError):
    """The claim itself is wrong: a feature, constraint, similarity, property or spec file."""


class DataError(LikewiseError):
    """The data do not fit the space; the message names row and column."""


class UnsupportedModel(LikewiseError):
    """The model cannot be imported; the message names the step and the reason."""


class BudgetError(LikewiseError):
    """A budget that cannot be used: negative, not a number, too small to report anything."""


class CertificateError(LikewiseError):
    """A certificate cannot be written, read or accepted."""


class InternalError(LikewiseError):
    """An invariant of Likewise itself is broken; please report it."""


def suggest_name(name: object, candidates: Iterable[object]) -> str:
    """``" (did you mean 'age'?)"`` for the candidate most like `name`, or ``""`` if none is alike."""
    import difflib

    wanted = str(name)
    # Case is ignored for the comparison only: "Age" and "age" are the likeliest slip of all. Of
    # several candidates that differ by case alone, the first wins.
    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(str(candidate).casefold(), str(candidate))
    found = difflib.get_close_matches(wanted.casefold(), list(folded), n=1, cutoff=0.6)
    return f" (did you mean {folded[found[0]]!r}?)" if found else ""
