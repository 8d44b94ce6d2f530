"""Lines: space, similarity, property and model as the JSON lines of a certificate.

Numbers are exact: whole numbers in decimal, dyadic rationals (every double is one) in hexadecimal, other
rationals as fractions. A line is canonical (fixed key order, no spaces), so that its digest identifies it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.certificate.collecting import without_collector
from likewise.clock import look_at_clock
from likewise.errors import CertificateError, InternalError
from likewise.families.affine.body import Affine
from likewise.families.combined.score import Combined, Part
from likewise.families.kernel.body import RbfSum
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.scored import Model, Rounding, TreeRounding
from likewise.families.trees.body import LEAF, Tree, TreeForm, TreeSum
from likewise.model.embedding import Column
from likewise.model.head import Head
from likewise.spec.features import Continuous, Feature, Integer, Level
from likewise.spec.pairs import PairSpace, constraint_terms
from likewise.spec.similarity import Relation
from likewise.spec.space import Space
from likewise.spec.terms import dot


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


def class_property_line(kind: str, level: Fraction, of: int | None) -> bytes:
    """The same of a model of several classes, with the class of interest (None: all of them)."""
    name = "margin" if kind == "decision" else "delta"
    return line({"property": {"kind": kind, name: number(level), "class": of}})


def model_line(model: Model) -> bytes:
    """The model's exact parameters. Also what a model export holds, so that digests can be compared."""
    one = model.n_scores == 1
    return line(
        {
            "model": {
                "family": model.family,
                "body": _body(model) if one else _class_body(model),
                "head": _head(model.head) if one else _class_head(model.head),
                "rounding": _rounding(model.rounding),
            }
        }
    )


def _head(head: Head) -> dict[str, Any]:
    """How one score decides; where nothing is claimed about decisions, there are no labels."""
    labels = None if head.undecided is not None else head.labels
    return {
        "labels": None if labels is None else [scalar(label) for label in labels],
        "zero": "upper" if head.zero_is_upper else "lower",
        "link": _link(head),
    }


def _class_head(head: Head) -> dict[str, Any]:
    return {"labels": [scalar(label) for label in head.classes], "classes": head.rule, "link": head.link}


def _class_body(model: Model) -> dict[str, Any]:
    """The body with an array of n numbers in the place of each coefficient."""
    bodies: Any = model.bodies
    if isinstance(bodies[0], TreeForm):
        return trees(bodies[0].ensemble)
    if all(isinstance(body, Combined) for body in bodies):
        parts = zip(*(body.parts for body in bodies), strict=True)
        return _combined(bodies[0], [_class_body(_part_of_classes(model, row)) for row in parts])
    if all(isinstance(body, Affine) for body in bodies):
        columns = []
        for column, *weights in zip(model.embedding, *(body.weights for body in bodies), strict=True):
            place, *rest = _column(column).items()
            columns.append(dict([place, ("weight", _numbers(weights)), *rest]))
        return {"kind": "affine", "bias": _numbers(body.bias for body in bodies), "columns": columns}
    columns = [_column(column) for column in model.embedding]
    if all(isinstance(body, RbfSum) for body in bodies):
        rows = zip(bodies[0].centres.tolist(), *(body.coefficients.tolist() for body in bodies), strict=True)
        return {
            "kind": "rbf",
            "gamma": number(bodies[0].gamma),
            "bias": _numbers(body.bias for body in bodies),
            "columns": columns,
            "terms": [[_numbers(values), _numbers(centre)] for centre, *values in rows],
        }
    if all(isinstance(body, PolynomialSum) for body in bodies):
        known = [dict(zip(body.products, body.coefficients, strict=True)) for body in bodies]
        products = dict.fromkeys(product for terms in known for product in terms)
        terms = [[_numbers(terms.get(p, Fraction(0)) for terms in known), list(p)] for p in products]
        return {"kind": "polynomial", "columns": columns, "terms": terms}
    raise InternalError("no certificate is written of this body")


