"""A third route to the truth of a certificate, for scores that are no sums of one-feature terms: look at everybody.

`witnesses(lines)` evaluates the (mutated) claim in ball arithmetic, as the specification reads and with nothing of the
package, at every pair of a discrete space; continuous features are looked at in a few places. It yields the
pairs that are witnesses beyond doubt, so whatever it finds makes an accepted proof a false one.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from likewise.spec.numbers import parse_number

PLACES = 5  # at which a continuous feature is looked at
BITS = 160
MOST = 20_000  # individuals: mutants of a space may be large, then only a part is looked at

Codes = tuple[Fraction, ...]


def witnesses(lines: list[Any]) -> Iterator[tuple[Codes, Codes]]:
    """Pairs that break the claim of these lines for certain."""
    features, constraints = lines[1]["space"]["features"], lines[1]["space"]["constraints"]
    model, property, relations = lines[4]["model"], lines[3]["property"], lines[2]["similarity"]
    mirrored = property["kind"] == "decision" and model["head"]["zero"] == "upper"
    values = [
        sorted({*_codes(feature), *_tested(model["body"], k, feature)}) for k, feature in enumerate(features)
    ]
    gone = [_missing(feature) for feature in features]
    with ctx.workprec(BITS):
        known = {
            codes: (-1 if mirrored else 1) * score(model["body"], codes, gone)
            for codes in itertools.islice(itertools.product(*values), MOST)
            if all(_satisfied(constraint, codes) for constraint in constraints)
        }
        groups: dict[Codes, list[Codes]] = {}
        for codes in known:
            shared = tuple(c for c, r in zip(codes, relations, strict=True) if r["kind"] == "same")
            groups.setdefault(shared, []).append(codes)
        for members in groups.values():
            for x, other in itertools.product(members, members):
                if _similar(relations, x, other, gone) and _broken(property, known[x], known[other]):
                    yield x, other


def objection(lines: list[Any]) -> str | None:
    """What is certainly wrong with the proof or the witness of these lines."""
    if lines[0]["kind"] == "proof":
        return next((f"{x} and {other} are a witness" for x, other in witnesses(lines)), None)
    stated = lines[5]["witness"]
    x, other = (tuple(map(parse_number, stated[side])) for side in ("x", "other"))
    with ctx.workprec(BITS):
        gone = [_missing(feature) for feature in lines[1]["space"]["features"]]
        scores = [score(lines[4]["model"]["body"], codes, gone) for codes in (x, other)]
        for ball, ends in zip(scores, stated["scores"], strict=True):
            lo, hi = (_ball(end) for end in ([ends, ends] if isinstance(ends, str) else ends))
            if ball < lo or ball > hi:
                return "a score is not the stated one"
        if lines[4]["model"]["head"]["zero"] == "upper" and lines[3]["property"]["kind"] == "decision":
            scores = [-ball for ball in scores]
        inside = all(
            _within(feature, c)
            for codes in (x, other)
            for feature, c in zip(lines[1]["space"]["features"], codes, strict=True)
        )
        if not inside or not _similar(lines[2]["similarity"], x, other, gone):
            return "not a pair"
        return None if _broken(lines[3]["property"], *scores) else "not a witness"


def score(body: dict[str, Any], codes: Codes, gone: list[Fraction | None]) -> arb:
    if body["kind"] == "trees":
        return sum((_leaf(tree, codes, gone) for tree in body["trees"]), _ball(body["bias"]))
    columns = [_column(column, codes) for column in body["columns"]]
    if body["kind"] == "rbf":
        total, gamma = _ball(body["bias"]), _ball(body["gamma"])
        for coefficient, centre in body["terms"]:
            distance = sum(((c - _ball(s)) ** 2 for c, s in zip(columns, centre, strict=True)), arb(0))
            total += _ball(coefficient) * (-gamma * distance).exp()
        return total
    total = arb(0)
    for coefficient, factors in body["terms"]:
        product = _ball(coefficient)
        for c in factors:
            product *= columns[c]
        total += product
    return total


def _leaf(tree: list[Any], codes: Codes, gone: list[Fraction | None]) -> arb:
    """The value of the leaf that codes come to."""
    node = 0
    while isinstance(tree[node], list):
        k, test, right, *missing = tree[node]
        if gone[k] is not None and codes[k] == gone[k]:
            left = missing == ["left"]
        else:
            left = codes[k] in test if isinstance(test, list) else codes[k] <= parse_number(test)
        node = node + 1 if left else right
    return _ball(tree[node])


def _tested(body: dict[str, Any], k: int, feature: dict[str, Any]) -> list[Fraction]:
    """Codes of a continuous feature at and beside every threshold of trees, and that of a missing number."""
    found = [] if (gone := _missing(feature)) is None else [gone]
    if body["kind"] == "trees" and feature["kind"] == "continuous":
        tests = {
            node[1] for tree in body["trees"] for node in tree if isinstance(node, list) and node[0] == k
        }
        near = [
            c
            for test in tests
            for c in (parse_number(test), Fraction(math.nextafter(float(parse_number(test)), math.inf)))
        ]
        found += [c for c in near if parse_number(feature["lo"]) <= c <= parse_number(feature["hi"])]
    return found


def _missing(feature: dict[str, Any]) -> Fraction | None:
    """The code of a missing number."""
    if not feature.get("missing"):
        return None
    hi = parse_number(feature["hi"])
    return hi + 1 if feature["kind"] == "integer" else Fraction(math.nextafter(float(hi), math.inf))


def _column(column: dict[str, Any], codes: Codes) -> arb:
    code = codes[column["feature"]]
    if "table" in column:
        return _ball(column["table"][int(code)])
    return _ball(column["offset"]) + _ball(column["slope"]) * arb(fmpq(code.numerator, code.denominator))


def _ball(text: str) -> arb:
    exact = parse_number(text)
    return arb(fmpq(exact.numerator, exact.denominator))


def _codes(feature: dict[str, Any]) -> list[Fraction]:
    if "levels" in feature:
        return [Fraction(i) for i in range(len(feature["levels"]))]
    lo, hi = parse_number(feature["lo"]), parse_number(feature["hi"])
    if feature["kind"] == "integer":
        return [Fraction(c) for c in range(int(lo), min(int(hi), int(lo) + 200) + 1)]
    return [lo + (hi - lo) * i / (PLACES - 1) for i in range(PLACES)]


def _within(feature: dict[str, Any], code: Fraction) -> bool:
    whole = feature["kind"] == "continuous" or code.denominator == 1
    lo, hi = (
        (0, len(feature["levels"]) - 1)
        if "levels" in feature
        else (parse_number(feature[end]) for end in ("lo", "hi"))
    )
    return whole and (lo <= code <= hi or code == _missing(feature))


def _satisfied(constraint: dict[str, Any], codes: Codes) -> bool:
    return sum(parse_number(c) * codes[k] for k, c in constraint["terms"]) <= parse_number(
        constraint["bound"]
    )


def _similar(relations: list[dict[str, Any]], x: Codes, other: Codes, gone: list[Fraction | None]) -> bool:
    for relation, code, a, b in zip(relations, gone, x, other, strict=True):
        if relation["kind"] == "within" and code is not None and (a == code) != (b == code):
            return False
    limits = (
        0 if r["kind"] == "same" else parse_number(r["tolerance"]) if r["kind"] == "within" else None
        for r in relations
    )
    return all(t is None or abs(a - b) <= t for t, a, b in zip(limits, x, other, strict=True))


def _broken(property: dict[str, Any], first: arb, second: arb) -> bool:
    if property["kind"] == "decision":
        margin = _ball(property["margin"])
        return bool(first > margin) and bool(second <= -margin)
    return bool(first - second > _ball(property["delta"]))
