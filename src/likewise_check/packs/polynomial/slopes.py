"""Derivatives of a polynomial over boxes of individuals (section 21)."""

from collections import Counter
from collections.abc import Sequence

from likewise_check.packs.intervals import Derivatives, IndividualBox, Interval, enclose, plus, power, times
from likewise_check.packs.polynomial.body import Polynomial


def polynomial_slopes(body: Polynomial, features: Sequence[int]) -> Derivatives:
    """What has them by these features, all of them numbers."""
    return lambda box: _slopes(body, features, box)


def _slopes(body: Polynomial, features: Sequence[int], box: IndividualBox) -> list[Interval]:
    ranges = {c: enclose(*body.columns[c][1].range_on(*box[body.columns[c][0]])) for c in body.used}
    found = dict.fromkeys(features, (0, 0))
    for coefficient, product in body.terms:
        counts = Counter(product)
        for c, n in counts.items():
            k, column = body.columns[c]
            if k not in found or not column.slope:
                continue
            value = enclose(coefficient * column.slope * n)
            for d, m in counts.items():
                value = times(value, power(ranges[d], m - (d == c)))
            found[k] = plus(found[k], value)
    return [found[k] for k in features]
