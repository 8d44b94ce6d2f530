"""Two tiers of tests: `make test` draws a small sample each day, `make test-all` runs everything.

    @pytest.mark.slow                 only in `make test-all`
    @pytest.mark.some_days            `make test` runs the test on one day of three
    @pytest.mark.draw(3)              `make test` runs 3 of the test's cases; other ones tomorrow
    @settings(examples(200))          Hypothesis: a tenth of the examples in `make test`
    for seed in some(range(40), 4):   4 of 40 in `make test`

The day is the seed, so that runs add up over time. The first line of a run shows it; `make test SEED=20261118` repeats that day.
"""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from hypothesis import settings

T = TypeVar("T")

ALL = os.environ.get("LIKEWISE_TESTS") == "all"
# Workers of one run inherit the seed, also when the run goes past midnight.
SEED = os.environ.setdefault("LIKEWISE_TEST_SEED", f"{datetime.now(UTC):%Y%m%d}")


def some(cases: Sequence[T], count: int, key: str = "") -> list[T]:
    """All cases in `make test-all`; in `make test` as many as `count` says, drawn by the day's seed, in their order."""
    if ALL or len(cases) <= count:
        return list(cases)
    drawn = random.Random(f"{SEED} {key}").sample(range(len(cases)), count)
    return [cases[i] for i in sorted(drawn)]


def is_due(test: str) -> bool:
    """Whether this is one of the days of a test that runs on some."""
    return ALL or (int(SEED) + zlib.crc32(test.encode())) % 3 == 0


def examples(count: int, **options: Any) -> settings:
    """Settings of Hypothesis with `count` examples in `make test-all`, and a tenth of them, at least 5, in `make test`."""
    return settings(max_examples=count if ALL else min(count, max(5, count // 10)), **options)
