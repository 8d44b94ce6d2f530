"""The claim (section 2): every two similar individuals of the space have the property under the model.

gauge    g = slope f + offset: f itself; -f for decisions of a model whose zero belongs to the upper label; the link's for probabilities
pair     two valid individuals that satisfy all relations
witness  a pair with (g(x), g(x')) in W; the claim says that there is none

A model with classes (section 10) is dealt with case by case, and a leaf of a case is about a lemma: a claim about two bodies F and G of one score each, that no pair has
F(x) > margin and -G(x') >= margin; either may be strict. Where a rule speaks of a g(x) - b g(x'), it is a F(x) - b G(x').
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from likewise_check.core.model import Model
from likewise_check.core.numbers import shown
from likewise_check.core.properties import Property
from likewise_check.core.space import Relation, Space
from likewise_check.packs.classes.head import Case, Classes
from likewise_check.packs.classes.scores import Several
from likewise_check.packs.combined.body import Scored

_MOST_NAMES = 20
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a certificate proves or refutes."""

    space: Space
    similarity: tuple[Relation, ...]
    model: Model
    asked: Property
    other: Scored | None = None  # G, if it is not the model's own body
    strict: tuple[bool, bool] = (True, False)  # which of the two conditions of a decision are
    steps: tuple[int, int] = (1, 1)  # how far F(x) and G(x') move where each score moves by 1
    case: Case | None = None  # of a model with classes
    # What rules keep for all lemmas of a claim: it depends on the space, the similarity and what the bodies have in common.
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def bodies(self) -> tuple[Scored | Several, Scored | Several]:
        """What gives the scores of x and of x'."""
        return self.model.body, self.model.body if self.other is None else self.other

    @property
    def slope(self) -> Fraction:
        """g = slope * f + offset; not 0."""
        if self.asked.kind == "probability" and self.model.link:
            return self.model.link[0]
        return Fraction(-1 if self.asked.kind == "decision" and self.model.upper_at_zero else 1)

    @property
    def offset(self) -> Fraction:
        """g = slope * f + offset."""
        return self.model.link[1] if self.asked.kind == "probability" and self.model.link else Fraction(0)

    def closed(self, a: Fraction, b: Fraction) -> bool:
        """Whether a witness may have a g(x) - b g(x') = T and not more: neither of its conditions that count is strict."""
        return not ((a > 0 and self.strict[0]) or (b > 0 and self.strict[1]))

    def spread(self, a: Fraction, b: Fraction) -> Fraction:
        """How far a g(x) - b g(x') moves at most where each score moves by 1."""
        return a * self.steps[0] + b * self.steps[1]

    def gauge(self, score: Fraction) -> Fraction:
        """g at an individual with this score."""
        return self.slope * score + self.offset

    def in_words(self, *, refuted: bool) -> str:
        """The claim for people, or its contrary if a witness refutes it; texts of the file are quoted and escaped."""
        features, constraints = len(self.space.features), len(self.space.constraints)
        space = f"the space ({features} features, {constraints} constraints)"
        free, within, paired = (self._related(sort) for sort in ("free", "within", "pairs"))
        may = [
            f"may differ in any way in {_listed(free)}" if free else "",
            f"may differ in {_listed(within)}" if within else "",
            f"may differ between allowed levels in {_listed(paired)}" if paired else "",
            "agree in all other features",
        ]
        start, verb = ("Some two", "do not get") if refuted else ("Every two", "get")
        return (
            f"{start} individuals of {space} that {' and '.join(filter(None, may))} {verb} {self._outcome()}."
        )

    def _related(self, sort: str) -> list[str]:
        return [self._named(k) for k, relation in enumerate(self.similarity) if relation.kind == sort]

    def _named(self, k: int) -> str:
        feature, tolerance = self.space.features[k], self.similarity[k].tolerance
        name = repr(feature.name[:_LONGEST_NAME])
        if tolerance is None:
            return name
        return f"{name} by at most {shown(tolerance)}{' steps' if feature.kind == 'ordinal' else ''}"

    def _outcome(self) -> str:
        if self.model.classes:
            return self._outcome_of_classes(self.model.classes)
        if self.asked.kind != "decision":
            what = "scores" if self.asked.kind == "score" else "probabilities"
            return f"{what} that differ by at most {shown(self.asked.bound)}"
        at_zero = "upper" if self.model.upper_at_zero else "lower"
        margin = f" with a margin of {shown(self.asked.bound)}" if self.asked.bound else ""
        return f"the same decision{margin} (a score of 0 gives the {at_zero} label)"

    def _outcome_of_classes(self, classes: Classes) -> str:
        of = self.asked.of
        if self.asked.kind != "decision":
            what = "scores" if self.asked.kind == "score" else "probabilities"
            whose = f"each of {classes.count} classes" if of is None else f"class {of}"
            return f"{what} of {whose} that differ by at most {shown(self.asked.bound)}"
        what = f"the same one of {classes.count} classes"
        if of is not None:
            what = f"the same answer to whether their class is {of} (of {classes.count})"
        return what + (f" with a margin of {shown(self.asked.bound)}" if self.asked.bound else "")


def _listed(names: list[str]) -> str:
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join(names[:_MOST_NAMES] + more)
