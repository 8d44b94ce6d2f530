"""groups: how often does each group get the favourable decision, and how far are the groups apart?

Over a population (`strata`) rates are brackets: exact or proved where that can be, else intervals of a sample in which everybody is decided exactly (`decision_rates`). Over rows they are counts of the
model's own decisions, exact for these rows, with an interval for the people whom they are a sample of; with labels also the rates of equal opportunity and equalised odds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.decision_rates import NARROW_ENOUGH, RateComputation, StratumRate
from likewise.analysis.groups_result import (
    FALSE_POSITIVE,
    METRICS,
    SELECTION,
    TRUE_POSITIVE,
    Group,
    Groups,
    Rate,
    rate_of_counts,
)
from likewise.analysis.row_claim import RowClaim, prepare_row_claim
from likewise.analysis.share_sample import AIMED_WIDTH
from likewise.analysis.strata import Stratum, make_strata
from likewise.errors import DataError, SpecError, UnsupportedModel, suggest_name
from likewise.families.program_rounding import rounding_stats
from likewise.problem import Problem, make_claim, prepare
from likewise.progress import Listener
from likewise.run import Run, open_run
from likewise.search.budget import IMPORT_SECONDS, interruptible
from likewise.spec.columns import as_table
from likewise.spec.numbers import double_above, double_below
from likewise.spec.population import Population
from likewise.spec.properties import SameDecision
from likewise.spec.similarity import Similarity
from likewise.verifying.result import plain_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

MOST_GROUPS = 1_000
ROWS_AT_A_TIME = 65_536


def groups(
    model: Any,
    space: Space,
    by: str | Sequence[str],
    *,
    over: Any = "rows",
    favourable: Any = None,
    X: Any = None,
    y: Any = None,
    confidence: float = 0.99,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
    encoding: str | None = None,
    threshold: float | None = None,
) -> Groups:
    """How often each group gets the favourable decision.

    Parameters
    ----------
    model, space, X, budget, n_jobs, executor, random_state, progress, import_budget, encoding, threshold
        As for `verify`.
    by : str or sequence of str
        What tells the groups: a feature, or several that are crossed. Of rows also any other column of `X`.
    over : "rows", "marginals", "uniform" or Population
        Who is counted: the rows of `X`; individuals with every feature distributed as in `X` and independent of the others; all individuals of the space alike; or those of a population.
    favourable : label
        The decision that counts; of two labels the upper one, if nothing is said.
    y : sequence of labels
        What should have been decided of each row: adds rates of true and of false positives.
    confidence : float
        With which all intervals hold at once: those of rows around the shares of the people whom the rows are a sample of, and those of a sample.

    Returns
    -------
    Groups
        A bracket for each group, and of differences and ratios.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    if not names:
        raise SpecError("groups need a feature that tells them", hint='groups(model, space, by="sex")')
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise SpecError(f"confidence must be a number between 0 and 1, not {confidence!r}")
    rows = isinstance(over, str) and over == "rows"
    if not rows and not isinstance(over, Population) and over not in ("marginals", "uniform"):
        raise SpecError(f"over must be 'rows', 'marginals', 'uniform' or a Population, not {over!r}")
    if X is None and (rows or over == "marginals"):
        raise SpecError(
            "the data's rows and marginals need the data", hint="groups(..., X=X), or over='uniform'"
        )
    if y is not None and not rows:
        raise SpecError("labels are of rows", hint="groups(..., over='rows', X=X, y=y)")
    with open_run(
        budget=budget,
        import_budget=import_budget,
        n_jobs=n_jobs,
        executor=executor,
        random_state=random_state,
        progress=progress,
    ) as run:
        told = [name for name in names if name in space]
        similar = Similarity(free=told or [space.names[0]])
        problem = prepare(
            make_claim(model, space, similar, SameDecision(), X, encoding=encoding, threshold=threshold), run
        )
        return groups_of_problem(
            problem, run, names, over=over, favourable=favourable, y=y, confidence=confidence
        )


def groups_of_problem(
    problem: Problem,
    run: Run,
    by: tuple[str, ...],
    *,
    over: Any,
    favourable: Any = None,
    y: Any = None,
    confidence: float = 0.99,
) -> Groups:
    """The same of a model that was read already."""
    head = problem.imported.model.head
    if head.labels is None:
        raise UnsupportedModel(
            "groups are compared by decisions, and this model predicts numbers",
            hint="give the rates of a classifier, or of a model with a threshold",
        )
    place = _favourable_place(head.classes, favourable)
    asked = problem.with_property(SameDecision())
    with interruptible(run.budget):
        if isinstance(over, str) and over == "rows":
            found = _groups_of_rows(asked, run, by, place, y, confidence)
        else:
            found = _groups_of_population(asked, run, by, place, over, confidence)
    return found


