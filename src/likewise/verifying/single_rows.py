"""Rows in single precision: whether what was found of the model asked in double precision holds of rows like the user's own, whose columns are float32.

A pair is brought to numbers of single precision, each to the nearest, or the two of a feature towards each other, down or up, within the space and as similar as before. If it is still a pair that breaks the claim, exactly and on the model's own
predict, for rows in double precision and for rows in single precision, it is the one that is shown.

A proof has room for single precision where its clearance exceeds the error of the program that is handed such rows. That program is read for itself (`import_model(..., single=)`), with a cast in front of the columns, and must have the same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime
from likewise.errors import DataError, UnsupportedModel
from likewise.families.scored_model import rounding_error
from likewise.importers.imported_model import import_model
from likewise.search.task import sought_of_pair
from likewise.spec.features import Continuous, Feature, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.certificate.certificate import Certificate
    from likewise.model.cases import Witness
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]
    Rounded = Callable[[Floats], Floats]


# -- pairs ------------------------------------------------------------------------------------------------


def single_witness(posed: PosedProblem, witness: Witness) -> Witness | None:
    """A pair like this one, of numbers of single precision, that breaks the claim for rows in either precision; None where none was found."""
    columns = _single_columns(posed)
    if not columns:
        return None
    imported, task = posed.imported, posed.task
    asked = imported.replay.in_single_precision(columns)
    for x, other in _rounded_pairs(posed, witness, columns):
        found = task.referee(x, other)
        if found is None or not _has_singles(posed, found, columns):
            continue
        try:
            if asked.confirms(found.x, found.other, sought_of_pair(task, found.x, found.other)):
                return found
        except DataError:  # its own predict does not take such rows
            return None
    return None


def _single_columns(posed: PosedProblem) -> tuple[str, ...]:
    """The columns of float32 of the rows that the program calculates with; none where some have fewer digits, or where it is only asked."""
    columns, like = posed.imported.compared.single, posed.imported.replay.inputs.like
    if not columns or posed.task.oracles.family.opaque:
        return ()
    import narwhals.stable.v2 as nw

    schema = nw.from_native(like, eager_only=True).collect_schema()
    return columns if all(schema.get(name) == nw.Float32 for name in columns) else ()


def _rounded_pairs(
    posed: PosedProblem, witness: Witness, columns: tuple[str, ...]
) -> Iterator[tuple[list[float], list[float]]]:
    recoding = posed.imported.recoding
    raw = recoding.raw(np.array([witness.x, witness.other]))
    for way in (_nearest, _towards_each_other, _down, _up):
        rows = raw.copy()
        for name in columns:
            k, feature = recoding.given.names.index(name), recoding.given[name]
            if isinstance(feature, (Continuous, Integer)):
                present = np.array([value != feature.missing_code for value in rows[:, k]])
                rows[present, k] = _inside(way(rows[present, k]), feature)
        x, other = recoding.coded(rows).tolist()
        yield x, other


def _inside(values: Floats, feature: Feature) -> Floats:
    """Numbers of single precision beyond an end of the range, one step back."""
    lo, hi = (float(end) for end in feature.code_range)
    steps = np.where(values > hi, _below(values), np.where(values < lo, _above(values), values))
    return np.asarray(steps, dtype=np.float64)


def _nearest(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)


def _down(values: Floats) -> Floats:
    near = _nearest(values)
    return np.where(near > values, _below(near), near)


def _up(values: Floats) -> Floats:
    near = _nearest(values)
    return np.where(near < values, _above(near), near)


def _towards_each_other(values: Floats) -> Floats:
    """The lower of two numbers up, the upper one down; equal ones to the nearest."""
    if len(set(values.tolist())) < 2:
        return _nearest(values)
    return np.where(values == values.min(), _up(values), _down(values))


def _below(values: Floats) -> Floats:
    return np.nextafter(values.astype(np.float32), np.float32(-np.inf)).astype(np.float64)


def _above(values: Floats) -> Floats:
    return np.nextafter(values.astype(np.float32), np.float32(np.inf)).astype(np.float64)


def _has_singles(posed: PosedProblem, witness: Witness, columns: tuple[str, ...]) -> bool:
    """Whether the individuals that are shown have numbers of single precision."""
    recoding = posed.imported.recoding
    rows = recoding.raw(np.array([witness.x, witness.other]))
    values = rows[:, [recoding.given.names.index(name) for name in columns]]
    return bool((values == _nearest(values)).all())


# -- proofs -----------------------------------------------------------------------------------------------


def covers_single_rows(posed: PosedProblem, certificate: Certificate | None) -> bool:
    """Whether a proof has room for the rounding of the program that is handed rows in single precision; not known where there is no time left to read it."""
    columns, imported = _single_columns(posed), posed.imported
    if certificate is None or not columns or rounding_error(imported.model, imported.space) is None:
        return False
    with suppress(OutOfTime), posed.task.budget.grace_watched():
        return _has_room(posed, columns, certificate.outline().clearance or Fraction(0))
    return False


def _has_room(posed: PosedProblem, columns: tuple[str, ...], clearance: Fraction) -> bool:
    imported = posed.imported
    inputs, recoding = imported.replay.inputs, imported.recoding
    try:
        other = import_model(
            imported.replay.estimator,
            recoding.given,
            rows=recoding.raw(imported.rows),
            like=inputs.like,
            measured=inputs.measured,
            single=columns,
        )
    except (UnsupportedModel, DataError):
        return False
    same = (other.model.embedding, other.model.bodies) == (imported.model.embedding, imported.model.bodies)
    error = rounding_error(other.model, other.space)
    if not same or other.space != imported.space or error is None:
        return False
    return clearance > error
