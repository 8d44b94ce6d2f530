"""What can be said of a box of individuals: who is similar to somebody in it, how everybody in it can be changed into somebody similar, whether
short searches show that it is fair, and whether two such changes lead to different decisions throughout.

Everything is in codes of the space that the model is over. Bounds of oracles that are `exact` are proved at once: then a search that closes is a
proof. Those of others are float64 and only propose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.partition.changes import Change
from likewise.analysis.partition.engine import Cut
from likewise.cells.leaf import Leaf
from likewise.clock import check_clock
from likewise.families.oracles import Oracles
from likewise.families.registry import bounder_of
from likewise.model.witness_set import snap_lean
from likewise.progress import ignore_progress
from likewise.search.frontier import LOWER, UPPER, one_sided_frontier
from likewise.search.frontiers import make_frontiers
from likewise.search.portfolio import prove_independence
from likewise.search.proof import root_cell
from likewise.spec.numbers import double_above, double_below
from likewise.spec.pairs import make_pair_space
from likewise.spec.similarity import Relation
from likewise.spec.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.engine import CodeBox
    from likewise.search.budget import Budget
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]
    Ends = tuple[Floats, Floats]

SIDE_CELLS = 24
MOST_CHANGES = 256  # combinations of values of what may differ that are scored
MANY_VALUES = 12  # of a number: beyond that a few stand for all of them
SAMPLE_SIZE = 64  # individuals of a box that are looked at before it is bounded
SAMPLED_ROWS = 48  # of them are rows of the data, as far as there are any
SAMPLED_CHANGES = 32
TREATED_DIFFERENTLY = (
    -1
)  # how an individual is treated beside those it is similar to, if not like all of them (0, 1, ...)
LEANS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Some individuals of a box: 0 or 1 if they are treated like all counterparts, lower or upper, else DIFFERENTLY; `scale` is how large their
    scores are, whatever the sign."""

    rows: Floats
    treated: NDArray[np.intp]
    scale: float

    @property
    def differently(self) -> NDArray[np.bool_]:
        """Who is not treated like all counterparts."""
        flags: NDArray[np.bool_] = self.treated == TREATED_DIFFERENTLY
        return flags


