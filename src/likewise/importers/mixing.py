"""Mixes of columns in front of a network: layers that do not bend, which the first layer of the network takes in (`families.network.body.folded`).

    PCA, IncrementalPCA, FastICA     (columns - mean) components^T
    TruncatedSVD, random projections columns components^T
    LinearDiscriminantAnalysis       (columns - xbar) scalings, or columns scalings (solver "eigen")

The stored doubles are taken exactly; the mean is a layer of its own, as programs subtract it before or after the product. What comes after a mix may choose columns, mix them again, and add to them or multiply them by
powers of two. Quotients of doubles are none that layers have, so that whitened components and scalers that divide are refused there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.families.network.activation import IDENTITY
from likewise.families.network.body import Layer
from likewise.families.network.dyadic import Dyadic
from likewise.importers.registry import is_sklearn_class
from likewise.importers.transformers.composition import trace_transformer
from likewise.importers.transformers.traced_columns import Line, Step, TracedColumn
from likewise.spec.features import Continuous

Steps = Sequence[tuple[str, Any]]
COMPONENTS = (
    "PCA",
    "IncrementalPCA",
    "FastICA",
    "TruncatedSVD",
    "GaussianRandomProjection",
    "SparseRandomProjection",
)
MIXERS = (*COMPONENTS, "LinearDiscriminantAnalysis")
ANYTHING = Continuous(-1.0, 1.0)  # a mix is a number; no bounds of it are looked at


def place_of_mix(steps: Steps) -> int | None:
    """Which step is the first to mix columns; None if none does."""
    for place, (_, transformer) in enumerate(steps):
        if is_mixer(transformer):
            return place
    return None


def is_mixer(transformer: Any) -> bool:
    """Whether this is one of the transformers that mix columns and are read."""
    return type(transformer).__name__ in MIXERS and is_sklearn_class(transformer)


def mixing_layers(steps: Steps, width: int) -> tuple[Layer, ...]:
    """What these steps, the first of which mixes `width` columns, make of the columns."""
    layers: list[Layer] = []
    for name, transformer in steps:
        step = Step(path=()).inside(name, transformer)
        found = _mix(transformer, step, width) if is_mixer(transformer) else _lines(transformer, step, width)
        layers += found
        if found:
            width = found[-1].weights.shape[0]
    return tuple(layers)


def _mix(transformer: Any, step: Step, width: int) -> list[Layer]:
    matrix, mean = _stored(transformer, step)
    if matrix.shape[1] != width:
        step.refuse(
            f"was fitted on {matrix.shape[1]} columns, but gets {width}",
            hint="a step was exchanged after fitting: call fit(X, y) on the whole pipeline again",
        )
    if not (np.isfinite(matrix).all() and np.isfinite(mean).all()):
        step.refuse("has a parameter that is not a finite number", hint="fit it on finite numbers")
    layers = [_layer(matrix, np.zeros(len(matrix)))]
    return [_layer(np.eye(width), -mean), *layers] if mean.any() else layers


def _stored(transformer: Any, step: Step) -> tuple[Any, Any]:
    """The matrix (columns given, columns taken) and what is subtracted from the columns before."""
    if step.kind == "LinearDiscriminantAnalysis":
        if not hasattr(transformer, "scalings_"):
            step.refuse("is not fitted, or transforms nothing", hint="fit it with solver='svd' or 'eigen'")
        matrix = np.asarray(transformer.scalings_)[:, : transformer._max_components].T
        centred = transformer.solver == "svd"
        return matrix, np.asarray(transformer.xbar_) if centred else np.zeros(matrix.shape[1])
    if not hasattr(transformer, "components_"):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    components = transformer.components_
    matrix = np.asarray(components.toarray() if hasattr(components, "toarray") else components)
    if step.kind in ("PCA", "IncrementalPCA") and transformer.whiten:
        step.refuse(
            "divides components by their spread (whiten=True), which no layer of stored numbers does",
            hint="fit it with whiten=False, and scale the columns before it",
        )
    mean = getattr(transformer, "mean_", None)
    if mean is None or (step.kind == "FastICA" and not transformer.whiten):
        mean = np.zeros(matrix.shape[1])
    return matrix, np.asarray(mean)


def _lines(transformer: Any, step: Step, width: int) -> list[Layer]:
    """A step that looks at one mixed column at a time: chosen columns, lines of them."""
    columns = tuple(
        TracedColumn(index=i, name=f"component {i}", feature=ANYTHING, line=Line(), untouched=False)
        for i in range(width)
    )
    made = trace_transformer(transformer, columns, step)
    lines = [one.line for one in made if one.line is not None and one.curve is None and one.starts is None]
    if len(lines) < len(made) or not all(_dyadic(line.slope) and _dyadic(line.offset) for line in lines):
        step.refuse(
            "does more to mixed columns than choose from them and add to them",
            hint="put it before the step that mixes columns",
        )
    if all(line == Line() for line in lines) and len(made) == width:
        return []
    slopes, offsets = np.zeros((len(made), width)), np.zeros(len(made))
    for i, (one, line) in enumerate(zip(made, lines, strict=True)):
        slopes[i, one.index], offsets[i] = float(line.slope), float(line.offset)
    return [_layer(slopes, offsets)]


def _dyadic(value: Fraction) -> bool:
    """Whether this is a double."""
    return Fraction(float(value)) == value


def _layer(weights: Any, biases: Any) -> Layer:
    return Layer(weights=Dyadic.of(weights), biases=Dyadic.of(biases), activation=IDENTITY)
