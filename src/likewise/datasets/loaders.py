"""Loads the data sets: CSV rows in, a `Dataset` with a frame, labels and the domain as a `Space` out.

Readable (`coded=False`): the names and levels of the shipped files, labels as words.
Coded (`coded=True`): the paper's column names and integer codes, labels 0 and 1, the same rows in the same order.

One detail makes coded Credit equal the authors' file to the last bit. 106 of its 400 incomes are not the nearest double of
the decimal: `14.891` is 14.890999999999998 there. Taking the digits as a whole number and dividing by powers of ten
(14891 / 10 / 100) gives all 400, so presumably that is how they were once read; `_digits_divided` does the same. The
readable form has the nearest double, as usual.
"""

import csv
import gzip
import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from likewise.datasets.tables import ADULT, CREDIT, CREDIT_THREE_CLASSES, FRAUD, GERMAN, Column, Table
from likewise.errors import DataError, suggest_name
from likewise.spec.frames import native_backend
from likewise.spec.space import Space

FrameKind = Literal["auto", "pandas", "polars"]

# The paper's threshold on the average card balance, in dollars.
HIGH_BALANCE = 550
# The balances that a third and two thirds of the 400 card holders do not exceed: low, middle and high are equally many.
THIRDS = (188, 717)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dataset:
    """Rows, labels, and the domain that the paper searches.

    `X` is a pandas or polars frame, `y` a series of the same library named `label`; `positive` is the label that
    the paper codes as 1 (the highest one of three); `protected` names the columns that should not matter.
    """

    name: str
    X: Any = field(repr=False)
    y: Any = field(repr=False)
    label: str
    positive: str | int
    protected: tuple[str, ...]
    space: Space = field(repr=False)
    description: str


def load_german(*, coded: bool = False, frame: FrameKind = "auto") -> Dataset:
    """German Credit: 1000 rows, 20 features, label good / bad; protected: sex-marital-status.

    The space has two levels that occur in no row (`female-single`, the purpose `vacation`): they belong to the
    authors' domain. `Space.from_data(X)` has the observed levels only.
    """
    return _load_shipped(GERMAN, coded=coded, frame=frame)


def load_adult(*, coded: bool = False, frame: FrameKind = "auto") -> Dataset:
    """Adult: 32561 rows, 8 features, label <=50K / >50K; protected: race."""
    return _load_shipped(ADULT, coded=coded, frame=frame)


def load_credit(*, coded: bool = False, classes: Literal[2, 3] = 2, frame: FrameKind = "auto") -> Dataset:
    """Credit: 400 rows, 10 features, label high / low (balance above 550 or not); protected: gender, ethnicity.

    With ``classes=3`` the label is low, middle or high, a third of the rows each: a balance of up to 188 dollars, up to 717, or above.
    """
    if classes not in (2, 3):
        raise DataError(f"Credit has 2 classes of balance or 3, not {classes!r}")
    return _load_shipped(CREDIT if classes == 2 else CREDIT_THREE_CLASSES, coded=coded, frame=frame)


def paper_problem(name: str, path: str | Path | None = None, *, frame: FrameKind = "auto") -> Dataset:
    """One of the paper's four data sets, coded: "german", "adult", "credit", or "fraud".

    `path` is a folder with the authors' `fraud.csv`, which is not shipped; the others need no path.
    """
    shipped = {table.name: table for table in (GERMAN, ADULT, CREDIT)}
    if name in shipped:
        return _load_shipped(shipped[name], coded=True, frame=frame)
    if name != FRAUD.name:
        names = [*shipped, FRAUD.name]
        raise DataError(
            f"unknown data set {name!r}{suggest_name(name, names)}", hint="one of " + ", ".join(names)
        )
    return _load_fraud(path, frame)


def _load_shipped(table: Table, *, coded: bool, frame: FrameKind) -> Dataset:
    packed = resources.files("likewise.datasets").joinpath("data", f"{table.name}.csv.gz").read_bytes()
    header, *rows = csv.reader(gzip.decompress(packed).decode("utf-8").splitlines())
    cells = dict(zip(header, zip(*rows, strict=True), strict=True))
    labels = cells[table.label]
    if table in (CREDIT, CREDIT_THREE_CLASSES):
        ends = (HIGH_BALANCE,) if table is CREDIT else THIRDS
        names = tuple(table.label_codes)
        labels = tuple(names[sum(int(balance) > end for end in ends)] for balance in labels)
    return _make_dataset(
        table, [cells[column.name] for column in table.columns], labels, coded=coded, frame=frame
    )


