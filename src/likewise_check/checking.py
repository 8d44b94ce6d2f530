"""Checks one certificate from its first byte to its last (sections 1 and 8) and reports what was found."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import BinaryIO, Literal, TypeAlias

from likewise_check import fields
from likewise_check.claim import Claim
from likewise_check.errors import Rejected
from likewise_check.leaves import Tally
from likewise_check.model import read_model
from likewise_check.proof import check_end, check_nodes
from likewise_check.properties import read_property
from likewise_check.reading import LONGEST_LINE, Lines
from likewise_check.report import CheckReport
from likewise_check.space import read_similarity, read_space
from likewise_check.witness import check_witness, check_witness_end

VERSION = 1
SECTIONS = ("space", "similarity", "property", "model")

Place: TypeAlias = str | os.PathLike[str]


@dataclass(slots=True)
class _Findings:
    """What is known so far; becomes the report."""

    readable: bool = False
    kind: Literal["proof", "witness"] | None = None
    digests: dict[str, str] = field(default_factory=dict)
    claim: str = ""
    cells: int = 0
    tally: Tally = field(default_factory=Tally)
    clearance: Fraction | None = None
    covers: bool = False


def check(
    source: Place | BinaryIO,
    *,
    model: Place | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
    refusals: int = 1,
) -> CheckReport:
    """Checks a certificate: a path, or a binary file open for reading.

    `model` is a file that holds the model line; its digest must be the certificate's. `progress` is told the number of nodes
    read, now and then. Up to `refusals` leaves that do not hold are collected in the report before giving up.
    """
    if jobs < 1 or refusals < 1:
        raise ValueError("jobs and refusals must be at least 1")
    began = perf_counter()
    found = _Findings()
    reason: str | None = None
    line: int | None = None
    lines: Lines | None = None
    try:
        own = None if model is None else _model_digest(model)
        with _opened(source) as stream:
            lines = Lines(stream)
            _check_file(lines, found, own, jobs=jobs, refusals=refusals, progress=progress or _silent)
    except OSError as error:
        reason, found.readable = f"cannot be read: {error.strerror or error}", False
    except Rejected as rejection:
        reason, line = rejection.reason, rejection.line
        if line is None and lines is not None:
            line = lines.number
    return CheckReport(
        accepted=reason is None,
        readable=found.readable,
        reason=reason,
        line=line,
        kind=found.kind,
        claim=found.claim,
        cells=found.cells,
        rules=found.tally.rules,
        clearance=found.clearance,
        covers_floating_point=found.covers,
        digests=found.digests,
        refused=tuple(index for index, _, _ in found.tally.refused),
        seconds=perf_counter() - began,
    )


def _check_file(
    lines: Lines,
    found: _Findings,
    own: str | None,
    *,
    jobs: int,
    refusals: int,
    progress: Callable[[int], None],
) -> None:
    _read_header(lines.value("the header"), found)
    claim = _read_claim(lines, found)
    if own is not None and own != found.digests["model"]:
        raise Rejected("the certificate speaks of another model than the file given", line=lines.number)
    if found.kind == "proof":
        counted = _counter(found, progress)
        found.cells, end = check_nodes(
            lines, claim, found.tally, jobs=jobs, refusals=refusals, progress=counted
        )
        clearance, covered = check_end(end, lines, claim, found.tally, found.cells)
    else:
        check_witness(lines.value("the witness"), claim)
        check_witness_end(lines.value("the end"), lines)
        clearance, covered = None, False
    if lines.following() is not None:
        raise Rejected("something follows the end")
    found.clearance, found.covers = clearance, covered


def _read_header(header: object, found: _Findings) -> None:
    version = header.get("likewise-certificate") if type(header) is dict else None
    if type(version) is not int or version != VERSION:
        raise Rejected(f"not a certificate of version {VERSION}")
    found.readable = True
    _, kind, tool, words, digests = fields.record(
        header, "the header", "likewise-certificate", "kind", "tool", "words", "digests"
    )
    fields.text(tool, "the header's tool")
    fields.text(words, "the header's words")
    stated = fields.record(digests, "the header's digests", *SECTIONS)
    found.digests = {
        name: fields.text(value, f"the {name} digest") for name, value in zip(SECTIONS, stated, strict=True)
    }
    found.kind = "proof" if fields.choice(kind, "the kind", "proof", "witness") == "proof" else "witness"


def _read_claim(lines: Lines, found: _Findings) -> Claim:
    space = read_space(_sealed(lines, found, "space"))
    similarity = read_similarity(_sealed(lines, found, "similarity"), space)
    asked = read_property(_sealed(lines, found, "property"))
    model = read_model(_sealed(lines, found, "model"), space, asked)
    claim = Claim(space=space, similarity=similarity, model=model, asked=asked)
    found.claim = claim.in_words(refuted=found.kind == "witness")
    return claim


def _sealed(lines: Lines, found: _Findings, name: str) -> object:
    value = lines.value(f"the {name}")
    if lines.digest() != found.digests[name]:
        raise Rejected(f"the {name} line is not the one that the header's digest stands for")
    return value


def _counter(found: _Findings, progress: Callable[[int], None]) -> Callable[[int], None]:
    def count(nodes: int) -> None:
        found.cells = nodes
        progress(nodes)

    return count


def _model_digest(place: Place) -> str:
    """SHA-256 of a model line in a file of its own, with or without its line feed."""
    with Path(place).open("rb") as file:
        content = file.read(LONGEST_LINE + 2)
    return hashlib.sha256(content.removesuffix(b"\n")).hexdigest()


@contextmanager
def _opened(source: Place | BinaryIO) -> Iterator[BinaryIO]:
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as stream:
            yield stream
    else:
        yield source


def _silent(_: int) -> None:
    """Tells nobody."""
