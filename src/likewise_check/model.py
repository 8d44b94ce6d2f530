"""The model line (section 2): a body that gives the score, a head that reads it, and how the deployed program rounds.

Bodies: `affine`, `rbf`, `polynomial`, and `combined` of these; of several scores: `several`, with a head of its own, `classes` (section 10).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.affine import Affine, read_affine
from likewise_check.classes import Classes, read_classes
from likewise_check.combined import Scored, read_combined
from likewise_check.fields import Rejected, anything, array_of, choice, kind, record, text, whole
from likewise_check.numbers import number
from likewise_check.polynomial import read_polynomial
from likewise_check.properties import Property
from likewise_check.rbf import read_rbf
from likewise_check.several import Several, read_several
from likewise_check.space import Space

MOST_OPERATIONS = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings of terms that add up to at most constant + sum of sizes * |column|."""

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The score or scores, which label has the zero, the link, the rounding of the deployed program (of affine bodies only), and the classes."""

    body: Scored | Several
    upper_at_zero: bool = False
    link: tuple[Fraction, Fraction] | None = (
        None  # slope and offset: probabilities are sigma(slope f + offset)
    )
    rounding: Rounding | None = None

    @property
    def classes(self) -> Classes | None:
        """What is made of several scores."""
        return self.body.classes if isinstance(self.body, Several) else None


def read_model(line: object, space: Space, asked: Property) -> Model:
    """The model of a certificate's fifth line; it must have what the property speaks of."""
    (content,) = record(line, "the line", model=anything)
    _, item, head, rounding = record(
        content, "the model", family=text, body=anything, head=anything, rounding=anything
    )
    if any(feature.missing for feature in space.features):
        raise Rejected("only trees bodies know missing values")
    if type(head) is dict and "classes" in head:
        classes = read_classes(head, asked)
        choice(None)(rounding, "the rounding")
        return Model(body=read_several(item, space, classes))
    if asked.of_classes:
        raise Rejected("the property has a class, but the model has none")
    labels, zero, link = record(head, "the head", labels=anything, zero=choice("lower", "upper"), link=_link)
    if labels is not None:
        array_of(_label, 2)(labels, "the labels")
    elif asked.kind == "decision":
        raise Rejected("a decision needs a model with labels")
    if asked.kind == "probability" and link is None:
        raise Rejected("a probability needs a model with the logistic link")
    sort = kind(item, "the body", *BODIES)
    body = BODIES[sort](item, space)
    if isinstance(body, Affine):
        described = _rounding(rounding, len(body.extents))
    else:
        described = choice(None)(rounding, "the rounding")
    return Model(body=body, upper_at_zero=zero == "upper", link=link, rounding=described)


def _label(item: object, what: str) -> None:
    if type(item) not in (str, bool, int):
        record(item, what, number=number)


def _link(item: object, what: str) -> tuple[Fraction, Fraction] | None:
    if type(item) is not list:
        return choice("logistic", None)(item, what) and (Fraction(1), Fraction(0))
    name, slope, offset = array_of(anything, 3)(item, what)
    choice("logistic")(name, what)
    link = number(slope, f"{what}, slope"), number(offset, f"{what}, offset")
    if link[0] == 0:
        raise Rejected(f"{what} must have a slope other than 0")
    return link


def _rounding(item: object, columns: int) -> Rounding:
    sizes, constant, operations = record(
        item,
        "the rounding",
        sizes=array_of(number, columns),
        constant=number,
        operations=whole(0, MOST_OPERATIONS),
    )
    if min([constant, *sizes]) < 0:
        raise Rejected("the rounding's sizes and constant must be at least 0")
    return Rounding(sizes=tuple(sizes), constant=constant, operations=operations)


# Each later model family adds its body here.
BODIES: dict[str, Callable[[object, Space], Scored]] = {
    "affine": read_affine,
    "rbf": read_rbf,
    "polynomial": read_polynomial,
    "combined": read_combined,
}
