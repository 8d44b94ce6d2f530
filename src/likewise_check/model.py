"""The model line (section 2): a body that gives the score, a head that reads it, and how the deployed program rounds.

The affine body f(x) = bias + sum of weight * column(x) is brought to its separable form:

    f(x) = constant + sum_k phi_k(x_k)     phi_k(c) = slope_k * c  or  in pieces (continuous, integer),  or  table_k[c]  (levels kinds)

Columns of one feature add up; their offsets go into the constant, or the slopes into the pieces if there are any. (Other bodies: `rbf`, `polynomial`, `trees`.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from likewise_check.fields import Rejected, anything, array_of, choice, kind, record, text, whole
from likewise_check.numbers import Exact, number
from likewise_check.pieces import Pieces, read_pieces, summed
from likewise_check.polynomial import Polynomial, read_polynomial
from likewise_check.properties import Property
from likewise_check.rbf import Rbf, read_rbf
from likewise_check.space import Space
from likewise_check.trees import Trees, read_trees

MOST_OPERATIONS = 10**7
SMALLEST = {24: Fraction(1, 1 << 149), 53: Fraction(1, 1 << 1074)}  # numbers above 0 of that many bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """The separable form, and for each column a bound of the absolute values that it takes on the space."""

    constant: Fraction
    tables: tuple[tuple[Fraction, ...], ...]  # one a feature: one entry a level, or just the slope
    linear: tuple[bool, ...]
    pieces: tuple[Pieces | None, ...]  # one a feature: in the place of slope * x, if there are any
    extents: tuple[Exact, ...]  # one a column

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x), exactly."""
        parts = zip(self.tables, self.linear, self.pieces, codes, strict=True)
        return self.constant + sum(
            pieces.at(x) if pieces else table[0] * x if linear else table[int(x)]
            for table, linear, pieces, x in parts
        )

    def steady(self, k: int) -> bool:
        """Whether the score does not depend on this feature."""
        if pieces := self.pieces[k]:
            return pieces.steady
        return self.tables[k][0] == 0 if self.linear[k] else len(set(self.tables[k])) == 1


Body: TypeAlias = Affine | Rbf | Polynomial | Trees


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings of terms that add up to at most constant + sum of sizes * |column|."""

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int
    bits: int = 53  # of the program's numbers, or 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The score, which label has the zero, the link and the rounding of the deployed program (of affine bodies and trees only)."""

    body: Body
    upper_at_zero: bool
    link: tuple[Fraction, Fraction] | None  # slope and offset: probabilities are sigma(slope f + offset)
    rounding: Rounding | None


def read_model(line: object, space: Space, asked: Property) -> Model:
    """The model of a certificate's fifth line; it must have what the property speaks of."""
    (content,) = record(line, "the line", model=anything)
    _, item, head, rounding = record(
        content, "the model", family=text, body=anything, head=anything, rounding=anything
    )
    labels, zero, link = record(head, "the head", labels=anything, zero=choice("lower", "upper"), link=_link)
    if labels is not None:
        array_of(_label, 2)(labels, "the labels")
    elif asked.kind == "decision":
        raise Rejected("a decision needs a model with labels")
    if asked.kind == "probability" and link is None:
        raise Rejected("a probability needs a model with the logistic link")
    sort = kind(item, "the body", *BODIES)
    if sort != "trees" and any(feature.missing is not None for feature in space.features):
        raise Rejected("only trees bodies know missing values")
    body = BODIES[sort](item, space)
    if isinstance(body, Trees) and body.several:
        raise Rejected("a body of several scores needs a head of classes")
    described: Rounding | None
    if isinstance(body, Affine):
        described = _rounding(rounding, len(body.extents))
    elif isinstance(body, Trees):
        described = rounding_of_trees(rounding, body)
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


def _affine(item: object, space: Space) -> Affine:
    _, constant, columns = record(item, "the body", kind=text, bias=number, columns=array_of(anything))
    tables = [(Fraction(0),) * max(feature.levels, 1) for feature in space.features]
    curves: list[list[tuple[Fraction, Pieces]]] = [[] for _ in space.features]
    extents: list[Exact] = []
    for c, column in enumerate(columns):
        what = f"column {c}"
        place = column.get("feature") if type(column) is dict else None
        k = whole(0, len(space.features) - 1)(place, f"{what}, feature")
        feature = space.features[k]
        if feature.levels:
            reader = array_of(number, feature.levels)
            _, weight, entries = record(column, what, feature=anything, weight=number, table=reader)
            extents.append(max(map(abs, entries)))
        elif "cuts" in column:
            curves[k].append(read_pieces(column, what, whole=feature.discrete))
            extents.append(curves[k][-1][1].extent(feature.lo, feature.hi))
            continue
        else:
            _, weight, slope, offset = record(
                column, what, feature=anything, weight=number, slope=number, offset=number
            )
            entries = [slope]
            constant += weight * offset
            extents.append(max(abs(offset + slope * end) for end in (feature.lo, feature.hi)))
        added = zip(tables[k], entries, strict=True)
        tables[k] = tuple(before + weight * entry for before, entry in added)
    pieces: list[Pieces | None] = [None] * len(tables)
    for k, found in enumerate(curves):
        if found:
            pieces[k] = summed(found, tables[k][0], whole=space.features[k].discrete)
            tables[k] = (Fraction(0),)
    return Affine(
        constant=constant,
        tables=tuple(tables),
        linear=tuple(not feature.levels for feature in space.features),
        pieces=tuple(pieces),
        extents=tuple(extents),
    )


def flat(space: Space) -> Affine:
    """The body that is zero everywhere, for rules that do not look at the score."""
    return _affine({"kind": "affine", "bias": "0", "columns": []}, space)


# Each later model family adds its body here.
BODIES: dict[str, Callable[[object, Space], Body]] = {
    "affine": _affine,
    "rbf": read_rbf,
    "polynomial": read_polynomial,
    "trees": read_trees,
}
