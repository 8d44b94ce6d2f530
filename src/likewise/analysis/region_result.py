"""Regions: what is known of the boxes of a partition, in words, as a table, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from likewise.analysis.exploring import Kind
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
    certificates : tuple of Certificate
        One of a fair region, two of a biased one.
    counterparts : tuple of dict
        How the individuals of a biased region are changed, the upper decision first.
    """

    kind: Kind
    rule: str
    box: dict[str, list[Any]]
    measure: Fraction
    certificates: tuple[Certificate, ...] = ()
    counterparts: tuple[dict[str, Any], ...] = ()

    @property
    def certificate(self) -> Certificate | None:
        """The first certificate, if there is any."""
        return self.certificates[0] if self.certificates else None

    def __str__(self) -> str:
        return shown_line(self.kind, self.measure, self.rule)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON; the measure as a number and as a fraction."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "box": self.box,
            "measure": float(self.measure),
            "exact_measure": str(self.measure),
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
    around: str | None = None
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Any:
        return iter((*self.fair, *self.biased, *self.undecided, *self.empty))

    def share(self, kind: Kind) -> Fraction:
        """The share of all regions of a kind."""
        return sum((region.measure for region in getattr(self, kind)), Fraction(0))

    def shown(self, most: int = SHOWN) -> Iterator[tuple[Kind, Fraction, str]]:
        """Kind, share and rule of the `most` largest regions of each kind, and a line for what is left of it."""
        for kind in KINDS:
            listed: list[Region] = getattr(self, kind)
            yield from ((kind, region.measure, region.rule) for region in listed[:most])
            rest = listed[most:]
            if rest:
                left = sum((region.measure for region in rest), Fraction(0))
                yield kind, left, f"({len(rest)} more)"

    def __str__(self) -> str:
        lines = [shown_line(*shown) for shown in self.shown()]
        notes = [f"({note})" for note in (self.reason, warning_of(self.stats)) if note]
        return "\n".join([*lines, *notes])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{kind}</td><td>{share_text(share)}</td><td>{escape(rule)}</td></tr>"
            for kind, share, rule in self.shown()
        )
        head = (
            "<tr>" + "".join(f'<th scope="col">{name}</th>' for name in ("kind", "share", "rule")) + "</tr>"
        )
        caption = escape("; ".join(note for note in (self.reason, warning_of(self.stats)) if note))
        return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON."""
        return {
            **{kind: [region.to_dict() for region in getattr(self, kind)] for kind in KINDS},
            "shares": {kind: float(self.share(kind)) for kind in KINDS},
            "around": self.around,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


KINDS: tuple[Kind, ...] = ("fair", "biased", "undecided", "empty")


def shown_line(kind: Kind, share: Fraction, rule: str) -> str:
    """One region, or several, in one line."""
    return f"{kind:<9}  {share_text(share):>7}  {rule}"


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
        certificates=tuple(certificates),
        counterparts=tuple(counterpart.words(box.space) for counterpart in piece.counterparts),
    )
