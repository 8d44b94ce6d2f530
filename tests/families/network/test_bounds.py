"""Bounds of pairs of networks: never below a pair of their cell, the same in float64 and in whole numbers, the engine's and the checker's; tight on small networks."""

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.families.network.cells import random_cells, random_problem, sampled_pairs
from tests.families.network.networks import RATIONAL, SPACE, columns, random_network
from tests.tiers import ALL, some

import likewise as lw
from likewise.certificate.writer import json_line, similarity_line, space_line
from likewise.families.network import bounder
from likewise.families.network.cells import bound_cells
from likewise.families.network.family import FAMILY
from likewise.families.network.sure import sure_bound
from likewise.spec.pairs import pair_space
from likewise_check.core.cells import LimitedCell, make_box
from likewise_check.core.lemma import Lemma
from likewise_check.core.line_reader import decode_line
from likewise_check.core.numbers import number as read_number
from likewise_check.core.properties import Property
from likewise_check.core.space import read_similarity, read_space
from likewise_check.packs.network.body import read_network
from likewise_check.packs.network.rule import Multipliers

HUGE = 1e9
LEAN = Fraction(5, 16)


def bounded(problem, lo, hi, lean):
    """float64 bounds in a direction, and the multipliers in whole numbers."""
    threshold = np.full(len(lo), -100.0)
    found = problem.bounder.bound(lo, hi, np.full(len(lo), float(lean)), threshold)
    bits = problem.bounder.bits
    scaled = [
        np.zeros((2, problem.bounder.net.neurons), dtype=np.int64)
        if memory is None
        else np.round(memory.multipliers * 2.0**bits).astype(np.int64)
        for memory in found.memories
    ]
    return found.upper, scaled


def evaluated(problem, lo, hi, lean, multipliers):
    """The float64 bound of ONE cell by given multipliers."""
    net, width = problem.bounder.net, len(lo)
    upper, codes = np.zeros(1), len(problem.pairs.variables)
    bound_cells(
        net,
        lo[None],
        hi[None],
        np.array([[float(lean), 1 - float(lean)]]),
        np.array([HUGE]),
        multipliers[None] / 2.0**problem.bounder.bits,
        np.zeros(1, dtype=bool),
        2.0**problem.bounder.bits,
        np.ones((width, 2)),
        upper,
        np.zeros((1, codes)),
        np.zeros((1, width)),
        np.zeros((1, width)),
        np.zeros((1, width)),
    )
    return upper[0]


def check_against_samples(seed, networks, cells, samples, kinds=RATIONAL):
    rng, random_numbers, seen = random.Random(seed), np.random.default_rng(seed), 0
    for _ in range(networks):
        problem = random_problem(rng, kinds=kinds)
        lo, hi = random_cells(problem, rng, cells)
        lean = Fraction(rng.randint(0, 16), 16)
        upper, _ = bounded(problem, lo, hi, lean)
        for c in range(cells):
            x, other = sampled_pairs(problem, lo[c], hi[c], random_numbers, samples)
            if len(x):
                line = float(lean) * problem.first.scores(x) - float(1 - lean) * problem.second.scores(other)
                assert upper[c] >= line.max() - 1e-9 * (1 + abs(line.max()))
                seen += 1
    return seen


@pytest.mark.some_days
def test_no_sampled_pair_exceeds_the_bound_of_its_cell():
    assert check_against_samples(0, networks=40, cells=50, samples=300) > 800


@pytest.mark.slow
def test_no_sampled_pair_exceeds_the_bound_of_its_cell_on_many():
    assert check_against_samples(1, networks=2000, cells=60, samples=500) > 50_000


def lemma_of(problem):
    """The pairs and both bodies as the checker reads them."""
    space = read_space(decode_line(space_line(problem.pairs)))
    bodies = [
        read_network(
            as_read(FAMILY.line([score.body], score.embedding)),
            space,
            read_number,
        )
        for score in (problem.first, problem.second)
    ]
    return Lemma(
        space=space,
        similarity=read_similarity(decode_line(similarity_line(problem.pairs)), space),
        first=bodies[0],
        second=bodies[1],
        asked=Property(kind="decision", bound=Fraction(0)),
    )


def as_read(value):
    return decode_line(json_line(value))


