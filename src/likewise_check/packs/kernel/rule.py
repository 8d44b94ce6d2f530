"""Rule `["kernel", way, [e, ...], r]` (sections 7 and 20): sum_t c_t exp(-gamma sum_k D_tk) <= U on a cell, by one-sided cubics.

The real sum is replaced, once, by one whose data are ints, and which is nowhere smaller; after that, rounding only ever raises the
bound. Notation as in section 7; units as in `cubics`.

1. Exponents. The exponent of term t, without exp(-gamma R), is X_t = -e_t + L_t with e_t >= 0 the exponent of E_t. Here gamma D_tk(m_k), l_tk and
   zeta_k / 2 are rounded down to ints of exponent units, so X_t is off by at most 2 units a feature (numeric: 1 for D, 1 for l as |y| <= 1; one-hot: its
   part is 0 or -zeta; grouped: -gamma beta'_t, rounded once, and 0 or zeta): |X~_t - X_t| <= epsilon = 2 K 2^-48, K features. As exp(epsilon) <= 1 + 2 epsilon (K <= 10,000),

       c_t exp(X_t)  <=  (c_t exp(-e~_t) + 2 epsilon |c_t exp(-e~_t)|) exp(L~_t).

2. Weights. c~_t >= c_t is rounded up; decay(e~_t) is off by at most 16 weight units; so with y = floor(c~ decay), C~_t = y + |y| 4 K / 2^48 + |c~| 2^-90 + 3
   (each part rounded down) is at least the bracket above: the 3 pays for the three floors, and |c~| 2^-90 = 64 |c~| units >= 16 (1 + 2 epsilon) |c~|.
3. Cubics. |L~_t| <= h~_t = k~_t + sum |l~_tk|, exactly. C~_t exp(L~_t) <= C~_t p_t(L~_t) with the upper cubic if C~_t >= 0, else the lower one; the cubic for
   h = the smallest multiple of 1/1024 that is at least h~_t - SLACK holds up to h~_t (`cubics`). SLACK lets rounding not push h over the next multiple.
4. q0 is added up exactly; q1, q2, q3 are shifted to the unit 2^-bits in which their sum has LANE_SUM or FINE_SUM bits, with an error that `terms_error` pays for.
5. Psi. U is rounded down. g_k = gamma A_k w_k^2 is rounded down if U >= 0 and up if U < 0: U exp(gamma R) gets smaller. The tangent
   is U e (1 - r/1024 + sum g_k y_k^2), e = exp(r/1024) enclosed, the end taken that makes each coefficient smaller; the secant is U (1 + sum g_k y_k^2 (exp(x) - 1) / x)
   with x = sum g_k, exp(x) rounded up. gamma nu of grouped features (section 20) is rounded as the g_k are, and goes to the tables.
6. The hints' inequality is rounded up; each axis takes the `cubic_maximum`, or the largest value at the codes that occur if they are few.
7. Two copies. The exponents X_t and X'_t of the two are off by at most 4 units a feature (a paired one: 1 for D, 1 for each of three loads): step 1 with
   epsilon = 4 K 2^-48. Step 2 gives C~_t for c_t exp(X_t) and, from a c~ >= -c'_t, O~_t for -c'_t exp(X'_t). From there on everything is in ints: for any int m,

       C~ exp(L~) + O~ exp(L~')  =  m (exp(L~) - exp(L~'))  +  (C~ - m) exp(L~)  +  (O~ + m) exp(L~').

   The last two are as in step 3. The first is at most m P(L~) - m P(L~') + |m| eps |L~ - L~'| with the `chord` P for the larger of the two h, and |L~ - L~'| is
   at most g~_t, the sum over the axes of |l~_t - l~'_t|, exactly. m is C~ or -O~, whichever is smaller, if 2 g~_t <= h and both have one sign, else 0.
   The y_p of an axis p is y_u y_d: its n1 becomes part of the product of u and d, exactly.

The leaf holds if the bound is below 0, not just at most 0: F < U, which is enough for the decision with way = 0 too, where W is closed.
In lemmas about two bodies (`claim`) c_t has the coefficients of the first and c'_t those of the second; nothing else changes.
A term that is the same real number at x and at x', weighed by a and b, adds nothing to F: it is left out (`_which`).
All excesses are below the room of the specification: with S = sum |C_t|, 1 and 2 cost at most 2^-44 K S + 2^-89 sum |c_t|, 3 at most
2^-45 exp(h) (h + 2)^3 S, 7 at most 2^-42 exp(h) (h + 5) sum |m_t| g_t more, and 4 to 6 at most 3 M (1 + n)^2 (1 + 2 H)^3 + (n + 3)^3 + 36 n (4 + n + c) (1 + 2 H)^2 units
of about 2^-59 (1 + 2 H)^2 sum |q|, c the most positions of an axis (the last is for means that are not exact: each moves 3 (2 H)^2 (8 + 2 c + 2 n) units at most to places that count three times, for each axis).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, compress
from typing import TypeAlias

from likewise_check.core.bound import Way, conclude, read_way, sum_maxima
from likewise_check.core.cells import NO_PAIR, Box, Cell, Holds, LeafRefused
from likewise_check.core.fields import Rejected, array_of, whole
from likewise_check.core.lemma import Lemma
from likewise_check.core.logarithm import ceil_div, exp_minus, unit_bits
from likewise_check.core.numbers import Exact
from likewise_check.packs.axes import cubic_maximum, differences
from likewise_check.packs.kernel.axes import Axis, Grouped, Numeric, Part, Sort, classify_feature
from likewise_check.packs.kernel.body import Rbf
from likewise_check.packs.kernel.choices import MOST_KEPT, Choice, Groups
from likewise_check.packs.kernel.couples import Couple, make_couple
from likewise_check.packs.kernel.cubics import GRID, WEIGHT, largest_at
from likewise_check.packs.kernel.expansion import Expander, Expansion
from likewise_check.packs.kernel.majorant import FINE_SUM, LANE_SUM, Majorant, terms_error

MOST_HINT = 64
MOST_TANGENT = 1 << 20
MOST_CURVE = 1024


Codes: TypeAlias = tuple[tuple[int, Exact], ...]  # features and their codes
Live: TypeAlias = tuple[int, tuple[bool, ...]]  # some terms, as bits of a number and one by one
Weights: TypeAlias = list[
    tuple[int, int]
]  # slope * coefficient * decay, rounded down and up, in weight units


class Kernel:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        body, other = lemma.first, lemma.second
        if not isinstance(body, Rbf) or not isinstance(other, Rbf):
            raise Rejected("kernel: the body is not a kernel one")
        self._lemma, self._body, self._other = lemma, body, other  # which differ in coefficients only
        kept = body.shared
        if "sorts" not in kept:
            sorts = [classify_feature(feature, body, k) for k, feature in enumerate(lemma.space.features)]
            kept.update(sorts=sorts, parts={}, couples={}, expander=Expander(), groups=Groups())
        self._sorts: list[Sort] = kept["sorts"]
        self._numeric = {k: sort for k, sort in enumerate(self._sorts) if isinstance(sort, Numeric)}
        same = [k for k, relation in enumerate(lemma.similarity) if relation.kind == "same"]
        # Grouped ones are like others where they are fixed, and like one-hot ones where they are not.
        self._same = [k for k in same if self._sorts[k] is not None]
        self._others = [k for k in same if self._sorts[k] is None]
        self._grouped = [k for k in same if isinstance(self._sorts[k], Grouped)]
        self._differ = [k for k, relation in enumerate(lemma.similarity) if relation.kind != "same"]
        self._parts: dict[tuple[int, object, int], Part] = kept["parts"]
        self._couples: dict[tuple[int, Box], Couple] = kept["couples"]
        self._live: dict[tuple[Codes, Codes, Fraction, Fraction, bool], Live] = {}
        known: dict[Codes, Weights] = {}
        self._weights = known, known if other is body else {}  # of x and of x'
        self._expander: Expander = kept["expander"]
        self._groups: Groups = kept["groups"]

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        found = self.bound(leaf, cell)
        if found is None:
            return NO_PAIR
        bound, bits = found
        way = read_way(leaf[1], self._lemma.asked)
        return conclude("kernel", bound, 0, closed=True, unit=Fraction(2) ** bits, side=way.side)

    def bound(self, leaf: list[object], cell: Cell) -> tuple[int, int] | None:
        """(n, bits) such that Phi <= n / 2^bits on the cell, or None if the cell holds no pair."""
        if len(leaf) != 4:
            raise Rejected('a kernel leaf is ["kernel", way, [hint, ...], tangent]')
        way = read_way(leaf[1], self._lemma.asked)
        moving = [k for k in self._same if k in self._numeric and _moves(cell[k])]
        unfixed = [k for k in self._differ if _moves(cell[k])]
        paired = [k for k in unfixed if not self._lemma.space.features[k].levels]
        count = len(moving) + 3 * len(paired)
        hints: list[int] = array_of(whole(-MOST_HINT, MOST_HINT), count)(leaf[2], "the hints")
        tangent: int = whole(0, MOST_TANGENT)(leaf[3], "the tangent")
        if unfixed != paired:
            raise LeafRefused("kernel: a variable of a feature that may differ is not down to one value")
        if any(_moves(cell[k]) for k in self._others):
            raise LeafRefused(
                "kernel: a feature that is neither numeric nor one-hot is not down to one value"
            )
        if any(self._holds_none(k, cell[k]) for k in self._differ):
            return None
        fixed = [k for k in (*self._others, *self._grouped, *self._differ) if not _moves(cell[k])]
        here, there = (tuple((k, cell[k].intervals[-side][0]) for k in fixed) for side in (0, 1))
        number, live = self._which(way, here, there, counts_all=bool(paired))
        parts = {k: self._part(k, cell[k], number, live) for k in self._same if k not in fixed}
        couples = [self._couple(k, cell[k]) for k in paired]
        weights = [self._weigh_terms(0, here), self._weigh_terms(1, there)]
        expansion = self._expanded(
            way, [list(compress(w, live)) for w in weights], list(parts.values()), couples
        )
        candidates = [parts[k].axis for k in moving]
        for couple in couples:
            candidates += couple.axes
        gauge = self._lemma.gauge
        limit = way.threshold - way.a * gauge(self._body.bias) + way.b * gauge(self._other.bias)
        choices = [part.choice for part in parts.values() if part.choice]
        axes = [(axis, hint) for axis, hint in zip(candidates, hints, strict=True) if axis]
        return _bound(expansion, axes, choices, self._groups, limit, tangent), expansion.bits

    def _holds_none(self, k: int, box: Box) -> bool:
        """Whether no codes of the box satisfy the relation of a feature that may differ; levels are fixed here."""
        least, most = differences(box)
        (x, _), (other, _) = box.intervals
        fixed = not _moves(box)
        return least > most or (fixed and not self._lemma.similarity[k].allows(x, other))

    def _which(self, way: Way, here: Codes, there: Codes, *, counts_all: bool) -> Live:
        """The terms that count: not those with a c_t exp(-e_t) = b c'_t exp(-e'_t), because e_t = e'_t and a c_t = b c'_t."""
        key = here, there, way.a, way.b, counts_all
        if key not in self._live:
            terms, others = (
                zip(body.coefficients, body.falls(codes), strict=True)
                for body, codes in ((self._body, here), (self._other, there))
            )
            counts = tuple(
                counts_all or fall != other_fall or way.a * weight != way.b * other_weight
                for (weight, fall), (other_weight, other_fall) in zip(terms, others, strict=True)
            )
            if not any(counts):  # one term at least, for what follows
                counts = (True, *counts[1:])
            self._live[key] = sum(1 << t for t, is_live in enumerate(counts) if is_live), counts
        return self._live[key]

    def _part(self, k: int, box: Box, number: int, live: Sequence[bool]) -> Part:
        key = k, box.key, number
        if key not in self._parts:
            if len(self._parts) * len(self._body.coefficients) * 3 > MOST_KEPT:
                self._parts.clear()
            sort = self._sorts[k]
            if sort is None:
                raise LeafRefused("kernel: no part of a feature that is neither numeric nor one-hot")
            whole_key = k, box.key, -1
            if whole_key not in self._parts:
                self._parts[whole_key] = sort.part(*box.intervals[0])
            self._parts[key] = self._parts[whole_key].only(live, (k, number))
        return self._parts[key]

    def _couple(self, k: int, box: Box) -> Couple:
        key = k, box
        if key not in self._couples:
            if len(self._couples) * len(self._body.coefficients) * 11 > MOST_KEPT:
                self._couples.clear()
            self._couples[key] = make_couple(self._numeric[k], box)
        return self._couples[key]

    def _weigh_terms(self, side: int, codes: Codes) -> Weights:
        """For these features and codes of x (side 0) or x', the terms' coefficients with what they fall by there."""
        known, coefficients = self._weights[side], (self._body, self._other)[side].coefficients
        if codes not in known:
            if len(known) * len(coefficients) * 2 > MOST_KEPT:
                known.clear()
            slope, bits = self._lemma.slope, WEIGHT + 32
            finer = unit_bits(bits) - WEIGHT
            known[codes] = [
                (min(ends) // below, ceil_div(max(ends), below))
                for ends, below in (
                    ([weight.numerator * end for end in enclosure], weight.denominator << finer)
                    for weight, enclosure in zip(
                        [Fraction(slope * coefficient) for coefficient in coefficients],
                        self._body.exponentials(codes, bits),
                        strict=True,
                    )
                )
            ]
        return known[codes]

    def _expanded(
        self, way: Way, weights: list[Weights], parts: list[Part], couples: list[Couple]
    ) -> Expansion:
        """The cubics of all terms, those of a second copy after those of the first."""
        first, second = weights
        none = [0] * len(first)
        falls = list(map(sum, zip(*[part.decay for part in parts], none, strict=True)))
        heights = list(map(sum, zip(*[part.height for part in parts if part.height], none, strict=True)))
        choices = [part for part in parts if part.choice]
        shifts = map(sum, zip(*[part.height for part in choices if part.height], none, strict=True))
        factor = way.a.denominator * way.b.denominator
        at_x, at_other = int(way.a * factor), int(way.b * factor)
        most = LANE_SUM if choices else FINE_SUM
        off = 2 * len(self._sorts)
        if not couples:
            weighed = [
                ceil_div(at_x * high - at_other * low, factor)
                for (_, high), (low, _) in zip(first, second, strict=True)
            ]
            return self._expander.one_copy(zip(weighed, falls, heights, shifts, strict=True), off, most)
        copies = [
            zip(
                weighed,
                map(sum, zip(falls, *[couple.decays[side] for couple in couples], strict=True)),
                map(sum, zip(heights, *[couple.heights[side] for couple in couples], strict=True)),
                strict=True,
            )
            for side, weighed in enumerate(
                (
                    [ceil_div(at_x * high, factor) for _, high in first],
                    [ceil_div(-at_other * low, factor) for low, _ in second],
                )
            )
        ]
        gaps = map(sum, zip(*[couple.apart for couple in couples], strict=True))
        return self._expander.two_copies(zip(*copies, shifts, gaps, strict=True), 2 * off, most)


def _moves(box: Box) -> bool:
    return any(lo != hi for lo, hi in box.intervals)


def _scale_down(number: Fraction, bits: int) -> int:
    """number * 2^bits, rounded down; bits may be negative, where coefficients are huge."""
    return (number.numerator << max(bits, 0)) // (number.denominator << max(-bits, 0))


def _bound(
    expansion: Expansion,
    axes: list[tuple[Axis, int]],
    choices: list[Choice],
    groups: Groups,
    limit: Fraction,
    tangent: int,
) -> int:
    """Phi, in units of the expansion, for axes with their hints."""
    terms = len(expansion.q[0])
    # Loads that are the same in both copies are given once.
    slopes = [axis.loads * (terms // len(axis.loads)) for axis, _ in axes]
    majorant = Majorant(expansion.q, slopes, choices, groups)
    constant = expansion.constant + majorant.constant
    constant += terms_error(terms, len(slopes) + len(choices), expansion.reach)
    for f, (axis, _) in enumerate(axes):
        if axis.is_product:
            majorant.products[f - 2, f - 1] += majorant.n1[f]
            majorant.n1[f] = 0
    constant += _subtract_limit(
        majorant, _scale_down(limit, expansion.bits), tangent, [axis.curve for axis, _ in axes], choices
    )
    constant += _decouple(majorant, [hint for _, hint in axes])
    cubics = zip(majorant.n1, majorant.n2, majorant.n3, strict=True)
    on_axes = (
        largest_at(*cubic, axis.places) if axis.places else cubic_maximum(*cubic)
        for cubic, (axis, _) in zip(cubics, axes, strict=True)
    )
    return sum_maxima(constant, chain(map(max, majorant.tables), on_axes))


def _subtract_limit(
    majorant: Majorant, limit: int, tangent: int, curves: list[tuple[int, int]], choices: list[Choice]
) -> int:
    """Takes the multiple of R of -Psi into n2 and the tables, and returns its constant, rounded up; limit is U in the unit."""
    if limit >= 0:
        # exp(-r/1024) > 2^-(r/512): so many bits leave 2^-128 of exp(r/1024) in both ways.
        below, above = exp_minus(Fraction(tangent, GRID), 128 + tangent // 128)
        low, high = int((1 << WEIGHT) / above), int((1 << WEIGHT) / below) + 1
        for f, (curve, _) in enumerate(curves):
            majorant.n2[f] -= limit * low * curve >> 2 * WEIGHT
        for table, choice in zip(majorant.tables, choices, strict=True):
            for v in choice.raised:
                table[v] -= limit * low * choice.rise[0] >> 2 * WEIGHT
        return ceil_div(limit * (high if tangent > GRID else low) * (tangent - GRID), GRID << WEIGHT)
    x = sum(curve for _, curve in curves) + sum(choice.rise[1] for choice in choices if choice.raised)
    if x >> WEIGHT > MOST_CURVE:
        raise LeafRefused(f"kernel: the cell is too large, gamma R varies by more than {MOST_CURVE}")
    if x:
        below, _ = exp_minus(Fraction(x, 1 << WEIGHT), WEIGHT + 4 * (x >> WEIGHT) + 8)
        rise = int((1 << WEIGHT) / below) + 1 - (1 << WEIGHT)
        for f, (_, curve) in enumerate(curves):
            majorant.n2[f] += ceil_div(-limit * rise * curve, x << WEIGHT)
        for table, choice in zip(majorant.tables, choices, strict=True):
            for v in choice.raised:
                table[v] += ceil_div(-limit * rise * choice.rise[1], x << WEIGHT)
    return -limit


def _decouple(majorant: Majorant, hints: list[int]) -> int:
    """Takes the products of numeric axes into n1 and n2 by the hints, and returns what is left for the constant."""
    constant = 0
    for (f, g), product in majorant.products.items():
        size, sign = abs(product), 1 if product >= 0 else -1
        tau = hints[f] - sign * hints[g]  # in units of 1/64
        shift = size * tau >> 6
        majorant.n1[f] -= shift
        majorant.n1[g] += sign * shift
        for axis in (f, g):
            majorant.n2[axis] += size + 1 >> 1
        constant += ceil_div(size * tau * tau, 1 << 13) + 2
    return constant