def _favourable_place(labels: Sequence[object], wanted: Any) -> int:
    if wanted is None:
        if len(labels) == 2:
            return 1
        raise SpecError(
            f"the model decides between {len(labels)} labels: which one is favourable?",
            hint=f"favourable={labels[0]!r}, or another of {', '.join(map(repr, labels[:6]))}",
        )
    texts = [str(label) for label in labels]
    for place, label in enumerate(labels):
        if label == wanted or (isinstance(wanted, str) and texts[place] == wanted):
            return place
    raise SpecError(f"there is no label {wanted!r}", hint=f"the labels are {', '.join(map(repr, labels))}")


# -- a population -------------------------------------------------------------------------------------------------


def _groups_of_population(
    problem: Problem, run: Run, by: tuple[str, ...], place: int, over: Any, confidence: float
) -> Groups:
    space = problem.claim.space
    for name in by:
        if name not in space:
            raise SpecError(
                f"there is no feature {name!r}{suggest_name(name, space.names)}",
                hint="groups of a population are told by features; rows can be told by any column: over='rows'",
            )
    judging = prepare_row_claim(problem.with_similarity(Similarity(free=by)), run)
    strata = make_strata(judging, over, [space.names.index(name) for name in by])
    grouped = _group_strata(strata, [space.names.index(name) for name in by])
    if len(grouped) > MOST_GROUPS:
        raise SpecError(f"{', '.join(by)} make {len(grouped):,} groups: more than {MOST_GROUPS:,}")
    if judging.pairs.constraints and len(strata) > len(grouped):
        raise SpecError(
            "a population whose features depend on others cannot be combined with constraints",
            hint="leave out the constraints, or the dependence",
        )
    rates = _rates_of_strata(judging, strata, place, confidence)
    masses = [stratum.weight * rate.valid for stratum, rate in zip(strata, rates, strict=True)]
    total = sum(masses, Fraction(0)) or Fraction(1)
    found, empty = [], []
    for codes, places in grouped.items():
        values = tuple(
            space.value(space.names.index(name), code) for name, code in zip(by, codes, strict=True)
        )
        if all(rates[n].empty for n in places):
            empty.append(values)
            continue
        rate = _combine([(strata[n].weight, rates[n]) for n in places])
        share = sum((masses[n] for n in places), Fraction(0)) / total
        found.append(Group(values=values, share=float(share), rates={SELECTION: rate}))
    if not found:
        raise SpecError("nobody satisfies the constraints", hint="relax a constraint or widen the features")
    sampled = any(rate.method == "sampled" for rate in rates)
    wide = max(group.rates[SELECTION].upper - group.rates[SELECTION].lower for group in found)
    aim = AIMED_WIDTH if sampled else 2 * NARROW_ENOUGH
    imported = problem.imported
    stats = {
        **run.budget.stats,
        **imported.compared.stats,
        **rounding_stats(imported.program),
        "strata": len(strata),
        "individuals": sum(rate.people for rate in rates),
    }
    if empty:
        stats["empty_groups"] = [[plain_label(value) for value in values] for values in empty]
    if not all(rate.counted for rate in rates):
        stats["shares"] = "estimated"
    return Groups(
        by=by,
        groups=tuple(found),
        favourable=imported.model.head.classes[place],
        over=_words_of(over),
        confidence=confidence if sampled else None,
        proved=not judging.posed.task.oracles.family.opaque,
        reason=next(
            (rate.reason for rate in rates if rate.reason is not None),
            run.budget.reason if wide > 2 * aim and run.budget.over else None,
        ),
        stats=stats,
    )


def _rates_of_strata(
    judging: RowClaim, strata: Sequence[Stratum], place: int, confidence: float
) -> list[StratumRate]:
    """Each with its part of the time that is left, and of the error."""
    each = 1 - (1 - confidence) / len(strata)
    found = []
    for n, stratum in enumerate(strata):
        part = judging.within(judging.budget.part(1 / (len(strata) - n)))
        found.append(RateComputation(judging=part, stratum=stratum, place=place, confidence=each).run())
    return found


def _group_strata(strata: Sequence[Stratum], by: Sequence[int]) -> dict[tuple[float, ...], list[int]]:
    found: dict[tuple[float, ...], list[int]] = {}
    for n, stratum in enumerate(strata):
        found.setdefault(tuple(stratum.settings[k] for k in by), []).append(n)
    return found


