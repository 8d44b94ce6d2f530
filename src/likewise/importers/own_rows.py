"""Own rows: the model must say of the user's rows, as they are, what it says of them on the way that proofs go.

A proof is about codes, and the program is asked about codes made into rows again (`inputs`). Whatever is lost on the way there and back,
a dtype, a marker of missing values, an order of columns, no checker can see. So the program is asked twice about rows of the user: as they
were handed over, and made of their codes. Scores that differ by more than single precision end the matter.

Rows that the program fails on as they are (text from a file, where it takes pandas categories) say nothing: then that is recorded, and
every answer tells it. So it is where columns have less than double precision: proofs are about the program asked in double precision, and in front of a
threshold the last digits of a scaled number may decide. Trees alone compare the numbers as they are, whatever their precision.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError, UnsupportedModel
from likewise.importers.unfolding import unfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.imported import Imported
    from likewise.importers.inputs import Inputs

    Floats = NDArray[np.float64]

MOST_ROWS = 256
LONGEST = 120  # of a reason, in characters
SINGLE = 1e-4  # of the largest score: rows in float32 are calculated with as such by some programs


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsCompared:
    """How many rows of the user were put to the program as they are and through their codes, or why none could be; and the columns in which the
    rows have less than double precision, where the program calculates with them."""

    rows: int = 0
    reason: str | None = None
    single: tuple[str, ...] = ()

    @property
    def stats(self) -> dict[str, Any]:
        """What an answer tells of it."""
        return {
            "rows_compared": self.rows,
            "rows_not_compared": self.reason,
            "single_precision": list(self.single),
        }


NOTHING_COMPARED = RowsCompared()


def check_order(columns: tuple[str, ...], frame: Any) -> None:
    """Refuse rows with the columns in another order than the space, for a model that knows columns by their places only."""
    if frame is None:
        return
    there = [str(name) for name in frame.columns if name in columns]
    if there and there != list(columns):
        place = next(i for i, (one, other) in enumerate(zip(there, columns, strict=False)) if one != other)
        raise DataError(
            f"the model was fitted on columns without names, and the space has {columns[place]!r} where the data have {there[place]!r}",
            hint="put the features of the space into the order of the columns that the model was fitted on, and the data too; "
            "or fit the model on a frame, which has names",
        )


def columns_in_single(imported: Imported, frame: Any) -> tuple[str, ...]:
    """The columns of less than double precision that the program calculates with: it then does so with less as well, how is not described."""
    if not (imported.model.embedding or unfold(imported.replay.estimator).steps):
        return ()  # trees alone: they compare
    import narwhals.stable.v2 as nw

    schema = nw.from_native(frame, eager_only=True).collect_schema()
    columns = imported.replay.inputs.columns
    return tuple(name for name in columns if schema.get(name) in (nw.Float32, nw.Float16))


def check_own_rows(imported: Imported, frame: Any, rows: Floats) -> RowsCompared:
    """What was compared; raises DataError where rows of the user are treated otherwise than their codes, in the user's space, say."""
    replay = imported.replay
    if frame is None or not len(rows):
        _check_borrowed(replay.inputs, "there are none")
        return NOTHING_COMPARED
    single = columns_in_single(imported, frame)
    places = np.arange(0, len(rows), max(1, len(rows) // MOST_ROWS))[:MOST_ROWS]
    try:
        given = replay.scores_of(_as_given(frame, places, replay.inputs))
    except (DataError, TypeError, ValueError) as error:
        reason = _in_one_line(error)
        _check_borrowed(replay.inputs, reason)
        return RowsCompared(reason=reason, single=single)
    made = replay.scores_of(replay.inputs.of_raw(rows[places]))
    off = np.abs(given - made).reshape(len(places), -1).max(axis=1)
    wrong = ~(off <= SINGLE * max(np.abs(made).max(), np.abs(given).max()))
    if wrong.any():
        row = int(places[wrong.argmax()])
        scores = (np.asarray(scores)[wrong.argmax()].tolist() for scores in (given, made))
        raise DataError(
            "row {} (counted from 0): the model's score is {} for the row as it is, and {} for what the space has it as".format(
                row, *scores
            ),
            hint="the columns have dtypes that the space does not know: hand them over as plain numbers and text, or let the "
            "pipeline encode them",
        )
    return RowsCompared(rows=len(places), single=single)


def _check_borrowed(inputs: Inputs, reason: str) -> None:
    """Names that are the frame's alone need the comparison."""
    if inputs.borrowed:
        raise UnsupportedModel(
            f"the names of the categories of {inputs.borrowed[0]!r} are known from the data alone, and rows of the data cannot be compared "
            f"with what the model says of them: {reason}",
            hint="hand over rows as the model's own predict takes them",
        )


def _in_one_line(error: Exception) -> str:
    """What the program said, in short."""
    cause = error.__cause__ or error  # what the program itself raised
    said = cause.message if isinstance(cause, DataError) else f"{type(cause).__name__}: {cause}"
    return textwrap.shorten(said.strip().partition("\n")[0], LONGEST, placeholder=" ...")


def _as_given(frame: Any, places: NDArray[np.intp], inputs: Inputs) -> Any:
    """The user's rows at these places, in the columns of the estimator and the kind of input that it was fitted on."""
    import narwhals.stable.v2 as nw

    taken = nw.from_native(frame, eager_only=True).select(list(inputs.columns))[places.tolist()]
    if inputs.named:
        return taken.to_native()
    columns = [np.asarray(taken[name].to_native()) for name in inputs.columns]
    words = any(column.dtype.kind not in "biuf" for column in columns)
    return np.stack([column.astype(object if words else np.float64) for column in columns], axis=1)
