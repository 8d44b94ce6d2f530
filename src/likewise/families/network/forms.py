"""Linear forms of a network over boxes of individuals (`families/forms`), in float64 with a proved limit of their rounding.

Over a box and for a setting v the sum y of a neuron lies between limits, and with any slope s

    act(y) = s y + e,    min over the limits of act(y) - s y  <=  e  <=  max of the same:

the function is piecewise linear, so both are at a limit or at a break. With one slope a neuron for all settings, a score is followed back through the layers: its coefficients A of a layer's outputs
become A s of that layer's sums, and W^T (A s) of the outputs of the layer below, the same for all settings; what is left, A e and biases, is added up a setting. At the first layer the coefficients D of
y_0 = base + contributions make one term a feature, m(z) = sum_k D . v_k(z_k), and a constant a setting. The limits of a later layer's sums are had in the same way, and by intervals.

Slopes are means over the settings of those of the chords, a neuron's width in a setting being its weight.

Rounding, with u = 2^-53: coefficients are doubles and taken exactly; what a product A s, a sum of n products, or a stored weight is off by is multiplied with the largest size of what it is a coefficient of, and
widens the limits. So do 1.01 n u times the sizes of n terms that are added up. Underflows are covered as in `judge`, whose conditions hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.compiled import compiled
from likewise.families.forms import Forms
from likewise.families.network.judge import is_plain
from likewise.families.network.pair_network import pair_network
from likewise.families.network.polygons import activate, bend_of, image
from likewise.families.score_judge import UNDERFLOW_LOSS, WIDEST_COLUMN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.families.network.score import NetworkScore
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

U = 2.0**-53
MORE = 8  # roundings of a sum besides one a term: of stored numbers, products and limits
BENDS = 16.0  # roundings of an activation's value, with room


class NetworkForms:
    """Forms of one score whose activations are piecewise linear; `moving` are the features that settings set."""

    def __init__(self, score: NetworkScore, pairs: PairSpace, moving: Sequence[int]) -> None:
        self.net = pair_network(score, score, pairs)
        parts = score.first.parts
        self.features = np.array([k for k, part in enumerate(parts) if part is not None], dtype=np.int64)
        self.columns = np.array(
            [moving.index(k) if k in moving else -1 for k in self.features.tolist()], dtype=np.int64
        )
        self.levels = np.array([part is not None and part.is_table for part in parts], dtype=bool)
        self.places = np.full(len(parts), -1, dtype=np.int64)
        shared = self.columns < 0
        self.places[self.features[shared]] = self.net.row[shared]
        last = np.append(self.net.last, self.net.bias)
        self.known = is_plain(score) and bool(np.abs(last).max() <= WIDEST_COLUMN)

    def forms(self, lo: Floats, hi: Floats, least: Floats, most: Floats) -> Forms:
        boxes, features, settings = len(lo), lo.shape[1], len(least)
        terms, worth = np.zeros((boxes, len(self.net.rows))), np.zeros((boxes, features))
        low, high = np.full((boxes, settings), -np.inf), np.full((boxes, settings), np.inf)
        if self.known:
            _bound_forms(self.net, self.features, self.columns, lo, hi, least, most, terms, low, high, worth)
        sure = np.isfinite(low) & np.isfinite(high) & np.isfinite(terms).all(axis=1, keepdims=True)
        return Forms(
            terms=np.where(np.isfinite(terms), terms, 0.0),
            low=np.where(sure, low, -np.inf),
            high=np.where(sure, high, np.inf),
            worth=np.where(np.isfinite(worth), worth, 0.0),
        )


@compiled
def _bound_forms(net, features, columns, lo, hi, least, most, terms, low, high, worth):  # type: ignore[no-untyped-def]
    neurons, settings, layers = net.starts[-1] + net.widths[-1], len(least), len(net.widths)
    limits = np.empty((2, settings, neurons + 1))  # of sums; the last column is the score's
    rests = np.empty((2, settings, neurons))  # of activations beside their slopes
    slopes, sizes, outputs = np.empty(neurons), np.empty(neurons), np.empty(neurons)
    reach = np.empty((neurons + 1, len(features)))  # how far each feature moves a sum, by its form
    constants = np.empty((3, settings, net.widths[0]))  # of the first sums: limits and sizes
    for i in range(len(lo)):
        _first_sums(net, features, columns, lo[i], hi[i], least, most, limits, reach, constants)
        for layer in range(layers):
            if layer > 0:
                for n in range(net.widths[layer]):
                    place = net.starts[layer] + n
                    _follow_back(
                        net, layer, net.weights[layer, n], net.biases[layer, n], place, features, columns, lo[i], hi[i],
                        limits, rests, slopes, sizes, outputs, reach, constants, terms[i], worth[i],
                    )  # fmt: skip
                    _meet_intervals(net, layer, n, limits, outputs)
            _choose_slopes(net, layer, limits, rests, slopes, sizes, outputs)
        _follow_back(
            net, layers, net.last, net.bias, neurons, features, columns, lo[i], hi[i],
            limits, rests, slopes, sizes, outputs, reach, constants, terms[i], worth[i],
        )  # fmt: skip
        if sizes.max() <= WIDEST_COLUMN:
            low[i], high[i] = limits[0, :, neurons], limits[1, :, neurons]


@compiled
def _reach(net, f, j, low, high):  # type: ignore[no-untyped-def]
    """The smallest and the largest contribution of a feature to one neuron of the first layer."""
    row = net.row[f]
    if not net.levels[f]:
        one, two = net.rows[row, j] * low, net.rows[row, j] * high
        return min(one, two), max(one, two)
    smallest = largest = net.rows[row + int(low), j]
    for r in range(row + int(low) + 1, row + int(high) + 1):
        smallest, largest = min(smallest, net.rows[r, j]), max(largest, net.rows[r, j])
    return smallest, largest


@compiled
def _first_sums(net, features, columns, lo, hi, least, most, limits, reach, constants):  # type: ignore[no-untyped-def]
    """Limits of the first layer's sums, and of what settings and the base add to them."""
    count = 1.01 * (len(features) + MORE) * U
    for j in range(net.widths[0]):
        down = up = size = 0.0
        for f in range(len(features)):
            reach[j, f] = 0.0
            if columns[f] < 0:
                one, two = _reach(net, f, j, lo[features[f]], hi[features[f]])
                down, up, size = down + one, up + two, size + max(abs(one), abs(two))
                reach[j, f] = two - one
        for v in range(len(least)):
            low = high = net.base[j]
            more = abs(net.base[j])
            for f in range(len(features)):
                if columns[f] >= 0:
                    one, two = _reach(net, f, j, least[v, columns[f]], most[v, columns[f]])
                    low, high, more = low + one, high + two, more + max(abs(one), abs(two))
            room = count * more + UNDERFLOW_LOSS
            constants[0, v, j], constants[1, v, j], constants[2, v, j] = low - room, high + room, more
            off = count * (size + more) + UNDERFLOW_LOSS
            limits[0, v, j], limits[1, v, j] = down + low - off, up + high + off


