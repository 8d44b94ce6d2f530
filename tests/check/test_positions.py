"""Sums over the terms of a kernel body by positions of two of its one-hot axes, and what columns of such sums are made of."""

from __future__ import annotations

import random

from likewise_check.packs.kernel.choices import Choice, Groups
from likewise_check.packs.kernel.lanes import Columns, Lanes


def test_sums_by_two_positions() -> None:
    """Whatever positions terms have and cells allow, also where no term is or all are."""
    rng = random.Random(0)
    groups = Groups()
    for n in range(200):
        count = rng.choice([1, 3, 40])
        choices = []
        for i in range(3):
            width = rng.randint(2, 5)
            places = rng.choices(
                range(width + 1), [rng.choice([0, 1, 20]) for _ in range(width)] + [1], k=count
            )
            first = rng.randint(0, width - 2)
            last = rng.choice([width, rng.randint(first + 1, width - 1)])
            choices.append(Choice(zeta=1, places=places, first=first, last=last, terms=(n, i)))
        *some, other = choices
        rows = [rng.randint(-(2**90), 2**90) for _ in range(count)]
        for choice, found in zip(some, groups.sums_of_two(some, other, rows), strict=True):
            for v, sums in zip(choice.allowed, found, strict=True):
                for u, total in zip(other.allowed, sums, strict=True):
                    at = zip(rows, choice.places, other.places, strict=True)
                    assert total == sum(row for row, *places in at if places == [v, u])


def test_columns() -> None:
    rng = random.Random(0)
    most = 2**62 - 1
    rows = [
        [rng.choice([most, -most, 0, 1, -1, rng.randint(-most, most)]) for _ in range(3)] for _ in range(300)
    ]
    lanes, every = Lanes(3), Columns(300)
    columns = lanes.columns(lanes.packed(list(zip(*rows, strict=True))))
    for column, numbers in zip(columns, zip(*rows, strict=True), strict=True):
        assert every.numbers(column) == numbers
        assert every.numbers(every.sizes(column)) == tuple(map(abs, numbers))
    assert every.numbers(every.larger(columns[0], columns[1])) == tuple(max(a, b) for a, b, _ in rows)
    small = [[x >> 2 for x in row] for row in rows]
    columns = lanes.columns(lanes.packed(list(zip(*small, strict=True))))
    assert every.numbers(every.total(columns)) == tuple(map(sum, small))
    assert every.numbers(every.total([])) == (0,) * 300
