"""The state of a search for regions, as a checkpoint has it: what is open, what was found, and the certificates that it rests on.

Nothing is believed that matters: what was proved is put to the proof again, where its certificates are recalled and checked (`partition.proofs`). What is taken as it was written are
undecided boxes and shares of the space and of the people, which belong to boxes as they were cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.analysis.partition.people import MarginalCrowd, RowCrowd
from likewise.analysis.region_merge import Piece
from likewise.search.checkpoint import SavedArray
from likewise.spec.boxes import Box

if TYPE_CHECKING:
    from likewise.analysis.partition.changes import Counterpart
    from likewise.analysis.partition.engine import SavedBox
    from likewise.analysis.partition.people import Crowd, People
    from likewise.analysis.partition.proofs import ProofKey
    from likewise.analysis.region_merge import RegionKind
    from likewise.spec.boxes import FeaturePart
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPiece:
    """A piece in plain values; `crowd` are the numbers of its rows, or its mass of the people."""

    kind: RegionKind
    box: tuple[FeaturePart, ...]
    share: Fraction
    crowd: SavedArray | Fraction | None
    counterparts: tuple[Counterpart, ...]
    parts: tuple[SavedPiece, ...]

    @classmethod
    def of(cls, piece: Piece) -> SavedPiece:
        crowd: Any = piece.crowd
        if isinstance(crowd, RowCrowd):
            crowd = SavedArray.of(crowd.numbers)
        elif crowd is not None:
            crowd = crowd.mass
        return cls(
            kind=piece.kind,
            box=piece.box.parts,
            share=piece.share,
            crowd=crowd,
            counterparts=piece.counterparts,
            parts=tuple(map(cls.of, piece.parts)),
        )

    def piece(self, space: Space, people: People | None) -> Piece:
        """The piece, of this space and these people."""
        return Piece(
            kind=self.kind,
            box=Box(space, self.box),
            share=self.share,
            crowd=None if people is None else self._crowd(people),
            counterparts=self.counterparts,
            parts=tuple(part.piece(space, people) for part in self.parts),
        )

    def _crowd(self, people: Any) -> Crowd:
        if isinstance(self.crowd, SavedArray):
            return RowCrowd(codes=people.given, numbers=self.crowd.array)
        return MarginalCrowd(mass=Fraction(self.crowd or 0), weights=people.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRegions:
    """A partition in the making: open boxes; pieces that were proved, that wait for their proof, that are left undecided and that are empty; and certificates."""

    boxes: tuple[SavedBox, ...]
    proved: tuple[SavedPiece, ...]
    waiting: tuple[SavedPiece, ...]
    left: tuple[SavedPiece, ...]
    empty: tuple[SavedPiece, ...]
    certificates: dict[ProofKey, bytes]
    counted: tuple[int, int, float]  # boxes, those that were grown, and the weight that is settled


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedGrowth:
    """One box in the making: which boxes a search found fair, or did not, and certificates."""

    looked: tuple[tuple[tuple[FeaturePart, ...], bool], ...]
    certificates: dict[ProofKey, bytes]
