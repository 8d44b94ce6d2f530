"""Embedding: the columns that reach the model, as exact columns of a space.

Lines go in as they were traced. Tables hold what the fitted preprocessing itself computes: it is run once on
individuals that take every discrete feature through all its values, and its doubles are taken exactly. A feature
that this needs levels of is declared anew, as is one that the model sees through a function (`model_space`).

Columns with steps of a continuous feature hold what the program computes as well, for both ends of every piece; curves
go in as they were traced, and are compared with it there (`curve_checks`). Missing values are put to the program too: what it makes of them is a table's entry, a piece of
its own, or confirmed to be what it makes of the number that stands for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError, InternalError, UnsupportedModel
from likewise.importers.inputs import refuse_gap
from likewise.importers.transformers.composition import trace_transformer
from likewise.importers.transformers.curve_checks import check_curves
from likewise.importers.transformers.markers import check_markers, raw_columns
from likewise.importers.transformers.model_space import declare_space, take_in_pieces
from likewise.importers.transformers.traced_columns import Line, Step, TracedColumn
from likewise.model.embedding import Column
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.pieces import MOST_CUTS, add_polynomials, make_piecewise
from likewise.spec.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs

    Floats = NDArray[np.float64]

MOST_ENTRIES = 2_000_000  # numbers in all tables together
BATCH_ROWS = 4096  # individuals transformed at a time

Steps = Sequence[tuple[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedColumns:
    """Exact columns over `inputs.space`; `lines` tell how each is rounded, and `settled` that tables are not; the largest
    codes of the features `highest` stand for missing. `single`: they are handed over in single precision."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    settled: bool
    inputs: Inputs
    highest: frozenset[int] = frozenset()
    single: bool = False


def embed(steps: Steps, inputs: Inputs, *, model: str) -> EmbeddedColumns:
    """The columns that a fitted preprocessing makes of the features, for the estimator called `model`."""
    space = inputs.space
    traced = raw_columns(inputs)
    for name, transformer in steps:
        traced = trace_transformer(transformer, traced, Step(path=()).inside(name, transformer))
    if not traced:
        raise UnsupportedModel(
            f"no column is left after step {steps[-1][0]!r}", hint="a model of nothing treats everybody alike"
        )
    _check_numbers(traced, model)
    traced = take_in_pieces(space, traced, inputs.measured)
    recoding, highest = declare_space(space, traced)
    inputs = replace(inputs, recoding=recoding)
    _check_missing_treatment(steps, traced, inputs)
    check_markers(
        inputs, level_rows(inputs.space, [1] * len(inputs.space), 0, 1), partial(transform_rows, steps)
    )
    tables, stairs = _level_tables(steps, traced, inputs), _step_columns(steps, traced, inputs)
    columns = [
        stairs[c] if c in stairs else _exact_column(one, table, inputs.space)
        for c, (one, table) in enumerate(zip(traced, tables, strict=True))
    ]
    check_curves(
        traced,
        columns,
        level_rows(inputs.space, [1] * len(inputs.space), 0, 1)[0],
        [feature.code_range for feature in inputs.space.features.values()],
        lambda codes: transform_rows(steps, inputs.of(codes)),
    )
    for c, value in _values_at_missing(steps, traced, inputs, highest).items():
        columns[c] = _add_missing_value(columns[c], value, space[traced[c].name])
    return EmbeddedColumns(
        columns=tuple(columns),
        lines=tuple(
            one.line if one.line is not None and column.table is None else Line()
            for one, column in zip(traced, columns, strict=True)
        ),
        settled=all(one.settled for one in traced),
        inputs=inputs,
        highest=highest,
        single=_gives_singles(steps, inputs),
    )


def _gives_singles(steps: Steps, inputs: Inputs) -> bool:
    """Whether what reaches the model is in single precision."""
    handed, _ = run_steps(steps, inputs.of(level_rows(inputs.space, [1] * len(inputs.space), 0, 1)))
    return bool(_as_matrix(handed).dtype == np.float32)


def _exact_column(traced: TracedColumn, table: Floats | None, space: Space) -> Column:
    if table is not None:
        exact = {value: Fraction(value) for value in set(table.tolist())}
        return Column(feature=traced.index, table=tuple(exact[value] for value in table.tolist()))
    if traced.line is None:
        raise InternalError(f"no table for a column of {space.names[traced.index]!r}")
    if traced.curve is not None:
        polynomials = (
            add_polynomials([traced.line.slope * c for c in p], [traced.line.offset])
            for p in traced.curve.polynomials
        )
        return Column(feature=traced.index, pieces=make_piecewise(traced.curve.cuts, polynomials))
    return Column(feature=traced.index, slope=traced.line.slope, offset=traced.line.offset)


# -- missing values ---------------------------------------------------------------------------------------