class BoxJudge:
    """A claim about boxes of individuals. With `only_free`, individuals are changed in nothing but what may differ freely.

    `asks_decisions` where it is about the sign of one score: then both sides of 0 can be told apart by one bound each, and boxes in which everybody
    is treated differently can be proved. Of several scores, and of gaps, only fair boxes can.
    """

    def __init__(self, prepared: PosedProblem, *, only_free: bool = False) -> None:
        self.prepared, question = prepared, prepared.task.question
        self.asks_decisions = question.kind == "decision" and not question.several and question.level == 0
        self.problem: SearchTask = replace(prepared.task, replay=NoReplay(), listener=ignore_progress)
        self.pairs = prepared.pairs
        self.relations: tuple[Relation, ...] = self.pairs.relations
        self.over = self.pairs.space
        # Of several scores the first one stands for all: they are cut at the same codes.
        everybody, score = Space(self.over.features), self.problem.oracles.parts[0]
        alone = make_pair_space(everybody, (Relation("same"),) * len(everybody))
        self.sides: SearchTask = replace(  # individuals beside themselves, about their decisions
            self.problem,
            pairs=alone,
            oracles=Oracles(score, alone, bounder_of(score, alone)),
            question=replace(question.at(Fraction(0)), kind="decision"),
        )
        firsts = [self.pairs.variables[v] for v in self.pairs.first]
        self.lo = np.array([float(v.lo) for v in firsts])
        self.hi = np.array([float(v.hi) for v in firsts])
        self.discrete = np.array([v.discrete for v in firsts])
        kinds = [relation.kind for relation in self.relations]
        self.cut = [k for k, kind in enumerate(kinds) if kind != "free"]
        self.changing = [
            k for k, kind in enumerate(kinds) if kind != "same" and not (only_free and kind != "free")
        ]
        self.constraints = [constraint.scorer() for constraint in self.pairs.constraints]
        self.random = prepared.task.random

    @property
    def sums(self) -> bool:
        """Whether a bound is as cheap as a sum of one-feature terms."""
        return self.problem.oracles.family.additive

    def warm_up(self) -> None:
        """What the oracles do once, and not on the budget's time."""
        self.problem.oracles.warm_up()
        self.sides.oracles.warm_up()

    @cached_property
    def exact(self) -> bool:
        """Whether a search that closes is a proof by itself, of all cases."""
        oracles = self.problem.oracles
        return make_frontiers(self.problem).exact if oracles.several else oracles.exact

    @property
    def unproved(self) -> str | None:
        """Why searches prove nothing, where that is so."""
        return self.problem.oracles.unproved(self.problem.question)

    @property
    def independent(self) -> bool:
        """Whether nothing that may differ matters to the score."""
        return prove_independence(self.problem) is not None

    # -- who is similar to whom ---------------------------------------------------------------------------

    def reached(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """An interval of codes that holds everybody who is similar to somebody in the box: exact, rounded outwards."""
        low, high = lo.copy(), hi.copy()
        for k, relation in enumerate(self.relations):
            if relation.kind == "same":
                continue
            if relation.tolerance is not None:
                low[k] = double_below(Fraction(float(lo[k])) - relation.tolerance)
                high[k] = double_above(Fraction(float(hi[k])) + relation.tolerance)
                if self.discrete[k]:
                    low[k], high[k] = np.floor(low[k]), np.ceil(high[k])
            elif relation.kind == "pairs":
                inside = range(int(lo[k]), int(hi[k]) + 1)
                others = [p for at in inside for p in relation.partners(at, int(self.hi[k]) + 1)]
                low[k], high[k] = min(others), max(others)
            else:
                low[k], high[k] = self.lo[k], self.hi[k]
        return np.maximum(low, self.lo), np.minimum(high, self.hi)

    # -- fair ---------------------------------------------------------------------------------------------

    def closed_by_lines(self, boxes: Sequence[CodeBox]) -> list[bool]:
        """For each box whether one line closes all pairs of somebody in it, as x and as x'; in exact arithmetic where that decides."""
        closed = self._lines_close(boxes, first=True)
        if any(relation.kind in ("within", "pairs") for relation in self.relations):
            closed = [
                one and other
                for one, other in zip(closed, self._lines_close(boxes, first=False), strict=True)
            ]
        return closed

    def _lines_close(self, boxes: Sequence[CodeBox], *, first: bool) -> list[bool]:
        oracle, witnesses = self.problem.bounder, self.problem.case.line
        cells = [self._pair_cell(box, first=first) for box in boxes]
        lo, hi = np.stack([low for low, _ in cells]), np.stack([high for _, high in cells])
        closed = [False] * len(boxes)
        leans = LEANS if self.problem.question.kind == "decision" else witnesses.leans()
        for lean in leans:
            check_clock()
            left = [i for i, done in enumerate(closed) if not done]
            if not left:
                break
            tried = np.full(len(left), lean)
            bounds = oracle.bound(lo[left], hi[left], tried, witnesses.threshold(tried))
            close = bounds.upper <= witnesses.threshold(tried) + bounds.noise
            close = close if bounds.closes is None else bounds.closes
            for place, i in enumerate(left):
                if not close[place]:
                    continue
                check_clock()
                hints = () if bounds.hints is None else bounds.hints[place]
                parts = () if bounds.parts is None else bounds.parts[place]
                leaf = Leaf(rule=oracle.rule, lean=snap_lean(lean), hints=hints, parts=parts)
                closed[i] = not oracle.exact or oracle.prove(lo[i], hi[i], leaf, witnesses) is not None
        return closed

    def _pair_cell(self, box: CodeBox, *, first: bool) -> Ends:
        """The pairs of the box's individuals, each as x or as x', with everybody who is similar to one of them."""
        lo, hi = root_cell(self.pairs)
        mine, others = (
            (self.pairs.first, self.pairs.second) if first else (self.pairs.second, self.pairs.first)
        )
        low, high = self.reached(box.lo, box.hi)
        for k, relation in enumerate(self.relations):
            lo[mine[k]], hi[mine[k]] = box.lo[k], box.hi[k]
            if relation.kind == "within":
                lo[others[k]], hi[others[k]] = low[k], high[k]
        return lo, hi

    def closes_pairs(self, lo: Floats, hi: Floats, budget: Budget, cells: int) -> bool:
        """Whether a short search closes all pairs of those who are similar to somebody in the box."""
        pairs = narrow_pairs(self.pairs, *self.reached(lo, hi))
        task = replace(self.problem, pairs=pairs, budget=budget, unreplayed=[], workers=None)
        search = make_frontiers(task)
        return search.run(most=cells * len(search.all)) == "closed"

    def bound_decisions(self, boxes: Sequence[Ends], lean: int) -> tuple[NDArray[np.bool_], Floats]:
        """Whether everybody in each box gets the decision of `lean`, by one bound each; and how far the bound is on the other side of 0."""
        lo, hi = np.stack([lo for lo, _ in boxes]), np.stack([hi for _, hi in boxes])
        leans = np.full(len(lo), float(lean))
        bounds = self.sides.bounder.bound(lo, hi, leans, np.zeros(len(lo)))
        alike: NDArray[np.bool_] = bounds.upper < -bounds.noise if bounds.closes is None else bounds.closes
        return alike, np.where(alike, -np.inf, bounds.upper)

    def decides(self, lo: Floats, hi: Floats, lean: int, budget: Budget, cells: int = SIDE_CELLS) -> bool:
        """Whether a short search shows that everybody in the box gets the decision of `lean`."""
        pairs = narrow_pairs(self.sides.pairs, lo, hi)
        return (
            one_sided_frontier(replace(self.sides, pairs=pairs, budget=budget), lean).run(most=cells)
            == "closed"
        )

    # -- biased -------------------------------------------------------------------------------------------

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
        if self.discrete[k]:
            return [float(self.lo[k]), float(np.floor(middle)), float(self.hi[k])]
        recoding = self.prepared.imported.recoding  # codes that somebody has
        codes = np.array([self.lo[k], middle, self.hi[k]])
        return [float(code) for code in (recoding.settled_part(k, codes) if recoding.bent else codes)]

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

    def are_opposed(self, lo: Floats, hi: Floats, changes: tuple[Change, Change], budget: Budget) -> bool:
        """Whether everybody in the box gets the upper decision after the first change, and the lower one after the second."""
        return all(
            self.decides(*change.applied(lo, hi, self.discrete), lean, budget)
            for change, lean in zip(changes, (UPPER, LOWER), strict=True)
        )

    def steepest_feature(self, lo: Floats, hi: Floats, wide: Sequence[int]) -> int | None:
        """Of these features the one whose ends are furthest apart in their scores; in width, where none moves them."""
        if not wide:
            return None
        rows = np.repeat(self.middle(lo, hi)[None], 2 * len(wide), axis=0)
        for i, k in enumerate(wide):
            rows[2 * i, k], rows[2 * i + 1, k] = lo[k], hi[k]
        scores = self.problem.scored(rows).reshape(len(wide), 2, -1)
        moved = np.abs(scores[:, 1] - scores[:, 0]).max(axis=1)
        if not moved.max() > 0:
            moved = hi[list(wide)] - lo[list(wide)]
        return wide[int(moved.argmax())]

    def middle_cut(self, lo: Floats, hi: Floats, k: int) -> Cut:
        """In the middle of a feature."""
        at = float(lo[k] / 2 + hi[k] / 2)
        return Cut(k, float(np.floor(at)), float(np.floor(at)) + 1) if self.discrete[k] else Cut(k, at)

    # -- a look at some individuals ------------------------------------------------------------------------

    def drawn(self, lo: Floats, hi: Floats, count: int) -> Floats:
        """Random individuals of a box, the middle one first."""
        points = self.random.random((count, len(lo)))
        rows = np.where(self.discrete, np.floor(lo + points * (hi - lo + 1)), lo + points * (hi - lo))
        rows[:1] = self.middle(lo, hi)
        clipped: Floats = np.clip(rows, lo, hi)
        return clipped

    def sample(self, lo: Floats, hi: Floats, known: Floats | None = None) -> Sample:
        """Some individuals of the box, `known` ones among them, and how they are treated beside their counterparts, in float64."""
        rows = self.drawn(lo, hi, SAMPLE_SIZE)
        if known is not None and len(known):
            some = (
                self.random.permutation(len(known))[:SAMPLED_ROWS]
                if len(known) > SAMPLED_ROWS
                else slice(None)
            )
            rows = np.concatenate([rows[: SAMPLE_SIZE - len(known[some])], known[some]])
        changes = self.changes(lo, hi)[:SAMPLED_CHANGES]
        changed = np.stack([rows, *(change.row(rows) for change in changes)])
        everybody = changed.reshape(-1, len(lo))
        shape, valid = changed.shape[:2], self.valid(everybody)
        scores = self.problem.scored(everybody)
        witness = np.zeros(shape[1], dtype=bool)
        for witnesses, first, second in self.problem.question.signals(scores):
            highest = np.where(valid, first, -np.inf).reshape(shape).max(axis=0)
            lowest = np.where(valid, second, np.inf).reshape(shape).min(axis=0)
            witness |= witnesses.margin(highest, lowest) > 0
        own = scores[: shape[1]]
        decided = (own > 0).astype(int) if own.ndim == 1 else own.argmax(axis=1)
        kept = valid.reshape(shape)[0]
        treated = np.where(witness, TREATED_DIFFERENTLY, decided)[kept]
        return Sample(rows=rows[kept], treated=treated, scale=float(np.median(np.abs(scores))))

    def valid(self, rows: Floats) -> NDArray[np.bool_]:
        """Who satisfies the constraints, in float64."""
        valid = np.ones(len(rows), dtype=bool)
        for constraint in self.constraints:
            valid &= constraint(rows) <= 0
        return valid


def narrow_pairs(pairs: PairSpace, lo: Floats, hi: Floats) -> PairSpace:
    """The pairs of which both individuals lie in a box of codes."""
    variables = tuple(
        variable
        if variable.side == "difference"
        else replace(variable, lo=float(lo[variable.feature]), hi=float(hi[variable.feature]))
        for variable in pairs.variables
    )
    return replace(pairs, variables=variables)


class NoReplay:
    """What only proposes is not replayed."""

    def confirms(self, *_: Any) -> bool:
        return True
