"""A bound for large cells: each term between a chord and a tangent of exp, as a function of its squared distance.

exp(-Q) is convex in Q = gamma times the squared distance, which lies in [Q_lo, Q_hi] over the cell. So

    c > 0:   c exp(-Q) <= c (chord through the two ends)          c < 0:   c exp(-Q) <= c (any tangent);

the tangent taken is the one parallel to the chord. Both are linear in Q, hence their sum is a parabola a numeric axis
and a table a one-hot axis, and is maximised axis by axis. Where that is worse than the best end of each term, the
ends are taken. Factoring out the common Gaussian (`local_terms`) is far better in small cells and worse in the whole space,
where its exponentials exp(L) are large. What an axis costs is taken to be the change of the lines along it. No rule of the certificate uses this bound: it orders cells and bounds what
is left open.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import fill, total
from likewise.families.kernel.rbf.local_terms import code_at, embedded_interval
from likewise.families.kernel.rbf.terms import (
    NO_GROUND,
    ONE_HOT,
    Floats,
    Ints,
    Terms,
    allowed_groups,
    ground_rise,
    group_at,
    slot_of,
)


@compiled
def _distance_ranges(terms: Terms, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Q_lo and Q_hi of each term."""
    least, most = np.empty(len(terms.rest)), np.empty(len(terms.rest))
    for t in range(len(least)):
        least[t] = most[t] = terms.gamma * terms.rest[t]
    for k in range(len(lo)):
        if terms.kind[k] == ONE_HOT:
            place, zeta = terms.place[k], terms.zeta[k]
            slots, count = allowed_groups(terms, k, lo[k], hi[k])
            grounded = terms.ground[k] != NO_GROUND and slot_of(slots, terms.ground[k]) >= 0
            low, high = _ends_of_others(terms, k, slots, count)
            for t in range(len(least)):
                inside = slot_of(slots, place[t]) >= 0
                # Beside the ground, the own group is half of zeta nearer than that, and all others half of it further away.
                own = high - zeta
                least[t] += min(low, own) if inside else low
                most[t] += (
                    own if inside and count == 1 else low if inside and grounded and count == 2 else high
                )
        else:
            middle, width = embedded_interval(terms, k, lo[k], hi[k])
            centre = terms.centre[k]
            for t in range(len(least)):
                away = abs(middle - centre[t])
                near, far = max(0.0, away - width), away + width
                least[t] += terms.gamma * near * near
                most[t] += terms.gamma * far * far
    return least, most


@compiled
def _ends_of_others(terms: Terms, k: int, slots: Ints, count: int) -> tuple[float, float]:
    """The smallest and the largest gamma D of a term at groups that are not its own, without beta_t."""
    more = terms.base[k] + ground_rise(terms, k, slots)
    ground = terms.ground[k]
    if ground == NO_GROUND or slot_of(slots, ground) < 0:
        return more, more
    return more, more + (0.5 * terms.zeta[k] if count > 1 else 0.0)


@compiled
def _chord_slope(least: float, most: float) -> float:
    """Slope of the chord of exp(-Q)."""
    apart = most - least
    return math.exp(-least) * (math.expm1(-apart) / apart if apart > 0.0 else -1.0)


@compiled
def _hot_peak(terms: Terms, k: int, lo: float, hi: float, slopes: Floats) -> tuple[float, float, float]:
    """Max over the positions of the slopes times gamma D, less what is in `rest`; where, and the cost."""
    slots, count = allowed_groups(terms, k, lo, hi)
    own, cost, whole, zeta = np.zeros(count), 0.0, total(slopes), terms.zeta[k]
    for t in range(len(slopes)):
        slot = slot_of(slots, terms.place[k, t])
        if slot >= 0:
            own[slot] += slopes[t]
            cost += abs(slopes[t])
    best, at = -math.inf, lo
    for position in range(int(lo), int(hi) + 1):
        group = group_at(terms, k, position)
        beside = terms.ground[k] != NO_GROUND and terms.ground[k] != group
        value = whole * (terms.base[k] + (0.5 * zeta if beside else 0.0)) - zeta * own[slots[group]]
        if value > best:
            best, at = value, float(position)
    return best, at, zeta * cost


