"""The model line (section 2): a body that gives the score, a head that reads it, and how the deployed program rounds.

The affine body f(x) = bias + sum of weight * column(x) is brought to its separable form:

    f(x) = constant + sum_k phi_k(x_k)     phi_k(c) = slope_k * c  (continuous, integer)  or  table_k[c]  (levels kinds)

Columns of one feature add up; their offsets go into the constant. (Other bodies: `rbf`, `polynomial`.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.fields import Rejected, anything, array_of, choice, kind, record, text, whole
from likewise_check.numbers import number
from likewise_check.polynomial import Polynomial, read_polynomial
from likewise_check.properties import Property
from likewise_check.rbf import Rbf, read_rbf
from likewise_check.space import Space

MOST_OPERATIONS = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """The separable form, and for each column the largest absolute value that it takes on the space."""

    constant: Fraction
    tables: tuple[tuple[Fraction, ...], ...]  # one a feature: one entry a level, or just the slope
    linear: tuple[bool, ...]
    extents: tuple[Fraction, ...]  # one a column

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x), exactly."""
        parts = zip(self.tables, self.linear, codes, strict=True)
        return self.constant + sum(table[0] * x if linear else table[int(x)] for table, linear, x in parts)

    def steady(self, k: int) -> bool:
        """Whether the score does not depend on this feature."""
        return self.tables[k][0] == 0 if self.linear[k] else len(set(self.tables[k])) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings of terms that add up to at most constant + sum of sizes * |column|."""

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The score, which label has the zero, and the rounding of the deployed program (of affine bodies only)."""

    body: Affine | Rbf | Polynomial
    upper_at_zero: bool
    rounding: Rounding | None


def read_model(line: object, space: Space, asked: Property) -> Model:
    """The model of a certificate's fifth line; it must have what the property speaks of."""
    (content,) = record(line, "the line", model=anything)
    _, item, head, rounding = record(
        content, "the model", family=text, body=anything, head=anything, rounding=anything
    )
    labels, zero, link = record(
        head, "the head", labels=anything, zero=choice("lower", "upper"), link=choice("logistic", None)
    )
    if labels is not None:
        array_of(_label, 2)(labels, "the labels")
    elif asked.kind == "decision":
        raise Rejected("a decision needs a model with labels")
    if asked.kind == "probability" and link is None:
        raise Rejected("a probability needs a model with the logistic link")
    body = BODIES[kind(item, "the body", *BODIES)](item, space)
    if isinstance(body, Affine):
        described = _rounding(rounding, len(body.extents))
    else:
        described = choice(None)(rounding, "the rounding")
    return Model(body=body, upper_at_zero=zero == "upper", rounding=described)


def _label(item: object, what: str) -> None:
    if type(item) not in (str, bool, int):
        record(item, what, number=number)


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


def _affine(item: object, space: Space) -> Affine:
    _, constant, columns = record(item, "the body", kind=text, bias=number, columns=array_of(anything))
    tables = [(Fraction(0),) * max(feature.levels, 1) for feature in space.features]
    extents: list[Fraction] = []
    for c, column in enumerate(columns):
        what = f"column {c}"
        place = column.get("feature") if type(column) is dict else None
        k = whole(0, len(space.features) - 1)(place, f"{what}, feature")
        feature = space.features[k]
        if feature.levels:
            reader = array_of(number, feature.levels)
            _, weight, entries = record(column, what, feature=anything, weight=number, table=reader)
            extents.append(max(map(abs, entries)))
        else:
            _, weight, slope, offset = record(
                column, what, feature=anything, weight=number, slope=number, offset=number
            )
            entries = [slope]
            constant += weight * offset
            extents.append(max(abs(offset + slope * end) for end in (feature.lo, feature.hi)))
        added = zip(tables[k], entries, strict=True)
        tables[k] = tuple(before + weight * entry for before, entry in added)
    linear = tuple(not feature.levels for feature in space.features)
    return Affine(constant=constant, tables=tuple(tables), linear=linear, extents=tuple(extents))


def flat(space: Space) -> Affine:
    """The body that is zero everywhere, for rules that do not look at the score."""
    return _affine({"kind": "affine", "bias": "0", "columns": []}, space)


# Each later model family adds its body here.
BODIES: dict[str, Callable[[object, Space], Affine | Rbf | Polynomial]] = {
    "affine": _affine,
    "rbf": read_rbf,
    "polynomial": read_polynomial,
}
