"""Nystroem and KernelPCA in front of a linear model: a sum of kernels at landmarks z_j,

    b + sum_i w_i phi_i(x),   phi_i = c_i + sum_j n_ij k(x, z_j)      =  b' + sum_j a_j k(x, z_j),   a_j = sum_i w_i n_ij,

with scalers and selectors between the two.

    Nystroem     n the stored `normalization_`, no c
    KernelPCA    sum_j s_ij (k(x, z_j) - r_j - mean_l k(x, z_l) + m): s the stored eigenvectors over the roots of their eigenvalues, r and m the stored means of rows and of all. So
                 n_ij = s_ij - S_i / count and c_i = m S_i - sum_j s_ij r_j, where S_i = sum_j s_ij

The kernel's values are columns of their own, over which the linear model is multiplied out
exactly; then they are put in: Gaussians, powers or inner products, as of `sklearn_kernel`. Of Gaussians and powers the a_j are rounded to doubles once, where the program rounds all its
n_ij k(x, z_j): with A_j the sum of the absolute values |w_i n_ij| that the program adds up, that is a part of the error that is stated of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.clock import check_clock
from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine, affine_body
from likewise.families.affine.rounding import affine_rounding
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.rounding import KernelRounding
from likewise.families.polynomial.rounding import PolynomialRounding
from likewise.families.program_rounding import double_beyond
from likewise.families.scored_model import Model
from likewise.importers.expansion import PowerSum, expand_powers
from likewise.importers.mixed_columns import (
    DENORMAL_SIZE,
    Base,
    ExpandedColumn,
    Monomial,
    Node,
    expand,
)
from likewise.importers.mixing import apply_chain, weigh_columns
from likewise.importers.registry import is_sklearn_class, takes_mixes
from likewise.importers.sklearn_linear import sum_vectors
from likewise.importers.transformers.traced_columns import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]

Steps = Sequence[tuple[str, Any]]
NYSTROEM = "Nystroem"
POWERS = ("poly", "polynomial")
KERNELS = ("rbf", "linear", *POWERS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Landmarks:
    """A fitted Nystroem or KernelPCA: what stands before it, its columns over the kernel's values, and those that reach the model as nodes over its columns."""

    before: Steps
    columns: tuple[ExpandedColumn, ...]
    nodes: tuple[Node, ...]
    step: Step
    kernel: str
    centres: Floats
    gamma: float
    offset: float
    degree: int

    def refuse_products(self) -> NoReturn:
        """Kernel values are added up, not multiplied."""
        self.step.refuse("has products of its columns behind it", hint="use a linear model behind it")


def find_landmarks(steps: Steps, final: Any) -> Landmarks | None:
    """The last Nystroem or KernelPCA of a pipeline with what is before and behind it; None where there is none."""
    flat = flattened(steps)
    places = [place for place, (_, part) in enumerate(flat) if _is_landmarks(part)]
    if not places:
        return None
    name, transformer = flat[places[-1]]
    step = Step(path=()).inside(name, transformer)
    if not hasattr(transformer, "normalization_" if step.kind == NYSTROEM else "eigenvectors_"):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    if takes_mixes(final):
        step.refuse("stands in front of a network", hint="use a linear model behind it, or SVC(kernel='rbf')")
    centres = transformer.components_ if step.kind == NYSTROEM else transformer.X_fit_
    centres = np.asarray(centres.toarray() if hasattr(centres, "toarray") else centres, dtype=np.float64)
    kernel = _read_kernel(transformer, centres.shape[1], step)
    columns = READERS[step.kind](transformer, centres, step)
    return Landmarks(
        before=flat[: places[-1]],
        columns=columns,
        nodes=apply_chain(flat[places[-1] + 1 :], tuple(Base(i) for i in range(len(columns))), Step(path=())),
        step=step,
        centres=centres,
        **kernel,
    )


def _check_numbers(matrix: Floats, centres: Floats, step: Step, *more: Any) -> None:
    if not all(np.isfinite(part).all() for part in (centres, matrix, *more)):
        step.refuse("has a parameter that is not a finite number", hint="fit it on finite numbers")
    if centres.ndim != 2 or matrix.shape[1:] != centres.shape[:1]:
        step.refuse("has a matrix that does not fit its landmarks", hint="it was changed after fitting")


def _normalized(transformer: Any, centres: Floats, step: Step) -> tuple[ExpandedColumn, ...]:
    """The columns of a Nystroem over the kernel's values."""
    matrix = np.asarray(transformer.normalization_, dtype=np.float64)
    _check_numbers(matrix, centres, step)
    return expand(weigh_columns(matrix, tuple(Base(j) for j in range(len(centres)))))


def _centred(transformer: Any, centres: Floats, step: Step) -> tuple[ExpandedColumn, ...]:
    """The columns of a KernelPCA over the kernel's values. The program subtracts from each value its stored mean and the mean of all values, and adds the stored mean of all, before it adds
    up: a sum and a quotient, three sums, and the weighted sum."""
    vectors, roots = transformer.eigenvectors_, np.sqrt(transformer.eigenvalues_)
    used = np.flatnonzero(transformer.eigenvalues_)
    scaled = np.zeros(vectors.shape)
    scaled[:, used] = vectors[:, used] / roots[used]
    rows, every = np.asarray(transformer._centerer.K_fit_rows_), float(transformer._centerer.K_fit_all_)
    _check_numbers(scaled.T, centres, step, rows, every)
    count = len(centres)
    stored, level = [Fraction(value) for value in rows.tolist()], Fraction(every)
    places: list[Monomial] = [(j,) for j in range(count)]
    columns = []
    for row in scaled.T.tolist():
        check_clock()
        weights = [Fraction(value) for value in row]
        total, size = sum(weights, Fraction(0)), sum(map(abs, weights), Fraction(0))
        constant = level * total - sum((w * r for w, r in zip(weights, stored, strict=True)), Fraction(0))
        told = size * abs(level) + sum(
            (abs(w * r) for w, r in zip(weights, stored, strict=True)), Fraction(0)
        )
        mean, spread = total / count, size / count
        columns.append(
            ExpandedColumn(
                polynomial={(): constant, **{k: w - mean for k, w in zip(places, weights, strict=True)}},
                sizes={
                    (): double_beyond(told) + DENORMAL_SIZE,
                    **{k: double_beyond(abs(w) + spread) for k, w in zip(places, weights, strict=True)},
                },
                roundings=3 * count + 8,
            )
        )
    return tuple(columns)


