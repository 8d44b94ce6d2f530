"""Linear forms: a score over a box of individuals is a sum of one-feature terms, up to a little.

    f_v(z)  =  m(z) + e,    low_v <= e <= high_v,    m(z) = sum over features k of the shared ones of term_k(z_k)

for everybody z in the box and every *setting* v of the features that may differ, m being the same for all settings. So what settings are decided differently, and by how much their
scores differ, is a matter of one number m(z), whose distribution over a box is that of a sum of independent numbers (analysis/form_masses.py). What is left of `high - low` is how far the
score is from linear over the box, wherever that lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forms:
    """One a box. `terms` (boxes, numbers) are doubles, taken exactly; `low` and `high` (boxes, settings) hold whatever was rounded, or are infinite. `worth`
    (boxes, features) says what a cut promises."""

    terms: Floats
    low: Floats
    high: Floats
    worth: Floats


class FormBounder(Protocol):
    """What has forms of one score."""

    places: NDArray[
        np.int64
    ]  # by feature: of its numbers among the terms, the first one; -1 where it adds none
    levels: NDArray[
        np.bool_
    ]  # whether a feature has a number a level, else one that is multiplied with its code

    def forms(self, lo: Floats, hi: Floats, least: Floats, most: Floats) -> Forms:
        """Over boxes (boxes, features), for settings (settings, features that may differ) from `least` to `most`."""
