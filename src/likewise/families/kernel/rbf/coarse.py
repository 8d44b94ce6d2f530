"""The bound of the rule `chords` (spec/certificate-v1.md, section 25), for large cells: each term between a chord and a tangent of exp, as a function of its squared distance.

exp(-Q) is convex in Q = gamma times the squared distance, which lies in [Q_lo, Q_hi] over the cell. So

    c > 0:   c exp(-Q) <= c (chord through the two ends)          c < 0:   c exp(-Q) <= c (any tangent), or c exp(-Q_hi);

the tangent taken is about the one parallel to the chord, where the range of Q is at most a hint, the `width` of the leaf. All are linear in Q, hence their sum is a parabola a numeric axis
and a table an axis of levels, and is maximised axis by axis. Factoring out the common Gaussian (`local_terms`) is far better in small cells and worse in the whole space,
where its exponentials exp(L) are large. What an axis costs is taken to be the change of the lines along it.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill, total
from likewise.families.kernel.rbf.local_terms import code_at, embedded_interval
from likewise.families.kernel.rbf.terms import (
    NO_GROUND,
    ONE_HOT,
    TABLE,
    Floats,
    Ints,
    Terms,
    allowed_groups,
    ground_rise,
    group_at,
    slot_of,
)

WIDEST_TANGENT = 16  # the hint that is tried first: beyond, a tangent is worth no more than a constant
CHORD_ROOM = 2.0**-36  # of section 25's 2^-40, with what float64 sums may lose
WIDTH_ROOM = 2.0**-56  # of its 2^-60
POLYGON_SLACK = (
    1e-12  # of the size of codes, by which points may lie outside of a polygon that they are on the edge of
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
        elif terms.kind[k] == TABLE:
            for t in range(len(least)):
                near, far = math.inf, 0.0
                for position in range(int(lo[k]), int(hi[k]) + 1):
                    away = abs(terms.table[k, position] - terms.centre[k, t])
                    near, far = min(near, away), max(far, away)
                least[t] += terms.gamma * near * near
                most[t] += terms.gamma * far * far
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
def _parabola(terms: Terms, k: int, middle: float, slopes: Floats) -> tuple[float, float, float]:
    """sum_t slope_t gamma (z - centre_t)^2 = level + tilt y + bend y^2 with y = z - middle."""
    bend, tilt, level = 0.0, 0.0, 0.0
    for t in range(len(slopes)):
        away = middle - terms.centre[k, t]
        bend += slopes[t]
        tilt += 2.0 * slopes[t] * away
        level += slopes[t] * away * away
    return terms.gamma * level, terms.gamma * tilt, terms.gamma * bend


@compiled
def _peak(tilt: float, bend: float, low: float, high: float) -> tuple[float, float]:
    """The largest tilt y + bend y^2 from low to high, and where."""
    at = high if high * (tilt + high * bend) >= low * (tilt + low * bend) else low
    if bend < 0.0:
        at = min(max(-0.5 * tilt / bend, low), high)
    return at * (tilt + at * bend), at


@compiled
def _numeric_peak(terms: Terms, k: int, lo: float, hi: float, slopes: Floats) -> tuple[float, float, float]:
    """Max over the interval of sum_t slope_t gamma (z - centre_t)^2, where, and the cost."""
    middle, width = embedded_interval(terms, k, lo, hi)
    level, tilt, bend = _parabola(terms, k, middle, slopes)
    cost = 0.0
    for t in range(len(slopes)):
        cost += abs(slopes[t]) * width * (abs(middle - terms.centre[k, t]) + width)
    if terms.kind[k] == TABLE:
        best, code = -math.inf, lo
        for position in range(int(lo), int(hi) + 1):
            y = terms.table[k, position] - middle
            if y * (tilt + y * bend) > best:
                best, code = y * (tilt + y * bend), float(position)
        return level + best, code, terms.gamma * cost
    best, at = _peak(tilt, bend, -width, width)
    code = code_at(terms, k, lo, hi, middle + at) if width > 0.0 else lo
    return level + best, code, terms.gamma * cost


@compiled
def peak_apart(first: Floats, second: Floats, ends: Floats) -> tuple[float, float, float]:
    """The largest u(y) + v(y') and where, u and v parabolas (level, tilt, bend), over a polygon: ends of y, of y' and of y' - y, and how large the numbers were that these were made of."""
    lo, hi, low, high, p, q = ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]
    best, at, other = -math.inf, lo, low
    _, x = _peak(first[1], first[2], lo, hi)
    _, z = _peak(second[1], second[2], low, high)
    # Both as large as they can be, if they go together; else on an edge.
    tried = np.empty((7, 2))
    tried[0, 0], tried[0, 1] = x, z
    for n in range(2):
        x = ends[n]
        start, end = max(low, x + p), min(high, x + q)
        tried[1 + n, 0], tried[1 + n, 1] = x, _peak(second[1], second[2], start, max(start, end))[1]
        z = ends[2 + n]
        start, end = max(lo, z - q), min(hi, z - p)
        tried[3 + n, 0], tried[3 + n, 1] = _peak(first[1], first[2], start, max(start, end))[1], z
        d = ends[4 + n]
        start, end = max(lo, low - d), min(hi, high - d)
        tilt = first[1] + second[1] + 2.0 * second[2] * d
        x = _peak(tilt, first[2] + second[2], start, max(start, end))[1]
        tried[5 + n, 0], tried[5 + n, 1] = x, x + d
    slack = POLYGON_SLACK * (ends[6] + abs(lo) + abs(hi) + abs(low) + abs(high) + abs(p) + abs(q))
    for n in range(7):
        x, z = tried[n, 0], tried[n, 1]
        if (
            p - slack <= z - x <= q + slack
            and lo - slack <= x <= hi + slack
            and low - slack <= z <= high + slack
        ):
            value = x * (first[1] + x * first[2]) + z * (second[1] + z * second[2])
            if value > best:
                best, at, other = value, x, z
    if best == -math.inf:  # rounding left no point of a polygon that is hardly more than one
        at, other = tried[0, 0], tried[0, 1]
        best = at * (first[1] + at * first[2]) + other * (second[1] + other * second[2])
    return best + first[0] + second[0], at, other