READERS = {NYSTROEM: _normalized, "KernelPCA": _centred}


def flattened(steps: Steps) -> list[tuple[str, Any]]:
    """The steps with those of pipelines among them."""
    found: list[tuple[str, Any]] = []
    for name, part in steps:
        inside = is_sklearn_class(part) and type(part).__name__ == "Pipeline"
        found += flattened(part.steps) if inside else [(name, part)]
    return found


def _is_landmarks(transformer: Any) -> bool:
    return is_sklearn_class(transformer) and type(transformer).__name__ in READERS


def _read_kernel(transformer: Any, width: int, step: Step) -> dict[str, Any]:
    """Kernel and parameters as scikit-learn's `pairwise_kernels` takes them, with its defaults."""
    kernel = transformer.kernel
    if kernel not in KERNELS:
        shown = kernel if isinstance(kernel, str) else "a function of one's own"
        step.refuse(f"has the kernel {shown!r}", hint="kernels that are read: 'rbf', 'poly', 'linear'")
    if step.kind == NYSTROEM:
        given = transformer._get_kernel_params()
    else:
        given = {"gamma": transformer.gamma_, "degree": transformer.degree, "coef0": transformer.coef0}
    gamma = given.get("gamma")
    gamma = 1.0 if kernel == "linear" else 1.0 / width if gamma is None else float(gamma)
    degree = 1.0 if kernel == "linear" else float(given.get("degree", 3))
    offset = 0.0 if kernel == "linear" else float(given.get("coef0", 1.0))
    if not np.isfinite([gamma, degree, offset]).all() or (kernel == "rbf" and gamma <= 0):
        step.refuse(f"has gamma={gamma} and coef0={offset}", hint="fit it with other numbers")
    if degree != int(degree) or degree < 0:
        step.refuse(
            f"has a polynomial kernel of degree {degree}, which is no polynomial",
            hint="fit it with a whole degree",
        )
    return {"kernel": kernel, "gamma": gamma, "offset": offset, "degree": int(degree)}


def put_in_kernels(model: Model, landmarks: Landmarks, columns: tuple[Column, ...]) -> Model:
    """An affine model of kernel values as a model of the columns that the kernel takes."""
    body, rounding = affine_body(model.body), affine_rounding(model.rounding)
    centres = landmarks.centres
    if body is None or rounding is None:
        landmarks.refuse_products()
    if centres.shape[1] != len(columns):
        landmarks.step.refuse(
            f"was fitted on {centres.shape[1]} columns, but gets {len(columns)}",
            hint="a step was exchanged after fitting: call fit(X, y) on the whole pipeline again",
        )
    if landmarks.kernel == "linear" or not any(body.weights):
        weights, constant, _ = sum_vectors(body.weights, centres, body.bias)
        _, _, told = sum_vectors(rounding.sizes, centres, Fraction(0))
        told = replace(
            rounding,
            sizes=told.sizes,
            constant=rounding.constant,
            operations=rounding.operations + told.operations,
        )
        affine = Affine(weights=weights, bias=constant)
        return replace(model, bodies=(affine,), embedding=columns, rounding=told)
    kind = landmarks.step.kind
    coefficients, bias = (
        np.array([_double(a, model, kind) for a in body.weights]),
        _double(body.bias, model, kind),
    )
    # As many roundings as there are terms are counted for whatever is added up: sizes of more roundings count for more.
    often = 2.0 + rounding.operations / len(centres)
    sizes = np.array([double_beyond(size) for size in rounding.sizes]) * often
    constant_size = double_beyond(rounding.constant + abs(body.bias)) * often
    made: Any
    told_of: Any
    if landmarks.kernel == "rbf":
        made = RbfSum(gamma=landmarks.gamma, bias=bias, coefficients=coefficients, centres=centres)
        told_of = KernelRounding(expanded=True, more=float(sizes.sum()) + constant_size)
    else:
        powers = PowerSum(
            coefficients=coefficients,
            centres=centres,
            gamma=landmarks.gamma,
            coef0=landmarks.offset,
            degree=landmarks.degree,
            bias=bias,
        )
        made = expand_powers(powers, f"{model.family} behind {landmarks.step.kind}")
        told_of = PolynomialRounding(
            coefficients=sizes,
            slopes=landmarks.gamma * centres,
            coef0=landmarks.offset,
            bias=constant_size,
            degree=landmarks.degree,
        )
    if not rounding.bounded:
        told_of = replace(told_of, described=False)
    return replace(model, bodies=(made,), embedding=columns, rounding=told_of)


def _double(value: Fraction, model: Model, kind: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise UnsupportedModel(
            f"{model.family} has weights too large for the {kind} in front of it",
            hint="scale the columns in front of it",
        ) from None
