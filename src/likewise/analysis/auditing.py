"""audit: for EVERY row of a data set, is there a similar individual who is treated differently, who, and by how much?

The answer is exact for each row: a biased row comes with its counterpart, a pair of valid and similar individuals that breaks the property in
exact arithmetic and on the model's own predictions; a row that is not biased has no such counterpart anywhere in the space, not only in the data.
Rows for which the budget was too short are neither, and say why.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.audit_frames import audit_frame, grouped, records, write_frame
from likewise.analysis.judging import Judging, judgement_of, judging_of
from likewise.errors import SpecError
from likewise.model.enclosure import FIRST_BITS, MOST_BITS
from likewise.progress import Listener
from likewise.search.budget import interruptible
from likewise.search.counterparts import BIASED, FAIR, UNDECIDED
from likewise.spec.properties import SameDecision
from likewise.verifying.deciding import listening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.certainty import Near
    from likewise.search.counterparts import Judgement
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

NOT_REPLAYED = "rounding: a counterpart breaks the property in exact arithmetic, but the model's own floating-point prediction does not show it"
SHOWN = 10  # rows in the text


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """What is known of each row of a data set.

    The counterpart of a biased row breaks the property; that of another row is the one with the largest gap. `gap` is the largest difference to
    any similar individual, of scores (of probabilities for `ProbabilityGap`).

    Attributes
    ----------
    rows : frame
        The worst-treated first: `row` (position in the data), `biased` (null where undecided), `gap`, `decision`,
        `counterpart_decision`, `proved`, and `counterpart_<feature>` for each feature that may differ.
    total, biased, undecided : int
        Numbers of rows.
    proved : bool
        False where some "not biased" rests on floating point.
    reasons : dict
        Why rows were left undecided, with their numbers.
    stats : dict
        Seconds and the like.
    data : frame
        The rows that were looked at.
    """

    rows: Any
    total: int
    biased: int
    undecided: int
    proved: bool
    reasons: dict[str, int] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    data: Any = field(default=None, repr=False)

    @property
    def share(self) -> float:
        """Of all rows, those that are biased. Undecided ones are not counted: at most `share_at_most` are."""
        return self.biased / self.total

    @property
    def share_at_most(self) -> float:
        """Of all rows, those that are biased or undecided."""
        return (self.biased + self.undecided) / self.total

    def by(self, column: str) -> Any:
        """A frame with one line a value of a column of the data: rows, biased, undecided, share, largest gap."""
        return grouped(self.rows, self.data, column)

    def save(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        write_frame(self.rows, path)

    def __str__(self) -> str:
        text = f"{self.biased:,} of {self.total:,} rows ({self.share:.3%}) have a differently treated counterpart"
        if self.undecided:
            text += f"; {self.undecided:,} are undecided ({'; '.join(self.reasons)})"
        if not self.proved:
            text += "; rows that are not biased rest on floating point"
        return text

    def _repr_html_(self) -> str:
        head = records(self.rows, SHOWN)
        if not head:
            return f"<p>{escape(str(self))}</p>"
        names = "".join(f"<th>{escape(name)}</th>" for name in head[0])
        lines = ("".join(f"<td>{escape(_shown(value))}</td>" for value in row.values()) for row in head)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return (
            f"<table><caption>{escape(str(self))}</caption><thead><tr>{names}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "share": self.share,
            "share_at_most": self.share_at_most,
            "total": self.total,
            "biased": self.biased,
            "undecided": self.undecided,
            "proved": self.proved,
            "reasons": dict(self.reasons),
            "rows": records(self.rows),
            "stats": dict(self.stats),
        }


def audit(
    model: Any,
    X: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
) -> Audit:
    """For every row of `X`: is there a similar individual in the space who is treated differently?

    Parameters
    ----------
    model, space, similar, property, budget, random_state, progress
        As for `verify`.
    X : frame
        The rows.
    n_jobs, executor
        Processes that share the rows where each takes a search of its own; rows whose similar individuals
        can all be looked at are judged together, in this process.

    Returns
    -------
    Audit
        A verdict, a gap and a counterpart for each row.

    Examples
    --------
    >>> import likewise as lw
    >>> from sklearn.linear_model import LogisticRegression
    >>> credit = lw.datasets.load_credit(coded=True)
    >>> model = LogisticRegression(solver="liblinear").fit(credit.X, credit.y)
    >>> similar = lw.Similarity(free=["Ethnicity"])
    >>> print(lw.audit(model, credit.X, credit.space, similar))
    9 of 400 rows (2.250%) have a differently treated counterpart
    """
    if X is None:
        raise SpecError("audit needs rows to look at", hint="audit(model, X, space, similar)")
    property = SameDecision() if property is None else property
    with listening(progress) as listener:
        judging = judging_of(
            model, space, similar, property, X=X, budget=budget, random_state=random_state, listener=listener
        )
        rows = judging.prepared.imported.rows
        if not len(rows):
            raise SpecError("audit needs rows to look at, and the frame has none")
        with interruptible(judging.budget):
            found = judgement_of(judging, rows, n_jobs=n_jobs, executor=executor)
            _replay(judging, rows, found)
            return _audit(judging, rows, found, X)


def _replay(judging: Judging, rows: Floats, found: Judgement) -> None:
    """Biased rows are shown on the model's own predictions as well; where they do not show, nothing is claimed."""
    biased = np.flatnonzero(found.verdict == BIASED)
    if not len(biased):
        return
    own, other = rows[biased], found.counterpart[biased]
    replay, question = judging.prepared.imported.replay, judging.question
    confirmed = replay.confirmed(own, other, question) | replay.confirmed(other, own, question)
    for i in biased[~confirmed].tolist():
        found.verdict[i], found.reasons[i] = UNDECIDED, NOT_REPLAYED


