"""Regions: what is known of the boxes of a partition, in words, as a table, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from likewise.analysis.merging import Kind
from likewise.certificate.certificate import Certificate
from likewise.verifying.wording import warning_of

if TYPE_CHECKING:
    from likewise.analysis.merging import Piece
    from likewise.spec.boxes import Box

SHOWN = 10  # regions of a kind that are printed


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

    kind: Kind
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
        return shown_line(self.kind, self.people, self.measure, self.rule)

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
class Regions:
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

    def share(self, kind: Kind) -> Fraction:
        """The share of the space that all regions of a kind have."""
        return sum((region.measure for region in getattr(self, kind)), Fraction(0))

    def people(self, kind: Kind) -> Fraction:
        """The share that they have of those whom the partition is about."""
        return sum((region.weight for region in getattr(self, kind)), Fraction(0))

    def shown(self, most: int = SHOWN) -> Iterator[tuple[Kind, Fraction | None, Fraction, str]]:
        """Kind, share of the people, if they are not the space, share of the space, and rule of the `most` largest regions of each kind,
        and a line for what is left of it."""
        for kind in KINDS:
            listed: list[Region] = getattr(self, kind)
            yield from ((kind, region.people, region.measure, region.rule) for region in listed[:most])
            rest = listed[most:]
            if rest:
                people, left = (
                    sum(shares, Fraction(0))
                    for shares in zip(*((region.weight, region.measure) for region in rest), strict=True)
                )
                yield kind, None if self.over is None else people, left, f"({len(rest)} more)"

    def __str__(self) -> str:
        head = [] if self.over is None else [f"shares of {self.over}, and of the space"]
        lines = [shown_line(*shown) for shown in self.shown()]
        notes = [f"({note})" for note in (self.reason, warning_of(self.stats)) if note]
        return "\n".join([*head, *lines, *notes])

    def _repr_html_(self) -> str:
        names = (
            ("kind", "share", "rule")
            if self.over is None
            else ("kind", f"of {self.over}", "of the space", "rule")
        )
        rows = "".join(
            f"<tr><td>{kind}</td>{'' if people is None else f'<td>{share_text(people)}</td>'}"
            f"<td>{share_text(share)}</td><td>{escape(rule)}</td></tr>"
            for kind, people, share, rule in self.shown()
        )
        head = "<tr>" + "".join(f'<th scope="col">{escape(name)}</th>' for name in names) + "</tr>"
        caption = escape("; ".join(note for note in (self.reason, warning_of(self.stats)) if note))
        return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON."""
        return {
            **{kind: [region.to_dict() for region in getattr(self, kind)] for kind in KINDS},
            "shares": {kind: float(self.share(kind)) for kind in KINDS},
            "over": self.over,
            "people": None if self.over is None else {kind: float(self.people(kind)) for kind in KINDS},
            "around": self.around,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


KINDS: tuple[Kind, ...] = ("fair", "biased", "undecided", "empty")


def shown_line(kind: Kind, people: Fraction | None, share: Fraction, rule: str) -> str:
    """One region, or several, in one line."""
    shares = [share_text(one) for one in (people, share) if one is not None]
    return "  ".join([f"{kind:<9}", *(f"{text:>7}" for text in shares), rule])


def share_text(share: Fraction) -> str:
    """A share in per cent, never rounded to nothing or to all."""
    percent = float(100 * share)
    if share in (0, 1) or 0.01 <= percent < 99.995:
        return f"{percent:.2f}%"
    return f"{percent:.1e}%" if percent < 1 else "99.99%"


def region_of(piece: Piece, certificates: Sequence[Certificate]) -> Region:
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
