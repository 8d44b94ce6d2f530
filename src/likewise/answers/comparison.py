"""The answer of `compare`: both verdicts, both brackets, and whether fairness got worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Answer, Block, Fact, Step, fact, spacer, strong, verdict, words
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.disparity import bracket_in_words, program_note
from likewise.answers.disparity import disparity_document as facts_of_disparity
from likewise.answers.sentences import (
    ClaimSubject,
    claim_facts,
    comparison_in_words,
    reading_facts,
    reason_facts,
    warning_facts,
)
from likewise.answers.share import summary_of as summary_of_share

if TYPE_CHECKING:
    from likewise.analysis.compare import Comparison
    from likewise.analysis.measure import Disparity
    from likewise.analysis.share_result import Share
    from likewise.verifying.result import Result

GAP_TITLES = {
    "score": "largest score gap",
    "probability": "largest probability gap",
    "margin": "largest margin",
}
CHANGE_TEXTS = {
    "better": ("better", "the new model is fairer", "fairer"),
    "worse": ("worse", "the new model is less fair", "less fair"),
    "same": ("none", "nothing tells the two models apart", "as fair"),
    "undecided": ("not decided", "the brackets do not tell the two apart", "not told apart: search longer"),
}


def comparison_answer(
    found: Comparison,
    about: ClaimSubject | None = None,
    telling: Audience = PYTHON_AUDIENCE,
    *,
    new: str | None = None,
) -> Answer:
    """The whole of it; `new` is the file of the new model."""
    blocks: list[Block] = [*claim_facts(about), *reading_facts(found.results[1].stats)]
    shares = found.shares or (None, None)
    for name, result, disparity, share in zip(
        found.names, found.results, found.disparities, shares, strict=True
    ):
        blocks += _model_facts(name, result, disparity, share)
    if found.shares is not None:
        blocks.append(fact("", _OWN_UNITS))
    change, meaning, in_short = CHANGE_TEXTS[found.change]
    blocks.append(fact("change", strong(change), f": {meaning}"))
    if found.change == "undecided":
        for reason in dict.fromkeys(one.reason for one in _undecided(found)):
            blocks += reason_facts(reason)
    return Answer(
        title=f"{found.names[1]} is {in_short}",
        summary=words(f"{found.names[1]} is ", strong(in_short)),
        blocks=tuple(blocks),
        steps=_next_steps(found, about, telling, new),
        document=found.to_dict(),
    )


def _undecided(found: Comparison) -> list[Result | Disparity | Share]:
    """What left the comparison open: verdicts that are not known, and the numbers that were compared then."""
    unknown = [result for result in found.results if result.verdict == "UNKNOWN"]
    return [*unknown, *(found.shares or found.disparities)]


_OWN_UNITS = "scores of the two models have no unit in common, so shares are compared, not score gaps"


def _model_facts(name: str, result: Result, disparity: Disparity, share: Share | None) -> list[Fact]:
    bracket = words(
        f"{GAP_TITLES[disparity.of]} ",
        bracket_in_words({"lower": disparity.lower, "upper": disparity.upper}),
        None if disparity.proved else " (upper end not proved)",
    )
    said = [fact(name, verdict(result.verdict), spacer(9 - len(str(result.verdict))), bracket)]
    said += [] if share is None else [fact("", summary_of_share(share.to_dict()))]
    said += [
        fact("", note)
        for note in (comparison_in_words(result.stats), program_note(facts_of_disparity(disparity)))
        if note
    ]
    return said + warning_facts(disparity.stats)


def _next_steps(
    found: Comparison, about: ClaimSubject | None, telling: Audience, new: str | None
) -> tuple[Step, ...]:
    same: dict[str, Any] = {} if about is None else {"property": about.property}
    if found.change == "undecided" and new is not None:
        return telling.longer("compare", **same)
    if found.change == "worse" and new is not None and found.results[1].verdict == "BIASED":
        return telling.steps(
            ("the pair that the new model treats differently", "verify", {**same, "model": new})
        )
    return ()
