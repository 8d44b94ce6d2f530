"""Mutants: every certificate that differs from a given one in one field, one line or one byte.

`fields` walks the decoded lines and yields each single change; `lines_changed` drops, repeats and swaps
lines. `written` and `sealed` make files of mutated lines: with the digests as they stood, or recomputed, so
that only the mathematics can tell.
"""

import copy
import gzip
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.spec.numbers import format_number, parse_number

SECTIONS = ("space", "similarity", "property", "model")
WORDS = ("split", "separable", "enumerated", "independent", "empty", "same", "free", "within", "integer",
         "continuous", "categorical", "ordinal", "decision", "score", "probability", "proof", "witness",
         "lower", "upper", "affine", "kernel", "rbf", "polynomial", "sos", "trees", "left", "right")  # fmt: skip
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?|-?0x[0-9a-f]+p[+-]?[0-9]+")
HUGE = Fraction(10) ** 300
ULP = Fraction(1, 2**52)

Lines = list[Any]
Path = tuple[Any, ...]


def mutants(lines: Lines, count: int, seed: int = 0) -> list[tuple[str, Lines]]:
    """At least `count` mutants: all single changes, or as many of them, spread evenly; then double ones."""
    random = np.random.default_rng(seed)
    single = [*fields(lines), *lines_changed(lines)]
    if len(single) > count:
        chosen = sorted(random.choice(len(single), count, replace=False))
        single = [single[i] for i in chosen]
    found = [(said, change()) for said, change in single]
    changes = list(fields(lines))
    while len(found) < count:
        one, first = changes[random.integers(len(changes))]
        two, twice = _changed_somewhere(first(), random)
        found.append((f"{one}, then {two}", twice))
    return found


def _changed_somewhere(lines: Lines, random: np.random.Generator) -> tuple[str, Lines]:
    """One field changed in one of the ways that `fields` has: every field as likely as every other."""
    places = list(_walk(lines))
    path, value = places[random.integers(len(places))]
    others = list(_others(value, path))
    new = others[random.integers(len(others))]
    return _said(path, value, new), _setter(lines, path, new)()


def fields(lines: Lines) -> Iterator[tuple[str, Any]]:
    """(what, how) for every single change of a field; `how()` gives the mutated lines."""
    for path, value in _walk(lines):
        for new in _others(value, path):
            yield _said(path, value, new), _setter(lines, path, new)


def lines_changed(lines: Lines) -> Iterator[tuple[str, Any]]:
    """Lines missing, repeated, swapped with the next, or strange ones put in between."""
    for i, line in enumerate(lines):
        rest = lines[:i], lines[i + 1 :]
        yield f"line {i} missing", lambda rest=rest: [*rest[0], *rest[1]]
        yield f"line {i} twice", lambda rest=rest, line=line: [*rest[0], line, line, *rest[1]]
        if i + 1 < len(lines) and lines[i + 1] != line:
            swapped = [*lines[:i], lines[i + 1], line, *lines[i + 2 :]]
            yield f"lines {i} and {i + 1} swapped", lambda swapped=swapped: swapped
        for odd in (["split", 0, "0"], ["independent"], ["enumerated"], {}, [], None, 1):
            yield f"{odd} before line {i}", lambda i=i, odd=odd: [*lines[:i], odd, *lines[i:]]


def written(lines: Lines) -> bytes:
    """The lines as text, digests as they stand."""
    return b"".join(_text(line) + b"\n" for line in lines)


def sealed(lines: Lines) -> bytes:
    """The lines as text, with all digests made right wherever there is a place for them."""
    lines = copy.deepcopy(lines)
    header, end = lines[0] if lines else None, lines[-1] if lines else None
    if isinstance(header, dict) and isinstance(header.get("digests"), dict):
        for name, line in zip(SECTIONS, lines[1:5], strict=False):
            if name in header["digests"]:
                header["digests"][name] = hashlib.sha256(_text(line)).hexdigest()
    before = written(lines[:-1])
    if isinstance(end, dict) and isinstance(end.get("end"), dict) and "sha256" in end["end"]:
        end["end"]["sha256"] = hashlib.sha256(before).hexdigest()
    return before + written(lines[-1:])


def packed(text: bytes) -> bytes:
    """As a file; barely compressed, for speed."""
    return gzip.compress(text, compresslevel=1, mtime=0)


def _text(line: Any) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


def _walk(lines: Lines) -> Iterator[tuple[Path, Any]]:
    pending: list[tuple[Path, Any]] = [((i,), line) for i, line in enumerate(lines)]
    while pending:
        path, value = pending.pop()
        yield path, value
        if isinstance(value, dict):
            pending += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            pending += [((*path, i), inner) for i, inner in enumerate(value)]


def _others(value: Any, path: Path) -> Iterator[Any]:
    """What may stand in the place of a value."""
    if isinstance(value, bool):
        yield from (not value, int(value), None, str(value))
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, -value - 1, 2 * value + 1, 10**18, str(value), value + 0.5)
    elif value is None:
        yield from ("logistic", [], 0)
    elif isinstance(value, str):
        yield from _other_texts(value, path)
    elif isinstance(value, list):
        yield from _other_lists(value)
    else:
        yield from _other_objects(value)


def _other_texts(value: str, path: Path) -> Iterator[Any]:
    if NUMBER.fullmatch(value):
        exact = parse_number(value)
        near = ULP * max(abs(exact), Fraction(1, 2**20))
        changed = (
            exact + 1,
            exact - 1,
            exact + near,
            exact - near,
            -exact,
            2 * exact,
            Fraction(0),
            HUGE,
            -HUGE,
        )
        yield from (
            format_number(new)
            for new in (*changed, exact / 3, 1 - exact, exact + Fraction(1, 2))
            if new != exact
        )
        yield from (value + "x", "", "nan", "1e3", " 1", "--1", 7, [value], format_number(exact) + "p+99999")
    elif len(value) == 64 and not set(value) - set("0123456789abcdef"):
        yield from (value[::-1], value[:-1], value.upper() + "0", "0" * 64, value[1:] + value[0])
    else:
        yield from (value + "'", "", 0, None)
        yield from (word for word in (WORDS if value in WORDS else ()) if word != value)


def _other_lists(value: list[Any]) -> Iterator[Any]:
    yield [*value, "0"]
    yield []
    yield {"list": value}
    for i in range(len(value)):
        yield value[:i] + value[i + 1 :]
        yield [*value[: i + 1], *value[i:]]
    for i, j in itertools.pairwise(range(len(value))):
        if value[i] != value[j]:
            yield [*value[:i], value[j], value[i], *value[j + 1 :]]


def _other_objects(value: dict[str, Any]) -> Iterator[Any]:
    yield {**value, "more": 1}
    yield [[key, inner] for key, inner in value.items()]
    for key in value:
        rest = {k: v for k, v in value.items() if k != key}
        yield rest
        yield {**rest, key + "_": value[key]}


def _setter(lines: Lines, path: Path, new: Any) -> Any:
    def change() -> Lines:
        changed = list(lines)
        changed[path[0]] = copy.deepcopy(lines[path[0]])
        place: Any = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = new
        return changed

    return change


def _said(path: Path, value: Any, new: Any) -> str:
    return f"{_spelled(path)}: {_short(value)} -> {_short(new)}"


def _spelled(path: Path) -> str:
    return ".".join(map(str, path))


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