def checkers_cell(problem, lo, hi):
    """The same cell by features, with limits of the sums of neurons."""
    pairs, boxes = problem.pairs, []
    ends = [(Fraction(a), Fraction(b)) for a, b in zip(lo[: len(pairs.variables)], hi, strict=False)]
    for k, v in enumerate(pairs.difference):
        sides = dict.fromkeys((pairs.first[k], pairs.second[k]))
        boxes.append(make_box(*(ends[side] for side in sides), difference=() if v is None else (ends[v],)))
    cell, limits, place = LimitedCell(boxes), {}, len(pairs.variables)
    for layer, width in enumerate(problem.first.body.widths):
        for i in range(width):
            for copy in range(3):
                low, high = lo[place], hi[place]
                if np.isfinite(low) or np.isfinite(high):
                    limits[layer, i, copy] = tuple(
                        Fraction(e) if np.isfinite(e) else None for e in (low, high)
                    )
                place += 1
    cell.limits = limits
    return cell


@pytest.mark.some_days
def test_whole_numbers_of_engine_and_checker_agree_and_float64_with_its_error_is_above():
    rng, compared = random.Random(2), 0
    for _ in some(range(30), 8):
        problem = random_problem(rng)
        lo, hi = random_cells(problem, rng, 12)
        upper, multipliers = bounded(problem, lo, hi, LEAN)
        bounder, rule = problem.bounder, Multipliers(lemma_of(problem))
        for c in range(len(lo)):
            whole = tuple(multipliers[c].ravel().tolist())
            exact = bounder.proof.bound(lo[c].tolist(), hi[c].tolist(), LEAN, 1 - LEAN, bounder.bits, whole)
            flat = [row.tolist() for row in multipliers[c]]
            layers = [rule._multipliers(row, "") for row in flat]
            objective = rule._objective(f"{LEAN.numerator}/{LEAN.denominator}")
            checked = rule._bound(objective, bounder.bits, *layers, checkers_cell(problem, lo[c], hi[c]))
            assert checked == exact
            if exact is None:
                continue
            sure = sure_bound(
                bounder.net, bounder.work, lo[c], hi[c], float(LEAN), float(1 - LEAN), multipliers[c] / 2.0**bounder.bits
            )  # fmt: skip
            near = evaluated(problem, lo[c], hi[c], LEAN, multipliers[c])
            if sure > -np.inf and near > -np.inf:
                assert exact <= Fraction(sure)
                assert sure - near <= 1e-9 * (1 + abs(near))
                assert float(exact) <= near + 1e-9 * (1 + abs(near))
                # Only whole numbers look at which levels may be paired.
                free = all(relation.kind != "pairs" for relation in problem.pairs.relations)
                assert not free or near <= float(exact) + 1e-9 * (1 + abs(near))
                compared += 1
            assert upper[c] == -np.inf or near <= upper[c] + 1e-3 * (1 + abs(upper[c]))
    assert compared > (150 if ALL else 40)


def test_points_are_bounded_by_their_scores():
    rng, seen = random.Random(3), 0
    for _ in range(20):
        problem = random_problem(rng)
        lo, _ = random_cells(problem, rng, 8)
        codes = len(problem.pairs.variables)
        lo[:, codes:] = -np.inf
        hi = lo.copy()
        hi[:, codes:] = np.inf
        for k, v in enumerate(problem.pairs.difference):
            if v is not None:
                lo[:, v] = hi[:, v] = lo[:, problem.pairs.second[k]] - lo[:, problem.pairs.first[k]]
        upper, _ = bounded(problem, lo, hi, LEAN)
        x, other = lo[:, list(problem.pairs.first)], lo[:, list(problem.pairs.second)]
        line = float(LEAN) * problem.first.scores(x) - float(1 - LEAN) * problem.second.scores(other)
        met = upper > -np.inf
        assert np.allclose(upper[met], line[met], rtol=1e-6, atol=1e-6)
        seen += met.sum()
    assert seen > 60


