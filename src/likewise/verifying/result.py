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
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.certificate.certificate import Certificate
from likewise.figures import rough_bound_text
from likewise.spec.features import is_missing
from likewise.spec.properties import Property
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space
from likewise.verifying.contributions import ComparedPair, Contributions
from likewise.verifying.shown import ShownPair

if TYPE_CHECKING:
    from likewise.problem import Problem


class Verdict(StrEnum):
    """The only three answers."""

    FAIR = "FAIR"
    BIASED = "BIASED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedClaim:
    """What was asked: everybody in `space` who is `similarity`-similar has `property` under the model; `notes` say what the
    certificate's space has in the place of missing values."""

    space: Space
    similarity: Similarity
    property: Property
    family: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, problem: Problem) -> StatedClaim:
        """What is claimed of the model of a problem."""
        claim, family = problem.claim, problem.imported.model.family
        return cls(
            space=claim.space,
            similarity=claim.similarity,
            property=claim.property,
            family=family,
            notes=problem.imported.recoding.notes,
        )

    def in_words(self) -> str:
        """The claim as a sentence."""
        return "; ".join((claim_in_words(self.space, self.similarity, self.property), *self.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(ShownPair):
    """The answer of `verify`.

    Attributes
    ----------
    verdict : Verdict
        FAIR, BIASED or UNKNOWN. The result itself is neither true nor false.
    pair : frame or None
        Both individuals, in the user's own columns and kind of frame, so that ``model.predict(result.pair)`` takes them as they are;
        `side_by_side` shows what differs first.
    scores : tuple of float or None
        Of the two. Of more than two classes, `score_name` says which score it is.
    decisions : tuple or None
        What the model decides for the two (classifiers).
    probabilities : tuple of float or None
        Of `upper_label`, where the model has probabilities.
    bounds : tuple of float
        What is known of the largest gap, or of the largest margin of two decisions: lower and upper.
    reason : str or None
        Why it is UNKNOWN.
    certificate : Certificate or None
        The proof or the witness, accepted by the checker.
    covers_floating_point : bool
        Whether the verdict holds for the program that rounds, too.
    program_lower, program_upper : float or None
        As `bounds`, of the program that rounds. `program_lower` is what the model's own program shows for `pair`, None without one. No similar pair has a
        gap (or a margin) above `program_upper` in the numbers that the program shows: that is the upper end of `bounds`, and what its
        rounding can add; None where its rounding is not known, or nothing is.
    stats : dict
        The engine that decided, seconds, cells and the like.
    claimed : object
        Who must share what: the space, the similarity and the property.
    """

    verdict: Verdict
    claimed: StatedClaim
    pair: Any = None
    scores: tuple[float, float] | None = None
    decisions: tuple[Any, ...] | None = None
    probabilities: tuple[float, ...] | None = None
    upper_label: Any = None
    score_name: str = "score"
    compared: ComparedPair | None = field(default=None, repr=False, compare=False)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    reason: str | None = None
    certificate: Certificate | None = None
    covers_floating_point: bool = False
    program_lower: float | None = None
    program_upper: float | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        raise TypeError(
            "a Result is neither true nor false: UNKNOWN is not FAIR\n"
            "hint: compare the verdict, as in result.verdict == 'FAIR'"
        )

    def model_card(
        self,
        *,
        disparity: Any = None,
        share: Any = None,
        groups: Any = None,
        certificate_path: str | None = None,
        files: Mapping[str, str] | None = None,
        command: str | None = None,
    ) -> str:
        """A section in Markdown for the model's card: verdict, pair, digests, and how to check it again.

        Parameters
        ----------
        disparity, share, groups : Disparity, Share and Groups, or their documents
            Answers of `measure`, `share` and `groups` to go with it.
        certificate_path : str, optional
            Where readers find the certificate.
        files : mapping, optional
            Further names with SHA-256 digests.
        command : str, optional
            A command that verifies the claim again and writes a certificate.

        Returns
        -------
        str
            The section.
        """
        from likewise.answers.card import model_card

        return model_card(
            self,
            disparity=disparity,
            share=share,
            groups=groups,
            certificate_path=certificate_path,
            files=files,
            command=command,
        )

    @property
    def contributions(self) -> Contributions | None:
        """What each differing feature makes of the gap of the pair, computed when asked for; None without a pair or without one score."""
        return None if self.compared is None else self.compared.contributions()

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
            "upper_label": plain_label(self.upper_label),
            "bounds": [b if math.isfinite(b) else None for b in self.bounds],
            "reason": self.reason,
            "covers_floating_point": self.covers_floating_point,
            "program_lower": self.program_lower,
            "program_upper": self.program_upper
            if self.program_upper is not None and math.isfinite(self.program_upper)
            else None,
            "certified": self.certificate is not None,
            "stats": dict(self.stats),
        }

    def report(
        self,
        path: str | PathLike[str],
        *,
        disparity: Any = None,
        margins: Any = None,
        radius: Any = None,
        audit: Any = None,
        share: Any = None,
        groups: Any = None,
        regions: Any = None,
        repair: Any = None,
        command: str | None = None,
        certificate_file: str | PathLike[str] | None = None,
        display: Mapping[str, Any] | None = None,
        rows: bool = True,
    ) -> Path:
        """Write this answer, with those of the analyses given, as one HTML file that needs nothing else (docs/report.md).

        The analyses are what `measure`, `analysis.margins.margins`, `radius`, `audit`, `share`, `groups`, `regions` and `repair` return for the
        same claim, or the documents that their `to_dict` makes. `command` and
        `certificate_file`, where the certificate was saved, are quoted as they are. `display` has names for readers, as ``[display]`` of a
        claim file: title, model, data and author, and tables of features and labels. Without `rows`, no
        individual is in it: no row of the data, and no pair.
        """
        from likewise.report import Analyses, write_report
        from likewise.spec.display_names import DisplayNames

        return write_report(
            self,
            path,
            Analyses.of(
                disparity=disparity,
                margins=margins,
                radius=radius,
                audit=audit,
                share=share,
                groups=groups,
                regions=regions,
                repair=repair,
            ),
            command=command,
            certificate_file=certificate_file,
            display=DisplayNames.of(display or {}),
            rows=rows,
        )


# -- words and values that belong to a result itself ------------------------------------------------------------

LONG_READING = 5.0  # seconds, beyond which they are told


def claim_in_words(space: Space, similarity: Similarity, property: Property) -> str:
    """Who must share what."""
    return f"individuals who {similarity.describe(space)} {property.describe(one_way=similarity.one_way)}"


def covers_program(result: Result) -> bool:
    """Whether a proof holds of the program that rounds: by its clearance, or as the claim is proved with room for the rounding."""
    rounding = result.stats.get("program_rounding", {})
    return result.covers_floating_point or bool(rounding.get("covered"))


def rounding_in_words(result: Result) -> str:
    """What a proof says of the program that rounds."""
    rounding = result.stats.get("program_rounding", {})
    if covers_program(result):
        return "covers the rounding of predict"
    if rounding.get("moves") is None:
        return "the rounding of predict is not known"
    return f"for predict itself up to rounding of {rough_bound_text(rounding['moves'])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """What the model makes of the two; None where it has no such answer."""

    decisions: tuple[Any, ...] | None = None
    scores: tuple[float, ...] | None = None
    probabilities: tuple[float, ...] | None = None
    upper_label: Any = None
    score_name: str = "score"


def treatment_of(answer: Any) -> Treatment:
    """What the model's own program says about the pair of a `Result` or a `Disparity`."""
    return Treatment(
        decisions=answer.decisions,
        scores=answer.scores,
        probabilities=answer.probabilities,
        upper_label=answer.upper_label,
        score_name=answer.score_name,
    )


def pair_of(frame: Any, names: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    """The two rows of a frame as Python values, feature by feature; None where one is missing."""
    values: dict[str, tuple[Any, Any]] = {}
    for name in names:
        first, second = (value.item() if hasattr(value, "item") else value for value in frame[name])
        values[name] = (None if is_missing(first) else first, None if is_missing(second) else second)
    return values


def plain_label(label: Any) -> Any:
    """A class as JSON knows it."""
    return label.item() if hasattr(label, "item") else label


def pair_rows(frame: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Both individuals as plain dictionaries of Python values."""
    pair = pair_of(frame, names)
    return [{name: values[side] for name, values in pair.items()} for side in range(2)]
