"""The model line (section 2): a body that gives the score, a head that reads it, and how the deployed program rounds.

Bodies: `affine`, `rbf`, `polynomial`, `trees`, and `combined` of these; of several scores: `several`, with a head of its own, `classes` (section 10).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.affine import Affine, read_affine
from likewise_check.core.fields import Rejected, anything, array_of, choice, kind, record, text, whole
from likewise_check.core.numbers import number
from likewise_check.core.properties import Property
from likewise_check.core.space import Space
from likewise_check.packs.classes.head import Classes, read_classes
from likewise_check.packs.classes.scores import Several, read_several
from likewise_check.packs.combined.body import Scored, read_combined
from likewise_check.packs.kernel.body import read_rbf
from likewise_check.packs.polynomial.body import read_polynomial
from likewise_check.packs.trees.body import Trees, read_trees

MOST_OPERATIONS = 10**7
SMALLEST = {24: Fraction(1, 1 << 149), 53: Fraction(1, 1 << 1074)}  # numbers above 0 of that many bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings of terms that add up to at most constant + sum of sizes * |column|."""

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int
    bits: int = 53  # of the program's numbers, or 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The score or scores, which label has the zero, the link, the rounding of the deployed program (of affine bodies and trees only)."""

    body: Scored | Several
    upper_at_zero: bool = False
    link: tuple[Fraction, Fraction] | None = None  # slope, offset: probabilities are sigma(slope f + offset)
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
    sort = kind(item, "the body", *BODIES)
    if any(feature.missing is not None for feature in space.features) and not _of_trees(item, sort):
        raise Rejected("only trees bodies know missing values")
    if type(head) is dict and "classes" in head:
        several = read_several(item, space, read_classes(head, asked))
        return Model(body=several, rounding=_described(rounding, several.bodies[0], several=True))
    if asked.of_classes:
        raise Rejected("the property has a class, but the model has none")
    labels, zero, link = record(head, "the head", labels=anything, zero=choice("lower", "upper"), link=_link)
    if labels is not None:
        array_of(_label, 2)(labels, "the labels")
    elif asked.kind == "decision":
        raise Rejected("a decision needs a model with labels")
    if asked.kind == "probability" and link is None:
        raise Rejected("a probability needs a model with the logistic link")
    body = BODIES[sort](item, space)
    described = _described(rounding, body, several=False)
    return Model(body=body, upper_at_zero=zero == "upper", link=link, rounding=described)


def _of_trees(item: object, sort: str) -> bool:
    """Whether a body is made of trees alone."""
    of = item.get("of") if sort == "combined" and type(item) is dict else [item]
    return type(of) is list and all(type(one) is dict and one.get("kind") == "trees" for one in of)


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


def _described(item: object, body: Scored, *, several: bool) -> Rounding | None:
    """How the deployed program rounds, as far as bodies of this kind tell it."""
    if isinstance(body, Trees):
        if body.several != several:
            raise Rejected("a body of several scores needs a head of classes, and the other way round")
        return rounding_of_trees(item, body)
    if isinstance(body, Affine) and not several:
        return _rounding(item, len(body.extents))
    choice(None)(item, "the rounding")
    return None


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


def rounding_of_trees(item: object, body: Trees) -> Rounding | None:
    """How the deployed program adds up the values of the leaves, if it is described."""
    if item is None:
        return None
    constant, operations, bits = record(
        item, "the rounding", constant=number, operations=whole(0, MOST_OPERATIONS), bits=whole(24, 53)
    )
    if bits not in SMALLEST:
        raise Rejected("the rounding's bits must be 24 or 53")
    if constant < body.size or operations < len(body.trees):
        raise Rejected(
            "the rounding's constant must be at least |bias| + the largest |value| of each tree, and its operations at least the trees"
        )
    return Rounding(sizes=(), constant=constant, operations=operations, bits=bits)


# Each later model family adds its body here.
BODIES: dict[str, Callable[[object, Space], Scored]] = {
    "affine": read_affine,
    "rbf": read_rbf,
    "polynomial": read_polynomial,
    "trees": read_trees,
    "combined": read_combined,
}
