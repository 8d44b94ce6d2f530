"""A third route to the truth of a certificate, for scores that are no sums of one-feature terms: look at everybody.

`witnesses(lines)` evaluates the (mutated) claim in ball arithmetic, as the specification reads and with nothing of the
package, at every pair of a discrete space; continuous features are looked at in a few places. It yields the
pairs that are witnesses beyond doubt, so whatever it finds makes an accepted proof a false one.
"""

import functools
import itertools
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from likewise.spec.numbers import parse_number

PLACES = 5  # at which a continuous feature is looked at
BITS = 160
MOST = 20_000  # individuals: mutants of a space may be large, then only a part is looked at

Codes = tuple[Fraction, ...]

exact = functools.cache(parse_number)


def witnesses(lines: list[Any]) -> Iterator[tuple[Codes, Codes]]:
    """Pairs that break the claim of these lines for certain."""
    features, constraints = lines[1]["space"]["features"], lines[1]["space"]["constraints"]
    model, property, relations = lines[4]["model"], lines[3]["property"], lines[2]["similarity"]
    values = [
        sorted({*_codes(feature), *_tested(model["body"], k, feature)}) for k, feature in enumerate(features)
    ]
    gone = [_missing(feature) for feature in features]
    with ctx.workprec(BITS):
        groups: dict[Codes, list[tuple[Codes, list[arb]]]] = {}
        for codes in itertools.islice(itertools.product(*values), MOST):
            if all(_satisfied(constraint, codes, features) for constraint in constraints):
                shared = tuple(c for c, r in zip(codes, relations, strict=True) if r["kind"] == "same")
                groups.setdefault(shared, []).append((codes, compared(model, property, codes, gone)))
        for members in groups.values():
            for (x, first), (other, second) in itertools.product(members, members):
                if _broken(property, first, second, (x, other)) and _similar(lines[2], x, other, gone):
                    yield x, other


def objection(lines: list[Any]) -> str | None:
    """What is certainly wrong with the proof or the witness of these lines."""
    if lines[0]["kind"] == "proof":
        return _first_witness(json.dumps(lines[1:5]))
    stated = lines[5]["witness"]
    x, other = (tuple(map(exact, stated[side])) for side in ("x", "other"))
    with ctx.workprec(BITS):
        gone = [_missing(feature) for feature in lines[1]["space"]["features"]]
        scores = [score(lines[4]["model"]["body"], codes, gone) for codes in (x, other)]
        for ball, ends in zip(scores, stated["scores"], strict=True):
            lo, hi = (_ball(end) for end in ([ends, ends] if isinstance(ends, str) else ends))
            room = arb(0)
            if not isinstance(ends, str):  # an enclosure, beside which a checker may answer either way
                room = arb(2) ** -128 * (1 + abs(ball))
            if ball < lo - room or ball > hi + room:
                return "a score is not the stated one"
        sides = [compared(lines[4]["model"], lines[3]["property"], codes, gone) for codes in (x, other)]
        inside = all(
            _within(feature, c)
            for codes in (x, other)
            for feature, c in zip(lines[1]["space"]["features"], codes, strict=True)
        )
        if not inside or not _similar(lines[2], x, other, gone):
            return "not a pair"
        return None if _broken(lines[3]["property"], *sides, (x, other)) else "not a witness"


@functools.cache
def _first_witness(claim: str) -> str | None:
    """Many mutants make the same claim: whatever its proof is, it is true or not."""
    found = witnesses([None, *json.loads(claim)])
    return next((f"{x} and {other} are a witness" for x, other in found), None)


def compared(
    model: dict[str, Any], property: dict[str, Any], codes: Codes, gone: list[Fraction | None]
) -> list[arb]:
    """The numbers that the property compares, one for each class that counts, or just one."""
    head, kind = model["head"], property["kind"]
    if "classes" in head:
        assert kind != "decision", "classes are looked at by their scores and probabilities only"
        scores = [score(model["body"], codes, gone, c) for c in range(len(head["labels"]))]
        if kind == "probability" and head["link"] == "softmax":
            whole = sum((ball.exp() for ball in scores), arb(0))
            scores = [ball.exp() / whole for ball in scores]
        return scores if property["class"] is None else [scores[property["class"]]]
    found = score(model["body"], codes, gone)
    if kind == "probability":
        slope, offset = map(_ball, head["link"][1:]) if isinstance(head["link"], list) else (1, 0)
        return [1 / (1 + (-(slope * found + offset)).exp())]
    if kind == "prediction":
        return [found.exp()]
    return [-found if kind == "decision" and head["zero"] == "upper" else found]


