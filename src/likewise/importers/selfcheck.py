"""Self-check: an imported model must agree with the original, or it is refused.

Compared on the data rows, on random rows and on corners of the space: the original's score with the exact
score (within the rounding error that a floating-point sum of so many terms can have, and no more), its
label wherever the score is further from zero than that, and its probability with the link.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.model.body import RbfSum
from likewise.model.embedding import embedded
from likewise.model.kernel import KernelScore
from likewise.model.polynomial import PolynomialScore
from likewise.model.question import logistic
from likewise.model.scored import (
    KernelRounding,
    Model,
    PolynomialRounding,
    ProductRounding,
    Rounding,
    score_of,
)
from likewise.spec.terms import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.replay import EstimatorReplay
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

DATA_ROWS = 64
RANDOM_ROWS = 64
CORNERS = 16
LINK_TOLERANCE = 1e-9  # probabilities: expit is computed in a few roundings of numbers below one


def check_import(model: Model, replay: EstimatorReplay, space: Space, rows: Floats) -> None:
    """Raise UnsupportedModel where the imported model and the original disagree."""
    codes = sample_codes(space, rows)
    ours, allowed = _scores(model, space, codes)
    theirs = replay.scores(codes)
    for i, (value, given) in enumerate(zip(ours, theirs, strict=True)):
        if not (math.isfinite(given) and abs(Fraction(float(given)) - value) <= allowed[i]):
            _refuse(model, space, codes[i], f"its score is {given!r}, the imported one {nearest(value)!r}")
    if model.head.labels is None:
        return
    room = max(Fraction(1), abs(model.head.slope))  # what the link makes of an error of the score
    labels = replay.decisions(codes)
    for i, value in enumerate(ours):
        certain = abs(model.head.deciding(value)) > room * allowed[i]
        if certain and labels[i] != model.head.decide(value):
            _refuse(
                model,
                space,
                codes[i],
                f"it says {labels[i]!r}, the imported one {model.head.decide(value)!r}",
            )
    if model.head.link == "logistic":
        probabilities = logistic(np.array([nearest(model.head.linked(value)) for value in ours]))
        for i, given in enumerate(replay.probabilities(codes)):
            if abs(given - probabilities[i]) > LINK_TOLERANCE + float(room * allowed[i]):
                _refuse(model, space, codes[i], "its probability is not the logistic function of its score")


def _scores(model: Model, space: Space, codes: Floats) -> tuple[list[Fraction], list[Fraction]]:
    """The imported model's scores, and how far the original's floating-point scores may be from them."""
    score, body, rounding = score_of(model, len(space)), model.body, model.rounding
    if isinstance(score, KernelScore):
        if not isinstance(body, RbfSum) or not isinstance(rounding, KernelRounding):
            raise InternalError("a kernel score without a kernel body")
        columns = score.columns(codes)
        errors = [Fraction(rounding.error(body, row.tolist())) for row in columns]
        return [Fraction(float(value)) for value in score.scores_by_differences(codes)], errors
    rows = [[Fraction(c) for c in row] for row in codes.tolist()]
    if isinstance(rounding, (PolynomialRounding, ProductRounding)) and isinstance(score, PolynomialScore):
        off = [rounding.error(row.tolist()) for row in embedded(score.embedding, codes)]
        errors = [Fraction(min(value, sys.float_info.max)) for value in off]
        return [score.exact(row) for row in rows], errors
    if not isinstance(rounding, Rounding):
        raise InternalError(f"a {type(score).__name__} with the rounding of another family")
    errors = [rounding.error([c.exact(row[c.feature]) for c in model.embedding]) for row in rows]
    return [score.exact(row) for row in rows], errors


def sample_codes(space: Space, rows: Floats) -> Floats:
    """Data rows, random rows and corners of the space. Deterministic: a check should not come and go."""
    random = np.random.default_rng(0)
    ranges = [_ends(space, name) for name in space.names]
    parts = [rows[:: max(1, len(rows) // DATA_ROWS)][:DATA_ROWS]]
    columns = [
        random.integers(int(lo), int(hi) + 1, RANDOM_ROWS).astype(float)
        if whole
        else _between(lo, hi, random.uniform(0, 1, RANDOM_ROWS))
        for lo, hi, whole in ranges
    ]
    parts.append(np.stack(columns, axis=1))
    corners = random.integers(0, 2, (CORNERS, len(ranges)))
    parts.append(
        np.array([[ranges[k][side] for k, side in enumerate(corner)] for corner in corners], dtype=float)
    )
    return np.concatenate(parts)


def _between(lo: float, hi: float, share: Floats) -> Floats:
    """lo + share (hi - lo), written so that it does not overflow where hi - lo does."""
    values: Floats = np.clip(lo * (1 - share) + hi * share, lo, hi)
    return values


def _ends(space: Space, name: str) -> tuple[float, float, bool]:
    feature = space[name]
    lo, hi = feature.code_range
    return float(lo), float(hi), feature.kind != "continuous"


def _refuse(model: Model, space: Space, row: Floats, what: str) -> None:
    values = ", ".join(f"{name}={space.value(k, row[k])}" for k, name in enumerate(space.names))
    raise UnsupportedModel(
        f"the imported {model.family} disagrees with the original at {values}: {what}",
        hint="the estimator was changed after fitting, or behaves differently from scikit-learn's own",
    )
