"""Self-check: an imported model must agree with the original, or it is refused.

Compared on the data rows, on random rows and on corners of the space: the original's score with the exact
score (within the rounding error that a floating-point sum of so many terms can have, and no more), its
label wherever the score is further from zero than that, and its probability with the link.

With more than two classes every score is compared so, the label wherever no score that decides is nearer than that to a tie, and on every row the
label with what the rule (argmax or votes, ties included) makes of the original's own scores.

And it must say of the user's rows, as they are, what it says of them on the way that proofs go. A proof is about codes, and the program is asked about codes made into rows again (`inputs`). Whatever is lost on the way there and back,
a dtype, a marker of missing values, an order of columns, no checker can see. So the program is asked twice about rows of the user: as they
were handed over, and made of their codes. Scores that differ by more than single precision end the matter.

Rows that the program fails on as they are (text from a file, where it takes pandas categories) say nothing: then that is recorded, and
every answer tells it. So it is where columns have less than double precision: proofs are about the program asked in double precision, and in front of a
threshold the last digits of a scaled number may decide. Trees alone compare the numbers as they are, whatever their precision.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.clock import check_clock
from likewise.errors import DataError, InternalError, MismatchedModel, UnsupportedModel
from likewise.families.program_rounding import DOUBLE_BITS, ObservedError, program_bits
from likewise.families.scored_model import Model, Scores, program_parts
from likewise.importers.unfold import unfold
from likewise.model.head import Head, logistic
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import Score
    from likewise.importers.imported_model import ImportedModel
    from likewise.importers.inputs import Inputs
    from likewise.importers.replay import Replay
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

DATA_ROWS = 64
RANDOM_ROWS = 64
CORNERS = 16
OBSERVED_ROWS = 16  # of a kernel model, on which its score is enclosed to tell the program's error
OBSERVED_WORK = 400_000  # columns of centres that this may look at, all rows together; where one row has more, differences in float64 must do
OBSERVED_BITS = 256
LINK_TOLERANCE = 1e-9  # probabilities: expit is computed in a few roundings of numbers below one
SINGLE_LINK_TOLERANCE = 2.0**-20  # the same in single precision


def check_import(model: Model, replay: Replay, space: Space, rows: Floats) -> ObservedError:
    """Raise UnsupportedModel where the imported model and the original disagree; what the original's rounding was seen to do."""
    codes = replay.inputs.recoding.settled(sample_codes(space, rows))
    parts, theirs = Scores(model, len(space)).parts, replay.scores(codes)
    ours = [part.reference_scores(codes) for part in parts]
    by_row, allowed = list(zip(*ours, strict=True)), _score_errors(model, codes)
    named = "its score" if model.n_scores == 1 else "a score"
    for i, (values, errors) in enumerate(zip(by_row, allowed, strict=True)):
        for value, error, given in zip(values, errors, theirs[i].tolist(), strict=True):
            if not (math.isfinite(given) and abs(Fraction(given) - value) <= error):
                _refuse_row(
                    model,
                    space,
                    codes[i],
                    f"{named} is {given!r}, the imported one {nearest_double(value)!r}",
                )
    if model.head.labels is not None:
        _compare_labels(model, by_row, allowed, theirs, replay, space, codes)
    if model.head.labels is not None and model.head.link is not None:
        _compare_probabilities(model, by_row, allowed, replay, space, codes)
    if model.head.link == "exponential":
        scores = np.array([nearest_double(values[0]) for values in by_row])
        check_predictions(model, scores, np.array([float(e[0]) for e in allowed]), replay, space, codes)
    each = [
        observe_rounding(part, codes, values, given)
        for part, values, given in zip(parts, ours, theirs.T, strict=True)
    ]
    return ObservedError(error=max(one.error for one in each), size=max(one.size for one in each))


