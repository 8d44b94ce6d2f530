"""Result: the verdict with everything that belongs to it, in the user's own terms.

`bounds` brackets the largest value over all similar pairs: of the margin min(s, -s') for a decision, of
the gap for scores and probabilities. FAIR: the upper end is what was proved.

Of a model of several classes, `scores` are two numbers that the broken case is about, which `score_name` tells: the scores of the
class whose gap is too large; or for decisions by how much each one's class leads all others (of votes, how many it has). `probabilities`
are those of `upper_label`: that class, or the class that the first individual gets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from likewise.certificate.certificate import Certificate
from likewise.spec.properties import Property
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space
from likewise.verifying.showing import result_html
from likewise.verifying.wording import claim_in_words, pair_rows, result_text


class Verdict(StrEnum):
    """The only three answers."""

    FAIR = "FAIR"
    BIASED = "BIASED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What was asked: everybody in `space` who is `similarity`-similar has `property` under the model; `notes` say what the
    certificate's space has in the place of missing values."""

    space: Space
    similarity: Similarity
    property: Property
    family: str
    notes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """The claim as a sentence."""
        return "; ".join((claim_in_words(self.space, self.similarity, self.property), *self.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer of `verify`."""

    verdict: Verdict
    claimed: Claimed
    pair: Any = None
    scores: tuple[float, float] | None = None
    decisions: tuple[Any, ...] | None = None
    probabilities: tuple[float, ...] | None = None
    upper_label: Any = None
    score_name: str = "score"
    bounds: tuple[float, float] = (-math.inf, math.inf)
    reason: str | None = None
    certificate: Certificate | None = None
    covers_floating_point: bool = False
    stats: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        raise TypeError(
            "a Result is neither true nor false: UNKNOWN is not FAIR\n"
            "hint: compare the verdict, as in result.verdict == 'FAIR'"
        )

    def __str__(self) -> str:
        return result_text(self)

    def _repr_html_(self) -> str:
        return result_html(self)

    def model_card(
        self,
        *,
        disparity: Any = None,
        share: Any = None,
        certificate_path: str | None = None,
        files: Mapping[str, str] | None = None,
    ) -> str:
        """A section in Markdown for the model's card: verdict, pair, digests, and how to check it again.

        `disparity` and `share` are answers of `measure` and of the share, or their `to_dict` documents;
        `certificate_path` is where readers find the certificate; `files` are further names and SHA-256 digests.
        """
        from likewise.verifying.model_card import model_card

        return model_card(
            self, disparity=disparity, share=share, certificate_path=certificate_path, files=files
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON: infinite bounds are null."""
        return {
            "verdict": str(self.verdict),
            "claim": self.claimed.in_words(),
            "property": self.claimed.property.spell(),
            "model": self.claimed.family,
            "pair": None if self.pair is None else pair_rows(self.pair, self.claimed.space.names),
            "scores": None if self.scores is None else list(self.scores),
            "decisions": None if self.decisions is None else list(self.decisions),
            "probabilities": None if self.probabilities is None else list(self.probabilities),
            "bounds": [b if math.isfinite(b) else None for b in self.bounds],
            "reason": self.reason,
            "covers_floating_point": self.covers_floating_point,
            "certified": self.certificate is not None,
            "stats": dict(self.stats),
        }
