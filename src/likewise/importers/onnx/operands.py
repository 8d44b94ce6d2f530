"""Constants beside tensors that depend on the inputs: of one type and finite, the same for all rows, both repeated to one shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.onnx.computed import MOST_ELEMENTS, Computed
from likewise.importers.onnx.model_file import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]


def repeated(node: Node, x: Computed, shape: tuple[int, ...]) -> Computed:
    """A tensor with its elements repeated to a larger shape."""
    if math.prod(shape) > MOST_ELEMENTS:
        node.refuse(f"makes {math.prod(shape):,} numbers a row")
    places = np.arange(x.size).reshape(x.shape)
    return x.taking(np.broadcast_to(places, shape), shape)


def without_rows(node: Node, constants: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Constants without the axis of the rows, over which they must be the same."""
    if constants.ndim <= len(shape):
        return constants
    if constants.ndim > len(shape) + 1 or constants.shape[0] != 1:
        node.refuse(f"has constants of the shape {constants.shape} for rows of {shape}")
    return np.asarray(constants[0])


def check_floats(node: Node, dtype: np.dtype[Any], *constants: Any) -> None:
    """Layers are of finite floating-point numbers of one type."""
    if dtype.kind != "f" or any(one.dtype != dtype for one in constants):
        node.refuse("is not of floating-point numbers of one type", hint="put a Cast before it")
    if not all(np.isfinite(one).all() for one in constants):
        node.refuse("has a constant that is not a finite number")
