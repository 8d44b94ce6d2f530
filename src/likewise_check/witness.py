"""The body and the end of a witness (section 5): one pair, its exact scores, and that they break the property."""

from likewise_check.claim import Claim
from likewise_check.fields import Rejected, anything, array_of, record, text
from likewise_check.numbers import number
from likewise_check.reading import Lines
from likewise_check.space import Relation


def check_witness(line: object, claim: Claim) -> None:
    """Rejects unless the line's pair is a witness."""
    (content,) = record(line, "the line", witness=anything)
    codes = array_of(number, len(claim.space.features))
    x, other, stated = record(content, "the witness", x=codes, other=codes, scores=array_of(number, 2))
    if not claim.space.holds(x) or not claim.space.holds(other):
        raise Rejected("x or other is not a valid individual")
    if not all(map(Relation.allows, claim.similarity, x, other)):
        raise Rejected("x and other are not similar")
    scores = [claim.model.body.score(x), claim.model.body.score(other)]
    if stated != scores:
        raise Rejected("the stated scores are not those of the model")
    if not claim.asked.broken_by(claim.sign * scores[0], claim.sign * scores[1]):
        raise Rejected("the pair does not break the property")


def check_witness_end(end: object, lines: Lines) -> None:
    """Rejects unless the end seals the text before it."""
    (content,) = record(end, "the line", end=anything)
    (digest,) = record(content, "the end", sha256=text)
    if digest != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")
