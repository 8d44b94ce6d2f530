"""Rule `["kernel", way, [e, ...], r]` (section 7): sum_t c_t exp(-gamma sum_k D_tk) <= U on a cell, by one-sided cubics.

The real sum is replaced, once, by one whose data are ints, and which is nowhere smaller; after that, rounding only ever raises the
bound. Notation as in section 7; units as in `cubics`.

1. Exponents. The exponent of term t, without exp(-gamma R), is X_t = -e_t + L_t with e_t >= 0 the exponent of E_t. Here gamma D_tk(m_k), l_tk and
   zeta_k / 2 are rounded down to ints of exponent units, so X_t is off by at most 2 units a feature (numeric: 1 for D, 1 for l as |y| <= 1; one-hot: its
   part is 0 or -zeta): |X~_t - X_t| <= epsilon = 2 K 2^-48, K features. As exp(epsilon) <= 1 + 2 epsilon (K <= 10,000),

       c_t exp(X_t)  <=  (c_t exp(-e~_t) + 2 epsilon |c_t exp(-e~_t)|) exp(L~_t).

2. Weights. c~_t >= c_t is rounded up; decay(e~_t) is off by at most 16 weight units; so with y = floor(c~ decay), C~_t = y + |y| 4 K / 2^48 + |c~| 2^-90 + 3
   (each part rounded down) is at least the bracket above: the 3 pays for the three floors, and |c~| 2^-90 = 64 |c~| units >= 16 (1 + 2 epsilon) |c~|.
3. Cubics. |L~_t| <= h~_t = k~_t + sum |l~_tk|, exactly. C~_t exp(L~_t) <= C~_t p_t(L~_t) with the upper cubic if C~_t >= 0, else the lower one; the cubic for
   h = the smallest multiple of 1/1024 that is at least h~_t - SLACK holds up to h~_t (`cubics`). SLACK lets rounding not push h over the next multiple.
4. q0 is added up exactly; q1, q2, q3 are shifted to the unit 2^-bits in which their sum has LANE_SUM or FINE_SUM bits, with an error that `terms_error` pays for.
5. Psi. U is rounded down. g_k = gamma A_k w_k^2 is rounded down if U >= 0 and up if U < 0: U exp(gamma R) gets smaller. The tangent
   is U e (1 - r/1024 + sum g_k y_k^2), e = exp(r/1024) enclosed, the end taken that makes each coefficient smaller; the secant is U (1 + sum g_k y_k^2 (exp(x) - 1) / x)
   with x = sum g_k, exp(x) rounded up.
6. The hints' inequality is rounded up; each axis takes the `cubic_maximum`, or the largest value at the codes that occur if they are few.

The leaf holds if the bound is below 0, not just at most 0: F < U, which is enough for the decision with way = 0 too, where W is closed.
All excesses are below the room of the specification: with S = sum |C_t|, 1 and 2 cost at most 2^-44 K S + 2^-89 sum |c_t|, 3 at most
2^-45 exp(h) (h + 2)^3 S, and 4 to 6 at most 3 M (1 + n)^2 (1 + 2 H)^3 + (n + 3)^3 units of about 2^-59 (1 + 2 H)^2 sum |q|.
"""

from fractions import Fraction
from typing import TypeAlias

from likewise_check.cells import Box, Cell, Holds, LeafRefused
from likewise_check.claim import Claim
from likewise_check.fields import Rejected, array_of, whole
from likewise_check.logarithm import ceil_div, exp_minus
from likewise_check.numbers import Exact
from likewise_check.rbf import Rbf
from likewise_check.rules.axes import Numeric, Part, sort_of
from likewise_check.rules.cubics import (
    CUBIC,
    EXPONENT,
    GRID,
    SLACK,
    WEIGHT,
    WIDEST,
    cubic_maximum,
    decay,
    largest_at,
    one_sided,
    shifted,
)
from likewise_check.rules.majorant import FINE_SUM, LANE_SUM, Majorant, terms_error
from likewise_check.rules.separable import read_way

MOST_HINT = 64
MOST_TANGENT = 1 << 20
MOST_CURVE = 1024
KEPT = 1 << 22  # ints kept between leaves; dropped beyond, which changes nothing but time


