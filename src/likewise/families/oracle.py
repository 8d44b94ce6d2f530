"""Oracle: what the search knows of a model family. One protocol, one implementation a family.

The search owns the cells, the order, the incumbent and the proof; the oracle owns the mathematics. Cells
come in batches: `lo`, `hi` of shape (cells, variables) over the variables of a `PairSpace`. Bounds are
float64 and only propose; `prove`, or the checker, decides in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Relaxed, Rule
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """For each cell: upper bound of lean * s - (1 - lean) * s', and the point that attains the relaxation.

    `first`, `second` are s and s' at `points`; `noise` bounds the rounding error of `upper`. A cell without
    any similar pair has upper = -inf. `closes`, where a family's rule is more than the bound, tells which
    cells it should close, with `hints` if it takes any, and `nearly` which ones are so close to it that float64 does not
    tell: the checker does, whose sums are exact. `loss` and `cuts`, by cell and variable, are what an
    oracle learned about where to split.
    """

    upper: Floats
    first: Floats
    second: Floats
    points: Floats
    noise: Floats
    closes: NDArray[np.bool_] | None = None
    nearly: NDArray[np.bool_] | None = None
    hints: list[tuple[int, ...]] | None = None
    loss: Floats | None = None
    cuts: Floats | None = None

    def take(self, rows: NDArray[np.intp]) -> Bounds:
        """The bounds in these rows."""
        return Bounds(**{f.name: _rows(getattr(self, f.name), rows) for f in fields(self)})

    @staticmethod
    def joined(parts: Sequence[Bounds]) -> Bounds:
        """The rows of all parts, one after another."""
        return Bounds(**{f.name: _concatenated([getattr(p, f.name) for p in parts]) for f in fields(Bounds)})


def _rows(column: Any, rows: NDArray[np.intp]) -> Any:
    if column is None:
        return None
    return [column[i] for i in rows] if isinstance(column, list) else column[rows]


def _concatenated(columns: list[Any]) -> Any:
    if any(column is None for column in columns):
        return None
    if isinstance(columns[0], list):
        return [item for column in columns for item in column]
    return np.concatenate(columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A pair of a cell by its two scores; `attains` tells that no pair of the cell is further in the direction asked for."""

    first: float
    second: float
    attains: bool


class Oracle(Protocol):
    """Bounds one model family over cells of pair space.

    `rule` is the rule that closes its cells; `exact` tells that `prove` decides it in exact arithmetic. Where
    it does not, a closed cell is a proposal to the checker.
    """

    rule: Rule
    exact: bool

    def warm_up(self) -> None:
        """What is done once before a search, and not on its time."""

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        """Bound each cell in its own direction, constraints left aside; best near its threshold."""

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        """One promising pair of each cell, as points."""

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        """A few promising pairs of ONE cell, with more effort than `candidates`: asked once, of the root."""

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        """For each cell the variable to split and where: left is <= at, right is >= at (> at if discrete).
        Variable -1: the cell is a single point."""

    def after(self, variable: int, at: float) -> float | None:
        """The next double, where a variable is to be cut between `at` and it; None where `at` is on both sides."""

    def relax(self, lo: Floats, hi: Floats, question: Question) -> Relaxed | None:
        """Multipliers and lean for ONE cell from a linear program; None where there is nothing to gain."""

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        """Whether the leaf closes ONE cell (see `exact`): None if not, else how far both scores of
        every pair of the cell may move without making it a witness (infinite where there is no pair)."""

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """The score of one individual, to about so many bits."""


@runtime_checkable
class Remembering(Oracle, Protocol):
    """An oracle that keeps something about each cell, of any type, and bounds its parts with the help of that.

    Bounds, proposals and cuts are of ONE cell and one lean, which must be `on_grid`; a proposal, its pair and a cut are about the
    cell and the lean that were bounded last.
    """

    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> Any:
        """What is known of a cell by its limits alone; `even` where nothing but the difference of scores will be asked for."""

    def inherited(self, memory: Any, variable: int, lo: float, hi: float) -> Any:
        """What is known of a part of a cell, in which one variable has new limits."""

    def marked(self) -> dict[int, Floats]:
        """Codes that are worth trying, by feature."""

    def on_grid(self, lean: float) -> float:
        """The nearest lean that can be asked for."""

    def bound_memory(self, memory: Any, lean: float) -> tuple[float, float, float]:
        """Upper bound of lean * s - (1 - lean) * s', and s and s' where the relaxation attains it."""

    def bound_anywhere(self, memory: Any, lean: float) -> tuple[float, float, float]:
        """The same at a lean that need not be on the grid, with more effort."""

    def noise(self, lean: float) -> float:
        """What rounding may change about a bound."""

    def proposal(self, memory: Any, lean: float) -> Proposal | None:
        """A promising pair, by its scores."""

    def pair(self) -> Floats:
        """The point of pair space of the last proposal."""

    def agreed(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """The part of a cell, around the last proposal, in which all pairs have its scores."""

    def cut_memory(self, memory: Any, lean: float, excess: float) -> tuple[int, float, float, float]:
        """Variable (-1: none) and place to split, and by how much the bounds of the left and of the right part are lower, to 1e-6 of the excess."""

    def halved(
        self, lo: Sequence[float], hi: Sequence[float], among: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """A variable, one of those given, and its middle: where a cut by the bounds is of no use. -1 for a single point."""

    def constant(self, lo: Sequence[float], hi: Sequence[float]) -> bool:
        """Whether all individuals of a cell have the same score, also by the original program."""

    def prove_memory(self, memory: Any, leaf: Leaf, question: Question) -> Clearance | None:
        """As `prove`, for the oracle's own rule."""
