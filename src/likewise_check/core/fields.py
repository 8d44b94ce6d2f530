"""Takes JSON values apart: readers return what they expect, or raise `Rejected`, naming the place.

JSON's `true` is no int here, although Python's is; an object has exactly the keys it must have.
"""

from collections.abc import Callable
from decimal import Decimal  # Python writes no int of more than 4,300 digits
from typing import Any, TypeAlias

LONGEST_REASON = 1000  # characters

Reader: TypeAlias = Callable[[object, str], Any]  # of a value and of what to call it


class Rejected(Exception):
    """The certificate is wrong; `line` (from 1) is where, or None for the line read last. Not `finished`: time was over first."""

    def __init__(self, reason: str, *, line: int | None = None, finished: bool = True) -> None:
        super().__init__(reason[:LONGEST_REASON])
        self.reason, self.line, self.finished = reason[:LONGEST_REASON], line, finished


def record(value: object, what: str, /, **readers: Reader) -> list[Any]:
    """The values of an object that has exactly these keys, in this order."""
    if type(value) is not dict or value.keys() != readers.keys():
        raise Rejected(f"{what} must be an object with exactly the keys {', '.join(readers)}")
    return [reader(value[key], f"{what}, {key}") for key, reader in readers.items()]


def kind(value: object, what: str, *kinds: str) -> str:
    """The text under the key `kind` of an object; which other keys it must have depends on it."""
    found = value.get("kind") if type(value) is dict else None
    if type(found) is not str or found not in kinds:
        raise Rejected(f"{what} must be an object of a known kind ({', '.join(kinds)})")
    return found


def array_of(reader: Reader, length: int | None = None) -> Reader:
    """Reads an array, of this length if one is given."""

    def read(value: object, what: str) -> list[Any]:
        if type(value) is not list:
            raise Rejected(f"{what} must be an array")
        if length is not None and len(value) != length:
            raise Rejected(f"{what} must have {length} entries, not {len(value)}")
        return [reader(item, f"{what} {i}") for i, item in enumerate(value)]

    return read


def whole(low: int, high: int) -> Reader:
    """Reads a whole JSON number from low to high."""

    def read(value: object, what: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise Rejected(f"{what} must be a whole number from {Decimal(low):.20g} to {Decimal(high):.20g}")
        return value

    return read


def choice(*options: str | None) -> Reader:
    """Reads one of the options, each a text or null."""

    def read(value: object, what: str) -> str | None:
        if not (value is None or type(value) is str) or value not in options:
            raise Rejected(f"{what} must be one of {options}")
        return value

    return read


def text(value: object, what: str) -> str:
    """Reads a text."""
    if type(value) is not str:
        raise Rejected(f"{what} must be a text")
    return value


def boolean(value: object, what: str) -> bool:
    """Reads a truth value."""
    if type(value) is not bool:
        raise Rejected(f"{what} must be true or false")
    return value


def require_true(value: object, what: str) -> bool:
    """Reads the truth value `true`."""
    if value is not True:
        raise Rejected(f"{what} must be true")
    return value


def anything(value: object, _what: str) -> object:
    """Leaves the value to whoever comes next."""
    return value
