"""The JSON of CatBoost's models: what may be in it, of what types, and nothing else.

`parse_model` gives back what the model predicts with, and refuses what it does not know: keys, types,
numbers that CatBoost would round or cut. Settings of training and the like are
left out. `write_model` writes a file of that. CatBoost's own reader takes a double for one of its neighbours
sometimes, so doubles keep the
decimals that they were written with (`Written`), and `alike` compares two files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from likewise.importers.saved_boosters import check_keys, read_decimal, read_json

DEEPEST_TREE = 200
INT = 1 << 31
LONGEST_INT = len(str(1 << 64))


class Written(float):
    """A double and the decimal that stands for it in a file."""

    text: str

    def __new__(cls, text: str) -> Written:
        made = super().__new__(cls, text)
        if not math.isfinite(made):
            raise ValueError(f"{text[:30]!r} is beyond all doubles")
        made.text = text
        return made


def parse_model(content: bytes) -> dict[str, Any]:
    """The model in the bytes of a file. CatBoost takes what is before a fault for the model, also where that
    is in what it does not need."""
    given = read_json(content.decode("utf-8"), parse_float=Written, parse_int=_short_int)
    json.dumps(given, ensure_ascii=False).encode()  # no halves of letters
    if "oblivious_trees" in given:
        found: dict[str, Any] = _cleaned(given, {**_MODEL, "oblivious_trees": [_SYMMETRIC]})
    else:
        found = _cleaned(given, {**_MODEL, "trees": [_nested]})
    return found


def _short_int(text: str) -> int:
    if len(text) > LONGEST_INT:
        raise ValueError(f"{text[:30]!r} is beyond 64 bits")
    return int(text)


def write_model(model: Mapping[str, Any], texts: Mapping[float, str]) -> bytes:
    """A file of the model, with other decimals for some doubles."""

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = ",".join(f"{json.dumps(key)}:{write(one)}" for key, one in value.items())
            return f"{{{parts}}}"
        if isinstance(value, list):
            return f"[{','.join(map(write, value))}]"
        if isinstance(value, float):
            return texts.get(float(value)) or (value.text if isinstance(value, Written) else repr(value))
        return json.dumps(value)

    return write(model).encode()


def doubles(value: Any) -> set[float]:
    """All numbers of a model that are no whole ones."""
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return set().union(*map(doubles, inside))
    return {float(value)} if isinstance(value, float) else set()


def alike(one: Any, other: Any, steps: int) -> bool:
    """Whether two models are the same, but for numbers that are up to so many steps of doubles apart."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(alike(one[key], other[key], steps) for key in one)
        )
    if isinstance(one, list):
        same = isinstance(other, list) and len(one) == len(other)
        return same and all(alike(first, second, steps) for first, second in zip(one, other, strict=True))
    if isinstance(one, float) or isinstance(other, float):
        return bool(abs(float(one) - float(other)) <= steps * np.spacing(abs(float(one))))
    return type(one) is type(other) and bool(one == other)


# -- types -------------------------------------------------------------------------------------------------


def _cleaned(given: Any, grammar: Any) -> Any:
    """A value by its grammar: a dict of keys (`?` where they may be missing, `_drop` where they are left
    out), a list of one, or what looks at it."""
    if isinstance(grammar, dict):
        known = {name.rstrip("?"): (name, inside) for name, inside in grammar.items()}
        check_keys(given, known, [name for name in grammar if not name.endswith("?")])
        return {
            name: _cleaned(given[name], inside)
            for name, (_, inside) in known.items()
            if name in given and inside is not _drop
        }
    if isinstance(grammar, list):
        if not isinstance(given, list | None):
            raise TypeError("a list in it is none")
        return [_cleaned(one, grammar[0]) for one in given or ()]
    return grammar(given)


def _drop(_given: Any) -> None:
    """What the model does not predict with."""


def _whole(lo: int, hi: int) -> Callable[[Any], int]:
    return partial(_whole_number, lo, hi)


def _whole_number(lo: int, hi: int, given: Any) -> int:
    if type(given) is not int or not lo <= given < hi:
        raise ValueError(f"{str(given)[:30]!r} is not a whole number from {lo} to {hi}")
    return given


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{str(given)[:30]!r} is not a text")
    return given


def _flag(given: Any) -> bool:
    if not isinstance(given, bool):
        raise TypeError(f"{str(given)[:30]!r} is neither true nor false")
    return given


