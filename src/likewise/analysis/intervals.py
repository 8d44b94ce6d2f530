"""Clopper-Pearson: an interval that holds a share with at least the stated confidence, whatever the share is.

Of n independent draws k are hits. The lower end is the largest p at which k or more hits have a probability of at most alpha / 2, the upper
end the smallest at which k or fewer have: quantiles of beta distributions, moved outwards by more than their numerical error. The number of
draws must be settled before they are looked at. Draws that could not be judged count against both ends: as misses for the lower one, as
hits for the upper one.

Who stops when the time is over has fewer draws than were settled, and how many may depend on what they came to. So a ladder of numbers n, n / 2, n / 4, ... is
settled beforehand, and the error alpha = 1 - confidence is divided among them: most of it to n, half of what is left to each of the
others. All their intervals, each of the first so many draws, hold the share at once with a probability of at least 1 - alpha: whichever of them is
reported, and for whatever reason, it holds what it says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

QUANTILE_SLACK = 1e-9  # relative: more than what the quantile is off by

FULL_SAMPLE_SHARE = 0.9  # of the error, to the interval of all draws


@dataclass(frozen=True, slots=True)
class SampleRung:
    """The first `draws`, of which an interval has this confidence."""

    draws: int
    confidence: float


def sample_ladder(draws: int, confidence: float, fewest: int) -> list[SampleRung]:
    """All draws first, then half as many and half of that, down to `fewest`; their errors add up to less than that of the confidence."""
    error = 1 - confidence
    rungs, left = [SampleRung(draws, 1 - FULL_SAMPLE_SHARE * error)], (1 - FULL_SAMPLE_SHARE) * error
    while rungs[-1].draws >= 2 * fewest:
        left /= 2
        rungs.append(SampleRung(rungs[-1].draws // 2, 1 - left))
    return rungs


def clopper_pearson(hits: int, draws: int, confidence: float, *, unjudged: int = 0) -> tuple[float, float]:
    """(lower, upper) around the share of hits."""
    from scipy.special import betaincinv

    half, most = (1 - confidence) / 2, hits + unjudged
    lower = 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, half))
    upper = 1.0 if most == draws else float(betaincinv(most + 1, draws - most, 1 - half))
    return max(0.0, lower * (1 - QUANTILE_SLACK)), min(1.0, upper * (1 + QUANTILE_SLACK))


def draws_needed(share: float, width: float, confidence: float) -> int:
    """About how many draws make the interval this narrow: by the normal distribution, with a tenth to spare."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return math.ceil(1.1 * (4 * z**2 * share * (1 - share) / width**2 + 4 * z / width))
