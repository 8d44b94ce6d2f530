"""fair_metric: a distance of data that ignores what tells protected groups apart.

Columns are scaled by their spread over the rows. Directions along which a protected attribute is predicted (by least squares, with a small ridge) span a *sensitive subspace*; the distance counts what is orthogonal to it and nothing else. So two people are
near each other if they differ in what merely stands in for the attribute, in such proportions. The vectors are rounded to rationals first and multiplied out exactly, so that the matrix is positive semidefinite as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import SpecError, suggest_name
from likewise.spec.features import Categorical
from likewise.spec.mahalanobis import Column, Mahalanobis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

RIDGE = 1e-3  # of the number of rows
DIGITS = 6  # significant digits that vectors are rounded to
SMALLEST_SHARE = 1e-9  # of the largest: directions of the attribute that are less count as none


def fair_metric(X: Any, space: Space, protected: Sequence[str]) -> Mahalanobis:
    """The distance of rows that ignores directions which predict protected attributes.

    Parameters
    ----------
    X : frame
        Rows of the space.
    space : Space
        Whose features they have; numbers and steps count as they are, levels by one column each.
    protected : list of str
        The attributes; they are no part of the distance. Name them in `free`.

    Returns
    -------
    Mahalanobis
        To be given to `Similarity` with a radius: 1 is one standard deviation in one direction that counts.
    """
    names = [protected] if isinstance(protected, str) else list(protected)
    for name in names:
        if name not in space:
            raise SpecError(f"no feature {name!r} in the space{suggest_name(name, space.names)}")
    if not names:
        raise SpecError("name at least one protected attribute", hint='protected=["sex"]')
    rows = space.encode(X, allow_extra=True)
    kept, values = _columns(space, rows, [name for name in space.names if name not in names])
    _, told = _columns(space, rows, names)
    spread = values.std(axis=0)
    used = np.flatnonzero(spread > 0)
    if not len(used) or not len(rows):
        raise SpecError("no column of these rows differs, so that there is nothing to measure")
    scaled = (values[:, used] - values[:, used].mean(axis=0)) / spread[used]
    basis = _insensitive(scaled, told - told.mean(axis=0))
    vectors = [[_rounded(entry) for entry in row] for row in (basis / spread[used]).tolist()]
    matrix = [
        [sum((vector[i] * vector[j] for vector in vectors), Fraction(0)) for j in range(len(used))]
        for i in range(len(used))
    ]
    columns = [kept[i] for i in used.tolist()]
    return Mahalanobis([[str(entry) for entry in row] for row in matrix], columns=columns)


def _columns(space: Space, rows: Floats, names: Sequence[str]) -> tuple[list[Column], Floats]:
    """Numbers and steps as they are, one column a level, of features without missing numbers."""
    columns: list[Column] = []
    values = []
    for name in names:
        feature, codes = space[name], rows[:, space.names.index(name)]
        if isinstance(feature, Categorical):
            for place, level in enumerate(feature.levels):
                columns.append((name, level))
                values.append((codes == place).astype(float))
        elif not feature.missing:
            columns.append(name)
            values.append(codes)
    if not columns:
        raise SpecError("no column can be measured")
    return columns, np.stack(values, axis=1)


def _insensitive(scaled: Floats, told: Floats) -> Floats:
    """Orthonormal directions, one a row, that are orthogonal to those which predict what is told."""
    size = scaled.shape[1]
    gram = scaled.T @ scaled + RIDGE * len(scaled) * np.eye(size)
    sensitive = np.linalg.solve(gram, scaled.T @ told)
    left, sizes, _ = np.linalg.svd(sensitive, full_matrices=True)
    largest = float(sizes.max(initial=0.0))
    rank = int((sizes > SMALLEST_SHARE * largest).sum()) if largest > 0 else 0
    if rank >= size:
        raise SpecError(
            "every direction of these rows predicts the protected attributes: no distance is left"
        )
    rest: Floats = left[:, rank:].T
    return rest


def _rounded(entry: float) -> Fraction:
    return Fraction(f"{entry:.{DIGITS}g}")
