"""Links with a slope, pairs of levels and arrays in constraints, in the rules of all bodies.

A model with the link ["logistic", slope, offset] is one with the score slope f + offset and the plain link: every bound must be the same.
"""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.check import kernels, polynomials
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    line,
    number,
    pairs,
    pieces,
    probability,
    proof,
    score,
    table,
    witness,
)
from tests.check.kernels import hint_count, lemma_of, random_kernel, rbf, seeds, sloped, tabled
from tests.check.polynomials import Slow, polynomial, random_curve, some_pairs
from tests.check.test_sos import NEAR, axis_values, excess_at, random_leaf, rule_of

from likewise_check.packs.kernel.rule import Kernel
from likewise_check.packs.polynomial.squares import Squares


def link_of(rng) -> tuple[Fraction, Fraction]:
    return Fraction(rng.choice([-5, -1, 1, 2, 7]), rng.choice([1, 3, 4])), Fraction(rng.randint(-5, 5), 3)


# --- links -----------------------------------------------------------------------------------------


@seeds(20, 40)
def test_kernel_leaves_see_the_link(seed):
    rng = random.Random(seed)
    kernel = random_kernel(rng, [*rng.choices("cithl", k=3), "H", rng.choice("CI")], 8)
    cell = kernels.random_cell(rng, kernel, width=0.1)
    slope, offset = link_of(rng)
    leaf = ["kernel", "1/3", [rng.randint(-64, 64) for _ in range(hint_count(kernel, cell))], 5]
    scaled = replace(
        kernel,
        bias=slope * kernel.bias + offset,
        terms=[(slope * Fraction(weight), centre) for weight, centre in kernel.terms],
    )
    linked = kernel.model(link=["logistic", number(slope), number(offset)])
    found = [
        Kernel(lemma_of(kernel.features, kernel.relations, probability("1/5"), model)).bound(
            leaf, kernels.boxes(cell)
        )
        for model in (linked, scaled.model())
    ]
    assert found[0] == found[1]


@seeds(25, 60)
def test_polynomial_leaves_see_the_link(seed):
    rng = random.Random(seed)
    sorts = [(rng.choice("ciith"), rng.choice("sswf")) for _ in range(3)]
    curve = random_curve(rng, sorts, 3, constrained=True)
    cell = polynomials.random_cell(rng, curve)
    slope, offset = link_of(rng)
    prop = probability("1/5")
    leaf = random_leaf(rng, Slow(curve, cell), prop, Fraction(1, 3))
    terms = {product: slope * weight for weight, product in curve.terms}
    terms[()] = terms.get((), 0) + offset
    scaled = replace(curve, terms=[(weight, product) for product, weight in terms.items()])
    linked = curve.model(link=["logistic", number(slope), number(offset)])
    found = []
    for model in (linked, scaled.model()):
        lemma = lemma_of(curve.features, curve.relations, prop, model, curve.constraints)
        found.append(rule_of(lemma, leaf).bound(leaf, polynomials.boxes(curve, cell)))
    assert found[0] == found[1]


SEX = categorical("sex", ["f", "m"])


@pytest.mark.parametrize("link", [["logistic", "2", "-1"], ["logistic", "-2", "1"]])
def test_witnesses_and_enumeration_see_the_link(link):
    """f is 0 or 1; g is -1 or 1: sigma(1) - sigma(-1) = 0.462..., while sigma(1) - sigma(0) = 0.231..."""
    bodies = [
        affine(0, [table(0, 1, [0, 1])], link=link),
        polynomial([tabled(0, [0, 1])], [(1, [0])], link=link),
        rbf(1, 1, [tabled(0, [0, 1])], [(1, [0]), (-1, [1]), ("-1", [0]), (0, [5])], link=link),
    ]
    for model in bodies[:2]:
        x, other = ([1], [0]) if link[1] == "2" else ([0], [1])
        for delta, broken in (("46/100", True), ("47/100", False)):
            values = witness([SEX], [FREE], probability(delta), model, x, other, [*x, *other])
            assert checked(values).accepted == broken
            nodes = [["enumerated"]]
            assert checked(proof([SEX], [FREE], probability(delta), model, nodes)).accepted != broken
        # A link is looked at by probabilities only.
        assert checked(proof([SEX], [FREE], score(1), model, [["enumerated"]])).accepted
    near = rbf("1/1000", 0, [tabled(0, [0, 1])], [(1000, [0]), (-999, [0])], link=link)
    assert checked(proof([SEX], [FREE], probability("1/100"), near, [["enumerated"]])).accepted
    steep = {**near, "head": {**near["head"], "link": ["logistic", "1000", "-1000"]}}
    assert not checked(proof([SEX], [FREE], probability("1/100"), steep, [["enumerated"]])).accepted