def observe_rounding(score: Score, codes: Floats, ours: Sequence[Fraction], theirs: Floats) -> ObservedError:
    """The largest difference of the original's scores from the exact ones; where those are irrational, on the rows where it is likeliest."""
    off = [abs(Fraction(given) - value) for value, given in zip(ours, theirs.tolist(), strict=True)]
    size = float(np.abs(theirs).max(initial=0.0))
    if score.rational:
        return ObservedError(error=nearest_double(max(off, default=Fraction(0))), size=size)
    count = min(OBSERVED_WORK // max(score.enclosing_work, 1), OBSERVED_ROWS)
    largest = Fraction(0) if count else max(off, default=Fraction(0))
    for i in sorted(range(len(off)), key=lambda i: -off[i])[:count]:
        exact = score.enclose([Fraction(c) for c in codes[i].tolist()], OBSERVED_BITS)
        largest = max(largest, abs(Fraction(float(theirs[i])) - exact.middle))
    return ObservedError(error=nearest_double(largest), size=size)


def _compare_labels(
    model: Model,
    ours: Sequence[Sequence[Fraction]],
    allowed: Sequence[Sequence[Fraction]],
    theirs: Floats,
    replay: Replay,
    space: Space,
    codes: Floats,
) -> None:
    """Labels wherever no rounding can change them; of several scores also with what the rule makes of the original's own."""
    head, labels = model.head, replay.decisions(codes)
    if head.n_scores > 1 and labels.shape != (len(codes),):
        _refuse_row(model, space, codes[0], "it gives more than one label")
    for i, (values, errors) in enumerate(zip(ours, allowed, strict=True)):
        own = head.decide([Fraction(given) for given in theirs[i].tolist()])
        if head.n_scores > 1 and labels[i] != own:
            _refuse_row(model, space, codes[i], f"it says {labels[i]!r}, but its own scores say {own!r}")
        decided = head.decide(values)
        if labels[i] != decided and _is_certain(head, values, errors):
            _refuse_row(model, space, codes[i], f"it says {labels[i]!r}, the imported one {decided!r}")


def _is_certain(head: Head, values: Sequence[Fraction], errors: Sequence[Fraction]) -> bool:
    """Whether errors as large as these change no decision: the largest score leads, no vote is close."""
    if head.rule == "sign":
        return abs(head.decision_score(values[0])) > _link_factor(head) * errors[0]
    if head.rule == "votes":
        return all(abs(value) > error for value, error in zip(values, errors, strict=True))
    best = head.place(values)
    return all(
        values[best] - value > errors[best] + error
        for i, (value, error) in enumerate(zip(values, errors, strict=True))
        if i != best
    )


def _link_factor(head: Head) -> Fraction:
    """What the link makes of an error of a score, at most; no probability by softmax moves by more than the largest error of a score."""
    return max(Fraction(1), abs(head.slope))


def _compare_probabilities(
    model: Model,
    ours: Sequence[Sequence[Fraction]],
    allowed: Sequence[Sequence[Fraction]],
    replay: Replay,
    space: Space,
    codes: Floats,
) -> None:
    """Those of all classes, or of the upper label of two."""
    head, given = model.head, replay.probabilities(codes)
    what = f"its probabilities are not the {head.link} of its scores"
    if head.rule == "sign":
        given, what = given[:, 1:], "its probability is not the logistic function of its score"
    for i, (values, errors) in enumerate(zip(ours, allowed, strict=True)):
        expected = np.array([nearest_double(head.link_argument(value)) for value in values])
        if head.link == "logistic":
            expected = logistic(expected)
        if head.link == "softmax":
            powers = np.exp(expected - expected.max())
            expected = powers / powers.sum()
        if np.abs(given[i] - expected).max() > _link_tolerance(model) + float(
            _link_factor(head) * max(errors)
        ):
            _refuse_row(model, space, codes[i], what)


def _link_tolerance(model: Model) -> float:
    return LINK_TOLERANCE if program_bits(model) == DOUBLE_BITS else SINGLE_LINK_TOLERANCE


def check_predictions(
    model: Model, scores: Floats, errors: Floats, replay: Replay, space: Space, codes: Floats
) -> None:
    """Gaps of predictions are those of exp of the scores: predictions themselves may be moved by a constant."""
    given = replay.predictions(codes)[:, 0]
    with np.errstate(over="ignore"):
        expected = np.exp(scores)
    room = _link_tolerance(model) * (1 + np.abs(expected)) + 2 * errors * np.abs(expected)
    off = np.abs((given - given[0]) - (expected - expected[0]))
    for i in np.flatnonzero(~(off <= room + room[0])).tolist():
        _refuse_row(model, space, codes[i], "its predictions are not exp of its scores")


def _score_errors(model: Model, codes: Floats) -> list[tuple[Fraction, ...]]:
    """How far the original's floating-point scores may be from the imported model's, by row."""
    columns = []
    for part in program_parts(model):
        check_clock()
        if part.rounding is None:
            raise InternalError(f"no rounding is known of {part.family}")
        columns.append(part.rounding.errors(part, codes))
    return list(zip(*columns, strict=True))


def sample_codes(space: Space, rows: Floats) -> Floats:
    """Data rows, random rows and corners of the space. Deterministic: a check should not come and go."""
    random = np.random.default_rng(0)
    ranges = [_code_ends(space, name) for name in space.names]
    parts = [rows[:: max(1, len(rows) // DATA_ROWS)][:DATA_ROWS]]
    columns = [
        random.integers(int(lo), int(hi) + 1, RANDOM_ROWS).astype(float)
        if whole
        else _interpolate(lo, hi, random.uniform(0, 1, RANDOM_ROWS))
        for lo, hi, whole in ranges
    ]
    parts.append(np.stack(columns, axis=1))
    corners = random.integers(0, 2, (CORNERS, len(ranges)))
    parts.append(
        np.array([[ranges[k][side] for k, side in enumerate(corner)] for corner in corners], dtype=float)
    )
    return np.concatenate(parts)


def _interpolate(lo: float, hi: float, share: Floats) -> Floats:
    """lo + share (hi - lo), written so that it does not overflow where hi - lo does."""
    values: Floats = np.clip(lo * (1 - share) + hi * share, lo, hi)
    return values


def _code_ends(space: Space, name: str) -> tuple[float, float, bool]:
    feature = space[name]
    lo, hi = feature.code_range
    return float(lo), float(hi), feature.kind != "continuous"


def _refuse_row(model: Model, space: Space, row: Floats, what: str) -> None:
    values = ", ".join(f"{name}={space.value(k, row[k])}" for k, name in enumerate(space.names))
    raise MismatchedModel(
        f"the imported {model.family} disagrees with the original at {values}: {what}",
        hint="the estimator was changed after fitting, or behaves differently from scikit-learn's own",
    )


MOST_ROWS = 256
LONGEST_REASON = 120  # of a reason, in characters
SINGLE_TOLERANCE = 1e-4  # of the largest score: rows in float32 are calculated with as such by some programs


@dataclass(frozen=True, slots=True, kw_only=True)
class RowComparison:
    """How many rows of the user were put to the program as they are and through their codes, or why none could be; and the columns in which the
    rows have less than double precision, where the program calculates with them. `outside` is what became
    of rows that are no individuals of the space, `encoding` how they are encoded for the model, `threshold`
    the probability that it decides by, `dummies` which columns look like categories of one column."""

    rows: int = 0
    reason: str | None = None
    single: tuple[str, ...] = ()
    outside: Mapping[str, int] | None = None
    encoding: Mapping[str, Any] | None = None
    threshold: Mapping[str, Any] | None = None
    dummies: tuple[Mapping[str, Any], ...] = ()
    unread: str | None = None  # why the model is asked only
    readable: str | None = None  # what would be read instead

    @property
    def stats(self) -> dict[str, Any]:
        """What an answer tells of it."""
        return {
            "rows_compared": self.rows,
            "rows_not_compared": self.reason,
            "single_precision": list(self.single),
            "rows_outside": None if self.outside is None else dict(self.outside),
            **({} if self.encoding is None else {"encoding": dict(self.encoding)}),
            **({} if self.threshold is None else {"threshold": dict(self.threshold)}),
            **({"dummies": [dict(one) for one in self.dummies]} if self.dummies else {}),
            **({} if self.unread is None else {"black_box": self.unread, "black_box_hint": self.readable}),
        }


NOTHING_COMPARED = RowComparison()


def check_column_order(columns: tuple[str, ...], frame: Any) -> None:
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


def single_precision_columns(imported: ImportedModel, frame: Any) -> tuple[str, ...]:
    """The columns of less than double precision that the program calculates with: it then does so with less as well, how is not described."""
    if not (imported.model.embedding or _has_steps(imported.replay.estimator)):
        return ()  # trees alone: they compare
    import narwhals.stable.v2 as nw

    schema = nw.from_native(frame, eager_only=True).collect_schema()
    columns = imported.replay.inputs.columns
    return tuple(name for name in columns if schema.get(name) in (nw.Float32, nw.Float16))


def _has_steps(estimator: Any) -> bool:
    """Whether anything stands in front of the model; what cannot be taken apart may have something."""
    try:
        return bool(unfold(estimator).steps)
    except UnsupportedModel:
        return True


def compare_own_rows(
    imported: ImportedModel, frame: Any, rows: Floats, numbers: NDArray[np.int64] | None = None
) -> RowComparison:
    """What was compared; raises DataError where rows of the user are treated otherwise than their codes, in the user's space, say. `numbers` are the rows' numbers where they
    are a part of the data."""
    replay = imported.replay
    if frame is None or not len(rows):
        _check_borrowed(replay.inputs, "there are none")
        return NOTHING_COMPARED
    single = single_precision_columns(imported, frame)
    places = np.arange(0, len(rows), max(1, len(rows) // MOST_ROWS))[:MOST_ROWS]
    try:
        given = replay.scores_of(_rows_as_given(frame, places, replay.inputs))
    except (DataError, TypeError, ValueError) as error:
        reason = _one_line_text(error)
        _check_borrowed(replay.inputs, reason)
        return RowComparison(reason=reason, single=single)
    made = replay.scores_of(replay.inputs.of_raw(rows[places]))
    off = np.abs(given - made).reshape(len(places), -1).max(axis=1)
    wrong = ~(off <= SINGLE_TOLERANCE * max(np.abs(made).max(), np.abs(given).max()))
    if wrong.any():
        place = int(places[wrong.argmax()])
        row = place if numbers is None else int(numbers[place])
        scores = (np.asarray(scores)[wrong.argmax()].tolist() for scores in (given, made))
        raise DataError(
            "row {} (counted from 0): the model's score is {} for the row as it is, and {} for what the space has it as".format(
                row, *scores
            ),
            hint="the columns have dtypes that the space does not know: hand them over as plain numbers and text, or let the "
            "pipeline encode them",
        )
    return RowComparison(rows=len(places), single=single)


def _check_borrowed(inputs: Inputs, reason: str) -> None:
    """Names that are the frame's alone need the comparison."""
    if inputs.borrowed:
        raise UnsupportedModel(
            f"the names of the categories of {inputs.borrowed[0]!r} are known from the data alone, and rows of the data cannot be compared "
            f"with what the model says of them: {reason}",
            hint="hand over rows as the model's own predict takes them",
        )


def _one_line_text(error: Exception) -> str:
    """What the program said, in short."""
    cause = error.__cause__ or error  # what the program itself raised
    said = cause.message if isinstance(cause, DataError) else f"{type(cause).__name__}: {cause}"
    return textwrap.shorten(said.strip().partition("\n")[0], LONGEST_REASON, placeholder=" ...")


def _rows_as_given(frame: Any, places: NDArray[np.intp], inputs: Inputs) -> Any:
    """The user's rows at these places, in the columns of the estimator and the kind of input that it was fitted on."""
    import narwhals.stable.v2 as nw

    taken = nw.from_native(frame, eager_only=True).select(list(inputs.columns))[places.tolist()]
    if inputs.named:
        return taken.to_native()
    columns = [np.asarray(taken[name].to_native()) for name in inputs.columns]
    words = any(column.dtype.kind not in "biuf" for column in columns)
    return np.stack([column.astype(object if words else np.float64) for column in columns], axis=1)
