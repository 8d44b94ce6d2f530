"""All scores of a model, evaluated exactly (one individual) or in float64 (many), and forms of them as scores of one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.combined.score import CombinedScore
from likewise.families.forms import form_of
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.score import BLOCK, KernelScore
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.scored import Model, Score, body_score
from likewise.families.trees.body import TreeForm
from likewise.families.trees.score import TreeScore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.conditions import Alpha, Enclosures
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


class Scores:
    """All scores of a model over the codes of a space."""

    def __init__(self, model: Model, n_features: int) -> None:
        self.model, self.n_features = model, n_features
        units = np.eye(model.n_scores, dtype=int).tolist()
        self.forms: dict[Alpha, Score] = {}
        self.parts: list[Score] = []
        self.parts = [self.form(tuple(Fraction(n) for n in unit)) for unit in units]

    def form(self, alpha: Alpha) -> Score:
        """alpha . f as a score; made once."""
        if alpha not in self.forms:
            self.forms[alpha] = self._made(alpha)
        return self.forms[alpha]

    def _made(self, alpha: Alpha) -> Score:
        mixed = sum(map(abs, alpha)) != 1
        kernels = [part for part in self.parts if isinstance(part, KernelScore)] if mixed else []
        if kernels:
            return _mixed(alpha, kernels)
        body = form_of(self.model, alpha)
        if not isinstance(body, TreeForm):
            return body_score(body, self.model.embedding, self.n_features)
        known = next(iter(self.forms.values()), None)
        return (
            known.form(body.alpha)
            if isinstance(known, TreeScore)
            else TreeScore(body=body.ensemble, alpha=body.alpha)
        )

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, one column a score; for proposing, never for deciding."""
        first = self.parts[0]
        if isinstance(first, KernelScore):
            return self._kernel_scores(first, codes)
        if isinstance(first, TreeScore):
            return first.all_scores(codes)
        return np.stack([part.scores(codes) for part in self.parts], axis=1)

    def _kernel_scores(self, first: KernelScore, codes: Floats) -> Floats:
        """The same for sums of Gaussians, which share their kernel values."""
        bodies = [part.body for part in self.parts if isinstance(part, KernelScore)]
        weights, bias = np.stack([b.coefficients for b in bodies], axis=1), np.array([b.bias for b in bodies])
        columns, middle = first.columns(codes), first.body.centres.mean(axis=0)
        centres = first.body.centres - middle
        squares, total = (centres**2).sum(axis=1), np.empty((len(codes), len(bodies)))
        step = max(1, BLOCK // len(centres))
        for start in range(0, len(codes), step):
            part = columns[start : start + step] - middle
            distances = (part**2).sum(axis=1)[:, None] - 2 * (part @ centres.T) + squares
            total[start : start + step] = np.exp(-first.body.gamma * np.maximum(distances, 0)) @ weights
        scores: Floats = total + bias
        return scores

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        """All scores of one individual, to about so many bits."""
        return tuple(part.enclose(codes, bits) for part in self.parts)

    def depends(self, feature: int) -> bool:
        """Whether any score can change with a feature."""
        return any(part.depends(feature) for part in self.parts)

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at."""
        first = self.parts[0]
        if isinstance(first, (KernelScore, PolynomialScore, TreeScore, CombinedScore)):
            return first.landmarks(space)
        return np.empty((0, len(space)))

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        if isinstance(self.parts[0], (KernelScore, TreeScore)):
            return self.parts[0].cost
        return sum(part.cost for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        first = self.parts[0]
        return first.rational if isinstance(first, CombinedScore) else not isinstance(first, KernelScore)


def _mixed(alpha: Alpha, parts: Sequence[KernelScore]) -> KernelScore:
    """alpha . f of sums of Gaussians over the same centres, with its coefficients rounded to doubles. Good enough for bounds, which only
    propose there: pairs are decided by all scores themselves, and the checker forms alpha . f in rationals."""
    weights = np.array([float(a) for a in alpha])
    body = replace(
        parts[0].body,
        bias=float(weights @ [part.body.bias for part in parts]),
        coefficients=weights @ np.stack([part.body.coefficients for part in parts]),
    )
    return replace(parts[0], body=body)


def shares_centres(model: Model) -> bool:
    """Whether all sums of Gaussians of a model have the same centres and gamma, as `Scores` takes for granted."""
    bodies = [body for body in model.bodies if isinstance(body, RbfSum)]
    return all(
        body.gamma == bodies[0].gamma and np.array_equal(body.centres, bodies[0].centres)
        for body in bodies[1:]
    )
