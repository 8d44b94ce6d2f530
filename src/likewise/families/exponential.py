"""exp(-z) for many z >= 0, with a PROVED error: additions and multiplications of doubles only.

What a library's exp is off by is not known for certain; a sum, difference or product of doubles is the nearest double, off by
at most u = 2^-53 of it. With L = ln 2 / 64, k the whole number next to z / L and r = z - k L,

    exp(-z) = 2^-(k // 64) * 2^-((k % 64) / 64) * exp(-r),        |r| <= L / 2 + 2^-30 < 2^-7.5.

- z / L is off by less than 2^-36 for z <= 708, so r is no larger than said.
- L = high + low: `high` has 36 bits and k < 2^17, so k * high is exact; `low` is a double below 2^-43. The error of
  k * low is below 2^-78, and the two subtractions, of results below 2^-7 in size, add 2 * 2^-60. So r is off by less than 2^-58.
- The polynomial 1 - r + r^2/2 - ... - r^5/120 leaves out less than |r|^6 / 719 < 2^-54; as 1 - r q(r) with Horner's rule
  for q, whose few roundings are multiplied by |r| < 2^-7.5, what is added to 1 is off by less than 2^-57.
- 2^-(j/64) is taken from a table of nearest doubles (one u), t + t * p rounds once at full size (one u) and once at
  |p| < 2^-7 of it. Multiplying by a power of two is exact, as exp(-708) is not denormal.

Together less than 2 u + 2^-54 + 2^-57 + 2^-58 + 2^-60 < 4 u = `RELATIVE_ERROR` of the value. Beyond 708 the value at 708
stands, which is off by less than `ABSOLUTE_ERROR`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RELATIVE_ERROR = 2.0**-51  # 4 u
ABSOLUTE_ERROR = 2.0**-1000
LARGEST_ARGUMENT = 708.0
TABLE_STEPS = 64  # of the table, between 1 and 2
HIGH_BITS = 43  # the first part of L is a multiple of 2^-43: 36 bits, as L < 2^-6.5
BLOCK_VALUES = 16_384  # values at a time: what is made of them stays in the cache


def exp_minus(z: Floats, *, out: Floats | None = None, space: BlockSpace | None = None) -> Floats:
    """exp(-z), z >= 0, off by at most RELATIVE of it, and LOST; in the place of `out`, contiguous, if that is given, which may be z itself. Who asks often keeps a `space`."""
    value = np.empty_like(z, order="C") if out is None else out
    flat, found = z.reshape(-1), value.reshape(-1)
    space = BlockSpace(min(flat.size, BLOCK_VALUES)) if space is None else space
    for start in range(0, flat.size, BLOCK_VALUES):
        some = slice(start, start + BLOCK_VALUES)
        space.exp_minus(flat[some], found[some])
    return value


class BlockSpace:
    """Memory for what is made of one block, used for all of them: taking it anew for each costs more than the arithmetic where the system takes pages back each time (as under Dask's settings)."""

    def __init__(self, size: int = BLOCK_VALUES) -> None:
        self.multiples, self.rest, self.product = (np.empty(size) for _ in range(3))
        self.whole, self.bits = (np.empty(size, dtype=np.int64) for _ in range(2))

    def exp_minus(self, z: Floats, q: Floats) -> None:
        """Of a block, in the place of q, which may be z."""
        inverse, high, low, table = _constants()
        k, r, product = (kept[: z.size] for kept in (self.multiples, self.rest, self.product))
        whole, bits = self.whole[: z.size], self.bits[: z.size]
        np.minimum(z, LARGEST_ARGUMENT, out=r)
        np.multiply(r, inverse, out=k)
        np.rint(k, out=k)
        r -= np.multiply(k, high, out=product)
        r -= np.multiply(k, low, out=product)
        np.multiply(r, -1 / 120, out=q)
        for c in (1 / 24, -1 / 6, 1 / 2, -1.0):
            q += c
            q *= r
        whole[:] = k
        np.bitwise_and(whole, TABLE_STEPS - 1, out=bits)
        np.take(table, bits, out=product, mode="clip")
        q *= product
        q += product
        whole >>= 6
        np.subtract(1023, whole, out=whole)
        whole <<= 52
        q *= whole.view(np.float64)  # 2^-(k // 64), written as a double


@cache
def _constants() -> tuple[float, float, float, Floats]:
    """1 / L, the two parts of L, and the nearest doubles of 2^-(j/64)."""
    with ctx.workprec(256):
        step = arb(2).log() / TABLE_STEPS
        high = int((step * 2**HIGH_BITS).floor().unique_fmpz()) / 2**HIGH_BITS
        table = np.array([float((-step * j).exp()) for j in range(TABLE_STEPS)])
        return float(1 / step), high, float(step - high), table
