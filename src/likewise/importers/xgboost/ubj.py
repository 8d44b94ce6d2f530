"""Universal Binary JSON, the draft 12 of it that XGBoost writes: bytes to plain values, and nothing is ever
run.

A value is a marker and what belongs to it: Z (none), T, F, numbers i U I l L (whole, of 1, 1, 2, 4 and 8
bytes) and d D (floating
point, of 4 and 8), S (a length and text), arrays [ ... ] and objects { ... }. An array may give the type of
its numbers ($) and their
count (#) before them, and comes back as a NumPy array then. Lengths are of type L. Big endian. XGBoost reads
no more than that.

The file is not trusted: a length is compared with what is left of the file before anything is made of it,
and containers are
nested no deeper than `DEEPEST_NESTING`.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

NUMBER_FORMATS = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
CONSTANTS = {"Z": None, "T": True, "F": False}
DEEPEST_NESTING = 64


class BadUbj(ValueError):
    """The bytes are no UBJ; says where."""


def parse_ubj(content: bytes) -> Any:
    """The one value in `content`."""
    reader = _Reader(content)
    value = reader.value(reader.marker(), 0)
    if reader.at != len(content):
        raise BadUbj(f"{len(content) - reader.at} bytes follow the end of the model")
    return value


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, count: int) -> bytes:
        if count < 0 or count > len(self.content) - self.at:
            raise BadUbj(f"cut off at byte {self.at}: {count} bytes more are needed")
        self.at += count
        return self.content[self.at - count : self.at]

    def marker(self) -> str:
        """The next marker."""
        return self.take(1).decode("latin-1")

    def value(self, marker: str, depth: int) -> Any:
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker in NUMBER_FORMATS:
            return self.number(marker)
        if marker == "S":
            return self.text(self.marker())
        if marker not in ("[", "{"):
            raise BadUbj(f"no value begins with {marker!r}, at byte {self.at - 1}")
        if depth == DEEPEST_NESTING:
            raise BadUbj(f"nested more than {DEEPEST_NESTING} deep at byte {self.at}")
        return self.array(depth + 1) if marker == "[" else self.object(depth + 1)

    def number(self, marker: str) -> Any:
        layout = NUMBER_FORMATS[marker]
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def length(self, marker: str) -> int:
        if marker != "L":
            raise BadUbj(f"{marker!r} is no length, at byte {self.at - 1}")
        return int(self.number(marker))

    def text(self, marker: str) -> str:
        return self.take(self.length(marker)).decode("utf-8")

    def next_is(self, byte: bytes) -> bool:
        return self.content[self.at : self.at + 1] == byte

    def array(self, depth: int) -> Any:
        kind = None
        if self.next_is(b"$"):
            kind = self.take(2)[1:].decode("latin-1")
            if kind not in NUMBER_FORMATS or not self.next_is(b"#"):
                raise BadUbj(f"a type that is not a number's, or without a count, at byte {self.at}")
        if not self.next_is(b"#"):
            found = []
            while (marker := self.marker()) != "]":
                found.append(self.value(marker, depth))
            return found
        self.take(1)
        count = self.length(self.marker())
        if kind is not None:
            dtype = np.dtype(NUMBER_FORMATS[kind])
            content = self.take(count * dtype.itemsize)
            return np.frombuffer(content, dtype=dtype).astype(dtype.newbyteorder("="))
        if not 0 <= count <= len(self.content) - self.at:  # a value takes a byte at least
            raise BadUbj(f"{count} values cannot follow byte {self.at}")
        return [self.value(self.marker(), depth) for _ in range(count)]

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (marker := self.marker()) != "}":
            key = self.text(marker)
            if key in found:
                raise BadUbj(f"the key {key[:40]!r} is there twice")
            found[key] = self.value(self.marker(), depth)
        return found
