"""The door through which results show themselves: by the name of their class, the function that makes their answer.

``str`` of a verdict, a comparison, a repair and of regions is the whole answer, of the others the answer in one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from likewise.answers import html, terminal
from likewise.answers.answer import Answer, words_text
from likewise.answers.audit import audit_answer
from likewise.answers.comparison import comparison_answer
from likewise.answers.disparity import disparity_answer
from likewise.answers.finding import finding_answer
from likewise.answers.groups import groups_answer
from likewise.answers.near import near_answer
from likewise.answers.pair import pair_answer
from likewise.answers.radius import radius_answer
from likewise.answers.regions import regions_answer
from likewise.answers.repair import repair_answer
from likewise.answers.share import share_answer
from likewise.answers.verdict import verdict_answer
from likewise.verifying.result import pair_of, treatment_of

ANSWERS: dict[str, Callable[[Any], Answer]] = {
    "Result": verdict_answer,
    "Disparity": disparity_answer,
    "Radius": radius_answer,
    "Near": near_answer,
    "Audit": audit_answer,
    "Share": share_answer,
    "Groups": groups_answer,
    "Regions": regions_answer,
    "Comparison": comparison_answer,
    "Repaired": repair_answer,
    "Finding": finding_answer,
}
IN_ONE_SENTENCE = ("Disparity", "Radius", "Near", "Audit", "Share", "Groups")
WIDTHS = {"Result": terminal.WIDTH, "Finding": terminal.WIDTH}  # the others are not wrapped


def result_text(result: Any) -> str:
    """What ``print`` shows of a result, without next steps."""
    name = type(result).__name__
    answer = ANSWERS[name](result)
    if name in IN_ONE_SENTENCE:
        return words_text(answer.summary)
    lines = terminal.block_lines(answer, WIDTHS.get(name, terminal.UNLIMITED_WIDTH))
    return terminal.plain_text(lines)


def pair_text(result: Any) -> str:
    """Both individuals with all of their features, what differs first, and how the model treats them."""
    if result.pair is None:
        return "no pair"
    names = result.claimed.space.names if hasattr(result, "claimed") else result.names
    shown = pair_answer(pair_of(result.pair, names), treatment_of(result), most=None)
    return terminal.plain_text(terminal.pair_lines(shown))


def result_html(result: Any) -> str:
    """What a notebook shows of a result."""
    return html.render(ANSWERS[type(result).__name__](result))
