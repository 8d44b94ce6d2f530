"""Registry: the one list of model families. A family's room is loaded when something of it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likewise.families.family import Body, Family, Score
    from likewise.families.oracle import Bounder
    from likewise.families.score_judge import ScoreJudge
    from likewise.spec.pairs import PairSpace

FAMILY_NAMES = (
    "affine",
    "kernel",
    "mixed",
    "polynomial",
    "trees",
    "network",
    "sums",
    "nested",
    "combined",
    "opaque",
)


@cache
def load_family(name: str) -> Family:
    """The family of a room: `FAMILY` of its module `family`."""
    if name not in FAMILY_NAMES:
        raise KeyError(f"no family is called {name!r}")
    found: Family = import_module(f"likewise.families.{name}.family").FAMILY
    return found


def family_of(one: Body | Score) -> Family:
    """The family of a body or a score."""
    return load_family(one.family)


RULES = MappingProxyType(  # of all families; the others are the families' own
    {
        "empty": "the constraints exclude the cell",
        "enumerated": "every pair of the cell is looked at",
        "identical": "both individuals are one and the same",
        "independent": "the score depends on nothing that may differ",
        "slope": "no derivative of the score is too large",
    }
)


@cache
def family_with_rule(rule: str) -> Family | None:
    """The family that a rule of leaves belongs to; None for those of all families."""
    if rule in RULES:
        return None
    for name in FAMILY_NAMES:
        if rule in load_family(name).rules:
            return load_family(name)
    raise KeyError(f"no family has the rule {rule!r}")


def words_of_rules() -> dict[str, str]:
    """What each rule that a leaf may have says of its cell."""
    return {
        **RULES,
        **{rule: says for name in FAMILY_NAMES for rule, says in load_family(name).rules.items()},
    }


def bounder_of(score: Score, pairs: PairSpace, second: Score | None = None) -> Bounder | None:
    """What bounds this score over cells of these pairs; of x' the score `second`, if that is another one. None: nothing does."""
    bounder: Bounder | None = family_of(score).bounder(score, pairs, second)
    return bounder


def score_judge_of(score: Score) -> ScoreJudge:
    """The judge of many rows by this score."""
    return family_of(score).judge(score)
