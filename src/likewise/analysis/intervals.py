"""Clopper-Pearson: an interval that holds a share with at least the stated confidence, whatever the share is.

Of n independent draws k are hits. The lower end is the largest p at which k or more hits have a probability of at most alpha / 2, the upper
end the smallest at which k or fewer have: quantiles of beta distributions, moved outwards by more than their numerical error. The number of
draws must be settled before they are looked at. Draws that could not be judged count against both ends: as misses for the lower one, as
hits for the upper one.
"""

from __future__ import annotations

import math

OUTWARD = 1e-9  # relative: more than what the quantile is off by


def clopper_pearson(hits: int, draws: int, confidence: float, *, unjudged: int = 0) -> tuple[float, float]:
    """(lower, upper) around the share of hits."""
    from scipy.special import betaincinv

    half, most = (1 - confidence) / 2, hits + unjudged
    lower = 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, half))
    upper = 1.0 if most == draws else float(betaincinv(most + 1, draws - most, 1 - half))
    return max(0.0, lower * (1 - OUTWARD)), min(1.0, upper * (1 + OUTWARD))


def draws_for(share: float, width: float, confidence: float) -> int:
    """About how many draws make the interval this narrow: by the normal distribution, with a tenth to spare."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return math.ceil(1.1 * (4 * z**2 * share * (1 - share) / width**2 + 4 * z / width))
