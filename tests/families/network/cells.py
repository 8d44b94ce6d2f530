"""Random cells of pairs of random networks, as compiled loops, exact proofs and the checker have them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from tests.families.network.networks import RATIONAL, SPACE, columns, random_network

import likewise as lw
from likewise.families.network.bounder import NetworkBounder
from likewise.families.network.score import NetworkScore
from likewise.spec.pairs import PairSpace, add_differences, add_inner_quantities, pair_space
from likewise.spec.relations import Relation

NEAR = 1e-9  # relative: where float64 is not trusted to compare a difference with a tolerance

SIMILAR = (
    lw.Similarity(free=["sex"]),
    lw.Similarity(free=["sex", "age"]),
    lw.Similarity(free=["job"], within={"age": 0.5, "debts": 1}),
    lw.Similarity(free=["sex"], pairs={"job": [("x", "y")]}),
)


@dataclass(frozen=True)
class Problem:
    """Two scores with the same hidden layers, over pairs, and what bounds one beside the other."""

    first: NetworkScore
    second: NetworkScore
    pairs: PairSpace
    bounder: NetworkBounder


def random_problem(
    rng: random.Random, last: Callable[[], Fraction] | None = None, *, kinds=RATIONAL
) -> Problem:
    """`last` draws the weights and the bias of the scores; `kinds` are the activations."""
    embedding, bodies = columns(rng), random_network(rng, kinds, scores=2)
    if last is not None:
        bodies = [replace(body, weights=tuple(last() for _ in body.weights), bias=last()) for body in bodies]
    scores = [NetworkScore(body=body, embedding=embedding, n_features=len(SPACE)) for body in bodies]
    first, second = scores[0], rng.choice(scores)
    pairs = add_differences(pair_space(SPACE, rng.choice(SIMILAR)))
    pairs = add_inner_quantities(pairs, 3 * sum(bodies[0].widths))
    return Problem(first, second, pairs, NetworkBounder(first, pairs, second))


def random_cells(problem: Problem, rng: random.Random, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of codes, some of them whole ranges or points, and now and then limits of inner quantities."""
    variables, inner = problem.pairs.variables, problem.pairs.inner
    lo, hi = (
        np.full((count, len(variables) + inner), -np.inf),
        np.full((count, len(variables) + inner), np.inf),
    )
    for c in range(count):
        for v, variable in enumerate(variables):
            ends = sorted(rng.uniform(variable.lo, variable.hi) for _ in range(2))
            if variable.discrete:
                ends = sorted(rng.randint(int(variable.lo), int(variable.hi)) for _ in range(2))
            draw = rng.random()
            ends = (variable.lo, variable.hi) if draw < 0.3 else (ends[0],) * 2 if draw < 0.5 else ends
            lo[c, v], hi[c, v] = ends
        for _ in range(rng.randint(0, 3)):
            place, at = len(variables) + rng.randrange(inner), rng.choice([0.0, rng.gauss(0, 1)])
            (lo if rng.random() < 0.5 else hi)[c, place] = at
    return lo, hi


def sums_of(score: NetworkScore, codes: np.ndarray) -> np.ndarray:
    """The sums of all neurons, layer after layer."""
    sums, found = score.first.of(codes), []
    for before, layer in zip(score.body.hidden, (*score.body.hidden[1:], None), strict=True):
        found.append(sums)
        if layer is not None:
            sums = before.activation.proposed(sums) @ layer.weights.floats.T + layer.biases.floats
    return np.concatenate(found, axis=1)


def may_be_paired(relation: Relation, x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """`Relation.allows` of many codes: of numbers by float64 where that is clear, of levels once for each two."""
    if relation.kind == "free":
        return np.ones(len(x), dtype=bool)
    allowed = x == other
    unclear = ~allowed
    if relation.tolerance is not None and relation.missing is None:
        apart, tolerance = np.abs(other - x), float(relation.tolerance)
        allowed |= apart < tolerance * (1 - NEAR)
        unclear &= (apart >= tolerance * (1 - NEAR)) & (apart <= tolerance * (1 + NEAR))
    some, place = np.unique(np.stack([x, other], axis=1)[unclear], axis=0, return_inverse=True)
    exact = np.array([relation.allows(Fraction(a), Fraction(b)) for a, b in some.tolist()], dtype=bool)
    allowed[unclear] = exact[place.ravel()]
    return allowed


def sampled_pairs(
    problem: Problem, lo: np.ndarray, hi: np.ndarray, random: np.random.Generator, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Individuals x and x' of pairs in a cell: random ones and corners that satisfy all of its limits."""
    pairs, codes = problem.pairs, len(problem.pairs.variables)
    points = np.zeros((count, codes))
    for v, variable in enumerate(pairs.variables):
        if variable.discrete:
            points[:, v] = random.integers(lo[v], hi[v] + 1, count)
        else:
            points[:, v] = random.uniform(lo[v], hi[v], count)
            points[: count // 4, v] = random.choice([lo[v], hi[v]], count // 4)
    kept = np.ones(count, dtype=bool)
    for k, v in enumerate(pairs.difference):
        i, j = pairs.first[k], pairs.second[k]
        if v is not None:
            apart = points[:, j] - points[:, i]
            kept &= (lo[v] <= apart) & (apart <= hi[v])
        if i != j:
            kept &= may_be_paired(pairs.relations[k], points[:, i], points[:, j])
    x, other = points[:, list(pairs.first)], points[:, list(pairs.second)]
    here, there = sums_of(problem.first, x), sums_of(problem.first, other)
    inner = np.stack([here, there, there - here], axis=2).reshape(count, -1)
    kept &= ((lo[codes:] <= inner) & (inner <= hi[codes:])).all(axis=1)
    return x[kept], other[kept]
