"""Rule `["softmax", way, [w, ...], [[s, [v, ...]], ...]]` (section 10): a z(x) - b z(x') <= T, with P_c = sigma(z), by maxima of forms.

With d_1, ..., d_m the f_k - f_c of the other classes, z = -log sum_r exp(d_r). For weights w >= 0 with sum 1 and H(w) = -sum w log w, Gibbs has

    log sum_r exp(d_r)  >=  w . d + H(w),        so  z(x) <= -w . d(x) - H(w).

From above, the sum of r exponentials is l_r with l_1 = d_1 and l_(r+1) = l_r + softplus(t_r), t_r = d_(r+1) - l_r. If u_r >= l_r and softplus(t) <= s t + k wherever t_r may be, then

    l_(r+1)  <=  l_r + s t_r + k  =  (1 - s) l_r + s d_(r+1) + k  <=  (1 - s) u_r + s d_(r+1) + k  =  u_(r+1),       0 <= s <= 1.

softplus(t) - s t is convex, so k is its larger value at two ends: t_r >= d_(r+1) - u_r, and t_r <= d_(r+1) - v . (d_1, ..., d_r) - H(v) by Gibbs. Their extremes over the cell are
maxima of forms at x', and a z(x) - b z(x') is at most -a (w . d(x) + H(w)) + b u_m(x').

H is rounded down and softplus up, which only raises the bound; so does rounding up what is added to u_r.
"""

from collections.abc import Sequence
from fractions import Fraction

from likewise_check.core.bound import conclude, tangent_at
from likewise_check.core.cells import NO_PAIR, Cell, Holds
from likewise_check.core.fields import Rejected, anything, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.core.logarithm import exp_minus, log_bounds
from likewise_check.core.numbers import number
from likewise_check.core.separable import read_multipliers
from likewise_check.packs.classes.forms import Alpha, Forms, NoPair, combine_forms

_BITS = 160  # of softplus, and of what is added to u_r


class Softmax:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        self._lemma, self._forms = lemma, Forms(lemma, "softmax")
        self._gaps = self._forms.gaps

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell has P_c more than delta apart."""
        found = self.bound(leaf, cell)
        return conclude("softmax", *found, closed=False) if found else NO_PAIR

    def bound(self, leaf: list[object], cell: Cell) -> tuple[Fraction, Fraction] | None:
        """A number >= a z(x) - b z(x') at every pair of the cell, and T or a number below; None if the cell holds no pair."""
        if len(leaf) not in (4, 5):
            raise Rejected(
                'a softmax leaf is ["softmax", way, [w, ...], [[s, [v, ...]], ...]], and multipliers'
            )
        a, b, threshold = tangent_at(number(leaf[1], "the way"), self._lemma.asked.bound)
        gaps = self._gaps
        w = _read_mean(leaf[2], len(gaps))
        steps = array_of(array_of(anything, 2), len(gaps) - 1)(leaf[3], "the steps")
        slopes = [number(s, "a slope") for s, _ in steps]
        means = [_read_mean(v, r) for r, (_, v) in enumerate(steps, start=1)]
        if not all(0 <= s <= 1 for s in slopes):
            raise Rejected("a slope must be from 0 to 1")
        multipliers = read_multipliers(leaf[4], self._lemma.space) if len(leaf) == 5 else []
        if multipliers and not self._forms.multipliers:
            raise Rejected("softmax: a bound of trees has no multipliers")
        try:
            above, added = self._above(slopes, means, cell)
            first, second = combine_forms([-a * share for share in w], gaps), combine_forms([b], [above])
            largest = self._forms.largest(first, second, cell, multipliers)
        except NoPair:
            return None
        return largest - a * _entropy(w) + b * added, threshold

    def _above(
        self, slopes: Sequence[Fraction], means: Sequence[Sequence[Fraction]], cell: Cell
    ) -> tuple[Alpha, Fraction]:
        """u_m: a form, and what is added to it."""
        above, added, one = self._gaps[0], Fraction(0), Fraction(1)
        for r, (s, v) in enumerate(zip(slopes, means, strict=True), start=1):
            gap = self._gaps[r]
            most = combine_forms([one, *(-share for share in v)], [gap, *self._gaps[:r]])
            least = combine_forms([one, -one], [above, gap])
            high = self._forms.largest({}, most, cell) - _entropy(v)
            low = -self._forms.largest({}, least, cell) - added
            rise = max(_softplus(t) - s * t for t in (low, high))
            above = combine_forms([1 - s, s], [above, gap])
            added = _round_up((1 - s) * added + rise)
        return above, added


def _read_mean(items: object, length: int) -> list[Fraction]:
    """Numbers >= 0 with sum 1."""
    found: list[Fraction] = array_of(number, length)(items, "the weights of a mean")
    if min(found) < 0 or sum(found) != 1:
        raise Rejected("the weights of a mean must be at least 0, with sum 1")
    return found


def _entropy(weights: Sequence[Fraction]) -> Fraction:
    """H, rounded down."""
    return -sum((w * log_bounds(w)[1] for w in weights if w), Fraction(0))


def _softplus(t: Fraction) -> Fraction:
    """log(1 + exp t), rounded up."""
    _, tail = exp_minus(abs(t), _BITS)
    return max(t, Fraction(0)) + log_bounds(1 + tail)[1]


def _round_up(value: Fraction) -> Fraction:
    return Fraction(-(-value * (1 << _BITS) // 1), 1 << _BITS)
