"""Ascent: pairs of individuals that get better one feature at a time, in compiled loops, thousands of them in the time of a few matrix products.

A pair keeps the sums of its first layer, for x and for x'. A feature that both share moves in both, one that may differ in one of them, and one within a tolerance in either or in both; what it adds to the sums is
exchanged, and only the layers after that are computed again. Every level of a feature is tried, of a number its ends and steps to either side that become shorter. All of it is float64, and proposes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.families.network.activation import Activation
    from likewise.families.network.score import NetworkScore
    from likewise.model.goal import Goal
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

KINDS = ("relu", "leaky_relu", "clip", "tanh", "logistic", "elu")
WORTHS = ("decision", "gap", "probability")
MOVES = ("same", "free", "within")
ROUNDS = 8  # passes over all features; a pair ends sooner where nothing gets better
STEPS = 8  # lengths of steps of a number
SHORTER = 0.5
SHORTEST, LONGEST = 0.25, 0.75  # of a range: twice the first step
ORDERS = 32  # of features: pairs take turns
BETTER = 1e-12  # less is no progress but rounding
MOST_VALUES = 256  # of a feature that are all tried


class Loops(NamedTuple):
    """A network and the ranges of its features, as arrays that compiled loops read; layers are padded to the widest one."""

    widths: NDArray[np.int64]
    weights: Floats  # [l, i, q], of layer 0 unused
    biases: Floats
    kinds: NDArray[np.int64]  # of activations, by layer
    parameters: Floats
    base: Floats
    rows: Floats  # what features add to the first sums: a row a level, or one of slopes
    row: NDArray[np.int64]  # of each feature, its first row; -1 where it adds nothing
    levels: NDArray[np.bool_]  # whether it has a row a level
    whole: NDArray[np.bool_]
    move: NDArray[np.int64]  # by MOVES; -1 where a feature stays as it is
    least: Floats  # from where
    most: Floats  # to where x' - x may be
    lo: Floats
    hi: Floats


class Leads(NamedTuple):
    """The forms whose least value at x counts, those at x', with what is added to them, and what is made of the two (by WORTHS)."""

    first: Floats
    start: Floats
    second: Floats
    end: Floats
    worth: int


class Room(NamedTuple):
    """Where sums, outputs and codes to try are put."""

    sums: Floats
    other: Floats
    here: Floats
    there: Floats
    codes: Floats


class NetworkClimber:
    """Improves pairs of a network's individuals."""

    def __init__(self, parts: Sequence[NetworkScore], pairs: PairSpace) -> None:
        self.last = np.stack([part.last_row[0] for part in parts])
        self.biases = np.array([part.last_row[1] for part in parts])
        self.loops = _loops(parts[0], pairs)

    def __call__(self, goal: Goal, x: Floats, other: Floats, seed: int) -> tuple[Floats, Floats]:
        """Pairs at least as good as these, in place of them."""
        width = self.loops.weights.shape[1]
        sides = []
        for factors in (goal.first, goal.second):
            forms = np.zeros((len(factors), width))
            forms[:, : self.last.shape[1]] = factors @ self.last
            sides.append((forms, factors @ self.biases + goal.offset))
        (first, start), (second, end) = sides
        if goal.worth == "probability":
            end = end - 2 * goal.offset  # v is that of -(slope s' + offset)
        leads = Leads(first=first, start=start, second=second, end=end, worth=WORTHS.index(goal.worth))
        random = np.random.default_rng(seed)
        features = x.shape[1]
        orders = np.stack([random.permutation(features) for _ in range(ORDERS)])
        lengths = random.uniform(SHORTEST, LONGEST, (ORDERS, features))
        x, other = np.array(x, dtype=np.float64), np.array(other, dtype=np.float64)
        climb(self.loops, leads, x, other, orders, lengths)
        return x, other