def _audit(judging: Judging, rows: Floats, found: Judgement, X: Any) -> Audit:
    reasons: dict[str, int] = {}
    for i in np.flatnonzero(found.verdict == UNDECIDED).tolist():
        reason = found.reasons.get(i, judging.budget.reason)
        reasons[reason] = reasons.get(reason, 0) + 1
    decided = None
    if judging.prepared.imported.model.head.labels is not None:
        decided = tuple(
            _labels(judging, *side) for side in ((rows, found.score), (found.counterpart, found.other))
        )
    finite = found.gap_error[np.isfinite(found.gap_error)]
    return Audit(
        rows=audit_frame(judging.asked, found, decided, like=X),
        total=len(rows),
        biased=int((found.verdict == BIASED).sum()),
        undecided=int((found.verdict == UNDECIDED).sum()),
        proved=bool(found.proved[found.verdict == FAIR].all()),
        reasons=reasons,
        stats={
            "seconds": judging.budget.elapsed,
            "redone_exactly": found.redone,
            "gap_error": float(finite.max(initial=0.0)),
            "gaps_not_proved": int((~np.isfinite(found.gap_error)).sum()),
            "gap_of": judging.asked.gauge.of,
        },
        data=X,
    )


def _labels(judging: Judging, codes: Floats, score: Near) -> list[Any]:
    """The decision of each individual, by the sign of its score: by enclosures where float64 does not tell."""
    head = judging.prepared.imported.model.head
    at = Fraction(0) if head.undecided is None else -head.offset / head.slope
    rising = (head.undecided is None or head.slope > 0) != judging.prepared.mirrored
    border = float(at) * (-1 if judging.prepared.mirrored else 1)
    room = score.error + abs(border) * 2.0**-50 + np.abs(score.value) * 2.0**-50
    above, below = score.value - border > room, score.value - border < -room
    upper, lower = (above, below) if rising else (below, above)
    labels = head.labels or (None, None)
    known: list[Any] = np.where(upper, 1, np.where(lower, 0, -1)).tolist()
    return [
        labels[place] if place >= 0 else _exact_label(judging, row)
        for place, row in zip(known, codes, strict=True)
    ]


def _exact_label(judging: Judging, codes: Floats) -> Any:
    """None where there is nobody, or no precision tells."""
    if np.isnan(codes).any():
        return None
    head, bits = judging.prepared.imported.model.head, FIRST_BITS
    exact = [Fraction(c) for c in codes.tolist()]
    while bits <= MOST_BITS:
        score = judging.asked.judge.enclose(exact, bits)
        score = -score if judging.prepared.mirrored else score
        labels = head.decide(score.lo), head.decide(score.hi)
        if labels[0] == labels[1]:
            return labels[0]
        bits *= 4
    return None


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
