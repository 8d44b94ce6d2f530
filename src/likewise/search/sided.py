"""Sided: is everybody of a box decided alike, and how? A branch and bound with ONE line for all cells.

The pairs are individuals beside themselves (every feature is `same`), and the question is a decision with margin 0. A leaf of lean 1
says  max s <= 0  over its cell: everybody gets the lower decision; a leaf of lean 0 says  max -s < 0: everybody gets the upper
one. The claim of such a certificate, that nobody gets two decisions, is true of any model; what counts is that all leaves of the proof
have the same lean, which the checker finds out by itself (spec/certificate-v1.md, section 14). So no other rule closes a cell here.
"""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf
from likewise.families.oracle import Bounds
from likewise.search.proof import Proof, begin, children, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.branch_and_bound import End
    from likewise.search.problem import Problem

    Floats = NDArray[np.float64]
    Open = tuple[int, Floats, Floats]

UPPER, LOWER = 0, 1  # the leans
BATCH = 64


@dataclass(slots=True, kw_only=True)
class Sided:
    """The search for a proof that everybody gets the decision of `lean`; can be run on."""

    problem: Problem
    lean: int
    proof: Proof = field(default_factory=Proof)
    open: list[Open] = field(default_factory=list)
    stuck: list[Open] = field(default_factory=list)
    clearance: Clearance = math.inf
    witness: None = None  # a search that certificates are made of has one; here nobody is looked for

    def __post_init__(self) -> None:
        start = begin(self.problem.pairs)
        self.proof = start.proof
        if start.number is not None:
            self.open.append((start.number, start.lo, start.hi))

    def run(self, *, most: float = math.inf) -> End:
        """Until every cell is closed, somebody is decided the other way ("witness"), or the budget is used up."""
        most += len(self.proof.nodes)
        while self.open:
            if self.problem.budget.over or len(self.proof.nodes) > most:
                return "budget"
            batch, self.open = self.open[:BATCH], self.open[BATCH:]
            with np.errstate(over="ignore", invalid="ignore"):
                if not self._work(batch):
                    return "witness"
        return "stuck" if self.stuck else "closed"

    def reopen(self, numbers: Container[int], *, split: bool) -> bool:  # noqa: ARG002 (a refused leaf is cut)
        """Cut closed cells whose leaves were refused; nobody is looked for in them."""
        for number, node, lo, hi in list(walk(self.proof, self.problem.pairs)):
            if number in numbers and isinstance(node, Leaf):
                self.proof.reopen(number)
                self._split([(number, lo, hi)], self._bounded(lo[None], hi[None]), [0])
        return False

    def _bounded(self, lo: Floats, hi: Floats) -> Bounds:
        lean = np.full(len(lo), float(self.lean))
        return self.problem.oracle.bound(lo, hi, lean, self.problem.question.threshold(lean))

    def _work(self, batch: list[Open]) -> bool:
        """Close or split the cells of a batch; False where one holds somebody who is decided the other way."""
        lo, hi = np.stack([lo for _, lo, _ in batch]), np.stack([hi for _, _, hi in batch])
        bounds = self._bounded(lo, hi)
        if self._refuted(bounds.points) or self._refuted(self.problem.oracle.candidates(lo, hi)):
            return False
        closes = bounds.upper <= bounds.noise if bounds.closes is None else bounds.closes
        self._split(
            batch, bounds, [i for i in range(len(batch)) if not self._close(batch, bounds, closes, i)]
        )
        return True

    def _refuted(self, points: Floats) -> bool:
        """By float64: enough to give up."""
        scores = self.problem.scores(points[:, list(self.problem.pairs.first)])
        return bool((scores > 0).any() if self.lean == LOWER else (scores <= 0).any())

    def _close(self, batch: list[Open], bounds: Bounds, closes: NDArray[np.bool_], i: int) -> bool:
        if not closes[i]:
            return False
        number, lo, hi = batch[i]
        oracle = self.problem.oracle
        leaf = Leaf(
            rule=oracle.rule,
            lean=Fraction(self.lean),
            hints=() if bounds.hints is None else bounds.hints[i],
        )
        clearance: Clearance | None = Fraction(0)  # where the checker is to look at it
        if oracle.exact:
            clearance = oracle.prove(lo, hi, leaf, self.problem.question)
        if clearance is None:
            return False
        self.clearance = min(self.clearance, clearance)
        self.proof.close(number, leaf)
        return True

    def _split(self, batch: list[Open], bounds: Bounds, some: list[int]) -> None:
        if not some:
            return
        lo, hi = np.stack([batch[i][1] for i in some]), np.stack([batch[i][2] for i in some])
        rows = bounds.take(np.array(some))
        variable, at = self.problem.oracle.branch(lo, hi, rows.loss, rows.cuts)
        for n, i in enumerate(some):
            if variable[n] < 0:
                self.stuck.append(batch[i])
                continue
            v, cut = int(variable[n]), float(at[n])
            split = self.proof.split(batch[i][0], v, cut, self.problem.oracle.after(v, cut))
            cells = children(self.problem.pairs, lo[n], hi[n], split)
            self.open += [
                (number, *cell) for number, cell in zip((split.left, split.right), cells, strict=True)
            ]
