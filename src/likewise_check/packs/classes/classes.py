"""What classes a model has, and which of them its scores lead to (section 10).

argmax   one score a class: x has class i if f_i - f_k > 0 for k < i and f_i - f_k >= 0 for k > i
votes    one score a pair (i, j), i < j: a vote for i if it is > 0, else for j; the first class with the most votes
"""

from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """How many classes there are, whether scores are votes, and what makes scores probabilities."""

    count: int
    voting: bool
    link: str | None

    @property
    def scores(self) -> int:
        return self.count * (self.count - 1) // 2 if self.voting else self.count

    def winner(self, ups: int) -> int:
        """The class that these votes lead to: bit s of `ups` tells whether score s is positive."""
        votes = [0] * self.count
        for s, (i, j) in enumerate(combinations(range(self.count), 2)):
            votes[i if ups >> s & 1 else j] += 1
        return votes.index(max(votes))
