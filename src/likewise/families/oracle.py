"""Oracle: what branch and bound knows of a model. It owns the mathematics; the frontier owns the nodes, their order, the incumbent and the proof.

The frontier of a case talks to an `Oracle`, which has one verb for the work: `look` at nodes, and say of each whether it is closed by a leaf, holds
a pair, is to be cut, or is stuck. `look` is written twice, on top of what a family provides for ONE line of a case, a `Bounder`:

    batched      many nodes at once, in float64; what is decided is proved one by one
    remembered   node by node, each starting from what was found out about the one that it was cut from (`MemoryBounder`)

A family implements `Bounder`, or `MemoryBounder`, and nothing else; `views` puts the lines of a case together. Bounds are float64 and only propose;
`prove`, or the checker, decides in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, PartOfLeaf, RelaxationResult, Rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.cases import Case, Witness
    from likewise.model.witness_set import Direction, WitnessSet
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Enclosures = tuple[Enclosure, ...]

BATCH = 256  # nodes bounded together: enough to hide Python's cost, few enough to stay best-first
FIRST_LEAN_STEP = 0.05  # of the lean, from the first node to its children (`leans`)
FIRST_PROOF_SECONDS = 1e-3  # seconds that an exact proof is taken to need before there was one
CLOSING_SHARE = (
    0.5  # of the time that looking at a node has taken so far: what it takes if it need not be cut
)
REMEMBERED_CLOSING_SHARE = 0.25  # the same where nodes have memories; a tenth was seen in forests


# -- nodes and what is said of them ---------------------------------------------------------------------------------


@dataclass(slots=True, order=True)
class Node:
    """An open node: a cell of pair space, most promising (largest excess) first. What oracles know of it besides is handed down to its
    children: the lean of the best line, the bound in that direction, the view of the case that the line belongs to, and a memory that only
    oracles understand."""

    rank: float
    number: int
    lo: Floats = field(compare=False)
    hi: Floats = field(compare=False)
    lean: float = field(compare=False)
    upper: float = field(compare=False, default=np.inf)  # of the score in the direction of `lean`
    step: float = field(compare=False, default=FIRST_LEAN_STEP)  # by which another lean is tried
    view: int = field(compare=False, default=0)
    memory: Any = field(compare=False, default=None)


class Ceiling(NamedTuple):
    """a s - b s' <= bound at every pair of a cell."""

    a: Fraction
    b: Fraction
    bound: Fraction

    def along(self, line: Direction) -> Fraction | None:
        """What it says of a line's own a and b; None where that has another direction."""
        if line.a == self.a and line.b == self.b:
            return self.bound
        if line.a * self.b != line.b * self.a:
            return None
        return self.bound * (line.a + line.b) / (self.a + self.b)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """No pair of the node is a witness, because of the leaf; with the ceiling that was proved, if that is kept."""

    leaf: Leaf
    clearance: Clearance
    ceiling: Ceiling | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A witness, in this node or in one of those that were looked at together."""

    witness: Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """What is known of a part before it is looked at; `urgent` goes before all others."""

    rank: float
    upper: float
    memory: Any = None
    urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Left is <= at, right is >= at (> at if discrete), or >= after, the double next to `at`, where that is given."""

    variable: int
    at: float
    after: float | None
    children: tuple[Child, Child]


@dataclass(frozen=True, slots=True)
class Stuck:
    """The node can neither be closed nor cut."""


Answer = Closed | Pair | Cut | Stuck


@dataclass(slots=True)
class LookTimes:
    """What looks and exact proofs have taken so far, in seconds, and how many there were."""

    look_seconds: float = 0.0
    looks: int = 0
    proof_seconds: float = 0.0
    proofs: int = 0

    def add(self, more: LookTimes) -> None:
        """Count what was done elsewhere."""
        for part in fields(self):
            setattr(self, part.name, getattr(self, part.name) + getattr(more, part.name))

    def since(self, before: LookTimes) -> LookTimes:
        """What was added to what was `before`."""
        return LookTimes(*(getattr(self, part.name) - getattr(before, part.name) for part in fields(self)))

    @property
    def seconds_per_look(self) -> float:
        return self.look_seconds / max(self.looks, 1)

    def seconds_per_closing_look(self, *, remembered: bool) -> float:
        """Seconds that a look takes, with the proof, if the node is closed by it; nodes that are `remembered` need one bound, and no cut."""
        share = REMEMBERED_CLOSING_SHARE if remembered else CLOSING_SHARE
        return share * self.seconds_per_look + (
            self.proof_seconds / self.proofs if self.proofs else FIRST_PROOF_SECONDS
        )


