"""The body and the end of a witness (section 5): one pair, its exact scores, and that they break the property.

Scores of a kernel body are irrational: enclosures of them are stated, which must meet the checker's own.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, anything, array_of, record, text
from likewise_check.core.numbers import number
from likewise_check.core.reading import Lines
from likewise_check.core.space import Relation
from likewise_check.packs.classes.outcomes import Outcomes
from likewise_check.packs.classes.scores import Several
from likewise_check.packs.combined.body import enclosed, rational
from likewise_check.packs.kernel.body import breaks, broken_between

SCORE_BITS = 128

Codes: TypeAlias = Sequence[Fraction]


def check_witness(line: object, claim: Claim) -> None:
    """Rejects unless the line's pair is a witness."""
    (content,) = record(line, "the line", witness=anything)
    codes = array_of(number, len(claim.space.features))
    body = claim.model.body
    exact = body.rational if isinstance(body, Several) else rational(body)
    reader = number if exact else array_of(number, 2)
    if isinstance(body, Several):
        reader = array_of(reader, body.classes.scores)
    x, other, stated = record(content, "the witness", x=codes, other=codes, scores=array_of(reader, 2))
    if not claim.space.holds(x) or not claim.space.holds(other):
        raise Rejected("x or other is not a valid individual")
    if not all(map(Relation.allows, claim.similarity, x, other)):
        raise Rejected("x and other are not similar")
    met, broken = _compared(claim, x, other, stated)
    if not met:
        raise Rejected("the stated scores are not those of the model")
    if not broken:
        raise Rejected("the pair does not break the property")


def _compared(claim: Claim, x: Codes, other: Codes, stated: list[Any]) -> tuple[bool, bool]:
    """Whether the stated scores are the model's, and whether the pair breaks the property."""
    body = claim.model.body
    if isinstance(body, Several):
        own = [body.ends(codes, SCORE_BITS) for codes in (x, other)]
        if body.rational:
            met = stated == [[score for score, _ in ends] for ends in own]
        else:
            met = all(map(_meet, [*stated[0], *stated[1]], [*own[0], *own[1]]))
        return met, met and Outcomes(claim.asked, body).broken_by(x, other)
    first, second = (enclosed(body, point, SCORE_BITS) for point in (x, other))
    if rational(body):
        scores = [first[0], second[0]]
        return stated == scores, claim.asked.broken_by(*map(claim.gauge, scores))
    known = broken_between(claim.asked, claim.gauge, first, second)
    if known is None:
        known = breaks(claim.asked, claim.gauge, partial(enclosed, body), x, other)
    return _meet(stated[0], first) and _meet(stated[1], second), known


def _meet(stated: list[Fraction], own: tuple[Fraction, Fraction]) -> bool:
    return max(stated[0], own[0]) <= min(stated[1], own[1])


def check_witness_end(end: object, lines: Lines) -> None:
    """Rejects unless the end seals the text before it."""
    (content,) = record(end, "the line", end=anything)
    (digest,) = record(content, "the end", sha256=text)
    if digest != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")
