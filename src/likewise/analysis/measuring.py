"""measure: how unfair? A bracket around the disparity D*, the largest value over all similar pairs.

The same search as `verify`, asked again and again: "is there a pair above lower + tolerance?" Each witness
raises the lower end and the question with it; cells closed under an easier question stay closed, because
the witness sets shrink as the level rises. When nothing is open the upper end is the largest bound of the
leaves, taken in exact arithmetic. At the end of the budget the open cells count with their own bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.bounds.oracle import Leaf
from likewise.errors import InternalError, SpecError
from likewise.model.gauge import Gauge, Scale
from likewise.model.question import round_down, round_up, snap
from likewise.progress import Listener, Snapshot
from likewise.search.branch_and_bound import Search
from likewise.search.budget import interruptible
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import falsify
from likewise.search.feasible import some_individual
from likewise.search.portfolio import independence
from likewise.search.problem import Witness
from likewise.search.proof import walk
from likewise.verifying.deciding import listening
from likewise.verifying.preparing import Prepared, prepare

if TYPE_CHECKING:
    from likewise.search.problem import Problem
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

TOLERANCE = 1e-6
ATTEMPTS = 4  # rounds of falsification before the search proper, each from the last one's level
INFLATION = 1e-12  # relative raise of a float upper bound before it is put to the exact test
INFLATIONS = 40  # doublings of that raise before giving up on a finite upper bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparity:
    """lower <= D* <= upper; `pair` attains lower; `history` holds (seconds, lower, upper)."""

    of: Scale
    lower: float
    upper: float
    pair: Any = None
    scores: tuple[float, float] | None = None
    history: tuple[tuple[float, float, float], ...] = ()
    certificate: Any = None
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        reason = f"  ({self.reason})" if self.reason else ""
        return (
            f"largest {self.of} gap of a similar pair: between {self.lower:.6g} and {self.upper:.6g}{reason}"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the frame, ready for JSON: infinite bounds are null."""
        finite = [b if math.isfinite(b) else None for b in (self.lower, self.upper)]
        history = [[b if math.isfinite(b) else None for b in point] for point in self.history]
        return {
            "of": self.of,
            "lower": finite[0],
            "upper": finite[1],
            "scores": None if self.scores is None else list(self.scores),
            "history": history,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


def measure(
    model: Any,
    space: Space,
    similar: Similarity,
    *,
    of: Scale = "score",
    tolerance: float = TOLERANCE,
    X: Any = None,
    budget: float = 60,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
) -> Disparity:
    """Bracket the largest gap of scores, of probabilities, or the largest margin of a flipped decision.

    Parameters are those of `verify`; `of` names the scale, and the search ends once upper - lower is at
    most `tolerance`.
    """
    if of not in ("score", "probability", "margin"):
        raise SpecError(f"of must be 'score', 'probability' or 'margin', not {of!r}")
    if not (isinstance(tolerance, (int, float)) and tolerance > 0 and math.isfinite(tolerance)):
        raise SpecError(f"tolerance must be a positive number, not {tolerance!r}")
    gauge = Gauge(of=of)
    with listening(progress) as listener:
        prepared = prepare(
            model,
            space,
            similar,
            gauge.question(Fraction(0)),
            of,
            X=X,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        with interruptible(prepared.problem.budget):
            return _Climb(prepared, gauge, Fraction(tolerance)).run()


class _Climb:
    """The rising question: lower end, witness and history of one measurement."""

    def __init__(self, prepared: Prepared, gauge: Gauge, tolerance: Fraction) -> None:
        self.prepared, self.gauge, self.tolerance = prepared, gauge, tolerance
        self.problem: Problem = prepared.problem
        self.problem.replay = _Unasked()
        self.lower: Fraction | None = None
        self.witness: Witness | None = None
        self.history: list[tuple[float, float, float]] = []
        self.search: Search | None = None

    def run(self) -> Disparity:
        self.raise_to(nobody_else(self.prepared))
        if self.gauge.of != "margin" and independence(self.problem) is not None:
            return self._answer(Fraction(0), None)
        for find in (*[falsify] * ATTEMPTS, enumerate_space):
            witness = find(self.problem)
            if witness is not None and not self.raise_to(witness):
                return self._answer(Fraction(1), None)
        self.search = search = Search(problem=self.problem)
        while (end := search.run()) == "witness":
            if search.witness is None:
                raise InternalError("the search ended with a witness and has none")
            if not self.raise_to(search.witness):
                return self._answer(Fraction(1), None)
            self._note()
        reason = {"budget": self.problem.budget.reason, "stuck": "rounding"}.get(end)
        return self._answer(self._upper(), reason)

    def raise_to(self, witness: Witness) -> bool:
        """Take a better pair and ask for one that is better still; False if there is nothing left to ask,
        because no two probabilities are as far as 1 apart."""
        self.lower, self.witness = self.gauge.value(witness.first, witness.second), witness
        level = self.lower + self.tolerance
        if self.gauge.of == "probability" and float(level) >= 1:
            return False
        self.problem.question = self.gauge.question(level)
        return True

    def _upper(self) -> Fraction | float:
        """The largest value that the leaves and the open cells allow: exact."""
        if self.search is None or self.lower is None:
            raise InternalError("no search to take the upper end from")
        cells = [
            (cell.lo, cell.hi, cell.lean, cell.upper) for cell in (*self.search.open, *self.search.stuck)
        ]
        proved = self.lower + self.tolerance if self.search.closed else self.lower
        tight = self._tightened()
        if tight is not None:
            proved = min(proved, tight)
        if not cells:
            return proved
        caps = self.gauge.cap(np.array([c[2] for c in cells]), np.array([c[3] for c in cells]))
        if not np.isfinite(caps).all():
            return math.inf
        # Raise the float bound a little until every open cell is proved to stay below it.
        level, raised = Fraction(float(caps.max())), INFLATION
        for _ in range(INFLATIONS):
            candidate = max(level + Fraction(raised) * (1 + abs(level)), self.lower)
            if self.gauge.of == "probability" and candidate >= 1:
                return Fraction(1)
            question = self.gauge.question(candidate)
            leaves = [Leaf(rule="separable", lean=snap(c[2])) for c in cells]
            oracle = self.problem.oracle
            if all(
                oracle.prove(c[0], c[1], leaf, question) is not None
                for c, leaf in zip(cells, leaves, strict=True)
            ):
                return max(candidate, proved)
            raised *= 2
        return math.inf

    def _tightened(self) -> Fraction | None:
        """The exact maximum over all leaves, where values are rational; None where they are not."""
        if self.search is None or self.lower is None or self.gauge.of == "probability":
            return None
        question, highest = self.gauge.question(self.lower), self.lower
        scale = 2 if self.gauge.of == "score" else 1
        for _, leaf, lo, hi in walk(self.search.proof, self.prepared.pairs):
            if not isinstance(leaf, Leaf) or self.problem.oracle.prove(lo, hi, leaf, question) is not None:
                continue
            # The leaf allows more than the lower end: by how much, from its clearance at the proved level.
            level = self.lower + self.tolerance
            clearance = self.problem.oracle.prove(lo, hi, leaf, self.gauge.question(level))
            if clearance is None:
                raise InternalError("a closed cell does not prove at a higher level")
            if not isinstance(clearance, float):
                highest = max(highest, level - scale * clearance)
        return highest

    def _note(self) -> None:
        """Keep the bracket's history, thinly: each better pair, with the open cells' caps."""
        search = self.search
        if search is None or self.lower is None:
            return
        cells = [*search.open, *search.stuck]
        caps = self.gauge.cap(np.array([c.lean for c in cells]), np.array([c.upper for c in cells]))
        upper = max(float(caps.max(initial=-math.inf)), float(self.lower + self.tolerance))
        self.history.append((self.problem.budget.elapsed, float(self.lower), upper))
        self.problem.listener(
            Snapshot(
                stage="measuring",
                seconds=self.problem.budget.elapsed,
                closed=search.closed,
                open=len(search.open),
                lower=float(self.lower),
                upper=upper,
            )
        )

    def _answer(self, upper: Fraction | float, reason: str | None) -> Disparity:
        if self.witness is None or self.lower is None:
            raise InternalError("no pair to answer with")
        pair, scores = self.prepared.pair(self.witness)
        low = round_down(self.lower)
        high = upper if isinstance(upper, float) else round_up(max(upper, self.lower))
        elapsed = self.problem.budget.elapsed
        cells = 1 if self.search is None else len(self.search.proof.nodes)
        return Disparity(
            of=self.gauge.of,
            lower=low,
            upper=high,
            pair=pair,
            scores=scores,
            history=(*self.history, (elapsed, low, high)),
            reason=reason,
            stats={"seconds": elapsed, "cells": cells},
        )


def nobody_else(prepared: Prepared) -> Witness:
    """An individual paired with itself: the pair to start from, of gap zero."""
    space = prepared.pairs.space
    if space.constraints:
        codes = some_individual(space)
    else:
        codes = [Fraction(prepared.pairs.variables[v].lo) for v in prepared.pairs.first]
    score, point = prepared.problem.oracle.exact(codes), tuple(float(c) for c in codes)
    return Witness(x=point, other=point, first=score, second=score)


class _Unasked:
    """Measuring is about the real-number semantics: no replay."""

    def confirms(self, *_: Any) -> bool:
        return True
