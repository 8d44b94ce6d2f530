"""The rows of a claim: read, fitted with a space, and checked against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import click

from likewise.cli.options import ClaimFlags
from likewise.cli.similar_flags import parse_flag
from likewise.clock import check_clock
from likewise.errors import DataError, LikewiseError, suggest_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.run import Run
    from likewise.spec.constraints import Constraint
    from likewise.spec.csv_file import ColumnSurvey
    from likewise.spec.data_rows import AdmittedChunk, DataRows
    from likewise.spec.features import Level
    from likewise.spec.outside import AdmittedRows, Outside
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


def import_frames() -> None:
    """Import what reads tables, which is not reading."""
    from importlib import import_module

    from likewise.spec.frames import native_backend

    import_module(native_backend())


def read_rows(path: str, label: str | None) -> Any:
    """A table that has the label, if one is named."""
    from likewise.spec.frames import read_table

    frame = read_table(path)
    _check_label([str(name) for name in frame.columns], path, label)
    return frame


def _check_label(columns: list[str], path: str, label: str | None) -> None:
    if label is not None and label not in columns:
        raise DataError(
            f"{path}: no column {label!r} to be the label{suggest_name(label, columns)}",
            hint=f"its columns are {', '.join(columns[:12])}{', ...' if len(columns) > 12 else ''}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admission:
    """Makes individuals of the rows of a file, or says what would help."""

    space: Space
    path: str
    label: str | None
    outside: Outside
    rules: tuple[Constraint, ...]
    flags: ClaimFlags

    def __call__(self, frame: Any, first: int) -> AdmittedChunk:
        from likewise.spec.data_rows import admit_chunk

        if not first:
            _check_label(list(frame.columns), self.path, self.label)
        check_stray_text(self.space, frame, self.path, declared=True, first=first)
        with _explained(self.space, frame, self.path, self.flags):
            return admit_chunk(self.space, frame, first, outside=self.outside, rules=self.rules)

    @property
    def whole(self) -> bool:
        """Whether it leaves nobody out."""
        return self.outside == "error" and not self.rules


def stream_rows(
    space: Space, path: str, label: str | None, run: Run, *, outside: Outside, flags: ClaimFlags
) -> tuple[DataRows, Space]:
    """The rows of a file, read some at a time, as individuals of the space; and the space with the constraints of --where, which only some of them satisfy."""
    from likewise.analysis.data_reading import read_rows as read_all
    from likewise.spec.row_source import TableFile

    narrower = _narrow_space(space, flags.where)
    source = TableFile(path)
    _check_words(space, source.surveys, path)
    admit = _Admission(
        space=space,
        path=path,
        label=label,
        outside=outside,
        rules=tuple(narrower.constraints),
        flags=flags,
    )
    data = read_all(
        space, source, admit, run, lambda seen: run.tell(f"{path}: {seen:,} rows read"), whole=admit.whole
    )
    if not len(data) and data.outside is not None:
        _refuse_strangers(path)
    return data, narrower


def _check_words(space: Space, surveys: Mapping[str, ColumnSurvey], path: str) -> None:
    """Refuse words in a column of numbers, which make all of its cells text."""
    for name, survey in surveys.items():
        if name in space and space[name].kind in ("continuous", "integer") and survey.word is not None:
            _refuse_word(path, name, *survey.word)


def infer_space(frame: Any, path: str | None, label: str | None) -> Space:
    """The space that the data show."""
    from likewise.spec.space import Space

    try:
        return Space.from_data(frame, exclude=[] if label is None else [label])
    except LikewiseError as error:
        raise error.located(str(path)) from None


def widen_space(space: Space, frame: Any, path: str | None) -> Space:
    """The space, extended to cover the rows."""
    if frame is None:
        raise click.UsageError("--widen needs --data: the rows that the space is to cover")
    try:
        return space.widen(frame)
    except LikewiseError as error:
        raise error.located(str(path)) from None


def _narrow_space(space: Space, rules: tuple[str, ...]) -> Space:
    for rule in rules:
        space = parse_flag("--where", space.where, rule)
    return space


def restrict_rows(
    space: Space, frame: Any, codes: Floats | None, rules: tuple[str, ...]
) -> tuple[Space, Any, Floats | None]:
    """The space with further constraints, and the rows and their codes that satisfy them: only those are individuals of it."""
    narrower = _narrow_space(space, rules)
    if frame is None or codes is None:
        return narrower, None, None
    import narwhals.stable.v2 as nw

    kept = [
        all(constraint.holds(row) for constraint in narrower.constraints) for row in _exact_rows(space, codes)
    ]
    return narrower, nw.from_native(frame, eager_only=True).filter(kept).to_native(), codes[kept]


def _exact_rows(space: Space, codes: Floats) -> Iterator[dict[str, Level]]:
    for row in codes.tolist():
        check_clock()
        yield {name: space.value(k, row[k]) for k, name in enumerate(space.names)}


def admit_rows(space: Space, frame: Any, outside: Outside, path: str) -> AdmittedRows:
    """The rows that are individuals of the space, or are made such."""
    try:
        found = space.admit(frame, outside)
    except DataError as error:
        raise error.located(path) from None
    if not len(found.frame):
        _refuse_strangers(path)
    return found


def _refuse_strangers(path: str) -> NoReturn:
    raise DataError(
        f"{path}: no row is an individual of the space",
        hint="--outside error names the first cell that is none of its feature",
    )


def encode_rows(space: Space, frame: Any, path: str, flags: ClaimFlags) -> Floats:
    """The rows as codes of the space; refuses those that are no individuals of it, and says what would help."""
    with _explained(space, frame, path, flags):
        return space.encode(frame, allow_extra=True)


@contextmanager
def _explained(space: Space, frame: Any, path: str, flags: ClaimFlags) -> Iterator[None]:
    """Errors about rows, with the file and what would help."""
    try:
        yield
    except DataError as error:
        if _wider_helps(space, frame):
            where = flags.spec or "a claim file"
            way = f"or change its bounds or levels in {where}"
            if error.message.endswith("missing value"):
                way = f"or write missing = true for it in {where}; or fill or drop such rows"
            raise DataError(
                f"{path}: {error.message}",
                hint=f"--widen extends the space to cover the data, --outside ignore leaves such rows out; {way}",
            ) from None
        raise error.located(path) from None


def _wider_helps(space: Space, frame: Any) -> bool:
    try:
        space.widen(frame).check_frame(frame, allow_extra=True)
    except LikewiseError:
        return False
    return True


def check_stray_text(space: Space, frame: Any, path: str, *, declared: bool, first: int = 0) -> None:
    """Words in a column of numbers, which make the whole column text when it is read: the words are the error.

    A column counts as numbers where it is declared so, or where most of its cells are. Rows count from `first`.
    """
    from likewise.spec.csv_file import is_number

    for name in space.names:
        if name not in frame.columns or (declared and space[name].kind not in ("continuous", "integer")):
            continue
        if getattr(frame[name].dtype, "kind", "") in ("i", "u", "f"):
            continue  # numbers, of pandas
        values = list(frame[name])
        words = [row for row, value in enumerate(values) if isinstance(value, str) and not is_number(value)]
        if words and (declared or len(words) < len(values) / 2):
            _refuse_word(path, name, first + words[0], values[words[0]])


def _refuse_word(path: str, name: str, row: int, word: str) -> NoReturn:
    from likewise.spec.columns import location_text

    raise DataError(
        f"{path}: {location_text(name, row)}: text {word!r} in a column of numbers",
        hint="replace it by a number, or drop the row",
    )


def check_columns(model: Any, space: Space, place: str | None, file: str) -> None:
    """Refuse a space with other columns than the model was fitted on."""
    if not hasattr(model, "feature_names_in_") or isinstance(model, type):
        return
    names = [str(name) for name in model.feature_names_in_]
    if missing := [name for name in names if name not in space]:
        from likewise.importers.inputs import refuse_encoded

        refuse_encoded(names, space)
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise DataError(
            f"{place}: no column {missing[0]!r}{more}, which {file} was fitted on"
            f"{suggest_name(missing[0], space.names)}",
            hint=f"the model's columns: {', '.join(names)}",
        )
    extra = [name for name in space.names if name not in names]
    if extra:
        more = f" (and {len(extra) - 1} more)" if len(extra) > 1 else ""
        raise DataError(
            f"{place}: column {extra[0]!r}{more} is none that {file} was fitted on",
            hint=f"--label {extra[0]} if it is what the model predicts; otherwise drop it from the data, "
            "or list the features in a claim file (likewise init drafts one)",
        )