@compiled
def _term_lines(
    terms: Terms, least: Floats, most: Floats, coefficients: Floats, widest: float
) -> tuple[Floats, float, float]:
    """For each term the slope of its line in Q; the sum of the lines where no axis adds anything; and of the best ends."""
    slopes = np.empty(len(coefficients))
    linear, ends = 0.0, 0.0
    for t in range(len(slopes)):
        c, apart = coefficients[t], most[t] - least[t]
        if c > 0.0:
            slope, touch = _chord_slope(least[t], most[t]), least[t]
        elif apart <= widest:
            touch = least[t] + 6.0 * apart / (12.0 + apart)
            slope = -math.exp(-touch)
        else:
            slope, touch = 0.0, most[t]
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
def _chord_room(least: Floats, most: Floats, coefficients: Floats) -> float:
    """What the widths of terms take of section 25's room."""
    wide = 0.0
    for t in range(len(coefficients)):
        if coefficients[t] > 0.0:
            wide += most[t] - least[t]
    return WIDTH_ROOM * wide


@compiled
def coarse_bound(
    terms: Terms, lo: Floats, hi: Floats, coefficients: Floats, point: Floats, loss: Floats
) -> tuple[float, float, int]:
    """Upper bound of F over the cell, the room that a leaf has to leave, and the width that it is for; `point` becomes the maximiser of the lines, `loss` the costs of the axes."""
    least, most = _distance_ranges(terms, lo, hi)
    size = 1.0
    for t in range(len(coefficients)):
        size += abs(coefficients[t])
    room = _chord_room(least, most, coefficients)
    slopes, linear, ends = _term_lines(terms, least, most, coefficients, WIDEST_TANGENT)
    upper = linear + _line_peaks(terms, lo, hi, slopes, point, loss)
    if ends < upper:
        slopes, linear, ends = _term_lines(terms, least, most, coefficients, -1.0)
        unused = np.empty((2, len(lo)))
        level = linear + _line_peaks(terms, lo, hi, slopes, unused[0], unused[1])
        if level < upper:
            return level, room + CHORD_ROOM * size, 0
    return upper, room + CHORD_ROOM * size * (1 + WIDEST_TANGENT), WIDEST_TANGENT


