"""Lipschitz fairness: scores of two individuals are apart by at most a constant times how far the individuals are.

``Lipschitz(0.5, Metric("l1", weights={"age": 0.1}))`` says ``|f(x) - f(x')| <= 0.5 d(x, x')`` of every two who differ in what the metric measures, in any way, as far as the similarity
beside it does not limit that. What the similarity lets differ and the metric does not name costs nothing: scores may not move with it, but for the slack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from likewise.errors import SpecError
from likewise.spec.allowance import Allowance
from likewise.spec.distance import Cost
from likewise.spec.features import Continuous, Integer
from likewise.spec.mahalanobis import Mahalanobis
from likewise.spec.metric import Metric
from likewise.spec.numbers import as_double, number_text, short_repr
from likewise.spec.relations import Relation, span
from likewise.spec.similarity import Similarity

if TYPE_CHECKING:
    from likewise.spec.levels import Level
    from likewise.spec.properties import Label
    from likewise.spec.space import Space

NO_METRIC_HINT = 'Lipschitz(0.5, Metric("l1", weights={"age": 0.1})), or a Similarity with a metric'


@dataclass(frozen=True, slots=True)
class Lipschitz:
    """Scores change no faster than a metric: ``|score(x) - score(x')| <= constant * d(x, x') + slack``.

    Two individuals are compared who differ in the features of the metric, in any way, and as a similarity says that is given beside it. What that limits stays limited; what it
    lets differ and the metric does not measure costs nothing.

    Parameters
    ----------
    constant : float
        By how much scores may differ where two are 1 apart.
    metric : Metric or Mahalanobis, optional
        How far two individuals are apart; that of the similarity, if left out.
    slack : float
        How far scores may be apart besides. Trees over continuous numbers jump: without a slack no constant is large enough for them.
    class_of_interest : label, optional
        Of more than two classes, only the score of this one counts; without, that of any.

    Examples
    --------
    >>> from likewise import Lipschitz, Metric
    >>> claim = Lipschitz(0.5, Metric("l1", weights={"age": "1/10"}))
    >>> claim.describe()
    'get scores at most 0.5 times their distance apart (1/10 age)'
    """

    constant: float
    metric: Metric | Mahalanobis | None = None
    _: KW_ONLY
    slack: float = 0.0
    class_of_interest: Label | None = None

    kind: ClassVar[Literal["lipschitz"]] = "lipschitz"

    def __post_init__(self) -> None:
        for name in ("constant", "slack"):
            number = as_double(getattr(self, name), name)
            if number < 0:
                raise SpecError(f"{name} must not be negative, got {number_text(number)}")
            object.__setattr__(self, name, number)
        if self.metric is not None and not isinstance(self.metric, Metric | Mahalanobis):
            raise SpecError(
                f"metric must be a Metric or a Mahalanobis, got {short_repr(self.metric)}",
                hint=NO_METRIC_HINT,
            )

    @property
    def delta(self) -> float:
        """How far scores may be apart where nothing is between two."""
        return self.slack

    # -- who is compared ------------------------------------------------------------------------------------------

    def beside(self, similar: Similarity | None) -> Lipschitz:
        """The same with its metric, which may be that of a similarity."""
        if self.metric is not None:
            return self
        if similar is None or similar.metric is None:
            raise SpecError("a Lipschitz claim needs a metric", hint=NO_METRIC_HINT)
        return replace(self, metric=similar.metric)

    def similarity(self, beside: Similarity | None = None) -> Similarity:
        """Who is compared, besides those who differ as another similarity says."""
        metric = self.beside(beside).metric
        names = () if metric is None else metric.names
        said = () if beside is None else beside.names
        new = [name for name in names if name not in said]
        listed = {name: pairs for name, pairs in _listed_pairs(metric).items() if name in new}
        free = [name for name in new if name not in listed]
        if beside is None:
            return Similarity(free=free, pairs=listed)
        return beside.replace(free=(*beside.free, *free), pairs={**beside.pairs, **listed})

    # -- over a space ---------------------------------------------------------------------------------------------

    def relations(self, space: Space, relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
        """The relations with a tolerance where a measured number is free: the same pairs, whose differences can be cut."""
        metric = self.metric
        measured = () if metric is None else metric.names
        found = list(relations)
        for k, name in enumerate(space.names):
            feature, free = space[name], relations[k].kind == "free"
            if (
                free
                and name in measured
                and isinstance(feature, Continuous | Integer)
                and not feature.missing
            ):
                found[k] = Relation("within", span(feature))
        return tuple(found)

    def allowance(self, space: Space, relations: tuple[Relation, ...]) -> Allowance:
        """What scores of two individuals may be apart by, over codes."""
        metric, constant = self.metric, Fraction(self.constant)
        if metric is None:
            raise SpecError("a Lipschitz claim needs a metric", hint=NO_METRIC_HINT)
        strange = next((name for name in metric.names if name not in space), None)
        if strange is not None:
            raise SpecError(f"metric: no feature {strange!r} in the space")
        nothing: tuple[Cost | None, ...] = (None,) * len(space.names)
        if isinstance(metric, Mahalanobis):
            distance = metric.resolve(space, Fraction(1)).distance
            forms = () if distance is None else distance.forms
            if not forms:
                raise SpecError("the metric measures nothing that may differ", hint=NO_METRIC_HINT)
            return Allowance(constant=constant, norm=2, costs=nothing, forms=forms)
        costs = metric.all_costs(space)
        for name, cost in costs.items():
            relation = relations[space.names.index(name)]
            _refuse_unlisted(name, cost, relation)
        norms: dict[str, Literal[1, 2, "max"]] = {"l1": 1, "l2": 2, "linf": "max"}
        return Allowance(
            constant=constant,
            norm=norms[metric.kind],
            costs=tuple(_positive(costs[name]) if name in costs else None for name in space.names),
        )

    # -- words ----------------------------------------------------------------------------------------------------

    def describe(self, *, one_way: bool = False) -> str:
        """In words: ``get scores at most 0.5 times their distance apart (1/10 age)``."""
        of = "" if self.class_of_interest is None else f" of the class {short_repr(self.class_of_interest)}"
        by = f"at most {number_text(self.constant)} times their distance"
        by += f" and {number_text(self.slack)}" if self.slack else ""
        measured = "" if self.metric is None else f" ({self.metric.describe_sum()})"
        if one_way:
            return f"get scores{of} of which the second is {by} lower{measured}"
        return f"get scores{of} {by} apart{measured}"

    def spell(self) -> str:
        """The text that is read back, but for the metric: ``lipschitz:0.5`` or ``lipschitz:0.5,0.1`` with a slack."""
        return f"lipschitz:{number_text(self.constant)}" + (
            f",{number_text(self.slack)}" if self.slack else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, as in a claim file."""
        content: dict[str, Any] = {"kind": self.kind, "constant": self.constant}
        content |= {"slack": self.slack} if self.slack else {}
        content |= {} if self.class_of_interest is None else {"class_of_interest": self.class_of_interest}
        return content if self.metric is None else {**content, "metric": self.metric.to_dict()}


def _listed_pairs(metric: Metric | Mahalanobis | None) -> Mapping[str, list[tuple[Level, Level]]]:
    """The levels that may differ, of features with a cost for each two."""
    if not isinstance(metric, Metric):
        return {}
    return {
        name: [(a, b) for a, b, _ in cost] for name, cost in metric.costs.items() if isinstance(cost, tuple)
    }


def _refuse_unlisted(name: str, cost: Cost, relation: Relation) -> None:
    """Refuse a pair of levels that may differ and has no cost."""
    for i, row in enumerate(cost.table or ()):
        for j, amount in enumerate(row):
            if amount < 0 and relation.allows(i, j):
                raise SpecError(
                    f"metric: two levels of {name!r} may differ that have no cost",
                    hint=f"give a cost for each two levels of {name!r}, or leave it out of the similarity: then those differ that have one",
                )


def _positive(cost: Cost) -> Cost:
    """The cost with 0 for pairs that never occur."""
    if cost.table is None:
        return cost
    return Cost(table=tuple(tuple(max(amount, Fraction(0)) for amount in row) for row in cost.table))
