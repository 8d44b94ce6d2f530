"""Slopes: intervals of the derivatives of a score over boxes of individuals, many boxes at once in float64 (specification, section 21). Only proposes; the checker decides.

They are made of the model as a certificate writes it down, so that one place serves all families: columns of single features, and sums, products, exponentials and layers of them. Families whose
scores have no derivatives (trees, columns in pieces) have no slopes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Intervals = tuple[Floats, Floats]

Slopes = Callable[["Floats", "Floats"], "Intervals"]  # of boxes (boxes, features): ends of derivatives


def slopes_of(line: Mapping[str, Any], features: int) -> Slopes | None:
    """What has the derivatives of a body, as a certificate has it, by each of so many features; None where there are none."""
    kind = line["kind"]
    if kind == "affine":
        return _of_affine(line, features)
    if kind == "polynomial":
        return _of_polynomial(line, features)
    if kind == "rbf":
        return _of_kernel(line, features)
    if kind == "network":
        return _of_network(line, features)
    return _of_sum(line, features) if kind == "sum" else None


def _number(text: str) -> float:
    if "x" in text:
        return float.fromhex(text)
    return float(Fraction(text))


def _numbers(texts: Sequence[str]) -> Floats:
    return np.array([_number(text) for text in texts])


def _times(one: Intervals, other: Intervals) -> Intervals:
    found = [a * b for a in one for b in other]
    return np.minimum.reduce(found), np.maximum.reduce(found)


def _power(of: Intervals, n: int) -> Intervals:
    low, high = of
    if n % 2 == 0:
        largest = np.maximum(np.abs(low), np.abs(high)) ** n
        return np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)) ** n), largest
    return low**n, high**n


class _Columns:
    """Columns over codes: their features, their slopes (0 for levels), and their ranges over boxes."""

    def __init__(self, lines: Sequence[Mapping[str, Any]]) -> None:
        self.feature = np.array([line["feature"] for line in lines], dtype=np.intp)
        self.slope = np.array([_number(line["slope"]) if "slope" in line else 0.0 for line in lines])
        self.offset = np.array([_number(line["offset"]) if "offset" in line else 0.0 for line in lines])
        self.tables = {c: _numbers(line["table"]) for c, line in enumerate(lines) if "table" in line}

    def ranges(self, lo: Floats, hi: Floats) -> Intervals:
        """(boxes, columns) each."""
        ends = [self.offset + self.slope * side[:, self.feature] for side in (lo, hi)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        for c, table in self.tables.items():
            k, places = self.feature[c], np.arange(len(table))
            inside = (places >= lo[:, k, None]) & (places <= hi[:, k, None])
            low[:, c] = np.where(inside, table, np.inf).min(axis=1)
            high[:, c] = np.where(inside, table, -np.inf).max(axis=1)
        return low, high


def _of_affine(line: Mapping[str, Any], features: int) -> Slopes | None:
    if any("cuts" in column for column in line["columns"]):
        return None
    total = np.zeros(features)
    for column in line["columns"]:
        if "slope" in column:
            total[column["feature"]] += _number(column["weight"]) * _number(column["slope"])

    def slopes(lo: Floats, hi: Floats) -> Intervals:  # noqa: ARG001 (the same everywhere)
        everywhere = np.broadcast_to(total, lo.shape)
        return everywhere, everywhere

    return slopes


def _of_polynomial(line: Mapping[str, Any], features: int) -> Slopes:
    columns = _Columns(line["columns"])
    terms = [(_number(coefficient), Counter(product)) for coefficient, product in line["terms"]]

    def slopes(lo: Floats, hi: Floats) -> Intervals:
        ranges = columns.ranges(lo, hi)
        low, high = np.zeros((len(lo), features)), np.zeros((len(lo), features))
        for coefficient, counts in terms:
            for c, n in counts.items():
                factor = coefficient * columns.slope[c] * n
                if not factor:
                    continue
                value = np.full(len(lo), factor), np.full(len(lo), factor)
                for d, m in counts.items():
                    if m > (d == c):
                        value = _times(value, _power((ranges[0][:, d], ranges[1][:, d]), m - (d == c)))
                low[:, columns.feature[c]] += value[0]
                high[:, columns.feature[c]] += value[1]
        return low, high

    return slopes


def _of_kernel(line: Mapping[str, Any], features: int) -> Slopes:
    columns, gamma = _Columns(line["columns"]), _number(line["gamma"])
    coefficients = _numbers([coefficient for coefficient, _ in line["terms"]])
    centres = np.array([_numbers(centre) for _, centre in line["terms"]])  # (terms, columns)

    def slopes(lo: Floats, hi: Floats) -> Intervals:
        least, most = np.zeros((len(lo), len(centres))), np.zeros((len(lo), len(centres)))
        shifted = centres - columns.offset
        curve, middle = np.zeros(features), np.zeros((features, len(centres)))
        for k in range(features):
            own: list[int] = np.flatnonzero(columns.feature == k).tolist()
            if not own:
                continue
            if own[0] in columns.tables:
                levels = np.stack([columns.tables[c] for c in own])  # (columns, levels)
                squares = ((levels[None] - centres[:, own, None]) ** 2).sum(axis=1)  # (terms, levels)
                places = np.arange(levels.shape[1])
                inside = ((places >= lo[:, k, None]) & (places <= hi[:, k, None]))[:, None, :]
                least += np.where(inside, squares[None], np.inf).min(axis=2)
                most += np.where(inside, squares[None], -np.inf).max(axis=2)
                continue
            curve[k] = (columns.slope[own] ** 2).sum()
            middle[k] = (columns.slope[own] * shifted[:, own]).sum(axis=1)
            rest = (shifted[:, own] ** 2).sum(axis=1)
            ends = [curve[k] * x**2 - 2 * middle[k] * x + rest for x in (lo[:, k, None], hi[:, k, None])]
            low = np.minimum(*ends)
            if curve[k]:
                turn = middle[k] / curve[k]
                bottom = rest - middle[k] ** 2 / curve[k]
                low = np.where((lo[:, k, None] < turn) & (turn < hi[:, k, None]), bottom, low)
            least += np.maximum(low, 0)
            most += np.maximum(*ends)
        heights = coefficients * np.exp(-gamma * most), coefficients * np.exp(-gamma * least)
        weight = np.minimum(*heights), np.maximum(*heights)
        found = np.zeros((len(lo), features)), np.zeros((len(lo), features))
        for k in np.flatnonzero(curve).tolist():
            ends = [-2 * gamma * (curve[k] * x - middle[k]) for x in (lo[:, k, None], hi[:, k, None])]
            low, high = _times(weight, (np.minimum(*ends), np.maximum(*ends)))
            found[0][:, k], found[1][:, k] = low.sum(axis=1), high.sum(axis=1)
        return found

    return slopes


def _of_network(line: Mapping[str, Any], features: int) -> Slopes:
    columns, last = _Columns(line["columns"]), _numbers(line["weights"])
    layers = [
        (
            layer["activation"],
            np.array([_numbers(row) for row in layer["weights"]]),
            _numbers(layer["biases"]),
        )
        for layer in line["layers"]
    ]

    def slopes(lo: Floats, hi: Floats) -> Intervals:
        values, steep = columns.ranges(lo, hi), []
        for (kind, *numbers), weights, biases in layers:
            up, down = np.maximum(weights, 0).T, np.minimum(weights, 0).T
            sums = biases + values[0] @ up + values[1] @ down, biases + values[1] @ up + values[0] @ down
            values, own = _bent(kind, [_number(n) for n in numbers], sums)
            steep.append(own)
        back = np.broadcast_to(last, (len(lo), len(last))), np.broadcast_to(last, (len(lo), len(last)))
        for (_, weights, _), own in zip(reversed(layers), reversed(steep), strict=True):
            back = _times(back, own)
            up, down = np.maximum(weights, 0), np.minimum(weights, 0)
            back = back[0] @ up + back[1] @ down, back[1] @ up + back[0] @ down
        moved = _times(back, (columns.slope, columns.slope))
        found = np.zeros((len(lo), features)), np.zeros((len(lo), features))
        for c, k in enumerate(columns.feature.tolist()):
            for total, part in zip(found, moved, strict=True):
                total[:, k] += part[:, c]
        return found

    return slopes


def _bent(kind: str, numbers: Sequence[float], sums: Intervals) -> tuple[Intervals, Intervals]:
    """The ranges of an activation and of its slope."""
    low, high = sums
    ones = np.ones_like(low)
    if kind == "tanh":
        return (np.tanh(low), np.tanh(high)), (0 * ones, ones)
    if kind == "logistic":
        return (1 / (1 + np.exp(-low)), 1 / (1 + np.exp(-high))), (0 * ones, ones / 4)
    if kind == "clip":
        bottom, top = numbers
        flat = (high <= bottom) | (low >= top)
        inside = (low >= bottom) & (high <= top)
        return (np.clip(low, bottom, top), np.clip(high, bottom, top)), (
            np.where(inside, 1.0, 0.0),
            np.where(flat, 0.0, 1.0),
        )
    if kind == "elu":
        ends = [np.where(y >= 0, y, numbers[0] * np.expm1(np.minimum(y, 0))) for y in sums]
        inner = np.where((low < 0) & (high > 0), 0.0, ends[0])
        least, most = min(numbers[0], 0.0), max(numbers[0], 1.0)
        return (np.minimum.reduce([*ends, inner]), np.maximum.reduce([*ends, inner])), (
            least * ones,
            most * ones,
        )
    slope = numbers[0] if kind == "leaky_relu" else 0.0
    ends = [np.where(y >= 0, y, slope * y) for y in sums]
    inner = np.where((low < 0) & (high > 0), 0.0, ends[0])
    steep = [np.where(low >= 0, 1.0, slope), np.where(high <= 0, slope, 1.0)]
    return (np.minimum.reduce([*ends, inner]), np.maximum.reduce([*ends, inner])), (
        np.minimum(*steep),
        np.maximum(*steep),
    )


def _of_sum(line: Mapping[str, Any], features: int) -> Slopes | None:
    parts: list[tuple[Intervals, Slopes]] = []
    for part in line["parts"]:
        weight, link = _number(part["weight"]), part["link"]
        if not weight:
            continue
        own = slopes_of(part["body"], features)
        if own is None or (link is not None and link[0] != "logistic"):
            return None
        ends = (weight, weight) if link is None else sorted((0.0, weight * _number(link[1]) / 4))
        parts.append(((np.array(ends[0]), np.array(ends[1])), own))

    def slopes(lo: Floats, hi: Floats) -> Intervals:
        low, high = np.zeros(lo.shape), np.zeros(lo.shape)
        for factor, own in parts:
            one = _times(factor, own(lo, hi))
            low, high = low + one[0], high + one[1]
        return low, high

    return slopes
