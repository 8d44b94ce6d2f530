"""Rule `["slope", [node, ...]]` (section 21): no derivative of the score is so large that it changes faster than L times the distance.

Between two individuals that differ in numbers alone the score changes by what its derivatives add up to along the segment. The box that holds both is divided by a tree of cuts; where the
derivatives on every one of its boxes have a dual norm of at most L, the score changes by at most L times the norm of each piece of the segment, and norms of pieces add up.
"""

from collections.abc import Callable
from fractions import Fraction

from likewise_check.core.affine import Affine
from likewise_check.core.body import Body
from likewise_check.core.cells import Cell, Holds, LeafRefused
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected, array_of, whole
from likewise_check.core.lemma import Lemma
from likewise_check.core.numbers import number
from likewise_check.core.registry import find_entry, known_names
from likewise_check.packs.intervals import UNIT, Derivatives, IndividualBox
from likewise_check.packs.lipschitz.affine_slopes import exact_slopes
from likewise_check.packs.lipschitz.distance import Distance

MOST_NODES = 10**6


class Slope:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        if not isinstance(lemma.asked.allowance, Distance):
            raise Rejected("slope: not a rule of this property")
        self._lemma, self._features, self._distance = lemma, lemma.space.features, lemma.asked.allowance
        self._numbers = [
            k
            for k, relation in enumerate(lemma.similarity)
            if relation.kind != "same" and not self._features[k].levels
        ]
        self._sizes = self._prepared(lemma.first)

    def _prepared(self, body: Body) -> Callable[[IndividualBox], list[Fraction]]:
        """What has the largest sizes of derivatives on a box."""
        if isinstance(body, Affine):
            exact = [abs(slope) for slope in exact_slopes(body, self._numbers)]
            return lambda _: exact
        if body.kind not in known_names("SLOPES"):
            raise Rejected(f"slope: not a rule for bodies of the kind {body.kind}")
        derivatives: Derivatives = find_entry("SLOPES", body.kind)(body, self._numbers)
        return lambda box: [Fraction(max(-low, high), UNIT) for low, high in derivatives(box)]

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether every box of the leaf's tree holds."""
        if len(leaf) != 2 or type(leaf[1]) is not list or not 1 <= len(leaf[1]) <= MOST_NODES:
            raise Rejected(f'a slope leaf is ["slope", [node, ...]], with at most {MOST_NODES} nodes')
        waiting = [self._first_box(cell)]
        for node in leaf[1]:
            if not waiting:
                raise Rejected("slope: a node follows the complete tree")
            box = waiting.pop()
            if type(node) is int and node == 0:
                look_at_clock()
                self._look(box)
            else:
                waiting += reversed(self._cut(box, node))
        if waiting:
            raise Rejected("slope: the tree is not complete")
        affine = isinstance(self._lemma.first, Affine)
        return Holds(clearance=self._lemma.asked.bound / 2 if affine else Fraction(0))

    def _first_box(self, cell: Cell) -> IndividualBox:
        found = []
        for k, box in enumerate(cell):
            ends = [end for interval in box.intervals for end in interval]
            low, high = Fraction(min(ends)), Fraction(max(ends))
            if len(box.intervals) == 2 and k not in self._numbers and low != high:
                raise LeafRefused(f"slope: the levels of feature {k} may differ")
            found.append((low, high))
        return tuple(found)

    def _cut(self, box: IndividualBox, node: object) -> list[IndividualBox]:
        place, at_text = array_of(lambda item, _: item, 2)(node, "a node of a slope leaf")
        k: int = whole(0, len(box) - 1)(place, "the feature of a node of a slope leaf")
        at, (lo, hi) = number(at_text, "the place of a cut"), box[k]
        after = at
        if self._features[k].levels:
            after += 1
            if at.denominator != 1 or not lo <= at < hi:
                raise Rejected("slope: levels are cut at a position, lo <= at < hi")
        elif not lo < at < hi:
            raise Rejected("slope: a number is cut at lo < at < hi")
        return [(*box[:k], part, *box[k + 1 :]) for part in ((lo, at), (after, hi))]

    def _look(self, box: IndividualBox) -> None:
        scale = abs(self._lemma.slope)
        sizes = {k: scale * size for k, size in zip(self._numbers, self._sizes(box), strict=True)}
        if not self._distance.steepest(sizes):
            raise LeafRefused("slope: a derivative is too large")