def score(body: dict[str, Any], codes: Codes, gone: list[Fraction | None], of: int | None = None) -> arb:
    """The score, or that of one class, whose coefficients are entries of arrays."""

    def own(coefficient: Any) -> arb:
        return _ball(coefficient if of is None else coefficient[of])

    if body["kind"] == "trees":
        return sum((own(_leaf(tree, codes, gone)) for tree in body["trees"]), own(body["bias"]))
    if body["kind"] == "nested":
        scores = tuple(_exact_score(one, codes, gone) for one in body["inner"])
        return _outer(body["outer"], scores, own)
    columns = [_column(column, codes) for column in body["columns"]]
    if body["kind"] == "affine":
        weights = [own(column["weight"]) for column in body["columns"]]
        return sum((w * c for w, c in zip(weights, columns, strict=True)), own(body["bias"]))
    if body["kind"] == "network":
        for layer in body["layers"]:
            assert layer["activation"] == ["relu"], "other activations are not looked at"
            sums = [
                sum((_ball(w) * c for w, c in zip(row, columns, strict=True)), _ball(bias))
                for row, bias in zip(layer["weights"], layer["biases"], strict=True)
            ]
            columns = [ball.max(arb(0)) for ball in sums]
        return sum((own(w) * c for w, c in zip(body["weights"], columns, strict=True)), own(body["bias"]))
    if body["kind"] == "mixed":
        return _mixed(body, columns, own)
    if body["kind"] == "rbf":
        total, gamma = own(body["bias"]), _ball(body["gamma"])
        for coefficient, centre in body["terms"]:
            distance = sum(((c - _ball(s)) ** 2 for c, s in zip(columns, centre, strict=True)), arb(0))
            total += own(coefficient) * (-gamma * distance).exp()
        return total
    total = arb(0)
    for coefficient, factors in body["terms"]:
        product = own(coefficient)
        for c in factors:
            product *= columns[c]
        total += product
    return total


def _mixed(body: dict[str, Any], columns: list[arb], own: Callable[[Any], arb]) -> arb:
    """Bumps in sums of columns (section 23)."""
    sums = [
        sum((_ball(factor) * columns[c] for c, factor in entries), _ball(constant))
        for constant, entries in body["sums"]
    ]
    total, gamma = own(body["bias"]), _ball(body["gamma"])
    for coefficient, centre in body["terms"]:
        apart = [abs(z - _ball(s)) for z, s in zip(sums, centre, strict=True)]
        distance = sum((v * v if body["shape"] == "gaussian" else v for v in apart), arb(0))
        total += own(coefficient) * (-gamma * distance).exp()
    return total


def _outer(outer: dict[str, Any], scores: Codes, own: Callable[[Any], arb]) -> arb:
    """Trees over scores, or their weighted median (section 24)."""
    if outer["kind"] == "trees":
        numbers = [None] * len(scores)
        return sum((own(_leaf(tree, scores, numbers)) for tree in outer["trees"]), own(outer["bias"]))
    weights = [exact(weight) for weight in outer["weights"]]

    def below(one: Fraction) -> Fraction:
        return sum((w for w, other in zip(weights, scores, strict=True) if other <= one), Fraction(0))

    median = min(one for one in scores if 2 * below(one) >= sum(weights))
    return _number(exact(outer["offset"]) + exact(outer["slope"]) * median)