def _load_fraud(path: str | Path | None, frame: FrameKind) -> Dataset:
    where = "paper_problem('fraud', path=...) takes the folder that holds fraud.csv; the file is not shipped"
    if path is None:
        raise DataError(
            "the fraud data have no public licence, so they do not come with Likewise", hint=where
        )
    file = Path(path) / "fraud.csv"
    if not file.is_file():
        raise DataError(f"no file {file}", hint=where)
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        rows = list(csv.reader(stream))
    expected = [*(column.coded_name for column in FRAUD.columns), FRAUD.coded_label]
    if not rows or rows[0] != expected:
        raise DataError(f"{file}, line 1: the header is not that of the fraud data", hint=",".join(expected))
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(expected):
            raise DataError(f"{file}, line {line}: {len(row)} cells where {len(expected)} are expected")
        _check_fraud_row(f"{file}, line {line}", row)
    if len(rows) == 1:
        raise DataError(f"{file}: no rows")
    *columns, labels = zip(*rows[1:], strict=True)
    return _make_dataset(FRAUD, columns, labels, coded=True, frame=frame)


def _check_fraud_row(where: str, row: Sequence[str]) -> None:
    for column, cell in zip(FRAUD.columns, row, strict=False):
        lo, hi = column.bounds or (0, 0)
        if not (cell.isascii() and cell.isdecimal() and lo <= int(cell) <= hi):
            raise DataError(f"{where}, column {column.coded_name}: {cell!r} is no whole number in {lo}..{hi}")
    if row[-1] not in FRAUD.label_codes:
        raise DataError(f"{where}, column {FRAUD.coded_label}: {row[-1]!r} is neither 0 nor 1")


def _make_dataset(
    table: Table, cells: Sequence[Sequence[str]], labels: Sequence[str], *, coded: bool, frame: FrameKind
) -> Dataset:
    backend = _frame_backend(frame)
    names = {column.name: column.coded_name if coded else column.name for column in table.columns}
    values = {
        names[column.name]: _column_values(column, texts, coded=coded)
        for column, texts in zip(table.columns, cells, strict=True)
    }
    label = table.coded_label if coded else table.label
    outcomes: list[Any] = [table.label_codes[text] for text in labels] if coded else list(labels)
    positive, code = max(table.label_codes.items(), key=lambda item: item[1])

    import narwhals.stable.v2 as nw

    return Dataset(
        name=table.name,
        X=nw.from_dict(values, backend=backend).to_native(),
        y=nw.new_series(label, outcomes, backend=backend).to_native(),
        label=label,
        positive=code if coded else positive,
        protected=tuple(names[name] for name in table.protected),
        space=Space({names[column.name]: column.feature(coded=coded) for column in table.columns}),
        description=table.description,
    )


def _column_values(column: Column, texts: Iterable[str], *, coded: bool) -> list[Any]:
    if column.codes is not None:
        return [column.codes[text] for text in texts] if coded else list(texts)
    texts = list(texts)
    if any("." in text for text in texts):
        return [_digits_divided(text) if coded else float(text) for text in texts]
    return [int(text) for text in texts]


def _digits_divided(text: str) -> float:
    """The decimal as it stands in the authors' file: all digits as one number, divided by 10, 100, 10000, ...

    One division for each binary digit of the number of decimals, lowest first; each rounds.
    """
    whole, _, decimals = text.partition(".")
    value = float(whole + decimals)
    power, left = 10.0, len(decimals)
    while left:
        if left & 1:
            value /= power
        power, left = power * power, left >> 1
    return value


def _frame_backend(frame: FrameKind) -> Literal["pandas", "polars"]:
    if frame == "auto":
        return native_backend()
    if frame not in ("pandas", "polars"):
        raise DataError(f"unknown kind of frame {frame!r}", hint='frame is "auto", "pandas" or "polars"')
    if importlib.util.find_spec(frame) is None:
        raise DataError(f"{frame} is not installed", hint=f'pip install "likewise[{frame}]"')
    return frame
