"""Subject: whose disparity is climbed to (`disparity_search`): a problem of n >= 1 scores, on a gauge.

A gauge has questions, one a level: "is there a pair above it?", and knows the value of a pair. The subject knows where to look for a good pair before the
search does, and the frontiers that answer a question, one a case.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likewise.model.cases import Witness
from likewise.search.checkpoint import begin_frontiers
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import climb_for_a_while, climb_from, climb_ridges, find_deepest
from likewise.search.feasibility import find_individual
from likewise.search.frontiers import highest_allowed
from likewise.search.known_rows import pairs_of_rows
from likewise.search.portfolio import climb_from_starts, prove_independence
from likewise.spec.enclosure import FIRST_BITS

if TYPE_CHECKING:
    from likewise.importers.imported_model import ImportedModel
    from likewise.model.gauge import Gauge
    from likewise.model.question import Question
    from likewise.search.frontiers import Frontiers
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace

QUICK_PRODUCTS = (
    1e10  # multiplications spent on an enumeration: less than a second, as cells may do without it
)


class PosedModel(Protocol):
    """An imported model and the problem made of it."""

    @property
    def imported(self) -> ImportedModel: ...

    @property
    def pairs(self) -> PairSpace: ...

    @property
    def task(self) -> SearchTask: ...


class DisparityProblem:
    """What a climb needs to know. `exact`: a search that closes is a proof. `closes`: lower and upper can be made equal."""

    def __init__(self, posed: PosedModel, gauge: Gauge) -> None:
        self.posed, self.gauge, self.problem = posed, gauge, posed.task
        self.several = gauge.asked.several
        first = gauge.question(Fraction(0)).cases()[0]
        self.proposes = self.problem.oracles.proposes(first)
        self.closes = self.problem.oracles.finite(first) if self.several else self.problem.oracles.exact
        self.exact = False  # until the oracles of the cases are known

    @property
    def of_probability(self) -> bool:
        return self.gauge.of == "probability"

    def question(self, level: Fraction) -> Question:
        """Is there a pair above this level?"""
        return self.gauge.question(level)

    def start(self) -> tuple[Witness, Fraction]:
        """An individual paired with itself, and the value of that."""
        point, codes = any_individual(self.posed)
        scores, case = self.problem.oracles.enclose(codes, FIRST_BITS), self.question(Fraction(0)).cases()[0]
        witness = Witness(x=point, other=point, scores=(scores, scores), case=case)
        return witness, self.gauge.largest(scores, scores)

    def value(self, witness: Witness) -> Fraction:
        """What a pair amounts to: exact, or a lower bound."""
        return self.gauge.value_of(witness)

    def independent(self) -> bool:
        """Whether no difference that is allowed changes a score."""
        return self.gauge.of != "margin" and prove_independence(self.problem) is not None

    def starting_pairs(self) -> Iterator[Witness | None]:
        """Pairs to start from, better ones last: those of known rows first, which no search should fall behind. Where the search proposes pairs by itself only
        these climb further."""
        for place in range(max(len(self.problem.parts), 1)):
            yield from self._pairs_of_part(place)

    def _pairs_of_part(self, place: int) -> Iterator[Witness | None]:
        """Those of one part of the pairs, each asked what is asked by then."""
        known = pairs_of_rows(self.problem.each()[place], parts=max(len(self.problem.parts), 1))
        yield known.witness
        if self.proposes:
            if len(known.rows):
                yield climb_for_a_while(self.problem.each()[place], known.rows)
        else:
            yield find_deepest(self.problem.each()[place])
            if not self.several and not self.problem.parts:
                yield enumerate_space(self.problem, effort=QUICK_PRODUCTS)

    def frontiers(self) -> Frontiers:
        """New frontiers for the question that is asked."""
        found = begin_frontiers(self.problem, checked=False)
        self.exact = all(frontier.oracle.proves for frontier in found.all)
        return found

    def frontier_pairs(self, frontiers: Frontiers) -> Iterator[Witness | None]:
        """Pairs that come with the frontiers' own beginnings."""
        yield climb_from_starts(self.problem, frontiers)

    def ridge_pairs(self, seconds: float) -> Iterator[Witness | None]:
        """Pairs that steps along two features at a time lead to in so many seconds, of each part of the
        pairs."""
        parts = [] if self.proposes else self.problem.each()
        for part in parts:
            yield climb_ridges(part, seconds / len(parts))

    def climb(self, witness: Witness) -> Witness | None:
        """The best that coordinate ascent makes of a pair, if it is better."""
        if self.proposes:
            return None
        rows = [witness.x, witness.other] if self.several or self.problem.parts else [witness.x]
        found = (climb_from(part, np.array(rows)) for part in self.problem.each())
        return max(filter(None, found), key=self.value, default=None)

    def allowed(self, frontiers: Frontiers, level: float) -> float:
        """The highest value that the bounds of open nodes allow, in float64, closed ones being closed at this level."""
        return highest_allowed(frontiers, self.gauge, level)

    def finest(self, lower: Fraction, tolerance: Fraction) -> Fraction:
        """What is left between lower and upper where they are made equal."""
        return self.gauge.finest(lower, tolerance)


def any_individual(posed: PosedModel) -> tuple[tuple[float, ...], list[Fraction]]:
    """An individual of the space, in floats and exactly."""
    space = posed.pairs.space
    if space.constraints:
        lowest = [float(c) for c in find_individual(space)]
    else:
        lowest = [float(posed.pairs.variables[v].lo) for v in posed.pairs.first]
    codes = [Fraction(c) for c in posed.imported.recoding.settled(np.array([lowest]))[0].tolist()]
    return tuple(float(c) for c in codes), codes
