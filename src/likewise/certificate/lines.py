"""Lines: space, similarity, property and model as the JSON lines of a certificate.

Numbers are exact: whole numbers in decimal, dyadic rationals (every double is one) in hexadecimal, other
rationals as fractions. A line is canonical (fixed key order, no spaces), so that its digest identifies it.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from likewise.errors import CertificateError
from likewise.model.body import Affine
from likewise.model.embedding import Column
from likewise.model.scored import Model
from likewise.spec.features import Continuous, Feature, Integer
from likewise.spec.pairs import PairSpace
from likewise.spec.similarity import Relation
from likewise.spec.space import Space


def number(value: Fraction | float) -> str:
    """An exact number in the shortest of the three forms that fits."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    power = exact.denominator.bit_length() - 1
    if exact.denominator == 1 << power:
        sign = "-" if exact < 0 else ""
        return f"{sign}0x{abs(exact.numerator):x}p-{power}"
    return f"{exact.numerator}/{exact.denominator}"


def rational(text: str) -> Fraction:
    """The inverse of `number`, for numbers that it wrote."""
    mantissa, found, exponent = text.partition("p")
    return int(mantissa, 16) * Fraction(2) ** int(exponent) if found else Fraction(text)


def line(value: Any) -> bytes:
    """One canonical JSON line, without its line feed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def scalar(value: object) -> Any:
    """A level or label: texts and truth values as they are, numbers exactly."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return {"number": number(value)}
    raise CertificateError(
        f"the label {value!r} is neither a text nor a number and cannot be written into a certificate",
        hint="train with labels that are texts, whole numbers or True/False",
    )


def space_line(pairs: PairSpace) -> bytes:
    """Features and constraints of the space."""
    space = pairs.space
    return line(
        {
            "space": {
                "features": [_feature(name, space[name]) for name in space.names],
                "constraints": [_constraint(space, i) for i in range(len(space.constraints))],
            }
        }
    )


def similarity_line(pairs: PairSpace) -> bytes:
    """One relation a feature."""
    return line({"similarity": [_relation(relation) for relation in pairs.relations]})


def property_line(kind: str, level: Fraction) -> bytes:
    """A property by its kind and its margin or delta, which may be any rational."""
    return line({"property": {"kind": kind, "margin" if kind == "decision" else "delta": number(level)}})


def model_line(model: Model) -> bytes:
    """The model's exact parameters. Also what a model export holds, so that digests can be compared."""
    head, rounding = model.head, model.rounding
    labels = None if head.labels is None else [scalar(label) for label in head.labels]
    return line(
        {
            "model": {
                "family": model.family,
                "body": _affine(model.body, model.embedding),
                "head": {
                    "labels": labels,
                    "zero": "upper" if head.zero_is_upper else "lower",
                    "link": head.link,
                },
                "rounding": {
                    "sizes": [number(size) for size in rounding.sizes],
                    "constant": number(rounding.constant),
                    "operations": rounding.operations,
                },
            }
        }
    )


def _affine(body: Affine, embedding: tuple[Column, ...]) -> dict[str, Any]:
    columns: list[dict[str, Any]] = []
    for column, weight in zip(embedding, body.weights, strict=True):
        entry: dict[str, Any] = {"feature": column.feature, "weight": number(weight)}
        if column.table is None:
            entry |= {"slope": number(column.slope), "offset": number(column.offset)}
        else:
            entry |= {"table": [number(value) for value in column.table]}
        columns.append(entry)
    return {"kind": "affine", "bias": number(body.bias), "columns": columns}


def _feature(name: str, feature: Feature) -> dict[str, Any]:
    if isinstance(feature, (Continuous, Integer)):
        return {"name": name, "kind": feature.kind, "lo": number(feature.lo), "hi": number(feature.hi)}
    return {"name": name, "kind": feature.kind, "levels": [scalar(level) for level in feature.levels]}


def _constraint(space: Space, index: int) -> dict[str, Any]:
    constraint = space.constraints[index]
    places = sorted((space.names.index(name), value) for name, value in constraint.coefficients)
    return {
        "text": constraint.text,
        "terms": [[place, number(value)] for place, value in places],
        "bound": number(constraint.bound),
    }


def _relation(relation: Relation) -> dict[str, Any]:
    if relation.kind == "within" and relation.tolerance is not None:
        return {"kind": "within", "tolerance": number(relation.tolerance)}
    return {"kind": relation.kind}
