"""Mutants of certificates about pairs within a distance: what the checker accepts is true, looking at every pair of what it then says."""

import io
import json
from fractions import Fraction
from itertools import product

import pytest
from tests.certificate.kinds import run
from tests.certificate.mutants import mutants, packed, sealed

from likewise.spec.numbers import parse_number
from likewise_check import check

COUNT = 400


def codes_of(feature) -> range:
    if "levels" in feature:
        return range(len(feature["levels"]))
    return range(int(parse_number(feature["lo"])), int(parse_number(feature["hi"])) + 1)


def score(lines, x) -> Fraction:
    body = lines[4]["model"]["body"]
    total = parse_number(body["bias"])
    for column in body["columns"]:
        code = x[column["feature"]]
        value = (
            parse_number(column["table"][code])
            if "table" in column
            else parse_number(column["offset"]) + parse_number(column["slope"]) * code
        )
        total += parse_number(column["weight"]) * value
    return total


def allowed(relation, u, v) -> bool:
    if relation["kind"] == "within":
        return abs(u - v) <= parse_number(relation["tolerance"])
    if relation["kind"] == "between":
        return parse_number(relation["low"]) <= v - u <= parse_number(relation["high"])
    if relation["kind"] == "pairs":
        return u == v or [min(u, v), max(u, v)] in relation["allowed"]
    return relation["kind"] == "free" or u == v


def distance(given, x, other) -> Fraction:
    total = Fraction(0)
    for term in given["terms"]:
        u, v = x[term["feature"]], other[term["feature"]]
        if "each" in term:
            cost = parse_number(term["each"]) * abs(u - v)
        elif u == v:
            cost = Fraction(0)
        else:
            named = term["unequal"] if "unequal" in term else term["table"][max(u, v) - 1][min(u, v)]
            cost = parse_number(named)
        total += cost ** given["power"]
    assert not given["forms"]
    return total


def near(lines, x, other) -> bool:
    if "distance" not in lines[2]:
        return True
    return distance(lines[2]["distance"], x, other) <= parse_number(lines[2]["distance"]["bound"])


def is_true(lines) -> bool:
    """Whether a certificate about whole codes and a gap of scores says what is so."""
    about, delta = lines[1]["space"], parse_number(lines[3]["property"]["delta"])
    everybody = list(product(*map(codes_of, about["features"])))
    scores = {x: score(lines, x) for x in everybody}

    def breaks(x, other) -> bool:
        if scores[x] - scores[other] <= delta:
            return False
        return all(map(allowed, lines[2]["similarity"], x, other)) and near(lines, x, other)

    if lines[0]["kind"] == "witness":
        pair = [tuple(int(parse_number(c)) for c in lines[5]["witness"][who]) for who in ("x", "other")]
        return breaks(*pair)
    return not any(breaks(x, other) for x, other in product(everybody, repeat=2))


@pytest.mark.parametrize("name", ["distance-sum", "distance-squares", "witness-distance"])
def test_mutants_are_refused_or_true(name):
    original = run(name).lines
    assert "distance" in original[2]
    assert is_true(original)
    tried = kept = 0
    for said, lines in mutants(original, COUNT):
        content = sealed(lines)
        tried += 1
        if check(io.BytesIO(packed(content))).accepted:
            changed = [json.loads(line) for line in content.splitlines()]
            kept += 1
            assert is_true(changed), said
    assert kept < tried / 2
    assert kept
