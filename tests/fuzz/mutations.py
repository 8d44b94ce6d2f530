"""How files are damaged: bytes, lines of text, and fields of documents."""

from __future__ import annotations

import io
import json
import random
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

WORDS = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "3",
        "7",
        "-0",
        "00",
        "1_0",
        "４",
        "+1",
        "1.",
        ".5",
        "1e1",
        "0x1",
        " 1",
        "1 ",
        "1e-40",
    ),
    *(
        "2147483647",
        "2147483648",
        "4294967296",
        "18446744073709551617",
        "nan",
        "NaN",
        "inf",
        "Infinity",
        "1e999",
    ),
    *(
        "-1e999",
        "0.1",
        "0.30000000000000004",
        "1.00000005960464477539062500000000001",
        "true",
        "null",
        '"1"',
        "[]",
    ),
)
INSERTED = (
    "\r",
    "\n",
    "\0",
    "\t",
    " ",
    "=",
    "\n\n",
    "\r\n",
    "\u0661",
    "\\u0061",
    "_",
    ",",
    "{}",
    "-",
    "\ufeff",
)
NUMBER = re.compile(r"-?\d[\d.]*(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Format:
    """How files of one kind are made, mutated, and predicted with by Likewise (from the loaded model) and by the library (from the path)."""

    suffix: str
    make: Callable[[], list[bytes]]
    mutate: Callable[[random.Random, bytes], bytes]
    ours: Callable[[Any, Any], list[Any]]
    theirs: Callable[[str, Any], list[Any]]
    rows: Callable[[], Any]


# -- mutations ---------------------------------------------------------------------------------------------


def mutate_bytes(draw: random.Random, content: bytes) -> bytes:
    """Some bytes other ones, left out, there twice, or moved."""
    made = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        at, size = draw.randrange(len(made)), draw.choice((1, 1, 2, 4, 8, 50))
        match draw.randrange(4):
            case 0:
                made[at] = draw.randrange(256)
            case 1:
                del made[at : at + size]
            case 2:
                made[at:at] = made[at : at + size]
            case 3:
                made[at : at + size] = bytes([draw.choice((0, 1, 127, 128, 255))]) * size
        made = made or bytearray(b"x")
    return bytes(made)


def mutate_text(draw: random.Random, content: bytes) -> bytes:
    """A number other, a line there twice or elsewhere, a sign between."""
    text = content.decode("utf-8")
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        lines = text.split("\n")
        at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        match draw.randrange(6):
            case 0 | 1:
                found = list(NUMBER.finditer(lines[at]))
                if found:
                    one = draw.choice(found)
                    lines[at] = lines[at][: one.start()] + draw.choice(WORDS) + lines[at][one.end() :]
            case 2:
                place = draw.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:place] + draw.choice(INSERTED) + lines[at][place:]
            case 3:
                lines.insert(other, lines[at])
            case 4:
                lines[at], lines[other] = lines[other], lines[at]
            case 5:
                del lines[at]
        text = "\n".join(lines)
    return text.encode()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON document, of long lists some."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key)
        yield from places(one, (*path, key))


def mutate_document(draw: random.Random, document: Any) -> Any:
    """A document with fields that are other, gone, moved, or of other names."""
    for _ in range(draw.choice((1, 1, 1, 2))):
        *path, key = draw.choice(list(places(document)))
        inside = document
        for step in path:
            inside = inside[step]
        value, name = inside[key], str(key)
        match draw.randrange(8):
            case 0:
                del inside[key]
            case 1 if isinstance(inside, dict):
                inside[draw.choice((name + "_", name.upper(), "unknown", *inside))] = inside.pop(key)
            case 2 if isinstance(value, list):
                draw.shuffle(value)
            case 3 if isinstance(value, list):
                value.append(draw.choice(value or [0]))
            case 4 if isinstance(value, (int, float)) or (isinstance(value, str) and value.isdigit()):
                moved = float(value) + draw.choice((-1, 1, 0.5, 1e-9, 2**32, 2**31))
                inside[key] = str(moved) if isinstance(value, str) else draw.choice((moved, int(moved)))
            case 5:
                inside[key] = draw.choice((None, True, [], {}, 0, -1, 2, "x", str(value), 1e300, [value]))
            case 6 if isinstance(inside, list):
                inside[draw.randrange(len(inside))] = value
            case _:
                siblings = list(inside) if isinstance(inside, dict) else range(len(inside))
                inside[key] = inside[draw.choice(siblings)]
        document = json.loads(json.dumps(document))
    return document


def mutate_json(draw: random.Random, content: bytes) -> bytes:
    """A document, or its text; sometimes with keys that are there twice."""
    kind = draw.random()
    if kind < 0.3:
        return mutate_text(draw, content.replace(b",", b",\n") if b"\n" not in content else content)
    if kind < 0.35:
        return mutate_bytes(draw, content)
    document = mutate_document(draw, json.loads(content))
    if kind > 0.9:
        text = json.dumps(document)
        keys = list(re.finditer(r'"(\w+)": (\[[^][{}]*\]|"[^"{}]*"|[-\w.]+)', text))
        one, other = draw.choice(keys), draw.choice(keys)
        return f'{text[: one.start()]}{one[0]}, "{one[1]}": {other[2]}{text[one.end() :]}'.encode()
    return json.dumps(document).encode()


def zip_files(content: bytes) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: dict[str, bytes], *more: tuple[str, bytes]) -> bytes:
    """An archive of members, of which some may have one name."""
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data in (*files.items(), *more):
            archive.writestr(name, data)
    return made.getvalue()


def mutate_members(draw: random.Random, files: dict[str, bytes]) -> bytes:
    """A member less or more, there twice, of another name, or with the bytes of another."""
    name, other = draw.choice(list(files)), draw.choice(list(files))
    match draw.randrange(5):
        case 0:
            del files[name]
        case 1:
            files[draw.choice((f"{name}x", f"./{name}", name.upper(), "x", name.removesuffix(".npy")))] = (
                files[other]
            )
        case 2:
            return zipped(files, (name, files[other]))
        case 3:
            files[name], files[other] = files[other], files[name]
        case _:
            files[name] = mutate_bytes(draw, files[name])
    return zipped(files)
