"""The body and the end of a witness (section 5): one pair, its exact scores, and that they break the property."""

from fractions import Fraction

from likewise_check import fields, numbers
from likewise_check.claim import Claim
from likewise_check.errors import Rejected
from likewise_check.reading import Lines


def check_witness(line: object, claim: Claim) -> None:
    """Rejects unless the line's pair is a witness."""
    (content,) = fields.record(line, "the witness line", "witness")
    first, second, stated = fields.record(content, "the witness", "x", "other", "scores")
    features = len(claim.space.features)
    x, other = _codes(first, "x", features), _codes(second, "other", features)
    if not claim.space.holds(x):
        raise Rejected("x is not a valid individual")
    if not claim.space.holds(other):
        raise Rejected("other is not a valid individual")
    if not claim.is_pair(x, other):
        raise Rejected("x and other are not similar")
    scores = [claim.model.body.score(x), claim.model.body.score(other)]
    if _codes(stated, "scores", 2) != scores:
        raise Rejected("the stated scores are not those of the model")
    if not claim.asked.broken_by(claim.sign * scores[0], claim.sign * scores[1]):
        raise Rejected("the pair does not break the property")


def check_witness_end(end: object, lines: Lines) -> None:
    """Rejects unless the end seals the text before it."""
    (content,) = fields.record(end, "the end line", "end")
    (digest,) = fields.record(content, "the end of a witness", "sha256")
    if fields.text(digest, "the end's sha256") != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")


def _codes(items: object, what: str, length: int) -> list[Fraction]:
    return [numbers.parse(item, what) for item in fields.array(items, what, length)]
