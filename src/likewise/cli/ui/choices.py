"""A claim as the page shows it, and the claim with what was chosen there.

A choice is JSON: ``{"features": {"age": {"relation": "within", "tolerance": "2", "lo": 18, "hi": 75}}, "property": {"kind": "score", "limit": 0.5}}``. What it does not
name stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from likewise.cli.init import sounds_protected
from likewise.cli.similar_flags import parse_tolerances
from likewise.errors import LikewiseError, SpecError
from likewise.spec.along import cases_of
from likewise.spec.claim import WrittenClaim
from likewise.spec.features import Continuous, Feature, Integer
from likewise.spec.numbers import short_repr
from likewise.spec.properties import make_property, property_level
from likewise.spec.similarity import Similarity, Tolerance
from likewise.spec.space import Space
from likewise.spec.toml_writer import spec_text

RELATIONS = ("same", "free", "within", "pairs")
CHOSEN_KINDS = (
    "decision",
    "probability",
    "score",
)  # properties that the page offers; a claim file may have others


def show_claim(claim: WrittenClaim) -> dict[str, Any]:
    """Everything that the page shows of a claim."""
    return {
        "model": claim.model_path,
        "data": claim.data_path,
        "label": claim.label,
        "words": claim.describe(),
        "space": claim.space.describe(),
        "features": [_show_feature(name, claim) for name in claim.space.names],
        "rules": list(claim.space.rules),
        "property": {"kind": claim.property.kind, "limit": property_level(claim.property)},
        "text": spec_text(claim),
    }


def _show_feature(name: str, claim: WrittenClaim) -> dict[str, Any]:
    feature, similarity = claim.space[name], claim.similarity
    relation, tolerance = "same", ""
    if name in similarity.free:
        relation = "free"
    elif name in similarity.within:
        relation, tolerance = "within", str(similarity.within[name])
    elif name in similarity.pairs:
        relation = "pairs"
    ends = {"lo": feature.lo, "hi": feature.hi} if isinstance(feature, Continuous | Integer) else {}
    return {
        "name": name,
        "kind": feature.kind,
        "values": feature.describe(),
        **ends,
        "relation": relation,
        "tolerance": tolerance,
        "suspect": sounds_protected(name),
    }


def choose(claim: WrittenClaim, choice: Mapping[str, Any]) -> WrittenClaim:
    """The claim with a choice; errors name the feature."""
    chosen = _table(choice, "features")
    for name in chosen:
        if name not in claim.space:
            raise SpecError(f"there is no feature {name!r}")
    space = _choose_space(claim.space, chosen)
    similarity = _choose_similarity(claim, chosen)
    return replace(claim, space=space, similarity=similarity, property=_choose_property(claim, choice))


def _choose_space(space: Space, chosen: Mapping[str, Any]) -> Space:
    features = {
        name: _choose_ends(name, feature, _table(chosen, name)) for name, feature in space.features.items()
    }
    if features == dict(space.features):
        return space
    return Space(features, constraints=space.constraints)


def _choose_ends(name: str, feature: Feature, wanted: Mapping[str, Any]) -> Feature:
    if not isinstance(feature, Continuous | Integer):
        return feature
    ends: dict[str, Any] = {
        end: _number(name, wanted[end]) for end in ("lo", "hi") if wanted.get(end) not in (None, "")
    }
    try:
        return replace(feature, **ends) if ends else feature
    except LikewiseError as error:
        raise error.located(name) from None


def _choose_similarity(claim: WrittenClaim, chosen: Mapping[str, Any]) -> Similarity:
    relations = {name: _show_feature(name, claim) for name in claim.space.names}
    for name in chosen:
        relations[name] |= {
            key: value for key, value in _table(chosen, name).items() if key in ("relation", "tolerance")
        }
    strange = next((name for name, one in relations.items() if one["relation"] not in RELATIONS), None)
    if strange is not None:
        raise SpecError(f"{strange}: how it may differ is one of {', '.join(RELATIONS)}")
    of = {kind: [name for name, one in relations.items() if one["relation"] == kind] for kind in RELATIONS}
    within: dict[str, Tolerance] = {}
    for name in of["within"]:
        amount = str(relations[name]["tolerance"] or "").strip()
        if not amount:
            raise SpecError(f"{name}: by how much may it differ?", hint="2, or 5% of its range")
        within |= parse_tolerances((f"{name}={amount}",))
    known = claim.similarity.pairs
    order = {name: way for name, way in claim.similarity.order.items() if name in (*of["free"], *within)}
    chosen_pairs = {name: known[name] for name in of["pairs"]}
    moving = (*of["free"], *within, *chosen_pairs)
    along = {
        name: one
        for name, one in claim.similarity.along.items()
        if cases_of(one)[0].feature in moving and name not in (*of["free"], *chosen_pairs)
    }
    return claim.similarity.replace(
        free=of["free"], within=within, pairs=chosen_pairs, order=order, along=along
    )


def _choose_property(claim: WrittenClaim, choice: Mapping[str, Any]) -> Any:
    wanted = _table(choice, "property")
    if not wanted or wanted.get("kind") == claim.property.kind not in CHOSEN_KINDS:
        return claim.property  # as the claim file says
    limit = _number("the limit", wanted.get("limit") or 0)
    return make_property(str(wanted.get("kind")), limit, claim.property.class_of_interest)


def _table(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = given.get(name) or {}
    if not isinstance(found, Mapping):
        raise SpecError(f"{name}: not a choice of this page")
    return found


def _number(name: str, given: Any) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SpecError(f"{name}: {short_repr(str(given))} is not a number that Likewise can use")
    return int(number) if number.is_integer() and "." not in str(given) else number
