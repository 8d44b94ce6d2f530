"""The body and the end of a witness (section 5): one pair, its exact scores, and that they break the property.

Where scores are irrational, enclosures of them are stated, which must meet the checker's own.
"""

from fractions import Fraction

from likewise_check.core.body import Ends
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, text
from likewise_check.core.line_reader import Lines
from likewise_check.core.numbers import number
from likewise_check.core.space import Relation, are_near

SCORE_BITS = 128


def check_witness(line: object, claim: Claim) -> None:
    """Rejects unless the line's pair is a witness."""
    (content,) = record(line, "the line", witness=anything)
    codes = array_of(number, len(claim.space.features))
    body, scores = claim.model.body, claim.model.head.scores
    reader: Reader = _read_exact if body.rational else array_of(number, 2)
    own_scores = array_of(reader, scores) if scores else lambda item, what: [reader(item, what)]
    x, other, stated = record(content, "the witness", x=codes, other=codes, scores=array_of(own_scores, 2))
    if not claim.space.holds(x) or not claim.space.holds(other):
        raise Rejected("x or other is not a valid individual")
    if not all(map(Relation.allows, claim.similarity, x, other)) or not are_near(claim.similarity, x, other):
        raise Rejected("x and other are not similar")
    known = [*body.ends(x, SCORE_BITS), *body.ends(other, SCORE_BITS)]
    if not all(map(_overlap, [*stated[0], *stated[1]], known)):
        raise Rejected("the stated scores are not those of the model")
    if not claim.lemma().broken_by(x, other):
        raise Rejected("the pair does not break the property")


def _read_exact(item: object, what: str) -> Ends:
    """A score that is stated exactly, as an enclosure."""
    return (number(item, what),) * 2


def _overlap(stated: list[Fraction], own: Ends) -> bool:
    return max(stated[0], own[0]) <= min(stated[1], own[1])


def check_witness_end(end: object, lines: Lines) -> None:
    """Rejects unless the end seals the text before it."""
    (content,) = record(end, "the line", end=anything)
    (digest,) = record(content, "the end", sha256=text)
    if digest != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")
