"""Absorbing: a box that lies across the ends of several others of its kind is divided among them, and is no box of its own any more.

            age 47-50, {Bachelors, Masters}                    age 47-59, Bachelors
            age 51-59, Bachelors                becomes        age 38-50, Masters
            age 38-46, Masters

The box is sliced along one feature (whole numbers or levels) so that each slice is next to another box in one feature and agrees with it in
all others. Smallest boxes come first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.merging import Piece, adjacent, joined
from likewise.spec.features import Categorical, Continuous, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.boxes import Part
    from likewise.spec.features import Feature

MOST = 400  # pieces of a kind: each is compared with all others


def absorbed(pieces: Sequence[Piece]) -> list[Piece]:
    """The same individuals in fewer pieces, kind by kind."""
    groups: dict[object, list[Piece]] = defaultdict(list)
    for piece in pieces:
        groups[piece.kind, piece.counterparts].append(piece)
    return [piece for group in groups.values() for piece in _fewer(group)]


def _fewer(group: list[Piece]) -> list[Piece]:
    current, before = sorted(group, key=lambda piece: piece.share), 0
    while len(current) <= MOST and len(current) != before:
        before, at, numbered = len(current), 0, _numbered(current)
        while at < len(current):
            taken = _taken(current, at, numbered != numbered[at])
            if taken is None:
                at += 1
                continue
            for n, piece in taken.items():
                current[n] = piece
            del current[at]
            numbered = _numbered(current)
    return current


def _numbered(pieces: list[Piece]) -> NDArray[np.intp]:
    """(pieces, features): equal numbers of a feature stand for equal parts."""
    known: dict[object, int] = {}
    rows = [[known.setdefault(part, len(known)) for part in piece.box.parts] for piece in pieces]
    return np.array(rows, dtype=np.intp)


def _taken(pieces: list[Piece], at: int, differ: NDArray[np.bool_]) -> dict[int, Piece] | None:
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
        left = set(_values(feature, own.box.parts[k]))
        for n in np.flatnonzero(count - differ[:, k] == 1) if len(left) > 1 else ():
            values = set(_values(feature, pieces[int(n)].box.parts[k]))
            (j,) = (int(other) for other in np.flatnonzero(differ[n]) if other != k)
            wider = _with_slice(own, pieces[int(n)], k, j) if values <= left else None
            if wider is not None:
                left -= values
                found[int(n)] = wider
        if not left:
            return found
    return None


def _with_slice(own: Piece, other: Piece, k: int, j: int) -> Piece | None:
    """The other piece with that slice of one's own that has its part of feature k, next to it in feature j."""
    space = own.box.space
    feature = space[space.names[j]]
    pair = sorted([own.box.parts[j], other.box.parts[j]])
    if not adjacent(feature, *pair):
        return None
    part = other.box.parts[k]
    of_all = len(list(_values(space[space.names[k]], own.box.parts[k])))
    share = own.share * Fraction(len(list(_values(space[space.names[k]], part))), of_all)
    piece = replace(own, box=own.box.with_part(k, part), share=share, parts=())
    return joined(sorted([piece, other], key=lambda one: one.box.parts[j]), j, feature)


def _values(feature: Feature, part: Part) -> Iterator[int]:
    """The positions or whole numbers of a part."""
    if isinstance(feature, (Categorical, Ordinal)):
        return (int(p) for p in part)
    return iter(range(int(part[0]), int(part[1]) + 1))
