"""RBFSampler in front of a linear model: a sum of cosines of sums of columns, as a sum of bumps.

    f(x) = b + sum_i a_i cos(z_i),   z_i = offset_i + sum_c weight_ci column_c(x)

with scalers and selectors between the two. A cosine is a row of Gaussians that take turns in sign, but for next to nothing: by Poisson's summation, with gamma = 1 / (2 sigma^2),

    sum_k (-1)^k exp(-gamma (z - k pi)^2)  =  A (cos z + sum_(m = 3, 5, ...) exp(-sigma^2 (m^2 - 1) / 2) cos(m z)),    A = 2 sigma sqrt(2 / pi) exp(-sigma^2 / 2).

With gamma = 1/16 (sigma^2 = 8) the rest is below 1.3e-14, so that every cosine is a body of bumps of one sum (`families.mixed`) and the model a sum of these (`families.sums`), which certificates have already. How far that is from the cosine, at most:

    what is left out of the series     2 exp(-4 sigma^2)
    bumps beyond the range of z        those farther than `MARGIN` from it: 4 exp(-gamma MARGIN^2) / A
    centres that are doubles next to k pi     each bump has a slope of at most sqrt(2 gamma / e): sqrt(2 gamma / e) / A times the sum of |k| pi 2^-53
    1 / A that is a double             2^-53 / A times the sum of all bumps at a number, which is below 1 + sigma sqrt(2 / pi)

That is part of what the program is said to be off by. Bounds of such sums are loose, as every cosine is bounded by itself: pairs are found and certified, and proofs succeed where what may differ is not read, or few people are left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import affine_body
from likewise.families.affine.rounding import affine_rounding
from likewise.families.mixed.body import MixedSum
from likewise.families.mixed.rounding import MixedRounding
from likewise.families.program_rounding import double_beyond
from likewise.families.scored_model import Model
from likewise.families.sums.body import Sum, SumPart
from likewise.families.sums.links import IDENTITY
from likewise.families.sums.rounding import SumRounding
from likewise.importers.landmark_kernels import flattened
from likewise.importers.mixed_columns import Base, Computed, Node
from likewise.importers.mixing import apply_chain
from likewise.importers.registry import is_sklearn_class, takes_mixes
from likewise.importers.transformers.traced_columns import Operation, Step, exact_scale
from likewise.model.embedding import column_extents
from likewise.model.head import NUMBER_HEAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

Steps = Sequence[tuple[str, Any]]
SAMPLER = "RBFSampler"
GAMMA, SQUARED_WIDTH = 0.0625, 8  # gamma = 1 / (2 sigma^2)
HEIGHT = 2 * math.sqrt(SQUARED_WIDTH * 2 / math.pi) * math.exp(-SQUARED_WIDTH / 2)  # A
MARGIN = 26.0  # beyond which a bump is below 1e-18
MOST_BUMPS = 200_000  # of all cosines together
UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomWaves:
    """A fitted RBFSampler: what stands before it, its cosines, and the columns that reach the model as nodes over those."""

    before: Steps
    nodes: tuple[Node, ...]
    step: Step
    weights: Floats  # (columns, cosines)
    offsets: Floats


def find_waves(steps: Steps, final: Any) -> RandomWaves | None:
    """The last RBFSampler of a pipeline with what is before and behind it; None where there is none."""
    steps = flattened(steps)
    places = [place for place, (_, part) in enumerate(steps) if _is_sampler(part)]
    if not places:
        return None
    name, transformer = steps[places[-1]]
    step = Step(path=()).inside(name, transformer)
    if not hasattr(transformer, "random_weights_"):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    if takes_mixes(final):
        step.refuse("stands in front of a network", hint="use a linear model behind it, or SVC(kernel='rbf')")
    weights, offsets = np.asarray(transformer.random_weights_), np.asarray(transformer.random_offset_)
    if weights.dtype != np.float64 or not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
        step.refuse("has weights in single precision, or that are not finite", hint="fit it on float64 data")
    scale = Operation("times", exact_scale((2.0 / len(offsets)) ** 0.5, step))
    columns: tuple[Node, ...] = tuple(Computed(Base(i), scale) for i in range(len(offsets)))
    return RandomWaves(
        before=steps[: places[-1]],
        nodes=apply_chain(tuple(steps[places[-1] + 1 :]), columns, Step(path=())),
        step=step,
        weights=weights,
        offsets=offsets,
    )


def _is_sampler(transformer: Any) -> bool:
    return is_sklearn_class(transformer) and type(transformer).__name__ == SAMPLER


class WaveBodies:
    """The cosines of a sampler over columns of a space, each a body of bumps; made once for all scores of a model, which share them."""

    def __init__(self, waves: RandomWaves, columns: tuple[Column, ...], space: Space) -> None:
        self.waves, self.columns = waves, columns
        if len(columns) != len(waves.weights):
            waves.step.refuse(
                f"was fitted on {len(waves.weights)} columns, but gets {len(columns)}",
                hint="a step was exchanged after fitting: call fit(X, y) on the whole pipeline again",
            )
        reach = _reaches(columns, space)
        self.models: list[Model] = []
        self.distances: list[Fraction] = []
        bumps = 0
        for weights, offset in zip(waves.weights.T.tolist(), waves.offsets.tolist(), strict=True):
            far = reach(weights)
            model, distance = self._wave(weights, offset, far)
            bumps += int(2 * (far + MARGIN) / math.pi)
            if not bumps <= MOST_BUMPS:
                waves.step.refuse(
                    f"has {len(waves.offsets):,} cosines of sums of up to {far:,.0f}",
                    hint="scale the columns in front of it, or fit it with a smaller gamma, or fewer n_components",
                )
            self.models.append(model)
            self.distances.append(distance)
        self.parts = tuple(
            SumPart(body=model.body, embedding=model.embedding, link=IDENTITY) for model in self.models
        )

    def _wave(self, weights: list[float], offset: float, far: float) -> tuple[Model, Fraction]:
        """One cosine, and how far it may be off."""
        if not far < 2.0 * MOST_BUMPS:
            far = 2.0 * MOST_BUMPS  # refused for it
        first, last = (
            math.floor((offset - far - MARGIN) / math.pi),
            math.ceil((offset + far + MARGIN) / math.pi),
        )
        places = np.arange(first, last + 1, dtype=np.float64)
        centres: Floats = places * math.pi
        signs = np.where(places % 2 == 0, 1.0, -1.0)
        body = MixedSum(
            shape="gaussian",
            gamma=GAMMA,
            bias=0.0,
            coefficients=signs / HEIGHT,
            centres=centres[:, None],
            sums=((Fraction(offset), tuple((c, Fraction(w)) for c, w in enumerate(weights) if w)),),
        )
        rounding = MixedRounding(
            expanded=False,
            sizes=np.abs(np.array([weights])),
            constants=np.abs(np.array([offset])),
            inner=2 * len(weights) + 4,
        )
        model = Model(
            family=SAMPLER, rounding=rounding, embedding=self.columns, bodies=(body,), head=NUMBER_HEAD
        )
        moved = math.sqrt(2 * GAMMA / math.e) * float(np.abs(centres).sum()) * 2 * UNIT
        sizes = 4 * UNIT * (1 + math.sqrt(SQUARED_WIDTH * 2 / math.pi))
        beyond = 4 * math.exp(-GAMMA * MARGIN**2)
        distance = 2 * math.exp(-4 * SQUARED_WIDTH) + (moved + sizes + beyond) / HEIGHT
        return model, Fraction(distance) * 2

    def put_in(self, model: Model) -> Model:
        """An affine model of cosines as a model of the columns that they are of."""
        body, rounding = affine_body(model.body), affine_rounding(model.rounding)
        if body is None or rounding is None:
            self.waves.step.refuse(
                "has products of its columns behind it", hint="use a linear model behind it"
            )
        used = [i for i, weight in enumerate(body.weights) if weight] or [0]
        weights = tuple(body.weights[i] for i in used)
        made = Sum(parts=tuple(self.parts[i] for i in used), weights=weights, bias=body.bias)
        # What the program adds up, each with some roundings: more than the sum itself, where weights cancel.
        added = sum(map(double_beyond, rounding.sizes)) + double_beyond(rounding.constant + abs(body.bias))
        slack = Fraction(added) * (rounding.operations + 8) * Fraction(1, 2**53)
        slack += sum((abs(body.weights[i]) * self.distances[i] for i in used), Fraction(0))
        told = SumRounding(
            parts=tuple(self.models[i] for i in used),
            links=(IDENTITY,) * len(used),
            weights=weights,
            bias=body.bias,
            slack=slack,
            bounded=rounding.bounded,
        )
        return Model(family=model.family, rounding=told, embedding=(), bodies=(made,), head=model.head)


def _reaches(columns: tuple[Column, ...], space: Space) -> Any:
    """What bounds the size of a weighted sum of columns over a space: of one-hot columns one counts, not all."""
    extents = np.array([double_beyond(value) for value in column_extents(columns, space)])
    if not np.isfinite(extents).all():
        raise UnsupportedModel("a column in front of RBFSampler is too large", hint="scale the columns")
    tables: dict[int, list[int]] = {}
    for c, column in enumerate(columns):
        tables.setdefault(column.feature, []).append(c)
    known = {
        k: (np.array(own), np.array([[float(v) for v in columns[c].table or ()] for c in own]))
        for k, own in tables.items()
        if all(columns[c].table is not None for c in own)
    }

    def reach(weights: list[float]) -> float:
        total, given = 0.0, np.array(weights)
        for k, own in tables.items():
            if k in known:
                places, values = known[k]
                total += float(np.abs(given[places] @ values).max())
            else:
                total += float(np.abs(given[own]) @ extents[own])
        return total * (1 + 1e-9)

    return reach
