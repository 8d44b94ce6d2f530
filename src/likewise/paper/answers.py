"""What the published algorithms may answer, and what each answer is worth.

None of them proves anything: solvers and samples are floating point, and nothing is written down that could be
checked. So their answers are not verdicts, and have names of their own. BIASED alone is as good as that of
`verify`: the pair was validated in exact arithmetic and replayed on the model's own predict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from likewise.verifying.result import pair_rows
from likewise.verifying.shown import ShownResult

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.verifying.posed_problem import PosedProblem


class Answer(StrEnum):
    """Every answer that a published algorithm can give here."""

    BIASED = "BIASED (replayed pair)"
    NO = "No (unproved: floating point)"
    POSSIBLE = "POSSIBLE"
    NOT_FOUND = "not found"
    NO_ANSWER = "no answer (budget)"


MEANING = {
    Answer.BIASED: "the pair is valid and a witness in exact arithmetic, and the model's own predict confirms it",
    Answer.NO: "every bound computed in floating point denies a pair; no rounding is accounted for, so this is no proof",
    Answer.POSSIBLE: "a bound allows a pair, and none was found: nothing is known",
    Answer.NOT_FOUND: "no pair was met; that says nothing about the pairs that were not looked at",
    Answer.NO_ANSWER: "its budget of time or memory ended first: nothing is known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(ShownResult):
    """The answer of one published algorithm; `note` adds what is particular to this run."""

    algorithm: str
    answer: Answer
    seconds: float
    note: str = ""
    pair: Any = None
    scores: tuple[float, float] | None = None
    decisions: tuple[Any, ...] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @property
    def meaning(self) -> str:
        """What the answer is worth, as a sentence."""
        return f"{MEANING[self.answer]}{'; ' if self.note else ''}{self.note}"

    def __bool__(self) -> bool:
        raise TypeError(
            "a Finding is neither true nor false: read its answer\nhint: finding.answer == Answer.BIASED"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "algorithm": self.algorithm,
            "answer": str(self.answer),
            "meaning": self.meaning,
            "seconds": self.seconds,
            "pair": None if self.pair is None else pair_rows(self.pair, self.names),
            "scores": None if self.scores is None else list(self.scores),
            "decisions": None if self.decisions is None else list(self.decisions),
            "details": dict(self.details),
        }


def biased_finding(prepared: PosedProblem, algorithm: str, witness: Witness, **details: Any) -> Finding:
    """The finding that a refereed pair is."""
    pair, scores = prepared.pair(witness)
    if prepared.task.budget.interrupted:
        details["interrupted"] = True
    return Finding(
        algorithm=algorithm,
        answer=Answer.BIASED,
        seconds=prepared.task.budget.elapsed,
        pair=pair,
        scores=scores,
        decisions=prepared.treated(witness).decisions,
        details=details,
        names=prepared.imported.recoding.given.names,
    )


def finding_without_pair(
    prepared: PosedProblem, algorithm: str, answer: Answer, note: str, **details: Any
) -> Finding:
    """Any other finding; says so if a pair exists that the model's floating point does not show."""
    if prepared.task.unreplayed:
        details["unreplayed"] = len(prepared.task.unreplayed)
        note += "; pairs exist in exact arithmetic that the model's own predict does not show"
    if prepared.task.budget.interrupted:
        details["interrupted"] = True
    return Finding(
        algorithm=algorithm,
        answer=answer,
        seconds=prepared.task.budget.elapsed,
        note=note,
        details=details,
        names=prepared.imported.recoding.given.names,
    )