def _combine(parts: Sequence[tuple[Fraction, StratumRate]]) -> Rate:
    """The rate of a group: fewest of those who are selected beside most of the others, and the other way
    round."""
    (few, many), (fewest, most) = (
        [sum((weight * ends[n] for weight, ends in masses), Fraction(0)) for n in (0, 1)]
        for masses in ([(w, r.selected) for w, r in parts], [(w, r.others) for w, r in parts])
    )
    lower = few / (few + most) if most else Fraction(1)
    upper = many / (many + fewest) if many else Fraction(0)
    methods = {rate.method for _, rate in parts}
    return Rate(
        lower=max(double_below(lower), 0.0),
        upper=min(double_above(upper), 1.0),
        method=next(name for name in ("sampled", "certified", "exact") if name in methods),
        share=lower if lower == upper else None,
    )


def _words_of(over: Any) -> str:
    if isinstance(over, Population):
        return "a population of given tables"
    return "all individuals" if over == "uniform" else "individuals distributed as the data's columns"


# -- rows ---------------------------------------------------------------------------------------------------------


def _groups_of_rows(
    problem: Problem, run: Run, by: tuple[str, ...], place: int, y: Any, confidence: float
) -> Groups:
    claim, imported = problem.claim, problem.imported
    if claim.X is None or not len(problem.codes):
        raise SpecError("there are no rows to count", hint="groups(..., X=X)")
    keys = _row_keys(claim.X, by)
    selected = _selected(problem, run, place)
    truth = None if y is None else _truth(y, imported.model.head.classes[place], len(selected))
    order = sorted(set(keys), key=lambda key: tuple(str(value) for value in key))
    if len(order) > MOST_GROUPS:
        raise SpecError(f"{', '.join(by)} make {len(order):,} groups: more than {MOST_GROUPS:,}")
    counted = [_RowCounts.of(key, keys, selected, truth) for key in order]
    intervals = len(order) * (1 if truth is None else 3)
    each = 1 - (1 - confidence) / intervals
    found = [group.rated(len(selected), each) for group in counted]
    return Groups(
        by=by,
        groups=tuple(found),
        favourable=imported.model.head.classes[place],
        over=f"the {len(selected):,} rows of the data",
        confidence=confidence,
        stats={**run.budget.stats, **imported.compared.stats, "individuals": len(selected)},
    )


def _row_keys(frame: Any, by: tuple[str, ...]) -> list[tuple[Any, ...]]:
    table = as_table(frame)
    columns = []
    for name in by:
        if name not in table.columns:
            raise DataError(f"the data have no column {name!r}{suggest_name(name, list(table.columns))}")
        values = table.get_column(name).to_list()
        columns.append([None if value != value else value for value in values])
    return list(zip(*columns, strict=True))


def _selected(problem: Problem, run: Run, place: int) -> NDArray[np.bool_]:
    """Who of the rows gets the favourable decision from the model's own predict."""
    imported, label = problem.imported, problem.imported.model.head.classes[place]
    codes = imported.recoding.coded(problem.codes)
    parts = []
    for start in range(0, len(codes), ROWS_AT_A_TIME):
        decisions = imported.replay.decisions(codes[start : start + ROWS_AT_A_TIME]).tolist()
        parts.append(np.array([decision == label for decision in decisions], dtype=bool))
        run.tell(f"{min(start + ROWS_AT_A_TIME, len(codes)):,} rows decided")
    return np.concatenate(parts)


def _truth(y: Any, favourable: object, rows: int) -> NDArray[np.bool_]:
    given = np.asarray(y).ravel().tolist()
    if len(given) != rows:
        raise DataError(f"there are {len(given):,} labels for {rows:,} rows")
    truth = np.array([value == favourable or str(value) == str(favourable) for value in given], dtype=bool)
    if not truth.any():
        raise DataError(f"no row is labelled {favourable!r}, which is the favourable decision")
    return truth


class _RowCounts:
    """Counts of one group of rows, by metric: hits, and of how many."""

    def __init__(self, values: tuple[Any, ...], rows: int, counts: Mapping[str, tuple[int, int]]) -> None:
        self.values, self.rows, self.counts = values, rows, counts

    @classmethod
    def of(
        cls,
        key: tuple[Any, ...],
        keys: Sequence[tuple[Any, ...]],
        selected: NDArray[np.bool_],
        truth: NDArray[np.bool_] | None,
    ) -> _RowCounts:
        here = np.array([one == key for one in keys], dtype=bool)
        among = {SELECTION: here}
        if truth is not None:
            among |= {TRUE_POSITIVE: here & truth}
            if not truth.all():
                among |= {FALSE_POSITIVE: here & ~truth}
        counts = {name: (int((selected & some).sum()), int(some.sum())) for name, some in among.items()}
        return cls(key, int(here.sum()), counts)

    def rated(self, total: int, confidence: float) -> Group:
        rates = {
            name: rate_of_counts(*self.counts[name], confidence) for name in METRICS if name in self.counts
        }
        return Group(values=self.values, share=self.rows / total, rates=rates)
