"""The bytes of an ONNX file before they are parsed: how many fields they hold, counted without making any.

Two bytes are an empty message, for which a parser takes a hundred: a small file could fill any memory. The format is that of protobuf, fields one after the other, each a key (number and wire type) and

    0    a number of 7 bits a byte, the last one below 128        2    a length and as many bytes: text, packed numbers or a message
    1    8 bytes                                                   5    4 bytes

Which fields are messages is what `onnx` says of its own format. Bytes that are no such fields are left for the parser to refuse.
"""

from __future__ import annotations

from typing import Any

from likewise.errors import UnsupportedModel

MOST_ENTRIES = 300_000  # fields of all messages
FIXED = {1: 8, 5: 4}
NUMBER, COUNTED = 0, 2
LONGEST_NUMBER = 10  # bytes


def check_entries(content: bytes, descriptor: Any) -> None:
    """Refuse bytes that hold more fields than any network has; `descriptor` is that of the outermost message."""
    left = MOST_ENTRIES
    waiting = [(0, len(content), descriptor)]
    known: dict[str, dict[int, Any]] = {}
    while waiting:
        start, end, message = waiting.pop()
        fields = known.setdefault(
            message.full_name,
            {f.number: f.message_type for f in message.fields if f.message_type is not None},
        )
        while start < end:
            left -= 1
            if left < 0:
                raise UnsupportedModel(
                    f"is no network: it has more than {MOST_ENTRIES:,} entries",
                    hint="the file is damaged, or was made to fill memory",
                )
            key, start = _number(content, start, end)
            kind = key & 7
            if kind == NUMBER:
                _, start = _number(content, start, end)
            elif kind == COUNTED:
                length, start = _number(content, start, end)
                inner = fields.get(key >> 3)
                if inner is not None and start + length <= end:
                    waiting.append((start, start + length, inner))
                start += length
            else:
                start += FIXED.get(kind, end)


def _number(content: bytes, start: int, end: int) -> tuple[int, int]:
    """A number and where it ends; past the end if it does not."""
    value = 0
    for i in range(min(LONGEST_NUMBER, end - start)):
        byte = content[start + i]
        value |= (byte & 127) << (7 * i)
        if byte < 128:
            return value, start + i + 1
    return 0, end
