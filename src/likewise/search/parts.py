"""Parts of a frontier, and its state: what can be sent elsewhere, and what can be written down and taken up again.

Both are plain values: boxes, leans, views and the proof tree, no oracles and none of their memories, which are made anew. A *part* has some of the open nodes, each of
them the root of a tree of its own. It is run by whoever resumes it, and what came of it is absorbed: its trees are grafted onto the proof in the places of their
roots. Nothing is believed that a state says: its cells are those of its tree, every leaf is proved again, pairs are put to the referee again. Of a part, which a search has
just come back with, the trees must cover the cells that it was given, without a gap, and its pairs are put to the referee; its leaves are taken as proved. So FAIR does not rest on
whoever ran the part, because the checker looks at the whole proof, and neither does BIASED; the upper end of `measure` without a certificate rests on the leaves that the engine
proved, here or there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.cells.leaf import Clearance, Leaf
from likewise.errors import InternalError
from likewise.families.oracle import FIRST_LEAN_STEP, Node
from likewise.search.frontier import AwayNode, Frontier
from likewise.search.proof import Proof, Split, check_cut, root_cell, walk_trees

if TYPE_CHECKING:
    from likewise.model.cases import Case, Witness
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace

Ends = tuple[float, ...]
Cell = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """An open node without its memory."""

    number: int
    lo: Ends
    hi: Ends
    rank: float
    lean: float
    upper: float = math.inf
    step: float = FIRST_LEAN_STEP
    view: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierState:
    """A frontier as it stands. `case` is what it was asked, `space` the ends of all pairs, which tell whose state it is."""

    case: Case
    space: tuple[Ends, Ends]
    nodes: tuple[Split | Leaf | None, ...]
    open: tuple[NodeState, ...]
    stuck: tuple[NodeState, ...] = ()
    parked: tuple[tuple[int, Leaf], ...] = ()  # of those, with the leaves that would close them
    batches: int = 0
    clearance: Clearance = math.inf
    witness: Witness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPart:
    """Some open nodes of a frontier as a frontier of their own: its first nodes are `roots` of the whole one."""

    state: FrontierState
    roots: tuple[int, ...]


# -- state ------------------------------------------------------------------------------------------------------------


def frontier_state(frontier: Frontier) -> FrontierState:
    """What a frontier can be taken up from again."""
    if frontier.away:
        raise InternalError("the state of a frontier is known once its parts are absorbed")
    return standing_state(frontier)


def standing_state(frontier: Frontier) -> FrontierState:
    """The same while parts are away: their nodes are open as they were when they left."""
    away = (away.node for away in frontier.away.values())
    return FrontierState(
        case=frontier.case,
        space=_space_ends(frontier.task),
        nodes=tuple(frontier.proof.nodes),
        open=tuple(map(_node_state, (*frontier.open, *frontier.waiting, *away))),
        stuck=tuple(map(_node_state, frontier.stuck)),
        parked=tuple(frontier.parked.items()),
        batches=frontier.batches,
        clearance=frontier.clearance,
        witness=frontier.witness,
    )


def resume(task: SearchTask, state: FrontierState, *, checked: bool = False) -> Frontier:
    """Take a frontier up again, whatever level the problem asks for: leaves that do not hold at it are opened. Where the level is the same and the checker will look at
    all leaves (`checked`), that is left to it."""
    frontier = _restore(task, state)
    _check_cells(state, task.pairs, [root_cell(task.pairs)])
    if checked:
        return frontier
    clearances = dict(frontier.leaves())
    frontier.reopen({number for number, clearance in clearances.items() if clearance is None}, split=False)
    frontier.clearance = min((c for c in clearances.values() if c is not None), default=math.inf)
    return frontier


def _restore(task: SearchTask, state: FrontierState) -> Frontier:
    if state.space != _space_ends(task):
        raise InternalError("a state of other pairs was to be taken up")
    frontier = Frontier(task=task)
    frontier.proof = Proof(list(state.nodes))
    frontier.closed = frontier.proof.leaves
    frontier.open = [_restore_node(node) for node in state.open]
    frontier.stuck = [_restore_node(node) for node in state.stuck]
    frontier.batches, frontier.clearance = state.batches, state.clearance
    frontier.witness = _confirm_witness(frontier, state.witness)
    heapq.heapify(frontier.open)
    return frontier


def _check_cells(state: FrontierState, pairs: PairSpace, roots: Sequence[Cell]) -> None:
    """Refuse a state whose first nodes are not the roots of trees that cover these cells, or whose open nodes are not the ones that the trees leave open, cell by
    cell."""
    splits = [(n, split) for n, split in enumerate(state.nodes) if isinstance(split, Split)]
    below = [child for _, split in splits for child in (split.left, split.right)]
    if sorted(below) != list(range(len(roots), len(state.nodes))) or any(
        split.left <= number or split.right <= number for number, split in splits
    ):
        raise InternalError("the nodes of a state are no tree")
    left: dict[int, Cell] = {}
    starts = [(number, lo, hi) for number, (lo, hi) in enumerate(roots)]
    for number, node, lo, hi in walk_trees(Proof(list(state.nodes)), pairs, starts):
        if isinstance(node, Split):
            check_cut(pairs, lo, hi, node.variable, node.at, node.after)
        elif node is None:
            left[number] = lo, hi
    known = {node.number: node for node in (*state.open, *state.stuck)}
    if (
        left.keys() != known.keys()
        or len(known) != len(state.open) + len(state.stuck)
        or any(
            known[number].lo != tuple(lo.tolist()) or known[number].hi != tuple(hi.tolist())
            for number, (lo, hi) in left.items()
        )
    ):
        raise InternalError("the open nodes of a state are not those of its tree")


def _confirm_witness(frontier: Frontier, witness: Witness | None) -> Witness | None:
    """The pair that was found elsewhere, if it is a witness here as well."""
    return None if witness is None else frontier.referee(witness.x, witness.other)


def _space_ends(task: SearchTask) -> tuple[Ends, Ends]:
    lo, hi = root_cell(task.pairs)
    return tuple(lo.tolist()), tuple(hi.tolist())


def _node_state(node: Node, number: int | None = None) -> NodeState:
    return NodeState(
        number=node.number if number is None else number,
        lo=tuple(node.lo.tolist()),
        hi=tuple(node.hi.tolist()),
        rank=node.rank,
        lean=node.lean,
        upper=node.upper,
        step=node.step,
        view=node.view,
    )


def _restore_node(state: NodeState, number: int | None = None) -> Node:
    """The node, or the one with this number in a whole frontier."""
    lo, hi = np.array(state.lo), np.array(state.hi)
    place = state.number if number is None else number
    return Node(state.rank, place, lo, hi, state.lean, state.upper, state.step, state.view)


# -- parts ------------------------------------------------------------------------------------------------------------


def divide(frontier: Frontier, count: int) -> list[FrontierPart]:
    """The open nodes dealt out to at most so many parts, the most promising ones to different parts. They are away, and the frontier cannot be run, until
    all parts are absorbed."""
    nodes = sorted(frontier.open)
    frontier.open.clear()
    return [send_away(frontier, nodes[n::count]) for n in range(min(count, len(nodes)))]


def take_best(frontier: Frontier, count: int) -> list[Node]:
    """The most promising of the open nodes, which are not open any more."""
    return [heapq.heappop(frontier.open) for _ in range(min(count, len(frontier.open)))]


def send_away(frontier: Frontier, nodes: Sequence[Node]) -> FrontierPart:
    """The part with these nodes, which were open."""
    for node in nodes:
        frontier.away[node.number] = AwayNode(node=node, case=frontier.case)
    state = FrontierState(
        case=frontier.case,
        space=_space_ends(frontier.task),
        nodes=(None,) * len(nodes),
        open=tuple(_node_state(node, n) for n, node in enumerate(nodes)),
        batches=frontier.batches,
    )
    return FrontierPart(state=state, roots=tuple(node.number for node in nodes))


def call_back(frontier: Frontier, part: FrontierPart) -> None:
    """Open the nodes of a part again as they were when it left: nothing came of it."""
    for number in part.roots:
        heapq.heappush(frontier.open, frontier.away.pop(number).node)


def resume_part(task: SearchTask, part: FrontierPart) -> Frontier:
    """The frontier of a part, to be run. Its nodes are no proof by themselves."""
    if task.case != part.state.case:
        raise InternalError("a part is about the level that the whole frontier is asked for")
    frontier = _restore(task, part.state)
    frontier.whole = False
    return frontier


def finished_part(frontier: Frontier, roots: tuple[int, ...]) -> FrontierPart:
    """What came of a part, whose roots these are."""
    return FrontierPart(state=frontier_state(frontier), roots=roots)


def absorb(frontier: Frontier, part: FrontierPart) -> None:
    """Take back a part: what it closed stays closed, what it left open is open again, and its witness is one of the whole."""
    state = part.state
    if state.space != _space_ends(frontier.task):
        raise InternalError("a part of another frontier was to be absorbed")
    if not frontier.away.keys() >= set(part.roots) or len(set(part.roots)) != len(part.roots):
        raise InternalError("a part of another frontier was to be absorbed, or one that is not away")
    left = [frontier.away[number] for number in part.roots]
    if any(away.case != state.case for away in left):  # the level may have risen since
        raise InternalError("a part of another frontier was to be absorbed: it was asked something else")
    _check_cells(state, frontier.pairs, [(away.node.lo, away.node.hi) for away in left])
    for number in part.roots:
        del frontier.away[number]
    first = len(frontier.proof.nodes)
    beyond = len(part.roots)
    numbers = [*part.roots, *range(first, first + len(state.nodes) - beyond)]
    frontier.proof.nodes += [None] * (len(state.nodes) - beyond)
    for number, node in zip(numbers, state.nodes, strict=True):
        if isinstance(node, Split):
            left, right = numbers[node.left], numbers[node.right]
            node = Split(variable=node.variable, at=node.at, left=left, right=right, after=node.after)
        frontier.proof.nodes[number] = node
        frontier.closed += isinstance(node, Leaf)
    for node_state in state.open:
        heapq.heappush(frontier.open, _restore_node(node_state, numbers[node_state.number]))
    frontier.stuck += [_restore_node(node, numbers[node.number]) for node in state.stuck]
    frontier.parked.update((numbers[number], leaf) for number, leaf in state.parked)
    frontier.clearance = min(frontier.clearance, state.clearance)
    frontier.batches += state.batches
    frontier.witness = frontier.witness or _confirm_witness(frontier, state.witness)
