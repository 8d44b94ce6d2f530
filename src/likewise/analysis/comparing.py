"""compare: two models, or two versions of one, on the same claim. Did fairness get worse?

A verdict that changes from FAIR to BIASED is worse, the other way better. Where both are BIASED the disparities tell: brackets that
do not meet are an answer, brackets that do are one only if both are narrow; everything else is undecided.
Disparities of probabilities can be compared between any two models that have them; those of scores are in each model's own unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.measuring import UNPROVED, Disparity, Wanted, measure_taken
from likewise.errors import SpecError
from likewise.html_tables import table
from likewise.progress import Listener
from likewise.search.budget import IMPORT_SECONDS, Budget, budget_of, interruptible
from likewise.verifying.deciding import checked_property, checking_with, listening, verify_taken
from likewise.verifying.preparing import Taken, take
from likewise.verifying.result import Claimed
from likewise.verifying.wording import number

if TYPE_CHECKING:
    from likewise.model.gauge import Scale
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

Change = Literal["better", "worse", "same", "undecided"]
SCALES: tuple[Scale, ...] = ("probability", "score")  # the first that both models have is compared
PARTS = 4  # two verdicts and two disparities share the budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is known of the old model (first) and of the new one (second).

    Attributes
    ----------
    names : tuple of str
        What they are called.
    results : tuple of Result
        Their verdicts.
    disparities : tuple of Disparity
        Their largest gaps.
    change : str
        'better', 'worse', 'same' or 'undecided': what became of fairness from the first to the second.
    """

    names: tuple[str, str]
    results: tuple[Result, Result]
    disparities: tuple[Disparity, Disparity]
    change: Change

    @property
    def of(self) -> Scale:
        """The scale that the disparities are on."""
        return self.disparities[0].of

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = []
        for name, result, disparity in zip(self.names, self.results, self.disparities, strict=True):
            bracket = f"largest {self.of} gap in [{disparity.lower:.6g}, {disparity.upper:.6g}]"
            bracket += "" if disparity.proved else f" ({UNPROVED})"
            lines.append(f"{name:<{width}}  {result.verdict!s:<8} {bracket}")
            note = disparity.rounding_note()
            lines += [] if note is None else [f"{'':<{width}}  {note}"]
        return "\n".join([*lines, f"{self.names[1]} is {_IN_WORDS[self.change]}"])

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                str(result.verdict),
                number(disparity.lower),
                f"{number(disparity.upper)}{'' if disparity.proved else ' (not proved)'}",
            )
            for name, result, disparity in zip(self.names, self.results, self.disparities, strict=True)
        ]
        columns = ("model", "verdict", f"largest {self.of} gap, at least", "at most")
        return table(f"{self.names[1]} is {_IN_WORDS[self.change]}", rows, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "change": self.change,
            "models": [
                {"name": name, "verify": result.to_dict(), "measure": disparity.to_dict()}
                for name, result, disparity in zip(self.names, self.results, self.disparities, strict=True)
            ],
        }


_IN_WORDS = {
    "better": "fairer",
    "worse": "less fair",
    "same": "as fair",
    "undecided": "not told apart: search longer",
}


def compare(
    model: Any,
    other: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    of: Scale | None = None,
    names: tuple[str, str] = ("old", "new"),
    tolerance: float = 1e-3,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
    import_budget: float = IMPORT_SECONDS,
) -> Comparison:
    """Verdict and disparity of two models side by side.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress, import_budget
        As for `verify`.
    other : fitted estimator
        The second model, of the same space.
    of : 'score', 'probability' or 'margin', optional
        The scale of the disparities: that of probabilities if both models have them and nothing is said.
    names : tuple of str
        What the two are called.
    tolerance : float
        As for `measure`.

    Returns
    -------
    Comparison
        Both verdicts, both brackets, and what changed.
    """
    asked, checking = checked_property(property), checking_with(n_jobs, executor)
    scales = [
        Wanted(of=scale, class_of_interest=None, tolerance=tolerance)
        for scale in (SCALES if of is None else (of,))
    ]
    clock = budget_of(budget, import_budget)
    with listening(progress) as listener, interruptible(clock):
        how: dict[str, Any] = {"random_state": random_state, "listener": listener}
        both = [take(one, space, similar, X=X, budget=clock, listener=listener) for one in (model, other)]
        results = []
        for done, taken in enumerate(both):
            claimed = Claimed(
                space=space, similarity=similar, property=asked, family=taken.imported.model.family
            )
            results.append(verify_taken(taken, claimed, clock.part(1 / (PARTS - done)), checking, **how))
        disparities = _measured((both[0], both[1]), scales, clock, how)
    return Comparison(
        names=names,
        results=(results[0], results[1]),
        disparities=disparities,
        change=changed((results[0], results[1]), disparities, tolerance),
    )


def _measured(
    models: tuple[Taken, Taken], scales: Sequence[Wanted], clock: Budget, how: dict[str, Any]
) -> tuple[Disparity, Disparity]:
    """Both disparities on the first scale that both models have."""
    for last, scale in enumerate(scales, 1):
        try:
            first = measure_taken(models[0], scale, clock.part(1 / 2), **how)
            second = measure_taken(models[1], scale, clock.part(1), **how)
        except SpecError:
            if last == len(scales):
                raise
        else:
            return first, second
    raise SpecError("no scale to compare on")


def changed(
    results: tuple[Result, Result], disparities: tuple[Disparity, Disparity], tolerance: float
) -> Change:
    """What became of fairness."""
    verdicts = tuple(str(result.verdict) for result in results)
    if verdicts == ("FAIR", "BIASED"):
        return "worse"
    if verdicts == ("BIASED", "FAIR"):
        return "better"
    old, new = disparities
    if new.lower > old.upper:
        return "worse"
    if new.upper < old.lower:
        return "better"
    # Both brackets around one number, each at most twice the tolerance wide.
    return "same" if max(old.upper, new.upper) - min(old.lower, new.lower) <= 2 * tolerance else "undecided"
