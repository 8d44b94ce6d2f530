"""Views of a case: the lines that may close its cells, each with the family's bounder of two numbers.

A decision case of several classes has several *views*: one for each condition F at x with each condition G' at x', bounded by the family's bounder of two
scores, F and G = -G'. A cell needs one view that closes it. Other cases have one view, and so has every case of one score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.forms import Forms, widest_cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from likewise.cells.leaf import Leaf
    from likewise.families.oracle import Bounder
    from likewise.model.cases import Case
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

FEW_VIEWS = 9  # exact bounds of so many views are cheap enough to try them all
VIEWS_TRIED = {
    True: 3,
    False: 1,
}  # views tried of more than that, besides those of one form: of exact bounds, of others


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One line's worth of a case: the conditions at x and at x' that it is about, if there are any, and the bounder of the two."""

    bounder: Bounder
    rivals: tuple[int, int] | None = None
    natural: bool = True  # whether both scores are one and the same, so that what the two share cancels

    def seen(self, case: Case) -> WitnessSet:
        """What the view's line is to separate from."""
        return case.seen(self.rivals)


class Views:
    """All views of a case. `whole` tells that the only one is about the case's own signals: the scores that it bounds are those."""

    def __init__(
        self,
        case: Case,
        views: Sequence[View],
        pairs: PairSpace,
        *,
        scores: Callable[[Floats], Floats],
        forms: Forms | None = None,
        whole: bool = False,
    ) -> None:
        self.all, self.pairs, self.scores, self.whole = tuple(views), pairs, scores, whole
        self.places = {view.rivals: n for n, view in enumerate(views)}
        self.first = views[0].bounder
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.forms: Forms | None = None
        here, there = case.conditions
        if here and there:
            self.conditions = len(here)  # of x: the others are of x'
            self.alphas = np.array([[float(a) for a in c.alpha] for c in (*here, *there)])
            self.forms = forms

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, view: int) -> View:
        return self.all[view]

    def place(self, leaf: Leaf) -> int:
        """The view that a leaf is about."""
        return self.places.get(leaf.rivals, 0)

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None, cuts: Floats | None
    ) -> tuple[NDArray[np.intp], Floats]:
        """Where to cut cells, by all conditions where these are separable."""
        if self.forms is None:
            return self.first.branch(lo, hi, loss, cuts)
        return widest_cut(self.forms, self.discrete, self.forms.spread(self.alphas, lo, hi), lo, hi)

    def after(self, variable: int, at: float) -> float | None:
        """The next double, where a cut is between the two."""
        return self.first.after(variable, at) if self.forms is None else self.forms.after(variable, at)

    def choose_views(self, lo: Floats, hi: Floats, known: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which views to try of which cells, (views, cells): all, or those that look best at one pair of the cell, those of one
        form, and the one that was `known` to be best of the cell that this one is part of."""
        exact = self.first.exact and not self.first.inherits
        if len(self) == 1 or (exact and len(self) <= FEW_VIEWS):
            return np.ones((len(self), len(lo)), dtype=bool)
        value = self._values(self.first.candidates(lo, hi))
        few = VIEWS_TRIED[exact]
        chosen = np.zeros((len(self), len(lo)), dtype=bool)
        np.put_along_axis(chosen, np.argpartition(value, few, axis=0)[:few], True, axis=0)
        chosen[[n for n, view in enumerate(self.all) if view.natural]] = True
        chosen[known, np.arange(len(lo))] = True
        return chosen

    def leans(self, lo: Floats, hi: Floats, view: int) -> Floats:
        """Where to start a view that is new to a cell: even where the two share their score, else the side that is lower."""
        if self.all[view].natural:
            return np.full(len(lo), 0.5)
        first, second = self._sides(self.first.candidates(lo, hi))
        r, other = self.all[view].rivals or (0, 0)
        return np.where(first[:, r] < second[:, other], 1.0, 0.0)

    def others(self, view: int, points: Floats) -> list[int]:
        """Views that may close what this one does not, from ONE of the cell's pairs: the one of a single form, and the one of
        the condition that holds least there."""
        found = [n for n, one in enumerate(self.all) if one.natural]
        if len(points):
            found.append(self._lowest_view(points[:1], found[0] if found else 0))
        return [one for one in dict.fromkeys(found) if one != view]

    def _lowest_view(self, points: Floats, natural: int) -> int:
        """The view of the condition that is furthest from holding; on the other side it has that of the natural one."""
        (first,), (second,) = self._sides(points)
        r, other = self.all[natural].rivals or (0, 0)
        if first.min() <= second.min():
            r = int(first.argmin())
        else:
            other = int(second.argmin())
        return self.places.get((r, other), 0)

    def _sides(self, points: Floats) -> tuple[Floats, Floats]:
        """The values of all conditions, at x and at x'."""
        here, there = (self.scores(points[:, list(side)]) for side in (self.pairs.first, self.pairs.second))
        return here @ self.alphas[: self.conditions].T, there @ self.alphas[self.conditions :].T

    def _values(self, points: Floats) -> Floats:
        """How low each view's line is at a pair, for the best of three leans; (views, pairs)."""
        first, second = self._sides(points)
        rows = []
        for view in self.all:
            here, there = first[:, (view.rivals or (0, 0))[0]], second[:, (view.rivals or (0, 0))[1]]
            rows.append(np.minimum(np.minimum(here, there), (here + there) / 2))
        return np.stack(rows)
