"""Tree ensembles for tests: builders, random claims, and the B of section 9 leaf pair by leaf pair, word by word from the specification."""

import random
from fractions import Fraction
from math import inf, nextafter

from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    constraint,
    continuous,
    decision,
    integer,
    number,
    ordinal,
    pairs,
    probability,
    score,
    within,
)
from tests.check.truth import value


def trees(bias, found, *, labels=("no", "yes"), zero="lower", link="logistic", rounding=None) -> dict:
    return {
        "family": "test",
        "body": {
            "kind": "trees",
            "bias": number(bias),
            "trees": [[n if isinstance(n, list) else number(n) for n in t] for t in found],
        },
        "head": {"labels": None if labels is None else list(labels), "zero": zero, "link": link},
        "rounding": rounding,
    }


def rounding(constant, operations, bits=53) -> dict:
    return {"constant": number(constant), "operations": operations, "bits": bits}


def missing(feature: dict) -> dict:
    return {**feature, "missing": True}


def code_of_missing(feature: dict) -> Fraction | None:
    if not feature.get("missing"):
        return None
    hi = value(feature["hi"])
    return hi + 1 if feature["kind"] == "integer" else Fraction(nextafter(float(hi), inf))


def leaves(tree: list) -> list[tuple[int, list]]:
    """The leaves, each with the tests above it: node and whether it went left."""
    found = []

    def walk(i, above):
        node = tree[i]
        if isinstance(node, list):
            walk(i + 1, [*above, (node, True)])
            walk(node[2], [*above, (node, False)])
        else:
            found.append((i, above))

    walk(0, [])
    return found


def left_of(feature: dict, k: int, above: list, interval) -> tuple[list, tuple | None]:
    """Discrete codes (missing included), or the missing code alone and (low, open, high) for continuous ones."""
    gone = code_of_missing(feature)
    lo, hi = interval
    tests = [(node, left) for node, left in above if node[0] == k]

    def goes(code):
        for node, left in tests:
            if code == gone:
                at = node[3] == "left"
            else:
                at = code in node[1] if "levels" in feature else code <= value(node[1])
            if at != left:
                return False
        return True

    if feature["kind"] != "continuous":
        return [c for c in range(int(lo), int(hi) + 1) if goes(Fraction(c))], None
    codes = [gone] if gone is not None and hi >= gone and goes(gone) else []
    low, opened, high = lo, False, min(hi, value(feature["hi"]))
    for node, left in tests:
        test = value(node[1])
        if left:
            high = min(high, test)
        elif test >= low:
            low, opened = test, True
    return codes, (low, opened, high) if low < high or (low == high and not opened) else None


def possible(feature: dict, k: int, relation: dict, first: list, second: list, intervals) -> bool:
    gone = code_of_missing(feature)
    codes, interval = left_of(feature, k, first, intervals[0])
    others, other = left_of(feature, k, second, intervals[-1])
    kind = relation["kind"]

    def related(c, d):
        if kind == "free":
            return True
        if kind == "pairs":
            return c == d or sorted((c, d)) in relation["allowed"]
        if kind == "within":
            return (c == gone) == (d == gone) and abs(c - d) <= value(relation["tolerance"])
        if kind == "between":
            return value(relation["low"]) <= d - c <= value(relation["high"])
        return c == d

    if any(related(c, d) for c in codes for d in others):
        return True
    if kind == "free":
        return bool(codes or interval) and bool(others or other)
    if not interval or not other:
        return False
    if kind == "within":
        tolerance = value(relation["tolerance"])
        return other[0] - interval[2] <= tolerance and interval[0] - other[2] <= tolerance
    if kind == "between":
        (one, lopen, r), (m, mopen, s) = interval, other
        low, high = value(relation["low"]), value(relation["high"])
        return (s - one > low or (s - one == low and not lopen)) and (
            m - r < high or (m - r == high and not mopen)
        )
    low, opened = max(interval[:2], other[:2])
    high = min(interval[2], other[2])
    return low < high or (low == high and not opened)


def bound(claim: dict, cell: list, a, b, sign=1, shift=0, second=None, groups=()) -> Fraction | None:
    """B in a cell, which has the intervals of each feature; `second` is another body on the same trees for G."""
    body = claim["model"]["body"]
    total = a * (sign * value(body["bias"]) + shift) - b * (sign * value((second or body)["bias"]) + shift)
    kinds = list(enumerate(zip(claim["features"], claim["relations"], strict=True)))
    alone = [(t,) for t in range(len(body["trees"])) if not any(t in group for group in groups)]
    for group in [*alone, *groups]:
        sums = [(Fraction(0), [], [])]  # of leaves that are together possible, and the tests above them
        for t in group:
            tree = body["trees"][t]
            sums = [
                (
                    known + sign * (a * value(tree[i]) - b * value((second or body)["trees"][t][j])),
                    above,
                    below,
                )
                for known, before, after in sums
                for i, first in leaves(tree)
                for j, other in leaves(tree)
                for above, below in [(before + first, after + other)]
                if all(possible(f, k, r, above, below, cell[k]) for k, (f, r) in kinds)
            ]
        if not sums:
            return None
        total += max(known for known, _, _ in sums)
    return total


# --- random claims ---------------------------------------------------------------------------------

POINTS = ["0", "1/2", "1", "3/2", "0x1.0000000000001p+0", "2", "0x1.fffffffffffffp-1", "1/3", "5/2"]


