"""Leaves of cases of kernel and polynomial models with classes: their bounds are those of sections 7 and 8, read with two bodies."""

from dataclasses import replace
from decimal import localcontext
from fractions import Fraction

import pytest
from tests.check import test_kernel, test_sos, test_two_copies
from tests.check.builder import FREE, SAME, categorical, checked, decision, integer, number, proof
from tests.check.kernels import boxes, claim_of, decimal, dyadic, seeds, sloped, tabled
from tests.check.polynomials import Slow
from tests.check.polynomials import boxes as cube_of
from tests.check.polynomials import pairs as sampled_pairs
from tests.check.section7 import Bound
from tests.check.several import asked, classes, numbers
from tests.check.test_classes import with_nodes

from likewise_check.core.registry import find_entry
from likewise_check.packs.classes.cases import ClassCase

VOTES = ([[0, True], [1, False]], [[1, True], [2, False]])


def arrays(rng, count: int, scores: int) -> list:
    """Coefficients, some of them the same in two scores."""
    rows = [[dyadic(rng.gauss(0, 1)) for _ in range(scores)] for _ in range(count)]
    return [[row[0]] * scores if rng.random() < 0.2 else row for row in rows]


def case_of(rng, way: str, of) -> tuple[ClassCase, list, list]:
    """A case of three scores, and the conditions of both its sides as forms."""
    if way == "votes":
        cubes = tuple(tuple((s, up) for s, up in cube) for cube in VOTES)
        forms = [[{s: 1 if up else -1} for s, up in cube] for cube in VOTES]
        return ClassCase(of=of, i=0, j=1, cubes=cubes), *forms
    i, j = rng.sample(range(3), 2)
    return ClassCase(of=of, i=i, j=j), *([{own: 1, k: -1} for k in range(3) if k != own] for own in (i, j))


def summed(form: dict, rows: list) -> list:
    return [sum((factor * row[c] for c, factor in form.items()), Fraction(0)) for row in rows]


def lemma_of(rng, model, kernel, constraints=()):
    """A claim about a model of three scores, a leaf's places and its two forms: F, and G = -G'."""
    way = rng.choice(["argmax", "votes"])
    margin = 0 if way == "votes" else Fraction(rng.randint(0, 4), 4)
    labelled = classes(model["body"], "abc", way)
    claim = claim_of(kernel.features, kernel.relations, asked("decision", margin), labelled, constraints)
    case, first, second = case_of(rng, way, claim.model.head.classes)
    r, again = rng.randrange(2), rng.randrange(2)
    return claim, case, [r, again], first[r], {c: -factor for c, factor in second[again].items()}, margin


def prepared(claim, case, places, leaf):
    """The rule that the checker takes, and the leaf as it reads it."""
    task = case.task(claim, [leaf[0], [*places, leaf[1]], *leaf[2:]])
    assert task.leaf == leaf
    return find_entry("RULES", leaf[0])(task.lemma())


@pytest.mark.parametrize("module", [test_kernel, test_two_copies])
@seeds(20, 300)
def test_kernel_bounds_are_those_of_the_specification(module, seed) -> None:
    rng, kernel, cell, hints, tangent = module.drawn(seed, 8)
    rows = arrays(rng, len(kernel.terms) + 1, 3)
    model = kernel.model()
    model["body"]["bias"] = numbers(rows[-1])
    for term, row in zip(model["body"]["terms"], rows, strict=False):
        term[0] = numbers(row)
    claim, case, places, first, second, margin = lemma_of(rng, model, kernel)
    one, twin = (
        replace(
            kernel,
            terms=[(w, centre) for w, (_, centre) in zip(weights, kernel.terms, strict=True)],
            bias=bias,
        )
        for *weights, bias in (summed(form, rows) for form in (first, second))
    )
    a = Fraction(rng.randint(0, 8), 8)
    bound, bits = prepared(claim, case, places, leaf := ["kernel", number(a), hints, tangent]).bound(
        leaf, boxes(cell)
    )
    true = Bound(one, cell, hints)
    expected, room = true.phi(1, a, 1 - a, Fraction(margin), tangent, twin)
    with localcontext() as context:
        context.prec = 60
        found = decimal(Fraction(bound, 2**bits))
        assert expected - room / 64 <= found <= expected + room
        for _ in range(10):
            x, other = test_two_copies.sampled(rng, kernel, cell)
            beyond = (
                decimal(a) * one.score(x) - decimal(1 - a) * twin.score(other) - decimal(Fraction(margin))
            )
            if module is test_two_copies:
                assert decimal(true.gamma_r(x, other)).exp() * beyond <= found
            elif found < 0:
                assert beyond < 0