def _check_missing_treatment(steps: Steps, traced: Sequence[TracedColumn], inputs: Inputs) -> None:
    """That the program makes of missing values what it makes of the numbers that they are said to be treated as."""
    gaps = {k: part.gap for k, part in inputs.recoding.parts.items() if part.gap is not None}
    if not gaps:
        return
    rows = inputs.recoding.raw(level_rows(inputs.space, [1] * len(inputs.space), 0, 1)).repeat(2, axis=0)
    for k, (code, number) in gaps.items():
        rows[:, k] = code, number
    made = transform_rows(steps, inputs.of_raw(rows))
    _check_shape(made, traced, steps)
    for c, one in enumerate(traced):
        if one.index in gaps and not made[0, c] == made[1, c]:
            raise UnsupportedModel(
                f"the preprocessing gives {made[0, c]} where {one.name!r} is missing, and {made[1, c]} where it is "
                f"{gaps[one.index][1]!r}, which it was fitted to put there",
                hint="a step was changed after fitting: call fit(X, y) on the whole pipeline again",
            )


def _values_at_missing(
    steps: Steps, traced: Sequence[TracedColumn], inputs: Inputs, highest: frozenset[int]
) -> dict[int, float]:
    """What the columns of features are whose largest code stands for missing, at that code."""
    if not highest:
        return {}
    codes = level_rows(inputs.space, [1] * len(inputs.space), 0, 1)
    for k in highest:
        codes[0, k] = inputs.space[inputs.space.names[k]].code_range[1]
    made = transform_rows(steps, inputs.of(codes))
    _check_shape(made, traced, steps)
    for c, one in enumerate(traced):
        if one.index in highest and not np.isfinite(made[0, c]):
            refuse_gap(one.name)
    return {c: float(made[0, c]) for c, one in enumerate(traced) if one.index in highest}


def _add_missing_value(column: Column, value: float, feature: Feature) -> Column:
    """A line, and above the numbers what the program makes of a missing one."""
    if not isinstance(feature, Continuous) or column.table is not None or column.pieces is not None:
        raise InternalError("missing values of a column that is no line")
    line = [column.offset, column.slope]
    return Column(
        feature=column.feature, pieces=make_piecewise([Fraction(feature.hi)], [line, [Fraction(value)]])
    )


# -- tables -----------------------------------------------------------------------------------------------


def _level_tables(steps: Steps, traced: Sequence[TracedColumn], inputs: Inputs) -> list[Floats | None]:
    """What the preprocessing computes for each level of each column's feature; None for lines."""
    space = inputs.space
    sizes = [_level_count(space, name) for name in space.names]
    places = [c for c, one in enumerate(traced) if sizes[one.index]]
    tables: list[Floats | None] = [None] * len(traced)
    if places:
        _check_size([(traced[c].name, sizes[traced[c].index]) for c in places])
    for c in places:
        tables[c] = np.empty(sizes[traced[c].index])
    longest = max((sizes[traced[c].index] for c in places), default=1)
    for start in range(0, longest, BATCH_ROWS):
        made = transform_rows(
            steps, inputs.of(level_rows(space, sizes, start, min(start + BATCH_ROWS, longest)))
        )
        _check_shape(made, traced, steps)
        for c in places:
            table = tables[c]
            if table is not None and start < len(table):
                stop = min(start + BATCH_ROWS, len(table))
                table[start:stop] = made[: stop - start, c]
    for c in places:
        _check_finite(tables[c], traced[c], space)
    return tables


def _step_columns(steps: Steps, traced: Sequence[TracedColumn], inputs: Inputs) -> dict[int, Column]:
    """Columns with steps: what the preprocessing computes at both ends of every piece, which must be the same."""
    places = [c for c, one in enumerate(traced) if one.starts is not None]
    if not places:
        return {}
    starts: dict[int, list[float]] = {}
    for c in places:
        starts.setdefault(traced[c].index, []).extend(traced[c].starts or ())
    walks = {k: _piece_ends(inputs.space, k, sorted(set(found))) for k, found in starts.items()}
    codes = level_rows(inputs.space, [1] * len(inputs.space), 0, max(map(len, walks.values())))
    for k, walk in walks.items():
        codes[: len(walk), k], codes[len(walk) :, k] = walk, walk[-1]
    made = np.concatenate(
        [
            transform_rows(steps, inputs.of(codes[i : i + BATCH_ROWS]))
            for i in range(0, len(codes), BATCH_ROWS)
        ]
    )
    _check_shape(made, traced, steps)
    return {c: _step_column(traced[c], walks[traced[c].index], made[:, c], steps) for c in places}


def _piece_ends(space: Space, k: int, starts: Sequence[float]) -> Floats:
    """First and last double of each piece, in turn."""
    feature = space[space.names[k]]
    if not isinstance(feature, Continuous):
        raise InternalError("steps of a feature that is not continuous")
    if len(starts) > MOST_CUTS:
        raise UnsupportedModel(
            f"the preprocessing cuts {space.names[k]!r} into {len(starts) + 1:,} pieces",
            hint=f"at most {MOST_CUTS:,} cuts are taken: fit it with fewer bins",
        )
    first = np.array([float(feature.lo), *starts])
    last = np.append(np.nextafter(first[1:], -np.inf), float(feature.hi))
    return np.stack([first, last], axis=1).ravel()


