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
from typing import TypeAlias

from likewise_check.affine import Affine
from likewise_check.cells import Cell, Holds, LeafRefused
from likewise_check.claim import Claim
from likewise_check.fields import Rejected, anything, array_of
from likewise_check.logarithm import exp_minus, log_bounds
from likewise_check.model import Model
from likewise_check.numbers import number, shown
from likewise_check.rules.line import Line, Terms
from likewise_check.rules.separable import KEPT, read_multipliers, tangent
from likewise_check.several import Several

_BITS = 160  # of softplus, and of what is added to u_r

Alpha: TypeAlias = Mapping[int, Fraction]  # factors of scores


class _NoPair(Exception):
    """No points of the cell satisfy the relations."""


class Softmax:
    """The rule, prepared for one case."""

    def __init__(self, claim: Claim) -> None:
        body, case = claim.model.body, claim.case
        if case is None or not isinstance(body, Several) or not isinstance(body.bodies[0], Affine):
            raise Rejected("softmax: not a case of probabilities of the softmax link and an affine body")
        self._claim, self._body = claim, body
        others = (k for k in range(body.classes.count) if k != case.i)
        self._gaps: list[Alpha] = [{k: Fraction(1), case.i: Fraction(-1)} for k in others]
        self._zeros = [Fraction(0)] * (2 * len(claim.space.constraints))
        self._lines: dict[object, Line] = {}
        self._kept = 0

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
        multipliers = read_multipliers(leaf[4], self._claim) if len(leaf) == 5 else self._zeros
        try:
            above, added = self._above(slopes, means, cell)
            first, second = _combined([-a * share for share in w], gaps), _combined([b], [above])
            largest = self._largest(first, second, multipliers, cell)
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
            high = self._largest({}, most, self._zeros, cell) - _entropy(v)
            low = -self._largest({}, least, self._zeros, cell) - added
            rise = max(_softplus(t) - s * t for t in (low, high))
            above = _combined([1 - s, s], [above, gap])
            added = _rounded_up((1 - s) * added + rise)
        return above, added

    def _largest(self, first: Alpha, second: Alpha, multipliers: Sequence[Fraction], cell: Cell) -> Fraction:
        """The maximum over the cell of the first form at x plus the second at x', less the multiples of constraints."""
        key = tuple(first.items()), tuple(second.items()), tuple(multipliers)
        if self._kept > KEPT:
            self._lines, self._kept = {}, 0
        if key not in self._lines:
            opposite = tuple((c, -factor) for c, factor in second.items())
            own = Model(body=self._body.form(tuple(first.items())))
            terms = Terms(replace(self._claim, model=own, other=self._body.form(opposite)))
            self._lines[key] = Line(terms, Fraction(1), Fraction(1), list(multipliers))
        line = self._lines[key]
        self._kept -= line.kept
        maximum = line.maximum(cell)
        self._kept += line.kept
        if maximum is None:
            raise _NoPair
        return Fraction(maximum) / line.scale


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
