"""Grid masses: how likely a sum of independent numbers lies in an interval, over many boxes, in compiled loops.

A sum has one term a feature, a number a level or a slope times the code, and codes of a box are distributed as atoms with counts, or uniformly. On a grid of step h each term, from its least
value on, is put into the cell [i h, (i + 1) h] that holds it; uniform ones are cut into equal parts no longer than h, which lie in two cells at most. The numbers of cells are
convolved: a sum J of them stands for values from h J to h (J + n), n being how many cells the terms may lie in. `off` covers the rounding of values and of their least ones. h is a power of two, so
that quotients by it are exact. Masses are sums and products of non-negative doubles, off by a rounding an operation, relatively.

The step is a quarter of what the ends of an interval are known to, divided among the terms, as far as `MOST_CELLS` allow: finer grids tell nothing more.
"""

import numpy as np

from likewise.compiled import compiled

U = 2.0**-53
MOST_CELLS, FEWEST_CELLS = 4096, 64
FINENESS = 4.0  # cells of all terms together in what an end is uncertain by


@compiled
def count_masses(  # type: ignore[no-untyped-def]
    places, levels, starts, atoms, counts, lo, hi, open_left, terms, sure, possible, below, above
):
    """For each box and interval, bounds of the probability that the sum lies in it: `below` of those that are `sure`, `above` of those that are `possible`.

    Intervals (boxes, intervals, 2) are open on the left and closed on the right; `places` are -1 for features without a term, and atoms of feature k those from starts[k] to starts[k + 1].
    """
    features = len(places)
    room = MOST_CELLS + 3 * features + 8
    rooms, own = np.zeros((2, room)), np.zeros(room)
    smallest, width = np.zeros(features), np.zeros(features)
    for i in range(len(lo)):
        least, off = _ranges(
            places, levels, starts, atoms, lo[i], hi[i], open_left[i], terms[i], smallest, width
        )
        whole = width.sum()
        doubt = _settle(sure[i], possible[i], least, least + whole, off, below[i], above[i])
        cells = _count_cells(starts, width)
        if doubt < 0.0 or cells == 0:
            continue
        step = max(doubt / (FINENESS * cells), whole / MOST_CELLS)
        step = 2.0 ** np.ceil(np.log2(min(step, whole / FEWEST_CELLS)))
        if not 0.0 < step < np.inf:
            continue
        now, size, operations = _convolve(
            places, levels, starts, atoms, counts, lo[i], hi[i], open_left[i], terms[i], smallest, width, step, rooms, own
        )  # fmt: skip
        error = 1.01 * U * (operations + size)
        _bracket(rooms[now], size, least, step, off, cells, error, sure[i], possible[i], below[i], above[i])


@compiled
def _count_cells(starts, width):  # type: ignore[no-untyped-def]
    """In how many cells the terms may lie."""
    cells = 0
    for k in range(len(width)):
        if width[k] > 0.0:
            cells += 1 if starts[k] < starts[k + 1] else 2
    return cells


@compiled
def _convolve(  # type: ignore[no-untyped-def]
    places, levels, starts, atoms, counts, lo, hi, open_left, terms, smallest, width, step, rooms, own
):
    """Cumulated masses of the sums of cell numbers, in one of the two rooms: in which, how many, and how many roundings a mass has at most."""
    now, size, operations = 0, 1, 8
    rooms[0, 0] = 1.0
    for k in range(len(places)):
        if width[k] <= 0.0:
            continue
        length, more = _on_grid(
            places[k], levels[k], starts[k], starts[k + 1], atoms, counts,
            lo[k], hi[k], open_left[k], terms, smallest[k], width[k], step, own,
        )  # fmt: skip
        operations += more
        masses, longer = rooms[now], rooms[1 - now]
        longer[: size + length] = 0.0
        for place in range(length):
            weight = own[place]
            if weight > 0.0:
                for j in range(size):
                    longer[place + j] += weight * masses[j]
        size += length - 1
        now = 1 - now
    for j in range(1, size):
        rooms[now, j] += rooms[now, j - 1]
    return now, size, operations


