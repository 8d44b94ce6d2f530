"""Hashes of categories as CatBoost has them: the lower 32 bits of CityHash64 (version 1) of a category's text, in UTF-8.

Numbers are of 64 bits and wrap around. Hashes of several things together are made one after the other: h <- M (h + M v).
"""

from __future__ import annotations

from functools import lru_cache

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
MIX = 0x9DDFEA08EB382D69
COMBINE = 0x4906BA494954CB65


@lru_cache(maxsize=65536)
def category_hash(text: str) -> int:
    """What a category is to CatBoost."""
    return _city_hash(text.encode()) & 0xFFFFFFFF


def combined_hash(before: int, value: int) -> int:
    """The hash of what came before and one thing more; that of a category counts as a signed number."""
    return COMBINE * ((before + COMBINE * value) & MASK) & MASK


def signed(category: int) -> int:
    """The 32 bits of a category's hash as those of a signed number of 64 bits."""
    return category | 0xFFFFFFFF00000000 if category >> 31 else category


def _city_hash(s: bytes) -> int:
    if len(s) <= 16:
        return _hash_to_16(s)
    if len(s) <= 32:
        return _hash_to_32(s)
    return _hash_to_64(s) if len(s) <= 64 else _hash_long(s)


def _word(s: bytes, at: int, size: int = 8) -> int:
    at += len(s) if at < 0 else 0
    return int.from_bytes(s[at : at + size], "little")


def _rotate(value: int, by: int) -> int:
    value &= MASK
    return (value >> by | value << 64 - by) & MASK if by else value


def _shift_mix(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _hash_pair(low: int, high: int) -> int:
    low, high = low & MASK, high & MASK
    a = _shift_mix((low ^ high) * MIX)
    b = _shift_mix((high ^ a) * MIX)
    return b * MIX & MASK


def _hash_to_16(s: bytes) -> int:
    n = len(s)
    if n > 8:
        b = _word(s, -8)
        return _hash_pair(_word(s, 0), _rotate(b + n, n)) ^ b
    if n >= 4:
        return _hash_pair(n + (_word(s, 0, 4) << 3), _word(s, -4, 4))
    if n:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
        return _shift_mix(y * K2 ^ z * K3) * K2 & MASK
    return K2


def _hash_to_32(s: bytes) -> int:
    a, b, c, d = _word(s, 0) * K1, _word(s, 8), _word(s, -8) * K2, _word(s, -16) * K0
    return _hash_pair(_rotate(a - b, 43) + _rotate(c, 30) + d, a + _rotate(b ^ K3, 20) - c + len(s))


def _hash_to_64(s: bytes) -> int:
    z = _word(s, 24)
    a = _word(s, 0) + (len(s) + _word(s, -16)) * K0
    first, second = _stir(a, z, _word(s, 8), _word(s, 16))
    third, fourth = _stir(_word(s, 16) + _word(s, -32), _word(s, -8), _word(s, -24), _word(s, -16))
    r = _shift_mix((first + fourth) * K2 + (third + second) * K0)
    return _shift_mix(r * K0 + second) * K2 & MASK


def _stir(a: int, z: int, x: int, y: int) -> tuple[int, int]:
    b, c = _rotate(a + z, 52), _rotate(a, 37)
    a += x
    c += _rotate(a, 7)
    a += y
    return a + z & MASK, b + _rotate(a, 31) + c & MASK


def _weak_hash(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Of 32 bytes, with two seeds."""
    w, x, y, z = (_word(s, at + 8 * i) for i in range(4))
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return a + z & MASK, b + c & MASK


def _hash_long(s: bytes) -> int:
    n = len(s)
    x, y, z = _word(s, 0), _word(s, -16) ^ K1, _word(s, -56) ^ K0
    v, w = _weak_hash(s, n - 64, n, y), _weak_hash(s, n - 32, n * K1, K0)
    z += _shift_mix(v[1]) * K1
    x = _rotate(z + x, 39) * K1
    y = _rotate(y, 33) * K1
    for at in range(0, (n - 1) // 64 * 64, 64):
        x = _rotate(x + y + v[0] + _word(s, at + 16), 37) * K1 & MASK
        y = _rotate(y + v[1] + _word(s, at + 48), 42) * K1 & MASK
        x, y = x ^ w[1], y ^ v[0]
        z = _rotate((z & MASK) ^ w[0], 33)
        v = _weak_hash(s, at, v[1] * K1, x + w[0])
        w = _weak_hash(s, at + 32, z + w[1], y)
        z, x = x, z
    return _hash_pair(_hash_pair(v[0], w[0]) + _shift_mix(y) * K1 + z, _hash_pair(v[1], w[1]) + x)
