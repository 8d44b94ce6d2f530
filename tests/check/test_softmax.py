"""Probabilities by softmax (section 10): the rule's bound is above every pair and near the best there is, and accepted proofs are true."""

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from tests.check.builder import SAME, checked, number, proof
from tests.check.kernels import boxes, claim_of, decimal, seeds
from tests.check.several import Truth, asked, classes, numbers, random_body, random_space, random_trees
from tests.check.test_classes import with_nodes

from likewise_check.packs.classes.cases import ClassCase
from likewise_check.packs.classes.softmax import Softmax

DIGITS = 60
TINY = Decimal(10) ** -50  # what the decimals themselves may be off by


def gaps(scores, c: int) -> list[Fraction]:
    return [f - scores[c] for k, f in enumerate(scores) if k != c]


def z(scores, c: int) -> Decimal:
    return -sum((decimal(d).exp() for d in gaps(scores, c)), Decimal(0)).ln()


def share(scores, c: int) -> Decimal:
    return 1 / (1 + (-z(scores, c)).exp())


def nearly(value: Decimal) -> Fraction:
    return Fraction(round(value * 2**40), 2**40)


def mean(values) -> list[Fraction]:
    """Nearly proportional to the values, with sum 1."""
    total = sum(values)
    rounded = [nearly(v / total) for v in values[1:]]
    return [1 - sum(rounded), *rounded]


class Truthful(Truth):
    """The same with probabilities."""

    def parted(self, x, other, c):
        with localcontext() as context:
            context.prec = DIGITS
            return share(self.scores(x), c) - share(self.scores(other), c) > decimal(self.bound)


def apt(scores, other, c: int, delta: Fraction) -> list:
    """The leaf that is best for one pair of scores: everything is a tangent there."""
    p = min(max(nearly(share(other, c)), Fraction(1, 2**30)), 1 - delta - Fraction(1, 2**30))
    w = mean([decimal(d).exp() for d in gaps(scores, c)])
    d = gaps(other, c)
    steps = []
    for r in range(1, len(d)):
        powers = [decimal(e).exp() for e in d[:r]]
        s = decimal(d[r]).exp() / (sum(powers) + decimal(d[r]).exp())
        steps.append([number(nearly(s)), numbers(mean(powers))])
    return ["softmax", number(p), numbers(w), steps]


def rough(rng, m: int, delta: Fraction) -> list:
    """Any leaf that is well formed."""

    def some(r):
        shares = [rng.randint(0, 3) for _ in range(r)]
        shares[rng.randrange(r)] += 1
        return numbers(Fraction(n, sum(shares)) for n in shares)

    p = (1 - delta) * Fraction(rng.randint(1, 15), 16)
    steps = [[number(Fraction(rng.randint(0, 8), 8)), some(r)] for r in range(1, m)]
    return ["softmax", number(p), some(m), steps]


def drawn(seed: int, count: int, delta: Fraction, of=None, size=2, trees=False):
    rng = random.Random(f"{seed} {count}")
    features, relations, limits = random_space(rng, constrained=not trees and rng.random() < 0.5)
    body = random_trees(rng, features, count) if trees else random_body(rng, features, count, size=size)
    model = classes(body, range(count), "argmax", "softmax")
    values = proof(features, relations, asked("probability", delta, of), model, [], constraints=limits)
    return rng, values


def rule(values, c: int) -> Softmax:
    space, similarity, prop, model = (values[n] for n in range(1, 5))
    claim = claim_of(
        space["space"]["features"],
        similarity["similarity"],
        prop["property"],
        model["model"],
        space["space"]["constraints"],
    )
    case = ClassCase(of=claim.model.head.classes, i=c, j=c)
    return Softmax(case.task(claim, ["softmax"]).lemma())


def by_feature(truth: Truth, cell) -> list:
    left = list(cell)
    return [[left.pop(0) for _ in range(1 if relation == SAME else 2)] for relation in truth.relations]


def boxed(truth: Truth, cell) -> list:
    """The checker's cell; differences have no say in this rule."""
    return boxes(by_feature(truth, cell))


