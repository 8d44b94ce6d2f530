"""Reads the lines of a certificate from a file that may be hostile.

One gzip member is unpacked piece by piece, so memory is bounded by the longest line allowed, whatever the file holds.
Limits: 64 MiB a line, 16 GiB of text, text at most 1,000 times the compressed size plus 1 MiB, 2^23
brackets a line, at most 16 marks (brackets, commas, quotes: values
take memory) a line for each compressed byte plus 2^22, brackets nested at most 32 deep (counted before the
JSON parser, which recurses, sees them), whole JSON numbers of at most 600
characters, fractions of a line over a common denominator of 2^16 bits (sums of them cost the square of
that). Objects with duplicate keys, `NaN`, `Infinity`, points and exponents are rejected. Nothing in the
file is ever executed.
"""

import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator
from itertools import accumulate
from math import inf, lcm
from typing import BinaryIO, NoReturn

from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import LONGEST_NUMBER, from_decimal

LONGEST_LINE = 64 << 20
LONGEST_TEXT = 16 << 30
LARGEST_RATIO = 1000
RATIO_ALLOWANCE = 1 << 20
MARKS = (b"[", b"{", b",", b'"')
LARGEST_MARKS_RATIO = 16
MARKS_ALLOWANCE = 1 << 22
DEEPEST_NESTING = 32
MOST_BRACKETS = 1 << 23
LARGEST_DENOMINATOR = 16  # of the fractions of a line, as a power of 2 of bits
LONGEST_INT = 600
_PIECE = 1 << 18
_GZIP = 31  # zlib's name for: a gzip header and trailer, checksum verified


class Lines:
    """The lines of one certificate, in order; knows the number of the current one and the digest of all before it."""

    def __init__(self, stream: BinaryIO) -> None:
        size = _bytes_left(stream)
        self._most_marks = inf if size is None else LARGEST_MARKS_RATIO * size + MARKS_ALLOWANCE
        self._lines = _split_lines(_gunzip(stream, size))
        self._before = hashlib.sha256()
        self._raw: bytes | None = None
        self.number = 0

    def following(self) -> bytes | None:
        """The next line without its line feed, or None at the end of the file."""
        if self._raw is not None:
            self._before.update(self._raw)
            self._before.update(b"\n")
        look_at_clock()
        self.number += 1
        self._raw = next(self._lines, None)
        return self._raw

    def value(self, what: str) -> object:
        """The JSON value of the next line."""
        raw = self.following()
        if raw is None:
            raise Rejected(f"the file ends where {what} should be")
        if len(raw) > self._most_marks < sum(map(raw.count, MARKS)):
            raise Rejected(f"more than {self._most_marks} brackets, commas and quotes in a line")
        return decode_line(raw)

    def digest(self) -> str:
        """SHA-256 of the current line, without its line feed."""
        return hashlib.sha256(self._raw or b"").hexdigest()

    def digest_before(self) -> str:
        """SHA-256 of all bytes before the current line."""
        return self._before.hexdigest()


def decode_line(raw: bytes) -> object:
    """The JSON value of one line: an object or array, with nothing around it."""
    if raw[:1] not in (b"{", b"[") or raw[-1:] not in (b"}", b"]"):
        raise Rejected("a line must be one JSON object or array, with nothing before or after it")
    brackets = raw.count(b"[") + raw.count(b"{")
    if brackets > MOST_BRACKETS:
        raise Rejected(f"more than {MOST_BRACKETS} brackets in a line")
    if brackets > DEEPEST_NESTING:
        _check_nesting(raw)
    if b"/" in raw:
        _check_denominators(raw)
    try:
        value: object = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Rejected("the line is not UTF-8 text") from error
    except RecursionError as error:
        raise Rejected("brackets are nested too deep") from error
    except json.JSONDecodeError as error:
        raise Rejected(f"the line is not JSON: {error.msg}, column {error.colno}") from error
    return value


_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_STEPS = bytes.maketrans(b"[{]}", bytes([1, 1, 0, 0]))  # deeper or not


def _check_nesting(raw: bytes) -> None:
    """Counts the depth outside texts, without recursion."""
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(unescaped.translate(None, _OTHERS).split(b'"')[::2]).translate(_STEPS)
    if max(accumulate(map((-1, 1).__getitem__, brackets)), default=0) > DEEPEST_NESTING:
        raise Rejected(f"brackets are nested deeper than {DEEPEST_NESTING}")


_DENOMINATOR = re.compile(rb'(?<!\\)"-?(?:0|[1-9][0-9]*)/([1-9][0-9]*)"')  # of a text that is a fraction


def _check_denominators(raw: bytes) -> None:
    """Adds fractions up to a common denominator, unless they are few and small."""
    most, common = 1 << LARGEST_DENOMINATOR, 1
    below = set(_DENOMINATOR.findall(raw))
    if 4 * sum(map(len, below)) <= most:
        return
    for digits in below:
        look_at_clock()
        if len(digits) > LONGEST_NUMBER:
            continue  # of no number
        common = lcm(common, from_decimal(digits.decode()))
        if common.bit_length() > most:
            raise Rejected(f"fractions whose common denominator has more than {most} bits")


def _refuse_fraction(text: str) -> NoReturn:
    raise Rejected(f"{text[:40]!r}: JSON numbers are whole; others are written as texts")


def _parse_int(text: str) -> int:
    if len(text) > LONGEST_INT:
        raise Rejected(f"a whole JSON number of {len(text)} characters; the limit is {LONGEST_INT}")
    return int(text)


def _distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Rejected("an object has the same key twice")
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_distinct_keys,
    parse_float=_refuse_fraction,
    parse_int=_parse_int,
    parse_constant=_refuse_fraction,
)


def _bytes_left(stream: BinaryIO) -> int | None:
    """How many bytes the stream still holds, if it can tell."""
    try:
        here = stream.tell()
        size = stream.seek(0, io.SEEK_END) - here
        stream.seek(here)
    except (OSError, AttributeError):
        return None
    return size


def _gunzip(stream: BinaryIO, size: int | None) -> Iterator[bytes]:
    """The text of a gzip file of one member, of this size if it is known, in pieces of bounded size."""
    member = zlib.decompressobj(_GZIP)
    packed = unpacked = 0
    waiting = b""
    while not member.eof:
        fresh = waiting or stream.read(_PIECE)
        if not fresh:
            raise Rejected("the gzip file is cut short")
        packed += 0 if waiting else len(fresh)
        try:
            piece = member.decompress(fresh, _PIECE)
        except zlib.error as error:
            raise Rejected(f"not a sound gzip file: {error}") from error
        waiting = member.unconsumed_tail
        unpacked += len(piece)
        if unpacked > LONGEST_TEXT:
            raise Rejected(f"more than {LONGEST_TEXT} bytes of text")
        if unpacked > LARGEST_RATIO * (packed if size is None else size) + RATIO_ALLOWANCE:
            raise Rejected(f"more than {LARGEST_RATIO} times as much text as compressed bytes")
        yield piece
    if member.unused_data or stream.read(1):
        raise Rejected("something follows the gzip member")


def _split_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of the text, without their line feeds."""
    open_line: list[bytes] = []
    length = 0
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            whole = b"".join([*open_line, line])
            open_line, length = [], 0
            if len(whole) > LONGEST_LINE:
                raise Rejected(f"a line of more than {LONGEST_LINE} bytes")
            yield whole
        open_line.append(rest)
        length += len(rest)
        if length > LONGEST_LINE:
            raise Rejected(f"a line of more than {LONGEST_LINE} bytes")
    if length:
        raise Rejected("the last line has no line feed")