@compiled
def _opposite(numbers: Floats) -> Floats:
    found = np.empty(len(numbers))
    for t in range(len(found)):
        found[t] = -numbers[t]
    return found


@compiled
def _copies_at(
    terms: Terms,
    shared: int,
    box: Floats,
    apart: Floats,
    here: Floats,
    there: Floats,
    ranges: Floats,
    widest: float,
    point: Floats,
    loss: Floats,
) -> tuple[float, float]:
    """The bound of two copies at one width, and that of the best ends; `ranges` has Q_lo and Q_hi of x and of x'."""
    slopes, linear, ends = _term_lines(terms, ranges[0], ranges[1], here, widest)
    slopes2, linear2, ends2 = _term_lines(terms, ranges[2], ranges[3], there, widest)
    both = slopes.copy()
    for t in range(len(both)):
        both[t] += slopes2[t]
    upper = linear + linear2
    upper += _line_peaks(terms, box[0, :shared], box[1, :shared], both, point, loss)
    parabolas, limits = np.empty((2, 3)), np.empty(7)
    for k in range(shared, box.shape[1]):
        j, scale = k - shared, terms.scale[k]
        middle, _ = embedded_interval(terms, k, box[0, k], box[1, k])
        parabolas[0, 0], parabolas[0, 1], parabolas[0, 2] = _parabola(terms, k, middle, slopes)
        parabolas[1, 0], parabolas[1, 1], parabolas[1, 2] = _parabola(terms, k, middle, slopes2)
        for n in range(4):
            limits[n] = scale * box[n, k] - middle
        limits[4], limits[5] = scale * apart[j, 0], scale * apart[j, 1]
        limits[6] = abs(middle)
        peak, at, other = peak_apart(parabolas[0], parabolas[1], limits)
        upper += peak
        point[k], point[box.shape[1] + j] = box[0, k], box[2, k]
        if scale > 0.0:
            point[k] = code_at(terms, k, box[0, k], box[1, k], middle + at)
            point[box.shape[1] + j] = code_at(terms, k, box[2, k], box[3, k], middle + other)
        _, _, cost = _numeric_peak(terms, k, box[0, k], box[1, k], slopes)
        _, _, cost2 = _numeric_peak(terms, k, box[2, k], box[3, k], slopes2)
        fill(loss[shared + 3 * j : shared + 3 * j + 3], 0.0)
        loss[shared + 3 * j] = cost + cost2
    return upper, ends + ends2


@compiled
def coarse_bound_copies(
    terms: Terms,
    shared: int,
    box: Floats,
    apart: Floats,
    here: Floats,
    there: Floats,
    size: float,
    point: Floats,
    loss: Floats,
) -> tuple[float, float, int]:
    """The same for two copies: `box` has the rows lo, hi of x and lo, hi of x', the first `shared` axes alike, `apart` the ends of x' - x of the others; `size` is the sum of all coefficients.

    Of the point, x comes first, then the paired axes of x'; the costs of both go to u (`copies`).
    """
    minus = _opposite(there)
    ranges = np.empty((4, len(here)))
    for side in range(2):
        least, most = _distance_ranges(terms, box[2 * side], box[2 * side + 1])
        copy_to(ranges[2 * side], least)
        copy_to(ranges[2 * side + 1], most)
    room = _chord_room(ranges[0], ranges[1], here) + _chord_room(ranges[2], ranges[3], minus)
    upper, ends = _copies_at(terms, shared, box, apart, here, minus, ranges, WIDEST_TANGENT, point, loss)
    if ends < upper:
        unused, costs = np.empty(len(point)), np.empty(len(loss))
        level, _ = _copies_at(terms, shared, box, apart, here, minus, ranges, -1.0, unused, costs)
        if level < upper:
            return level, room + CHORD_ROOM * (1.0 + size), 0
    return upper, room + CHORD_ROOM * (1.0 + size) * (1 + WIDEST_TANGENT), WIDEST_TANGENT
