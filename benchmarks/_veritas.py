"""The largest gap by Veritas (pip install dtai-veritas), on the same pair problem: two copies of the trees, what must be the same shared.

Trees test indices of `families.trees.axes`, so that both programs see the same individuals; trees that test nothing that may differ are left out,
as they cancel. Levels must be tested by their first few positions.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass

from likewise.families.trees.body import LEAF
from likewise.families.trees.bounder import TreeBounder
from likewise.families.trees.elements import tests_of

MEMORY = 4 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """What was known of the largest gap after so many seconds of CPU."""

    lower: float
    upper: float
    seconds: float
    closed: bool


def available() -> bool:
    """Whether Veritas is installed."""
    return importlib.util.find_spec("veritas") is not None


def by_veritas(oracle: TreeBounder, budget: float) -> Bracket:
    """Its bracket when it is done or its time is over."""
    import veritas

    started = time.process_time()
    pairs, body = oracle.pairs, oracle.score.body
    nodes = oracle.score.nodes
    tests = tests_of(body, nodes, oracle.features, [False] * len(oracle.features))
    moving = {k for k, relation in enumerate(pairs.relations) if relation.kind != "same"}
    ensemble = veritas.AddTree(1, veritas.AddTreeType.REGR)
    for root, tree in zip(nodes.roots.tolist(), body.trees, strict=True):
        if moving & set(tree.feature.tolist()):
            _add(ensemble.add_tree(), root, nodes, tests, oracle.score.values)
    count = len(pairs.relations)
    names = veritas.FeatMap([str(k) for k in range(count)])
    for k in set(range(count)) - moving:
        names.use_same_id_for(k, k + count)
    both = names.transform(ensemble, 0).concat_negated(names.transform(ensemble, 1))
    box = {}
    for k, axis in enumerate(oracle.features):
        for side in (0, 1):
            box[names.get_feat_id(k + side * count)] = veritas.Interval(-0.25, axis.size - 0.75)
    config = veritas.Config(veritas.HeuristicType.MAX_OUTPUT)
    config.stop_when_optimal, config.max_memory = True, MEMORY
    search = config.get_search(both, box)
    unfinished = (veritas.StopReason.OUT_OF_TIME, veritas.StopReason.NONE)
    while time.process_time() - started < budget and search.step_for(0.25, 100) in unfinished:
        pass
    bounds = search.current_bounds()
    lower = search.get_solution(0).output if search.num_solutions() else float("-inf")
    closed = bool(search.is_optimal())
    return Bracket(
        lower=lower,
        upper=lower if closed else bounds.top_of_open,
        seconds=time.process_time() - started,
        closed=closed,
    )


def _add(tree, root, nodes, tests, values) -> None:  # type: ignore[no-untyped-def]
    """Rebuild one tree, its tests on indices."""
    pending = [(root, tree.root())]
    while pending:
        node, place = pending.pop()
        if nodes.feature[node] == LEAF:
            tree.set_leaf_value(place, 0, float(values[node]))
            continue
        if tests.flipped[node]:
            raise ValueError("a test of levels that are not the first ones")
        tree.split(place, int(nodes.feature[node]), float(tests.cut[node]) + 0.5)
        pending += [(int(nodes.left[node]), tree.left(place)), (int(nodes.right[node]), tree.right(place))]
