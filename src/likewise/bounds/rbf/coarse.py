"""A bound for large cells: each term between a chord and a tangent of exp, as a function of its squared distance.

exp(-Q) is convex in Q = gamma times the squared distance, which lies in [Q_lo, Q_hi] over the cell. So

    c > 0:   c exp(-Q) <= c (chord through the two ends)          c < 0:   c exp(-Q) <= c (any tangent);

the tangent taken is the one parallel to the chord. Both are linear in Q, hence their sum is a parabola a numeric axis
and a table a one-hot axis, and is maximised axis by axis. Where that is worse than the best end of each term, the
ends are taken. Factoring out the common Gaussian (`local`) is far better in small cells and worse in the whole space,
where its exponentials exp(L) are large. What an axis costs is taken to be the change of the lines along it. No rule of the certificate uses this bound: it orders cells and bounds what
is left open.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from likewise.bounds.rbf.local import code_at, counting, interval
from likewise.bounds.rbf.terms import ONE_HOT, Floats, Ints, Terms


@njit(cache=True)
def _distances(terms: Terms, lo: Floats, hi: Floats, live: Ints) -> tuple[Floats, Floats]:
    """Q_lo and Q_hi of each term."""
    least, most = np.empty(len(live)), np.empty(len(live))
    for n in range(len(live)):
        least[n] = most[n] = terms.gamma * terms.rest[live[n]]
    for k in range(len(lo)):
        if terms.kind[k] == ONE_HOT:
            for n in range(len(live)):
                inside = lo[k] <= terms.place[k, live[n]] <= hi[k]
                least[n] += 0.0 if inside else terms.zeta[k]
                most[n] += 0.0 if inside and lo[k] == hi[k] else terms.zeta[k]
        else:
            middle, width = interval(terms, k, lo[k], hi[k])
            for n in range(len(live)):
                away = abs(middle - terms.centre[k, live[n]])
                near, far = max(0.0, away - width), away + width
                least[n] += terms.gamma * near * near
                most[n] += terms.gamma * far * far
    return least, most


@njit(cache=True)
def _slope(least: float, most: float) -> float:
    """Slope of the chord of exp(-Q)."""
    apart = most - least
    return math.exp(-least) * (math.expm1(-apart) / apart if apart > 0.0 else -1.0)


@njit(cache=True)
def _hot_peak(
    terms: Terms, k: int, lo: float, hi: float, live: Ints, slopes: Floats
) -> tuple[float, float, float]:
    """Max over the positions of zeta times the slopes of the terms that are elsewhere, where, and the cost."""
    own, cost = np.zeros(int(hi - lo) + 1), 0.0
    for n in range(len(live)):
        slot = terms.place[k, live[n]] - int(lo)
        if 0 <= slot < len(own):
            own[slot] += slopes[n]
            cost += abs(slopes[n])
    at = own.argmin()
    return terms.zeta[k] * (slopes.sum() - own[at]), lo + at, terms.zeta[k] * cost


@njit(cache=True)
def _numeric_peak(
    terms: Terms, k: int, lo: float, hi: float, live: Ints, slopes: Floats
) -> tuple[float, float, float]:
    """Max over the interval of sum_t slope_t gamma (z - centre_t)^2, where, and the cost."""
    middle, width = interval(terms, k, lo, hi)
    bend, tilt, level, cost = 0.0, 0.0, 0.0, 0.0
    for n in range(len(live)):
        away = middle - terms.centre[k, live[n]]
        bend += slopes[n]
        tilt += 2.0 * slopes[n] * away
        level += slopes[n] * away * away
        cost += abs(slopes[n]) * width * (abs(away) + width)
    at = width if tilt >= 0.0 else -width
    if bend < 0.0 and abs(tilt) < -2.0 * bend * width:
        at = -0.5 * tilt / bend
    code = code_at(terms, k, lo, hi, middle + at) if width > 0.0 else lo
    return terms.gamma * (level + at * (tilt + at * bend)), code, terms.gamma * cost


@njit(cache=True)
def coarse_bound(
    terms: Terms, lo: Floats, hi: Floats, coefficients: Floats, point: Floats, loss: Floats
) -> float:
    """Upper bound of F over the cell; `point` becomes the maximiser of the lines, `loss` the costs of the axes."""
    live = counting(coefficients)
    least, most = _distances(terms, lo, hi, live)
    slopes = np.empty(len(live))
    linear, ends = 0.0, 0.0
    for n in range(len(live)):
        c, slope = coefficients[live[n]], _slope(least[n], most[n])
        touch = least[n]
        if c < 0.0:
            touch = min(max(-math.log(-slope), least[n]), most[n]) if slope < 0.0 else most[n]
            slope = -math.exp(-touch)
        ends += c * math.exp(-(least[n] if c > 0.0 else most[n]))
        slopes[n] = c * slope
        linear += c * (math.exp(-touch) + slope * (terms.gamma * terms.rest[live[n]] - touch))
    for k in range(len(lo)):
        if terms.kind[k] == ONE_HOT:
            peak, point[k], loss[k] = _hot_peak(terms, k, lo[k], hi[k], live, slopes)
        else:
            peak, point[k], loss[k] = _numeric_peak(terms, k, lo[k], hi[k], live, slopes)
        linear += peak
        if hi[k] == lo[k]:
            loss[k] = 0.0
    return min(linear, ends)
