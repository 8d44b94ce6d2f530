"""Cells of pairs bounded together: one compiled call a batch, nothing allocated in it but room for one cell."""

import numpy as np

from likewise.compiled import compiled
from likewise.families.network.dual import ascend, evaluate, make_work, start
from likewise.families.network.limits import propagate
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
    has_curves = np.isnan(net.breaks).any()
    for i in range(len(lo)):
        score[i] = 0.0
        if not propagate(net, lo[i], hi[i], work.limits, work.ranges, work.scratch):
            upper[i] = -np.inf
            multipliers[i] = 0.0
            continue
        a, b = line[i, 0], line[i, 1]
        work.objective[0, :n] = a * net.last[:n]
        work.objective[1, :n] = -b * net.other_last[:n]
        constant = a * net.bias - b * net.other_bias
        if fresh[i]:
            start(net, work, layers, multipliers[i])
        elif has_curves:
            # What is best of a curve changes with the width of a cell, and no ascent leads from one to the other.
            anew = np.empty_like(multipliers[i])
            start(net, work, layers, anew)
            if evaluate(net, work, layers, constant, anew) < evaluate(
                net, work, layers, constant, multipliers[i]
            ):
                multipliers[i] = anew
        steps = FRESH_STEPS if fresh[i] else STEPS
        ascend(net, work, layers, constant, multipliers[i], target[i], steps)
        multipliers[i] = np.round(multipliers[i] * unit) / unit
        upper[i] = evaluate(net, work, layers, constant, multipliers[i])
        points[i] = work.point
        if upper[i] > target[i]:
            rate_splits(net, work, multipliers[i], worth, upper[i] - target[i], promised[i], score[i], at[i])