def _part_of_classes(model: Model, parts: Sequence[Part]) -> Model:
    """The model of one part of a combined body, with all scores."""
    bodies: Any = tuple(part.body for part in parts)
    return replace(model, bodies=bodies, embedding=parts[0].embedding)


def _combined(body: Combined, parts: list[dict[str, Any]]) -> dict[str, Any]:
    weights = {"weights": _numbers(body.weights)} if body.how == "mean" else {}
    return {"kind": "combined", "how": body.how, **weights, "of": parts}


def _numbers(values: Iterable[Fraction | float]) -> list[str]:
    return [number(value) for value in values]


def _link(head: Head) -> Any:
    if head.link is None or (head.slope == 1 and head.offset == 0):
        return head.link
    return [head.link, number(head.slope), number(head.offset)]


def _body(model: Model) -> dict[str, Any]:
    if isinstance(model.body, Affine):
        return _affine(model)
    if isinstance(model.body, TreeForm):
        return trees(model.body.ensemble, None if model.body.whole else model.body.alpha)
    if isinstance(model.body, Combined):
        parts = [replace(model, bodies=(part.body,), embedding=part.embedding) for part in model.body.parts]
        return _combined(model.body, [_body(part) for part in parts])
    return _rbf(model) if isinstance(model.body, RbfSum) else _polynomial(model)


def _rounding(rounding: Any) -> dict[str, Any] | None:
    if isinstance(rounding, TreeRounding):
        constant = number(rounding.constant)
        return {"constant": constant, "operations": rounding.operations, "bits": rounding.bits}
    if not isinstance(rounding, Rounding):
        return None  # what is known of the program's rounding is no bound
    stated = rounding.stated()
    return {
        "sizes": [number(size) for size in stated.sizes],
        "constant": number(stated.constant),
        "operations": stated.operations,
    }


def _affine(model: Model) -> dict[str, Any]:
    body = model.body
    if not isinstance(body, Affine):
        raise InternalError("not an affine body")
    columns = []
    for column, weight in zip(model.embedding, body.weights, strict=True):
        place, *rest = _column(column).items()
        columns.append(dict([place, ("weight", number(weight)), *rest]))
    return {"kind": "affine", "bias": number(body.bias), "columns": columns}


def _rbf(model: Model) -> dict[str, Any]:
    body = model.body
    if not isinstance(body, RbfSum):
        raise InternalError("not a sum of Gaussians")
    rows = zip(body.coefficients.tolist(), body.centres.tolist(), strict=True)
    return {
        "kind": "rbf",
        "gamma": number(body.gamma),
        "bias": number(body.bias),
        "columns": [_column(column) for column in model.embedding],
        "terms": [[number(value), [number(c) for c in centre]] for value, centre in rows],
    }


def _polynomial(model: Model) -> dict[str, Any]:
    body = model.body
    if not isinstance(body, PolynomialSum):
        raise InternalError("not a sum of products")
    terms = zip(body.coefficients, body.products, strict=True)
    return {
        "kind": "polynomial",
        "columns": [_column(column) for column in model.embedding],
        "terms": [[number(value), list(product)] for value, product in terms],
    }


def trees(body: TreeSum, alpha: tuple[Fraction, ...] | None = None) -> dict[str, Any]:
    """A body of trees, or with `alpha` of the one score alpha . f; one of several scores has arrays in the place of numbers."""
    texts = _Texts(alpha)
    with without_collector():
        nodes = []
        for tree in body.trees:
            look_at_clock()
            nodes.append(_tree(tree, body.missing, texts))
    return {
        "kind": "trees",
        "bias": _scores(body.bias if alpha is None else (dot(alpha, body.bias),)),
        "trees": nodes,
    }


def _scores(values: Sequence[Fraction]) -> Any:
    return number(values[0]) if len(values) == 1 else [number(value) for value in values]


