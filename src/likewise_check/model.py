"""The model line (section 2): a body that gives the score, a head that reads it, and how the deployed program rounds."""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check import fields, numbers
from likewise_check.affine import Affine, read_affine
from likewise_check.errors import Rejected
from likewise_check.properties import Property
from likewise_check.space import Space

MOST_OPERATIONS = 10**7

# Each later model family adds its body here.
BODIES = {"affine": read_affine}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings of terms that add up to at most constant + sum of sizes * |column|."""

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The score, what the head makes of it, and the rounding of the deployed program."""

    body: Affine
    upper_at_zero: bool
    rounding: Rounding


def read_model(line: object, space: Space, asked: Property) -> Model:
    """The model of a certificate's fifth line; it must have what the property speaks of."""
    (content,) = fields.record(line, "the model line", "model")
    family, body, head, rounding = fields.record(content, "the model", "family", "body", "head", "rounding")
    fields.text(family, "the family")
    kind = fields.kind(body, "the body")
    if kind not in BODIES:
        raise Rejected(f"unknown body {kind[:40]!r}; known: {', '.join(BODIES)}")
    labels, zero, link = fields.record(head, "the head", "labels", "zero", "link")
    if labels is not None:
        for label in fields.array(labels, "the labels", 2):
            _check_label(label)
    elif asked.kind == "decision":
        raise Rejected("a decision needs a model with labels")
    logistic = fields.choice(link, "the link", "logistic", None) == "logistic"
    if asked.kind == "probability" and not logistic:
        raise Rejected("a probability needs a model with the logistic link")
    read_body = BODIES[kind](body, space)
    return Model(
        body=read_body,
        upper_at_zero=fields.choice(zero, "the head's zero", "lower", "upper") == "upper",
        rounding=_rounding(rounding, len(read_body.extents)),
    )


def _check_label(label: object) -> None:
    if type(label) in (str, bool, int):
        return
    (value,) = fields.record(label, "a label that is no text, truth value or whole number", "number")
    numbers.parse(value, "a label")


def _rounding(item: object, columns: int) -> Rounding:
    size_list, constant, operations = fields.record(item, "the rounding", "sizes", "constant", "operations")
    sizes = [
        numbers.parse(size, "a rounding size")
        for size in fields.array(size_list, "the rounding sizes", columns)
    ]
    total = numbers.parse(constant, "the rounding constant")
    if min(sizes, default=0) < 0 or total < 0:
        raise Rejected("the rounding's sizes and constant must be at least 0")
    return Rounding(
        sizes=tuple(sizes),
        constant=total,
        operations=fields.whole(operations, "the rounding operations", 0, MOST_OPERATIONS),
    )
