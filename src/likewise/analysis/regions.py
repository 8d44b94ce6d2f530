"""regions: who is treated fairly, who is not, and of whom is nothing proved? A partition of the space into boxes.

A region is a box of individuals x. Features in which similar individuals may differ freely take all their values in every region, so that
a region is closed under changing them.

fair       no pair of similar individuals with one of them in the box breaks the property. Proved as `verify` proves FAIR, on the
           sub-space of everybody who is similar to somebody in the box (the box itself, but for tolerances and pairs of levels, which
           reach beyond it); the certificate is the region's.
biased     EVERY individual of the box has a similar one who gets the other decision: there are two ways to change everybody in the box
           into somebody similar (free features set to certain values, numbers within a tolerance moved by a step), after one of which
           everybody gets the upper decision and after the other everybody the lower one; whoever it is, one of the two is not their own
           decision. Both are proved for the whole box, by a certificate each. Only for SameDecision with margin 0 and two
           classes: other properties, and models of several classes, have fair and undecided regions.
undecided  the rest: there may be some of both, or the budget was over.
empty      excluded by a constraint: nobody.

Measures are shares of the space under the uniform measure (continuous features by length, others by count), constraints left aside,
and add up to exactly one; so do the shares of the people that the partition is about (`over`): the data's rows, or individuals distributed as
their columns. Heavy boxes come first: those with many people, and with little of the space among them, so that none is forgotten. Who is on a
border counts in one of the two boxes. Ranges of continuous numbers include their ends, so that neighbours share a border; where the score jumps they
end at two neighbouring doubles, between which there is nobody, and what lies between counts to the right one.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.partition.judge import BoxJudge
from likewise.analysis.partition.people import ColumnPeople, People, RowPeople
from likewise.analysis.partition.proofs import BoxProver, reduce_to_one_score
from likewise.analysis.region_around import BoxGrowth
from likewise.analysis.region_search import RegionSearch
from likewise.analysis.region_state import SavedGrowth, SavedRegions
from likewise.clock import OutOfTime
from likewise.errors import SpecError
from likewise.families.program_rounding import rounding_stats
from likewise.importers.restriction import restrict_model
from likewise.problem import Problem, make_claim, prepare, refuse_one_way
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, interruptible
from likewise.spec.features import Categorical
from likewise.spec.properties import Property
from likewise.verifying.certification import CheckRunner, take_up_analysis
from likewise.verifying.posed_problem import pose

if TYPE_CHECKING:
    from likewise.analysis.region_result import Regions
    from likewise.importers.imported_model import ImportedModel
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.posed_problem import PosedProblem

ORDER_SAMPLE = 64  # individuals at which levels are put in order


def regions(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    around: Any = None,
    where: Iterable[str] = (),
    over: Any = None,
    max_boxes: int | None = 100,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
) -> Regions:
    """Boxes of individuals proved to be treated fairly, boxes of individuals all of whom are not, and the rest.

    What is known when the budget is over, or at Ctrl-C, is returned; `reason` says so.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress, import_budget,
    encoding, threshold, checkpoint, resume
        As for `verify`.
    around : str, frame or mapping, optional
        Ask for one fair box instead, as large as it can be made: around a rule such as
        "age >= 60 and housing == own", or around a person, a frame of one row or a mapping.
    where : iterable of str
        Constraints that restrict the space first.
    over : "uniform", "marginals" or frame, optional
        Whom the partition should decide as many of as it can: all individuals of the space alike; all of them, with every feature distributed as in
        `X` and independent of the others; or the rows of a frame. Unless told, the rows of `X`, or everybody alike where there are none.
    max_boxes : int, optional
        Keeps the answer readable: no more than so many fair and so many biased boxes, the largest ones that are found; what
        lies in smaller ones stays undecided. None is no limit.

    Returns
    -------
    Regions
        The boxes by kind, each with its rule, its share of the space and of the people, and its certificates.
    """
    if max_boxes is not None and (
        not isinstance(max_boxes, int) or isinstance(max_boxes, bool) or max_boxes < 1
    ):
        raise SpecError(f"max_boxes must be a whole number from 1, or None, not {max_boxes!r}")
    if isinstance(over, str) and over not in ("uniform", "marginals"):
        raise SpecError(f"over must be 'uniform', 'marginals' or a frame of rows, not {over!r}")
    if isinstance(over, str) and over == "marginals" and X is None:
        raise SpecError("the data's marginals need the data", hint="regions(..., over='marginals', X=X)")
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
    ) as run:
        rows = X if over is None or isinstance(over, str) else over
        claim = make_claim(
            model,
            space,
            similar,
            property,
            rows if around is None else None,
            encoding=encoding,
            threshold=threshold,
        )
        refuse_missing(space)
        claim = replace(claim, space=space.where(*([where] if isinstance(where, str) else where)))
        of = over if isinstance(over, str) else None
        return regions_of_problem(prepare(claim, run), run, around=around, over=of, max_boxes=max_boxes)


def refuse_missing(space: Space) -> None:
    """Regions are boxes, and who misses a value lies in none."""
    for name, feature in space.features.items():
        if getattr(feature, "missing", False):
            raise SpecError(
                f"regions cannot be computed for {name!r}: it has missing values",
                hint="declare the feature without them: the regions are then about those of whom it is known",
            )


def regions_of_problem(
    problem: Problem, run: Run, *, around: Any = None, over: str | None = None, max_boxes: int | None = 100
) -> Regions:
    """The same of a model that was read already, about its rows unless `over` says otherwise."""
    refuse_one_way(problem.claim, "regions")
    problem.refuse_along("regions")
    claim, clock = problem.claim, run.budget
    space, property = claim.space, claim.property
    refuse_missing(space)
    problem.refuse_distance("regions are not computed", "give tolerances instead, or ask audit about rows")
    whole = reduce_to_one_score(problem.imported, property)
    problem = replace(problem, imported=whole)
    with interruptible(clock):
        first = ordered = pose(problem, run)
        with suppress(OutOfTime), clock.watched():
            by_score = order_levels_by_score(first, space)
            if by_score is not space:
                ordered = pose(_reorder_problem(problem, whole, by_score, run), run)
        judge = BoxJudge(ordered)
        run.tell("preparing the bounds")
        with clock.stopped():
            judge.warm_up()
        prover = BoxProver(
            model=claim.model,
            whole=whole,
            space=space,
            asked=property,
            relations=claim.similarity.relations(space),
            budget=clock,
            checking=CheckRunner.of(run),
        )
        if around is not None:
            growth = BoxGrowth(judge, prover, around, run.listener, run.checkpoint)
            question = f"regions around {growth.start.parts} {property!r}".encode()
            begun = take_up_analysis(ordered, run.checkpoint, question, b"")
            if isinstance(begun, SavedGrowth):
                growth.restore(begun)
            if run.checkpoint is not None:
                run.checkpoint.follow_analysis(lambda: growth.state)
            found = growth.run()
        else:
            people = None if over == "uniform" else _people_of(judge, problem, over)
            question = f"regions {over} {max_boxes} {property!r}".encode()
            data = b"" if people is None else problem.codes.tobytes()
            begun = take_up_analysis(ordered, run.checkpoint, question, data)
            search = RegionSearch(judge, prover, people, run.listener, max_boxes, run.checkpoint)
            if isinstance(begun, SavedRegions):
                search.restore(begun)
            if run.checkpoint is not None:
                run.checkpoint.follow_analysis(lambda: search.state)
            found = search.run()
    known = {**whole.compared.stats, **rounding_stats(whole.program)}
    return replace(found, stats={**found.stats, **known})


def _people_of(judge: BoxJudge, problem: Problem, over: str | None) -> People | None:
    """Whom the partition is about: the rows, or individuals distributed as their columns; None where there are no rows."""
    rows, given = judge.prepared.imported.rows, problem.codes
    if not len(given):
        return None
    return ColumnPeople(judge.pairs, rows, given) if over == "marginals" else RowPeople(rows, given)


def _reorder_problem(problem: Problem, whole: ImportedModel, ordered: Space, run: Run) -> Problem:
    """The problem over the space with its levels in another order; read again only where the model's levels cannot be put in order by themselves."""
    claim = replace(problem.claim, space=ordered, codes=None)
    imported = restrict_model(whole, ordered)
    if imported is None:
        again = prepare(claim, run)
        return replace(again, imported=reduce_to_one_score(again.imported, claim.property))
    rows = whole.rows.copy()
    for k, name in enumerate(ordered.names):
        before, after = whole.space[name], imported.space[name]
        if isinstance(before, Categorical) and isinstance(after, Categorical):
            places = np.array([after.position(level) for level in before.levels], dtype=float)
            rows[:, k] = places[rows[:, k].astype(int)]
    relations = claim.similarity.resolve(ordered)
    return replace(problem, claim=claim, imported=replace(imported, rows=rows), relations=relations)


def order_levels_by_score(prepared: PosedProblem, space: Space) -> Space:
    """The space with unordered levels in the order of their scores, so that a cut puts like levels together."""
    pairs, random = prepared.pairs, np.random.default_rng(0)
    ends = [(float(v.lo), float(v.hi), v.discrete) for v in (pairs.variables[v] for v in pairs.first)]
    columns = [
        random.integers(int(lo), int(hi) + 1, ORDER_SAMPLE)
        if discrete
        else random.uniform(lo, hi, ORDER_SAMPLE)
        for lo, hi, discrete in ends
    ]
    rows = np.stack(columns, axis=1).astype(float)
    changed: dict[str, Any] = {}
    for k, name in enumerate(space.names):
        feature = space[name]
        if isinstance(feature, Categorical) and len(feature.levels) > 2:
            means = []
            for code in range(len(feature.levels)):
                rows_there = rows.copy()
                rows_there[:, k] = code
                means.append(float(prepared.task.scored(rows_there).reshape(ORDER_SAMPLE, -1)[:, -1].mean()))
            levels = [feature.levels[int(i)] for i in np.argsort(means, kind="stable")]
            if levels != list(feature.levels):
                changed[name] = Categorical(levels)
    return space.replace(changed) if changed else space
