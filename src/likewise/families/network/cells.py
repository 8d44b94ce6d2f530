"""Cells of pairs bounded together: one compiled call a batch, nothing allocated in it but room for one cell."""

import numpy as np

from likewise.compiled import compiled
from likewise.compiled.arrays import copy_to, fill
from likewise.families.network.curves import is_curve
from likewise.families.network.dual import ascend, evaluate, make_work, start
from likewise.families.network.limits import propagate
from likewise.families.network.polygons import bend_of
from likewise.families.network.splits import rate_splits

FRESH_STEPS = 300  # for a cell that inherits no multipliers
STEPS = 60  # for one that does


@compiled
def bound_cells(  # type: ignore[no-untyped-def]
    net, lo, hi, line, target, multipliers, fresh, unit, worth, upper, points, promised, score, at
):  # fmt: skip
    """Bound line[0] f(x) - line[1] f'(x') over each cell, from the multipliers given or, where a cell is `fresh`, from scratch.

    Multipliers are left at the best found, rounded to multiples of 1 / unit, as a certificate has them, and the bound is that of the rounded ones: who starts from them begins with that bound. `upper` is -inf for a cell without pairs; `promised`, `score` and `at` rate the cuts of cells that stay open.
    """
    work = make_work(net)
    layers = len(net.widths)
    n = net.widths[layers - 1]
    has_curves = any_curve(net)
    for i in range(len(lo)):
        fill(score[i], 0.0)
        if not propagate(net, lo[i], hi[i], work.limits, work.ranges, work.scratch):
            upper[i] = -np.inf
            for copy in range(2):
                fill(multipliers[i, copy], 0.0)
            continue
        a, b = line[i, 0], line[i, 1]
        for j in range(n):
            work.objective[0, j], work.objective[1, j] = a * net.last[j], -b * net.other_last[j]
        constant = a * net.bias - b * net.other_bias
        if fresh[i]:
            start(net, work, layers, multipliers[i])
        elif has_curves:
            # What is best of a curve changes with the width of a cell, and no ascent leads from one to the other.
            anew = np.empty(multipliers.shape[1:])
            start(net, work, layers, anew)
            if evaluate(net, work, layers, constant, anew) < evaluate(
                net, work, layers, constant, multipliers[i]
            ):
                for copy in range(2):
                    copy_to(multipliers[i, copy], anew[copy])
        steps = FRESH_STEPS if fresh[i] else STEPS
        ascend(net, work, layers, constant, multipliers[i], target[i], steps)
        for copy in range(2):
            for k in range(multipliers.shape[2]):
                multipliers[i, copy, k] = np.rint(multipliers[i, copy, k] * unit) / unit
        upper[i] = evaluate(net, work, layers, constant, multipliers[i])
        copy_to(points[i], work.point)
        if upper[i] > target[i]:
            rate_splits(net, work, multipliers[i], worth, upper[i] - target[i], promised[i], score[i], at[i])


@compiled
def any_curve(net):  # type: ignore[no-untyped-def]
    """Whether any layer's activation is a curve."""
    found = False
    for layer in range(len(net.widths)):
        found = found or is_curve(bend_of(net, layer))
    return found
