"""What looking at a node has in common, whether nodes are looked at together (`batch_oracle`) or one by one (`memory_oracle`).

A leaf counts once `prove` has accepted it in exact arithmetic, or where the checker is to look at it. The rules `is_independent`, `enumerated` and `empty`
know no family, and are proved here for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise import clock
from likewise.cells.allowances import allowances_of
from likewise.cells.eased_cases import are_identical, case_in_cell
from likewise.cells.enumerated import (
    FeatureDependent,
    enumerated_clearance,
    find_witnesses,
    is_independent,
    pair_count,
)
from likewise.cells.leaf import Clearance, Leaf, RelaxationResult
from likewise.cells.nearness import nearness_of
from likewise.cells.presolve import empty_leaf, excludes
from likewise.families.oracle import Answer, Closed, Pair, Stuck
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.oracle import Bounder, Node, OracleContext
    from likewise.families.views import Views
    from likewise.model.cases import Case
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]

FEW_PAIRS = 64  # cells with at most so many pairs are looked through instead of cut
FEW_UNCUT_PAIRS = 2**14  # the same of cells that no bound knows how to cut
WITNESS_DOUBT = 1e-9  # relative depth below zero at which float64 may be wrong about a witness

Encloser = Callable[[Sequence[Fraction], int], "tuple[Enclosure, ...]"]


class CaseOracle:
    """An oracle of a case, but for `look` itself."""

    def __init__(self, views: Views, enclose: Encloser, score: FeatureDependent) -> None:
        self.views, self.enclose, self.score, self.pairs = views, enclose, score, views.pairs
        self.rule, self.exact = views.first.rule, views.first.exact
        self.proves, self.batch = views.first.exact and views.first.proves, views.first.batch
        self.inherits = views.first.inherits
        self.codes = len(self.pairs.variables)  # inner quantities come after them
        kinds = {relation.kind for relation in self.pairs.relations}
        self.may_exclude = bool(self.pairs.constraints or self.pairs.distance) or not kinds <= {
            "same",
            "free",
        }
        self.nearness, self.allowances = nearness_of(self.pairs), allowances_of(self.pairs)

    def warm_up(self) -> None:
        self.views.first.warm_up()

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return self.views.first.starts(lo, hi)

    # -- proofs -------------------------------------------------------------------------------------------------

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, case: Case) -> Clearance | None:
        view = self.views[self.views.place(leaf)]
        line = case if leaf.shares else case_in_cell(self.pairs, case, lo.tolist(), hi.tolist())
        return prove_leaf(
            self.pairs, self.score, self.enclose, (view.bounder, view.seen(line)), lo, hi, leaf, case
        )

    def _prove_timed(self, node: Node, leaf: Leaf, asked: OracleContext) -> Clearance | None:
        """What a leaf of an open node leaves clear, timed; the checker looks at what only proposes."""
        if not self.exact and leaf.rule in (self.rule, *self.views.first.more_rules):
            return Fraction(0)
        return self._timed(lambda: self._clearance(node, leaf, asked), asked)

    def _timed(self, prove: Callable[[], Clearance | None], asked: OracleContext) -> Clearance | None:
        """What a proof leaves clear; how long it took is told."""
        started = clock.now()
        clearance = prove()
        asked.pace.proof_seconds += clock.now() - started
        asked.pace.proofs += 1
        return clearance

    def _clearance(self, node: Node, leaf: Leaf, asked: OracleContext) -> Clearance | None:
        return self.prove(node.lo, node.hi, leaf, asked.case)

    def _close(self, node: Node, leaf: Leaf, asked: OracleContext) -> Closed | None:
        """The node closed by a leaf, if that holds."""
        clearance = self._prove_timed(node, leaf, asked)
        return None if clearance is None else Closed(leaf=leaf, clearance=clearance)

    # -- what is no line ------------------------------------------------------------------------------------------

    def _relax(self, node: Node, asked: OracleContext) -> RelaxationResult | None:
        """What excludes the whole cell, else what more effort makes of the node's view."""
        if asked.lines_only:
            return None
        view, cell = self.views[node.view], (node.lo.tolist(), node.hi.tolist())
        if self.allowances is not None and are_identical(self.pairs, *cell):
            return RelaxationResult(leaf=Leaf(rule="identical"), point=node.lo, fractional=None)
        # The linear program of one score sees by itself what constraints exclude; of several scores it is one of many.
        seen = self.views.whole and view.bounder.sees_constraints and self.nearness is None
        if self.may_exclude and not seen:
            leaf = empty_leaf(self.pairs, node.lo[: self.codes].tolist(), node.hi[: self.codes].tolist())
            if leaf is not None:
                return RelaxationResult(leaf=leaf, point=node.lo, fractional=None)
        return view.bounder.relax(node.lo, node.hi, view.seen(case_in_cell(self.pairs, asked.case, *cell)))

    def _has_few_pairs(self, node: Node, asked: OracleContext, *, uncut: bool = False) -> bool:
        """Whether a node has so few pairs that they are looked through."""
        if asked.lines_only:
            return False
        most = FEW_UNCUT_PAIRS if uncut else max(1, FEW_PAIRS // asked.cost)
        codes = len(asked.pairs.variables)
        return pair_count(asked.pairs, node.lo[:codes].tolist(), node.hi[:codes].tolist()) <= most

    def _enumerate_pairs(self, node: Node, asked: OracleContext) -> Answer:
        """Decide a node of few pairs one by one; a witness that does not replay leaves it stuck."""
        found = False
        for x, other in find_witnesses(
            asked.pairs, self.enclose, node.lo.tolist(), node.hi.tolist(), asked.case
        ):
            found = True
            witness = asked.referee([float(c) for c in x], [float(c) for c in other])
            if witness is not None:
                return Pair(witness=witness)
        return Stuck() if found else self._close(node, Leaf(rule="enumerated"), asked) or Stuck()


def prove_leaf(
    pairs: PairSpace,
    score: FeatureDependent,
    enclose: Encloser,
    line: tuple[Bounder, WitnessSet],
    lo: Floats,
    hi: Floats,
    leaf: Leaf,
    case: Case,
) -> Clearance | None:
    """Whether a leaf closes a cell: None if not, else by how much. The family's own rules are put to the bounder of the `line`."""
    bounder, separated = line
    if leaf.rule == "independent":
        return Fraction(0) if is_independent(pairs, score) else None
    if leaf.rule == "enumerated":
        found = enumerated_clearance(pairs, enclose, lo.tolist(), hi.tolist(), case)
        return found if found is None or bounder.exact or isinstance(found, float) else Fraction(0)
    if leaf.rule == "identical":
        return Fraction(0) if are_identical(pairs, lo.tolist(), hi.tolist()) else None
    if leaf.rule == "empty":
        return math.inf if excludes(pairs, lo.tolist(), hi.tolist(), leaf) else None
    return bounder.prove(lo, hi, leaf, separated)