def _loops(score: NetworkScore, pairs: PairSpace) -> Loops:
    hidden, first = score.body.hidden, score.first
    widths = np.array([layer.weights.shape[0] for layer in hidden])
    widest = int(widths.max())
    weights, biases = np.zeros((len(hidden), widest, widest)), np.zeros((len(hidden), widest))
    for n, layer in enumerate(hidden):
        biases[n, : widths[n]] = layer.biases.floats
        if n:
            weights[n, : widths[n], : widths[n - 1]] = layer.weights.floats
    used = [part.floats for part in first.parts if part is not None]
    starts, place = [], 0
    for part in first.parts:
        starts.append(-1 if part is None else place)
        place += 0 if part is None else len(part.floats)
    ranges = [pairs.variables[v] for v in pairs.first]
    return Loops(
        widths=widths,
        weights=weights,
        biases=biases,
        kinds=np.array([KINDS.index(layer.activation.kind) for layer in hidden]),
        parameters=np.array([_parameters(layer.activation) for layer in hidden]),
        base=first.base.floats[0].copy(),
        rows=np.concatenate(used) if used else np.zeros((1, int(widths[0]))),
        row=np.array(starts),
        levels=np.array([part is not None and part.is_table for part in first.parts]),
        whole=np.array([variable.discrete for variable in ranges]),
        move=np.array([MOVES.index(r.kind) if r.kind in MOVES else -1 for r in pairs.relations]),
        least=np.array([relation.reach[0] for relation in pairs.relations]),
        most=np.array([relation.reach[1] for relation in pairs.relations]),
        lo=np.array([float(variable.lo) for variable in ranges]),
        hi=np.array([float(variable.last) for variable in ranges]),
    )


def _parameters(activation: Activation) -> list[float]:
    return [*map(nearest_double, activation.parameters), 0.0, 0.0][:2]


@compiled
def bent(kind: int, one: float, two: float, y: float) -> float:
    """What an activation makes of y."""
    if kind == 0:
        return max(y, 0.0)
    if kind == 1:
        return y if y > 0 else one * y
    if kind == 2:
        return min(max(y, one), two)
    if kind == 3:
        return math.tanh(y)
    if kind == 4:
        return 0.5 + 0.5 * math.tanh(0.5 * y)
    return y if y > 0 else one * math.expm1(y)


@compiled
def least(net: Loops, sums: Floats, forms: Floats, offsets: Floats, here: Floats, there: Floats) -> float:
    """The least of forms . outputs + offsets, from the sums of the first layer; `here` and `there` are room for outputs."""
    for i in range(net.widths[0]):
        here[i] = bent(net.kinds[0], net.parameters[0, 0], net.parameters[0, 1], sums[i])
    for n in range(1, len(net.widths)):
        for i in range(net.widths[n]):
            total = net.biases[n, i]
            for q in range(net.widths[n - 1]):
                total += net.weights[n, i, q] * here[q]
            there[i] = bent(net.kinds[n], net.parameters[n, 0], net.parameters[n, 1], total)
        for i in range(net.widths[n]):
            here[i] = there[i]
    found = np.inf
    for r in range(len(forms)):
        total = offsets[r]
        for i in range(net.widths[-1]):
            total += forms[r, i] * here[i]
        found = min(found, total)
    return found


@compiled
def worth_of(worth: int, u: float, v: float) -> float:
    """What a pair with these leads is worth."""
    if worth == 0:
        return min(u, v)
    if worth == 1:
        return u + v
    return 0.5 * (math.tanh(0.5 * u) + math.tanh(0.5 * v))


@compiled
def add(net: Loops, sums: Floats, k: int, old: float, new: float) -> None:
    """Exchange what a code of feature k adds to sums."""
    row = net.row[k]
    if row < 0:
        return
    for i in range(net.widths[0]):
        if net.levels[k]:
            sums[i] += net.rows[row + int(new), i] - net.rows[row + int(old), i]
        else:
            sums[i] += net.rows[row, i] * (new - old)


@compiled
def first_of(net: Loops, codes: Floats, sums: Floats) -> None:
    """The sums of the first layer."""
    for i in range(net.widths[0]):
        sums[i] = net.base[i]
    for k in range(len(codes)):
        row = net.row[k]
        if row >= 0:
            for i in range(net.widths[0]):
                sums[i] += net.rows[row + int(codes[k]), i] if net.levels[k] else net.rows[row, i] * codes[k]


