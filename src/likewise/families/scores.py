"""All scores of a model, evaluated exactly (one individual) or in float64 (many), and forms of them as scores of one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.errors import InternalError
from likewise.families.registry import family_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import Body, Score
    from likewise.families.scored import Model
    from likewise.model.conditions import Alpha, Enclosures
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


class Scores:
    """All scores of a model over the codes of a space."""

    def __init__(self, model: Model, n_features: int) -> None:
        self.model, self.n_features = model, n_features
        self.family = family_of(model.bodies[0])
        self.family.check(model.bodies)
        self.forms: dict[Alpha, Score] = {}
        self.parts: list[Score] = []
        count = model.n_scores
        for n in range(count):
            self.parts.append(self.form(tuple(Fraction(n == k) for k in range(count))))

    def form(self, alpha: Alpha) -> Score:
        """alpha . f as a score; made once."""
        if alpha not in self.forms:
            _check_length(self.model, alpha)
            self.forms[alpha] = self.family.form_score(self.model, self.parts, alpha, self.n_features)
        return self.forms[alpha]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, one column a score; for proposing, never for deciding."""
        return self.family.scores(self.parts, codes)

    def scorer(self) -> Callable[[Floats], Floats]:
        """`scores` for many calls."""
        return self.scores

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        """All scores of one individual, to about so many bits."""
        return tuple(part.enclose(codes, bits) for part in self.parts)

    def depends(self, feature: int) -> bool:
        """Whether any score can change with a feature."""
        return any(part.depends(feature) for part in self.parts)

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at."""
        return self.parts[0].landmarks(space)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        if self.family.shared_work:
            return self.parts[0].cost
        return sum(part.cost for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return all(part.rational for part in self.parts)


def form_of(model: Model, alpha: Sequence[Fraction | int]) -> Body:
    """alpha . f as a body of the same family, for families whose forms are."""
    _check_length(model, alpha)
    return family_of(model.bodies[0]).form(model.bodies, tuple(Fraction(a) for a in alpha))


def _check_length(model: Model, alpha: Sequence[Fraction | int]) -> None:
    if len(alpha) != model.n_scores:
        raise InternalError(f"a form of {model.n_scores} scores takes as many numbers, not {len(alpha)}")