@compiled
def _bracket(cumulated, size, least, step, off, cells, error, sure, possible, below, above):  # type: ignore[no-untyped-def]
    """Bounds of the probabilities of intervals that are not settled."""
    for n in range(len(sure)):
        if below[n] == above[n]:
            continue
        if sure[n, 0] < sure[n, 1]:
            one = _up_to(cumulated, size, sure[n, 1], least, step, off, -cells) * (1.0 - error)
            two = _up_to(cumulated, size, sure[n, 0], least, step, off, 0) * (1.0 + error)
            below[n] = max(below[n], one - two - 4.0 * U)
        one = _up_to(cumulated, size, possible[n, 1], least, step, off, 0) * (1.0 + error)
        two = _up_to(cumulated, size, possible[n, 0], least, step, off, -cells) * (1.0 - error)
        above[n] = min(above[n], one - two + 4.0 * U)


@compiled
def _inside(code, low, high, is_open):  # type: ignore[no-untyped-def]
    return code <= high and (code > low if is_open else code >= low)


@compiled
def _value(place, is_level, code, terms):  # type: ignore[no-untyped-def]
    return terms[place + int(code)] if is_level else terms[place] * code


@compiled
def _ranges(places, levels, starts, atoms, lo, hi, open_left, terms, smallest, width):  # type: ignore[no-untyped-def]
    """The least value of each term and how far it reaches; their sum, and what values that are added up are off by at most."""
    least = size = 0.0
    for k in range(len(places)):
        smallest[k], width[k] = 0.0, 0.0
        if places[k] < 0:
            continue
        low, high = np.inf, -np.inf
        if starts[k] == starts[k + 1]:
            one, two = _value(places[k], False, lo[k], terms), _value(places[k], False, hi[k], terms)
            low, high = min(one, two), max(one, two)
        for n in range(starts[k], starts[k + 1]):
            if _inside(atoms[n], lo[k], hi[k], open_left[k]):
                value = _value(places[k], levels[k], atoms[n], terms)
                low, high = min(low, value), max(high, value)
        if low <= high:
            smallest[k], width[k] = low, high - low
            least += low
            size += abs(low) + abs(high)
    return least, 8.0 * (len(places) + 4) * U * size


@compiled
def _settle(sure, possible, least, most, off, below, above):  # type: ignore[no-untyped-def]
    """Intervals that hold the whole range, or nothing of it; of the others, what their ends are uncertain by at least, or -1 where there are none."""
    doubt = np.inf
    for n in range(len(sure)):
        below[n], above[n] = 0.0, 1.0
        room = off + 4.0 * U * (abs(least) + abs(most))
        if possible[n, 0] >= possible[n, 1] or possible[n, 1] < least - room or possible[n, 0] >= most + room:
            above[n] = 0.0
            continue
        if sure[n, 0] < least - room and sure[n, 1] >= most + room:
            below[n] = 1.0
            continue
        if sure[n, 0] < sure[n, 1]:
            ends = max(sure[n, 0] - possible[n, 0], possible[n, 1] - sure[n, 1])
        else:
            ends = possible[n, 1] - possible[n, 0]
        doubt = min(doubt, max(ends, 0.0))
    return doubt if doubt < np.inf else -1.0


@compiled
def _on_grid(  # type: ignore[no-untyped-def]
    place, is_level, start, end, atoms, counts, low, high, is_open, terms, smallest, width, step, own
):
    """The masses of a term's cells, how many cells there are, and how many roundings a mass has at most."""
    length = int(np.floor(width / step)) + 2
    own[:length] = 0.0
    if start == end:
        parts = max(1, int(np.ceil(width / step)))
        for p in range(parts):
            own[int(np.floor(p * (width / parts) / step))] += 1.0 / parts
        return length, parts + length + 8
    total = used = 0
    for n in range(start, end):
        if _inside(atoms[n], low, high, is_open):
            total += counts[n]
            used += 1
    for n in range(start, end):
        if _inside(atoms[n], low, high, is_open):
            value = _value(place, is_level, atoms[n], terms)
            own[int(np.floor((value - smallest) / step))] += counts[n] / total
    return length, used + length + 8


@compiled
def _up_to(cumulated, size, value, least, step, off, moved):  # type: ignore[no-untyped-def]
    """The mass of the cells that may lie below a value (`moved` 0), or that surely do (`moved` minus the cells of all terms)."""
    room = off + 4.0 * U * (abs(value) + abs(least))
    at = (value - least + (room if moved == 0 else -room)) / step
    if at + moved < 0.0:
        return 0.0
    if at + moved >= size - 1:
        return cumulated[size - 1]
    return cumulated[int(np.floor(at)) + moved]
