"""Vectors of ints as one int, which add up as ints do: many numbers in one sum.

`Lanes` are vectors of columns of one term, or of a sum of terms; `Columns` hold one lane of many vectors. Both have lanes of 64 bits for numbers below 2^62 in absolute
value: with 2^62 added they are positive, and bit 62 says which of them were not negative. Wide lanes are for products of numeric axes.
"""

from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from operator import mul
from struct import Struct
from sys import byteorder

LANE = 64  # bits of a lane
WIDE = 128  # of a wide one
_BIAS = 1 << 62


@cache
def _ones(length: int, bits: int) -> int:
    """1 in each lane."""
    return ((1 << bits * length) - 1) // ((1 << bits) - 1)


@cache
def _struct(length: int) -> Struct:
    return Struct(f"<{length}q")


class Lanes:
    """Vectors of ints x_0, x_1, ... as one int, the sum of x_j 2^(LANE j)."""

    def __init__(self, length: int) -> None:
        self.length, self._ones = length, _ones(length, LANE)
        self._biases, self._tops = self._ones * _BIAS, self._ones << 63
        self._high, self._low = self._ones * 0x7FFFFFFF, self._ones * 0x1FFFFFFFF

    # In two's complement adding 2^63 to a lane flips its top bit.
    def packed(self, columns: Sequence[Sequence[int]]) -> list[int]:
        """The vectors that have these numbers in each lane."""
        length, size = self.length, 8 * self.length
        numbers = array("q", bytes(size * len(columns[0])))
        for j, column in enumerate(columns):
            numbers[j::length] = array("q", column)
        if byteorder == "big":
            numbers.byteswap()
        raw, tops = numbers.tobytes(), self._tops
        starts = range(0, len(raw), size)
        return [(int.from_bytes(raw[at : at + size], "little") ^ tops) - tops for at in starts]

    def unpacked(self, vectors: Iterable[int]) -> list[tuple[int, ...]]:
        tops, size = self._tops, 8 * self.length
        raw = [((vector + tops) ^ tops).to_bytes(size, "little") for vector in vectors]
        return list(_struct(self.length).iter_unpack(b"".join(raw)))

    def columns(self, vectors: Iterable[int]) -> list[int]:
        """What the vectors have in each lane, as `Columns`."""
        biases, size, step = self._biases, 8 * self.length, self.length
        raw = b"".join([(vector + biases).to_bytes(size, "little") for vector in vectors])
        numbers = memoryview(raw).cast("q")
        return [int.from_bytes(numbers[j::step], "little") for j in range(step)]

    def means(self, vectors: Iterable[int], count: int, *, first: int, unit: int) -> list[int]:
        """Each vector by the count, about, in units of 2^unit; and 0 in the lanes before the first.

        With y = x + 2^62 and y = 2^32 a + b, a / c is taken to be a floor(2^32 / c), at most y / c, and what is left, r = y - c a floor(2^32 / c) < 2^32 + 2^31 c, is
        divided by floor(2^30 / c) / 2^30. No product reaches 2^63; what a shift hands down from one lane to the next is cut off.
        """
        whole, part = (1 << 32) // count, (1 << 30) // count
        of_bias = (whole << 30) + ((_BIAS - (count * whole << 30)) * part >> 30)
        ones = self._ones >> LANE * first << LANE * first
        kept, biases = ones * ((1 << 64 - unit) - 1), ones * (of_bias >> unit)
        found = []
        for vector in vectors:
            positive = vector + self._biases
            above = (positive >> 32 & self._high) * whole
            rest = (positive - count * above) * part >> 30 & self._low
            found.append((above + rest >> unit & kept) - biases)
        return found


class Columns:
    """Columns x_0, x_1, ... of a length, as the sum of (x_j + 2^62) 2^(64 j): all lanes are positive, and bit 62 of one says that x_j >= 0."""

    def __init__(self, length: int) -> None:
        self._length, self._ones = length, _ones(length, LANE)

    def total(self, columns: Sequence[int]) -> int:
        return sum(columns) - (len(columns) - 1) * self._ones * _BIAS

    def sizes(self, column: int) -> int:
        """The absolute values."""
        negative = ~column >> 62 & self._ones
        # 2^63 - 1 - (x + 2^62) + 1 = -x + 2^62.
        return (column ^ (negative << 63) - negative) + negative

    def larger(self, column: int, other: int) -> int:
        """The larger one of each two numbers."""
        not_less = column + (self._ones << 63) - other >> 63 & self._ones
        return other ^ (column ^ other) & (not_less << 63) - not_less

    def numbers(self, column: int) -> tuple[int, ...]:
        signed = column + self._ones * _BIAS ^ self._ones << 63
        return _struct(self._length).unpack(signed.to_bytes(8 * self._length, "little"))


def tails_of(slopes: list[list[int]]) -> list[list[int]]:
    """For each axis, term by term, the loads of it and of all axes that follow, as wide lanes of one int."""
    tails: list[list[int]] = []
    for slope in reversed(slopes):
        before = tails[-1] if tails else [0] * len(slope)
        tails.append([(tail << WIDE) + x for tail, x in zip(before, slope, strict=True)])
    return tails[::-1]


def dots(weights: list[int], rows: list[int], lanes: int) -> list[int]:
    """The sum over the terms of weight times row, wide lane by wide lane."""
    tops, step = _ones(lanes, WIDE) << WIDE - 1, WIDE // 8
    raw = (sum(map(mul, weights, rows)) + tops ^ tops).to_bytes(step * lanes, "little")
    return [int.from_bytes(raw[i : i + step], "little", signed=True) for i in range(0, len(raw), step)]
