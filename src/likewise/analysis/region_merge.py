"""Merging: boxes of one kind become fewer and larger boxes.

Boxes that differ in one feature only, and are next to each other in it, become one: feature by feature, again and again until nothing changes. Sets of
levels are always next to each other; ranges of numbers are if no value lies between them. A merged box remembers what it was made of, in case
that it cannot be proved as a whole.

Then a box that lies across the ends of several others of its kind is divided among them, smallest boxes first:

            age 47-50, {Bachelors, Masters}                    age 47-59, Bachelors
            age 51-59, Bachelors                becomes        age 38-50, Masters
            age 38-46, Masters

It is sliced along one feature (whole numbers or levels) so that each slice is next to another box in one feature and agrees with it in all others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.spec.features import Categorical, Continuous, Integer, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.changes import Counterpart
    from likewise.analysis.partition.people import Crowd
    from likewise.spec.boxes import Box, FeaturePart
    from likewise.spec.features import Feature

RegionKind = Literal["fair", "biased", "undecided", "empty"]
SPACE_WEIGHT = Fraction(1, 10)  # of a box's weight, where there are people: nobody is forgotten
MOST_SLICED = 400  # pieces of a kind that are sliced: each is compared with all others


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A box of one kind with its share of the space, and the pieces that it was put together from; `crowd` are those of the people in it,
    where the partition is about some."""

    kind: RegionKind
    box: Box
    share: Fraction
    crowd: Crowd | None = None
    counterparts: tuple[Counterpart, ...] = ()
    parts: tuple[Piece, ...] = ()

    @property
    def weight(self) -> Fraction:
        """Its share of the people, and for a smaller part of the space."""
        if self.crowd is None:
            return self.share
        return SPACE_WEIGHT * self.share + (1 - SPACE_WEIGHT) * self.crowd.mass


def reduce_pieces(pieces: Sequence[Piece], order: Sequence[int]) -> list[Piece]:
    """Fewer, larger pieces, the largest first: merged, and small ones divided among others, as long as there get fewer."""
    current = merge_pieces(pieces, order)
    while True:
        fewer = merge_pieces(absorb_pieces(current), order)
        if len(fewer) == len(current):
            return fewer
        current = fewer


def merge_pieces(pieces: Sequence[Piece], order: Sequence[int]) -> list[Piece]:
    """Fewer, larger pieces; features are tried in this order."""
    current = list(pieces)
    while True:
        before = len(current)
        for k in order:
            current = list(_merge_along(current, k))
        if len(current) == before:
            return sorted(current, key=_weight_key)


def _merge_along(pieces: list[Piece], k: int) -> Iterator[Piece]:
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
            if are_adjacent(feature, run[-1].box.parts[k], piece.box.parts[k]):
                run.append(piece)
            else:
                yield join_pieces(run, k, feature)
                run = [piece]
        yield join_pieces(run, k, feature)


def are_adjacent(feature: Feature, left: FeaturePart, right: FeaturePart) -> bool:
    """Whether no value lies between two parts, the smaller one first."""
    if isinstance(feature, (Categorical, Ordinal)):
        return True
    if isinstance(feature, Integer):
        return right[0] == left[1] + 1
    return left[1] <= right[0] <= math.nextafter(left[1], math.inf)


def join_pieces(run: list[Piece], k: int, feature: Feature) -> Piece:
    """One piece of several that are next to each other in feature k, in this order."""
    if len(run) == 1:
        return run[0]
    first, last = run[0].box.parts[k], run[-1].box.parts[k]
    if isinstance(feature, (Categorical, Ordinal)):
        part: FeaturePart = tuple(sorted(p for piece in run for p in piece.box.parts[k]))
    else:
        part = (first[0], last[1])
    crowds = [piece.crowd for piece in run[1:] if piece.crowd is not None]
    crowd = run[0].crowd
    return replace(
        run[0],
        box=run[0].box.with_part(k, part),
        share=sum((piece.share for piece in run), Fraction(0)),
        crowd=None if crowd is None else crowd.joined(crowds),
        parts=tuple(run),
    )


def _weight_key(piece: Piece) -> tuple[Fraction, tuple[FeaturePart, ...]]:
    return -piece.weight, piece.box.parts


def absorb_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """The same individuals in fewer pieces, kind by kind."""
    groups: dict[object, list[Piece]] = defaultdict(list)
    for piece in pieces:
        groups[piece.kind, piece.counterparts].append(piece)
    return [piece for group in groups.values() for piece in _absorb_group(group)]


def _absorb_group(group: list[Piece]) -> list[Piece]:
    current, before = sorted(group, key=lambda piece: piece.weight), 0
    while len(current) <= MOST_SLICED and len(current) != before:
        before, at, numbered = len(current), 0, _number_parts(current)
        while at < len(current):
            taken = _absorb_slices(current, at, numbered != numbered[at])
            if taken is None:
                at += 1
                continue
            for n, piece in taken.items():
                current[n] = piece
            del current[at]
            numbered = _number_parts(current)
    return current


def _number_parts(pieces: list[Piece]) -> NDArray[np.intp]:
    """(pieces, features): equal numbers of a feature stand for equal parts."""
    known: dict[object, int] = {}
    rows = [[known.setdefault(part, len(known)) for part in piece.box.parts] for piece in pieces]
    return np.array(rows, dtype=np.intp)


def _absorb_slices(pieces: list[Piece], at: int, differ: NDArray[np.bool_]) -> dict[int, Piece] | None:
    """Pieces that take in slices of the one at this place, and what becomes of them; None where there are none such. `differ` tells
    in which features each piece is not as that one."""
    own = pieces[at]
    space = own.box.space
    count = differ.sum(axis=1)
    for k, name in enumerate(space.names):
        feature = space[name]
        if isinstance(feature, Continuous):
            continue
        found: dict[int, Piece] = {}
        left = set(_part_values(feature, own.box.parts[k]))
        for n in np.flatnonzero(count - differ[:, k] == 1) if len(left) > 1 else ():
            values = set(_part_values(feature, pieces[int(n)].box.parts[k]))
            (j,) = (int(other) for other in np.flatnonzero(differ[n]) if other != k)
            wider = _add_slice(own, pieces[int(n)], k, j) if values <= left else None
            if wider is not None:
                left -= values
                found[int(n)] = wider
        if not left:
            return found
    return None


def _add_slice(own: Piece, other: Piece, k: int, j: int) -> Piece | None:
    """The other piece with that slice of one's own that has its part of feature k, next to it in feature j."""
    space = own.box.space
    feature = space[space.names[j]]
    pair = sorted([own.box.parts[j], other.box.parts[j]])
    if not are_adjacent(feature, *pair):
        return None
    part, sliced = other.box.parts[k], space[space.names[k]]
    some, every = (tuple(_part_values(sliced, values)) for values in (part, own.box.parts[k]))
    piece = replace(
        own,
        box=own.box.with_part(k, part),
        share=own.share * Fraction(len(some), len(every)),
        crowd=None if own.crowd is None else own.crowd.slice(k, some, every),
        parts=(),
    )
    return join_pieces(sorted([piece, other], key=lambda one: one.box.parts[j]), j, feature)


def _part_values(feature: Feature, part: FeaturePart) -> Iterator[int]:
    """The positions or whole numbers of a part."""
    if isinstance(feature, (Categorical, Ordinal)):
        return (int(p) for p in part)
    return iter(range(int(part[0]), int(part[1]) + 1))
