"""near: is the claim true of everybody who is not far from a row of the data? And how far must one go to find a pair that breaks it?

A pair is within a distance of the data if one of its two individuals is within that distance of a row (`spec.neighbourhood`), in all features but those in which similar individuals
may differ freely. No such pair breaks the claim if it is proved of boxes that hold everybody so near: one box around all rows if that can be proved,
else the rows are parted in two, and so on, down to one box around a single row. Each box is proved as `regions` proves a fair one, with a certificate.

What is proved at a distance is proved below it, and a pair refutes every distance from its own on, so that the border is bisected.
"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.partition.proofs import BoxProver, reduce_to_one_score
from likewise.certificate.certificate import Certificate
from likewise.clock import OutOfTime
from likewise.errors import SpecError
from likewise.figures import number_text
from likewise.problem import Problem, make_claim, prepare, refuse_one_way
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, interruptible
from likewise.spec.features import Categorical
from likewise.spec.neighbourhood import Neighbourhood, check_distance
from likewise.spec.numbers import double_above, double_below
from likewise.spec.pairs import make_pair_space
from likewise.verifying.certification import CheckRunner
from likewise.verifying.posed_problem import pose
from likewise.verifying.result import pair_rows
from likewise.verifying.shown import ShownResult
from likewise.verifying.verification import verify_problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

    Floats = NDArray[np.float64]

FIRST_SHARE = 0.25  # of the budget, for the claim about everybody
LEVEL_SHARE = 0.5  # of what is left, for one distance
ROW_SHARE = 0.2  # of what is left, for a single row
HULL_CELLS = 256  # that a box around several rows may take; more, and the rows are parted
NARROW = Fraction(1, 50)  # of the refuted distance: a bracket this narrow is narrow enough
LEAST = Fraction(1, 1000)  # below that all distances count as none


@dataclass(frozen=True, slots=True, kw_only=True)
class Near(ShownResult):
    """No pair within `proved` of the data breaks the claim, and `pair` does at `refuted`.

    Attributes
    ----------
    distance : float or None
        The distance that was asked about; None where the largest one is looked for.
    verdict : str or None
        About the distance that was asked: FAIR, BIASED or UNKNOWN.
    proved, refuted : float or None
        The distances; None where there is no such one. 1 is everybody.
    pair : frame or None
        Two individuals that break the claim, one of whom is `refuted` away from a row.
    row : dict or None
        The row that is nearest to them.
    result : Result or None
        What `verify` says of the pair.
    certificates : tuple of Certificate
        The proofs at `proved`, one a box; together the boxes hold everybody so near.
    boxes : tuple of str
        The boxes in words.
    reason : str or None
        Why the two distances are further apart than they need be.
    history : tuple
        Of (distance, verdict, boxes).
    stats : dict
        Seconds and the like.
    """

    distance: float | None
    verdict: Literal["FAIR", "BIASED", "UNKNOWN"] | None
    proved: float | None
    refuted: float | None
    pair: Any = None
    names: tuple[str, ...] = ()
    row: dict[str, Any] | None = None
    result: Result | None = None
    certificates: tuple[Certificate, ...] = ()
    boxes: tuple[str, ...] = ()
    reason: str | None = None
    history: tuple[tuple[float, str, int], ...] = ()
    stats: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON."""
        return {
            "distance": self.distance,
            "verdict": self.verdict,
            "proved": self.proved,
            "refuted": self.refuted,
            "pair": None if self.pair is None else pair_rows(self.pair, self.names),
            "row": self.row,
            "boxes": list(self.boxes),
            "certified": bool(self.certificates),
            "reason": self.reason,
            "history": [list(entry) for entry in self.history],
            "stats": dict(self.stats),
        }


def near(
    model: Any,
    space: Space | Neighbourhood,
    similar: Similarity,
    property: Property | None = None,
    *,
    distance: float | None = None,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
) -> Near:
    """Whether a claim is true of everybody within a distance of the data; or, without one, up to which distance it is.

    Parameters
    ----------
    model, similar, property, budget, n_jobs, executor, random_state, progress, import_budget, encoding,
    threshold
        As for `verify`.
    space : Space, or what `Space.near` returns
        All individuals; or those near some rows, which stand for `X` and `distance`.
    distance : float, optional
        From 0 to 1: numbers and ordered levels may be this share of their ranges away from a row, other levels are those of the row.
        Without, the largest distance at which the claim is proved is looked for.
    X : frame
        The rows.

    Returns
    -------
    Near
        The verdict, or the bracket: proved up to one distance, refuted by a pair at another.
    """
    checked = None if distance is None else check_distance(distance)
    if isinstance(space, Neighbourhood):
        if X is not None or distance is not None:
            raise SpecError(
                "the rows and the distance are those of space.near",
                hint="give the rows and the distance once",
            )
        checked, X, space = space.distance, space.space.decode(space.rows), space.space
    if X is None:
        raise SpecError("what is near the data needs the data", hint="near(..., X=X)")
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        claim = make_claim(model, space, similar, property, X, encoding=encoding, threshold=threshold)
        return near_of_problem(prepare(claim, run), run, checked)


