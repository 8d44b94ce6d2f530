"""Encoders: levels to numbers. Every column that they give is a table over the levels of one feature.

OneHotEncoder    one column a category, or one a group of infrequent ones, less the dropped one
OrdinalEncoder   the position of the category
TargetEncoder    the mean target of the category, as it was fitted

A level that the encoder has not seen is refused here where its `transform` would raise an error. NaN and None among its categories
are what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.importers.transformers.tracing import Derived, Step, Tabulated, Traced
from likewise.spec.features import is_missing
from likewise.spec.numbers import python_scalar

ONE_HOT = Tabulated(does="gives every value a column of its own")
ORDINAL = Tabulated(does="numbers the values")
TARGET = Tabulated(does="puts a mean target in place of each value")


def one_hot(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """As many columns in a row for each input as it has categories left."""
    _check_categories(transformer, columns, step)
    widths = [_one_hot_width(transformer, i) for i in range(len(columns))]
    if sum(widths) != len(transformer.get_feature_names_out()):
        step.refuse("gives another number of columns than its categories say", hint="fit it again")
    return [Derived(i, ONE_HOT) for i, width in enumerate(widths) for _ in range(width)]


def _one_hot_width(transformer: Any, column: int) -> int:
    width = len(transformer.categories_[column])
    infrequent = getattr(transformer, "infrequent_categories_", None)
    if infrequent is not None and infrequent[column] is not None:
        width -= len(infrequent[column]) - 1
    dropped = transformer.drop_idx_
    return width if dropped is None or dropped[column] is None else width - 1


def ordinal(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """One column for each."""
    _check_categories(transformer, columns, step)
    return [Derived(i, ORDINAL) for i in range(len(columns))]


def target(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """One column for each; categories never seen get the overall mean."""
    if transformer.target_type_ == "multiclass":
        step.refuse(
            "encodes by several classes", hint="fit it on two classes or a number, or use OneHotEncoder"
        )
    return [Derived(i, TARGET) for i in range(len(columns))]


def _check_categories(transformer: Any, columns: Sequence[Traced], step: Step) -> None:
    if transformer.handle_unknown != "error":
        return
    for column, categories in zip(columns, transformer.categories_, strict=True):
        known = {None if is_missing(one) else one for one in map(python_scalar, categories.tolist())}
        for value in column.values or ():
            if value not in known:
                step.refuse(
                    f"has never seen the value {value!r} of feature {column.name!r}, and was told to fail then",
                    hint=f"leave it out of the space (space.replace({{{column.name!r}: ...}}), or Space.from_data of "
                    "the rows it was fitted on), or fit with handle_unknown='ignore'",
                )


HANDLERS = {"OneHotEncoder": one_hot, "OrdinalEncoder": ordinal, "TargetEncoder": target}
