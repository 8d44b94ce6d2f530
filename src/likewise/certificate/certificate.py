"""Certificate: a proof or a witness in hand, to be saved, looked at and checked by someone else.

Holds the compressed bytes as they are written to disk. `outline` reads them for people; it does not check:
`likewise_check` does.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from likewise.certificate.writer import holds_rows
from likewise.errors import CertificateError
from likewise.spec.disk import read_file, write_file
from likewise.spec.numbers import parse_number

MOST_OUTLINE_BYTES = 1 << 31  # bytes of text that an outline reads
LONGEST_LINE = 1 << 28  # bytes or characters
CUTS = ("split", "neuron", "inner")  # nodes that two others follow
# What reading lines of another shape than a certificate's ends in: an outline looks, it does not check.
PARSE_ERRORS = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a certificate says of itself: claim, digests, and the proof's shape."""

    kind: str
    words: str
    tool: str
    digests: dict[str, str]
    nodes: int
    rules: dict[str, int]
    depth: int
    clearance: Fraction | None
    covers_floating_point: bool | None


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof or a witness, as the bytes of its file.

    Attributes
    ----------
    content : bytes
        The file, compressed.
    """

    content: bytes

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the file, whole or not at all; one that is about people for its owner's eyes only."""
        try:
            write_file(path, self.content, private=self.is_about_people)
        except OSError as error:
            raise CertificateError(
                f"{os.fspath(path)}: cannot be written: {error.strerror or error}"
            ) from error
        return Path(path)

    def model_line(self) -> bytes:
        """The model export: what `likewise-check --model` compares digests with."""
        return self._first_lines()[4]

    @property
    def holds_rows(self) -> bool:
        """Whether rows of the training data are in it, to the last bit: those that a kernel model is made
        of."""
        return holds_rows(self.model_line())

    @property
    def is_about_people(self) -> bool:
        """Whether it may hold rows or two individuals."""
        try:
            return self.holds_rows or json.loads(self._first_lines()[0])["kind"] == "witness"
        except (CertificateError, *PARSE_ERRORS):
            return True

    def _first_lines(self) -> list[bytes]:
        try:
            with gzip.open(io.BytesIO(self.content)) as lines:
                found = [lines.readline(LONGEST_LINE) for _ in range(5)]
        except (OSError, EOFError, zlib.error) as error:
            raise CertificateError(f"not a readable certificate: {error}") from error
        if not found[4] or max(map(len, found)) == LONGEST_LINE:
            raise CertificateError("not a readable certificate: it has no model, or a line too long")
        return found

    def outline(self) -> Outline:
        """Read the certificate for people; raises CertificateError where it is not one."""
        try:
            with gzip.open(io.BytesIO(self.content), "rt", encoding="utf-8") as lines:
                return _read_outline(lines)
        except (OSError, EOFError, zlib.error, *PARSE_ERRORS) as error:
            raise CertificateError(f"not a readable certificate: {error}") from error

    def __repr__(self) -> str:
        return f"Certificate({len(self.content):,} bytes)"


def load_certificate(path: str | PathLike[str]) -> Certificate:
    """A certificate from disk. Nothing is checked here: that is what `check` does."""
    try:
        content = read_file(path)
    except OSError as error:
        raise CertificateError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error
    if content[:2] != b"\x1f\x8b":
        raise CertificateError(
            f"{os.fspath(path)}: not a certificate", hint="certificates are written by Certificate.save"
        )
    return Certificate(content)


def _read_outline(lines: Any) -> Outline:
    header = json.loads(lines.readline(LONGEST_LINE))
    _, similarity, _, _ = (lines.readline(LONGEST_LINE) for _ in range(4))
    in_parts = any(relation["kind"] == "along" for relation in json.loads(similarity)["similarity"])
    rules: Counter[str] = Counter()
    pending, deepest, read, end = [0], 0, 0, None
    while text := lines.readline(LONGEST_LINE):
        read += len(text)
        if read > MOST_OUTLINE_BYTES:
            raise ValueError("too long to outline")
        node = json.loads(text)
        if isinstance(node, dict):
            end = node.get("end", end)
            continue
        if not pending and (rules["cases"] or in_parts):  # the next case or part, a tree of its own
            pending.append(1)
        depth = pending.pop()
        deepest = max(deepest, depth)
        if node[0] in CUTS:
            pending += [depth + 1, depth + 1]
        rules[str(node[0])] += 1
    if end is None:
        raise ValueError("it has no end")
    return Outline(
        kind=header["kind"],
        words=header["words"],
        tool=header["tool"],
        digests=dict(header["digests"]),
        nodes=rules.total(),
        rules=dict(rules),
        depth=deepest,
        clearance=None if end.get("clearance") is None else parse_number(end["clearance"]),
        covers_floating_point=end.get("covers_floating_point"),
    )
