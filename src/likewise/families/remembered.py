"""Case oracle that remembers: a memory of a cell is one of each view that was looked from, as the view's own oracle keeps it.

Whatever is asked is asked of the view at hand (`view`); the search turns to another one, and sees to it that there is a memory of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from likewise.cells.leaf import Clearance, Leaf
from likewise.families.cases import CaseOracle
from likewise.families.oracle import Proposal, Remembering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.leaf import SoftLines
    from likewise.model.question import Question

    Floats = NDArray[np.float64]

Memories = Mapping[int, Any]  # by view


class RememberingCaseOracle(CaseOracle):
    """Oracle of a case whose views remember."""

    def _looking(self) -> Remembering:
        return cast(Remembering, self.views[self.view].oracle)

    def memory(self, lo: Sequence[float], hi: Sequence[float], *, even: bool = False) -> Memories:
        return {self.view: self._looking().memory(lo, hi, even=even)}

    def inherited(self, memory: Memories, variable: int, lo: float, hi: float) -> Memories:
        return {
            view: cast(Remembering, self.views[view].oracle).inherited(part, variable, lo, hi)
            for view, part in memory.items()
        }

    def marked(self) -> dict[int, Floats]:
        return self._looking().marked()

    def on_grid(self, lean: float) -> float:
        return self._looking().on_grid(lean)

    def bound_memory(self, memory: Memories, lean: float) -> tuple[float, float, float]:
        return self._looking().bound_memory(memory[self.view], lean)

    def bound_anywhere(self, memory: Memories, lean: float) -> tuple[float, float, float]:
        return self._looking().bound_anywhere(memory[self.view], lean)

    def noise(self, lean: float) -> float:
        return self._looking().noise(lean)

    def proposal(self, memory: Memories, lean: float) -> Proposal | None:
        return self._looking().proposal(memory[self.view], lean)

    def pair(self) -> Floats:
        return self._looking().pair()

    def agreed(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        return self._looking().agreed(lo, hi)

    def cut_memory(self, memory: Memories, lean: float, excess: float) -> tuple[int, float, float, float]:
        return self._looking().cut_memory(memory[self.view], lean, excess)

    def halved(
        self, lo: Sequence[float], hi: Sequence[float], among: Sequence[int] | None = None
    ) -> tuple[int, float]:
        return self._looking().halved(lo, hi, among)

    def constant(self, lo: Sequence[float], hi: Sequence[float]) -> bool:
        return self._looking().constant(lo, hi)

    def prove_memory(self, memory: Memories, leaf: Leaf, question: Question) -> Clearance | None:
        return self._looking().prove_memory(memory[self.view], leaf, question)

    def soft(self, memory: Memories, lean: Fraction | None) -> SoftLines | None:
        """What a leaf of this lean says about log odds, where it is about these."""
        if self.rule != "softmax" or lean is None:
            return None
        lines: SoftLines | None = cast(Any, self._looking()).soft(memory[self.view], lean)
        return lines

    def other_views(self, points: Floats) -> list[int]:
        """Views that may close what the one at hand does not, from ONE of the cell's pairs: the one of a single form, and the one of
        the condition that holds least there."""
        if len(self.views) == 1:
            return []
        found = [n for n, view in enumerate(self.views) if view.natural]
        if len(points):
            found.append(self._lowest(points[:1], found[0] if found else 0))
        return [view for view in dict.fromkeys(found) if view != self.view]

    def _lowest(self, points: Floats, natural: int) -> int:
        """The view of the condition that is furthest from holding; on the other side it has that of the natural one."""
        (first,), (second,) = self._sides(points)
        r, other = self.views[natural].rivals or (0, 0)
        if first.min() <= second.min():
            r = int(first.argmin())
        else:
            other = int(second.argmin())
        return self.place_of((r, other))