@pytest.mark.some_days
@pytest.mark.parametrize("trees", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4])
@seeds(3, 80)
def test_the_bound_is_above_every_pair(seed, count, trees) -> None:
    delta = random.Random(seed).choice([Fraction(0), Fraction(1, 10), Fraction(1, 2)])
    rng, values = drawn(seed, count, delta, trees=trees)
    truth = Truthful(values)
    with localcontext() as context:
        context.prec = DIGITS
        for c in range(count):
            asked_rule, cell, pairs = rule(values, c), truth.variables(), list(truth.pairs())
            for _ in range(2):
                leaf = rough(rng, count - 1, delta)
                if truth.constraints and rng.random() < 0.5:
                    leaf.append(numbers(rng.randint(0, 2) for _ in range(2 * len(truth.constraints))))
                bound, threshold = asked_rule.bound(leaf, boxed(truth, cell))
                p = Fraction(leaf[1])
                q = p + delta
                a, b = (decimal(r * (1 - r)) for r in (q, p))
                tangent = a * decimal(q / (1 - q)).ln() - b * decimal(p / (1 - p)).ln()
                assert abs(decimal(threshold) - tangent) < Decimal(10) ** -30
                known = {x: z(truth.scores(x), c) for pair in pairs for x in pair}
                assert all(a * known[x] - b * known[y] <= decimal(bound) + TINY for x, y in pairs)


@pytest.mark.parametrize("count", [2, 3, 5])
@seeds(3, 40)
def test_the_bound_is_nearly_exact_for_one_pair(seed, count) -> None:
    rng, values = drawn(seed, count, Fraction(1, 8), trees=seed % 2 == 1)
    truth = Truthful(values)
    with localcontext() as context:
        context.prec = DIGITS
        for x, other in rng.sample(list(truth.points()), 5):
            c = rng.randrange(count)
            leaf = apt(truth.scores(x), truth.scores(other), c, Fraction(1, 8))
            cell = [
                [(a, a)] if relation == SAME else [(a, a), (b, b)]
                for relation, a, b in zip(truth.relations, x, other, strict=True)
            ]
            bound, _ = rule(values, c).bound(leaf, boxes(cell))
            p = Fraction(leaf[1])
            a, b = (p + Fraction(1, 8)) * (1 - p - Fraction(1, 8)), p * (1 - p)
            true = decimal(a) * z(truth.scores(x), c) - decimal(b) * z(truth.scores(other), c)
            assert true - TINY <= decimal(bound) <= true + Decimal(2) ** -30


def grown(truth: Truthful, c: int, cell) -> list:
    """Splits down to single points, each with its own leaf."""
    moving = [v for v, (lo, hi) in enumerate(cell) if lo < hi]
    if not moving:
        x, other = ([ends[side][0] for ends in by_feature(truth, cell)] for side in (0, -1))
        return [apt(truth.scores(tuple(x)), truth.scores(tuple(other)), c, truth.bound)]
    v = moving[0]
    lo, hi = cell[v]
    parts = [[*cell[:v], ends, *cell[v + 1 :]] for ends in ((lo, lo), (lo + 1, hi))]
    return [
        ["split", v, number(lo)],
        *grown(truth, c, parts[0]),
        *grown(truth, c, parts[1]),
    ]


@seeds(2, 30)
def test_proofs_agree_with_all_pairs(seed) -> None:
    """Just above the largest difference there is a proof, just below it there is none; enumeration knows both."""
    count = 3 + seed % 2
    rng, values = drawn(seed, count, Fraction(0), of=seed % count, size=1, trees=seed % 3 == 1)
    truth = Truthful(values)
    c = seed % count
    with localcontext() as context:
        context.prec = DIGITS
        pairs = list(truth.pairs())
        largest = max(share(truth.scores(x), c) - share(truth.scores(y), c) for x, y in pairs)
        for slack in (Fraction(1, 10**6), -Fraction(1, 10**6)):
            delta = nearly(largest) + slack
            if not 0 < delta < 1:
                continue
            values[3]["property"] = asked("probability", delta, rng.choice([None, c]) if slack < 0 else c)
            truth = Truthful(values)
            cases = len(truth.cases())
            nodes = [["cases"], *grown(truth, c, truth.variables())]
            if cases == 1:
                # Constraints are not looked at by single points: without them the proof is complete.
                assert not checked(with_nodes(values, nodes)).accepted or slack > 0
                if len(pairs) == len(list(truth.points())):
                    assert checked(with_nodes(values, nodes)).accepted == (slack > 0)
            looked = with_nodes(values, [["cases"], *[["enumerated"]] * cases])
            assert checked(looked).accepted == (truth.witness() is None)
            assert (truth.witness() is None) == (slack > 0) or cases > 1