@compiled
def _numeric_peak(terms: Terms, k: int, lo: float, hi: float, slopes: Floats) -> tuple[float, float, float]:
    """Max over the interval of sum_t slope_t gamma (z - centre_t)^2, where, and the cost."""
    middle, width = embedded_interval(terms, k, lo, hi)
    bend, tilt, level, cost = 0.0, 0.0, 0.0, 0.0
    for t in range(len(slopes)):
        away = middle - terms.centre[k, t]
        bend += slopes[t]
        tilt += 2.0 * slopes[t] * away
        level += slopes[t] * away * away
        cost += abs(slopes[t]) * width * (abs(away) + width)
    at = width if tilt >= 0.0 else -width
    if bend < 0.0 and abs(tilt) < -2.0 * bend * width:
        at = -0.5 * tilt / bend
    code = code_at(terms, k, lo, hi, middle + at) if width > 0.0 else lo
    return terms.gamma * (level + at * (tilt + at * bend)), code, terms.gamma * cost


@compiled
def _term_lines(terms: Terms, lo: Floats, hi: Floats, coefficients: Floats) -> tuple[Floats, float, float]:
    """For each term the slope of its line in Q; the sum of the lines where no axis adds anything; and of the best ends."""
    least, most = _distance_ranges(terms, lo, hi)
    slopes = np.empty(len(coefficients))
    linear, ends = 0.0, 0.0
    for t in range(len(slopes)):
        c, slope = coefficients[t], _chord_slope(least[t], most[t])
        touch = least[t]
        if c < 0.0:
            touch = min(max(-math.log(-slope), least[t]), most[t]) if slope < 0.0 else most[t]
            slope = -math.exp(-touch)
        ends += c * math.exp(-(least[t] if c > 0.0 else most[t]))
        slopes[t] = c * slope
        linear += c * (math.exp(-touch) + slope * (terms.gamma * terms.rest[t] - touch))
    return slopes, linear, ends


@compiled
def _line_peaks(terms: Terms, lo: Floats, hi: Floats, slopes: Floats, point: Floats, loss: Floats) -> float:
    """Sum of the largest values of the lines over the axes of lo and hi."""
    upper = 0.0
    for k in range(len(lo)):
        if terms.kind[k] == ONE_HOT:
            peak, point[k], loss[k] = _hot_peak(terms, k, lo[k], hi[k], slopes)
        else:
            peak, point[k], loss[k] = _numeric_peak(terms, k, lo[k], hi[k], slopes)
        upper += peak
        if hi[k] == lo[k]:
            loss[k] = 0.0
    return upper


@compiled
def coarse_bound(
    terms: Terms, lo: Floats, hi: Floats, coefficients: Floats, point: Floats, loss: Floats
) -> float:
    """Upper bound of F over the cell; `point` becomes the maximiser of the lines, `loss` the costs of the axes."""
    slopes, linear, ends = _term_lines(terms, lo, hi, coefficients)
    return min(linear + _line_peaks(terms, lo, hi, slopes, point, loss), ends)


@compiled
def _opposite(numbers: Floats) -> Floats:
    found = np.empty(len(numbers))
    for t in range(len(found)):
        found[t] = -numbers[t]
    return found


@compiled
def coarse_bound_copies(
    terms: Terms,
    shared: int,
    box: Floats,
    here: Floats,
    there: Floats,
    point: Floats,
    loss: Floats,
) -> float:
    """The same for two copies: `box` has the rows lo, hi of x and lo, hi of x', the first `shared` axes alike.

    Of the point, x comes first, then the paired axes of x'; the costs of both go to u (`copies`).
    """
    slopes, linear, ends = _term_lines(terms, box[0], box[1], here)
    slopes2, linear2, ends2 = _term_lines(terms, box[2], box[3], _opposite(there))
    both = slopes.copy()
    for t in range(len(both)):
        both[t] += slopes2[t]
    upper = linear + linear2
    upper += _line_peaks(terms, box[0, :shared], box[1, :shared], both, point, loss)
    for k in range(shared, box.shape[1]):
        j = k - shared
        peak, point[k], cost = _numeric_peak(terms, k, box[0, k], box[1, k], slopes)
        peak2, point[box.shape[1] + j], cost2 = _numeric_peak(terms, k, box[2, k], box[3, k], slopes2)
        upper += peak + peak2
        fill(loss[shared + 3 * j : shared + 3 * j + 3], 0.0)
        loss[shared + 3 * j] = cost + cost2
    return min(upper, ends + ends2)
