"""The ground of an exploration: a claim about boxes of individuals, each an interval of codes a feature.

`Ground` says of a box who is similar to somebody in it, how everybody in it can be changed into somebody similar, whether it looks fair,
and whether two such changes lead to different decisions throughout. All of this is float64 and short searches, and only proposes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.counterparts import Change, Counterpart
from likewise.analysis.translating import Translator
from likewise.families.affine.oracle import SeparableOracle
from likewise.families.registry import oracle_of
from likewise.families.scored import score_of
from likewise.model.question import DecisionQuestion
from likewise.progress import silent
from likewise.search.remembering import search_of
from likewise.search.sided import LOWER, UPPER, Sided
from likewise.spec.pairs import pairs_of
from likewise.spec.similarity import Relation
from likewise.spec.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget
    from likewise.search.problem import Problem
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.preparing import Prepared

    Floats = NDArray[np.float64]

FAIR_CELLS = 96  # spent on one box before it is cut
SLOW_FAIR_CELLS = 32  # where a bound is more than a sum
SIDE_CELLS = 24
MOST_CHANGES = 256  # combinations of values of what may differ that are scored
MANY_VALUES = 12  # of a number: beyond that a few stand for all of them
SAMPLE = 64  # individuals of a box that are looked at before it is bounded
SAMPLED_CHANGES = 32
DIFFERENTLY = 2  # how an individual is treated beside those it is similar to, if not like all of them (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Some individuals of a box: 0 or 1 if they are treated like all counterparts, lower or upper, else DIFFERENTLY."""

    rows: Floats
    treated: NDArray[np.intp]

    @property
    def differently(self) -> NDArray[np.bool_]:
        told: NDArray[np.bool_] = self.treated == DIFFERENTLY
        return told


