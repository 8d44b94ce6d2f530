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

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.cutting import Cutter
from likewise.analysis.exploring import Exploration, Kind
from likewise.analysis.ground import Ground
from likewise.analysis.merging import Piece, merged, pieces_of
from likewise.analysis.settling import Settler, Slice, one_score
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
from likewise.verifying.preparing import prepare_taken, take

if TYPE_CHECKING:
    from likewise.spec.boxes import Box
    from likewise.spec.similarity import Similarity
    from likewise.verifying.preparing import Prepared

EXPLORING = 0.4  # of the time that is left in every round: the rest is for growing biased boxes, and for proofs
GROWING = 0.15
MOST_GROWN = 24  # boxes that are grown around individuals who are treated differently
LAST = 0.05  # of the budget: less is not worth another round
MOST_BOXES = 20_000
SHOWN = 10  # regions of a kind that are printed
SAMPLE = 64  # individuals at which levels are put in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A box of individuals: its rule in words, its ranges and levels where they are not all, its share of the space.

    `certificates` prove what is said of it: one of a fair region, two of a biased one, whose `counterparts` say how its individuals are
    changed (upper decision first).
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
        return shown_line(self.kind, self.measure, self.rule)

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
    """The partition, largest regions first. With `around`, `fair` holds the one region asked for, if there is any."""

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

    def shown(self, most: int = SHOWN) -> Iterator[tuple[Kind, Fraction, str]]:
        """Kind, share and rule of the `most` largest regions of each kind, and a line for what is left of it."""
        for kind in KINDS:
            listed: list[Region] = getattr(self, kind)
            yield from ((kind, region.measure, region.rule) for region in listed[:most])
            rest = listed[most:]
            if rest:
                left = sum((region.measure for region in rest), Fraction(0))
                yield kind, left, f"({len(rest)} more)"

    def __str__(self) -> str:
        lines = [shown_line(*shown) for shown in self.shown()]
        return "\n".join([*lines, f"({self.reason})"] if self.reason else lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{kind}</td><td>{share_text(share)}</td><td>{escape(rule)}</td></tr>"
            for kind, share, rule in self.shown()
        )
        head = "<tr>" + "".join(f'<th scope="col">{name}</th>' for name in ("kind", "share", "rule")) + "</tr>"
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