class OracleContext(Protocol):
    """Whom an oracle answers: the frontier of a case, as oracles see it."""

    pace: LookTimes
    proposes_ties: bool  # nodes that are nearly closed are left to the checker
    lines_only: bool  # nothing but a line may close a node, and nobody is looked for
    start: tuple[Floats, Floats]  # the first cell

    @property
    def case(self) -> Case:
        """What a proof answers with no."""

    @property
    def sought(self) -> Case:
        """What a witness has to answer with yes: the case, or an easier one."""

    @property
    def pairs(self) -> PairSpace:
        """The pairs that are searched: those of the oracle, or fewer."""

    @property
    def cost(self) -> int:
        """Of one score, in kernel values."""

    def sides(self, points: Floats) -> tuple[Floats, Floats]:
        """What the case is about at x and at x', in float64, for many pairs."""

    def referee(self, x: Sequence[float], other: Sequence[float]) -> Witness | None:
        """The witness at a pair, if it is one exactly and on replay."""

    def breaks(self, x: Sequence[float], other: Sequence[float]) -> bool:
        """Whether a pair is a witness exactly, whatever the replay says."""


class Oracle(Protocol):
    """What a frontier knows of a case of a model. `rule` closes its cells by lines; `exact` tells that `prove` decides that rule in exact arithmetic, where
    it does not, a leaf is a proposal to the checker; `proves` that a closed case is a proof without the checker; `batch` nodes are looked at together; `inherits` that
    a node is closed at the level of its parent's bound by what that was found by."""

    rule: Rule
    exact: bool
    proves: bool
    batch: int
    inherits: bool

    def warm_up(self) -> None:
        """What is done once before a search, and not on its time."""

    def begin(self, asked: OracleContext) -> Witness | None:
        """A witness among a few promising pairs of the whole space, with more effort than a look."""

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        """Those pairs, where coordinate ascent is worth starting from them; none where the oracle's own proposals come sooner."""

    def look(self, nodes: Sequence[Node], asked: OracleContext) -> Iterator[Answer]:
        """One answer a node, in their order; after a pair nothing more. Nodes are told what was learned of them."""

    def look_again(self, node: Node, asked: OracleContext) -> Answer:
        """The same of a node that was closed by a leaf which is refused: not by its line."""

    def recall(self, node: Node, leaf: Leaf, asked: OracleContext) -> None:
        """Tell a node that is opened again what the leaf that closed it says of it."""

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, case: Case) -> Clearance | None:
        """Whether the leaf closes a cell (see `exact`): None if not, else how far both scores of every pair of the cell may move without making it a
        witness (infinite where there is no pair)."""


# -- what a family provides -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """For each cell: upper bound of lean * s - (1 - lean) * s', and the point that attains the relaxation.

    `first`, `second` are s and s' at `points`; `noise` bounds the rounding error of `upper`. A cell without
    any similar pair has upper = -inf. `closes`, where a family's rule is more than the bound, tells which
    cells it should close, by the family's rule or by the one of `rules`, with `hints` if it takes any (of sums and nested scores: with what bounds their `parts`; of pairs within a distance: with `multipliers`), and `nearly` which ones are so close to it that float64 does not
    tell: the checker does, whose sums are exact. `loss` and `cuts`, by cell and variable, are what an
    oracle learned about where to split; `memories`, one a cell, what the bounds of its parts start from. `attained` is s + s' where the
    relaxation is attained, if `points` are others that are worth a look.
    """

    upper: Floats
    first: Floats
    second: Floats
    points: Floats
    noise: Floats
    closes: NDArray[np.bool_] | None = None
    nearly: NDArray[np.bool_] | None = None
    rules: list[Rule] | None = None
    hints: list[tuple[int, ...]] | None = None
    multipliers: list[tuple[Fraction, ...]] | None = None
    parts: list[tuple[PartOfLeaf, ...]] | None = None
    loss: Floats | None = None
    cuts: Floats | None = None
    memories: list[Any] | None = None
    attained: Floats | None = None

    @property
    def balance(self) -> Floats:
        """s + s' of each cell where its relaxation is attained: what tells how the bound changes with the lean."""
        return self.first + self.second if self.attained is None else self.attained

    def take(self, rows: NDArray[np.intp]) -> Bounds:
        """The bounds in these rows."""
        return Bounds(**{f.name: _take_rows(getattr(self, f.name), rows) for f in fields(self)})

    @staticmethod
    def joined(parts: Sequence[Bounds]) -> Bounds:
        """The rows of all parts, one after another."""
        return Bounds(**{f.name: _concatenate([getattr(p, f.name) for p in parts]) for f in fields(Bounds)})


def _take_rows(column: Any, rows: NDArray[np.intp]) -> Any:
    if column is None:
        return None
    return [column[i] for i in rows] if isinstance(column, list) else column[rows]


def _concatenate(columns: list[Any]) -> Any:
    if any(column is None for column in columns):
        return None
    if isinstance(columns[0], list):
        return [item for column in columns for item in column]
    return np.concatenate(columns)


