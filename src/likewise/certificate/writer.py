"""Writer: streams a certificate, line by line, into a compressed file; memory does not grow with the proof.

writer = Writer(file, kind="proof", words=..., lines=...)
writer.split(variable, at, after) / writer.leaf(rule, way, multipliers)        depth first, left before right
writer.end(clearance=..., covers_floating_point=...)
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, BinaryIO, Literal

from likewise import __version__
from likewise.certificate.lines import line
from likewise.families.lines import number
from likewise.spec.enclosure import Enclosure

VERSION = 1
COMPRESSION = 6


class Writer:
    """One certificate being written. `lines` are space, similarity, property and model, in this order."""

    def __init__(
        self, file: BinaryIO, *, kind: Literal["proof", "witness"], words: str, lines: Sequence[bytes]
    ) -> None:
        # No name and no time in the gzip header: the same proof gives the same bytes.
        self._gzip = gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=file, mtime=0)
        self._digest = hashlib.sha256()
        self.nodes = 0
        names = ("space", "similarity", "property", "model")
        digests = {name: hashlib.sha256(part).hexdigest() for name, part in zip(names, lines, strict=True)}
        self._write(
            line(
                {
                    "likewise-certificate": VERSION,
                    "kind": kind,
                    "tool": f"likewise {__version__}",
                    "words": words,
                    "digests": digests,
                }
            )
        )
        for part in lines:
            self._write(part)

    def split(self, variable: int, at: float, after: float | None = None) -> None:
        """The node cuts a variable, at a double or between it and the one `after` it; its left child's nodes come
        next, then its right child's."""
        self._node(["split", variable, number(at), *([] if after is None else [number(after)])])

    def cases(self, cubes: Sequence[Sequence[Sequence[tuple[int, bool]]]] | None = None) -> None:
        """The first node of a proof about several classes; then comes a tree of cells a case."""
        known = () if cubes is None else ([[[list(pair) for pair in cube] for cube in of] for of in cubes],)
        self._node(["cases", *known])

    def leaf(
        self,
        rule: str,
        way: Fraction | None = None,
        multipliers: Sequence[Fraction] = (),
        hints: Sequence[int] = (),
        rivals: tuple[int, int] | None = None,
    ) -> None:
        """The node is closed by a rule; in a case of several classes by two of its conditions."""
        parts: list[Any] = [rule]
        if way is not None:
            parts.append(number(way) if rivals is None else [*rivals, number(way)])
        if rule == "kernel":
            parts += [list(hints[:-1]), hints[-1]]
        elif hints or rule == "polynomial":
            parts.append(list(hints))
        if multipliers or rule == "empty":
            parts.append([number(m) for m in multipliers])
        self._node(parts)

    def softmax(
        self,
        way: Fraction,
        weights: Sequence[Fraction],
        steps: Sequence[tuple[Fraction, Sequence[Fraction]]],
        multipliers: Sequence[Fraction] = (),
    ) -> None:
        """The node is closed by bounds of log odds."""
        parts: list[Any] = ["softmax", number(way), [number(w) for w in weights]]
        parts.append([[number(slope), [number(v) for v in row]] for slope, row in steps])
        if multipliers:
            parts.append([number(m) for m in multipliers])
        self._node(parts)

    def odds(self, directions: Iterable[Sequence[int]]) -> None:
        """The node is closed by bounds of odds, with the extent of scores in these directions."""
        self._node(["odds", [[number(Fraction(e)) for e in row] for row in directions]])

    def squares(
        self,
        way: Fraction | Sequence[Fraction],
        bits: int,
        blocks: Iterable[tuple[Sequence[int | tuple[int, int]], int, Sequence[Sequence[int]]]],
    ) -> None:
        """The node is closed by sums of squares: (generator, mu, squares) each."""
        written = number(way) if isinstance(way, Fraction) else [number(part) for part in way]
        content = [
            [
                [f if isinstance(f, int) else list(f) for f in generator],
                mu,
                [list(square) for square in squares],
            ]
            for generator, mu, squares in blocks
        ]
        self._node(["sos", written, bits, content])

    def witness(self, x: Sequence[float], other: Sequence[float], scores: Sequence[Enclosure]) -> None:
        """The body of a witness certificate: exact scores where they are known, enclosures otherwise."""
        exact = all(score.lo == score.hi for score in scores)
        body = {
            "x": [number(code) for code in x],
            "other": [number(code) for code in other],
            "scores": [number(s.lo) if exact else [number(s.lo), number(s.hi)] for s in scores],
        }
        self._write(line({"witness": body}))

    def class_witness(
        self, x: Sequence[float], other: Sequence[float], scores: Sequence[Sequence[Enclosure]]
    ) -> None:
        """The same with all scores of both individuals."""
        exact = all(score.lo == score.hi for row in scores for score in row)
        body = {
            "x": [number(code) for code in x],
            "other": [number(code) for code in other],
            "scores": [
                [number(s.lo) if exact else [number(s.lo), number(s.hi)] for s in row] for row in scores
            ],
        }
        self._write(line({"witness": body}))

    def end_proof(self, *, clearance: Fraction, covers_floating_point: bool) -> None:
        """The last line of a proof; the file is complete after it."""
        self._end(
            {
                "nodes": self.nodes,
                "clearance": number(clearance),
                "covers_floating_point": covers_floating_point,
            }
        )

    def end_witness(self) -> None:
        """The last line of a witness certificate."""
        self._end({})

    def _end(self, facts: dict[str, Any]) -> None:
        self._write(line({"end": facts | {"sha256": self._digest.hexdigest()}}))
        self._gzip.close()

    def _node(self, parts: list[Any]) -> None:
        self.nodes += 1
        self._write(line(parts))

    def _write(self, part: bytes) -> None:
        self._digest.update(part + b"\n")
        self._gzip.write(part + b"\n")
