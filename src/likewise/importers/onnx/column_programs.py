"""Operators of `ai.onnx.ml` that work column by column, as NumPy computes them in the precision of ONNX Runtime: who answers where that is not installed, and who fills tables (`column_tracing`).

Scaler                          (x - offset) * scale, in single precision
Imputer                         a number in the place of NaN, or of another number
OneHotEncoder                   a column for each category, 1 where the value is that one
LabelEncoder, CategoryMapper    another value for each
Binarizer                       1 above a threshold, else 0
FeatureVectorizer               columns side by side, in single precision
ArrayFeatureExtractor           some of the columns
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.onnx.model_file import CLASSICAL, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]

SINGLE = np.float32
KEYS = ("keys_strings", "keys_int64s", "keys_floats")
VALUES = ("values_strings", "values_int64s", "values_floats")
CLASSICAL_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    f"{CLASSICAL}.{name}": known
    for name, known in {
        "Scaler": ("offset", "scale"),
        "Imputer": ("imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"),
        "OneHotEncoder": ("cats_int64s", "cats_strings", "zeros"),
        "LabelEncoder": (*KEYS, *VALUES, "default_string", "default_int64", "default_float", "classes_strings"),
        "CategoryMapper": ("cats_int64s", "cats_strings", "default_int64", "default_string"),
        "Binarizer": ("threshold",),
        "FeatureVectorizer": ("inputdimensions",),
        "ArrayFeatureExtractor": (),
    }.items()
}  # fmt: skip


def _scale(node: Node, x: Any) -> Tensor:
    offset, scale = (
        np.array(node.attributes.get(name, default), dtype=SINGLE)
        for name, default in (("offset", (0.0,)), ("scale", (1.0,)))
    )
    return np.asarray((x.astype(SINGLE) - offset) * scale)


def replaced_number(node: Node) -> tuple[float, tuple[float, ...]]:
    """What an Imputer replaces, and by what, a number a column or one for all."""
    if "imputed_value_floats" in node.attributes:
        return float(node.attributes.get("replaced_value_float", 0.0)), node.attributes[
            "imputed_value_floats"
        ]
    values = node.attributes.get("imputed_value_int64s", ())
    return float(node.attributes.get("replaced_value_int64", 0)), tuple(map(float, values))


def _impute(node: Node, x: Any) -> Tensor:
    replaced, values = replaced_number(node)
    gone = np.isnan(x) if np.isnan(replaced) else x == x.dtype.type(replaced)
    return np.where(gone, np.array(values).astype(x.dtype), x)


def categories(node: Node) -> tuple[Any, ...]:
    """Those of a OneHotEncoder."""
    found: tuple[Any, ...] = node.attributes.get("cats_strings") or node.attributes.get("cats_int64s") or ()
    return found


def _one_hot(node: Node, x: Any) -> Tensor:
    known = categories(node)
    values = x if x.dtype == object else x.astype(np.int64)
    made = np.stack([values == one for one in known], axis=-1).astype(SINGLE)
    if not node.attributes.get("zeros", 1) and not made.any(axis=-1).all():
        raise ValueError("a value that is none of the categories")
    return made


def mapping(node: Node) -> tuple[Mapping[Any, Any], Any, np.dtype[Any]]:
    """What a LabelEncoder or CategoryMapper makes of which value, and of all others, and the type of that."""
    own = node.attributes
    if "classes_strings" in own:
        return _by_place(node, own["classes_strings"])
    if node.operator == f"{CLASSICAL}.CategoryMapper":
        words, numbers = own.get("cats_strings", ()), own.get("cats_int64s", ())
        if len(words) != len(numbers):
            node.refuse("has not one number a category")
        if node.attributes.get("default_string") is not None and node.attributes.get("default_int64") is None:
            node.refuse("makes text of numbers", hint="text is read by encoders that make numbers of it")
        return dict(zip(words, numbers, strict=True)), own.get("default_int64", -1), np.dtype(np.int64)
    keys, values = (next((own[name] for name in names if name in own), ()) for names in (KEYS, VALUES))
    if "values_strings" in own or len(keys) != len(values) or not keys:
        node.refuse(
            "makes text of values, or has not one number a value",
            hint="text is read by encoders that make numbers of it",
        )
    floats = "values_floats" in own
    default = own.get("default_float", -0.0) if floats else own.get("default_int64", -1)
    return dict(zip(keys, values, strict=True)), default, np.dtype(SINGLE if floats else np.int64)


def _by_place(node: Node, words: tuple[str, ...]) -> tuple[Mapping[Any, Any], Any, np.dtype[Any]]:
    """The first version of a LabelEncoder, which numbers text."""
    return (
        {word: i for i, word in enumerate(words)},
        node.attributes.get("default_int64", -1),
        np.dtype(np.int64),
    )


def _map_values(node: Node, x: Any) -> Tensor:
    known, default, dtype = mapping(node)
    made = [known.get(one, default) for one in x.ravel().tolist()]
    return np.array(made, dtype=dtype).reshape(x.shape)


def _binarize(node: Node, x: Any) -> Tensor:
    threshold = x.dtype.type(node.attributes.get("threshold", 0.0))
    return np.asarray(np.where(x > threshold, x.dtype.type(1), x.dtype.type(0)))


def _vectorize(_: Node, *parts: Any) -> Tensor:
    made = [one.astype(SINGLE).reshape(len(one), math.prod(one.shape[1:])) for one in parts]
    return np.concatenate(made, axis=1)


def _extract(_: Node, x: Any, places: Any) -> Tensor:
    return np.asarray(np.take(x, np.ravel(places), axis=-1))


PROGRAMS: dict[str, Callable[..., Tensor]] = {
    "Scaler": _scale,
    "Imputer": _impute,
    "OneHotEncoder": _one_hot,
    "LabelEncoder": _map_values,
    "CategoryMapper": _map_values,
    "Binarizer": _binarize,
    "FeatureVectorizer": _vectorize,
    "ArrayFeatureExtractor": _extract,
}
COLUMN_PROGRAMS = {f"{CLASSICAL}.{name}": program for name, program in PROGRAMS.items()}
