"""Rule `["softmax", way, [w, ...], [[s, [v, ...]], ...]]` (section 10): a z(x) - b z(x') <= T, with P_c = sigma(z), by maxima of forms.

With d_1, ..., d_m the f_k - f_c of the other classes, z = -log sum_r exp(d_r). For weights w >= 0 with sum 1 and H(w) = -sum w log w, Gibbs has

    log sum_r exp(d_r)  >=  w . d + H(w),        so  z(x) <= -w . d(x) - H(w).

From above, the sum of r exponentials is l_r with l_1 = d_1 and l_(r+1) = l_r + softplus(t_r), t_r = d_(r+1) - l_r. If u_r >= l_r and softplus(t) <= s t + k wherever t_r may be, then

    l_(r+1)  <=  l_r + s t_r + k  =  (1 - s) l_r + s d_(r+1) + k  <=  (1 - s) u_r + s d_(r+1) + k  =  u_(r+1),       0 <= s <= 1.

softplus(t) - s t is convex, so k is its larger value at two ends: t_r >= d_(r+1) - u_r, and t_r <= d_(r+1) - v . (d_1, ..., d_r) - H(v) by Gibbs. Their extremes over the cell are
maxima of forms at x', and a z(x) - b z(x') is at most -a (w . d(x) + H(w)) + b u_m(x').

H is rounded down and softplus up, which only raises the bound; so does rounding up what is added to u_r.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias, cast

from likewise_check.affine import Affine
from likewise_check.cells import Cell, Holds, LeafRefused
from likewise_check.claim import Claim
from likewise_check.classes import Form
from likewise_check.fields import Rejected, anything, array_of
from likewise_check.logarithm import exp_minus, log_bounds
from likewise_check.model import Model
from likewise_check.numbers import number, shown
from likewise_check.rules.line import Line, Terms
from likewise_check.rules.separable import KEPT, read_multipliers, tangent
from likewise_check.rules.trees import forest_of
from likewise_check.several import Several
from likewise_check.trees import Trees

_BITS = 160  # of softplus, and of what is added to u_r

Alpha: TypeAlias = Mapping[int, Fraction]  # factors of scores


class _NoPair(Exception):
    """No points of the cell satisfy the relations."""


class Softmax:
    """The rule, prepared for one case."""

    def __init__(self, claim: Claim) -> None:
        body, case = claim.model.body, claim.case
        asked = claim.asked.kind == "probability" and claim.model.classes
        if case is None or not isinstance(body, Several) or not asked or asked.link != "softmax":
            raise Rejected("softmax: only for cases of probabilities with the softmax link")
        if not isinstance(body.bodies[0], Affine | Trees):
            raise Rejected("softmax: only for bodies that are affine or trees")
        others = (k for k in range(body.classes.count) if k != case.i)
        self._gaps: list[Alpha] = [{k: Fraction(1), case.i: Fraction(-1)} for k in others]
        self._claim, self._forms = claim, _Forms(claim, body)

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell has P_c more than delta apart."""
        found = self.bound(leaf, cell)
        if found is None:
            return Holds(clearance=None)
        bound, threshold = found
        if bound > threshold:
            raise LeafRefused(f"softmax: the bound exceeds T by {shown(bound - threshold)}")
        return Holds(clearance=Fraction(0))

    def bound(self, leaf: list[object], cell: Cell) -> tuple[Fraction, Fraction] | None:
        """A number >= a z(x) - b z(x') at every pair of the cell, and T or a number below; None if the cell holds no pair."""
        if len(leaf) not in (4, 5):
            raise Rejected(
                'a softmax leaf is ["softmax", way, [w, ...], [[s, [v, ...]], ...]], and multipliers'
            )
        a, b, threshold = tangent(number(leaf[1], "the way"), self._claim.asked.bound)
        gaps = self._gaps
        w = _mean(leaf[2], len(gaps))
        steps = array_of(array_of(anything, 2), len(gaps) - 1)(leaf[3], "the steps")
        slopes = [number(s, "a slope") for s, _ in steps]
        means = [_mean(v, r) for r, (_, v) in enumerate(steps, start=1)]
        if not all(0 <= s <= 1 for s in slopes):
            raise Rejected("a slope must be from 0 to 1")
        multipliers = read_multipliers(leaf[4], self._claim) if len(leaf) == 5 else []
        if multipliers and not self._forms.multipliers:
            raise Rejected("softmax: a bound of trees has no multipliers")
        try:
            above, added = self._above(slopes, means, cell)
            first, second = _combined([-a * share for share in w], gaps), _combined([b], [above])
            largest = self._forms.largest(first, second, cell, multipliers)
        except _NoPair:
            return None
        return largest - a * _entropy(w) + b * added, threshold

    def _above(
        self, slopes: Sequence[Fraction], means: Sequence[Sequence[Fraction]], cell: Cell
    ) -> tuple[Alpha, Fraction]:
        """u_m: a form, and what is added to it."""
        above, added, one = self._gaps[0], Fraction(0), Fraction(1)
        for r, (s, v) in enumerate(zip(slopes, means, strict=True), start=1):
            gap = self._gaps[r]
            most = _combined([one, *(-share for share in v)], [gap, *self._gaps[:r]])
            least = _combined([one, -one], [above, gap])
            high = self._forms.largest({}, most, cell) - _entropy(v)
            low = -self._forms.largest({}, least, cell) - added
            rise = max(_softplus(t) - s * t for t in (low, high))
            above = _combined([1 - s, s], [above, gap])
            added = _rounded_up((1 - s) * added + rise)
        return above, added


