"""Single precision: the rounding of programs that are handed columns in float32.

In real numbers a cast is the identity, so that the model is the same; its program rounds more. What a column is off by is known from how it was traced (`transformers.traced_columns`). What the estimator does
with float32 columns is its library's own business:

    libsvm                              converts them to doubles: nothing of its own is rounded otherwise
    perceptrons                         calculate in the precision of their stored weights; of float32 weights no error is stated
    sums of weighted columns, squares   calculate in single precision wherever parameters are float32 too: every rounding counts as one of single precision
    polynomials, Gaussians, products    the same, and no error is stated: they are compared with, and asked about every pair that is shown

Numbers beyond single precision are infinite there: a space that reaches them is refused, and no error is stated of a sum that may.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.program_rounding import LARGEST_SINGLE
from likewise.importers.mixing import is_mixer, parts_of
from likewise.importers.registry import is_sklearn_class
from likewise.importers.transformers.casts import find_cast
from likewise.importers.transformers.traced_columns import CAST, Step

if TYPE_CHECKING:
    from likewise.families.family import Rounding
    from likewise.families.scored_model import Model
    from likewise.importers.transformers.embedding import EmbeddedColumns
    from likewise.importers.transformers.traced_columns import Line

LIBSVM = ("SVC", "NuSVC", "SVR", "NuSVR")
UNDESCRIBED = ("NearestCentroid",)  # which compares distances that it computes in its own way
SMALLEST_SCALE = 1 / Fraction(2) ** 100  # below it a stored double may be denormal in single precision, or 0
HINT = "fit the pipeline on float64 data, without casts, and encoders with dtype=numpy.float64"


def column_rounding(
    model: Model, embedded: EmbeddedColumns, final: Any, *, described: bool, single: bool
) -> Rounding:
    """The rounding of a model's program with that of its columns; `single`: it calculates with them in single precision, or steps in front of it that mix them do."""
    known, lines = model.rounding, embedded.lines
    if known is None:
        raise UnsupportedModel(f"no rounding is known of {model.family}", hint=HINT)
    described = described and embedded.settled
    if not single:
        made: Rounding = known.of_columns(lines, described=described)
        return made
    found: Rounding | None = None
    if type(final).__name__ not in UNDESCRIBED:
        found = known.of_single_columns(model, embedded.inputs.space, lines, described=described)
    if found is None:
        raise UnsupportedModel(
            f"{model.family} is handed float32, so that it calculates in single precision, and how it does is not known",
            hint=HINT,
        )
    return found


def converts(final: Any) -> bool:
    """Whether an estimator calculates in double precision, whatever it is handed."""
    return is_sklearn_class(final) and type(final).__name__ in LIBSVM


def mixes_singles(steps: Sequence[tuple[str, Any]], embedded: EmbeddedColumns) -> bool:
    """Whether columns may be mixed in single precision: all are single, or those that mix some come after a cast, an encoder of float32, or rows of float32."""
    return embedded.single or _mixes_singles(steps, given=bool(embedded.inputs.single))[0]


def _mixes_singles(steps: Sequence[tuple[str, Any]], *, given: bool) -> tuple[bool, bool]:
    """Whether a step mixes columns that may be single, and whether what comes out may be."""
    mixes = False
    for name, part in steps:
        mixes = mixes or (given and is_mixer(part))
        inside = parts_of(part)
        chain = type(part).__name__ == "Pipeline"
        found = [
            _mixes_singles(some, given=given) for some in ([inside] if chain else [[one] for one in inside])
        ]
        mixes = mixes or any(one for one, _ in found)
        given = (
            given
            or any(single for _, single in found)
            or _makes_singles(part, Step(path=()).inside(name, part))
        )
    return mixes, given


def _makes_singles(part: Any, step: Step) -> bool:
    if not is_sklearn_class(part):
        return False
    if step.kind == "FunctionTransformer":
        return part.func is not None and find_cast(part, step) == CAST
    try:
        return hasattr(part, "dtype") and np.dtype(part.dtype) == np.float32
    except TypeError:
        return False


def check_casts(embedded: EmbeddedColumns) -> None:
    """Refuse numbers, on the way of a column that is cast, that are beyond single precision, or scales too small for it."""
    space = embedded.inputs.space
    for line, column in zip(embedded.lines, embedded.columns, strict=True):
        if not line.single or column.table is not None or column.pieces is not None:
            continue
        name = space.names[column.feature]
        ends = [Fraction(end) for end in space[name].code_range]
        if not all(_stays_single(line, end) for end in ends):
            raise UnsupportedModel(
                f"{name!r} is cast to float32, and comes to numbers that are too large or too small for it",
                hint="use units in which the column is of ordinary size, or leave out the cast",
            )


def _stays_single(line: Line, value: Fraction) -> bool:
    for operation in line.operations:
        number = operation.number
        if operation.kind == "plus":
            value += number
        elif operation.kind != "cast":
            if not SMALLEST_SCALE < abs(number) < 1 / SMALLEST_SCALE:
                return False
            value = value * number if operation.kind == "times" else value / number
        if not max(abs(value), abs(number)) < LARGEST_SINGLE:
            return False
    return True
