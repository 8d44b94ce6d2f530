"""regions: who is treated fairly, who is not, and of whom is nothing proved? A partition of the space into boxes.

A region is a box of individuals x. Features in which similar individuals may differ freely take all their values in every region, so that
a region is closed under changing them.

fair       no pair of similar individuals with one of them in the box breaks the property. Proved as `verify` proves FAIR, on the
           sub-space of everybody who is similar to somebody in the box (the box itself, but for tolerances and pairs of levels, which
           reach beyond it); the certificate is the region's.
biased     EVERY individual of the box has a similar one who gets the other decision: there are two ways to change everybody in the box
           into somebody similar (free features set to certain values, numbers within a tolerance moved by a step), after one of which
           everybody gets the upper decision and after the other everybody the lower one; whoever it is, one of the two is not their own
           decision. Both are proved for the whole box, by a certificate each. Only for SameDecision with margin 0: other properties
           have fair and undecided regions.
undecided  the rest: there may be some of both, or the budget was over.
empty      excluded by a constraint: nobody.

Measures are shares of the space under the uniform measure (continuous features by length, others by count), constraints left aside,
and add up to exactly one. Ranges of continuous numbers include their ends, so that neighbours share a border; where the score jumps they
end at two neighbouring doubles, between which there is nobody, and what lies between counts to the right one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.cutting import Cutter
from likewise.analysis.exploring import Exploration, Kind
from likewise.analysis.ground import Ground
from likewise.analysis.merging import Piece, merged, pieces_of
from likewise.analysis.settling import Settler, Slice
from likewise.certificate.certificate import Certificate
from likewise.errors import SpecError
from likewise.model.gauge import gauge_of
from likewise.model.question import question_of
from likewise.progress import Listener, Snapshot
from likewise.search.budget import Budget, interruptible
from likewise.spec.features import Categorical
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap
from likewise.spec.space import Space
from likewise.verifying.deciding import checking_with, listening
from likewise.verifying.preparing import prepare

if TYPE_CHECKING:
    from likewise.spec.boxes import Box
    from likewise.spec.similarity import Similarity
    from likewise.verifying.preparing import Prepared

EXPLORING = 0.5  # of the time that is left: the rest is for proofs
LAST = 0.05  # of the budget: less is not worth another round
MOST_BOXES = 20_000
SAMPLE = 64  # individuals at which levels are put in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A box of individuals, and what is proved of it.

    Attributes
    ----------
    kind : str
        'fair', 'biased', 'undecided' or 'empty'.
    rule : str
        The box in words.
    box : dict
        Ranges and levels by feature, where they are not all of them.
    measure : fractions.Fraction
        Its share of the space.
    certificates : tuple of Certificate
        One of a fair region, two of a biased one.
    counterparts : tuple of dict
        How the individuals of a biased region are changed, the upper decision first.
    """

    kind: Kind
    rule: str
    box: dict[str, list[Any]]
    measure: Fraction
    certificates: tuple[Certificate, ...] = ()
    counterparts: tuple[dict[str, Any], ...] = ()

    @property
    def certificate(self) -> Certificate | None:
        """The first certificate, if there is any."""
        return self.certificates[0] if self.certificates else None

    def __str__(self) -> str:
        return f"{self.kind:<9}  {share_text(self.measure):>7}  {self.rule}"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON; the measure as a number and as a fraction."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "box": self.box,
            "measure": float(self.measure),
            "exact_measure": str(self.measure),
            "certificates": len(self.certificates),
            "counterparts": list(self.counterparts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Regions:
    """The partition of the space, largest regions first.

    Attributes
    ----------
    fair, biased, undecided, empty : list of Region
        The boxes of each kind. With `around`, `fair` holds the one region asked for, if there is any.
    around : str or None
        The rule that was asked about.
    reason : str or None
        Why the search ended early.
    stats : dict
        Seconds and the like.
    """

    fair: list[Region]
    biased: list[Region]
    undecided: list[Region]
    empty: list[Region] = field(default_factory=list)
    around: str | None = None
    reason: str | None = None
    stats: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Any:
        return iter((*self.fair, *self.biased, *self.undecided, *self.empty))

    def share(self, kind: Kind) -> Fraction:
        """The share of all regions of a kind."""
        return sum((region.measure for region in getattr(self, kind)), Fraction(0))

    def __str__(self) -> str:
        return "\n".join(str(region) for region in self) + (f"\n({self.reason})" if self.reason else "")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{region.kind}</td><td>{share_text(region.measure)}</td><td>{escape(region.rule)}</td></tr>"
            for region in self
        )
        head = "<tr><th>kind</th><th>share</th><th>rule</th></tr>"
        caption = escape(self.reason or "")
        return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the certificates, ready for JSON."""
        return {
            **{kind: [region.to_dict() for region in getattr(self, kind)] for kind in KINDS},
            "shares": {kind: float(self.share(kind)) for kind in KINDS},
            "around": self.around,
            "reason": self.reason,
            "stats": dict(self.stats),
        }


KINDS: tuple[Kind, ...] = ("fair", "biased", "undecided", "empty")


def share_text(share: Fraction) -> str:
    """A share in per cent, never rounded to nothing or to all."""
    percent = float(100 * share)
    if share in (0, 1) or 0.01 <= percent < 99.995:
        return f"{percent:.2f}%"
    return f"{percent:.1e}%" if percent < 1 else "99.99%"


def regions(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    around: Any = None,
    where: Iterable[str] = (),
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
) -> Regions:
    """Boxes of individuals proved to be treated fairly, boxes of individuals all of whom are not, and the rest.

    What is known when the budget is over, or at Ctrl-C, is returned; `reason` says so.

    Parameters
    ----------
    model, space, similar, property, X, budget, n_jobs, executor, random_state, progress
        As for `verify`.
    around : str, frame or mapping, optional
        Ask for one fair box instead, as large as it can be made: around a rule such as
        "age >= 60 and housing == own", or around a person, a frame of one row or a mapping.
    where : iterable of str
        Constraints that restrict the space first.

    Returns
    -------
    Regions
        The boxes by kind, each with its rule, its share of the space and its certificates.
    """
    property = SameDecision() if property is None else property
    if not isinstance(property, (SameDecision, ScoreGap, ProbabilityGap)):
        raise SpecError(
            f"property must be SameDecision, ScoreGap or ProbabilityGap, not {type(property).__name__}",
            hint="for instance likewise.SameDecision()",
        )
    checking = checking_with(n_jobs, executor)
    if not isinstance(space, Space):
        raise SpecError(
            f"space must be a likewise.Space, not {type(space).__name__}", hint="Space.from_data(X)"
        )
    for name, feature in space.features.items():
        if getattr(feature, "missing", False):
            raise SpecError(f"regions cannot be told for {name!r}: it has missing values")
    space = space.where(*([where] if isinstance(where, str) else where))
    clock = Budget(budget)
    with listening(progress) as listener, interruptible(clock):

        def prepared_on(part: Space) -> Prepared:
            return prepare(
                model,
                part,
                similar,
                question_of(property),
                gauge_of(property).of,
                X=X if around is None else None,
                budget=budget,
                random_state=random_state,
                listener=listener,
            )

        first = prepared_on(space)
        if first.imported.recoding.bent:
            raise SpecError(
                "the model sees a continuous feature through a function such as log1p, which regions do not know yet",
                hint="make it an Integer or Ordinal feature",
            )
        ordered = in_order_of_scores(first, space)
        asks_decisions = isinstance(property, SameDecision) and property.margin == 0
        ground = Ground(
            first if ordered is space else prepared_on(ordered), space, asks_decisions=asks_decisions
        )
        listener(Snapshot(stage="preparing the bounds", seconds=clock.elapsed))
        with clock.stopped():
            ground.warm_up()
        settler = Settler(
            model=model,
            whole=first.imported,
            space=space,
            asked=property,
            relations=similar.relations(space),
            budget=clock,
            checking=checking,
        )
        if around is not None:
            from likewise.analysis.growing import grown

            return grown(ground, settler, around, listener)
        return _partitioned(ground, settler, listener)


def in_order_of_scores(prepared: Prepared, space: Space) -> Space:
    """The space with unordered levels in the order of their scores, so that a cut puts like levels together."""
    pairs, random = prepared.pairs, np.random.default_rng(0)
    ends = [(float(v.lo), float(v.hi), v.discrete) for v in (pairs.variables[v] for v in pairs.first)]
    columns = [
        random.integers(int(lo), int(hi) + 1, SAMPLE) if discrete else random.uniform(lo, hi, SAMPLE)
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
                means.append(float(prepared.problem.scores(rows_there).mean()))
            levels = [feature.levels[int(i)] for i in np.argsort(means, kind="stable")]
            if levels != list(feature.levels):
                changed[name] = Categorical(levels)
    return space.replace(changed) if changed else space


def _partitioned(ground: Ground, settler: Settler, listener: Listener) -> Regions:
    """Explore for a part of the time that is left, merge and prove what was found, and again."""
    budget, exploration = settler.budget, Exploration(ground)
    order = [int(k) for k in np.argsort(Cutter(ground).spreads(ground.lo, ground.hi), kind="stable")]
    proved: list[Region] = []
    empty: list[Piece] = []
    left: list[Piece] = []
    boxes = 0
    while (
        exploration.frontier.boxes
        and budget.seconds - budget.elapsed > LAST * budget.seconds
        and not budget.over
    ):
        time_for_it = Slice(budget, EXPLORING * (budget.seconds - budget.elapsed))
        found = exploration.run(time_for_it, listener, most=MOST_BOXES)
        boxes += len(found)
        for piece in merged(pieces_of(found), order):
            if piece.kind in ("fair", "biased"):
                _settle(settler, piece, proved, left)
                listener(
                    Snapshot(
                        stage="proving regions", seconds=budget.elapsed, closed=len(proved), open=len(left)
                    )
                )
            else:
                (empty if piece.kind == "empty" else left).append(piece)
    proved.sort(key=lambda region: -region.measure)
    left += pieces_of(exploration.rest)
    return Regions(
        fair=[region for region in proved if region.kind == "fair"],
        biased=[region for region in proved if region.kind == "biased"],
        undecided=[region_of(piece, ()) for piece in merged(left, order)],
        empty=[region_of(piece, ()) for piece in merged(empty, order)],
        reason=_reason(budget, exploration),
        stats={"seconds": budget.elapsed, "boxes": boxes + len(exploration.frontier.boxes)},
    )


def _settle(settler: Settler, piece: Piece, proved: list[Region], left: list[Piece]) -> None:
    """Put what can be proved of a piece with the regions that are, and the rest with what is left."""
    for part, certificates in settler.settled(piece):
        if certificates:
            proved.append(region_of(part, certificates))
        else:
            left.append(Piece(kind="undecided", box=part.box, share=part.share))


def _reason(budget: Budget, exploration: Exploration) -> str | None:
    """Why the partition is not what it could be: the time was over before every box was judged."""
    if budget.over or not exploration.frontier.boxes:
        return budget.reason if budget.over else None
    return f"the budget of {budget.seconds:g} s is used up"


def region_of(piece: Piece, certificates: Sequence[Certificate]) -> Region:
    """A piece as people see it."""
    box: Box = piece.box
    return Region(
        kind=piece.kind,
        rule=box.rule,
        box=box.values(),
        measure=piece.share,
        certificates=tuple(certificates),
        counterparts=tuple(counterpart.words(box.space) for counterpart in piece.counterparts),
    )
