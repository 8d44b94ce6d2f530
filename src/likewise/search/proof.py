"""Proof: the tree of cells that shows that no witness exists, as the search found it.

The root is the whole pair space. A node is a `Split` of one variable into two children that cover it, or
a `Leaf` with the rule that closes it. `walk` visits the leaves with their cells, depth first, which is
also the order in which a proof is written down. A search starts (`begin_proof`) from what constraints leave of the ranges of single
variables: the proof begins with the cuts that lead there, and each leaves a cell without pairs aside.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Leaf
from likewise.cells.presolve import tighten_ranges
from likewise.errors import InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Cut one variable: left gets the values <= at, right those >= at (> at for a discrete variable). With
    `after`, the double next to `at`, right gets those >= after: between the two lies no code."""

    variable: int
    at: float
    left: int
    right: int
    after: float | None = None


@dataclass(slots=True)
class Proof:
    """Nodes by number; None is a node that is still open. Node 0 is the root."""

    nodes: list[Split | Leaf | None] = field(default_factory=lambda: [None])

    def close(self, node: int, leaf: Leaf) -> None:
        self.nodes[node] = leaf

    def reopen(self, node: int) -> None:
        self.nodes[node] = None

    def split(self, node: int, variable: int, at: float, after: float | None = None) -> Split:
        split = Split(variable=variable, at=at, left=len(self.nodes), right=len(self.nodes) + 1, after=after)
        self.nodes += [None, None]
        self.nodes[node] = split
        return split

    def drop(self, gone: Container[int]) -> dict[int, int]:
        """Leave out nodes that no split leads to any more; the new number of each of the others."""
        places: dict[int, int] = {}
        for number in range(len(self.nodes)):
            if number not in gone:
                places[number] = len(places)
        kept = [self.nodes[number] for number in places]
        self.nodes = [
            replace(node, left=places[node.left], right=places[node.right])
            if isinstance(node, Split)
            else node
            for node in kept
        ]
        return places

    @property
    def leaves(self) -> int:
        return sum(isinstance(node, Leaf) for node in self.nodes)

    @property
    def complete(self) -> bool:
        return all(node is not None for node in self.nodes)


def root_cell(pairs: PairSpace) -> tuple[Floats, Floats]:
    """The whole pair space."""
    return _with_inner(pairs, *pairs.ends)


def _with_inner(pairs: PairSpace, lo: Sequence[float], hi: Sequence[float]) -> tuple[Floats, Floats]:
    """Limits of the variables, and none of inner quantities."""
    return np.array([*map(float, lo), *[-np.inf] * pairs.inner]), np.array(
        [*map(float, hi), *[np.inf] * pairs.inner]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofStart:
    """A proof with all of its cells closed but the node `number`, if that is not None: the cell that is left to a search."""

    proof: Proof
    number: int | None
    lo: Floats
    hi: Floats


def begin_proof(pairs: PairSpace) -> ProofStart:
    """The proof that constraints on the ranges of single variables begin, exactly."""
    proof, number, narrowed = Proof(), 0, tighten_ranges(pairs)
    for cut in narrowed.cuts:
        split = proof.split(number, cut.variable, cut.at, cut.after)
        aside, number = (split.right, split.left) if cut.keeps_left else (split.left, split.right)
        proof.close(aside, cut.leaf)
    if narrowed.nobody is not None:
        proof.close(number, narrowed.nobody)
    lo, hi = _with_inner(pairs, narrowed.lo, narrowed.hi)
    return ProofStart(proof=proof, number=None if narrowed.nobody is not None else number, lo=lo, hi=hi)


def child_cells(pairs: PairSpace, lo: Floats, hi: Floats, split: Split) -> tuple[tuple[Floats, Floats], ...]:
    """The two cells that a split makes of a cell."""
    v = split.variable
    left_hi, right_lo = hi.copy(), lo.copy()
    (_, left_hi[v]), (right_lo[v], _) = pairs.parts(v, lo[v], hi[v], split.at, split.after)
    return (lo, left_hi), (right_lo, hi)


def check_cut(
    pairs: PairSpace, lo: Floats, hi: Floats, variable: int, at: float, after: float | None
) -> None:
    """Refuse a cut that would lose a part of its cell."""
    if not 0 <= variable < len(lo):
        raise InternalError(f"there is no variable {variable} to cut")
    if not lo[variable] <= at <= hi[variable] or (pairs.discrete(variable) and not at.is_integer()):
        raise InternalError(f"cutting variable {variable} at {at} would lose a part of the cell")
    if after is not None and (after != math.nextafter(at, math.inf) or after > hi[variable]):
        raise InternalError(f"cutting variable {variable} between {at} and {after} would lose codes")


def walk_proof(proof: Proof, pairs: PairSpace) -> Iterator[tuple[int, Split | Leaf | None, Floats, Floats]]:
    """Every node with its number and cell, depth first, left before right."""
    return walk_trees(proof, pairs, [(0, *root_cell(pairs))])


def walk_trees(
    proof: Proof, pairs: PairSpace, roots: Sequence[tuple[int, Floats, Floats]]
) -> Iterator[tuple[int, Split | Leaf | None, Floats, Floats]]:
    """The same of the trees below some nodes, given with their cells."""
    stack = list(reversed(roots))
    while stack:
        number, lo, hi = stack.pop()
        node = proof.nodes[number]
        yield number, node, lo, hi
        if isinstance(node, Split):
            left, right = child_cells(pairs, lo, hi, node)
            stack += [(node.right, *right), (node.left, *left)]
