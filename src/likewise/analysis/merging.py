"""Merging: boxes of one kind that differ in one feature only, and are next to each other in it, become one box.

Feature by feature, again and again until nothing changes. Sets of levels are always next to each other; ranges of numbers are if no
value lies between them. A merged box remembers what it was made of, in case that it cannot be proved as a whole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.spec.features import Categorical, Integer, Ordinal

if TYPE_CHECKING:
    from likewise.analysis.counterparts import Counterpart
    from likewise.analysis.exploring import Found, Kind
    from likewise.spec.boxes import Box, Part
    from likewise.spec.features import Feature


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A box of one kind, and the pieces that it was put together from."""

    kind: Kind
    box: Box
    share: Fraction
    counterparts: tuple[Counterpart, ...] = ()
    parts: tuple[Piece, ...] = ()


def pieces_of(found: Iterable[Found]) -> list[Piece]:
    """What the exploration found, not merged yet."""
    return [
        Piece(kind=one.kind, box=one.box, share=one.share, counterparts=one.counterparts) for one in found
    ]


def merged(pieces: Sequence[Piece], order: Sequence[int]) -> list[Piece]:
    """Fewer, larger pieces; features are tried in this order."""
    current = list(pieces)
    while True:
        before = len(current)
        for k in order:
            current = list(_along(current, k))
        if len(current) == before:
            return sorted(current, key=lambda piece: (-piece.share, piece.box.parts))


def _along(pieces: list[Piece], k: int) -> Iterator[Piece]:
    """Merge along feature k: what agrees in everything else."""
    groups: dict[object, list[Piece]] = defaultdict(list)
    for piece in pieces:
        parts = piece.box.parts
        groups[piece.kind, piece.counterparts, parts[:k], parts[k + 1 :]].append(piece)
    for group in groups.values():
        box = group[0].box
        feature = box.space[box.space.names[k]]
        group.sort(key=lambda piece: piece.box.parts[k])
        run = [group[0]]
        for piece in group[1:]:
            if adjacent(feature, run[-1].box.parts[k], piece.box.parts[k]):
                run.append(piece)
            else:
                yield joined(run, k, feature)
                run = [piece]
        yield joined(run, k, feature)


def adjacent(feature: Feature, left: Part, right: Part) -> bool:
    """Whether no value lies between two parts, the smaller one first."""
    if isinstance(feature, (Categorical, Ordinal)):
        return True
    if isinstance(feature, Integer):
        return right[0] == left[1] + 1
    return left[1] <= right[0] <= math.nextafter(left[1], math.inf)


def joined(run: list[Piece], k: int, feature: Feature) -> Piece:
    """One piece of several that are next to each other in feature k, in this order."""
    if len(run) == 1:
        return run[0]
    first, last = run[0].box.parts[k], run[-1].box.parts[k]
    if isinstance(feature, (Categorical, Ordinal)):
        part: Part = tuple(sorted(p for piece in run for p in piece.box.parts[k]))
    else:
        part = (first[0], last[1])
    return Piece(
        kind=run[0].kind,
        box=run[0].box.with_part(k, part),
        share=sum((piece.share for piece in run), Fraction(0)),
        counterparts=run[0].counterparts,
        parts=tuple(run),
    )