def _exact_score(body: dict[str, Any], codes: Codes, gone: list[Fraction | None]) -> Fraction:
    """A score that is compared with others or with tests: rational."""
    if body["kind"] == "trees":
        return exact(body["bias"]) + sum(exact(_leaf(tree, codes, gone)) for tree in body["trees"])
    values = [_exact_column(column, codes) for column in body["columns"]]
    if body["kind"] == "affine":
        weighted = zip(body["columns"], values, strict=True)
        return exact(body["bias"]) + sum(exact(column["weight"]) * value for column, value in weighted)
    assert body["kind"] == "polynomial", "networks inside are not looked at"
    products = (exact(weight) * math.prod(values[c] for c in of) for weight, of in body["terms"])
    return sum(products, Fraction(0))


def _exact_column(column: dict[str, Any], codes: Codes) -> Fraction:
    code = codes[column["feature"]]
    if "table" in column:
        return exact(column["table"][int(code)])
    if "cuts" in column:
        piece = column["pieces"][sum(exact(cut) < code for cut in column["cuts"])]
        return sum((exact(c) * code**i for i, c in enumerate(piece)), Fraction(0))
    return exact(column["offset"]) + exact(column["slope"]) * code


def _leaf(tree: list[Any], codes: Codes, gone: list[Fraction | None]) -> Any:
    """The value of the leaf that codes come to."""
    node = 0
    while isinstance(tree[node], list) and isinstance(tree[node][0], int):
        k, test, right, *missing = tree[node]
        if gone[k] is not None and codes[k] == gone[k]:
            left = missing == ["left"]
        else:
            left = codes[k] in test if isinstance(test, list) else codes[k] <= exact(test)
        node = node + 1 if left else right
    return tree[node]


def _tested(body: dict[str, Any], k: int, feature: dict[str, Any]) -> list[Fraction]:
    """Codes of a continuous feature at and beside every threshold of trees and every cut of columns, and that of a missing number."""
    found = [] if (gone := _missing(feature)) is None else [gone]
    if feature["kind"] == "continuous":
        tests = {
            node[1]
            for tree in body.get("trees", [])
            for node in tree
            if isinstance(node, list) and node[0] == k
        }
        columns = [column for column in body.get("columns", []) if column["feature"] == k]
        tests |= {cut for column in columns for cut in column.get("cuts", [])}
        near = [
            c for test in tests for c in (exact(test), Fraction(math.nextafter(float(exact(test)), math.inf)))
        ]
        found += [c for c in near if exact(feature["lo"]) <= c <= exact(feature["hi"])]
    return found


def _missing(feature: dict[str, Any]) -> Fraction | None:
    """The code of a missing number."""
    if not feature.get("missing"):
        return None
    hi = exact(feature["hi"])
    return hi + 1 if feature["kind"] == "integer" else Fraction(math.nextafter(float(hi), math.inf))


def _column(column: dict[str, Any], codes: Codes) -> arb:
    return _number(_exact_column(column, codes))


@functools.cache
def _ball(text: str) -> arb:
    return _number(exact(text))