class Bounder(Protocol):
    """Bounds one family over cells of pair space, in the directions of lines: a s(x) - b s'(x'), of one score or of two forms of several.

    Cells come in batches: `lo`, `hi` of shape (cells, variables) over the variables of a `PairSpace`. What a family need not say has an
    answer here; the rules `independent`, `enumerated` and `empty` are proved for all families in one place (`looking.prove_leaf`). Bounds that come down to sums of
    one-feature terms need no mathematics of their own: `cells.forms` has their maxima over many cells and where to cut (`widest_cut`), `cells.separable` the exact ones.
    """

    rule: Rule
    more_rules: tuple[Rule, ...] = ()  # that bounds may name in its place
    exact: bool
    batch: int = BATCH  # cells that are bounded together
    proves: bool = True  # where exact: whether a case that closes is a proof without the checker
    sees_constraints: bool = False  # whether `relax` knows what constraints exclude
    directions: tuple[tuple[int, ...], ...] = ()  # that leaves of the rule are written with
    inherits: bool = (
        False  # whether bounds start from memories of the cells that these are parts of (`bound_heirs`)
    )

    def warm_up(self) -> None:
        """What is done once before a search, and not on its time."""
        return

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        """Bound each cell in its own direction, constraints left aside; best near its threshold."""

    def bound_heirs(
        self,
        lo: Floats,
        hi: Floats,
        lean: Floats,
        threshold: Floats,
        memories: Sequence[Any],  # noqa: ARG002
    ) -> Bounds:
        """The same of cells that are parts of others, given the `memories` of the bounds of those; None of a cell of which there are none."""
        return self.bound(lo, hi, lean, threshold)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        """One promising pair of each cell, as points."""

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        """A few promising pairs of ONE cell, with more effort than `candidates`: asked once, of the root."""
        return self.candidates(lo[None], hi[None])

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        """For each cell the variable to split and where: left is <= at, right is >= at (> at if discrete).
        Variable -1: the cell is a single point."""

    def after(self, variable: int, at: float) -> float | None:  # noqa: ARG002
        """The next double, where a variable is to be cut between `at` and it; None where `at` is on both sides."""
        return None

    def relax(self, lo: Floats, hi: Floats, question: WitnessSet) -> RelaxationResult | None:  # noqa: ARG002
        """A leaf of ONE cell by more effort than a bound takes, as from a linear program; None where there is nothing to gain."""
        return None

    def leaf_by_costs(self, lo: Floats, hi: Floats, slack: Fraction) -> Leaf | None:  # noqa: ARG002
        """The leaf of ONE cell by its line less shares of what an allowance costs, if that closes it; None for families that have none."""
        return None

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Whether a leaf of the family's own rules closes ONE cell, as `Oracle.prove` says it."""

    def prove_all(
        self, lo: Floats, hi: Floats, leaves: Sequence[Leaf], question: WitnessSet
    ) -> Iterator[Clearance | None]:
        """The same of several cells, one after another as the answers are asked for."""
        return (self.prove(*cell, question) for cell in zip(lo, hi, leaves, strict=True))

    def codes_to_try(self) -> dict[int, Floats]:
        """Codes that are worth trying, by feature."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A pair of a cell by its two scores; `attains` tells that no pair of the cell is further in the direction asked for."""

    first: float
    second: float
    attains: bool


@runtime_checkable
class MemoryBounder(Bounder, Protocol):
    """A family that keeps something about each cell, of any type, and bounds its parts with the help of that.

    Bounds, proposals and cuts are of ONE cell and one lean, which must be `on_grid`; a proposal, its pair and a cut are about the
    cell and the lean that were bounded last.
    """

    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> Any:
        """What is known of a cell by its limits alone; `even` where nothing but the difference of scores will be asked for."""

    def inherit(self, memory: Any, variable: int, lo: float, hi: float) -> Any:
        """What is known of a part of a cell, in which one variable has new limits."""

    def on_grid(self, lean: float) -> float:
        """The nearest lean that can be asked for."""

    def bound_memory(self, memory: Any, lean: float) -> tuple[float, float, float]:
        """Upper bound of lean * s - (1 - lean) * s', and s and s' where the relaxation attains it."""

    def bound_anywhere(self, memory: Any, lean: float) -> tuple[float, float, float]:
        """The same at a lean that need not be on the grid, with more effort."""

    def noise(self, lean: float) -> float:
        """What rounding may change about a bound."""

    def propose(self, memory: Any, lean: float) -> Proposal | None:
        """A promising pair, by its scores."""

    def pair(self) -> Floats:
        """The point of pair space of the last proposal."""

    def agreed(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """The part of a cell, around the last proposal, in which all pairs have its scores."""

    def cut_memory(self, memory: Any, lean: float, excess: float) -> tuple[int, float, float, float]:
        """Variable (-1: none) and place to split, and by how much the bounds of the left and of the right part are lower, to 1e-6 of the excess."""

    def choose_halving(
        self, lo: Sequence[float], hi: Sequence[float], among: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """A variable, one of those given, and its middle: where a cut by the bounds is of no use. -1 for a single point."""

    def constant(self, lo: Sequence[float], hi: Sequence[float]) -> bool:
        """Whether all individuals of a cell have the same score, also by the original program."""

    def prove_memory(self, memory: Any, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """As `prove`, for the oracle's own rule."""

    def save_together(self, memory: Any, lean: float, excess: float) -> float:  # noqa: ARG002
        """What the bound asked for last falls by with more effort, which ends once that is the excess over a threshold; 0 for families that have nothing better."""
        return 0.0

    def line(self, memory: Any, lean: Fraction, *, together: bool = False) -> Leaf:
        """The leaf that closes a cell by its bound at this lean; `together` where it takes the effort of `save_together`."""
