"""Takes JSON values apart: each function returns what it expects or rejects, naming the place.

JSON's `true` is no int here, although Python's is; an object has exactly the keys it must have.
"""

from likewise_check.errors import Rejected


def record(value: object, what: str, *keys: str) -> list[object]:
    """The values of an object that has exactly these keys, in this order."""
    if type(value) is not dict:
        raise Rejected(f"{what} must be an object with the keys {', '.join(keys)}")
    if value.keys() != set(keys):
        raise Rejected(f"{what} must have exactly the keys {', '.join(keys)}")
    return [value[key] for key in keys]


def kind(value: object, what: str) -> str:
    """The text under the key `kind` of an object; which other keys it must have depends on it."""
    if type(value) is not dict or type(value.get("kind")) is not str:
        raise Rejected(f"{what} must be an object with a kind")
    return str(value["kind"])


def array(value: object, what: str, length: int | None = None) -> list[object]:
    """An array, of this length if one is given."""
    if type(value) is not list:
        raise Rejected(f"{what} must be an array")
    if length is not None and len(value) != length:
        raise Rejected(f"{what} must have {length} entries, not {len(value)}")
    return value


def text(value: object, what: str) -> str:
    """A text."""
    if type(value) is not str:
        raise Rejected(f"{what} must be a text")
    return value


def truth(value: object, what: str) -> bool:
    """`true` or `false`."""
    if type(value) is not bool:
        raise Rejected(f"{what} must be true or false")
    return value


def whole(value: object, what: str, low: int, high: int) -> int:
    """A whole JSON number from low to high."""
    if type(value) is not int or not low <= value <= high:
        raise Rejected(f"{what} must be a whole number from {low} to {high}")
    return value


def choice(value: object, what: str, *options: str | None) -> str | None:
    """One of the options, each a text or null."""
    if value is not None and type(value) is not str:
        raise Rejected(f"{what} must be one of {options}")
    if value not in options:
        raise Rejected(f"{what} must be one of {options}")
    return value