@seeds(25, 40)
def test_polynomial_bounds_are_those_of_the_specification(seed) -> None:
    rng, curve, cell = test_sos.drawn(seed)
    slow = Slow(curve, cell)
    if slow.empty:
        return
    rows = arrays(rng, len(curve.terms), 3)
    model = curve.model()
    for term, row in zip(model["body"]["terms"], rows, strict=True):
        term[0] = numbers(row)
    claim, case, places, first, second, margin = lemma_of(rng, model, curve, curve.constraints)
    products = [product for _, product in curve.terms]
    curve.terms = list(zip(summed(first, rows), products, strict=True))
    twin = list(zip(summed(second, rows), products, strict=True))
    prop = decision(margin)
    leaf = test_sos.random_leaf(rng, slow, prop, Fraction(rng.randint(0, 8), 8))
    _, bound = prepared(claim, case, places, leaf).bound(leaf, cube_of(curve, cell))
    total = slow.excess(1, *test_sos.line_of(slow, prop, leaf[1]), twin)
    if leaf[0] == "polynomial":
        right = slow.bound(total, leaf[2])
    else:
        for factors, mu, squares in leaf[3]:
            part = slow.squares(leaf[2], mu, squares)
            for item in factors:
                part = slow.times(part, slow.factor(item))
            total = slow.plus(total, part)
        right = slow.bound(total, [0] * slow.count)
    assert right - test_sos.NEAR <= bound <= right + Fraction(1, 2**40)
    if isinstance(leaf[1], str):
        a, other = Fraction(leaf[1]), replace(curve, terms=twin)
        for x, again in sampled_pairs(rng, curve, cell, 15):
            assert a * curve.score(x) - (1 - a) * other.score(again) - margin <= bound


def test_proofs_by_leaves_of_kernel_and_polynomial_cases() -> None:
    """Class 0 leads everywhere: f_0 - f_1 is at least 1, f_0 - f_2 too."""
    features, relations = [integer("a", 0, 2), categorical("sex", ["f", "m"])], [SAME, FREE]
    columns = [sloped(0), tabled(1, [0, 1])]
    quadratic = {
        "kind": "polynomial",
        "columns": columns,
        "terms": [[["1", "0", "-3"], []], [["0", "0", "1"], [0]], [["1", "0", "0"], [0, 0]]],
    }
    bump = {
        "kind": "rbf",
        "gamma": "1/4",
        "bias": ["1", "0", "-1"],
        "columns": columns,
        "terms": [[["1", "0", "0"], ["1", "0"]], [["0", "0", "-1"], ["0", "1"]]],
    }
    fixed = [["split", 1, "0"], ["split", 2, "0"], None, None, ["split", 2, "0"], None, None]
    proofs = [
        (
            quadratic,
            [
                ["polynomial", [0, 0, "0"], [0, 0, 0]],
                ["sos", [0, 0, "0"], 0, []],
                ["sos", [0, 0, ["1/2", "0", "0", "0"]], 0, []],
            ],
            [None],
        ),
        (
            bump,
            [
                ["kernel", [0, 0, "0"], [0], 0],
                ["kernel", [0, 0, "0"], [0], 0],
                ["kernel", [0, 0, "1"], [0], 0],
            ],
            fixed,
        ),
    ]
    for body, by_case, shape in proofs:
        values = proof(features, relations, asked("decision", 0), classes(body, "abc"), [])
        nodes = [["cases"], *(node or leaf for leaf in by_case for node in shape)]
        report = checked(with_nodes(values, nodes))
        assert report.accepted, report
        # Where class 1 leads the same leaves do not hold.
        constant = body["terms"][0][0] if body is quadratic else body["bias"]
        constant[1] = "9"
        values = proof(features, relations, asked("decision", 0), classes(body, "abc"), [])
        report = checked(with_nodes(values, nodes), refusals=99)
        assert not report.accepted
        assert report.refused
