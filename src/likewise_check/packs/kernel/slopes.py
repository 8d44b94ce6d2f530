"""Derivatives of sums of Gaussians over boxes of individuals (section 21)."""

from collections.abc import Sequence
from fractions import Fraction

from likewise_check.core.logarithm import exp_minus
from likewise_check.packs.axes import Column
from likewise_check.packs.intervals import (
    BITS,
    Derivatives,
    Ends,
    IndividualBox,
    Interval,
    enclose,
    plus,
    times,
)
from likewise_check.packs.kernel.body import Rbf


def kernel_slopes(body: Rbf, features: Sequence[int]) -> Derivatives:
    """What has them by these features, all of them numbers."""
    return lambda box: _slopes(body, features, box)


def _slopes(body: Rbf, features: Sequence[int], box: IndividualBox) -> list[Interval]:
    count = len(body.coefficients)
    least, most = [Fraction(0)] * count, [Fraction(0)] * count
    for k, columns in enumerate(body.columns):
        for t in range(count) if columns else ():
            low, high = _square_range(columns, t, box[k])
            least[t] += low
            most[t] += high
    total = dict.fromkeys(features, (0, 0))
    for t, coefficient in enumerate(body.coefficients):
        factor = exp_minus(body.gamma * most[t], BITS)[0], exp_minus(body.gamma * least[t], BITS)[1]
        weight = times(enclose(coefficient), enclose(*factor))
        for k in features:
            curve = sum(column.slope**2 for column in body.columns[k])
            centre = sum(column.slope * (column.centres[t] - column.offset) for column in body.columns[k])
            ends = [-2 * body.gamma * (curve * x - centre) for x in box[k]]
            total[k] = plus(total[k], times(weight, enclose(min(ends), max(ends))))
    return [total[k] for k in features]


def _square_range(columns: Sequence[Column], t: int, interval: Ends) -> Ends:
    """The least and the largest D_tk."""

    def at(code: Fraction) -> Fraction:
        return sum(((column.at(code) - column.centres[t]) ** 2 for column in columns), Fraction(0))

    if columns[0].table is not None:
        found = [at(Fraction(v)) for v in range(int(interval[0]), int(interval[1]) + 1)]
        return min(found), max(found)
    found = [at(end) for end in interval]
    curve = sum(column.slope**2 for column in columns)
    if curve:
        turn = sum(column.slope * (column.centres[t] - column.offset) for column in columns) / curve
        if interval[0] < turn < interval[1]:
            return at(turn), max(found)
    return min(found), max(found)
