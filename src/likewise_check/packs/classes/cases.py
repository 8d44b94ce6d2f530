"""The cases of a proof about classes (section 10), and what a leaf of a case has to show.

decision       no pair has x in class i and x' in class j. The leaf's way [r, r', lambda] is about the conditions F > m at x (place r) and G' > m at x' (place r'), each perhaps
               >=, of which a pair of the case has both. With G = -G', that no pair of the cell has both is a lemma about two bodies, and the leaf with the way lambda shows it; in an
               array of `sos` [p_0, ...] stands for lambda.
score          the claim of section 2 about f_c, whatever the rule; so is a probability whose link is the identity.
softmax        has rules of its own.

Rules of all scores (`enumerated`, `independent`, `empty`) look at the model with all its scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, cast

from likewise_check.core.body import Form, Scores
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, anything, array_of, whole
from likewise_check.core.head import Leaf, Task
from likewise_check.core.lemma import Lemma
from likewise_check.core.properties import Property
from likewise_check.packs.classes.classes import Classes
from likewise_check.packs.classes.outcome import ClassOutcome

# Rules that look at all scores at once; all others are about one line, and their leaves have a way.
ALL_SCORES_RULES = ("enumerated", "independent", "empty", "softmax", "odds")

Cube: TypeAlias = tuple[tuple[int, bool], ...]  # scores, and whether they are to be positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """form > margin if strict, else form >= margin; the form moves by `steps` at most where each score moves by 1."""

    form: Form
    strict: bool

    @property
    def steps(self) -> int:
        return len(self.form)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCase:
    """x in class i and x' in class j, with votes within a cube of each; or, if i = j, what is asked about the score of class i."""

    of: Classes
    i: int
    j: int
    cubes: tuple[Cube, Cube] | None = None

    @property
    def classes(self) -> tuple[int, int] | None:
        """i and j of a decision; a cube is not all of its class."""
        return None if self.cubes or self.i == self.j else (self.i, self.j)

    def condition(self, side: int, r: int) -> Condition:
        """The condition at place r, of x (side 0) or of x' (side 1)."""
        one = Fraction(1)
        if self.cubes:
            s, up = self.cubes[side][r]
            return Condition(form=((s, one if up else -one),), strict=up)
        own = (self.i, self.j)[side]
        k = [k for k in range(self.of.count) if k != own][r]
        return Condition(form=((own, one), (k, -one)), strict=k < own)

    def conditions(self, side: int) -> int:
        """How many conditions there are."""
        return len(self.cubes[side]) if self.cubes else self.of.count - 1

    def task(self, claim: Claim, leaf: Leaf) -> Task:
        """What a leaf is about."""
        asked, name = claim.asked, leaf[0]
        scores = cast(Scores, claim.model.body)
        if asked.kind == "decision" and name not in ALL_SCORES_RULES:
            places, own = self._split_leaf(leaf)
            return Task(places, own, lambda: self._comparison_lemma(claim, scores, places))
        if asked.kind == "score" or (asked.kind == "probability" and self.of.link == "identity"):
            return Task(None, leaf, lambda: _score_lemma(claim, scores, self.i))
        if name not in ALL_SCORES_RULES:
            raise Rejected(f"{name}: not a rule for probabilities of the softmax link")
        return Task(None, leaf, lambda: self._all_scores_lemma(claim))

    def _split_leaf(self, leaf: Leaf) -> tuple[tuple[int, ...], Leaf]:
        """The places r and r' of a leaf with the way [r, r', lambda], and the leaf with the way lambda."""
        if len(leaf) < 2:
            raise Rejected("the leaf has no way")
        *places, way = array_of(anything, 3)(leaf[1], "the way of a leaf of a decision case")
        for side, place in enumerate(places):
            whole(0, self.conditions(side) - 1)(place, "the place of a condition")
        return tuple(places), [leaf[0], way, *leaf[2:]]

    def _comparison_lemma(self, claim: Claim, scores: Scores, places: Sequence[int]) -> Lemma:
        """That no pair has both conditions."""
        first, second = (self.condition(side, r) for side, r in enumerate(places))
        opposite = tuple((c, -factor) for c, factor in second.form)
        return Lemma(
            space=claim.space,
            similarity=claim.similarity,
            first=scores.form(first.form),
            second=scores.form(opposite),
            asked=Property(kind="decision", bound=claim.asked.bound),
            strict=(first.strict, second.strict),
            steps=(first.steps, second.steps),
        )

    def _all_scores_lemma(self, claim: Claim) -> Lemma:
        """That no pair breaks what the case has of the property."""
        outcome = ClassOutcome(self.of, claim.model.body, claim.asked, (self.i, self.j))
        return replace(claim.lemma(), outcome=outcome)


@dataclass(frozen=True, slots=True)
class WholeClaim:
    """All of a claim at once, as `independent` alone shows it."""

    @property
    def classes(self) -> None:
        return None

    def task(self, claim: Claim, leaf: Leaf) -> Task:
        """The claim about all scores."""
        return Task(None, leaf, claim.lemma)


def _score_lemma(claim: Claim, scores: Scores, c: int) -> Lemma:
    """That no pair has scores f_c more than delta apart."""
    own = scores.form(((c, Fraction(1)),))
    asked = Property(kind="score", bound=claim.asked.bound, allowance=claim.asked.allowance)
    return Lemma(space=claim.space, similarity=claim.similarity, first=own, second=own, asked=asked)
