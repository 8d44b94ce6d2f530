"""Elements and rows of arrays, and loops over ranges, in as few instructions as they need.

numba puts an array's record on the stack to read a field of it, reads all of them, and divides to find out how often a loop with steps of one runs. LLVM removes that again, but
it has to be written, read and gone through first, and it is what most of a function consists of. What is computed is the same: negative indices count from the end, nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, types
from numba.np.arrayobj import fix_integer_index, load_item, store_item

Field = Callable[..., Any]  # of an array: its position, and the dimension where it has several
META, PARENT, ITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES = range(7)  # fields of numba's arrays
CURRENT, STOP, STEP, LEFT = range(4)  # of its iterators over ranges; the first and the last one are places


def index_types(array: Any, index: Any) -> tuple[Any, ...] | None:
    """The types of plain integers in an index; None of anything else, of which numba takes care."""
    parts: Any = index  # numba does not say what tuples of types have
    kinds = tuple(parts.types) if isinstance(index, types.BaseTuple) else (index,)
    plain = isinstance(array, types.Array) and array.layout in "CA" and 0 < len(kinds) <= array.ndim
    return kinds if plain and all(isinstance(kind, types.Integer) for kind in kinds) else None


def index_values(builder: Any, index: Any, value: Any) -> list[Any]:
    """The integers of an index."""
    return cgutils.unpack_tuple(builder, value, len(index)) if isinstance(index, types.BaseTuple) else [value]


def pointer_to(
    context: Any, builder: Any, kind: Any, field: Field, kinds: Sequence[Any], values: Sequence[Any]
) -> Any:
    """Where the element, or the first one of a row, is."""
    at = [
        _from_the_beginning(context, builder, each, value, field, axis)
        for axis, (each, value) in enumerate(zip(kinds, values, strict=True))
    ]
    if kind.layout == "A":
        offsets = [builder.mul(field(STRIDES, axis), index) for axis, index in enumerate(at)]
        offset = offsets[0]
        for more in offsets[1:]:
            offset = builder.add(offset, more)
        return cgutils.pointer_add(builder, field(DATA), offset)
    place = at[0]
    for axis in range(1, kind.ndim):
        place = builder.mul(place, field(SHAPE, axis))
        if axis < len(at):
            place = builder.add(place, at[axis])
    return builder.gep(field(DATA), [place])


def _from_the_beginning(context: Any, builder: Any, kind: Any, value: Any, field: Field, axis: int) -> Any:
    if isinstance(value, llvm.Constant) and isinstance(value.constant, int) and value.constant >= 0:
        return context.cast(builder, value, kind, types.intp)
    return fix_integer_index(context, builder, kind, value, field(SHAPE, axis))


def element(context: Any, builder: Any, kind: Any, pointer: Any) -> Any:
    """What is there."""
    return load_item(context, builder, kind, pointer)


def put(context: Any, builder: Any, kind: Any, value: Any, pointer: Any) -> None:
    """Put something there."""
    store_item(context, builder, kind, value, pointer)


def row(context: Any, builder: Any, kind: Any, field: Field, pointer: Any, result: Any) -> Any:
    """The dimensions of an array that no index was given for, as an array that holds what it is a part of."""
    dropped = kind.ndim - result.ndim
    items = field(SHAPE, dropped)
    for axis in range(dropped + 1, kind.ndim):
        items = builder.mul(items, field(SHAPE, axis), flags=["nsw"])
    record = llvm.Constant(context.get_value_type(result), llvm.Undefined)
    for position, value in (
        (META, field(META)),
        (PARENT, field(PARENT)),
        (ITEMS, items),
        (ITEM_SIZE, field(ITEM_SIZE)),
        (DATA, pointer),
    ):
        record = builder.insert_value(record, value, position)
    for position in (SHAPE, STRIDES):
        for axis in range(result.ndim):
            record = builder.insert_value(record, field(position, dropped + axis), [position, axis])
    context.nrt.incref(builder, result, record)
    return record


# -- loops ------------------------------------------------------------------------------------------------------


def iterator_by_one(context: Any, builder: Any, kind: Any, start: Any, stop: Any) -> Any:
    """The iterator of a range of steps of one: of type `kind`."""
    step, nothing = stop.type(1), stop.type(0)
    difference = builder.sub(stop, start)
    left = builder.select(builder.icmp_signed(">", difference, nothing), difference, nothing)
    record = llvm.Constant(context.get_value_type(kind), llvm.Undefined)
    for position, value in ((CURRENT, start), (LEFT, left)):
        place = cgutils.alloca_once(builder, value.type)
        builder.store(value, place)
        record = builder.insert_value(record, place, position)
    for position, value in ((STOP, stop), (STEP, step)):
        record = builder.insert_value(record, value, position)
    return record


def next_of(context: Any, builder: Any, kind: Any, iterator: Any) -> Any:
    """The next number of an iterator and whether there was one: a pair of type `kind`. Where there was none there never will be."""
    places = builder.extract_value(iterator, CURRENT), builder.extract_value(iterator, LEFT)
    current, left = map(builder.load, places)
    valid = builder.icmp_signed(">", left, left.type(0))
    builder.store(builder.sub(left, left.type(1), flags=["nsw"]), places[1])
    builder.store(builder.add(current, builder.extract_value(iterator, STEP)), places[0])
    pair = llvm.Constant(context.get_value_type(kind), llvm.Undefined)
    return builder.insert_value(builder.insert_value(pair, current, 0), valid, 1)
