"""Climbing: the search of `verify` asked again and again, to close in on the disparity D* from both sides.

"Is there a pair above lower + tolerance?" Each better pair, also one that gains only a part of the tolerance,
raises the lower end and the question with it, after coordinate ascent has made the most of it; cells
closed under an easier question stay closed, because the witness sets shrink as the level rises. When nothing
is open, D* <= lower + tolerance is proved. Then comes the finish: leaves that allow more than `lower` are
opened again and the question is asked next to `lower` itself, for a limited number of cells; where that closes
too, lower and upper are equal but for rounding. At the end of the budget, cells that are still open count
with their own bounds. The upper end is a double that every leaf proves in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.bounds.oracle import Leaf
from likewise.errors import InternalError
from likewise.model.enclosure import FIRST_BITS
from likewise.model.gauge import Gauge
from likewise.model.question import round_up, snap
from likewise.progress import Snapshot
from likewise.search.branch_and_bound import Search
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import climbed, deepest
from likewise.search.feasible import some_individual
from likewise.search.portfolio import independence
from likewise.search.problem import Witness
from likewise.search.proof import Proof, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.problem import Problem
    from likewise.verifying.preparing import Prepared

    Floats = NDArray[np.float64]
    Bounded = tuple[Leaf, Floats, Floats]

GAIN = 16  # a pair is better if it gains this part of the tolerance: smaller steps might never end
QUICK = 1e10  # multiplications spent on an enumeration: less than a second, as cells may do without it
FINISH = 4_000  # cells spent on making lower and upper equal once they are within the tolerance
RAISES = 64  # better pairs taken while doing so: each raises the lower end by a part of the fine tolerance
FINE = Fraction(1, 10**12)  # what lower and upper may stay apart, relatively, when they are made equal
SPARSER, SECONDS_APART = 1.1, 0.1  # the history's entries: some fifty in a minute, while nothing else happens
FLOAT_ROOM = 1e-9  # relative, added to float64 bounds that nothing has proved
INFLATION = Fraction(1, 2**52)  # relative raise of a float upper bound before it is put to the exact test
INFLATIONS = 60  # doublings of that raise before giving up on a finite upper bound


class Climb:
    """One measurement: lower end with its witness, upper end with its proof, history."""

    def __init__(self, prepared: Prepared, gauge: Gauge, tolerance: Fraction) -> None:
        self.prepared, self.gauge, self.tolerance = prepared, gauge, tolerance
        self.problem: Problem = prepared.problem
        self.problem.replay = _Unasked()
        self.history: list[tuple[float, float, float]] = []
        self._listener, self.problem.listener = self.problem.listener, self._hear
        self.search: Search | None = None
        self.proof: Proof | None = None
        self.upper = math.inf
        self.reason: str | None = None
        self.raise_to(nobody_else(prepared))

    def run(self) -> None:
        """Close in until the tolerance is met or the budget is over."""
        if self.gauge.of != "margin":
            self.problem.question = self.gauge.question(Fraction(0))
            self.proof = independence(self.problem)
            if self.proof is not None:
                self.upper = 0.0
                return
            self.raise_to(self.witness)
        for find in (deepest, partial(enumerate_space, effort=QUICK)):
            witness = find(self.problem)
            if witness is not None:
                self.raise_to(witness)
            if self.topped:
                return
        self.search = Search(problem=self.problem, settles=self.problem.oracle.exact)
        self.proof = self.search.proof
        end = self._climb(math.inf)
        if end == "topped":
            return
        if end != "closed":
            self.reason = self.problem.budget.reason if end == "budget" else "rounding"
        if not self.problem.oracle.exact:
            self._settle_in_floats()
        elif end == "closed":
            self._finish()
        else:
            self._settle()

    def raise_to(self, witness: Witness) -> None:
        """Take a better pair and ask for one that is better still."""
        self.witness, self.lower = witness, self.gauge.value(witness.first.lo, witness.second.hi)
        if self.gauge.of != "margin":
            self.lower = max(self.lower, Fraction(0))  # of anybody and themselves, however wide the enclosure
        if not self.topped:
            self._ask()

    def _ask(self) -> None:
        """Prove that nothing is above lower + tolerance; take whatever is noticeably above lower."""
        self.problem.question = self.gauge.question(self.lower + self.tolerance)
        self.problem.wanted = self.gauge.question(self.lower + self.tolerance / GAIN)

    @property
    def topped(self) -> bool:
        """Whether there is nothing left to ask: no two probabilities are as far as 1 apart."""
        if self.gauge.of != "probability" or float(self.lower + self.tolerance) < 1:
            return False
        self.upper, self.proof = 1.0, None
        return True

    def _climb(self, most: float) -> str:
        search = self._searched()
        raises = 0
        while (end := search.run(most=most)) == "witness":
            if search.witness is None:
                raise InternalError("the search ended with a witness and has none")
            self.raise_to(search.witness)
            better = None if self.topped else climbed(self.problem, np.array([search.witness.x]))
            if better is not None:
                self.raise_to(better)
            if self.topped:
                return "topped"
            self._note()
            raises += 1
            if raises > RAISES and math.isfinite(most):
                return "budget"
        return end

    def _finish(self) -> None:
        """Ask closer to the lower end: open what allows more, for a limited number of cells."""
        search, enough, nodes = (
            self._searched(),
            self.lower + self.tolerance,
            list(self._searched().proof.nodes),
        )
        self.tolerance = min(self.tolerance, FINE * (1 + abs(self.lower)))
        self._ask()
        self._reopen_leaves_above()
        self._climb(FINISH)
        self._settle()
        if self.upper > round_up(enough):  # the cells opened again came out worse: back to what was proved
            self.proof = search.proof = Proof(nodes)
            self.upper = round_up(enough)

    def _reopen_leaves_above(self) -> None:
        search, oracle, question = self._searched(), self.problem.oracle, self.problem.question
        search.reopen(
            {
                number
                for number, node, lo, hi in walk(search.proof, self.prepared.pairs)
                if isinstance(node, Leaf) and oracle.prove(lo, hi, node, question) is None
            },
            split=False,
        )

    def _settle_in_floats(self) -> None:
        """The upper end by the oracle's bounds: proved only once the checker has accepted its certificate."""
        search, proved = self._searched(), round_up(self.lower + self.tolerance)
        if not search.open and not search.stuck:
            self.upper = proved
            return
        self.proof = None
        highest = min(self._allowed(), self._least_upper())
        self.upper = max(proved, highest + FLOAT_ROOM * (1 + abs(highest)))

    def _settle(self) -> None:
        """The upper end: the smallest level found that every leaf, and every open cell made one, proves."""
        search = self._searched()
        opened = {
            cell.number: Leaf(rule=self.problem.oracle.rule, lean=snap(cell.lean))
            for cell in (*search.open, *search.stuck)
        }
        for number, leaf in opened.items():
            search.proof.close(number, leaf)
        proved = self.lower + self.tolerance  # what every leaf that the search closed proves already
        cells = [
            (node, lo, hi)
            for number, node, lo, hi in walk(search.proof, self.prepared.pairs)
            if isinstance(node, Leaf) and (number in opened or not opened)
        ]
        for level in self._levels_above(cells, proved) if opened else self._levels_below(cells, proved):
            question = self.gauge.question(level)
            if all(self.problem.oracle.prove(lo, hi, leaf, question) is not None for leaf, lo, hi in cells):
                self.upper = float(level)
                return
        self.proof = None

    def _levels_below(self, cells: list[Bounded], proved: Fraction) -> Iterator[Fraction]:
        """Doubles that the closed leaves may prove although they were only asked for `proved`."""
        lowest = round_up(self.lower)
        yield Fraction(lowest)
        yield Fraction(math.nextafter(lowest, math.inf))  # a decision's witness may lie on the border itself
        cap = self._cap(cells)
        if self.lower < cap < proved:
            yield Fraction(round_up(cap))
        yield Fraction(round_up(proved))

    def _levels_above(self, cells: list[Bounded], proved: Fraction) -> Iterator[Fraction]:
        """Doubles from the open cells' bounds in float64 upwards."""
        level, raised = max(proved, self._cap(cells)), Fraction(0)
        for _ in range(INFLATIONS):
            candidate = Fraction(round_up(level + raised * (1 + abs(level))))
            if self.gauge.of == "probability" and candidate >= 1:
                return
            yield candidate
            raised = 2 * raised or INFLATION

    def _cap(self, cells: list[Bounded]) -> Fraction:
        """What the leaves allow by their lines in float64, constraints left aside; the lower end if nothing."""
        lines = [(leaf, lo, hi) for leaf, lo, hi in cells if leaf.rule == self.problem.oracle.rule]
        if not lines:
            return self.lower
        lean = np.array([float(leaf.lean or 0) for leaf, _, _ in lines])
        lo, hi = np.stack([line[1] for line in lines]), np.stack([line[2] for line in lines])
        cap = float(
            self.gauge.cap(lean, self.problem.oracle.bound(lo, hi, lean, self._threshold(lean)).upper).max()
        )
        return Fraction(cap) if math.isfinite(cap) else self.lower

    def _threshold(self, lean: Floats) -> Floats:
        return self.gauge.question(self.lower + self.tolerance).threshold(lean)

    def _hear(self, snapshot: Snapshot) -> None:
        """Pass the search's reports on, with the bracket from time to time."""
        last = self.history[-1][0] if self.history else 0.0
        searching = self.search is not None and self.search.batches > 0
        if searching and snapshot.seconds >= SPARSER * last + SECONDS_APART:
            self._note()
        else:
            self._listener(snapshot)

    def _note(self) -> None:
        """Keep the bracket's history, with what the open cells still allow; what was once proved stays so."""
        search, seconds = self._searched(), self.problem.budget.elapsed
        upper = min(max(self._allowed(), float(self.lower + self.tolerance)), self._least_upper())
        self.history.append((seconds, float(self.lower), upper))
        self._listener(
            Snapshot(
                stage="measuring",
                seconds=seconds,
                closed=search.closed,
                open=len(search.open),
                lower=float(self.lower),
                upper=upper,
            )
        )

    def _allowed(self) -> float:
        """The highest value that the bounds of the open cells allow, in float64."""
        cells = [*self._searched().open, *self._searched().stuck]
        caps = self.gauge.cap(np.array([c.lean for c in cells]), np.array([c.upper for c in cells]))
        return float(caps.max(initial=-math.inf))

    def _least_upper(self) -> float:
        """The lowest upper end so far: cells cut anew may have worse bounds than the one they came from."""
        return min((upper for _, _, upper in self.history), default=math.inf)

    def _searched(self) -> Search:
        if self.search is None:
            raise InternalError("no search was run")
        return self.search


def nobody_else(prepared: Prepared) -> Witness:
    """An individual paired with itself: the pair to start from, of gap zero."""
    space = prepared.pairs.space
    if space.constraints:
        codes = some_individual(space)
    else:
        codes = [Fraction(prepared.pairs.variables[v].lo) for v in prepared.pairs.first]
    score, point = prepared.problem.oracle.enclose(codes, FIRST_BITS), tuple(float(c) for c in codes)
    return Witness(x=point, other=point, first=score, second=score)


class _Unasked:
    """A disparity is about the real-number semantics: no replay."""

    def confirms(self, *_: Any) -> bool:
        return True
