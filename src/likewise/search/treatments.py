"""What several scores with a proved error come to, for many individuals at once: the class of each, and the numbers that gaps are of.

A class is told from the lead of its score over all others (of votes, from the least score of those that make it win). It is certain where the
lead exceeds the margin by more than the errors of two scores, and impossible where it stays below by as much; in between the individual is OPEN, and
enclosures tell.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.judge import softmax_scores
from likewise.families.score_judge import ScoreTable
from likewise.model.conditions import class_leads, has_class
from likewise.search.certainty import COMPARISON_SLACK
from likewise.spec.enclosure import FIRST_BITS, MOST_BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from likewise.model.conditions import Enclosures
    from likewise.model.head import Head
    from likewise.model.question import Question

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Classes = NDArray[np.int64]

NO_CLASS, OPEN_CLASS = -1, -2  # of no class by the margin; not told by float64


def classify_rows(head: Head, level: Fraction, scores: ScoreTable) -> Classes:
    """The class of each individual (rows, settings) by the margin."""
    rows, settings, n = scores.values.shape
    margin, error = float(level), scores.error.max(axis=1)[:, None]
    room = error
    if head.rule == "argmax":
        room = 2 * error + COMPARISON_SLACK * (2 * np.abs(scores.values).max(axis=2) + margin)
    lead = class_leads(head, scores.values.reshape(-1, n)).reshape(rows, settings, len(head.classes))
    sure, may = lead > (margin + room)[..., None], lead >= (margin - room)[..., None]
    known: Classes = lead.argmax(axis=2)
    return np.where(sure.any(axis=2), known, np.where(may.any(axis=2), OPEN_CLASS, NO_CLASS))


def decide_class(
    head: Head,
    level: Fraction,
    enclose: Callable[[Sequence[Fraction], int], Enclosures],
    codes: Sequence[Fraction],
) -> int | None:
    """The class of one individual by the margin, NOBODY where no class leads by it; None where no precision tells."""
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        scores = enclose(codes, bits)
        answers = [has_class(head, scores, i, level) for i in range(len(head.classes))]
        if True in answers:
            return answers.index(True)
        if None not in answers:
            return NO_CLASS
        bits *= 4
    return None


def compare_classes(first: Classes, second: Classes, of: int | None, *, one_way: bool) -> tuple[Flags, Flags]:
    """Which pairs certainly get different classes, one of them `of` if that is given, and the first one if pairs count `one_way`; and which possibly."""
    somebody = (first != NO_CLASS) & (second != NO_CLASS)
    unknown = (first == OPEN_CLASS) | (second == OPEN_CLASS)
    differ = somebody & (unknown | (first != second))
    if of is not None:
        differ &= unknown | (first == of) | ((second == of) & (not one_way))
    return differ & ~unknown, differ


def compared_values(question: Question, scores: ScoreTable) -> ScoreTable:
    """The numbers whose differences are gaps: probabilities of a claim about them, else scores; of the class of interest, or of all."""
    if question.softmax:
        scores = softmax_scores(scores)
    return scores.only(question.of if question.head.rule == "argmax" else None)