def random_feature(chance: random.Random, k: int, real: bool) -> dict:
    kind = chance.choice(["integer", "categorical", "ordinal", *["continuous"] * (2 * real)])
    if kind in ("continuous", "integer"):
        hi = chance.choice([1, 2, 2] if kind == "continuous" else [1, 2, 3])
        found = (continuous if kind == "continuous" else integer)(f"f{k}", 0, hi)
        return missing(found) if chance.random() < 0.5 else found
    levels = ["a", "b", "c", "d"][: chance.choice([1, 2, 3, 4])]
    return (categorical if kind == "categorical" else ordinal)(f"f{k}", levels)


def random_relation(chance: random.Random, feature: dict) -> dict:
    options = [SAME, FREE]
    if feature["kind"] == "continuous":
        options += [within(chance.choice(["1/4", "1/2", "1"]))] * 2
    elif feature["kind"] != "categorical":
        options += [within(chance.choice([1, 2]))] * 2
    if "levels" in feature:
        every = [(i, j) for i in range(len(feature["levels"])) for j in range(i + 1, len(feature["levels"]))]
        options.append(pairs(*sorted(chance.sample(every, chance.randint(0, len(every))))))
    return chance.choice(options)


def random_tree(chance: random.Random, features: list, depth: int) -> list:
    nodes: list = []

    def grow(left):
        if not left or chance.random() < 0.15:
            nodes.append(f"{chance.randint(-6, 6)}/4")
            return
        k = chance.randrange(len(features))
        feature, place = features[k], len(nodes)
        nodes.append(None)
        if "levels" in feature:
            count = len(feature["levels"])
            test = sorted(chance.sample(range(count), chance.randint(0, count)))
        else:
            test = chance.choice(POINTS)
        grow(left - 1)
        right = len(nodes)
        grow(left - 1)
        side = [chance.choice(["left", "right"])] if feature.get("missing") else []
        nodes[place] = [k, test, right, *side]

    grow(depth)
    return nodes


def random_claim(chance: random.Random, *, real=True, count=3, depth=3) -> dict:
    """The arguments of `proof` but for the nodes."""
    features = [random_feature(chance, k, real) for k in range(chance.randint(1, 3))]
    relations = [random_relation(chance, feature) for feature in features]
    prop = chance.choice(
        [
            decision(chance.choice([0, 0, "1/2", 2, "-1/2"])),
            score(chance.choice([0, 1, 2, 4])),
            probability(chance.choice([0, "1/4", "1/2", "3/4"])),
        ]
    )
    link = chance.choice(["logistic", ["logistic", "-1/2", "1/4"], ["logistic", "3", "0"]])
    model = trees(
        chance.choice(["0", "1/3", "-2"]),
        [random_tree(chance, features, chance.randint(0, depth)) for _ in range(chance.randint(1, count))],
        zero=chance.choice(["lower", "upper"]),
        link=link,
    )
    limits = []
    named = [k for k, f in enumerate(features) if not f.get("missing")]
    if named and chance.random() < 0.3:
        k = chance.choice(named)
        weights = [chance.choice(["0", "1"]) for _ in features[k].get("levels", [])] or "1"
        limits.append(constraint([(k, weights)], chance.choice(["0", "1", "3/2"])))
    return {"features": features, "relations": relations, "prop": prop, "model": model, "constraints": limits}


def root(claim: dict) -> list[list]:
    """The intervals of each feature's codes in the root cell."""
    cell = []
    for feature, relation in zip(claim["features"], claim["relations"], strict=True):
        if "levels" in feature:
            ends = Fraction(0), Fraction(len(feature["levels"]) - 1)
        else:
            ends = value(feature["lo"]), code_of_missing(feature) or value(feature["hi"])
        cell.append([ends] * (1 if relation["kind"] == "same" else 2))
    return cell


def random_way(chance: random.Random, claim: dict) -> str:
    prop = claim["prop"]
    if prop["kind"] == "decision":
        return chance.choice(["0", "1", "1/2", "1/3", "7/8"])
    if prop["kind"] == "score" or prop["delta"] == "0":
        return "1/2"
    return number((1 - value(prop["delta"])) * chance.choice([Fraction(1, 2), Fraction(1, 5)]))


def random_proof(chance: random.Random, claim: dict, depth=4, leaf=None) -> tuple[list, list]:
    """Nodes, and the cells of the leaves."""
    nodes: list = []
    cells: list = []

    def grow(cell, left):
        sides = [(k, s) for k, both in enumerate(cell) for s, (lo, hi) in enumerate(both) if lo < hi]
        if not left or not sides or chance.random() < 0.25:
            nodes.append(leaf(cell) if leaf else ["trees", random_way(chance, claim)])
            cells.append(cell)
            return None
        k, s = chance.choice(sides)
        lo, hi = cell[k][s]
        v = sum(map(len, cell[:k])) + s
        if claim["features"][k]["kind"] != "continuous":
            at = chance.randint(int(lo), int(hi) - 1)
            after = at + 1
            nodes.append(["split", v, str(at)])
        else:
            at = chance.choice([p for p in map(value, POINTS) if lo < p < hi] or [(lo + hi) / 2])
            after = Fraction(nextafter(float(at), inf))
            if Fraction(float(at)) == at and lo <= at and after <= hi and chance.random() < 0.7:
                nodes.append(["split", v, float(at).hex(), float(after).hex()])
            elif lo < at < hi:
                after = at
                nodes.append(["split", v, number(at)])
            else:
                return grow(cell, 0)
        for ends in ((lo, Fraction(at)), (Fraction(after), hi)):
            both = [ends if side == s else old for side, old in enumerate(cell[k])]
            grow([*cell[:k], both, *cell[k + 1 :]], left - 1)

    grow(root(claim), depth)
    return nodes, cells
