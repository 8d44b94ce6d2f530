"""Encoders of the package category_encoders: of a frame's columns some are encoded, the others passed on as they are.

one column a feature        OrdinalEncoder, TargetEncoder, CountEncoder, WOEEncoder, LeaveOneOutEncoder, CatBoostEncoder, JamesSteinEncoder, MEstimateEncoder, QuantileEncoder, GLMMEncoder
several columns a feature   OneHotEncoder, BinaryEncoder, BaseNEncoder, GrayEncoder, RankHotEncoder, and contrasts: HelmertEncoder, SumEncoder, BackwardDifferenceEncoder, PolynomialEncoder

Every column that they give is a table over the levels of one feature, which the fitted encoder itself is asked for. Noise and the target itself play a part in fitting only. Which columns
come from which feature is said by the mapping that was fitted; columns of several features together (`composite_cols`, HashingEncoder) are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.importers.transformers.encoders import check_levels
from likewise.importers.transformers.traced_columns import DerivedColumn, Step, TableFunction, TracedColumn

LIBRARY = "category_encoders"
ENCODED = TableFunction(does="puts numbers in place of each value")
ONE_COLUMN = (
    *("OrdinalEncoder", "TargetEncoder", "CountEncoder", "WOEEncoder", "LeaveOneOutEncoder"),
    *("CatBoostEncoder", "JamesSteinEncoder", "MEstimateEncoder", "QuantileEncoder", "GLMMEncoder"),
)
SEVERAL_COLUMNS = (
    *("OneHotEncoder", "BinaryEncoder", "BaseNEncoder", "GrayEncoder", "RankHotEncoder"),
    *("HelmertEncoder", "SumEncoder", "BackwardDifferenceEncoder", "PolynomialEncoder"),
)
ONE_BY_ONE = "fit an encoder of one feature at a time"


def encode_frame(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """The columns in the order in which they are given."""
    if getattr(transformer, "composite_cols", None):
        step.refuse("encodes several features together (composite_cols)", hint=ONE_BY_ONE)
    names = [str(name) for name in transformer.feature_names_in_]
    encoded = [str(name) for name in transformer.cols or ()]
    for name in encoded:
        known, fails = _known_levels(transformer, name), transformer.handle_unknown == "error"
        check_levels(columns[names.index(name)], known, step, fails=fails, lenient="value")
    sources = _sources(transformer, names, encoded, step)
    given = [str(name) for name in transformer.get_feature_names_out()]
    if any(name not in sources for name in given):
        step.refuse("gives columns that are of no feature", hint="fit it again")
    return [
        DerivedColumn(sources[name], ENCODED)
        if names[sources[name]] in encoded
        else DerivedColumn(sources[name])
        for name in given
    ]


def _sources(transformer: Any, names: list[str], encoded: list[str], step: Step) -> dict[str, int]:
    """The place of the feature that a column comes from, by the column's name."""
    found = [(name, i) for i, name in enumerate(names) if name not in encoded or step.kind in ONE_COLUMN]
    if step.kind in SEVERAL_COLUMNS:
        for one in transformer.mapping:
            found += [(str(name), names.index(str(one["col"]))) for name in one["mapping"].columns]
    if len({name for name, _ in found}) < len(found):
        step.refuse("gives two columns of one name", hint="rename the columns of the frame, and fit again")
    return dict(found)


def _known_levels(transformer: Any, name: str) -> list[Any]:
    """The levels of a feature that an encoder was fitted on, and a mark of what is missing if it knows one."""
    mapping = getattr(transformer, "ordinal_encoder", transformer).mapping
    if isinstance(mapping, dict):
        return list(mapping[name].index)
    return next(list(one["mapping"].index) for one in mapping if str(one["col"]) == name)


HANDLERS = dict.fromkeys((*ONE_COLUMN, *SEVERAL_COLUMNS), encode_frame)