@compiled
def _choose_slopes(net, layer, limits, rests, slopes, sizes, outputs):  # type: ignore[no-untyped-def]
    """One slope a neuron, and what its activation is off by in each setting; the largest sizes of sums and outputs."""
    bend, settings = bend_of(net, layer), limits.shape[1]
    steep = max(abs(bend[2]), abs(bend[3]), abs(bend[4]), 1.0)
    corner = abs(bend[0]) + abs(bend[5]) + (abs(bend[1]) if bend[1] < np.inf else 0.0)
    for n in range(net.widths[layer]):
        k = net.starts[layer] + n
        rise = run = 0.0
        for v in range(settings):
            rise += activate(bend, limits[1, v, k]) - activate(bend, limits[0, v, k])
            run += limits[1, v, k] - limits[0, v, k]
        slope = rise / run if run > 0.0 else 0.0
        slopes[k], sizes[k], outputs[k] = slope, 0.0, 0.0
        for v in range(settings):
            low, high = limits[0, v, k], limits[1, v, k]
            one, two = activate(bend, low) - slope * low, activate(bend, high) - slope * high
            smallest, largest = min(one, two), max(one, two)
            for t in bend[:2]:
                if low < t < high:
                    at = activate(bend, t) - slope * t
                    smallest, largest = min(smallest, at), max(largest, at)
            size = max(abs(low), abs(high))
            off = BENDS * U * (steep + abs(slope)) * (corner + size) + UNDERFLOW_LOSS
            rests[0, v, k], rests[1, v, k] = smallest - off, largest + off
            bottom, top = image(bend, low, high)
            sizes[k] = max(sizes[k], size)
            outputs[k] = max(outputs[k], abs(bottom) + off, abs(top) + off)


