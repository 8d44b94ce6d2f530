"""Choices: where a random problem takes its decisions from, a seed or hypothesis.

A campaign goes through seeds, and each of them is a problem that can be drawn again. Hypothesis draws the same
problems, and makes one that fails smaller. All that is chosen is an option of a few or a small number: what is drawn
many times (the rows, the noise of labels) comes from a generator that is seeded by one choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from hypothesis import strategies as st

T = TypeVar("T")


class Choices(Protocol):
    """One number after the other."""

    def whole(self, lo: int, hi: int) -> int:
        """A whole number from lo to hi, both included."""


class SeededChoices:
    """From a seed: the same seed makes the same problem."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def whole(self, lo: int, hi: int) -> int:
        return int(self.random.integers(lo, hi + 1))


class DrawnChoices:
    """From hypothesis, which tries smaller numbers once something fails: plain options come first everywhere."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def whole(self, lo: int, hi: int) -> int:
        return int(self.data.draw(st.integers(lo, hi)))


def one_of(choices: Choices, options: Sequence[T]) -> T:
    return options[choices.whole(0, len(options) - 1)]


def chance(choices: Choices, percent: int) -> bool:
    """Whether something happens that happens so often; hypothesis tries without it first."""
    return choices.whole(0, 99) >= 100 - percent


def some_of(choices: Choices, options: Sequence[T], count: int) -> list[T]:
    """So many different options, in their order."""
    left = list(range(len(options)))
    taken = [left.pop(choices.whole(0, len(left) - 1)) for _ in range(min(count, len(options)))]
    return [options[k] for k in sorted(taken)]


def generator(choices: Choices) -> np.random.Generator:
    """For what is drawn by the hundred."""
    return np.random.default_rng(choices.whole(0, 2**31))