# --- pairs -----------------------------------------------------------------------------------------


def test_pairs_of_levels_in_separable_leaves():
    feature = categorical("c", list("abcd"))
    model = affine(0, [table(0, 1, [0, 1, 5, 9])])
    relation = pairs([0, 1], [2, 3])
    leaf = ["separable", "1/2"]
    for delta, holds in ((4, True), ("39/10", False)):
        assert checked(proof([feature], [relation], score(delta), model, [leaf])).accepted == holds
    split = [["split", 0, "1"], ["split", 1, "1"], leaf, ["empty", []], ["split", 1, "1"], leaf, leaf]
    assert checked(proof([feature], [relation], score(4), model, split)).accepted
    split[3] = ["independent"]
    assert not checked(proof([feature], [relation], score(4), model, split)).accepted
    assert checked(proof([feature], [pairs()], score(0), model, [leaf])).accepted
    assert not checked(proof([feature], [pairs([0, 3])], score(8), model, [leaf])).accepted
    assert not checked(proof([feature], [pairs([0, 1])], score(1), model, [["independent"]])).accepted


@pytest.mark.parametrize(
    ("x", "other", "similar"), [(0, 1, True), (1, 0, True), (0, 2, False), (2, 1, False), (2, 3, True)]
)
def test_pairs_of_levels_in_witnesses(x, other, similar):
    feature = categorical("c", list("abcd"))
    scores = [0, 1, 5, 9]
    sign = 1 if scores[x] > scores[other] else -1
    model = affine(0, [table(0, sign, scores)])
    values = witness(
        [feature],
        [pairs([0, 1], [2, 3])],
        score(0),
        model,
        [x],
        [other],
        [sign * scores[x], sign * scores[other]],
    )
    report = checked(values)
    assert report.accepted == similar
    assert similar or "not similar" in report.reason


@seeds(12, 20)
def test_kernel_leaves_see_pairs(seed):
    """All pairs allowed is free; what is not allowed cannot be in the cell."""
    rng = random.Random(seed)
    kernel = random_kernel(rng, ["c", "i", "H", "C"], 6)
    cell = kernels.random_cell(rng, kernel, width=0.1)
    k = 2
    levels = len(kernel.features[k]["levels"])
    (x, _), (other, _) = cell[k]
    every = [(i, j) for i in range(levels) for j in range(i + 1, levels)]
    rest = [pair for pair in every if pair != (min(x, other), max(x, other))]
    leaf = ["kernel", "1/3", [0] * hint_count(kernel, cell), 5]

    def bound(relation):
        relations = [*kernel.relations[:k], relation, *kernel.relations[k + 1 :]]
        lemma = lemma_of(kernel.features, relations, probability("1/5"), kernel.model())
        rule = Kernel(lemma)
        return rule.bound(leaf, kernels.boxes(cell))

    assert bound(pairs(*every)) == bound(FREE) is not None
    assert (bound(pairs(*rest)) is None) == (x != other)


