"""The claim (section 2): every two similar individuals of the space have the property under the model.

gauge    g = f, or -f for decisions of a model whose zero belongs to the upper label
pair     two valid individuals that satisfy all relations
witness  a pair with (g(x), g(x')) in W; the claim says that there is none
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.model import Model
from likewise_check.numbers import shown
from likewise_check.properties import Property
from likewise_check.space import Relation, Space

_MOST_NAMES = 20
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a certificate proves or refutes."""

    space: Space
    similarity: tuple[Relation, ...]
    model: Model
    asked: Property

    @property
    def sign(self) -> int:
        """g = sign * f."""
        return -1 if self.asked.kind == "decision" and self.model.upper_at_zero else 1

    def is_pair(self, x: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
        """Whether x and x' are two valid individuals that satisfy all relations."""
        return (
            self.space.holds(x)
            and self.space.holds(other)
            and all(map(Relation.allows, self.similarity, x, other))
        )

    def in_words(self, *, refuted: bool) -> str:
        """The claim for people, or its contrary if a witness refutes it; texts of the file are quoted and escaped."""
        who = "Some two" if refuted else "Every two"
        verb = "do not get" if refuted else "get"
        features, constraints = len(self.space.features), len(self.space.constraints)
        where = f"{features} feature{'s' * (features != 1)}"
        if constraints:
            where += f" and {constraints} constraint{'s' * (constraints != 1)}"
        return f"{who} individuals of the space ({where}) that {self._difference()} {verb} {self._outcome()}."

    def _difference(self) -> str:
        free = [k for k, relation in enumerate(self.similarity) if relation.kind == "free"]
        within = [k for k, relation in enumerate(self.similarity) if relation.kind == "within"]
        parts = []
        if free:
            parts.append(f"may differ in any way in {_listed([self._name(k) for k in free])}")
        if within:
            parts.append(f"may differ in {_listed([self._tolerance(k) for k in within])}")
        same = len(self.similarity) - len(free) - len(within)
        if same:
            others = " other" if parts else ""
            parts.append(f"agree in the{others} {same} feature{'s' * (same != 1)}")
        return " and ".join(parts)

    def _name(self, k: int) -> str:
        name = self.space.features[k].name
        return repr(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "...")

    def _tolerance(self, k: int) -> str:
        steps = " steps" if self.space.features[k].kind == "ordinal" else ""
        return f"{self._name(k)} by at most {shown(self.similarity[k].tolerance or Fraction(0))}{steps}"

    def _outcome(self) -> str:
        bound = shown(self.asked.bound)
        if self.asked.kind == "score":
            return f"scores that differ by at most {bound}"
        if self.asked.kind == "probability":
            return f"probabilities that differ by at most {bound}"
        at_zero = "upper" if self.model.upper_at_zero else "lower"
        margin = "" if self.asked.bound == 0 else f", up to a margin of {bound}"
        return f"the same decision (a score of 0 gives the {at_zero} label{margin})"


def _listed(names: list[str]) -> str:
    shown_names = names[:_MOST_NAMES]
    if len(names) > _MOST_NAMES:
        shown_names.append(f"{len(names) - _MOST_NAMES} more")
    return ", ".join(shown_names)