def shown_line(kind: Kind, share: Fraction, rule: str) -> str:
    """One region, or several, in one line."""
    return f"{kind:<9}  {share_text(share):>7}  {rule}"


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
    max_boxes: int | None = 100,
    X: Any = None,
    budget: float = 60,
    n_jobs: int = 1,
    executor: Executor | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Listener = False,
) -> Regions:
    """Boxes of individuals proved to be treated fairly, boxes of individuals all of whom are not, and the rest.

    Parameters are those of `verify`. `around` asks for one fair box instead, as large as it can be made: around a person (a frame of one
    row or a mapping) or around a rule such as "age >= 60 and housing == own". `where` restricts the space by constraints first.
    `max_boxes` keeps the answer readable: no more than so many fair and so many biased boxes, the largest ones that are found; what lies
    in smaller ones stays undecided. None is no limit.
    What is known when the budget is over, or at Ctrl-C, is returned; `reason` says so.
    """
    property = SameDecision() if property is None else property
    if not isinstance(property, (SameDecision, ScoreGap, ProbabilityGap)):
        raise SpecError(
            f"property must be SameDecision, ScoreGap or ProbabilityGap, not {type(property).__name__}",
            hint="for instance likewise.SameDecision()",
        )
    if max_boxes is not None and (not isinstance(max_boxes, int) or isinstance(max_boxes, bool) or max_boxes < 1):
        raise SpecError(f"max_boxes must be a whole number from 1, or None, not {max_boxes!r}")
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
            taken = take(model, part, similar, X=X if around is None else None, budget=budget)
            return prepare_taken(
                replace(taken, imported=one_score(taken.imported, property)),
                question_of(property),
                gauge_of(property).of,
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
        relations = similar.relations(space)
        ground = Ground(
            first if ordered is space else prepared_on(ordered),
            space,
            relations,
            asks_decisions=asks_decisions,
        )
        listener(Snapshot(stage="preparing the bounds", seconds=clock.elapsed))
        with clock.stopped():
            ground.warm_up()
        settler = Settler(
            model=model,
            whole=first.imported,
            space=space,
            asked=property,
            relations=relations,
            budget=clock,
            checking=checking,
        )
        if around is not None:
            from likewise.analysis.growing import grown

            return grown(ground, settler, around, listener)
        return Partition(ground, settler, listener, max_boxes).run()


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


class Partition:
    """A partition in the making: rounds of exploring, growing and proving, until the budget is over or there are enough boxes."""

    def __init__(self, ground: Ground, settler: Settler, listener: Listener, max_boxes: int | None) -> None:
        self.ground, self.settler, self.listener = ground, settler, listener
        self.most = math.inf if max_boxes is None else max_boxes
        self.exploration = Exploration(ground)
        self.order = [int(k) for k in np.argsort(Cutter(ground).spreads(ground.lo, ground.hi), kind="stable")]
        self.proved: dict[Kind, list[Region]] = {"fair": [], "biased": []}
        self.empty: list[Piece] = []
        self.left: list[Piece] = []
        self.boxes = self.grown = 0

    def run(self) -> Regions:
        """All rounds."""
        budget = self.settler.budget
        while self._goes_on:
            remaining = budget.seconds - budget.elapsed
            found = self.exploration.run(
                Slice(budget, EXPLORING * remaining), self.listener, most=int(min(4 * self.most, MOST_BOXES))
            )
            grown = self.exploration.seeded(
                Slice(budget, GROWING * remaining), most=int(min(self.most, MOST_GROWN)) - self.grown
            )
            self.boxes += len(found) + len(grown)
            self.grown += len(grown)
            for piece in taking_turns(merged(pieces_of([*found, *grown]), self.order)):
                self._take(piece)
        self.left += pieces_of(self.exploration.rest)
        return Regions(
            fair=sorted(self.proved["fair"], key=_largest_first),
            biased=sorted(self.proved["biased"], key=_largest_first),
            undecided=[region_of(piece, ()) for piece in merged(self.left, self.order)],
            empty=[region_of(piece, ()) for piece in merged(self.empty, self.order)],
            reason=self._reason(),
            stats={
                "seconds": budget.elapsed,
                "boxes": self.boxes + len(self.exploration.frontier.boxes),
            },
        )

    @property
    def _goes_on(self) -> bool:
        budget = self.settler.budget
        return (
            bool(self.exploration.frontier.boxes)
            and budget.seconds - budget.elapsed > LAST * budget.seconds
            and not budget.over
            and len(self.proved["fair"]) < self.most
        )

    def _take(self, piece: Piece) -> None:
        """Put what can be proved of a piece with the regions that are, and the rest with what is left."""
        if piece.kind not in self.proved:
            (self.empty if piece.kind == "empty" else self.left).append(piece)
            return
        proved = self.proved[piece.kind]
        if len(proved) >= self.most:
            self.left.append(undecided(piece))
            return
        for part, certificates in self.settler.settled(piece):
            if certificates and len(proved) < self.most:
                proved.append(region_of(part, certificates))
            else:
                self.left.append(undecided(part))
        self.listener(
            Snapshot(
                stage="proving regions",
                seconds=self.settler.budget.elapsed,
                closed=sum(map(len, self.proved.values())),
                open=len(self.left),
            )
        )

    def _reason(self) -> str | None:
        """Why the partition is not what it could be."""
        budget = self.settler.budget
        if budget.over:
            return budget.reason
        if any(len(proved) >= self.most for proved in self.proved.values()) and self.left:
            return f"there are no more than {self.most} boxes of a kind (max_boxes)"
        return f"the budget of {budget.seconds:g} s is used up" if self.exploration.frontier.boxes else None


def taking_turns(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """A biased one after each of the others: biased boxes are small, and would never have their turn."""
    biased = [piece for piece in pieces if piece.kind == "biased"]
    others = [piece for piece in pieces if piece.kind != "biased"]
    for pair in zip_longest(others, biased):
        yield from (piece for piece in pair if piece is not None)


def undecided(piece: Piece) -> Piece:
    """The piece, of which nothing is said."""
    return Piece(kind="undecided", box=piece.box, share=piece.share)


def _largest_first(region: Region) -> Fraction:
    return -region.measure


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