@seeds(30, 60)
def test_polynomial_leaves_see_pairs(seed):
    rng = random.Random(seed)
    sorts = [(rng.choice("thl"), "p"), (rng.choice("thl"), rng.choice("pw")), (rng.choice("ci"), "s")]
    curve = random_curve(rng, sorts, 3, constrained=True)
    cell = polynomials.random_cell(rng, curve)
    if seed % 3 == 0:
        cell[0] = [(lo, lo) for lo, _ in cell[0]]
    slow, prop = Slow(curve, cell), decision(Fraction(1, 3))
    lemma = lemma_of(curve.features, curve.relations, prop, curve.model(), curve.constraints)
    leaf = random_leaf(rng, slow, prop, Fraction(3, 8))
    answer = rule_of(lemma, leaf).bound(leaf, polynomials.boxes(curve, cell))
    found = list(polynomials.pairs(rng, curve, cell, 25))
    assert (answer is None) == slow.empty
    if answer is None:
        assert not found
        return
    for x, other in found:
        y = axis_values(curve, cell, x, other)
        assert excess_at(prop, leaf[1], curve.score(x), curve.score(other), y) <= answer[1] + NEAR


def test_the_samples_of_pairs_have_both():
    rng = random.Random(1)
    sizes = {len(some_pairs(rng, 3)["allowed"]) for _ in range(50)}
    assert sizes == {0, 1, 2, 3}


# --- arrays ----------------------------------------------------------------------------------------


def test_an_implication_by_arrays():
    """If housing is own then job is not none: the score's one large difference needs own and none."""
    features = [categorical("housing", ["own", None, "rent"]), categorical("job", ["none", "some"]), SEX]
    limits = [constraint([(0, [1, 0, 0]), (1, [1, 0])], 1, text="own: not none")]
    columns = [table(0, 1, [4, 0, 0]), table(1, 1, [4, 0]), table(2, 1, [0, 1])]
    model = affine(-6, columns)
    relations = [SAME, SAME, FREE]
    # Without the constraint own and none has the scores 2 and 3, all others at most -1.
    for nodes in ([["enumerated"]], [["separable", "1", ["4", "0"]]]):
        assert checked(proof(features, relations, decision(0), model, nodes, constraints=limits)).accepted
        assert not checked(
            proof(features, relations, decision(-2), model, nodes, constraints=limits)
        ).accepted
    assert not checked(proof(features, relations, decision("-5/2"), model, [["enumerated"]])).accepted
    pair = witness(features, relations, decision("-5/2"), model, [0, 0, 1], [0, 0, 0], [3, 2])
    assert checked(pair).accepted
    pair[1]["space"]["constraints"] = limits
    assert "valid individual" in checked(pair).reason


def test_an_array_is_a_factor_where_its_level_is_fixed():
    features = [categorical("c", ["a", "b"]), continuous("n", 0, 4)]
    limits = [constraint([(0, ["1/2", 3]), (1, 1)], 4)]
    model = polynomial([sloped(1)], [(1, [0])])
    lemma = lemma_of(features, [SAME, SAME], decision(0), model, limits)
    from likewise_check.core.cells import make_box

    leaf = ["sos", "1", 0, [[[[-1, 0]], 1, []]]]  # x + (4 - c - x) is 4 - c
    for code, expected in ((0, Fraction(7, 2)), (1, Fraction(1))):
        _, bound = Squares(lemma).bound(leaf, [make_box((code, code)), make_box((0, 4))])
        assert bound == expected


def test_many_constraints_share_the_values_of_levels():
    features = [integer("n", 0, 2), categorical("c", [True, {"number": "1/3"}])]
    limits = [constraint([(0, 1), (1, 3)], 4), constraint([(1, 6)], 6), constraint([(1, ["1/5", 0])], 1)]
    model = affine(0, [line(0, 1), pieces(0, 1, [1], [[0], [0, 0, 1]])])
    values = proof(
        features, [FREE, SAME], score(6), model, [["separable", "1/2", ["0"] * 6]], constraints=limits
    )
    assert checked(values).accepted
    values[5] = ["enumerated"]
    assert checked(values).accepted
