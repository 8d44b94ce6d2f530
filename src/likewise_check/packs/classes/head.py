"""Models with classes (section 10): the head of a body of n scores, its conditions, and the cases of a proof.

    argmax   one score a class: x has class i if f_i - f_k > 0 for k < i and f_i - f_k >= 0 for k > i
    votes    one score a pair (i, j), i < j: a vote for i if it is > 0, else for j; the first class with the most votes

A witness of a decision has x in class i and x' in class j; by symmetry i < j, or i = c where a class c is asked about. So a proof has one case for each
such (i, j). With votes a class is a union of cubes, each the conditions f_s > 0 or -f_s >= 0 of some scores s, and a case is about one cube of i and one of j.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TypeAlias

from likewise_check.core.fields import Rejected, anything, array_of, boolean, choice, record, whole
from likewise_check.core.numbers import number
from likewise_check.core.properties import Property

MOST_SCORES = 1_000
VOTED = range(3, 7)  # how many classes votes may be for

Form: TypeAlias = tuple[tuple[int, Fraction], ...]  # scores and their factors: alpha . f without what is 0
Cube: TypeAlias = tuple[tuple[int, bool], ...]  # scores, and whether they are to be positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """form > margin if strict, else form >= margin; the form moves by `steps` at most where each score moves by 1."""

    form: Form
    strict: bool

    @property
    def steps(self) -> int:
        return len(self.form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """x in class i and x' in class j, with votes within a cube of each; or, if i = j, what is asked about the score of class i."""

    i: int
    j: int
    cubes: tuple[Cube, Cube] | None = None

    def condition(self, side: int, r: int, classes: int) -> Condition:
        """The condition at place r, of x (side 0) or of x' (side 1)."""
        one = Fraction(1)
        if self.cubes:
            s, up = self.cubes[side][r]
            return Condition(form=((s, one if up else -one),), strict=up)
        own = (self.i, self.j)[side]
        k = [k for k in range(classes) if k != own][r]
        return Condition(form=((own, one), (k, -one)), strict=k < own)

    def conditions(self, side: int, classes: int) -> int:
        """How many conditions there are."""
        return len(self.cubes[side]) if self.cubes else classes - 1


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

    def cases(self, node: list[object], asked: Property) -> Iterator[Case]:
        """The cases that a proof with this first node must settle, in order."""
        everyone = range(self.count)
        if asked.kind != "decision":
            _only_a_name(node)
            return (Case(i=c, j=c) for c in everyone if asked.of in (None, c))
        if asked.of is None:
            pairs = list(combinations(everyone, 2))
        else:
            pairs = [(asked.of, j) for j in everyone if j != asked.of]
        if not self.voting:
            _only_a_name(node)
            return (Case(i=i, j=j) for i, j in pairs)
        cubes = self._cubes(node)
        return (
            Case(i=i, j=j, cubes=(first, second))
            for i, j in pairs
            for first in cubes[i]
            for second in cubes[j]
        )

    def _cubes(self, node: list[object]) -> list[list[Cube]]:
        """The cubes of each class, which must cover every way of giving votes that leads to it."""
        _, items = array_of(anything, 2)(node, "the cases of votes, with cubes,")
        pair = array_of(anything, 2)
        lists = array_of(array_of(array_of(pair)), self.count)(items, "the cubes")
        cubes = [[_cube(cube, self.scores) for cube in listed] for listed in lists]
        # Sets of ways to vote are ints of one bit a way.
        ways = range(1 << self.scores)
        up = [sum(1 << way for way in ways if way >> s & 1) for s in range(self.scores)]
        every = (1 << len(ways)) - 1
        missing = [0] * self.count
        for way in ways:
            missing[self.winner(way)] |= 1 << way
        for i, listed in enumerate(cubes):
            for cube in listed:
                met = every
                for s, positive in cube:
                    met &= up[s] if positive else ~up[s]
                missing[i] &= ~met
            if missing[i]:
                raise Rejected(f"the cubes of class {i} leave out votes that lead to it")
        return cubes


def _only_a_name(node: list[object]) -> None:
    if len(node) != 1:
        raise Rejected('the cases of this claim are ["cases"]')


def _cube(items: list[list[object]], scores: int) -> Cube:
    place = whole(0, scores - 1)
    cube = tuple((place(s, "a score of a cube"), boolean(up, "up")) for s, up in items)
    if any(late[0] <= early[0] for early, late in pairwise(cube)):
        raise Rejected("the scores of a cube must be strictly increasing")
    return cube


def read_classes(head: object, asked: Property) -> Classes:
    """The head of a model with classes, which must have what the property speaks of."""
    labels, way, link = record(
        head,
        "the head",
        labels=array_of(_label),
        classes=choice("argmax", "votes"),
        link=choice(None, "identity", "softmax"),
    )
    classes = Classes(count=len(labels), voting=way == "votes", link=link)
    if classes.count < 2 or len(set(labels)) < len(labels):
        raise Rejected("a model with classes needs two labels or more, no two of them equal")
    if classes.scores > MOST_SCORES or (classes.voting and (classes.count not in VOTED or link)):
        raise Rejected(f"at most {MOST_SCORES} scores; votes for 3 to 6 classes, without a link")
    if not asked.of_classes:
        raise Rejected("the property must have a class, or null for all")
    if asked.of is not None and not 0 <= asked.of < classes.count:
        raise Rejected(f"the class of the property must be from 0 to {classes.count - 1}")
    if asked.kind == "decision" and (asked.bound < 0 or (classes.voting and asked.bound)):
        raise Rejected("the margin must be at least 0, and 0 for votes")
    if asked.kind != "decision" and classes.voting:
        raise Rejected("votes have no score of a class")
    if asked.kind == "probability" and link is None:
        raise Rejected("a probability needs a link")
    return classes


def _label(item: object, what: str) -> tuple[str, object]:
    """A label as its sort and its content: equal exactly if the labels are."""
    if type(item) is str or type(item) is bool:
        return type(item).__name__, item
    if type(item) is int:
        return "number", Fraction(item)
    (value,) = record(item, what, number=number)
    return "number", value