class Ground:
    """A claim as the exploration sees it: boxes are intervals of codes of the space that the model is over."""

    def __init__(
        self, prepared: Prepared, space: Space, relations: tuple[Relation, ...], *, asks_decisions: bool
    ) -> None:
        """`relations` are those of the user's own space."""
        self.prepared, self.space, self.asks_decisions = prepared, space, asks_decisions
        self.given_relations = relations
        self.problem: Problem = replace(prepared.problem, replay=Unasked(), listener=silent)
        self.pairs = prepared.pairs
        self.relations: tuple[Relation, ...] = self.pairs.relations
        self.over = self.pairs.space
        self.sides = self._alone()
        firsts = [self.pairs.variables[v] for v in self.pairs.first]
        self.lo = np.array([float(v.lo) for v in firsts])
        self.hi = np.array([float(v.hi) for v in firsts])
        self.discrete = np.array([v.discrete for v in firsts])
        self.cut = [k for k, relation in enumerate(self.relations) if relation.kind != "free"]
        self.changing = [k for k, relation in enumerate(self.relations) if relation.kind != "same"]
        self.constraints = [constraint.scorer() for constraint in self.pairs.constraints]
        self.random = prepared.problem.random
        self.user = Translator(space, self.over, self.lo, self.hi, prepared.imported.recoding)

    def _alone(self) -> Problem:
        """The problem of individuals beside themselves, about their decisions."""
        model = self.prepared.imported.model
        score = score_of(model, len(self.over))
        if self.prepared.mirrored:
            score = score.negated()
        everybody = Space(self.over.features)
        pairs = pairs_of(everybody, (Relation("same"),) * len(everybody))
        return replace(
            self.problem,
            pairs=pairs,
            oracle=oracle_of(score, pairs),
            scores=self.problem.scores,
            question=DecisionQuestion(level=Fraction(0)),
        )

    def warm_up(self) -> None:
        """What the oracles do once, and not on the budget's time."""
        self.problem.oracle.warm_up()
        self.sides.oracle.warm_up()

    # -- who is similar to whom ---------------------------------------------------------------------------

    def reached(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """An interval of codes around everybody who is similar to somebody in the box."""
        low, high = lo.copy(), hi.copy()
        for k in self.changing:
            relation = self.relations[k]
            if relation.tolerance is not None:
                reach = float(relation.tolerance)
                low[k], high[k] = lo[k] - reach, hi[k] + reach
                if not self.discrete[k]:
                    low[k], high[k] = np.nextafter(low[k], -np.inf), np.nextafter(high[k], np.inf)
            elif relation.kind == "pairs":
                inside = range(int(lo[k]), int(hi[k]) + 1)
                others = [p for at in inside for p in relation.partners(at, int(self.hi[k]) + 1)]
                low[k], high[k] = min(others), max(others)
            else:
                low[k], high[k] = self.lo[k], self.hi[k]
        return np.maximum(low, self.lo), np.minimum(high, self.hi)

    # -- what a box is ------------------------------------------------------------------------------------

    def looks_fair(self, lo: Floats, hi: Floats, looked: Looked, budget: Budget) -> bool:
        """Whether a short search shows that everybody similar to somebody in the box gets one decision, where those who are looked
        at do; else whether it closes all their pairs."""
        cells = FAIR_CELLS if isinstance(self.problem.oracle, SeparableOracle) else SLOW_FAIR_CELLS
        treated = set(looked.treated.tolist())
        if self.asks_decisions and len(treated) == 1:
            pairs = narrowed(self.sides.pairs, *self.reached(lo, hi))
            lean = UPPER if 1 in treated else LOWER
            if (
                Sided(problem=replace(self.sides, pairs=pairs, budget=budget), lean=lean).run(most=cells)
                == "closed"
            ):
                return True
            if not self.problem.oracle.exact:
                return False
        pairs = narrowed(self.pairs, *self.reached(lo, hi))
        search = search_of(replace(self.problem, pairs=pairs, budget=budget, unreplayed=[]))
        return search.run(most=cells) == "closed"

    def decides(self, lo: Floats, hi: Floats, change: Change, lean: int, budget: Budget) -> bool:
        """Whether everybody in the box, so changed, gets the decision of `lean`."""
        pairs = narrowed(self.sides.pairs, *change.applied(lo, hi, self.discrete))
        search = Sided(problem=replace(self.sides, pairs=pairs, budget=budget), lean=lean)
        return search.run(most=SIDE_CELLS) == "closed"

    def changes(self, lo: Floats, hi: Floats) -> list[Change]:
        """Ways to change everybody in the box into somebody similar."""
        choices = [self._choices(k, lo, hi) for k in self.changing]
        if not all(choices):
            return []
        count = int(np.prod([float(len(c)) for c in choices]))
        if count <= MOST_CHANGES:
            picked: Iterator[Sequence[tuple[str, Any]]] = product(*choices)
        else:
            picked = (
                [choice[int(self.random.integers(len(choice)))] for choice in choices]
                for _ in range(MOST_CHANGES)
            )
        return [Change.of(dict(zip(self.changing, how, strict=True))) for how in picked]

    def _choices(self, k: int, lo: Floats, hi: Floats) -> list[tuple[str, Any]]:
        relation = self.relations[k]
        if relation.kind == "free":
            return [("set", code) for code in self.values(k)]
        if relation.kind == "pairs":
            inside = range(int(lo[k]), int(hi[k]) + 1)
            shared = set.intersection(*(set(relation.partners(p, int(self.hi[k]) + 1)) for p in inside))
            return [("set", float(p)) for p in sorted(shared)]
        reach = relation.tolerance or Fraction(0)
        up = min(reach, Fraction(self.hi[k]) - Fraction(hi[k]))
        down = min(reach, Fraction(lo[k]) - Fraction(self.lo[k]))
        return [("move", step) for step in sorted({Fraction(0), up, -down})]

    def values(self, k: int) -> list[float]:
        """All codes of a feature that may differ freely, or a few that stand for them."""
        if self.discrete[k] and self.hi[k] - self.lo[k] < MANY_VALUES:
            return [float(code) for code in range(int(self.lo[k]), int(self.hi[k]) + 1)]
        middle = (self.lo[k] + self.hi[k]) / 2
        return [float(self.lo[k]), float(np.floor(middle)) if self.discrete[k] else middle, float(self.hi[k])]

    def middle(self, lo: Floats, hi: Floats) -> Floats:
        """The individual in the middle of a box."""
        half: Floats = np.where(self.discrete, np.floor((lo + hi) / 2), lo + (hi - lo) / 2)
        return half

    def best_changes(self, lo: Floats, hi: Floats) -> tuple[Change, Change] | None:
        """The changes that take the individual in the middle furthest up and down; None if both are decided alike."""
        changes = self.changes(lo, hi)
        if not changes:
            return None
        rows = np.stack([change.row(self.middle(lo, hi)) for change in changes])
        scores = self.problem.scored(rows)
        up, down = int(scores.argmax()), int(scores.argmin())
        return (changes[up], changes[down]) if scores[up] > 0 >= scores[down] else None

    def counterparts(self, lo: Floats, hi: Floats, budget: Budget) -> tuple[Counterpart, ...]:
        """Upper and lower counterparts of everybody in the box; none where they are not found."""
        if not self.asks_decisions:
            return ()
        best = self.best_changes(lo, hi)
        if best is None:
            return ()
        box, found = self.user.box(lo, hi), self.as_counterparts(best)
        if not all(counterpart.exists(box) for counterpart in found):
            return ()
        if all(
            self.decides(lo, hi, change, lean, budget)
            for change, lean in zip(best, (UPPER, LOWER), strict=True)
        ):
            return found
        return ()

    def as_counterparts(self, best: tuple[Change, Change]) -> tuple[Counterpart, ...]:
        """The changes furthest up and down in the user's codes, that with the upper label first: of a mirrored score it is the one down."""
        found = tuple(
            Counterpart(change=change.translated(self.user.code), lean=lean)
            for change, lean in zip(best, (UPPER, LOWER), strict=True)
        )
        return found[::-1] if self.prepared.mirrored else found

    # -- a look at some individuals ------------------------------------------------------------------------

    def looked_at(self, lo: Floats, hi: Floats) -> Looked:
        """Some individuals of the box, and how they are treated beside their counterparts, in float64."""
        points = lo + self.random.random((SAMPLE, len(lo))) * (hi - lo)
        whole = np.floor(lo + self.random.random((SAMPLE, len(lo))) * (hi - lo + 1))
        rows = np.clip(np.where(self.discrete, whole, points), lo, hi)
        rows[0] = self.middle(lo, hi)
        changes = self.changes(lo, hi)[:SAMPLED_CHANGES]
        changed = np.stack([rows, *(change.row(rows) for change in changes)])
        everybody = changed.reshape(-1, len(lo))
        shape, valid = changed.shape[:2], self.valid(everybody)
        scores = self.problem.scored(everybody)
        highest = np.where(valid, scores, -np.inf).reshape(shape).max(axis=0)
        lowest = np.where(valid, scores, np.inf).reshape(shape).min(axis=0)
        kept = valid.reshape(shape)[0]
        rows, highest, lowest = rows[kept], highest[kept], lowest[kept]
        witness = self.problem.question.margin(highest, lowest) > 0
        return Looked(rows=rows, treated=np.where(witness, DIFFERENTLY, (highest > 0).astype(int)))

    def valid(self, rows: Floats) -> NDArray[np.bool_]:
        """Who satisfies the constraints, in float64."""
        valid = np.ones(len(rows), dtype=bool)
        for constraint in self.constraints:
            valid &= constraint(rows) <= 0
        return valid


def narrowed(pairs: PairSpace, lo: Floats, hi: Floats) -> PairSpace:
    """The pairs of which both individuals lie in a box of codes."""
    variables = tuple(
        variable
        if variable.side == "difference"
        else replace(variable, lo=float(lo[variable.feature]), hi=float(hi[variable.feature]))
        for variable in pairs.variables
    )
    return replace(pairs, variables=variables)


class Unasked:
    """What only proposes is not replayed."""

    def confirms(self, *_: Any) -> bool:
        return True
