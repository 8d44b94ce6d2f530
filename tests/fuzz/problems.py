"""Problems: a population, a similarity, a fitted model and a claim about it, drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fuzz.answers import Answers, asked
from tests.fuzz.choices import Choices, chance, one_of
from tests.fuzz.claims import Claim, Judged, drawn_claim, judged
from tests.fuzz.estimators import FAMILIES, Family, fitted, rows_and_targets
from tests.fuzz.populations import CONTAINERS, Attribute, Population, drawn_population
from tests.fuzz.similarities import Similar, drawn_similarity

AUDITED = 12
BUDGET = 10.0
TRIES = 20


@dataclass(frozen=True)
class Problem:
    """Everything that is handed to the commands, and what brute force makes of it."""

    family: Family
    population: Population
    similar: Similar
    model: Any
    rows: tuple[tuple[Any, ...], ...]
    targets: Any
    handed: bool  # whether the rows are handed over with the model
    claim: Claim
    answers: Answers
    near: Any
    budget: float  # seconds for each command

    @property
    def X(self) -> Any:
        return self.population.frame(self.rows) if self.handed else None

    @property
    def exact(self) -> bool:
        return self.family.kind == "planted"

    def judged(self, claim: Claim | None = None, near: Any = None) -> Judged:
        """Which similar pairs break the property: a claim's, the problem's own if none is given."""
        found = judged(self.answers, self.claim if claim is None else claim)
        near = self.near if near is None else near
        return Judged(found.seen & near, found.sure & near, found.possible & near)

    def described(self) -> str:
        features = ", ".join(
            f"{a.name}: {a.kind} {list(a.all_values)} {a.dtype}" for a in self.population.attributes
        )
        where = "; ".join(c.text() for c in self.population.constraints) or "nobody excluded"
        model = " ".join(repr(self.model).split())
        return f"{self.family.name} [{self.population.container}] {model}\n    {features}\n    {where}\n    {self.similar}\n    {self.claim}"


def drawn_problem(choices: Choices, names: tuple[str, ...] = (), *, budget: float = BUDGET) -> Problem:
    """One problem; of these families, if some are named. What a library itself cannot fit or predict is drawn again."""
    for _ in range(TRIES):
        try:
            return _drawn(choices, names, budget)
        except Exception:  # noqa: BLE001
            continue
    raise AssertionError("no model can be fitted: the drawing is wrong")


def _drawn(choices: Choices, names: tuple[str, ...], budget: float) -> Problem:
    family = one_of(choices, [f for f in FAMILIES if not names or f.name in names])
    population = _population(choices, family)
    similar = drawn_similarity(choices, population)
    near = similar.matrix(population)
    rows, targets = rows_and_targets(choices, population, family.predicts)
    model = fitted(choices, family, population, rows, targets)
    exact = family.kind == "planted"
    answers = asked(model, population.given(population.people), exact=exact, scored=family.scored)
    claim = drawn_claim(choices, answers, near, one_way=bool(similar.order))
    plain = (
        all(a.numeric and not a.missing for a in population.attributes) and population.container != "polars"
    )
    handed = not (plain and not exact and chance(choices, 15)) and not (exact and chance(choices, 50))
    return Problem(
        family, population, similar, model, tuple(rows), targets, handed, claim, answers, near, budget
    )


def _population(choices: Choices, family: Family) -> Population:
    """What the family can take: kernels have no continuous features here, planted models whole numbers only."""
    if family.kind == "planted":
        container = one_of(choices, ("pandas", "array"))
        found = drawn_population(choices, continuous=False, container="array")
        plain = tuple(Attribute(a.name, a.kind, a.values, False, "float64") for a in found.attributes)
        people = tuple(p for p in found.people if None not in p)
        fine = all(float(2 * v).is_integer() for a in plain for v in a.values)
        constraints = found.constraints
        return Population(plain, constraints, container, fine, people)
    native = family.kind == "boosters" and chance(choices, 50)
    container = "pandas" if native else one_of(choices, CONTAINERS)
    continuous = (
        family.kind not in ("kernel", "sums") and family.name != "one-vs-rest" and chance(choices, 20)
    )
    return drawn_population(choices, continuous=continuous, container=container, native=native)
