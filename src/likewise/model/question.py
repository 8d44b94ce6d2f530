"""Question: what a property asks of a model of n >= 1 scores, at a level: is there a pair that breaks it? It falls into cases (`cases`).

A pair breaks a question that breaks one of its cases, whichever way round. Of one score there is one case, which is asked of the score f or of -f
(`mirrored`), so that the strict side is the deciding one: where zero belongs to the upper label, -f > 0 is the lower one; where the probability falls with f, it
rises with -f. Several scores are asked as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from likewise.clock import check_clock
from likewise.model.cases import Case, Conditions, DecisionCase, Kind, ScoreCase, SoftmaxCase
from likewise.model.conditions import (
    Enclosures,
    all_hold,
    any_holds,
    class_leads,
    has_class,
    leading_conditions,
    vote_conditions,
)
from likewise.model.cubes import MOST_CLASSES, vote_cubes
from likewise.model.head import Head
from likewise.model.witness_set import (
    DecisionSet,
    DifferenceSet,
    GapSet,
    PredictionSet,
    ProbabilitySet,
    WitnessSet,
)
from likewise.spec.properties import class_index, property_level

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.properties import Property

    Floats = NDArray[np.float64]

Signals = tuple[WitnessSet, "Floats", "Floats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of scores, which the head makes decisions and probabilities of: the kind of property, its margin or delta, the class of interest of
    several (None: every one). `one_way`: pairs count the way round that they stand only. `by_lines` tells how softmax probabilities are bounded (`SoftmaxCase`); `only` is the case that is asked alone."""

    kind: Kind
    level: Fraction
    head: Head
    of: int | None = None
    by_lines: bool = False
    only: Case | None = None
    one_way: bool = False

    _cases: tuple[Case, ...] | None = field(default=None, init=False, repr=False, compare=False)

    # -- other questions ------------------------------------------------------------------------------------------

    def at(self, level: Fraction) -> Question:
        """The same question at another level, with all its cases."""
        return replace(self, level=level, only=None)

    def eased(self, by: Fraction) -> Question:
        """The same where scores may be further apart by so much."""
        only = self.only.eased(by) if isinstance(self.only, ScoreCase) else self.only
        return replace(self, level=self.level + by, only=only)

    def about(self, case: Case) -> Question:
        """The same about one case alone, the way round that a pair stands."""
        return replace(self, only=case)

    def divided(self) -> list[Question]:
        """The same about each of its cases alone."""
        return [self.about(case) for case in self.cases()]

    # -- what it falls into ---------------------------------------------------------------------------------------

    @property
    def several(self) -> bool:
        """Whether individuals have more than one score."""
        return self.head.n_scores > 1

    @property
    def mirrored(self) -> bool:
        """Whether it is asked of -f."""
        if self.kind == "decision":
            return self.head.zero_is_upper and not self.several
        return self.kind == "probability" and self.head.slope < 0

    @property
    def softmax(self) -> bool:
        """Whether it is about probabilities by softmax."""
        return self.kind == "probability" and self.head.link == "softmax"

    def cases(self) -> tuple[Case, ...]:
        """All cases, in the order of a certificate; made once."""
        if self.only is not None:
            return (self.only,)
        if self._cases is None:
            object.__setattr__(self, "_cases", self._make_cases())
        return self._cases or ()

    def _make_cases(self) -> tuple[Case, ...]:
        if not self.several:
            return (ScoreCase(kind=self.kind, line=self._line(), head=self.head),)
        if self.kind == "decision":
            return tuple(self._votes_cases() if self.by_votes else self._argmax_cases())
        line, places = self._line(), self.places
        if not self.softmax:
            return tuple(ScoreCase(kind=self.kind, line=line, head=self.head, of=c) for c in places)
        return tuple(SoftmaxCase(line=line, delta=self.level, of=c, by_lines=self.by_lines) for c in places)

    @property
    def places(self) -> list[int]:
        """The classes of several that gaps are asked of."""
        return list(range(len(self.head.classes))) if self.of is None else [self.of]

    def _line(self) -> WitnessSet:
        """W of the cases. Probabilities and predictions differ exactly where scores do, so their gap 0 is one of scores."""
        if self.kind == "decision":
            return DecisionSet(level=self.level)
        if self.kind == "score" or self.head.link == "identity":
            return GapSet(delta=self.level)
        if self.kind == "prediction":
            return PredictionSet(delta=self.level) if self.level > 0 else GapSet(delta=Fraction(0))
        curved: WitnessSet = GapSet(delta=Fraction(0))
        if self.level > 0:
            slope = abs(self.head.slope)
            curved = ProbabilitySet(delta=self.level, slope=slope, offset=self.head.offset)
        return (
            DifferenceSet(delta=self.level, curved=curved) if self.softmax and not self.by_lines else curved
        )

    def _argmax_cases(self) -> list[Case]:
        count = len(self.head.classes)
        conditions = [leading_conditions(i, count) for i in range(count)]
        return [self._decision(i, j, conditions[i], conditions[j]) for i, j in self.class_pairs]

    @property
    def by_votes(self) -> bool:
        """Whether it is about classes that have the most votes."""
        return self.kind == "decision" and self.head.rule == "votes"

    def _votes_cases(self) -> Iterator[Case]:
        known, n = vote_cubes(len(self.head.classes)), self.head.n_scores
        conditions = [[vote_conditions(cube, n) for cube in of] for of in known]
        for i, j in self.class_pairs:
            for first, second in product(conditions[i], conditions[j]):
                check_clock()
                yield self._decision(i, j, first, second)

    def undivided_cases(self) -> tuple[Case, ...]:
        """The cases, those of votes by their classes alone."""
        if self.only is not None or not self.by_votes:
            return self.cases()
        return tuple(self._decision(i, j, (), ()) for i, j in self.class_pairs)

    def _decision(self, i: int, j: int, first: Conditions, second: Conditions) -> Case:
        line = DecisionSet(level=self.level)
        return DecisionCase(line=line, head=self.head, classes=(i, j), conditions=(first, second))

    @property
    def class_pairs(self) -> list[tuple[int, int]]:
        """The classes (i, j) of x and of x' that decisions between several are asked of."""
        count = len(self.head.classes)
        if self.of is None:
            return [(i, j) for i in range(count) for j in range(i + 1, count)]
        return [(self.of, j) for j in range(count) if j != self.of]

    def unproved(self) -> str | None:
        """Why nobody tries to prove that no pair breaks it, where that is so: votes of many classes have too many cases."""
        count = len(self.head.classes)
        if self.head.rule != "votes" or count <= MOST_CLASSES:
            return None
        return f"votes of {count} classes: proofs are written for at most {MOST_CLASSES}"

    # -- pairs ----------------------------------------------------------------------------------------------------

    def signals(self, scores: Floats) -> list[Signals]:
        """For each case, those of votes by their classes, W and the signals of individuals as x and as x', in float64."""
        if self.only is not None or self.kind != "decision" or not self.several:
            return [(case.line, *case.sides(scores)) for case in self.cases()]
        line, ahead = DecisionSet(level=self.level), class_leads(self.head, scores)
        return [(line, ahead[:, i], -ahead[:, j]) for i, j in self.class_pairs]

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair breaks the property; None where the enclosures do not tell."""
        if self.only is not None:
            return self.only.decided(first, second)
        if self.kind != "decision" or not self.several:
            ways = ((first, second), (second, first))[: 1 if self.one_way else 2]
            return any_holds(*(case.decided(*pair) for case in self.cases() for pair in ways))
        places = range(len(self.head.classes))
        here, there = (
            [has_class(self.head, scores, i, self.level) for i in places] for scores in (first, second)
        )
        pairs = self.class_pairs
        orders = (
            [(i, j) for i, j in pairs]
            if self.one_way
            else [(a, b) for i, j in pairs for a, b in ((i, j), (j, i))]
        )
        return any_holds(*(all_hold(here[a], there[b]) for a, b in orders))

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[Case, bool] | None:
        """The case that the pair breaks most, and whether the other way round; None where it breaks none."""
        ways = ((False, (first, second)), (True, (second, first)))
        found = [
            (case, swapped, pair)
            for case in self.undivided_cases()
            for swapped, pair in (ways[:1] if self.only is not None or self.one_way else ways)
            if case.decided(*pair)
        ]
        if not found:
            return None
        case, swapped, _ = max(found, key=lambda way: way[0].value(*way[2]))
        return case, swapped

    def value(self, first: Enclosures, second: Enclosures) -> Fraction:
        """The largest value of the pair over all cases, whichever way round that counts."""
        ways = ((first, second), (second, first))[: 1 if self.one_way else 2]
        return max(case.value(*pair) for case in self.undivided_cases() for pair in ways)


def question_of(property: Property, head: Head, name: str, *, by_lines: bool = False) -> Question:
    """What a property asks of a model with this head; `name` is that of the model, for people. By sign, what is claimed of one label is claimed of the
    other, so the only score has no class of interest. A gap of what a regressor predicts is one of exp of
    its score, where it predicts that; a gap of probabilities is one of scores that are these less a
    threshold."""
    place = class_index(property.class_of_interest, head.labels, name)
    level, of = Fraction(property_level(property)), place if head.n_scores > 1 else None
    kind: Kind = "score" if property.kind == "lipschitz" else property.kind
    if kind == "score" and head.link == "exponential":
        kind = "prediction"
    if kind == "probability" and head.shifted:
        kind = "score"
    return Question(kind=kind, level=level, head=head, of=of, by_lines=by_lines)
