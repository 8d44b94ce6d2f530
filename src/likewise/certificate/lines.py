"""Lines: space, similarity, property and model as the JSON lines of a certificate.

Numbers are exact: whole numbers in decimal, dyadic rationals (every double is one) in hexadecimal, other
rationals as fractions. A line is canonical (fixed key order, no spaces), so that its digest identifies it.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from likewise.errors import CertificateError
from likewise.families.lines import number
from likewise.families.registry import family_of
from likewise.families.scored import Model
from likewise.model.head import Head
from likewise.spec.features import Continuous, Feature, Integer, Level
from likewise.spec.pairs import PairSpace, constraint_terms
from likewise.spec.similarity import Relation
from likewise.spec.space import Space


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
    return line(
        {
            "model": {
                "family": model.family,
                "body": family_of(model.bodies[0]).line(model.bodies, model.embedding),
                "head": _head(model.head) if model.n_scores == 1 else _class_head(model.head),
                "rounding": None if model.rounding is None else model.rounding.line(),
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


def _link(head: Head) -> Any:
    if head.link is None or (head.slope == 1 and head.offset == 0):
        return head.link
    return [head.link, number(head.slope), number(head.offset)]


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
