"""radius: how far may similar individuals differ while the property is still proved? A bracket, proved on both ends.

Levels are the tolerance of one feature, or a common factor on all tolerances of a similarity. What is fair at a level is
fair below it, and what is biased at a level is biased above it, so the border is bisected, with reuse:

- a pair found at a level also breaks the property at every level that reaches as far as its own differences do, so the
  search goes on below those;
- whole numbers and steps take no tolerance in between: a proof counts for every level up to the next one that
  reaches further.

A level that is left undecided is no end of the bracket: the search goes on below it, for what is left of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.certificate.certificate import Certificate
from likewise.errors import SpecError, suggest_name
from likewise.families.program_rounding import rounding_stats
from likewise.figures import number_text
from likewise.model.gauge import scale_of
from likewise.problem import Problem, make_claim, prepare, refuse_one_way
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, interruptible
from likewise.spec.along import cases_of
from likewise.spec.along_codes import largest_shift, shift_between
from likewise.spec.features import Categorical, Continuous, Ordinal
from likewise.spec.numbers import double_above, double_below
from likewise.spec.relations import exact_tolerance, span
from likewise.spec.similarity import Similarity
from likewise.verifying.result import covers_program, pair_rows, rounding_in_words
from likewise.verifying.shown import ShownResult
from likewise.verifying.verification import verify_problem

if TYPE_CHECKING:
    from likewise.spec.properties import Property
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

LEVEL_SHARE = 0.5  # of what is left of the budget that one level may take
NARROW_BRACKET = Fraction(1, 1000)  # of the refuted level: a continuous bracket this narrow is narrow enough
LEAST_LEVEL = Fraction(1, 10**6)  # of the largest level: below that all levels count as none


@dataclass(frozen=True, slots=True, kw_only=True)
class Radius(ShownResult):
    """The property is proved up to `proved` and refuted by `pair` at `refuted`.

    Attributes
    ----------
    of : str or None
        The feature whose tolerance the levels are; None if they are factors on all tolerances.
    proved, refuted : float or None
        The levels; None where there is no such one.
    program_proved : float or None
        The largest level whose proof covers the rounding of the model's own program as well; up to `proved` that holds but for the rounding
        that `stats["program_rounding"]` tells.
    largest : float
        The level beyond which nothing changes.
    pair : frame or None
        Two individuals that refute it.
    result : Result or None
        The answer at `refuted`.
    certificate : Certificate or None
        The proof at `proved`.
    reason : str or None
        Why the two levels are further apart than they need be.
    history : tuple
        Of (level, verdict, seconds).
    stats : dict
        Seconds and the like.
    """

    of: str | None
    proved: float | None
    refuted: float | None
    largest: float
    program_proved: float | None = None
    rounding: str | None = None  # what the proof says of the program, in words
    pair: Any = None
    names: tuple[str, ...] = ()
    result: Result | None = None  # with the pair
    certificate: Certificate | None = None  # of the proof
    reason: str | None = None
    history: tuple[tuple[float, str, float], ...] = ()
    stats: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "of": self.of,
            "proved": self.proved,
            "refuted": self.refuted,
            "program_proved": self.program_proved,
            "largest": self.largest,
            "pair": None if self.pair is None else pair_rows(self.pair, self.names),
            "reason": self.reason,
            "certified": self.certificate is not None,
            "history": [list(entry) for entry in self.history],
            "stats": dict(self.stats),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceLadder:
    """The levels: tolerances `units[name] * level` of these features, beside what else may differ."""

    space: Space
    kept: Similarity  # what may differ at any level
    units: Mapping[str, Fraction]

    @property
    def largest(self) -> Fraction:
        """The level at which every tolerance reaches across its domain, from wherever a shift leads."""
        return max(
            (span(self.space[name]) + self._largest_shift(name)) / unit for name, unit in self.units.items()
        )

    def _largest_shift(self, name: str) -> Fraction:
        if name not in self.kept.along:
            return Fraction(0)
        cases = cases_of(self.kept.along[name])
        return largest_shift(cases, self.space[cases[0].feature])

    def similarity(self, level: Fraction) -> Similarity | None:
        """Who is similar at a level, tolerances rounded up to doubles; None if everybody is alone."""
        within = {name: self._tolerance(name, level) for name in self.units}
        within = {name: tolerance for name, tolerance in within.items() if tolerance > 0}
        if not within and not self.kept.names:
            return None
        return self.kept.replace(within={**self.kept.within, **within})

    def _tolerance(self, name: str, level: Fraction) -> float:
        tolerance = self.units[name] * level
        shifted = name in self.kept.along and not isinstance(
            self.space[name], Ordinal
        )  # perhaps by no whole number
        if shifted or isinstance(self.space[name], Continuous):
            return double_above(tolerance)
        return math.floor(tolerance)

    def reached(self, pair: Any) -> Fraction:
        """The lowest level at which the two of a pair are similar."""
        codes = self.space.encode(pair, allow_extra=True)
        first, second = (
            dict(zip(self.space.names, map(Fraction, one), strict=True)) for one in codes.tolist()
        )
        return max(self._apart(name, first, second) / unit for name, unit in self.units.items())

    def _apart(self, name: str, first: Mapping[str, Fraction], second: Mapping[str, Fraction]) -> Fraction:
        """How far two are apart in a feature; of one that changes along with another one, from where that leads."""
        grown = second[name] - first[name]
        if name not in self.kept.along:
            return abs(grown)
        low, high = shift_between(cases_of(self.kept.along[name]), self.space, first, second)
        return max(low - grown, grown - high, Fraction(0))

    def settled(self, proved: Fraction, refuted: Fraction) -> bool:
        """Whether no level in between tells more, or none that is noticeably different."""
        if any(isinstance(self.space[name], Continuous) for name in self.units):
            return refuted - proved <= max(NARROW_BRACKET * refuted, LEAST_LEVEL * self.largest)
        return self._next(proved) >= refuted

    def _next(self, level: Fraction) -> Fraction:
        """The lowest level above this one at which some whole tolerance grows."""
        return min(Fraction(math.floor(unit * level) + 1) / unit for unit in self.units.values())

    def between(self, low: Fraction, high: Fraction) -> Fraction:
        """A level to try: the middle, or the highest one that allows no more than it."""
        middle = (low + high) / 2
        if any(isinstance(self.space[name], Continuous) for name in self.units):
            return Fraction(float(middle))
        reached = [Fraction(math.floor(unit * middle)) / unit for unit in self.units.values()]
        below = max((level for level in reached if level > low), default=low)
        return below if below > low else self._next(low)


def radius(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    feature: str | None = None,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
) -> Radius:
    """The largest tolerance for which a property is proved, and the smallest for which a pair refutes it.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress, import_budget,
    encoding, threshold
        As for `verify`.
    feature : str, optional
        Whose tolerance is looked for, everything else as `similar` says; without, a common factor on all
        tolerances of `similar`.

    Returns
    -------
    Radius
        The largest level proved, and the smallest one refuted with its pair.
    """
    ladder = tolerance_ladder(space, similar, feature)
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        problem = prepare(
            make_claim(model, space, similar, property, X, encoding=encoding, threshold=threshold),
            run,
            alone=True,
        )
        return radius_of_problem(problem, run, feature, ladder)


def radius_of_problem(
    problem: Problem, run: Run, feature: str | None = None, ladder: ToleranceLadder | None = None
) -> Radius:
    """The same of a model that was read already."""
    refuse_one_way(problem.claim, "the radius")
    ladder = ladder or tolerance_ladder(problem.claim.space, problem.claim.similarity, feature)
    asking = Bisection(ladder=ladder, problem=problem, run=run)
    with interruptible(run.budget):
        asking.bisect()
    return asking.answer(feature)


@dataclass(slots=True, kw_only=True)
class Bisection:
    """What is proved and refuted so far."""

    ladder: ToleranceLadder
    problem: Problem
    run: Run
    proved: Fraction | None = None
    refuted: Fraction | None = None
    covered: Fraction | None = None  # the highest level whose proof covers the program's rounding
    undecided: Fraction | None = None  # the lowest level that was given up
    proof: Result | None = None
    witness: Result | None = None
    reason: str | None = None
    history: list[tuple[float, str, float]] = field(default_factory=list)

    def bisect(self) -> None:
        """Both ends of the ladder, then the middle of what is open."""
        self.ask(Fraction(0))
        if self.proved is None:
            return
        self.ask(self.ladder.largest)
        while (level := self._next_level()) is not None:
            if self.run.budget.over:
                self.reason = self.run.budget.reason
                return
            self.ask(level)

    def _next_level(self) -> Fraction | None:
        """The level to ask about next; None if the bracket is as narrow as it gets."""
        if self.proved is None or self.proved >= self.ladder.largest:
            return None
        ends = [end for end in (self.refuted, self.undecided) if end is not None]
        high = min(ends, default=self.ladder.largest)
        return None if self.ladder.settled(self.proved, high) else self.ladder.between(self.proved, high)

    def ask(self, level: Fraction) -> None:
        """Put one level to `verify` and take in the answer."""
        similar = self.ladder.similarity(level)
        if similar is None:  # nobody is similar to anybody else
            self.proved = self.covered = level
            return
        part = self.run.part(LEVEL_SHARE)
        result = verify_problem(self.problem.with_similarity(similar), part)
        self.history.append((float(level), str(result.verdict), part.budget.elapsed))
        if result.verdict == "FAIR":
            self.proved, self.proof = level, result
            if covers_program(result):
                self.covered = level
        elif result.verdict == "BIASED":
            self.refuted, self.witness = self.ladder.reached(result.pair), result
        else:
            self.undecided = level if self.undecided is None else min(level, self.undecided)
            self.reason = f"undecided at {number_text(float(level))}: {result.reason}"

    def answer(self, feature: str | None) -> Radius:
        """The bracket, its ends rounded so that both still hold: proved downwards, refuted upwards."""
        pair = None if self.witness is None else self.witness.pair
        largest = double_above(self.ladder.largest)  # as good as any level above
        everything = self.proved is not None and self.proved >= self.ladder.largest
        closed = (
            self.refuted is not None
            and self.proved is not None
            and self.ladder.settled(self.proved, self.refuted)
        )
        proved = None if self.proved is None else largest if everything else double_below(self.proved)
        covered = None if self.covered is None else double_below(self.covered)
        imported = self.problem.imported
        scale = scale_of(self.problem.claim.property)
        rounding = rounding_stats(imported.program, scale, imported.model.head)
        return Radius(
            of=feature,
            proved=proved,
            program_proved=proved if self.covered == self.proved else covered,
            rounding=None if self.proof is None else rounding_in_words(self.proof),
            refuted=None if self.refuted is None else double_above(self.refuted),
            largest=largest,
            pair=pair,
            names=self.ladder.space.names,
            result=self.witness,
            certificate=None if self.proof is None else self.proof.certificate,
            reason=None if closed or self.refuted == 0 else self.reason,
            history=tuple(self.history),
            stats={
                **self.run.budget.stats,
                **imported.compared.stats,
                "levels": len(self.history),
                **rounding,
            },
        )


def tolerance_ladder(space: Space, similar: Similarity, feature: str | None) -> ToleranceLadder:
    """The levels of one feature's tolerance, or of a factor on all tolerances."""
    equations = [one for several in similar.along.values() for one in cases_of(several)]
    led = next((one.feature for one in equations if one.feature in (*similar.within, feature)), None)
    asked = next((c.feature for one in equations for c in one.where if c.feature == feature), None)
    if asked is not None:
        raise SpecError(
            f"the tolerance of {asked!r} is not looked for: what changes along depends on it",
            hint="leave out its conditions",
        )
    if led is not None:
        raise SpecError(
            f"the tolerance of {led!r} is not looked for: other features change along with it",
            hint="leave them out of along, or verify one tolerance after another",
        )
    if feature is None:
        similar.relations(space)  # refuses names that the space does not have
        said = {name: exact_tolerance(name, given, space[name]) for name, given in similar.within.items()}
        units = {name: tolerance for name, tolerance in said.items() if tolerance and span(space[name])}
        if not units:
            raise SpecError(
                "the similarity has no tolerance that a factor could be put on",
                hint='Similarity(within={"age": 2}), or radius(..., feature="age")',
            )
        return ToleranceLadder(space=space, kept=similar.replace(within={}), units=units)
    if feature not in space:
        raise SpecError(f"no feature {feature!r} in the space{suggest_name(feature, space.names)}")
    if isinstance(space[feature], Categorical):
        raise SpecError(
            f"{feature!r} is categorical, its levels have no distance",
            hint="make it Ordinal if its levels have an order",
        )
    if feature in similar.free or feature in similar.pairs:
        raise SpecError(
            f"{feature!r} is {'free' if feature in similar.free else 'in pairs'} already",
            hint="leave it out of the similarity: radius looks for its tolerance",
        )
    within = {name: tolerance for name, tolerance in similar.within.items() if name != feature}
    if similar.metric is not None and feature in similar.metric.names:
        raise SpecError(
            f"{feature!r} is in the metric already, which says how far it may differ",
            hint="leave it out of the metric: radius looks for its tolerance",
        )
    kept = similar.replace(within=within)
    if not span(space[feature]):
        raise SpecError(f"{feature!r} has one value only, so that nobody differs in it")
    return ToleranceLadder(space=space, kept=kept, units={feature: Fraction(1)})