def near_of_problem(problem: Problem, run: Run, distance: Fraction | None = None) -> Near:
    """The same of a model that was read already, about its rows."""
    refuse_one_way(problem.claim, "nearness to the data")
    problem.refuse_along("nearness to the data")
    problem.refuse_distance(
        "no answer about nearness to the data", "give tolerances instead, or ask audit about rows"
    )
    around = Neighbourhood.around(problem.claim.space, problem.codes, 0)
    relations = problem.claim.similarity.relations(problem.claim.space)
    free = [k for k, relation in enumerate(relations) if relation.kind == "free"]
    whole = reduce_to_one_score(problem.imported, problem.claim.property)
    prover = BoxProver(
        model=problem.claim.model,
        whole=whole,
        space=problem.claim.space,
        asked=problem.claim.property,
        relations=relations,
        budget=run.budget,
        checking=CheckRunner.of(run),
    )
    search = _Search(
        problem=problem, run=run, prover=prover, around=around.leaving_out(free) if free else around
    )
    with interruptible(run.budget):
        search.ask_everybody()
        if distance is None:
            search.bisect()
        elif not search.knows(distance):
            search.ask(distance)
    return search.answer(distance)


@dataclass(slots=True, kw_only=True)
class _Search:
    """What is proved and refuted so far."""

    problem: Problem
    run: Run
    prover: BoxProver
    around: Neighbourhood
    proved: Fraction | None = None
    refuted: Fraction | None = None
    undecided: Fraction | None = None  # the smallest distance that was given up
    nearest: int | None = None  # the row next to the pair
    witness: Result | None = None
    proofs: tuple[tuple[str, Certificate], ...] = ()
    treated_differently: list[tuple[float, ...]] = field(
        default_factory=list
    )  # individuals of pairs that were found
    reason: str | None = None
    history: list[tuple[float, str, int]] = field(default_factory=list)

    def ask_everybody(self) -> None:
        """The claim itself: its proof is one at every distance, and its pair, moved towards the rows, is somewhere near."""
        claim = replace(self.problem.claim, like_data="nearest")
        result = verify_problem(replace(self.problem, claim=claim), self.run.part(FIRST_SHARE))
        self.history.append((1.0, str(result.verdict), 1))
        if result.verdict == "FAIR" and result.certificate is not None:
            self.proved, self.proofs = Fraction(1), (("everybody", result.certificate),)
        elif result.verdict == "BIASED":
            self.take(result)
        else:
            self.reason = result.reason

    def take(self, result: Result) -> bool:
        """A pair: whether it is nearer than those before."""
        codes = self.problem.claim.space.encode(result.pair, allow_extra=True)
        self.treated_differently += [tuple(one.tolist()) for one in codes]
        both = [self.around.nearest(one) for one in codes]
        place, distance = min(both, key=lambda found: found[1])
        if self.refuted is not None and distance >= self.refuted:
            return False
        self.refuted, self.nearest, self.witness = distance, place, result
        return True

    def knows(self, distance: Fraction) -> bool:
        """Whether a distance is decided."""
        return (self.proved is not None and distance <= self.proved) or (
            self.refuted is not None and distance >= self.refuted
        )

    def bisect(self) -> None:
        """Halve the distance until one is proved, then the bracket."""
        while (level := self._next_level()) is not None:
            if self.run.budget.over:
                self.reason = self.run.budget.reason
                return
            self.ask(level)

    def _next_level(self) -> Fraction | None:
        high = min((end for end in (self.refuted, self.undecided) if end is not None), default=Fraction(1))
        if self.proved is None:
            if not high:
                return None
            return Fraction(0) if high <= LEAST else Fraction(float(high / 2))
        narrow = high - self.proved <= max(NARROW * high, LEAST)
        return None if narrow or self.proved >= 1 else Fraction(float((self.proved + high) / 2))

    def ask(self, distance: Fraction) -> None:
        """Cover everybody so near by boxes that are proved."""
        part = self.run.part(LEVEL_SHARE)
        self.run.tell("looking near the rows")
        around = self.around.within(distance)
        proofs: list[tuple[str, Certificate]] = []
        unproved = self._unproved()
        if unproved is not None:
            self._give_up(distance, unproved)
            return
        open_ = [np.arange(len(around.rows))]
        while open_:
            places = open_.pop()
            if part.budget.over:
                self._give_up(distance, f"undecided at {number_text(float(distance))}: {part.budget.reason}")
                return
            box = around.hull(places.tolist())
            if len(places) > 1:
                hopeless = any(box.holds(codes) for codes in self.treated_differently)
                looks = not hopeless and self.prover.looks_fair(box, HULL_CELLS)
                certificate = self.prover.fair(box) if looks else None
                if certificate is None:
                    open_ += _part_rows(around, places)
                    continue
            else:
                result = self._decide_row(box)
                if result is None or result.certificate is None or result.verdict != "FAIR":
                    self._take_failure(distance, result)
                    return
                certificate = result.certificate
            proofs.append((box.rule, certificate))
        self.proved, self.proofs = distance, tuple(proofs)
        self.history.append((float(distance), "FAIR", len(proofs)))

    def _unproved(self) -> str | None:
        """Why nothing can be proved of this model."""
        with suppress(OutOfTime), self.run.budget.watched():
            posed = pose(self.problem, self.run)
            return posed.task.oracles.unproved(posed.task.question)
        return self.run.budget.reason

    def _decide_row(self, box: Any) -> Result | None:
        """The verdict about those near a single row."""
        problem = self.prover.problem_of(box)
        return None if problem is None else verify_problem(problem, self.run.part(ROW_SHARE))

    def _take_failure(self, distance: Fraction, result: Result | None) -> None:
        broken = result is not None and result.verdict == "BIASED" and self._are_similar(result)
        if broken and result is not None and self.take(result) and self.knows(distance):
            self.history.append((float(distance), "BIASED", 0))
            return
        told = None if result is None else result.reason
        self._give_up(
            distance, f"undecided at {number_text(float(distance))}: {told or 'a pair reaches beyond'}"
        )

    def _are_similar(self, result: Result) -> bool:
        """Whether the two of a pair are similar as the claim says it. Of a part of the space tolerances are rounded up, and steps between ordered levels may be fewer there: a proof is about more pairs then, and a pair may be one too many."""
        space = self.problem.claim.space
        codes = space.encode(result.pair, allow_extra=True).tolist()
        first, second = ([Fraction(code) for code in one] for one in codes)
        return make_pair_space(space, self.prover.relations).valid(first, second)

    def _give_up(self, distance: Fraction, reason: str) -> None:
        self.undecided = distance if self.undecided is None else min(distance, self.undecided)
        self.reason = reason
        self.history.append((float(distance), "UNKNOWN", 0))

    def answer(self, distance: Fraction | None) -> Near:
        """The bracket, its ends rounded so that both still hold."""
        witness = self.witness
        refuted = None if self.refuted is None else double_above(self.refuted)
        proved = None if self.proved is None else double_below(self.proved)
        verdict: Literal["FAIR", "BIASED", "UNKNOWN"] | None = None
        if distance is not None:
            fair = self.proved is not None and distance <= self.proved
            verdict = "FAIR" if fair else "BIASED" if self.knows(distance) else "UNKNOWN"
        settled = verdict in ("FAIR", "BIASED") if distance is not None else self._next_level() is None
        if settled and distance is None and self.undecided is not None and self.proved is not None:
            settled = self.proved >= 1 or (self.refuted is not None and self.undecided >= self.refuted)
        return Near(
            distance=None if distance is None else float(distance),
            verdict=verdict,
            proved=proved,
            refuted=refuted,
            pair=None if witness is None else witness.pair,
            names=self.problem.claim.space.names,
            row=self._nearest_row(),
            result=witness,
            certificates=tuple(certificate for _, certificate in self.proofs),
            boxes=tuple(rule for rule, _ in self.proofs),
            reason=None if settled or self.refuted == 0 else self.reason,
            history=tuple(self.history),
            stats={**self.run.budget.stats, **self.problem.imported.compared.stats},
        )

    def _nearest_row(self) -> dict[str, Any] | None:
        """The values of the row that is nearest to the pair, in the features that count."""
        if self.nearest is None:
            return None
        space, codes = self.problem.claim.space, self.around.rows[self.nearest]
        return {space.names[k]: space.value(k, float(codes[k])) for k in self.around.counted}


def _part_rows(around: Neighbourhood, places: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The rows in two parts, by the feature in which they are furthest apart: numbers in the middle, levels half of them on each side."""
    rows = around.rows[places]
    spreads = around.spreads(rows)
    chosen = around.counted[int(np.argmax(spreads))]
    values = np.unique(rows[:, chosen])
    levels = isinstance(around.space[around.space.names[chosen]], Categorical)
    border = values[(len(values) - 1) // 2] if levels else (values[0] + values[-1]) / 2
    low = rows[:, chosen] <= border
    return [places[low], places[~low]]