def _step_column(traced: TracedColumn, walk: Floats, values: Floats, steps: Steps) -> Column:
    left, right = values[: len(walk) : 2], values[1 : len(walk) : 2]
    _check_finite_steps(values[: len(walk)], walk, traced)
    if (left != right).any():
        place = int(np.argmax(left != right))
        raise UnsupportedModel(
            f"step {steps[0][0]!r} and those after it do not put {traced.name!r} = {walk[2 * place]!r} and "
            f"{walk[2 * place + 1]!r} together, as their fitted numbers say",
            hint="fit the pipeline on float64 data, with scikit-learn's own transformers",
        )
    cuts = [Fraction(cut) for cut in walk[1:-1:2].tolist()]
    return Column(feature=traced.index, pieces=make_piecewise(cuts, [[Fraction(v)] for v in left.tolist()]))


def _check_finite_steps(values: Floats, walk: Floats, traced: TracedColumn) -> None:
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise UnsupportedModel(
            f"the preprocessing gives {values[place]} where {traced.name!r} is {walk[place]!r}",
            hint="leave that value out of the space",
        )


def _level_count(space: Space, name: str) -> int:
    feature = space[name]
    return feature.size if isinstance(feature, (Categorical, Ordinal)) else 0


def level_rows(space: Space, sizes: Sequence[int], start: int, stop: int) -> Floats:
    """Individuals number `start` to `stop`: every feature with levels at this level, as far as it has any."""
    codes = np.empty((stop - start, len(space)))
    for k, name in enumerate(space.names):
        feature = space[name]
        if isinstance(feature, (Continuous, Integer)):
            codes[:, k] = feature.lo
        else:
            codes[:, k] = np.minimum(np.arange(start, stop), sizes[k] - 1)
    return codes


def transform_rows(
    steps: Steps, inputs: Any, *, taken: Callable[[Any], Any] | None = None, half: bool = False
) -> Floats:
    """The matrix that reaches the model, from the fitted transformers themselves; `matrix_reading` is what the model makes of it. In
    half precision only for models that take it for the doubles that it holds."""
    handed, step = run_steps(steps, inputs)
    matrix = _as_matrix(handed) if taken is None else taken(handed)
    if not half and matrix.dtype.kind == "f" and matrix.dtype.itemsize < np.dtype(np.float32).itemsize:
        step.refuse(
            f"gives {matrix.dtype}, so that the model may calculate in half precision",
            hint="fit the pipeline on float64 data, and encoders with dtype=numpy.float64",
        )
    try:
        return np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        step.refuse(
            f"gives values that are no numbers: {error}",
            hint="encode text with OneHotEncoder or OrdinalEncoder",
        )


def _as_matrix(handed: Any) -> Any:
    return handed.toarray() if hasattr(handed, "toarray") else np.asarray(handed)


def run_steps(steps: Steps, inputs: Any) -> tuple[Any, Step]:
    """What comes out of the last step, in its own type, and which step that is."""
    step = Step(path=())
    for name, transformer in steps:
        if transformer is not None and not isinstance(transformer, str):
            step = Step(path=()).inside(name, transformer)
            inputs = _transform(transformer, inputs, step)
    return inputs, step


def _transform(transformer: Any, inputs: Any, step: Step) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return transformer.transform(inputs)
    except Exception as error:
        raise DataError(
            f"{step} fails on values of the space: {type(error).__name__}: {error}",
            hint="the space must describe the columns exactly as the pipeline was fitted on them",
        ) from error


def _check_numbers(traced: Sequence[TracedColumn], model: str) -> None:
    for one in traced:
        if one.text is not None:
            raise UnsupportedModel(
                f"{model} takes numbers, but feature {one.name!r} reaches it as text ({one.text!r}): no step encodes it",
                hint="put a OneHotEncoder on it in a ColumnTransformer, or drop it there",
            )


def _check_size(tables: Sequence[tuple[str, int]]) -> None:
    if sum(size for _, size in tables) > MOST_ENTRIES:
        name = max(tables, key=lambda one: one[1])[0]
        raise UnsupportedModel(
            f"the model has {len(tables):,} columns with tables of {sum(s for _, s in tables):,} numbers in all; "
            f"the longest are of {name!r}",
            hint=f"at most {MOST_ENTRIES:,} numbers are taken: narrow the bounds of {name!r}, or use coarser units",
        )


def _check_shape(made: Floats, traced: Sequence[TracedColumn], steps: Steps) -> None:
    if made.shape[1] != len(traced):
        raise UnsupportedModel(
            f"{Step(path=()).inside(*steps[-1])} gives {made.shape[1]} columns where {len(traced)} were expected",
            hint="a step was changed after fitting: call fit(X, y) on the whole pipeline again",
        )


def _check_finite(table: Floats | None, traced: TracedColumn, space: Space) -> None:
    if table is None or np.isfinite(table).all():
        return
    place = int(np.argmin(np.isfinite(table)))
    value = space.value(traced.index, float(place))
    if value is None:
        refuse_gap(traced.name)
    raise UnsupportedModel(
        f"the preprocessing gives {table[place]} where {traced.name!r} is {value!r}",
        hint="leave that value out of the space, or encode it as a number",
    )
