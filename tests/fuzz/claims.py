"""Claims: properties with levels at and beside ties, and which pairs of people break them by a model's own answers.

Each pair of people is judged three times: *seen*, by the program's numbers as they are; *sure*, also if every number
were off by the program's rounding to the pair's disadvantage; *possible*, if it were off to its advantage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.fuzz.answers import Answers
from tests.fuzz.choices import Choices, chance, one_of

import likewise as lw


@dataclass(frozen=True)
class Claim:
    """`kind` is "decision", "score" or "probability"; `level` the margin or the gap; `of` the class of interest."""

    kind: str
    level: float
    of: Any = None
    one_way: bool = False  # only the first of a pair above the second breaks it

    def declared(self) -> Any:
        made = {"decision": lw.SameDecision, "score": lw.ScoreGap, "probability": lw.ProbabilityGap}[
            self.kind
        ]
        return made(self.level, class_of_interest=self.of)


@dataclass(frozen=True)
class Judged:
    """For each ordered pair of people, whether they break a property; similarity is not looked at."""

    seen: Any
    sure: Any
    possible: Any


def values_of(answers: Answers, claim: Claim) -> tuple[Any, float]:
    """The numbers that gaps are taken of, and how far each may be off."""
    probable = claim.kind == "probability"
    values = answers.probabilities if probable else answers.scores
    if claim.of is not None and values.shape[1] > 1:
        values = values[:, [answers.classes.index(claim.of)]]
    return values, answers.probability_rounding if probable else answers.rounding


def gaps_of(answers: Answers, claim: Claim) -> Any:
    """The largest difference over all columns, of each pair; of pairs in one direction, the first less the second."""
    values, _ = values_of(answers, claim)
    if claim.one_way:
        return values[:, None, -1] - values[None, :, -1]
    return np.abs(values[:, None] - values[None]).max(axis=2)


def largest_shown(answers: Answers, claim: Claim, near: Any) -> float | None:
    """The largest gap, or margin of two decisions of one score, of a similar pair in the numbers that the program shows."""
    if claim.kind != "decision":
        return float(gaps_of(answers, claim)[near].max())
    if not answers.scored or answers.scores is None or answers.scores.shape[1] > 1:
        return None
    return float(_margins(answers)[near].max())


def judged(answers: Answers, claim: Claim) -> Judged:
    """What becomes of each pair."""
    if claim.kind != "decision":
        gaps, (_, off) = gaps_of(answers, claim), values_of(answers, claim)
        return Judged(gaps > claim.level, gaps > claim.level + 2 * off, gaps > claim.level - 2 * off)
    seen, sure, possible = (_differ(_gets(answers, claim, move), claim, answers) for move in (0, 1, -1))
    if claim.level == 0:
        labels = answers.labels if claim.of is None else answers.labels == claim.of
        seen = labels[:, None] != labels[None]
        if claim.one_way:
            seen &= (answers.labels == _favoured(answers, claim))[:, None]
    return Judged(seen, sure, possible)


def _differ(gets: Any, claim: Claim, answers: Answers) -> Any:
    """Two people get different classes: one of them gets one, and the other gets another one."""
    if claim.of is not None and gets.shape[1] > 2:
        place = answers.classes.index(claim.of)
        rest = np.delete(gets, place, axis=1).any(axis=1)
        gets = np.stack([gets[:, place], rest], axis=1)
    count = range(gets.shape[1])
    first = count if not claim.one_way else [answers.classes.index(_favoured(answers, claim))]
    if claim.one_way and claim.of is not None and len(answers.classes) > 2:
        first = [0]  # the class of interest stands before the rest
    return np.logical_or.reduce([gets[:, [c]] & gets[None, :, d] for c in first for d in count if c != d])


def _favoured(answers: Answers, claim: Claim) -> Any:
    """The class that the second must get where the first does."""
    return answers.classes[-1] if claim.of is None else claim.of


def _gets(answers: Answers, claim: Claim, move: int) -> Any:
    """Whether each person gets each class, by at least the margin; `move` is 1 to be sure of it, -1 if that is only possible."""
    off, margin = move * answers.rounding, claim.level
    if answers.rule in ("above", "from"):
        scores = answers.scores[:, 0]
        if answers.rule == "above":
            upper, lower = scores > margin + off, scores <= -margin - off
        else:
            upper, lower = scores >= margin + off, scores < -margin - off
        return np.stack([lower, upper], axis=1)
    if answers.rule == "votes":
        gets = answers.labels[:, None] == np.array(answers.classes)[None]
        near = np.abs(answers.duels).min(axis=1) <= answers.rounding
        return gets & ~near[:, None] if move == 1 else gets | near[:, None] if move == -1 else gets
    scores, count = answers.scores, answers.scores.shape[1]
    gets = np.ones(scores.shape, dtype=bool)
    for c in range(count):
        for d in range(count):
            lead = scores[:, c] - scores[:, d]
            if d < c:
                gets[:, c] &= lead > margin + 2 * off
            elif d > c:
                gets[:, c] &= lead >= margin + 2 * off
    return gets


# -- drawing -------------------------------------------------------------------------------------------


def drawn_claim(choices: Choices, answers: Answers, near: Any, *, one_way: bool = False) -> Claim:
    """A property that the model has an answer to, with a level that may be a tie: a gap that some similar pair has."""
    kinds = ["score"] if answers.rule is None else ["decision", "decision"]
    if answers.rule not in (None, "votes") and answers.scored:
        kinds.append("score")
    if answers.probabilities is not None:
        kinds.append("probability")
    kind = one_of(choices, kinds)
    several = len(answers.classes) > 2
    of = one_of(choices, answers.classes) if several and (one_way or chance(choices, 40)) else None
    if kind == "decision":
        if answers.rule == "votes" or not answers.scored or of is not None or chance(choices, 60):
            return Claim("decision", 0.0, of, one_way)
        level = _level(choices, _margins(answers), near, exact=not answers.rounding)
        return Claim("decision", level, None, one_way)
    gaps = gaps_of(answers, Claim(kind, 0.0, of, one_way))
    level = _level(choices, gaps, near, exact=not answers.rounding)
    return Claim(kind, min(level, float(np.nextafter(1, 0))) if kind == "probability" else level, of, one_way)


# Ties are for programs that do not round; where rounding hides them, searches ask the program about each.
TIES = ("factor", "largest", "largest", "beside", "beside", "other", "nothing")
ALL_LEVELS = ("factor", "factor", "factor", "largest", "other", "beside", "nothing")


def _level(choices: Choices, gaps: Any, near: Any, *, exact: bool) -> float:
    found = np.unique(gaps[near])
    largest = max(float(found[-1]), 0.0)
    how = one_of(choices, TIES if exact else ALL_LEVELS)
    if how == "factor":
        return largest * one_of(choices, (0.5, 0.9, 1.1, 1.5))
    if how == "nothing" or not largest:
        return 0.0
    tie = largest if how != "other" else max(float(found[choices.whole(0, len(found) - 1)]), 0.0)
    if how == "beside":
        return float(np.nextafter(tie, one_of(choices, (np.inf, 0.0))))
    return tie


def _margins(answers: Answers) -> Any:
    """By how much the decisions of each pair are clear, at least: the smaller of the two leads."""
    if answers.scores.shape[1] == 1:
        scores = answers.scores[:, 0]
        return np.minimum(scores[:, None], -scores[None])
    ordered = np.sort(answers.scores, axis=1)
    lead = ordered[:, -1] - ordered[:, -2]
    same = answers.labels[:, None] == answers.labels[None]
    return np.where(same, 0.0, np.minimum(lead[:, None], lead[None]))
