"""Rule `["trees", way]` (section 9): a g(x) - b g(x') <= B on the cell, the sum of one maximum a tree, or a group of trees; it holds if B <= T (B < T where a = 0 in a decision)."""

from fractions import Fraction
from functools import lru_cache
from typing import cast

from likewise_check.core.body import Form, Scores
from likewise_check.core.bound import Way, conclude, read_way
from likewise_check.core.cells import Cell, Holds
from likewise_check.core.fields import Rejected
from likewise_check.core.lemma import Lemma
from likewise_check.packs.trees.body import Trees
from likewise_check.packs.trees.forest import Forest
from likewise_check.packs.trees.groups import read_groups

MOST_WAYS = 1024  # that are kept; dropped beyond, which changes nothing but time


class TreeSums:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        first, second = lemma.first, lemma.second
        if not isinstance(first, Trees) or not isinstance(second, Trees):
            raise Rejected("trees: the body has no trees")
        self._lemma = lemma
        self._first = _gauge_body(lemma, first)
        self._second = self._first if second is first else _gauge_body(lemma, second)
        self._forest = prepare_forest(lemma, self._first)
        self._way = lru_cache(MOST_WAYS)(self._read)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        if not 2 <= len(leaf) <= 3 or type(leaf[1]) is not str:
            raise Rejected('a trees leaf is ["trees", way] or ["trees", way, groups]')
        way, closed, spread = self._way(leaf[1])
        groups = read_groups(leaf[2], len(self._first.trees)) if len(leaf) > 2 else ()
        bound = self._forest.maximum(cell, self._first, self._second, way.a, way.b, groups)
        return conclude("trees", bound, way.threshold, closed=closed, spread=spread, side=way.side)

    def _read(self, text: str) -> tuple[Way, bool, Fraction]:
        way = read_way(text, self._lemma.asked)
        return way, self._lemma.closed(way.a, way.b), self._lemma.spread(way.a, way.b)


class FormMaxima:
    """Maxima over cells of one form of the scores at x less another at x'; there are no multipliers."""

    multipliers = 0

    def __init__(self, lemma: Lemma, body: Scores) -> None:
        self._lemma, self._body = lemma, cast(Trees, body)

    def largest(
        self, first: Form, second: Form, cell: Cell, _multipliers: tuple[Fraction, ...]
    ) -> Fraction | None:
        """The maximum, or None for minus infinity."""
        own, other = self._body.form(first), self._body.form(second)
        return prepare_forest(self._lemma, own).maximum(cell, own, other, Fraction(1), Fraction(1))


def prepare_forest(lemma: Lemma, body: Trees) -> Forest:
    """The trees ready for cells: once for all lemmas of a claim, or of a part of it (section 22), whose bodies differ in values only. What leaves go together depends on who is similar."""
    if body.shared.get("similarity") != lemma.similarity:
        body.shared["forest"] = Forest(lemma.space.features, lemma.similarity, body)
        body.shared["similarity"] = lemma.similarity
    found: Forest = body.shared["forest"]
    return found


def _gauge_body(lemma: Lemma, body: Trees) -> Trees:
    """The body of g."""
    return body if lemma.slope == 1 and lemma.offset == 0 else body.weigh([lemma.slope], lemma.offset)
