"""Which feature is in which column of the inputs of a graph, and what the columns that a graph reads are over a space.

Without a word about it, the columns of all inputs are the features in their order; several inputs of one column each are features by their own names. A column of levels is a table that is computed as the
program does: the number is turned into the type of the input, and from there into every type that the graph turns it into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import DataError, UnsupportedModel, suggest_name
from likewise.model.embedding import Column
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.model_reading import LevelColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.onnx.computed import InputColumn
    from likewise.importers.onnx.model_file import GraphInput
    from likewise.spec.features import Feature, Level
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

LARGEST_WHOLE = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedColumn:
    """A column of the inputs: a feature by its name, or by its place where there are no names; as a number, or whether it has the level (in a tuple of its own)."""

    feature: str | int
    level: tuple[Level] | None = None


def map_columns(
    inputs: Sequence[GraphInput], wanted: Mapping[str, Sequence[str | LevelColumns]]
) -> tuple[MappedColumn, ...]:
    """What every column of the inputs is, by the word of the user or by what is usual."""
    if not wanted:
        if len(inputs) > 1 and all(one.width == 1 for one in inputs):
            return tuple(MappedColumn(feature=one.name) for one in inputs)
        return tuple(MappedColumn(feature=i) for i in range(sum(one.width for one in inputs)))
    names = [one.name for one in inputs]
    for name in wanted:
        if name not in names:
            raise UnsupportedModel(
                f"model.inputs: the model has no input {name!r}{suggest_name(name, names)}",
                hint=f"its inputs: {', '.join(names[:12])}",
            )
    found: list[MappedColumn] = []
    for one in inputs:
        if one.name not in wanted:
            raise UnsupportedModel(f"model.inputs: nothing is said of the input {one.name!r}")
        columns = list(_spelled_out(wanted[one.name]))
        if len(columns) != one.width:
            raise UnsupportedModel(
                f"model.inputs: the input {one.name!r} has {one.width} columns, and {len(columns)} are described"
            )
        found += columns
    return tuple(found)


def _spelled_out(entries: Sequence[str | LevelColumns]) -> Iterator[MappedColumn]:
    for entry in entries:
        if isinstance(entry, str):
            yield MappedColumn(feature=entry)
        else:
            yield from (MappedColumn(feature=entry.feature, level=(level,)) for level in entry.levels)


def feature_names(columns: Sequence[MappedColumn]) -> list[str] | None:
    """The features, each once; None where they are known by their places only."""
    names = list(dict.fromkeys(column.feature for column in columns))
    return [name for name in names if isinstance(name, str)] if isinstance(names[0], str) else None


def feed(inputs: Sequence[GraphInput], columns: Sequence[MappedColumn], rows: Any) -> dict[str, Any]:
    """Rows as the inputs of a graph."""
    found, start = {}, 0
    for one in inputs:
        own = _column_values(columns[start : start + one.width], rows, text=one.dtype == object)
        if one.dtype == object:
            found[one.name] = own.reshape(len(own), *one.shape)
            start += one.width
            continue
        cast = own.astype(one.dtype)
        if one.dtype.kind != "f" and not (cast == own).all():
            raise ValueError(f"the input {one.name!r} takes whole numbers")
        found[one.name] = cast.reshape(len(own), *one.shape)
        start += one.width
    return found


def _column_values(columns: Sequence[MappedColumn], rows: Any, *, text: bool) -> NDArray[Any]:
    """Numbers, or words as they are."""
    dtype = np.dtype(object) if text else np.dtype(np.float64)
    if isinstance(rows, np.ndarray):
        return np.asarray(
            rows[:, np.array([column.feature for column in columns], dtype=np.intp)], dtype=dtype
        )
    import narwhals.stable.v2 as nw

    frame = nw.from_native(rows, eager_only=True)
    names = dict.fromkeys(str(column.feature) for column in columns)
    known = {name: frame[name].to_numpy() for name in names}
    if text:
        return np.stack([np.array(known[str(column.feature)], dtype=object) for column in columns], axis=1)
    return np.stack([_numbers(known[str(column.feature)], column) for column in columns], axis=1)


def _numbers(values: NDArray[Any], column: MappedColumn) -> Floats:
    if column.level is None:
        return values.astype(np.float64)
    (level,) = column.level
    if values.dtype.kind in "biuf" and isinstance(level, str):
        return np.zeros(len(values))
    return np.asarray(values == level, dtype=np.float64)


# -- over a space -----------------------------------------------------------------------------------------


def embed_columns(
    read: Sequence[InputColumn],
    inputs: Sequence[GraphInput],
    mapped: Sequence[MappedColumn],
    space: Space,
    names: Sequence[str],
) -> tuple[Column, ...]:
    """The columns that a graph reads, over the features of a space; `names` are those of the columns that are known by their places."""
    _check_levels(mapped, space)
    types = [one.dtype for one in inputs for _ in range(one.width)]
    found = []
    for column in read:
        own = mapped[column.place]
        name = own.feature if isinstance(own.feature, str) else names[own.feature]
        found.append(_embed(column, own, types[column.place], name, space))
    return tuple(found)


def _embed(
    column: InputColumn, mapped: MappedColumn, dtype: np.dtype[Any], name: str, space: Space
) -> Column:
    feature, place = space[name], space.names.index(name)
    if isinstance(feature, (Continuous, Integer)):
        _check_number(column, dtype, name, feature)
        return Column(feature=place)
    values = np.array(_level_numbers(feature, mapped, name), dtype=np.float64)
    made = values.astype(dtype)
    if dtype.kind != "f" and not (made == values).all():
        raise DataError(f"{name!r} has levels that are no whole numbers, which the model's input takes")
    for cast in column.casts:
        if np.abs(made).max() >= LARGEST_WHOLE and np.dtype(cast).kind == "i":
            _refuse_large(name)
        made = made.astype(np.dtype(cast))
    table = [Fraction(value) for value in made.tolist()]
    if column.among is not None:
        table = [Fraction(value in column.among) for value in table]
    return Column(feature=place, table=tuple(table))


def _level_numbers(feature: Categorical | Ordinal, mapped: MappedColumn, name: str) -> list[float]:
    if mapped.level is not None:
        return [float(level == mapped.level[0]) for level in feature.levels]
    words = [level for level in feature.levels if not isinstance(level, (int, float))]
    if words:
        raise UnsupportedModel(
            f"the model takes numbers, but feature {name!r} has the level {words[0]!r}",
            hint=f"say in the claim file which columns tell its levels apart: {{ feature = {name!r}, levels = [...] }}",
        )
    return [float(level) for level in feature.levels if level is not None]


def _check_number(column: InputColumn, dtype: np.dtype[Any], name: str, feature: Feature) -> None:
    """A number must reach the first layer as it is, but for rounding."""
    if column.among is not None:
        raise UnsupportedModel(
            f"the model asks which number {name!r} is, and {name!r} is a number of any size",
            hint=f"declare {name!r} with its levels: kind = 'categorical' or 'ordinal'",
        )
    kinds = {dtype.kind, *(np.dtype(cast).kind for cast in column.casts)}
    if "i" in kinds and max(abs(end) for end in feature.code_range) >= LARGEST_WHOLE:
        _refuse_large(name)
    if "b" in kinds or ("i" in kinds and isinstance(feature, Continuous)):
        raise UnsupportedModel(
            f"the model takes whole numbers, and {name!r} is a continuous one",
            hint=f"declare {name!r} as an integer, or with its levels",
        )


def _refuse_large(name: str) -> NoReturn:
    raise UnsupportedModel(
        f"the model takes whole numbers, and {name!r} is larger than {LARGEST_WHOLE:,}, beyond which programs differ"
    )


def _check_levels(mapped: Sequence[MappedColumn], space: Space) -> None:
    """Levels that have columns must be those of the space: at most one of them may be without, which all columns are 0 for; or none, if there are columns of levels that the space does not have."""
    columns: dict[str, list[Level]] = {}
    for one in mapped:
        if one.level is not None:
            columns.setdefault(str(one.feature), []).append(one.level[0])
    for name, levels in columns.items():
        feature = space[name]
        if not isinstance(feature, (Categorical, Ordinal)):
            raise UnsupportedModel(
                f"model.inputs: columns tell levels of {name!r} apart, which is a number of the kind {feature.kind}",
                hint=f"declare {name!r} with its levels: kind = 'categorical' or 'ordinal'",
            )
        without = [level for level in feature.levels if level not in levels]
        strange = [level for level in levels if level not in feature.levels]
        if len(without) > (0 if strange else 1):
            raise UnsupportedModel(
                f"model.inputs: {name!r} has the level {without[0]!r}, for which there is no column",
                hint=f"columns are there for {', '.join(map(repr, levels[:12]))}",
            )
