"""Operators that make layers: products and sums with constants, and activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.families.network.activation import LOGISTIC, RELU, TANH, Activation
from likewise.families.network.dyadic import Dyadic
from likewise.importers.onnx.computed import Computed, join, negated, ones, zeros
from likewise.importers.onnx.model_file import Node
from likewise.importers.onnx.operands import check_floats, repeated, without_rows
from likewise.importers.onnx.operators import attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]
    Operand = Computed | Tensor

UNIT_INTERVAL = Activation("clip", (Fraction(0), Fraction(1)))


# -- weights -----------------------------------------------------------------------------------------------


def _gemm(node: Node, a: Operand, b: Operand, c: Operand | None = None) -> Computed:
    if (
        not isinstance(a, Computed)
        or isinstance(b, Computed)
        or isinstance(c, Computed)
        or attribute(node, "transA")
    ):
        node.refuse("multiplies otherwise than rows by constant weights")
    weights = b if attribute(node, "transB") else b.T
    bias = np.zeros(len(weights), dtype=b.dtype) if c is None else np.broadcast_to(c, (1, len(weights)))[0]
    check_floats(node, a.dtype, weights, bias)
    alpha, beta = (Dyadic.of([attribute(node, name)]) for name in ("alpha", "beta"))
    return _product(node, a, _times(Dyadic.of(weights), alpha), _times(Dyadic.of(bias), beta))


def _matmul(node: Node, a: Operand, b: Operand) -> Computed:
    if not isinstance(a, Computed) or isinstance(b, Computed) or b.ndim != 2:
        node.refuse("multiplies otherwise than rows by constant weights")
    check_floats(node, a.dtype, b)
    return _product(node, a, Dyadic.of(b.T), zeros(b.shape[1]))


def _product(node: Node, a: Computed, weights: Dyadic, biases: Dyadic) -> Computed:
    if a.shape != weights.shape[1:] or not weights.shape[0] or not a.size:
        node.refuse(f"multiplies rows of the shape {a.shape} by weights of {weights.shape[1:]}")
    return a.weighed(weights, biases, (weights.shape[0],))


def _batch_normalization(
    node: Node, x: Operand, scale: Any, shift: Any, mean: Any, variance: Any
) -> Computed:
    if not isinstance(x, Computed) or any(
        isinstance(one, Computed) for one in (scale, shift, mean, variance)
    ):
        node.refuse("has parameters that are no constants")
    if attribute(node, "training_mode") or not x.shape:
        node.refuse("is in training mode, or has no channels", hint="export the model in evaluation mode")
    check_floats(node, x.dtype, scale, shift, mean, variance)
    with np.errstate(all="ignore"):
        spread = np.sqrt(variance.astype(np.float64) + attribute(node, "epsilon"))
        factor = scale.astype(np.float64) / spread
    if not np.isfinite(factor).all():
        node.refuse("divides by a variance that is not above 0")
    inner = x.size // x.shape[0]
    each = [np.repeat(one, inner) for one in (factor, shift, mean)]
    if any(len(one) != x.size for one in each):
        node.refuse(f"has parameters of another length than {x.shape[0]}")
    factors, shifts, means = map(Dyadic.of, each)
    return x.shifted(negated(means)).scaled(factors, shifts)


def _add(node: Node, a: Operand, b: Operand) -> Computed:
    return _sum(node, a, b, 1)


def _sub(node: Node, a: Operand, b: Operand) -> Computed:
    return _sum(node, a, b, -1)


def _sum(node: Node, a: Operand, b: Operand, sign: int) -> Computed:
    """a + sign * b."""
    if isinstance(a, Computed) and isinstance(b, Computed):
        return _sum_of_tensors(node, a, b, sign)
    if isinstance(a, Computed):
        x, constants = _against(node, a, b)
        return x.shifted(constants if sign > 0 else negated(constants))
    x, constants = _against(node, b, a)
    return x.shifted(constants) if sign > 0 else x.scaled(negated(ones(x.size)), constants)


def _sum_of_tensors(node: Node, a: Computed, b: Computed, sign: int) -> Computed:
    if a.dtype != b.dtype or a.dtype.kind != "f" or a.shape != b.shape:
        node.refuse(f"adds tensors of the shapes {a.shape} and {b.shape}, or of different types")
    both, size = join(a, b), a.size
    weights = np.zeros((size, 2 * size), dtype=object)
    weights[np.arange(size), np.arange(size)] = 1
    weights[np.arange(size), np.arange(size) + size] = sign
    return both.weighed(Dyadic(numerators=weights, exponent=0), zeros(size), a.shape)


def _mul(node: Node, a: Operand, b: Operand) -> Computed:
    if isinstance(a, Computed) and isinstance(b, Computed):
        node.refuse("multiplies two tensors that both depend on the inputs: that is no layer")
    x, factors = _against(node, a, b) if isinstance(a, Computed) else _against(node, b, a)
    return x.scaled(factors, zeros(x.size))


def _div(node: Node, a: Operand, b: Operand) -> Computed:
    if not isinstance(a, Computed) or isinstance(b, Computed):
        node.refuse("divides by something that depends on the inputs: that is no layer")
    check_floats(node, a.dtype, b)
    with np.errstate(all="ignore"):
        inverse = 1 / b.astype(np.float64)
    if not np.isfinite(inverse).all():
        node.refuse("divides by 0, or by almost 0")
    x, factors = _against(node, a, inverse, checked=True)
    return x.scaled(factors, zeros(x.size))


def _against(node: Node, x: Any, constants: Any, *, checked: bool = False) -> tuple[Computed, Dyadic]:
    """A tensor and constants, each repeated to the shape of both."""
    if not checked:
        check_floats(node, x.dtype, constants)
    own = without_rows(node, constants, x.shape)
    shape = np.broadcast_shapes(x.shape, own.shape)
    return repeated(node, x, shape), Dyadic.of(np.broadcast_to(own, shape).ravel())


def _times(numbers: Dyadic, factor: Dyadic) -> Dyadic:
    return Dyadic(
        numerators=numbers.numerators * factor.numerators[0], exponent=numbers.exponent + factor.exponent
    )


# -- activations ------------------------------------------------------------------------------------------


def _bend(activation: Activation) -> Callable[[Node, Computed], Computed]:
    def read(node: Node, x: Computed) -> Computed:
        check_floats(node, x.dtype)
        return x.bent(activation)

    return read


def _leaky_relu(node: Node, x: Computed) -> Computed:
    slope = attribute(node, "alpha")
    if not 0 <= slope <= 1:
        node.refuse(f"has alpha={slope!r}; from 0 to 1 is read")
    return _bend(Activation("leaky_relu", (Fraction(slope),)))(node, x)


def _elu(node: Node, x: Computed) -> Computed:
    alpha = attribute(node, "alpha")
    if not 0 <= alpha < math.inf:
        node.refuse(f"has alpha={alpha!r}; numbers from 0 on are read")
    return _bend(Activation("elu", (Fraction(alpha),)))(node, x)


def _hard_sigmoid(node: Node, x: Computed) -> Computed:
    slope, offset = (Dyadic.of([attribute(node, name)] * x.size) for name in ("alpha", "beta"))
    check_floats(node, x.dtype)
    return x.scaled(slope, offset).bent(UNIT_INTERVAL)


def _clip(node: Node, x: Computed, low: Any = None, high: Any = None) -> Computed:
    limits = []
    for given, name, none in ((low, "min", -math.inf), (high, "max", math.inf)):
        if isinstance(given, Computed) or (given is not None and given.size != 1):
            node.refuse("has limits that are no single constants")
        limits.append(
            float(none if given is None else given.item())
            if name not in node.attributes
            else node.attributes[name]
        )
    check_floats(node, x.dtype)
    least, most = limits
    if least == 0 and most == math.inf:
        return x.bent(RELU)
    if not -math.inf < least < most < math.inf:
        node.refuse(f"has the limits {least!r} and {most!r}; two numbers, or 0 and none, are read")
    return x.bent(Activation("clip", (Fraction(least), Fraction(most))))


LAYERS: dict[str, Callable[..., Computed]] = {
    "Add": _add,
    "Sub": _sub,
    "Mul": _mul,
    "Div": _div,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "BatchNormalization": _batch_normalization,
    "Relu": _bend(RELU),
    "LeakyRelu": _leaky_relu,
    "Elu": _elu,
    "HardSigmoid": _hard_sigmoid,
    "Clip": _clip,
    "Sigmoid": _bend(LOGISTIC),
    "Tanh": _bend(TANH),
}
