"""Encoders: levels to numbers. Every column that they give is a table over the levels of one feature.

OneHotEncoder    one column a category, or one a group of infrequent ones, less the dropped one
OrdinalEncoder   the position of the category
TargetEncoder    the mean target of the category, as it was fitted

A level that the encoder has not seen is refused here where its `transform` would raise an error, and where it is one that
the encoder has seen in another guise ("True" for True, NaN for None or the text "nan"). NaN and None among its categories are what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

from likewise.importers.transformers.traced_columns import DerivedColumn, Step, TableFunction, TracedColumn
from likewise.spec.features import Level, is_missing
from likewise.spec.numbers import python_scalar

ONE_HOT = TableFunction(does="gives every value a column of its own")
ORDINAL = TableFunction(does="numbers the values")
TARGET = TableFunction(does="puts a mean target in place of each value")
# What pandas.read_csv takes for a missing value besides an empty cell, of letters.
MISSING_MARKS = frozenset(("<NA>", "#N/A", "#NA", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"))


def encode_one_hot(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """As many columns in a row for each input as it has categories left."""
    check_categories(transformer, columns, step)
    widths = [_one_hot_width(transformer, i) for i in range(len(columns))]
    if sum(widths) != len(transformer.get_feature_names_out()):
        step.refuse("gives another number of columns than its categories say", hint="fit it again")
    return [DerivedColumn(i, ONE_HOT) for i, width in enumerate(widths) for _ in range(width)]


def _one_hot_width(transformer: Any, column: int) -> int:
    width = len(transformer.categories_[column])
    infrequent = getattr(transformer, "infrequent_categories_", None)
    if infrequent is not None and infrequent[column] is not None:
        width -= len(infrequent[column]) - 1
    dropped = transformer.drop_idx_
    return width if dropped is None or dropped[column] is None else width - 1


def encode_ordinal(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """One column for each."""
    check_categories(transformer, columns, step)
    return [DerivedColumn(i, ORDINAL) for i in range(len(columns))]


def encode_target(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """One column for each; categories never seen get the overall mean."""
    if transformer.target_type_ == "multiclass":
        step.refuse(
            "encodes by several classes", hint="fit it on two classes or a number, or use OneHotEncoder"
        )
    check_categories(transformer, columns, step)
    return [DerivedColumn(i, TARGET) for i in range(len(columns))]


def check_categories(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> None:
    """Refuse levels that an encoder would fail on, or pass over without a word."""
    fails = getattr(transformer, "handle_unknown", None) == "error"
    for column, categories in zip(columns, transformer.categories_, strict=True):
        check_levels(column, categories.tolist(), step, fails=fails)


def check_levels(
    column: TracedColumn, categories: Sequence[Any], step: Step, *, fails: bool, lenient: str = "ignore"
) -> None:
    """The same for one column and the categories that it was fitted on; `fails`: the encoder was told to do so on others, `lenient` is what else it could be told."""
    known = {None if is_missing(one) else one for one in map(python_scalar, categories)}
    unseen = [value for value in column.values or () if value not in known]
    if unseen and fails:
        step.refuse(
            f"has never seen the value {unseen[0]!r} of feature {column.name!r}, and was told to fail then",
            hint=f"leave it out of the space, space.replace({{{column.name!r}: ...}}), or fit with handle_unknown={lenient!r}",
        )
    _check_unseen(column.name, column.values or (), known, step)
    if column.untouched and column.feature.missing:
        check_missing_text(column.name, column.values or (), known, step.refuse_space)
        _check_marker(column, categories, step)


def check_missing_text(
    name: str, values: Sequence[Level], known: Collection[Any], refuse: Callable[..., NoReturn]
) -> None:
    """Refuse a feature that may be missing where what is missing was a text to the model, which the space does not have: the empty
    one, "nan" or the like."""
    marks = [one for one in known if isinstance(one, str) and (not one.strip() or one in MISSING_MARKS)]
    if None not in known and (strange := [one for one in marks if one not in values]):
        refuse(
            f"was fitted on the text {strange[0]!r} in feature {name!r}, and on nothing that is missing; the space has missing values instead",
            hint=f"if that is what they are, write {strange[0]!r} into the data and declare it as a level of {name!r}",
        )


def _check_marker(column: TracedColumn, categories: Sequence[Any], step: Step) -> None:
    """Refuse rows with None for what is missing where the encoder knows NaN only, and the other way round: it passes over them."""
    known = {marker_name(one) for one in categories if is_missing(python_scalar(one))}
    if known and column.marker is not None and column.fill is None and column.marker not in known:
        step.refuse_space(
            f"was fitted on {' and '.join(sorted(known))} for missing values of {column.name!r}, and the rows have {column.marker}",
            hint="pass X, rows as the model was fitted on them",
        )


def _check_unseen(name: str, values: Sequence[Level], known: Collection[Any], step: Step) -> None:
    """Refuse levels that an encoder passes over, where they are those that it has seen, written in another way: text for a truth
    value or a number, a mark that ``pandas.read_csv`` takes for a missing value. Of such a space anything would be proved."""
    unseen = [value for value in values if value is not None and value not in known]
    spelled = {_spelling(one): one for one in known if one is not None}
    for value in unseen:
        if _spelling(value) in spelled:
            step.refuse_space(
                f"was fitted on {spelled[_spelling(value)]!r} in feature {name!r}, and the space has {value!r} instead",
                hint=f"declare {name!r} as the model was fitted: text, number and boolean are different levels",
            )
        if value in MISSING_MARKS:
            step.refuse_space(
                f"has never seen the value {value!r} of feature {name!r}, which pandas.read_csv takes for a missing one",
                hint=f"if that is what it stands for, leave the cells of {name!r} empty and give it the level None (missing = true)",
            )
    if unseen and len(unseen) == sum(value is not None for value in values):
        step.refuse_space(
            f"has seen none of the values of feature {name!r}: {unseen[0]!r} and all others are unknown to it",
            hint=f"declare {name!r} as the model was fitted: {', '.join(map(repr, list(known)[:6]))}",
        )


def marker_name(value: Any) -> str:
    """What stands for missing, by name."""
    return "None" if value is None else "NaN"


def _spelling(value: Any) -> str:
    """A level as it would be read off a file, whatever it was taken for."""
    text = str(value).strip()
    try:
        return text.lower() if isinstance(value, bool) else repr(float(text))
    except ValueError:
        return text.lower() if text.lower() in ("true", "false") else text


HANDLERS = {"OneHotEncoder": encode_one_hot, "OrdinalEncoder": encode_ordinal, "TargetEncoder": encode_target}