def _number(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def _codes(feature: dict[str, Any]) -> list[Fraction]:
    if "levels" in feature:
        return [Fraction(i) for i in range(len(feature["levels"]))]
    lo, hi = exact(feature["lo"]), exact(feature["hi"])
    if feature["kind"] == "integer":
        return [Fraction(c) for c in range(int(lo), min(int(hi), int(lo) + 200) + 1)]
    return [lo + (hi - lo) * i / (PLACES - 1) for i in range(PLACES)]


def _within(feature: dict[str, Any], code: Fraction) -> bool:
    whole = feature["kind"] == "continuous" or code.denominator == 1
    lo, hi = (
        (0, len(feature["levels"]) - 1)
        if "levels" in feature
        else (exact(feature[end]) for end in ("lo", "hi"))
    )
    return whole and (lo <= code <= hi or code == _missing(feature))


def _satisfied(constraint: dict[str, Any], codes: Codes, features: list[dict[str, Any]]) -> bool:
    terms = (_term(weight, codes[k], features[k]) for k, weight in constraint["terms"])
    return sum(terms) <= exact(constraint["bound"])


def _term(weight: Any, code: Fraction, feature: dict[str, Any]) -> Fraction:
    if isinstance(weight, list):
        return exact(weight[int(code)])
    level = feature["levels"][int(code)] if "levels" in feature else None
    value = code if level is None else exact(level["number"]) if isinstance(level, dict) else int(level)
    return exact(weight) * value


def _similar(line: dict[str, Any], x: Codes, other: Codes, gone: list[Fraction | None]) -> bool:
    relations = line["similarity"]
    for relation, code, a, b in zip(relations, gone, x, other, strict=True):
        if relation["kind"] == "within" and code is not None and (a == code) != (b == code):
            return False
    for k, relation in enumerate(relations):
        if relation["kind"] == "along" and not _goes_along(relation, k, x, other):
            return False
    return all(map(_allowed, relations, x, other)) and (
        "distance" not in line or _are_near(line["distance"], x, other)
    )


def _allowed(relation: dict[str, Any], a: Fraction, b: Fraction) -> bool:
    if relation["kind"] == "within":
        return abs(a - b) <= exact(relation["tolerance"])
    if relation["kind"] == "between":
        return exact(relation["low"]) <= b - a <= exact(relation["high"])
    if relation["kind"] == "pairs":
        return a == b or [min(a, b), max(a, b)] in relation["allowed"]
    return relation["kind"] in ("free", "along") or a == b


def _goes_along(relation: dict[str, Any], k: int, x: Codes, other: Codes) -> bool:
    """Whether feature k differs as the one that it goes along with says (sections 22 and 26)."""
    rest = exact(relation.get("else", "0"))
    a, b = x[relation["with"]], other[relation["with"]]
    cases = relation.get("cases", [{"where": [], "bands": relation.get("bands", [])}])
    holding = (
        case for case in cases if all(any(lo <= x[c] <= hi for lo, hi in spans) for c, spans in case["where"])
    )
    case = next(holding, {})
    for i, there, allowed in case.get("tables", []):
        if (i, there) == (a, b):
            return [x[k], other[k]] in allowed
    for *step, least, most in case.get("bands", []):
        if step in ([a, b], [b - a]):
            return exact(least) <= other[k] - x[k] <= exact(most)
    return abs(other[k] - x[k]) <= rest


def _are_near(given: dict[str, Any], x: Codes, other: Codes) -> bool:
    """Whether two individuals keep a distance (section 19)."""
    costs, squares = _costs(given, x, other)
    return sum((cost ** given["power"] for cost in costs), squares) <= exact(given["bound"])


def _apart(given: dict[str, Any], x: Codes, other: Codes) -> arb:
    """How far two individuals are apart (section 21)."""
    costs, squares = _costs(given, x, other)
    if given["norm"] == 2:
        return _number(sum((cost**2 for cost in costs), squares)).sqrt()
    return _number(sum(costs, Fraction(0)) if given["norm"] == 1 else max(costs))


def _costs(given: dict[str, Any], x: Codes, other: Codes) -> tuple[list[Fraction], Fraction]:
    """The costs of all terms, and the sum of the squares of the forms."""
    costs, squares = [], Fraction(0)
    for term in given["terms"]:
        a, b = x[term["feature"]], other[term["feature"]]
        if "each" in term:
            cost = exact(term["each"]) * abs(a - b)
        elif a == b:
            cost = Fraction(0)
        else:
            table = term.get("table")
            cost = exact(table[int(max(a, b)) - 1][int(min(a, b))] if table else term["unequal"])
        costs.append(cost)
    for weight, entries in given["forms"]:
        z = Fraction(0)
        for k, alpha in entries:
            here, there = (
                exact(alpha[int(codes[k])]) if isinstance(alpha, list) else exact(alpha) * codes[k]
                for codes in (x, other)
            )
            z += there - here
        squares += exact(weight) * z * z
    return costs, squares


def _broken(property: dict[str, Any], first: list[arb], second: list[arb], pair: tuple[Codes, Codes]) -> bool:
    if property["kind"] == "decision":
        margin = _ball(property["margin"])
        return bool(first[0] > margin) and bool(second[0] <= -margin)
    delta = _ball(property["delta"])
    if property["kind"] == "lipschitz":
        delta += _ball(property["constant"]) * _apart(property["distance"], *pair)
    return any(bool(one - two > delta) for one, two in zip(first, second, strict=True))
