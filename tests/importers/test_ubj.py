"""The reader of UBJ: what it reads, and that damaged or hostile bytes end in an error, soon."""

import struct

import numpy as np
import pytest

from likewise.importers.xgboost.ubj import DEEPEST_NESTING, BadUbj, parse_ubj


def long(number):
    return b"L" + struct.pack(">q", number)


def text(value):
    return long(len(value)) + value.encode()


def test_values_of_every_type():
    content = (
        b"{" + text("i") + b"i\xfe" + text("U") + b"U\xfe" + text("I") + b"I\xff\xfe" + text("l") + b"l" + struct.pack(">i", -7)
        + text("L") + long(1 << 40) + text("d") + b"d" + struct.pack(">f", 0.5)
        + text("D") + b"D" + struct.pack(">d", 0.1) + text("yes") + b"T" + text("no") + b"F" + text("none") + b"Z"
        + text("word") + b"S" + text("ok") + b"}"
    )  # fmt: skip
    assert parse_ubj(content) == {
        "i": -2, "U": 254, "I": -2, "l": -7, "L": 1 << 40, "d": 0.5, "D": 0.1,
        "yes": True, "no": False, "none": None, "word": "ok",
    }  # fmt: skip


def test_arrays_with_and_without_type_and_count():
    assert parse_ubj(b"[i\x01[]{}]") == [1, [], {}]
    assert parse_ubj(b"[#" + long(2) + b"i\x01S" + text("a")) == [1, "a"]
    singles = parse_ubj(b"[$d#" + long(3) + struct.pack(">3f", 1, 2, -0.5))
    assert singles.dtype == np.float32
    assert singles.tolist() == [1, 2, -0.5]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[",
        b"{",
        b"x",
        b"[i\x01",
        b"i\x01i\x02",
        b"SL" + struct.pack(">q", 1 << 62),
        b"SL" + struct.pack(">q", -1),
        b"[$d#L" + struct.pack(">q", 1 << 60),
        b"[$Z#L" + struct.pack(">q", 1 << 60),
        b"[$T#L" + struct.pack(">q", 127) + b"T" * 127,
        # What UBJ knows and XGBoost does not, or in another way: no-ops, characters, short lengths, counted objects.
        b"Ni\x01",
        b"Cx",
        b"SU\x01a",
        b"[#i\x00",
        b"[$i#U\x01\x01",
        b"{#L" + struct.pack(">q", 0),
        b"{$i#L" + struct.pack(">q", 1) + b"L" + struct.pack(">q", 1) + b"a\x05",
        b"[$d]",
        b"[#L" + struct.pack(">q", 1 << 60),
        b"[#i\xff",
        b"{" + (b"L" + struct.pack(">q", 1) + b"ai\x01") * 2 + b"}",
        b"{d\x00\x00\x00\x00}",
        b"[" * (DEEPEST_NESTING + 1) + b"]" * (DEEPEST_NESTING + 1),
        b"[$[#i\x02" * 2000,
        b"N" * 50,
    ],
)
def test_damaged_bytes_are_refused(content):
    with pytest.raises(BadUbj):
        parse_ubj(content)


def test_bytes_cut_off_or_changed_never_end_in_anything_but_a_value_or_an_error():
    content = (
        b"{"
        + text("a")
        + b"[$l#"
        + long(2)
        + struct.pack(">2i", 1, 2)
        + text("b")
        + b"[#"
        + long(2)
        + b"S"
        + text("ab")
        + b"d"
        + struct.pack(">f", 1)
        + b"}"
    )
    assert set(parse_ubj(content)) == {"a", "b"}
    for end in range(len(content)):
        with pytest.raises(BadUbj):
            parse_ubj(content[:end])
    random = np.random.default_rng(0)
    for _ in range(2000):
        changed = bytearray(content)
        changed[random.integers(len(content))] = random.integers(256)
        try:
            parse_ubj(bytes(changed))
        except (BadUbj, UnicodeDecodeError):
            continue