class _Texts:
    """What is written at nodes, made once for all nodes at which it is the same."""

    def __init__(self, alpha: tuple[Fraction, ...] | None) -> None:
        self.alpha = alpha
        self._levels: dict[frozenset[int], list[int]] = {}
        self._thresholds: dict[float, str] = {}
        self._products: dict[tuple[Fraction, float], str] = {}

    def levels(self, levels: frozenset[int]) -> list[int]:
        if levels not in self._levels:
            self._levels[levels] = sorted(levels)
        return self._levels[levels]

    def threshold(self, threshold: float) -> str:
        if threshold not in self._thresholds:
            largest = sys.float_info.max  # no double is beyond that
            self._thresholds[threshold] = number(min(max(threshold, -largest), largest))
        return self._thresholds[threshold]

    def leaves(self, tree: Tree) -> list[Any]:
        """By leaf: what it adds to the scores."""
        values = tree.values[tree.feature == LEAF]
        if self.alpha is not None:
            return [
                number(tree.factor * dot(self.alpha, list(map(Fraction, row)))) for row in values.tolist()
            ]
        distinct, places = np.unique(values, return_inverse=True)
        texts = np.array([self._product(tree.factor, value) for value in distinct.tolist()], dtype=object)
        rows: list[Any] = texts[places.reshape(values.shape)].tolist()
        return [row[0] for row in rows] if values.shape[1] == 1 else rows

    def _product(self, factor: Fraction, value: float) -> str:
        if (factor, value) not in self._products:
            self._products[factor, value] = number(factor * Fraction(value))
        return self._products[factor, value]


def _tree(tree: Tree, missing: Mapping[int, Fraction], texts: _Texts) -> list[Any]:
    nodes: list[Any] = []
    leaves = iter(texts.leaves(tree))
    rows = zip(tree.feature.tolist(), tree.threshold.tolist(), tree.right.tolist(), strict=True)
    for i, (k, threshold, right) in enumerate(rows):
        if k == LEAF:
            nodes.append(next(leaves))
            continue
        test = texts.levels(tree.levels[i]) if i in tree.levels else texts.threshold(threshold)
        way = ["left" if tree.missing_left[i] else "right"] if k in missing else []
        nodes.append([k, test, right, *way])
    return nodes


def _column(column: Column) -> dict[str, Any]:
    if column.pieces is not None:
        return {
            "feature": column.feature,
            "cuts": [number(cut) for cut in column.pieces.cuts],
            "pieces": [[number(c) for c in p] or ["0"] for p in column.pieces.polynomials],
        }
    if column.table is None:
        return {"feature": column.feature, "slope": number(column.slope), "offset": number(column.offset)}
    return {"feature": column.feature, "table": [number(value) for value in column.table]}


def _feature(name: str, feature: Feature) -> dict[str, Any]:
    if isinstance(feature, (Continuous, Integer)):
        ends = {"name": name, "kind": feature.kind, "lo": number(feature.lo), "hi": number(feature.hi)}
        return {**ends, "missing": True} if feature.missing else ends
    return {"name": name, "kind": feature.kind, "levels": [_level(level) for level in feature.levels]}


def _level(level: Level) -> Any:
    return None if level is None else scalar(level)


def _constraint(space: Space, index: int) -> dict[str, Any]:
    constraint = space.constraints[index]
    places = sorted((space.names.index(name), value) for name, value in constraint.coefficients)
    terms: list[list[Any]] = [[place, number(value)] for place, value in places]
    if constraint.indicators:
        counted = enumerate(constraint_terms(space, constraint).terms)
        terms = [[k, [number(n) for n in term.table]] for k, term in counted if term.table is not None]
    return {
        "text": constraint.text,
        "terms": terms,
        "bound": number(constraint.bound),
    }


def _relation(relation: Relation) -> dict[str, Any]:
    if relation.kind == "within" and relation.tolerance is not None:
        return {"kind": "within", "tolerance": number(relation.tolerance)}
    if relation.kind == "pairs":
        return {"kind": "pairs", "allowed": [list(pair) for pair in relation.allowed]}
    return {"kind": relation.kind}