Weights: TypeAlias = list[tuple[int, int]]  # sign * coefficient * decay, rounded down and up, in weight units


class Kernel:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        body = claim.model.body
        if not isinstance(body, Rbf):
            raise Rejected("kernel: the body is not a kernel one")
        self._claim, self._body = claim, body
        self._sorts = [sort_of(claim.space.features[k], body, k) for k in range(len(claim.space.features))]
        self._same = [k for k, relation in enumerate(claim.similarity) if relation.kind == "same"]
        self._differ = [k for k, relation in enumerate(claim.similarity) if relation.kind != "same"]
        self._parts: dict[tuple[int, tuple[int, ...]], Part] = {}
        self._weights: dict[tuple[Exact, ...], Weights] = {}
        self._cubics: dict[tuple[int, bool], tuple[int, int, int, int]] = {}

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        bound, bits = self.bound(leaf, cell)
        if bound >= 0:
            raise LeafRefused(f"kernel: the bound of Phi is not below 0, but {bound} / 2^{bits}")
        return Holds(clearance=Fraction(0))

    def bound(self, leaf: list[object], cell: Cell) -> tuple[int, int]:
        """(n, bits) such that Phi <= n / 2^bits on the cell."""
        if len(leaf) != 4:
            raise Rejected('a kernel leaf is ["kernel", way, [hint, ...], tangent]')
        a, b, threshold = read_way(leaf[1], self._claim.asked)
        moving = [k for k in self._same if isinstance(self._sorts[k], Numeric) and _moves(cell[k])]
        hints: list[int] = array_of(whole(-MOST_HINT, MOST_HINT), len(moving))(leaf[2], "the hints")
        tangent: int = whole(0, MOST_TANGENT)(leaf[3], "the tangent")
        if any(lo != hi for k in self._differ for lo, hi in cell[k].intervals):
            raise LeafRefused("kernel: a variable of a feature that may differ is not down to one value")
        limit = threshold - (a - b) * self._claim.sign * self._body.bias
        parts = {k: self._part(k, cell[k]) for k in self._same}
        q, constant, bits, reach = self._expanded(self._coefficients(a, b, cell), list(parts.values()))
        axes = [
            (part, hint)
            for part, hint in zip(map(parts.get, moving), hints, strict=True)
            if part and part.slope
        ]
        slopes = [part.slope for part, _ in axes if part.slope]
        choices = [part.choice for part in parts.values() if part.choice]
        majorant = Majorant(q, slopes, choices)
        constant += majorant.constant + terms_error(len(q[0]), len(slopes) + len(choices), reach)
        constant += _less_limit(majorant, _scaled(limit, bits), tangent, [part.curve for part, _ in axes])
        constant += _decouple(majorant, [hint for _, hint in axes])
        for f, (part, _) in enumerate(axes):
            cubic = majorant.n1[f], majorant.n2[f], majorant.n3[f]
            constant += largest_at(*cubic, part.places) if part.places else cubic_maximum(*cubic)
        return constant, bits

    def _part(self, k: int, box: Box) -> Part:
        key = k, box.key
        if key not in self._parts:
            if len(self._parts) * len(self._body.coefficients) * 3 > KEPT:
                self._parts.clear()
            self._parts[key] = self._sorts[k].part(*box.intervals[0])
        return self._parts[key]

    def _coefficients(self, a: Fraction, b: Fraction, cell: Cell) -> list[int]:
        """c~_t >= c_t, in weight units."""
        factor = a.denominator * b.denominator
        at_x, at_other = int(a * factor), int(b * factor)
        first, second = (
            self._weighed(tuple(cell[k].intervals[side][0] for k in self._differ)) for side in (0, 1)
        )
        return [
            ceil_div(at_x * high - at_other * low, factor)
            for (_, high), (low, _) in zip(first, second, strict=True)
        ]

    def _weighed(self, codes: tuple[Exact, ...]) -> Weights:
        if codes not in self._weights:
            if len(self._weights) * len(self._body.coefficients) * 2 > KEPT:
                self._weights.clear()
            one, sign = 1 << WEIGHT, self._claim.sign
            decays = self._body.decays(list(zip(self._differ, codes, strict=True)), WEIGHT + 32)
            self._weights[codes] = [
                (int(min(ends) // 1), int(-(-max(ends) // 1)))
                for ends in (
                    [sign * coefficient * end * one for end in enclosure]
                    for coefficient, enclosure in zip(self._body.coefficients, decays, strict=True)
                )
            ]
        return self._weights[codes]

    def _expanded(
        self, coefficients: list[int], parts: list[Part]
    ) -> tuple[tuple[list[int], list[int], list[int]], int, int, int]:
        """q1, q2, q3 and the sum of q0 in units of 2^-bits; bits; a whole number that |Z| does not exceed."""
        none = [0] * len(coefficients)
        falls = map(sum, zip(*[part.decay for part in parts], none, strict=True))
        heights = map(sum, zip(*[part.height for part in parts if part.height], none, strict=True))
        shifts = map(
            sum, zip(*[part.height for part in parts if part.choice and part.height], none, strict=True)
        )
        growth, known = 4 * len(self._sorts), self._cubics
        constant = reach = 0
        rows: list[tuple[int, int, int]] = []
        for c, fall, h, k in zip(coefficients, falls, heights, shifts, strict=True):
            y = c * decay(fall) >> WEIGHT
            weight = y + (abs(y) * growth >> EXPONENT) + (abs(c) >> 90) + 3
            key = -((SLACK - h) * GRID >> EXPONENT), weight >= 0
            if key not in known:
                if key[0] > WIDEST * GRID:
                    raise LeafRefused(
                        f"kernel: the cell is too large, an exponent varies by more than {WIDEST}"
                    )
                known[key] = one_sided(*key)
            p0, p1, p2, p3 = shifted(known[key], k)
            constant += weight * p0
            rows.append((weight * p1, weight * p2, weight * p3))
            reach = max(reach, h + k)
        reach = ceil_div(reach, 1 << EXPONENT)
        size = sum(abs(q1) + abs(q2) + abs(q3) for q1, q2, q3 in rows) * (1 + reach) ** 2
        most = LANE_SUM if any(part.choice for part in parts) else FINE_SUM
        excess = max(0, size.bit_length() - most)
        q1, q2, q3 = ([x >> excess for x in column] for column in zip(*rows, strict=True))
        return (q1, q2, q3), (constant >> excess) + 1, WEIGHT + CUBIC - excess, reach


def _moves(box: Box) -> bool:
    return any(lo != hi for lo, hi in box.intervals)


def _scaled(number: Fraction, bits: int) -> int:
    """number * 2^bits, rounded down; bits may be negative, where coefficients are huge."""
    return (number.numerator << max(bits, 0)) // (number.denominator << max(-bits, 0))


def _less_limit(majorant: Majorant, limit: int, tangent: int, curves: list[tuple[int, int]]) -> int:
    """Takes the multiple of R of -Psi into n2, and returns its constant, rounded up; limit is U in the unit."""
    if limit >= 0:
        # exp(-r/1024) > 2^-(r/512): so many bits leave 2^-128 of exp(r/1024) in both ways.
        below, above = exp_minus(Fraction(tangent, GRID), 128 + tangent // 128)
        low, high = int((1 << WEIGHT) / above), int((1 << WEIGHT) / below) + 1
        for f, (curve, _) in enumerate(curves):
            majorant.n2[f] -= limit * low * curve >> 2 * WEIGHT
        return ceil_div(limit * (high if tangent > GRID else low) * (tangent - GRID), GRID << WEIGHT)
    x = sum(curve for _, curve in curves)
    if x >> WEIGHT > MOST_CURVE:
        raise LeafRefused(f"kernel: the cell is too large, gamma R varies by more than {MOST_CURVE}")
    if x:
        below, _ = exp_minus(Fraction(x, 1 << WEIGHT), WEIGHT + 4 * (x >> WEIGHT) + 8)
        rise = int((1 << WEIGHT) / below) + 1 - (1 << WEIGHT)
        for f, (_, curve) in enumerate(curves):
            majorant.n2[f] += ceil_div(-limit * rise * curve, x << WEIGHT)
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
