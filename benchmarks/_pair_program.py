"""The largest gap of a relu network as other solvers take it: linear rows, whole numbers, and relus.

Both copies of the network stand over one set of columns: what must be the same is shared, a level is a column of its own (one of them is 1), a number is one column. Every neuron of each copy has a
column y for its sum and, where its sign is not known, one for h = max(y, 0). Limits of y, y' and of y' - y are the ones that our own search starts from, so that all solvers know the same of every neuron.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.network.dual import make_work
from likewise.families.network.limits import propagate
from likewise.families.network.pair_network import HIGH, LEAST, LOW, MOST, OTHER_HIGH, OTHER_LOW

if TYPE_CHECKING:
    from likewise.families.network.bounder import NetworkBounder

Expression = dict[int, float]


@dataclass(slots=True, kw_only=True)
class PairProgram:
    """Maximise objective + constant over columns between lower and upper, with rows, groups of which one column is 1, and h = max(y, 0)."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[float, float, Expression]] = field(default_factory=list)
    one_of: list[list[int]] = field(default_factory=list)
    relus: list[tuple[int, int]] = field(default_factory=list)
    objective: Expression = field(default_factory=dict)
    constant: float = 0.0

    def column(self, lower: float, upper: float, *, whole: bool = False) -> int:
        """One more column."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.lower) - 1


def pair_program(bounder: NetworkBounder) -> PairProgram:
    """max f(x) - f(x') over the pairs of a bounder that have no constraints."""
    net, pairs, program = bounder.net, bounder.pairs, PairProgram()
    inner = np.full(3 * net.neurons, np.inf)
    work = make_work(net)
    lo = np.concatenate([[float(v.lo) for v in pairs.variables], -inner])
    hi = np.concatenate([[float(v.hi) for v in pairs.variables], inner])
    propagate(net, lo, hi, work.limits, work.ranges, work.scratch)
    limits, inputs = work.limits, _inputs(program, bounder)
    before: tuple[list[Expression], list[Expression]] = ([], [])
    for layer, width in enumerate(net.widths):
        outputs: tuple[list[Expression], list[Expression]] = ([], [])
        for i in range(width):
            place, sums = int(net.starts[layer]) + i, []
            for copy, (low, high) in enumerate(((LOW, HIGH), (OTHER_LOW, OTHER_HIGH))):
                if layer == 0:
                    terms, bias = _first_sum(bounder, inputs[copy], i), float(net.base[i])
                else:
                    terms, bias = _sum(net.weights[layer, i], before[copy]), float(net.biases[layer, i])
                y = program.column(float(limits[low, place]), float(limits[high, place]))
                program.rows.append((bias, bias, {y: 1.0, **{c: -w for c, w in terms.items()}}))
                outputs[copy].append(_relu(program, y))
                sums.append(y)
            apart = {sums[1]: 1.0, sums[0]: -1.0}
            program.rows.append((float(limits[LEAST, place]), float(limits[MOST, place]), apart))
        before = outputs
    width = int(net.widths[-1])
    program.objective = _sum(net.last[:width], before[0])
    for column, weight in _sum(-net.other_last[:width], before[1]).items():
        program.objective[column] = program.objective.get(column, 0.0) + weight
    program.constant = net.bias - net.other_bias
    return program


def _inputs(program: PairProgram, bounder: NetworkBounder) -> tuple[list[list[int]], list[list[int]]]:
    """Columns of each feature of the network at x and at x': one a level, or one for a number."""
    net, found = bounder.net, {}
    for f, (one, two) in enumerate(zip(net.first.tolist(), net.second.tolist(), strict=True)):
        for variable in (one, two):
            if variable in found:
                continue
            known = bounder.pairs.variables[variable]
            if net.levels[f]:
                some = [program.column(0.0, 1.0, whole=True) for _ in range(int(known.hi) + 1)]
                program.rows.append((1.0, 1.0, dict.fromkeys(some, 1.0)))
                program.one_of.append(some)
            else:
                some = [program.column(float(known.lo), float(known.hi), whole=known.discrete)]
            found[variable] = some
    return [found[v] for v in net.first.tolist()], [found[v] for v in net.second.tolist()]


def _first_sum(bounder: NetworkBounder, inputs: list[list[int]], i: int) -> Expression:
    net = bounder.net
    return {
        column: float(net.rows[int(net.row[f]) + level, i])
        for f, columns in enumerate(inputs)
        for level, column in enumerate(columns)
    }


def _sum(weights: np.ndarray, terms: list[Expression]) -> Expression:
    total: Expression = {}
    for weight, term in zip(weights.tolist(), terms, strict=False):
        for column, factor in term.items():
            total[column] = total.get(column, 0.0) + weight * factor
    return total


def _relu(program: PairProgram, y: int) -> Expression:
    """max(y, 0): y itself, nothing, or a column."""
    low, high = program.lower[y], program.upper[y]
    if low >= 0 or high <= 0:
        return {y: 1.0} if low >= 0 else {}
    h = program.column(0.0, high)
    program.relus.append((y, h))
    return {h: 1.0}