def test_cuts_are_inside_and_promises_are_kept():
    """Cutting where it is promised to help, again and again, brings the bound of the worst part near to the largest sampled pair."""
    rng, random_numbers = random.Random(5), np.random.default_rng(5)
    problem = random_problem(rng)
    lo, hi = random_cells(problem, rng, 1)
    variables = problem.pairs.variables
    for v, variable in enumerate(variables):
        lo[0, v], hi[0, v] = variable.lo, variable.hi
    lo[0, len(variables) :], hi[0, len(variables) :] = -np.inf, np.inf
    x, other = sampled_pairs(problem, lo[0], hi[0], random_numbers, 20_000)
    best = (0.5 * problem.first.scores(x) - 0.5 * problem.second.scores(other)).max()
    open_cells = [(np.inf, lo[0], hi[0], None)]
    for _ in range(300):
        if not open_cells:
            break
        open_cells.sort(key=lambda cell: -cell[0])
        _, low, high, memory = open_cells.pop(0)
        found = problem.bounder.bound_heirs(
            low[None], high[None], np.array([0.5]), np.array([best]), [memory]
        )
        if found.upper[0] <= best + 1e-3:
            continue
        variable, at = (
            part[0] for part in problem.bounder.branch(low[None], high[None], found.loss, found.cuts)
        )
        assert variable >= 0
        assert low[variable] <= at <= high[variable]
        left, right = high.copy(), low.copy()
        left[variable] = at
        right[variable] = at + 1 if problem.pairs.discrete(variable) else at
        parts = ((low, left), (right, high))
        open_cells += [(found.upper[0], *part, found.memories[0]) for part in parts]
    assert max((cell[0] for cell in open_cells), default=best) <= best + 0.05 * (1 + abs(best))


def test_numbers_too_small_for_float64_are_counted():
    """A weight of 1.4 times the smallest double is rounded to that: float64 with its error is above what whole numbers say all the same."""
    rng, seen = random.Random(7), 0
    for _ in range(20):
        problem = random_problem(rng, last=lambda: Fraction(rng.randint(-9, 9), 7) / 2**1074)
        lo, hi = random_cells(problem, rng, 8)
        bounder, nothing = problem.bounder, np.zeros((2, problem.bounder.net.neurons))
        for c in range(len(lo)):
            whole = (0,) * nothing.size
            exact = bounder.proof.bound(lo[c].tolist(), hi[c].tolist(), LEAN, 1 - LEAN, 0, whole)
            sure = sure_bound(bounder.net, bounder.work, lo[c], hi[c], float(LEAN), float(1 - LEAN), nothing)
            if exact is not None and sure > -np.inf:
                assert exact <= Fraction(sure)
                seen += exact != 0
    assert seen > 50


def test_warming_up_is_done_once_and_leaves_no_trace(monkeypatch):
    rng = random.Random(3)
    (body,), embedding = random_network(rng), columns(rng)
    pairs = pair_space(SPACE, lw.Similarity(free=["sex"]))
    cold, warm = (bounder.NetworkBounder(body.score(embedding, len(SPACE)), pairs) for _ in "12")
    monkeypatch.setattr(bounder, "WARM", set())
    calls = []
    monkeypatch.setattr(bounder, "sure_bounds", lambda *_: calls.append(1))
    warm.warm_up()
    warm.warm_up()
    assert len(calls) == 1
    assert (cold.climbs, cold.rest, cold.resting) == (warm.climbs, warm.rest, warm.resting)


def test_what_cuts_keep_is_learned_by_variable_and_side():
    rng, learned = random.Random(11), 0
    for _ in range(30):
        problem = random_problem(rng)
        proposer, pairs = problem.bounder, problem.pairs
        lo = np.array([[*(float(v.lo) for v in pairs.variables), *[-np.inf] * pairs.inner]])
        hi = np.array([[*(float(v.hi) for v in pairs.variables), *[np.inf] * pairs.inner]])
        apart = [v for k, v in enumerate(pairs.second) if v != pairs.first[k] and pairs.discrete(v)]
        apart += [v for k, v in enumerate(pairs.first) if v != pairs.second[k] and pairs.discrete(v)]
        hi[0, apart] = lo[0, apart]  # levels that may differ are cut first, without learning from it
        lean, level = np.array([0.5]), np.array([-100.0])
        found = proposer.bound(lo, hi, lean, level)
        memory = found.memories[0]
        if memory is None or memory.variable < 0:
            continue
        variable, before, upper_part = memory.variable, proposer._worth(), lo.copy()
        upper_part[0, variable] = memory.at + (variable < len(pairs.variables) and pairs.discrete(variable))
        proposer.bound_heirs(upper_part, hi, lean, level, found.memories)
        assert proposer.promised[variable, 1] > 0
        assert np.count_nonzero(proposer.promised) == 1
        assert proposer._worth()[variable, 1] != before[variable, 1]
        learned += 1
    assert learned > 5
