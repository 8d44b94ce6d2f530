"""Mirrored cases: where two scores add up to a constant, one case is searched and the other one follows.

A forest of two classes has P_0 = 1 - P_1, so

    P_0(x) - P_0(x') > d   exactly where   P_1(x') - P_1(x) > d,

and a proof of the first case, with x and x' in each other's places, is one of the second. Stored numbers are rounded: P_0 + P_1 varies by some w, which is bounded exactly, and a gap of one class is no more than w above the gap of the other one, mirrored.
So what is shown of both, while the second has not been looked at, is what is known of the first and w. Its proof is one of its own: the second
frontier waits until the first one is closed, takes over its cells, mirrored, and looks at each of them as at any other. What a last bit keeps open is cut and searched on.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.oracle import Node
from likewise.model.cases import ScoreCase
from likewise.search.proof import Proof, Split, walk_proof

if TYPE_CHECKING:
    from likewise.search.frontier import Frontier
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace

MOST_VARIATION = Fraction(
    1, 2**30
)  # of the sum of two scores: more is no rounding, and the cells of one would be of little use to the other


def mirror_room(task: SearchTask) -> Fraction | None:
    """How far gaps of one score exceed those of the other, mirrored, at most; None where the question does not have two such cases, or that is not proved. Constraints, differences and inner
    quantities are cut by in ways that mirroring does not know."""
    pairs, cases = task.pairs, task.question.cases()
    if len(cases) != 2 or not all(isinstance(case, ScoreCase) and case.kind != "decision" for case in cases):
        return None
    if (
        task.parts
        or task.oracles.family.opaque
        or pairs.constraints
        or pairs.inner
        or any(place is not None for place in pairs.difference)
    ):
        return None
    variation = task.oracles.variation_of_sum()
    return None if variation is None or variation > MOST_VARIATION else variation


def hold(frontier: Frontier, leader: Frontier, room: Fraction) -> None:
    """Have a frontier of which nothing is known yet wait for the one that it mirrors, but for this room."""
    frontier.follows, frontier.room = leader, room
    frontier.waiting, frontier.open = frontier.open, []


def start_anew(frontier: Frontier) -> None:
    """Have a frontier that has followed wait again: its leader goes on."""
    leader = frontier.follows
    if leader is None or frontier.waiting:
        return
    frontier.restore(Proof())
    frontier.closed = 0
    frontier.open = [Node(-np.inf, 0, *frontier.start, 0.5)]
    hold(frontier, leader, frontier.room)


def follow(frontier: Frontier) -> bool:
    """Have a frontier that waits take over the cells of the one that it mirrors, which is closed; False where it does not wait."""
    if not frontier.waiting or frontier.follows is None:
        return False
    pairs, leader = frontier.pairs, frontier.follows.proof
    other = mirrored_variables(pairs)
    lean = frontier.waiting[0].lean
    frontier.waiting = []
    frontier.proof = Proof(
        [
            Split(
                variable=other[node.variable], at=node.at, left=node.left, right=node.right, after=node.after
            )
            if isinstance(node, Split)
            else None
            for node in leader.nodes
        ]
    )
    frontier.open = [
        Node(float(n), number, lo, hi, lean)
        for n, (number, node, lo, hi) in enumerate(walk_proof(frontier.proof, pairs))
        if node is None
    ]
    heapq.heapify(frontier.open)
    return True


def mirrored_variables(pairs: PairSpace) -> list[int]:
    """For each variable the one in its place when x and x' change places."""
    other = list(range(len(pairs.variables)))
    for x, x2 in zip(pairs.first, pairs.second, strict=True):
        other[x], other[x2] = x2, x
    return other