@compiled
def _follow_back(  # type: ignore[no-untyped-def]
    net, layer, weights, bias, place, features, columns, lo, hi,
    limits, rests, slopes, sizes, outputs, reach, constants, terms, worth,
):  # fmt: skip
    """weights . outputs of the layer below + bias as a form: limits of the whole sum, or for the score (`place` after all neurons) of all but its form, which is left in `terms`."""
    settings, is_score = limits.shape[1], place == len(slopes)
    sums = np.full((3, settings), bias)  # the lowest, the highest, and the sizes of what was added
    sums[2] = abs(bias)
    off, count = 0.0, MORE + net.widths[0]
    if is_score:
        worth[:] = 0.0
    start, width = net.starts[layer - 1], net.widths[layer - 1]
    for q in range(width):
        off += 2.0 * U * abs(weights[q]) * outputs[start + q]  # a stored weight
    here, carried = weights, weights
    for below in range(layer - 1, -1, -1):
        start, width = net.starts[below], net.widths[below]
        count += 2 * width
        carried = here[:width] * slopes[start : start + width]
        for q in range(width):
            lost = _add_rest(here[q], rests[:, :, start + q], sums)
            off += 2.0 * U * abs(carried[q]) * sizes[start + q]
            if is_score:
                _credit(start + q, lost, features, reach, worth)
        if below > 0:
            here = np.zeros(net.widths[below - 1])
            off += _carry_down(net, below, carried, outputs, here, sums)
    down, up, more = _write_form(net, carried, features, columns, lo, hi, place, reach, terms, is_score)
    off += more
    for v in range(settings):
        for j in range(net.widths[0]):
            one, two = carried[j] * constants[0, v, j], carried[j] * constants[1, v, j]
            sums[0, v] += min(one, two)
            sums[1, v] += max(one, two)
            sums[2, v] += abs(carried[j]) * constants[2, v, j]
        if not is_score:
            sums[0, v] += down
            sums[1, v] += up
            sums[2, v] += max(abs(down), abs(up))
        wide = 1.01 * (off + 1.01 * count * U * sums[2, v]) + UNDERFLOW_LOSS
        limits[0, v, place], limits[1, v, place] = sums[0, v] - wide, sums[1, v] + wide


@compiled
def _add_rest(a, rests, sums):  # type: ignore[no-untyped-def]
    """Add a times what an activation is off by; how wide that is over all settings."""
    lost = 0.0
    for v in range(rests.shape[1]):
        one, two = a * rests[0, v], a * rests[1, v]
        sums[0, v] += min(one, two)
        sums[1, v] += max(one, two)
        sums[2, v] += max(abs(one), abs(two))
        lost += abs(two - one)
    return lost


