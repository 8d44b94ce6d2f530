"""Witness: a pair of individuals that breaks a property, with its scores in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likewise.model.cases import Case
    from likewise.spec.enclosure import Enclosure

    Enclosures = tuple[Enclosure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Codes of both individuals, all of their scores, and the case that they break; `first` and `second` are the numbers of the two that
    people are shown (`Case.signal`): the score, of a model of one."""

    x: tuple[float, ...]
    other: tuple[float, ...]
    scores: tuple[Enclosures, Enclosures]
    case: Case

    @property
    def first(self) -> Enclosure:
        return self.case.signal(self.scores[0])

    @property
    def second(self) -> Enclosure:
        return self.case.signal(self.scores[1])
