"""Testing, the paper's baseline: samples instead of bounds. It finds pairs or it does not; it proves nothing.

random_testing (THEMIS)      draw individuals at random; give what may differ every value; does the treatment change?
directed_testing (AEQUITAS)  the same, then walk from every hit: one feature at a time by a small step, features that
                             led to hits chosen more often

A sample is a hit if one of its variants is treated differently from another. Both count hits in float64 and report
the share; BIASED needs one hit that the referee confirms.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.paper.answers import Answer, Finding, biased_finding, finding_without_pair
from likewise.paper.prepare import prepare_problem
from likewise.paper.published import SAMPLES
from likewise.progress import Listener, Snapshot
from likewise.run import open_listener
from likewise.search.budget import interruptible
from likewise.search.falsification import random_rows
from likewise.search.variants import deepest_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Witness
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]

BATCH = 2_000  # samples between two looks at the clock
MOST_SETTINGS = 64  # of what may differ, tried for each sample; all of them where there are no more
MOST_REFEREED = 8  # deepest hits of a batch that are put to the exact test
WALKERS = 64
ROUNDS = 200  # steps of every walker
STEP = 0.02  # of a continuous feature, as a share of its range; integers and levels move by one
LEARNING_RATE = 1.0  # weight that a feature gains by a hit


def random_testing(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    samples: int = SAMPLES,
    X: Any = None,
    budget: float = 60,
    random_state: int | None = 0,
    progress: bool | Listener = False,
) -> Finding:
    """Uniform random individuals of the space; `details` has the samples drawn and the share of hits."""
    with open_listener(progress) as listener:
        prepared = prepare_problem(
            model,
            space,
            similar,
            property,
            X=X,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        with interruptible(prepared.task.budget):
            drawn = SampleTally(prepared)
            drawn.draw(samples)
            return drawn.finding("random testing")


def directed_testing(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    samples: int = 10_000,
    X: Any = None,
    budget: float = 60,
    random_state: int | None = 0,
    progress: bool | Listener = False,
) -> Finding:
    """Random individuals first, then walks around the hits; `details` also counts the hits of the walks."""
    with open_listener(progress) as listener:
        prepared = prepare_problem(
            model,
            space,
            similar,
            property,
            X=X,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        with interruptible(prepared.task.budget):
            drawn = SampleTally(prepared)
            drawn.draw(samples)
            steps, near = walk(prepared, drawn)
            return drawn.finding("directed testing", steps=steps, hits_nearby=near)


def free_settings(prepared: PosedProblem) -> list[dict[int, float | str]]:
    """Values for what may differ: every combination, or random ones where they are too many.

    Of a free continuous feature the ends and some values in between; a feature that may differ `within` a
    tolerance keeps its own value or goes up by the tolerance.
    """
    pairs, random = prepared.pairs, prepared.task.random
    choices: dict[int, list[float | str]] = {}
    for k, relation in enumerate(pairs.relations):
        variable = pairs.variables[pairs.first[k]]
        lo, hi = float(variable.lo), float(variable.hi)
        if relation.kind == "within":
            choices[k] = ["own", "up"]
        elif relation.kind == "free" and variable.discrete and hi - lo < MOST_SETTINGS:
            choices[k] = [lo + i for i in range(int(hi - lo) + 1)]
        elif relation.kind == "free":
            between = [lo + (hi - lo) * share for share in random.uniform(0, 1, 6)]
            choices[k] = [lo, hi, *(float(round(v)) if variable.discrete else v for v in between)]
    if prod(map(len, choices.values())) <= MOST_SETTINGS:
        return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    return [
        {k: values[int(random.integers(len(values)))] for k, values in choices.items()}
        for _ in range(MOST_SETTINGS)
    ]


class SampleTally:
    """Samples so far: how many, how many were hits, where, and the first pair that the referee confirmed."""

    def __init__(self, prepared: PosedProblem) -> None:
        self.prepared = prepared
        self.settings = free_settings(prepared)
        self.samples = self.hits = self.wanted = 0
        self.starts: list[Floats] = []
        self.witness: Witness | None = None

    def draw(self, samples: int) -> None:
        """Draw so many, or as many as the budget allows."""
        problem, self.wanted = self.prepared.task, samples
        while self.samples < samples and not problem.budget.over:
            rows = self._valid(random_rows(problem, min(BATCH, samples - self.samples)))
            self.samples += min(BATCH, samples - self.samples)
            hit = self.try_rows(rows)
            self.hits += int(hit.sum())
            if len(self.starts) < WALKERS:
                self.starts.extend(rows[hit][: WALKERS - len(self.starts)])
            problem.listener(
                Snapshot(stage="random samples", seconds=problem.budget.elapsed, share=self.samples / samples)
            )

    def try_rows(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows are hits; the deepest are put to the referee until one is confirmed."""
        if not len(rows):
            return np.zeros(0, dtype=bool)
        x, other, depth = deepest_pairs(self.prepared.task, rows, self.settings)
        if self.witness is None:
            for i in np.argsort(-depth)[:MOST_REFEREED]:
                if depth[i] <= 0:
                    break
                self.witness = self.prepared.task.referee(x[i].tolist(), other[i].tolist())
                if self.witness is not None:
                    break
        return np.asarray(depth > 0)

    def _valid(self, rows: Floats) -> Floats:
        """Those that satisfy the constraints; a sample that does not is drawn in vain."""
        allowed = np.ones(len(rows), dtype=bool)
        for constraint in self.prepared.pairs.constraints:
            allowed &= constraint.scores(rows) <= 0
        return rows[allowed]

    def finding(self, algorithm: str, **counts: int) -> Finding:
        details = {
            "samples": self.samples,
            "hits": self.hits,
            "share": self.hits / max(self.samples, 1),
            **counts,
        }
        if self.witness is not None:
            return biased_finding(self.prepared, algorithm, self.witness, **details)
        note = f"{self.samples:,} of {self.wanted:,} samples, {self.hits:,} hits in floating point"
        return finding_without_pair(self.prepared, algorithm, Answer.NOT_FOUND, note, **details)


def walk(prepared: PosedProblem, drawn: SampleTally) -> tuple[int, int]:
    """Walk from the hits, all at once; the number of steps tried and of new hits among them."""
    problem = prepared.task
    movable = [k for k, r in enumerate(prepared.pairs.relations) if r.kind != "free"]
    if not drawn.starts or not movable:
        return 0, 0
    here = np.array(drawn.starts)
    weights = np.ones(len(movable))
    seen = {row.tobytes() for row in here}
    steps = near = 0
    for _ in range(ROUNDS):
        if problem.budget.over:
            break
        chosen = problem.random.choice(len(movable), size=len(here), p=weights / weights.sum())
        there = _step_rows(prepared, here, np.array(movable)[chosen])
        hit = drawn.try_rows(there)
        steps += len(there)
        for i in np.flatnonzero(hit):
            weights[chosen[i]] += LEARNING_RATE
            near += there[i].tobytes() not in seen
            seen.add(there[i].tobytes())
        here[hit] = there[hit]
    return steps, near


def _step_rows(prepared: PosedProblem, rows: Floats, features: NDArray[np.intp]) -> Floats:
    """Each row with its own feature moved up or down by one step, inside the domain."""
    moved = rows.copy()
    for i, k in enumerate(features):
        variable = prepared.pairs.variables[prepared.pairs.first[k]]
        size = 1.0 if variable.discrete else STEP * (variable.hi - variable.lo)
        step = size * prepared.task.random.choice((-1.0, 1.0))
        moved[i, k] = min(max(moved[i, k] + step, variable.lo), variable.hi)
    return moved