@compiled
def _carry_down(net, layer, carried, outputs, here, sums):  # type: ignore[no-untyped-def]
    """From coefficients of a layer's sums to those of the outputs of the layer below; biases are added. What the coefficients' rounding amounts to."""
    start, width, off = net.starts[layer - 1], net.widths[layer - 1], 0.0
    room = 1.01 * (len(carried) + MORE) * U
    for q in range(len(carried)):
        d = carried[q]
        shift = d * net.biases[layer, q]
        for v in range(sums.shape[1]):
            sums[0, v] += shift
            sums[1, v] += shift
            sums[2, v] += abs(shift)
        for p in range(width):
            here[p] += d * net.weights[layer, q, p]
            off += room * abs(d) * net.sizes[layer, q, p] * outputs[start + p]
    return off


@compiled
def _credit(k, lost, features, reach, worth):  # type: ignore[no-untyped-def]
    """What a neuron loses is a matter of the features that move its sum."""
    total = 0.0
    for f in range(len(features)):
        total += reach[k, f]
    if total > 0.0:
        for f in range(len(features)):
            worth[features[f]] += lost * reach[k, f] / total


@compiled
def _write_form(net, carried, features, columns, lo, hi, place, reach, terms, is_score):  # type: ignore[no-untyped-def]
    """Limits of carried . contributions of the shared features over a box, and what terms are off by at most."""
    down = up = off = 0.0
    width = net.widths[0]
    room = 1.01 * (width + MORE) * U
    for f in range(len(features)):
        reach[place, f] = 0.0
        if columns[f] >= 0:
            continue
        low, high = lo[features[f]], hi[features[f]]
        smallest, largest, error = np.inf, -np.inf, 0.0
        first, last = (int(low), int(high)) if net.levels[f] else (0, 0)
        for level in range(first, last + 1):
            row = net.row[f] + level
            total = size = 0.0
            for j in range(width):
                product = carried[j] * net.rows[row, j]
                total += product
                size += abs(product)
            if net.levels[f]:
                smallest, largest = min(smallest, total), max(largest, total)
                error = max(error, room * size)
            else:
                one, two = total * low, total * high
                smallest, largest = min(one, two), max(one, two)
                error = room * size * max(abs(low), abs(high))
            if is_score:
                terms[row] = total
        reach[place, f] = largest - smallest
        off += error + len(features) * 2.0 * U * max(abs(smallest), abs(largest))
        down += smallest
        up += largest
    return down, up, off


@compiled
def _meet_intervals(net, layer, n, limits, outputs):  # type: ignore[no-untyped-def]
    """Limits of a sum by those of the layer below alone, where they are closer."""
    k, below, width, bend = (
        net.starts[layer] + n,
        net.starts[layer - 1],
        net.widths[layer - 1],
        bend_of(net, layer - 1),
    )
    size, steep = abs(net.biases[layer, n]), max(abs(bend[2]), abs(bend[3]), abs(bend[4]), 1.0)
    corner = abs(bend[0]) + abs(bend[5]) + (abs(bend[1]) if bend[1] < np.inf else 0.0)
    for q in range(width):
        reached = 0.0
        for v in range(limits.shape[1]):
            reached = max(reached, abs(limits[0, v, below + q]), abs(limits[1, v, below + q]))
        size += net.sizes[layer, n, q] * (outputs[below + q] + BENDS * steep * (corner + reached))
    off = 1.01 * (width + MORE) * U * size + UNDERFLOW_LOSS
    for v in range(limits.shape[1]):
        low = high = net.biases[layer, n]
        for q in range(width):
            bottom, top = image(bend, limits[0, v, below + q], limits[1, v, below + q])
            one, two = net.weights[layer, n, q] * bottom, net.weights[layer, n, q] * top
            low, high = low + min(one, two), high + max(one, two)
        limits[0, v, k] = max(limits[0, v, k], low - off)
        limits[1, v, k] = min(limits[1, v, k], high + off)
