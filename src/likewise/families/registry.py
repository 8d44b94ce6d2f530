"""Registry: the one list of model families. A family's room is loaded when something of it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likewise.families.family import Body, Family, Score
    from likewise.families.oracle import Bounder
    from likewise.families.score_judge import ScoreJudge
    from likewise.spec.pairs import PairSpace

NAMES = ("affine", "kernel", "polynomial", "trees", "network", "combined")


@cache
def family_named(name: str) -> Family:
    """The family of a room: `FAMILY` of its module `family`."""
    if name not in NAMES:
        raise KeyError(f"no family is called {name!r}")
    found: Family = import_module(f"likewise.families.{name}.family").FAMILY
    return found


def family_of(one: Body | Score) -> Family:
    """The family of a body or a score."""
    return family_named(one.family)


def bounder_of(score: Score, pairs: PairSpace, second: Score | None = None) -> Bounder | None:
    """What bounds this score over cells of these pairs; of x' the score `second`, if that is another one. None: nothing does."""
    bounder: Bounder | None = family_of(score).bounder(score, pairs, second)
    return bounder


def score_judge_of(score: Score) -> ScoreJudge:
    """The judge of many rows by this score."""
    return family_of(score).judge(score)
