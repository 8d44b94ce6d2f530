"""The bytes of an ONNX file before they are parsed: how many fields they hold, counted without making any.

Two bytes are an empty message, for which a parser takes a hundred: a small file could fill any memory. The format is that of protobuf, fields one after the other, each a key (number and wire type) and

    0    a number of 7 bits a byte, the last one below 128        2    a length and as many bytes: text, packed numbers or a message
    1    8 bytes                                                   5    4 bytes

Which fields are messages is what `onnx` says of its own format. Bytes that are no such fields are left for the parser to refuse.
"""

from __future__ import annotations

from typing import Any

from likewise.errors import UnsupportedModel

MOST_ENTRIES = 300_000  # messages, texts and packed numbers
MOST_SINGLE = 5_000_000  # numbers one by one, as attributes of trees have them
FIXED = {1: 8, 5: 4}
NUMBER, COUNTED = 0, 2
LONGEST_NUMBER = 10  # bytes


def check_entries(content: bytes, descriptor: Any) -> None:
    """Refuse bytes that hold more fields than any model has; `descriptor` is that of the outermost message."""
    entries = singles = 0
    waiting = [(0, len(content), descriptor)]
    known: dict[str, dict[int, Any]] = {}
    while waiting:
        start, end, message = waiting.pop()
        fields = known.setdefault(
            message.full_name,
            {f.number: f.message_type for f in message.fields if f.message_type is not None},
        )
        while start < end:
            if entries > MOST_ENTRIES or singles > MOST_SINGLE:
                most = MOST_ENTRIES if entries > MOST_ENTRIES else MOST_SINGLE
                raise UnsupportedModel(
                    f"is no model to verify: it has more than {most:,} entries",
                    hint="the file is damaged, or was made to fill memory",
                )
            key, start = _number(content, start, end)
            kind = key & 7
            if kind == NUMBER:
                singles += 1
                _, start = _number(content, start, end)
            elif kind == COUNTED:
                length, start = _number(content, start, end)
                entries += 1
                inner = fields.get(key >> 3)
                if inner is not None and start + length <= end:
                    waiting.append((start, start + length, inner))
                start += length
            else:
                singles += 1
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
