"""The answer of `share`: how many individuals have a differently treated counterpart, and how that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from likewise.answers.answer import Answer, Block, Fact, Picture, Step, Words, fact, strong, words
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.sentences import (
    ClaimSubject,
    claim_facts,
    comparison_facts,
    reading_facts,
    reason_facts,
    rounding_warning,
    warning_facts,
)
from likewise.answers.texts import document_of
from likewise.figures import percent_bracket_texts, seconds_text, sure_text

_UNPROVED = "that the others have none was computed in floating point, not proved"
_METHOD_TEXTS = {"exact": "everybody looked at", "certified": "by cells", "sampled": "by a sample"}


def share_answer(
    given: Any, about: ClaimSubject | None = None, telling: Audience = PYTHON_AUDIENCE
) -> Answer:
    """The whole of it, from a `Share` or its document."""
    found = document_of(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [*claim_facts(about), *reading_facts(stats), fact("over", found["over"])]
    blocks.append(fact("share", share_in_words(found), " have a counterpart who breaks the claim"))
    blocks.append(fact("basis", _basis_words(found)))
    if "proved_upper" in stats:
        apart = percent_bracket_texts(stats["proved_lower"], stats["proved_upper"])
        blocks.append(fact("proved part", f"without the sample: between {apart[0]} and {apart[1]}"))
    blocks += [*comparison_facts(stats), *warning_facts(stats), *reason_facts(found["reason"])]
    blocks.append(Picture(kind="share", drawn=found))
    return Answer(
        title="individuals with a differently treated counterpart",
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(about, telling),
        document=found,
    )


def share_in_words(found: Mapping[str, Any]) -> Words:
    """The number, or the two that it is between."""
    lower, upper = percent_bracket_texts(found["lower"], found["upper"])
    if lower == upper:
        return words(strong(lower))
    return words("between ", strong(lower), " and ", strong(upper))


def is_exact(found: Mapping[str, Any]) -> bool:
    """Whether both ends are the same number, or the doubles around it."""
    narrow: bool = found["upper"] - found["lower"] <= 4 * math.ulp(found["upper"])
    return found["lower"] == found["upper"] or (found["method"] == "exact" and narrow)


def summary_of(found: Mapping[str, Any]) -> Words:
    """The share in one sentence."""
    if not found["proved"]:
        known = f"{'every one looked at' if found['method'] == 'exact' else 'by a sample'}, but {_UNPROVED}"
    elif found["method"] == "sampled":
        known = f"sampled: {sure_text(found['confidence'])}"
    else:
        known = "exact" if found["method"] == "exact" else "proved"
    warning = rounding_warning(found.get("stats", {}))
    return words(
        f"share of {found['over']} with a differently treated counterpart: ",
        share_in_words(found),
        f", {known}",
        f"  ({found['reason']})" if found["reason"] else None,
        None if warning is None else f"; {warning}",
    )


def _basis_words(found: Mapping[str, Any]) -> Words:
    """How it is known; a document of an earlier time may not tell how many were looked at."""
    stats = found.get("stats", {})
    seconds, unproved = stats.get("seconds", 0.0), "" if found["proved"] else f"; {_UNPROVED}"
    if found["method"] == "exact":
        many = f"{stats['individuals']:,} individuals" if "individuals" in stats else "everybody"
        return words(strong("exact"), f": {many} looked at in {seconds_text(seconds)}{unproved}")
    if found["method"] == "certified":
        return words(strong("proved"), _proof_text(stats, seconds))
    many = f"{stats['samples']:,} individuals" if "samples" in stats else "individuals"
    return words(
        strong(f"sampled: {sure_text(found['confidence'])}"),
        f" (Clopper-Pearson), from {many}, each judged exactly, in {seconds_text(seconds)}{unproved}",
    )


def _proof_text(stats: Mapping[str, Any], seconds: float) -> str:
    if "independent" in stats:
        return ": the model does not depend on what may differ"
    if "cells" not in stats:
        return f" from the distribution of the score, which is a sum, in {seconds_text(seconds)}"
    checked = stats.get("certificates")
    accepted = f", with {checked:,} certificates that the checker accepted," if checked else ""
    return f" by {stats['cells']:,} cells{accepted} in {seconds_text(seconds)}"


def card_fact(found: Mapping[str, Any]) -> Fact:
    """The share as one line of a card, its ends rounded to their safe sides."""
    looked = _METHOD_TEXTS.get(found["method"], found["method"])
    said = words(share_in_words(found), f" of {found.get('over', 'all individuals')}, {looked}")
    if found.get("confidence") is not None:
        said = words(said, f": {sure_text(found['confidence'])}")
    if not found.get("proved", False):
        said = words(said, "; computed in floating point, not proved")
    return Fact(
        title="share of individuals with a differently treated counterpart",
        words=words(said, f" ({found['reason']})" if found.get("reason") else None),
    )


def _next_steps(about: ClaimSubject | None, telling: Audience) -> tuple[Step, ...]:
    same = {} if about is None else {"property": about.property}
    if telling.rows:
        return telling.steps(("who, in the data", "audit", same))
    return telling.steps(("a pair", "verify", same))