def _number(given: Any) -> Any:
    if type(given) not in (int, Written) or not math.isfinite(float(given)):
        raise ValueError(f"{str(given)[:30]!r} is not a finite number")
    return given


def _single(given: Any) -> float:
    """A number that CatBoost keeps in single precision, as it is."""
    with np.errstate(over="ignore"):
        value = float(np.float32(_number(given)))
    if value != given:
        raise ValueError(f"{str(given)[:30]!r} is not a number in single precision")
    return value


def _entry(given: Any) -> Any:
    """Of a table: a hash in text, or a count."""
    return given if isinstance(given, str) else _number(given)


def _decimal(given: Any) -> str:
    read_decimal(given)
    return str(given)


def _label(given: Any) -> Any:
    return given if isinstance(given, str | bool) else _number(given)


def _tables(given: Any) -> dict[str, Any]:
    table = {"counter_denominator": _COUNT, "hash_map": [_entry], "hash_stride": _COUNT}
    return {} if given is None else _cleaned(given, dict.fromkeys(given, table))


def _settings(given: Any) -> Any:
    """The loss, of all settings of training. CatBoost complains of a file without `flat_params`."""
    return {"loss_function": _cleaned(given["loss_function"], _LOSS), "flat_params": {}}


def _options(given: Any) -> Any:
    return _cleaned(given, dict.fromkeys(given, _text))


def _info(given: Any) -> Any:
    if "multiclass_params" in given:
        raise ValueError("it has the labels of an old release of CatBoost")
    return _cleaned({name: given[name] for name in given if f"{name}?" in _INFO or name == "params"}, _INFO)


def _nested(given: Any, depth: int = 0) -> Any:
    if depth > DEEPEST_TREE:
        raise ValueError(f"a tree is deeper than {DEEPEST_TREE}")
    if "value" in given:
        leaf = [_number] if isinstance(given["value"], list) else _number
        # CatBoost writes the weights of leaves without a look at whether there are any.
        return _cleaned(given, {"value": leaf, "weight?": _drop}) | {"weight": 0}
    below = partial(_nested, depth=depth + 1)
    return _cleaned(given, {"split": _SPLIT, "left": below, "right": below})


def _scale_and_bias(given: Any) -> list[Any]:
    scale, bias = given
    return [_number(scale), _cleaned(bias, [_number])]


_COUNT = _whole(0, INT)
_HASH = _whole(-INT, INT)
_PLACE = {"feature_id": _text, "feature_index": _COUNT, "flat_feature_index": _COUNT, "feature_name?": _drop}
_NUMBERS = {**_PLACE, "borders?": [_single], "has_nans": _flag, "nan_value_treatment": _text}
_CATEGORIES = {**_PLACE, "values?": [_HASH], "string_values?": _drop}
_ELEMENT = {
    "combination_element": _text,
    "cat_feature_index?": _COUNT,
    "float_feature_index?": _COUNT,
    "border?": _single,
    "value?": _HASH,
}
_STATISTIC = {
    "borders": [_single],
    "ctr_type": _text,
    "elements": [_ELEMENT],
    "identifier": _text,
    **dict.fromkeys(("prior_denomerator", "prior_numerator", "scale", "shift"), _single),
    "target_border_idx": _COUNT,
}
_SPLIT = {
    "split_index": _COUNT,
    **dict.fromkeys(
        (
            *("border?", "cat_feature_index?", "ctr_target_border_idx?", "float_feature_index?"),
            *("split_type?", "value?"),
        ),
        _drop,
    ),
}
_SYMMETRIC = {"leaf_values": [_number], "leaf_weights?": _drop, "splits?": [_SPLIT]}
_LOSS = {"type": _text, "params?": _options}
_INFO = {
    "params": _settings,
    "class_params?": {
        "class_label_type": _text,
        "class_names": [_label],
        "class_to_label": [_COUNT],
        "classes_count": _COUNT,
    },
    "binclass_probability_threshold?": _decimal,
}
_MODEL = {
    "model_info": _info,
    "features_info": {
        "float_features?": [_NUMBERS],
        "categorical_features?": [_CATEGORIES],
        "ctrs?": [_STATISTIC],
        "cat_features_hash?": _drop,
    },
    "ctr_data?": _tables,
    "scale_and_bias": _scale_and_bias,
}
