"""The report in three sentences, for whoever reads nothing else: the answer, how much there is to it, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.answers.answer import words_text
from likewise.answers.disparity import bracket_in_words
from likewise.answers.share import share_in_words
from likewise.answers.verdict import pair_of_result
from likewise.figures import count_text, percent_text
from likewise.report.names import rename_pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from likewise.report.documents import Analyses
    from likewise.spec.display_names import DisplayNames
    from likewise.verifying.result import Result

SCALES = {"score": "scores", "probability": "probabilities"}


def three_sentences(result: Result, analyses: Analyses, names: DisplayNames) -> tuple[str, str, str]:
    """What was found, how large it is or how many it concerns, and why it can be believed."""
    return _answer(result, names), _extent(analyses), _ground(result)


def _answer(result: Result, names: DisplayNames) -> str:
    kept = _kept_text(result)
    if result.verdict == "FAIR":
        space = result.claimed.space
        at_most = "at most " if space.constraints else ""
        many = "" if space.size is None else f" ({at_most}{count_text(space.size)} individuals)"
        return f"Any two individuals who are alike by this claim {kept}: this is proved for everybody whom the space allows{many}, not for a sample."
    if result.verdict == "BIASED":
        pair = rename_pair(pair_of_result(result)[0], names)
        differing = [row.name for row in pair.differing[:3]]
        rest = len(pair.differing) - len(differing)
        last = f"{rest} more" if rest else differing.pop() if len(differing) > 1 else ""
        where = ", ".join(differing) + (f" and {last}" if last else "")
        decided = next((row for row in pair.treatment if row.name == "decision"), None)
        if decided is not None and decided.first != decided.second:
            return f"Two individuals who differ only in {where} are treated differently: the decision for one is {decided.first}, for the other {decided.second}."
        if result.claimed.similarity.one_way:
            return f"Two individuals who differ only in {where} break the claim that such two {kept}."
        return f"Two individuals who differ only in {where} are treated differently: they do not {kept}."
    return f"Whether any two individuals who are alike by this claim {kept} is not known: the search ended before it could decide."


def _kept_text(result: Result) -> str:
    """What a claim says that similar individuals do, as a verb that follows "they"."""
    return result.claimed.property.describe(one_way=result.claimed.similarity.one_way)


def _extent(analyses: Analyses) -> str:
    """How many rows, how large a share, or how large a gap: the first that is known."""
    parts = []
    audit, share, disparity = analyses.audit, analyses.share, analyses.disparity
    if audit is not None and audit["undecided"] == audit["total"] > 0:
        parts.append(f"none of the {audit['total']:,} rows of the data could be looked at in time")
    elif audit is not None:
        least = "at least " if audit["undecided"] else ""
        what = (
            "has a similar individual who is treated differently"
            if audit["biased"] == 1
            else "have a similar individual who is treated differently"
        )
        parts.append(
            f"of {audit['total']:,} rows of the data, {least}{audit['biased']:,} ({percent_text(audit['share'])}) {what}"
        )
    elif share is not None:
        found = words_text(share_in_words(share))
        parts.append(f"{found} of {share['over']} have a similar individual who is treated differently")
    if disparity is not None and disparity["of"] in SCALES and _tells_something(disparity):
        known = words_text(bracket_in_words(disparity))
        parts.append(
            f"the largest difference of {SCALES[disparity['of']]} between similar individuals is {known}"
        )
    if not parts:
        return "How many are concerned, and by how much, was not looked at here."
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def _tells_something(disparity: Mapping[str, Any]) -> bool:
    """Whether a bracket says more than that no two probabilities are more than 1 apart."""
    lower, upper = disparity["lower"], disparity["upper"]
    return upper is not None and not (disparity["of"] == "probability" and lower == 0 and upper >= 1)


def _ground(result: Result) -> str:
    if result.verdict == "FAIR":
        return "The proof was checked by a second program that shares no code with the first, and can be checked again by anybody."
    if result.verdict == "BIASED" and "black_box" in result.stats:
        return "The model itself was asked about the two and gave these answers; it can be asked but not read, so that nothing else about it is proved."
    if result.verdict == "BIASED":
        return "The model itself was asked about the two again and gave these answers, and the numbers are exact."
    return "This is no evidence of fairness: more time, or a narrower claim, may decide it."
