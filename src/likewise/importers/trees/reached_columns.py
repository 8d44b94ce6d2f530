"""Reaching: the columns that reach a model of trees, each a function of ONE raw feature as the program computes it.

    a number's column    rises or falls with the number or is constant: arithmetic with stored doubles is monotone also when rounded
    in steps             constant between known numbers (bins)
    a table              what each level of a feature becomes, by running the fitted preprocessing itself

A missing number is one value more: `missing` is what the preprocessing makes of it, NaN where it leaves it alone. Numbers that
tables are needed of are declared anew as ordinal features of their values, see `likewise.importers.transformers.embedding`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.importers.recoding import FeatureRecoding, Recoding
from likewise.importers.transformers.composition import trace_transformer
from likewise.importers.transformers.embedding import BATCH_ROWS, level_rows, run_steps, transform_rows
from likewise.importers.transformers.markers import check_markers, raw_columns
from likewise.importers.transformers.traced_columns import MOST_CODES, Step, TracedColumn, listable_values
from likewise.importers.trees.library_forest import BentTest
from likewise.importers.trees.matrix_reading import (
    LARGEST_EXACT_FLOAT32,
    PLAIN_READING,
    MatrixReading,
    is_sparse,
)
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.numbers import EXACT_INT_LIMIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

Steps = Sequence[tuple[str, Any]]
Numbering = Mapping[object, float]
MOST_ENTRIES = 20_000_000  # numbers in all tables together


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPreprocessing:
    """Preprocessing that a library does inside of its model: a transformer, and what it does to traced columns."""

    name: str
    transformer: Any
    trace: Callable[[tuple[TracedColumn, ...], Step], tuple[TracedColumn, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReachedColumn:
    """A column. Of a number: `slope` is the sign of what it does (None if it is in steps or a table), `bare` that it is the
    number itself, without any preprocessing. In steps: `last` has the last number of each and `values` what the column is there. Of levels: `table`."""

    feature: int
    slope: int | None = None
    bare: bool = False
    last: Floats | None = None
    values: Floats | None = None
    table: Floats | None = None
    missing: float | None = None  # None where no number is missing
    line: tuple[float, float] = (1.0, 0.0)  # slope and offset, about: where to look first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReachedColumns:
    """All columns, over `inputs.space`, and the program that computes them from codes of that space; `settled` that it gives the
    same numbers on every machine."""

    columns: tuple[ReachedColumn, ...]
    inputs: Inputs
    matrix: Callable[[Floats], Floats]
    settled: bool


def reach_columns(
    steps: Steps,
    inputs: Inputs,
    *,
    model: str,
    own: OwnPreprocessing | None = None,
    numbered: Mapping[int, Numbering] | None = None,
    listed_columns: frozenset[int] = frozenset(),
    taken: MatrixReading = PLAIN_READING,
) -> ReachedColumns:
    """The columns that reach the estimator called `model` after these steps and its own preprocessing.

    `numbered` has the columns whose values the model numbers itself, by a mapping of them (NaN for what it does not have); they
    must come to it as they are. `listed_columns` are those that it tests for categories: numbers among them become levels.
    `matrix_reading` is how it reads what the last step hands over.
    """
    traced = _trace_steps(steps, inputs, own)
    numbers = {c for c, one in enumerate(traced) if one.line is None and one.starts is None}
    inputs = replace(
        inputs,
        recoding=_levels_recoding(
            inputs.space, {traced[c].index for c in numbers | listed_columns | set(numbered or ())}, model
        ),
    )
    space = inputs.space
    traced = _trace_steps(steps, inputs, own)
    _check_levels(space, model)
    _check_text_columns(traced, numbered or {}, model)
    everything = (*steps, *(() if own is None else ((own.name, own.transformer),)))
    if not everything:
        matrix = _pass_columns(inputs, numbered or {})
    elif numbered:
        raise UnsupportedModel(
            f"{model} numbers the categories of {traced[min(numbered)].name!r} itself, behind a pipeline",
            hint="encode them with OrdinalEncoder or OneHotEncoder, or fit the model without a pipeline",
        )
    else:
        matrix = _preprocess(everything, inputs, len(traced), taken)
        _check_matrix(everything, inputs, traced, taken, model)
        check_markers(
            inputs,
            level_rows(space, [1] * len(space), 0, 1),
            partial(transform_rows, everything, half=True),
        )
    return ReachedColumns(
        columns=_make_columns(traced, space, matrix, bare=not everything),
        inputs=inputs,
        matrix=matrix,
        settled=all(one.settled for one in traced),
    )


def _trace_steps(steps: Steps, inputs: Inputs, own: OwnPreprocessing | None) -> tuple[TracedColumn, ...]:
    traced = raw_columns(inputs)
    for name, transformer in steps:
        traced = trace_transformer(transformer, traced, Step(path=()).inside(name, transformer))
    if own is not None:
        traced = own.trace(traced, Step(path=()).inside(own.name, own.transformer))
    return traced


def _levels_recoding(space: Space, places: set[int], model: str) -> Recoding:
    """The space with these features as levels; numbers that may be missing stay as they are otherwise, as trees know them."""
    changed = {k: space[space.names[k]] for k in places if not _has_levels(space, k)}
    levels = {space.names[k]: _levels_of(space.names[k], feature, model) for k, feature in changed.items()}
    parts = {k: FeatureRecoding(shift=float(feature.code_range[0])) for k, feature in changed.items()}
    return Recoding(given=space, space=space.replace(levels), parts=parts)


def _has_levels(space: Space, k: int) -> bool:
    return isinstance(space[space.names[k]], (Categorical, Ordinal))


def _levels_of(name: str, feature: Feature, model: str) -> Ordinal:
    values = listable_values(feature)
    if values is None or len(values) > MOST_CODES:
        raise UnsupportedModel(
            f"{model} takes {name!r} for categories, and the space has it as {feature.describe()}",
            hint=f"declare the values that it can take: space.replace({{{name!r}: Categorical([...])}})",
        )
    return Ordinal(values)


def _check_levels(space: Space, model: str) -> None:
    """Whole numbers that are no doubles would be rounded to float32 by some programs at once, by others twice."""
    for name, feature in space.features.items():
        levels = feature.levels if isinstance(feature, (Categorical, Ordinal)) else ()
        large = [level for level in levels if isinstance(level, int) and abs(level) > EXACT_INT_LIMIT]
        if large:
            raise UnsupportedModel(
                f"{model} takes the level {large[0]} of {name!r} for a number, and it is beyond 2**53",
                hint="use text for the levels, and encode it",
            )


def _check_text_columns(
    traced: Sequence[TracedColumn], numbered: Mapping[int, Numbering], model: str
) -> None:
    for c, one in enumerate(traced):
        if c in numbered:
            if not one.untouched:
                raise UnsupportedModel(f"{model} numbers {one.name!r} itself, after a step that changes it")
        elif one.text is not None:
            raise UnsupportedModel(
                f"{model} takes numbers, but feature {one.name!r} reaches it as text ({one.text!r}): no step encodes it",
                hint="put an OrdinalEncoder or a OneHotEncoder on it in a ColumnTransformer, or drop it there",
            )
        elif one.curve is not None:
            raise BentTest(
                f"{model} comes after splines of {one.name!r}, which is continuous: they neither rise nor fall",
                hint="fit the trees on the number itself, which loses nothing",
            )
        elif one.bend is not None:
            raise BentTest(
                f"{model} tests {one.bend.title(one.name)}, and programs do not round that function in its own order",
                hint=f"fit the trees on {one.name!r} itself, which loses nothing, or declare it as Integer(lo, hi)",
            )


def _check_matrix(
    steps: Steps, inputs: Inputs, traced: Sequence[TracedColumn], taken: MatrixReading, model: str
) -> None:
    """Where entries that are not stored are missing, a number that comes to be zero is missing: no test of it rises or falls. Where
    whole numbers are cast to single precision, they must be small enough to stay what they are."""
    if taken == PLAIN_READING:
        return
    space = inputs.space
    handed, step = run_steps(steps, inputs.of(level_rows(space, [1] * len(space), 0, 1)))
    numbers = [(one.name, space[one.name]) for one in traced]
    absent = [name for name, feature in numbers if isinstance(feature, (Continuous, Integer))]
    if taken.absent_missing and is_sparse(handed) and absent:
        raise UnsupportedModel(
            f"{step} gives a sparse matrix, in which {model} takes every zero for a missing value, also that of {absent[0]!r}",
            hint="make it dense: OneHotEncoder(sparse_output=False), ColumnTransformer(..., sparse_threshold=0)",
        )
    large = [
        name
        for name, feature in numbers
        if isinstance(feature, Integer) and max(abs(feature.lo), abs(feature.hi)) > LARGEST_EXACT_FLOAT32
    ]
    if taken.casts(handed) and large:
        raise UnsupportedModel(
            f"{step} gives an array of whole numbers, which {model} casts to float32, and {large[0]!r} goes beyond 2**24",
            hint=f"put a scaler on {large[0]!r}, or let the step give frames: set_output(transform='pandas')",
        )


# -- what the program computes ---------------------------------------------------------------------------


def _preprocess(steps: Steps, inputs: Inputs, width: int, taken: MatrixReading) -> Callable[[Floats], Floats]:
    def matrix(codes: Floats) -> Floats:
        parts = (inputs.of(codes[i : i + BATCH_ROWS]) for i in range(0, len(codes), BATCH_ROWS))
        made = [transform_rows(steps, part, taken=taken.numbers, half=True) for part in parts]
        if made[0].shape[1] != width:
            raise UnsupportedModel(
                f"{Step(path=()).inside(*steps[-1])} gives {made[0].shape[1]} columns where {width} were expected",
                hint="a step was changed after fitting: call fit(X, y) on the whole pipeline again",
            )
        return np.concatenate(made)

    return matrix


def _pass_columns(inputs: Inputs, numbered: Mapping[int, Numbering]) -> Callable[[Floats], Floats]:
    """Columns without any preprocessing: numbers by value, levels by the numbers that they are or that the model gives them."""
    space = inputs.space
    places = [space.names.index(name) for name in inputs.columns]
    tables = [_level_numbers(space, k, numbered.get(c)) for c, k in enumerate(places)]

    def matrix(codes: Floats) -> Floats:
        made = codes[:, places].copy()
        for c, (k, table) in enumerate(zip(places, tables, strict=True)):
            if table is not None:
                made[:, c] = table[made[:, c].astype(np.intp)]
            elif missing_code(space, k) is not None:
                made[made[:, c] == missing_code(space, k), c] = np.nan
        return made

    return matrix


def _level_numbers(space: Space, k: int, numbering: Numbering | None) -> Floats | None:
    feature = space[space.names[k]]
    if not isinstance(feature, (Categorical, Ordinal)):
        return None
    if numbering is not None:
        return np.array([numbering.get(level, np.nan) for level in feature.levels])
    return np.array([np.nan if level is None else float(level) for level in feature.levels])


def missing_code(space: Space, k: int) -> float | None:
    """The code of a missing number, None where the feature has none."""
    feature = space[space.names[k]]
    if isinstance(feature, (Categorical, Ordinal)):
        return None
    return None if feature.missing_code is None else float(feature.missing_code)


# -- columns ---------------------------------------------------------------------------------------------


def _make_columns(
    traced: Sequence[TracedColumn], space: Space, matrix: Callable[[Floats], Floats], *, bare: bool
) -> tuple[ReachedColumn, ...]:
    tables = _level_tables(traced, space, matrix)
    missing = _missing_values(space, matrix)
    columns = []
    for c, one in enumerate(traced):
        if c in tables:
            columns.append(ReachedColumn(feature=one.index, table=tables[c]))
            continue
        gap = None if missing_code(space, one.index) is None else float(missing[c])
        columns.append(replace(_number_column(c, one, space, matrix), missing=gap, bare=bare))
    return tuple(columns)


def _level_tables(
    traced: Sequence[TracedColumn], space: Space, matrix: Callable[[Floats], Floats]
) -> dict[int, Floats]:
    sizes = [
        feature.size if isinstance(feature, (Categorical, Ordinal)) else 0
        for feature in space.features.values()
    ]
    places = [c for c, one in enumerate(traced) if sizes[one.index]]
    if sum(sizes[traced[c].index] for c in places) > MOST_ENTRIES:
        name = max((traced[c].name for c in places), key=lambda one: sizes[space.names.index(one)])
        raise UnsupportedModel(
            f"the model's columns need tables of more than {MOST_ENTRIES:,} numbers in all; the longest are of {name!r}",
            hint=f"narrow the bounds of {name!r}, or use coarser units",
        )
    made = matrix(level_rows(space, sizes, 0, max((sizes[traced[c].index] for c in places), default=1)))
    return {c: made[: sizes[traced[c].index], c].copy() for c in places}


def _missing_values(space: Space, matrix: Callable[[Floats], Floats]) -> Floats:
    """What columns are where all numbers that can be missing are."""
    row = level_rows(space, [1] * len(space), 0, 1)
    for k in range(len(space)):
        code = missing_code(space, k)
        if code is not None:
            row[:, k] = code
    made: Floats = matrix(row)[0]
    return made


def _number_column(
    c: int, one: TracedColumn, space: Space, matrix: Callable[[Floats], Floats]
) -> ReachedColumn:
    if one.starts is not None:
        return _step_column(c, one, space, matrix)
    if one.line is None:
        raise InternalError(f"no table for a column of {one.name!r}")
    slope = (one.line.slope > 0) - (one.line.slope < 0)
    return ReachedColumn(
        feature=one.index,
        slope=slope,
        line=(float(one.line.slope), float(one.line.offset)),
    )


def _step_column(
    c: int, one: TracedColumn, space: Space, matrix: Callable[[Floats], Floats]
) -> ReachedColumn:
    """Both ends of every step are computed, and must be the same."""
    feature = space[one.name]
    if not isinstance(feature, (Continuous, Integer)):
        raise InternalError("steps of a feature that is not a number")
    first = np.array([float(feature.lo), *(one.starts or ())])
    before = first[1:] - 1 if isinstance(feature, Integer) else np.nextafter(first[1:], -np.inf)
    last = np.append(before, float(feature.hi))
    codes = level_rows(space, [1] * len(space), 0, 2 * len(first))
    codes[:, one.index] = np.stack([first, last], axis=1).ravel()
    values = matrix(codes)[:, c].reshape(-1, 2)
    if (values[:, 0] != values[:, 1]).any():
        place = int(np.argmax(values[:, 0] != values[:, 1]))
        raise UnsupportedModel(
            f"the preprocessing does not put {one.name!r} = {first[place]!r} and {last[place]!r} together, as its fitted "
            "numbers say",
            hint="fit the pipeline on float64 data, with scikit-learn's own transformers",
        )
    return ReachedColumn(feature=one.index, last=last, values=values[:, 0])
