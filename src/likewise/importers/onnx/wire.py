"""The bytes of an ONNX file before they are parsed: how many fields they hold, counted without making any,
and that each is one that is read.

Two bytes are an empty message, for which a parser takes a hundred: a small file could fill any memory. The format is that of protobuf, fields one after the other, each a key (number and wire type) and

    0    a number of 7 bits a byte, the last one below 128        2    a length and as many bytes: text, packed numbers or a message
    1    8 bytes                                                   5    4 bytes

What fields there are is what `onnx` says of its own format. Programs differ in what they make of others,
and of a single one that comes twice: some take the last, some join them.
"""

from __future__ import annotations

from typing import Any, NoReturn

from likewise.errors import UnsupportedModel

MOST_ENTRIES = 300_000  # messages, texts and packed numbers
MOST_SINGLE = 5_000_000  # numbers one by one, as attributes of trees have them
FIXED = {1: 8, 5: 4}
NUMBER, COUNTED = 0, 2
LONGEST_NUMBER = 10  # bytes
WIRE = {
    1: 1,
    6: 1,
    16: 1,
    2: 5,
    7: 5,
    15: 5,
    9: COUNTED,
    11: COUNTED,
    12: COUNTED,
}  # by type of a field; of all others NUMBER
# Functions take the place of operators, `segment` cuts a tensor, and the others say what a program may do.
UNREAD = {
    "ModelProto": ("functions", "training_info", "configuration"),
    "GraphProto": ("quantization_annotation",),
    "NodeProto": ("overload", "device_configurations"),
    "AttributeProto": ("ref_attr_name",),
    "TensorProto": ("segment",),
}


def check_entries(content: bytes, descriptor: Any) -> None:
    """Refuse bytes that hold more fields than any model has, or fields that are not read; `descriptor` is
    that of the outermost message."""
    entries = singles = 0
    waiting = [(0, len(content), descriptor)]
    known: dict[str, dict[int, tuple[Any, Any, bool]]] = {}
    while waiting:
        start, end, message = waiting.pop()
        if message.full_name not in known:
            known[message.full_name] = _fields(message)
        fields, seen = known[message.full_name], set()
        while start < end:
            if entries > MOST_ENTRIES or singles > MOST_SINGLE:
                most = MOST_ENTRIES if entries > MOST_ENTRIES else MOST_SINGLE
                raise UnsupportedModel(
                    f"is no model to verify: it has more than {most:,} entries",
                    hint="the file is damaged, or was made to fill memory",
                )
            key, start = _number(content, start, end)
            kind = key & 7
            field, wire, several = fields.get(key >> 3, (None, None, False))
            if field is None or (kind != wire and not (several and kind == COUNTED)):
                _refuse(f"field {key >> 3} of a {message.name}", "is not read")
            if not several:
                if key in seen:
                    _refuse(f"the {field.name} of a {message.name}", "is there twice")
                seen.add(key)
            if kind == NUMBER:
                singles += 1
                _, start = _number(content, start, end)
            elif kind == COUNTED:
                length, start = _number(content, start, end)
                entries += 1
                if field.message_type is not None and start + length <= end:
                    waiting.append((start, start + length, field.message_type))
                start += length
            else:
                singles += 1
                start += FIXED[kind]


def _fields(message: Any) -> dict[int, tuple[Any, Any, bool]]:
    """By number the fields of a message that are read, how each is written, and whether there may be
    several."""
    unread, repeated = UNREAD.get(message.name, ()), 3
    return {
        one.number: (
            one,
            WIRE.get(one.type, NUMBER),
            one.is_repeated if hasattr(one, "is_repeated") else one.label == repeated,
        )
        for one in message.fields
        if one.name not in unread
    }


def _refuse(what: str, why: str) -> NoReturn:
    raise UnsupportedModel(
        f"is not an ONNX model that all programs read alike: {what} {why}",
        hint="export it again, with functions inlined (onnx.inliner.inline_local_functions)",
    )


def _number(content: bytes, start: int, end: int) -> tuple[int, int]:
    """A number and where it ends; past the end if it does not."""
    value = 0
    for i in range(min(LONGEST_NUMBER, end - start)):
        byte = content[start + i]
        value |= (byte & 127) << (7 * i)
        if byte < 128:
            return value, start + i + 1
    return 0, end