class _Forms:
    """Maxima of forms over cells, as in the rules `separable` and `trees`."""

    def __init__(self, claim: Claim, body: Several) -> None:
        self._claim, self._body = claim, body
        self.multipliers = 0 if isinstance(body.bodies[0], Trees) else 2 * len(claim.space.constraints)
        self._lines: dict[object, Line] = {}
        self._kept = 0

    def largest(
        self, first: Alpha, second: Alpha, cell: Cell, multipliers: Sequence[Fraction] = ()
    ) -> Fraction:
        """The maximum over the cell of the first form at x plus the second at x', less multiples of the constraints."""
        key = tuple(first.items()), tuple((c, -factor) for c, factor in second.items()), tuple(multipliers)
        if isinstance(self._body.bodies[0], Trees):
            found = self._of_trees(*key[:2], cell)
        else:
            found = self._of_line(key, cell)
        if found is None:
            raise _NoPair
        return found

    def _of_trees(self, first: Form, opposite: Form, cell: Cell) -> Fraction | None:
        own, other = (cast(Trees, self._body.form(form)) for form in (first, opposite))
        return forest_of(self._claim, own).maximum(cell, own, other, Fraction(1), Fraction(1))

    def _of_line(self, key: tuple[Form, Form, tuple[Fraction, ...]], cell: Cell) -> Fraction | None:
        if self._kept > KEPT:
            self._lines, self._kept = {}, 0
        if key not in self._lines:
            own, other = self._body.form(key[0]), self._body.form(key[1])
            terms = Terms(replace(self._claim, model=Model(body=own), other=other))
            zeros = [Fraction(0)] * self.multipliers
            self._lines[key] = Line(terms, Fraction(1), Fraction(1), list(key[2]) or zeros)
        line = self._lines[key]
        self._kept -= line.kept
        maximum = line.maximum(cell)
        self._kept += line.kept
        return None if maximum is None else Fraction(maximum) / line.scale


def _mean(items: object, length: int) -> list[Fraction]:
    """Numbers >= 0 with sum 1."""
    found: list[Fraction] = array_of(number, length)(items, "the weights of a mean")
    if min(found) < 0 or sum(found) != 1:
        raise Rejected("the weights of a mean must be at least 0, with sum 1")
    return found


def _combined(factors: Sequence[Fraction], forms: Sequence[Alpha]) -> Alpha:
    """The sum of factor * form, without what is 0."""
    total: dict[int, Fraction] = {}
    for factor, form in zip(factors, forms, strict=True):
        for c, amount in form.items():
            total[c] = total.get(c, Fraction(0)) + factor * amount
    return {c: total[c] for c in sorted(total) if total[c]}


def _entropy(weights: Sequence[Fraction]) -> Fraction:
    """H, rounded down."""
    return -sum((w * log_bounds(w)[1] for w in weights if w), Fraction(0))


def _softplus(t: Fraction) -> Fraction:
    """log(1 + exp t), rounded up."""
    _, tail = exp_minus(abs(t), _BITS)
    return max(t, Fraction(0)) + log_bounds(1 + tail)[1]


def _rounded_up(value: Fraction) -> Fraction:
    return Fraction(-(-value * (1 << _BITS) // 1), 1 << _BITS)
