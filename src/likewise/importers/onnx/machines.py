"""Linear models and kernel machines in a graph: the numbers of LinearClassifier, LinearRegressor, SVMClassifier and SVMRegressor, checked, and computed in single precision as ONNX Runtime does.

A linear model has a row of coefficients and an intercept a score. A machine has support vectors, a coefficient of each for every pair of classes (in the order of libsvm), and rho, which is added:

    score = sum_t a_t K(s_t, x) + rho,   K = <s, x>, (gamma <s, x> + coef0)^degree or exp(-gamma |x - s|^2)

Of two classes it says the first one where that is above 0; of more, every pair votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.importers.onnx.model_file import Node
from likewise.model.head import vote_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_NUMBERS = 4_000_000
SINGLE = np.float32
KERNELS: dict[str, Literal["linear", "poly", "rbf"]] = {"LINEAR": "linear", "POLY": "poly", "RBF": "rbf"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearScores:
    """A row of weights and a bias a score."""

    weights: Floats
    biases: Floats

    @property
    def width(self) -> int:
        return int(self.weights.shape[1])

    def scores(self, columns: NDArray[Any]) -> Floats:
        made = columns.astype(SINGLE) @ self.weights.astype(SINGLE).T + self.biases.astype(SINGLE)
        return np.asarray(made, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorScores:
    """For each score coefficients (scores, vectors) of all vectors, and a bias."""

    kernel: Literal["linear", "poly", "rbf"]
    gamma: float
    coef0: float
    degree: int
    vectors: Floats
    coefficients: Floats
    biases: Floats

    @property
    def width(self) -> int:
        return int(self.vectors.shape[1])

    def scores(self, columns: NDArray[Any]) -> Floats:
        x, s = columns.astype(SINGLE), self.vectors.astype(SINGLE)
        if self.kernel == "rbf":
            apart = np.stack([((x - one) ** 2).sum(axis=1) for one in s], axis=1)
            values = np.exp(-SINGLE(self.gamma) * apart)
        else:
            values = x @ s.T
            if self.kernel == "poly":
                values = (SINGLE(self.gamma) * values + SINGLE(self.coef0)) ** self.degree
        made = values.astype(np.float64) @ self.coefficients.T + self.biases
        return made.astype(SINGLE).astype(np.float64)


def read_linear(node: Node) -> LinearScores:
    """The scores of a linear model."""
    rows = np.array(node.attributes.get("coefficients", ()), dtype=np.float64)
    biases = np.array(node.attributes.get("intercepts", ()), dtype=np.float64)
    count = len(biases) or int(node.attributes.get("targets", 1))
    if (
        not rows.size
        or count < 1
        or rows.size % count
        or not (np.isfinite(rows).all() and np.isfinite(biases).all())
    ):
        node.refuse(
            "has coefficients that do not fit its intercepts, or are no finite numbers",
            hint="the file is damaged",
        )
    return LinearScores(weights=rows.reshape(count, -1), biases=biases if len(biases) else np.zeros(count))


def read_vectors(node: Node, classes: int) -> VectorScores:
    """The scores of a kernel machine; `classes` is 0 of a regressor."""
    own = node.attributes
    kernel = own.get("kernel_type", "LINEAR")
    if kernel not in KERNELS:
        node.refuse(
            f"has the kernel {kernel!r}, for which no bound is known",
            hint=f"kernels that are read: {', '.join(KERNELS)}",
        )
    lists = {
        name: np.array(own.get(name, ()), dtype=np.float64)
        for name in ("coefficients", "support_vectors", "rho", "kernel_params")
    }
    counts = own.get("vectors_per_class", ()) if classes else (own.get("n_supports", 0),)
    total = sum(counts)
    if (
        any(not np.isfinite(one).all() for one in lists.values())
        or min(counts, default=0) < 0
        or not 0 < total <= MOST_NUMBERS
    ):
        node.refuse(
            "has no support vectors, or numbers that are not finite",
            hint="models of coefficients alone: LinearClassifier, LinearRegressor",
        )
    pairs = vote_pairs(classes) if classes else [(0, 0)]
    rows = max(classes - 1, 1)
    vectors, dual, rho = lists["support_vectors"], lists["coefficients"], lists["rho"]
    if (
        vectors.size % total
        or dual.size != rows * total
        or len(rho) != len(pairs)
        or (classes and len(counts) != classes)
        or len(lists["kernel_params"]) not in ((0, 3) if kernel == "LINEAR" else (3,))
    ):
        node.refuse("has lists of numbers that do not fit each other", hint="the file is damaged")
    gamma, coef0, degree = lists["kernel_params"].tolist() or (1.0, 0.0, 3.0)
    if (
        degree != int(degree)
        or not 0 <= degree <= 100
        or (kernel == "RBF" and gamma <= 0)
        or own.get("one_class", 0)
    ):
        node.refuse(
            f"has gamma={gamma}, degree={degree}, or detects outliers",
            hint="whole degrees and gamma > 0 are read",
        )
    return VectorScores(
        kernel=KERNELS[kernel],
        gamma=gamma,
        coef0=coef0,
        degree=int(degree),
        vectors=vectors.reshape(total, -1),
        coefficients=_by_pair(dual.reshape(rows, total), counts, pairs)
        if classes
        else dual.reshape(1, total),
        biases=rho,
    )


def _by_pair(dual: Floats, counts: Any, pairs: Any) -> Floats:
    """Coefficients of all vectors for each pair of classes, 0 of those of others."""
    ends = np.cumsum(counts).tolist()
    owned = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    found = np.zeros((len(pairs), dual.shape[1]))
    for row, (i, j) in zip(found, pairs, strict=True):
        row[owned[i]], row[owned[j]] = dual[j - 1, owned[i]], dual[i, owned[j]]
    return found