@compiled
def values_of(net: Loops, k: int, now: float, low: float, high: float, length: float, found: Floats) -> int:
    """Codes to try for a feature between two limits, and how many they are."""
    count = 0
    if net.whole[k] and high - low < MOST_VALUES:
        while low + count <= high:
            found[count] = low + count
            count += 1
        return count
    found[0], found[1], count = low, high, 2
    step = (high - low) * length
    for _ in range(STEPS):
        step *= SHORTER
        for way in (-1.0, 1.0):
            value = now + way * step
            if net.whole[k]:
                value = np.round(value)
            if low < value < high:
                found[count] = value
                count += 1
    return count


@compiled
def limits_of(net: Loops, k: int, side: int, x: float, other: float) -> tuple[float, float]:
    """Between which codes a feature may go, if x moves (side 0), x' (1) or both alike (2)."""
    low, high = net.lo[k], net.hi[k]
    if side == 2:
        low, high = low + max(x - other, 0.0), high - max(other - x, 0.0)
    elif net.move[k] == 2:
        if side == 1:
            low, high = max(low, x + net.least[k]), min(high, x + net.most[k])
        else:
            low, high = max(low, other - net.most[k]), min(high, other - net.least[k])
    if net.whole[k]:
        low, high = np.ceil(low), np.floor(high)
    return low, high


@compiled
def beside_it(move: int, other: float, value: float, now: float) -> float:
    """Where x' goes if x, or x' itself, goes from `now` to a value: what is shared stays the same double."""
    return value if move != 2 else other + (value - now)


@compiled
def moved(
    net: Loops,
    leads: Leads,
    room: Room,
    k: int,
    side: int,
    length: float,
    x: Floats,
    other: Floats,
    sums: Floats,
    other_sums: Floats,
    u: float,
    v: float,
) -> tuple[float, float]:
    """Put feature k where it is best, of x, of x' or of both, and return the leads there."""
    now = other[k] if side == 1 else x[k]
    low, high = limits_of(net, k, side, x[k], other[k])
    top, best, best_u, best_v = worth_of(leads.worth, u, v) + BETTER, now, u, v
    for i in range(values_of(net, k, now, low, high, length, room.codes)):
        value, to_u, to_v = room.codes[i], u, v
        if value == now:
            continue
        if side != 1:
            copy_to(room.sums, sums)
            add(net, room.sums, k, x[k], value)
            to_u = least(net, room.sums, leads.first, leads.start, room.here, room.there)
        if side != 0:
            copy_to(room.other, other_sums)
            add(net, room.other, k, other[k], beside_it(net.move[k], other[k], value, now))
            to_v = least(net, room.other, leads.second, leads.end, room.here, room.there)
        reached = worth_of(leads.worth, to_u, to_v)
        if reached > top:
            top, best, best_u, best_v = reached + BETTER, value, to_u, to_v
    if best != now:
        beside = beside_it(net.move[k], other[k], best, now)
        if side != 1:
            add(net, sums, k, x[k], best)
            x[k] = best
        if side != 0:
            add(net, other_sums, k, other[k], beside)
            other[k] = beside
    return best_u, best_v


@compiled
def climb(
    net: Loops, leads: Leads, xs: Floats, others: Floats, orders: NDArray[np.int64], lengths: Floats
) -> None:
    """Improve every pair in place, features in one of these orders, a number by steps of one of these lengths."""
    widest = net.weights.shape[1]
    sums, other_sums = np.zeros(widest), np.zeros(widest)
    room = Room(
        np.zeros(widest),
        np.zeros(widest),
        np.zeros(widest),
        np.zeros(widest),
        np.zeros(MOST_VALUES + 2 * STEPS + 2),
    )
    for p in range(len(xs)):
        x, other = xs[p], others[p]
        first_of(net, x, sums)
        first_of(net, other, other_sums)
        u = least(net, sums, leads.first, leads.start, room.here, room.there)
        v = least(net, other_sums, leads.second, leads.end, room.here, room.there)
        for n in range(ROUNDS):
            turn, before = (p + n) % len(orders), worth_of(leads.worth, u, v)
            for k in orders[turn]:
                if net.row[k] < 0 or net.move[k] < 0:
                    continue
                for side in range(3):
                    if net.move[k] == 2 or (side == 2) == (net.move[k] == 0):
                        u, v = moved(
                            net, leads, room, k, side, lengths[turn, k], x, other, sums, other_sums, u, v
                        )
            if worth_of(leads.worth, u, v) <= before:
                break
