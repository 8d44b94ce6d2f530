"""compare: two models, or two versions of one, on the same claim. Did fairness get worse?

A verdict that changes from FAIR to BIASED is worse, the other way better. Where both are BIASED the disparities tell: brackets that
do not meet are an answer, brackets that do are one only if both are narrow; everything else is undecided.
Disparities of probabilities can be compared between any two models that have them; those of scores are in each model's own unit.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.analysis.measuring import UNPROVED, Disparity, measure
from likewise.errors import SpecError
from likewise.html_tables import table
from likewise.progress import Listener
from likewise.search.budget import Budget, interruptible
from likewise.spec.properties import SameDecision
from likewise.verifying.deciding import verify
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
) -> Comparison:
    """Verdict and disparity of two models side by side.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress
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
    property = SameDecision() if property is None else property
    share = budget / PARTS
    common = {"X": X, "budget": share, "n_jobs": n_jobs, "executor": executor}
    common |= {"random_state": random_state, "progress": progress}
    scales = SCALES if of is None else (of,)
    with interruptible(Budget(budget)):
        results = tuple(verify(one, space, similar, property, **common) for one in (model, other))
        disparities = _measured((model, other), space, similar, scales, tolerance=tolerance, **common)
    return Comparison(
        names=names,
        results=(results[0], results[1]),
        disparities=disparities,
        change=changed((results[0], results[1]), disparities, tolerance),
    )


def _measured(
    models: tuple[Any, Any], space: Space, similar: Similarity, scales: tuple[Scale, ...], **options: Any
) -> tuple[Disparity, Disparity]:
    """Both disparities on the first scale that both models have."""
    for last, scale in enumerate(scales, 1):
        try:
            first, second = (measure(one, space, similar, of=scale, **options) for one in models)
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
