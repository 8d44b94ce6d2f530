"""The rows of a claim: read, fitted with a space, and checked against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.options import ClaimFlags
from likewise.cli.similar_flags import parse_flag
from likewise.errors import DataError, LikewiseError, suggest_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.features import Level
    from likewise.spec.outside import AdmittedRows, Outside
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


def read_rows(path: str, label: str | None) -> Any:
    """A table that has the label, if one is named."""
    from likewise.spec.frames import read_table

    frame = read_table(path)
    columns = [str(name) for name in frame.columns]
    if label is not None and label not in columns:
        raise DataError(
            f"{path}: no column {label!r} to be the label{suggest_name(label, columns)}",
            hint=f"its columns are {', '.join(columns[:12])}{', ...' if len(columns) > 12 else ''}",
        )
    return frame


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


def restrict_rows(
    space: Space, frame: Any, codes: Floats | None, rules: tuple[str, ...]
) -> tuple[Space, Any, Floats | None]:
    """The space with further constraints, and the rows and their codes that satisfy them: only those are individuals of it."""
    narrower = space
    for rule in rules:
        narrower = parse_flag("--where", narrower.where, rule)
    if frame is None or codes is None:
        return narrower, None, None
    import narwhals.stable.v2 as nw

    kept = [
        all(constraint.holds(row) for constraint in narrower.constraints) for row in _exact_rows(space, codes)
    ]
    return narrower, nw.from_native(frame, eager_only=True).filter(kept).to_native(), codes[kept]


def _exact_rows(space: Space, codes: Floats) -> Iterator[dict[str, Level]]:
    for row in codes.tolist():
        yield {name: space.value(k, row[k]) for k, name in enumerate(space.names)}


def admit_rows(space: Space, frame: Any, outside: Outside, path: str) -> AdmittedRows:
    """The rows that are individuals of the space, or are made such."""
    try:
        found = space.admit(frame, outside)
    except DataError as error:
        raise error.located(path) from None
    if not len(found.frame):
        raise DataError(
            f"{path}: no row is an individual of the space",
            hint="--outside error names the first cell that is none of its feature",
        )
    return found


def encode_rows(space: Space, frame: Any, path: str, flags: ClaimFlags) -> Floats:
    """The rows as codes of the space; refuses those that are no individuals of it, and says what would help."""
    try:
        return space.encode(frame, allow_extra=True)
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


def check_stray_text(space: Space, frame: Any, path: str, *, declared: bool) -> None:
    """Words in a column of numbers, which make the whole column text when it is read: the words are the error.

    A column counts as numbers where it is declared so, or where most of its cells are.
    """
    from likewise.spec.columns import location_text

    for name in space.names:
        if name not in frame.columns or (declared and space[name].kind not in ("continuous", "integer")):
            continue
        values = list(frame[name])
        words = [row for row, value in enumerate(values) if isinstance(value, str) and not _is_number(value)]
        if words and (declared or len(words) < len(values) / 2):
            raise DataError(
                f"{path}: {location_text(name, words[0])}: text {values[words[0]]!r} in a column of numbers",
                hint="replace it by a number, or drop the row",
            )


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text) and abs(float(text)) != float("inf")
    except ValueError:
        return False
