"""Regions: what is known of the boxes of a partition, and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.analysis.region_merge import RegionKind
from likewise.certificate.certificate import Certificate
from likewise.verifying.shown import ShownResult

if TYPE_CHECKING:
    from likewise.analysis.region_merge import Piece
    from likewise.spec.boxes import Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A box of individuals, and what is proved of it.

    Attributes
    ----------
    kind : str
        'fair', 'biased', 'undecided' or 'empty'.
    rule : str
        The box in words.
    box : dict
        Ranges and levels by feature, where they are not all of them.
    measure : fractions.Fraction
        Its share of the space.
    people : fractions.Fraction or None
        Its share of those whom the partition is about (`Regions.over`), where these are not all individuals alike.
    certificates : tuple of Certificate
        One of a fair region, two of a biased one.
    counterparts : tuple of dict
        How the individuals of a biased region are changed, the upper decision first.
    """

    kind: RegionKind
    rule: str
    box: dict[str, list[Any]]
    measure: Fraction
    people: Fraction | None = None
    certificates: tuple[Certificate, ...] = ()
    counterparts: tuple[dict[str, Any], ...] = ()

    @property
    def certificate(self) -> Certificate | None:
        """The first certificate, if there is any."""
        return self.certificates[0] if self.certificates else None

    @property
    def weight(self) -> Fraction:
        """Its share of the people, or of the space."""
        return self.measure if self.people is None else self.people

    def __str__(self) -> str:
        from likewise.answers.regions import region_line

        return region_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON; shares as numbers and as fractions."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "box": self.box,
            "measure": float(self.measure),
            "exact_measure": str(self.measure),
            "people": None if self.people is None else float(self.people),
            "exact_people": None if self.people is None else str(self.people),
            "certificates": len(self.certificates),
            "counterparts": list(self.counterparts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Regions(ShownResult):
    """The partition of the space, largest regions first.

    Attributes
    ----------
    fair, biased, undecided, empty : list of Region
        The boxes of each kind. With `around`, `fair` holds the one region asked for, if there is any.
    over : str or None
        Whom the partition is about, in words: rows of data, or individuals distributed as their columns; None for all individuals alike.
    around : str or None
        The rule that was asked about.
    reason : str or None
        Why the search ended early.
    stats : dict
        Seconds and the like.
    """

    fair: list[Region]
    biased: list[Region]
    undecided: list[Region]
    empty: list[Region] = field(default_factory=list)
    over: str | None = None
    around: str | None = None
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Any:
        return iter((*self.fair, *self.biased, *self.undecided, *self.empty))

    def share(self, kind: RegionKind) -> Fraction:
        """The share of the space that all regions of a kind have."""
        return sum((region.measure for region in getattr(self, kind)), Fraction(0))

    def people(self, kind: RegionKind) -> Fraction:
        """The share that they have of those whom the partition is about."""
        return sum((region.weight for region in getattr(self, kind)), Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON."""
        return {
            **{kind: [region.to_dict() for region in getattr(self, kind)] for kind in REGION_KINDS},
            "shares": {kind: float(self.share(kind)) for kind in REGION_KINDS},
            "over": self.over,
            "people": None
            if self.over is None
            else {kind: float(self.people(kind)) for kind in REGION_KINDS},
            "around": self.around,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


REGION_KINDS: tuple[RegionKind, ...] = ("fair", "biased", "undecided", "empty")


def make_region(piece: Piece, certificates: Sequence[Certificate]) -> Region:
    """A piece as people see it."""
    box: Box = piece.box
    return Region(
        kind=piece.kind,
        rule=box.rule,
        box=box.values(),
        measure=piece.share,
        people=None if piece.crowd is None else piece.crowd.mass,
        certificates=tuple(certificates),
        counterparts=tuple(counterpart.words(box.space) for counterpart in piece.counterparts),
    )
