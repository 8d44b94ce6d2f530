"""The head of a model with classes (section 10): what is made of n scores, and into which cases it divides a proof.

A witness of a decision has x in class i and x' in class j; by symmetry i < j, or i = c where a class c is asked about. So a proof has one case for each
such (i, j). With votes a class is a union of cubes, each the conditions f_s > 0 or -f_s >= 0 of some scores s, and a case is about one cube of i and one of j.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from likewise_check.core.body import Body
from likewise_check.core.fields import Rejected, anything, array_of, boolean, choice, record, whole
from likewise_check.core.head import Case, Leaf, gap_in_words
from likewise_check.core.numbers import number, readable_number
from likewise_check.core.properties import Property
from likewise_check.packs.classes.cases import ClassCase, Cube, WholeClaim
from likewise_check.packs.classes.classes import Classes
from likewise_check.packs.classes.outcome import ClassOutcome

MOST_SCORES = 1_000
VOTING_CLASSES = range(3, 7)  # how many classes votes may be for


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassHead:
    """The classes, as the core asks for them."""

    classes: Classes

    @property
    def packs(self) -> frozenset[str]:
        return frozenset({"classes"})

    @property
    def count(self) -> int:
        return self.classes.count

    @property
    def scores(self) -> int:
        return self.classes.scores

    def outcome(self, body: Body, asked: Property) -> ClassOutcome:
        """What pairs come to."""
        return ClassOutcome(self.classes, body, asked)

    def gauge(self, _asked: Property) -> tuple[Fraction, Fraction]:
        """Scores are taken as they are."""
        return Fraction(1), Fraction(0)

    def adds_up(self, asked: Property) -> bool:
        """How a program rounds a softmax is not described."""
        return asked.kind != "probability" or self.classes.link == "identity"

    def in_words(self, asked: Property) -> tuple[str, bool]:
        """What every two similar individuals get, or what no two of them get."""
        of, count, bound = asked.of, self.classes.count, readable_number(asked.bound)
        if asked.kind != "decision":
            what = "scores" if asked.kind == "score" else "probabilities"
            whose = f"each of {count} classes" if of is None else f"class {of}"
            return f"{what} of {whose} {gap_in_words(asked)}", True
        if asked.one_way:
            ahead = (
                f", both by scores that are ahead of all others by at least {bound}" if asked.bound else ""
            )
            return f"class {of} (of {count}) for the first and another one for the second{ahead}", False
        if asked.bound:
            what = f"different ones of {count} classes"
            if of is not None:
                what = f"different answers to whether their class is {of} (of {count})"
            return f"{what}, both by scores that are ahead of all others by at least {bound}", False
        if of is not None:
            return f"the same answer to whether their class is {of} (of {count})", True
        return f"the same one of {count} classes", True

    def cases(self, node: Leaf, asked: Property) -> tuple[bool, Iterator[Case]]:
        """Those that a proof with this first node must settle, in order."""
        if node == ["independent"]:
            return False, iter([WholeClaim()])
        if node[:1] != ["cases"]:
            raise Rejected(
                'unknown rule here: the proof of a model with classes begins with "cases" or "independent"'
            )
        return True, self._cases(node, asked)

    def _cases(self, node: Leaf, asked: Property) -> Iterator[Case]:
        of, everyone = self.classes, range(self.classes.count)
        if asked.kind != "decision":
            _check_name_only(node)
            return (ClassCase(of=of, i=c, j=c) for c in everyone if asked.of in (None, c))
        if asked.of is None:
            pairs = list(combinations(everyone, 2))
        else:
            pairs = [(asked.of, j) for j in everyone if j != asked.of]
        if not of.voting:
            _check_name_only(node)
            return (ClassCase(of=of, i=i, j=j) for i, j in pairs)
        cubes = _read_cubes(node, of)
        return (
            ClassCase(of=of, i=i, j=j, cubes=(first, second))
            for i, j in pairs
            for first in cubes[i]
            for second in cubes[j]
        )


def _read_cubes(node: Leaf, of: Classes) -> list[list[Cube]]:
    """The cubes of each class, which must cover every way of giving votes that leads to it."""
    _, items = array_of(anything, 2)(node, "the cases of votes, with cubes,")
    pair = array_of(anything, 2)
    lists = array_of(array_of(array_of(pair)), of.count)(items, "the cubes")
    cubes = [[_read_cube(cube, of.scores) for cube in listed] for listed in lists]
    # Sets of ways to vote are ints of one bit a way.
    ways = range(1 << of.scores)
    up = [sum(1 << way for way in ways if way >> s & 1) for s in range(of.scores)]
    every = (1 << len(ways)) - 1
    missing = [0] * of.count
    for way in ways:
        missing[of.winner(way)] |= 1 << way
    for i, listed in enumerate(cubes):
        for cube in listed:
            met = every
            for s, positive in cube:
                met &= up[s] if positive else ~up[s]
            missing[i] &= ~met
        if missing[i]:
            raise Rejected(f"the cubes of class {i} leave out votes that lead to it")
    return cubes


def _check_name_only(node: list[object]) -> None:
    if len(node) != 1:
        raise Rejected('the cases of this claim are ["cases"]')


def _read_cube(items: list[list[object]], scores: int) -> Cube:
    place = whole(0, scores - 1)
    cube = tuple((place(s, "a score of a cube"), boolean(up, "up")) for s, up in items)
    if any(late[0] <= early[0] for early, late in pairwise(cube)):
        raise Rejected("the scores of a cube must be strictly increasing")
    return cube


def read_classes(head: object, asked: Property) -> ClassHead:
    """The head of a model with classes, which must have what the property speaks of."""
    labels, way, link = record(
        head,
        "the head",
        labels=array_of(_read_label),
        classes=choice("argmax", "votes"),
        link=choice(None, "identity", "softmax"),
    )
    classes = Classes(count=len(labels), voting=way == "votes", link=link)
    if classes.count < 2 or len(set(labels)) < len(labels):
        raise Rejected("a model with classes needs two labels or more, no two of them equal")
    if classes.scores > MOST_SCORES or (classes.voting and (classes.count not in VOTING_CLASSES or link)):
        raise Rejected(f"at most {MOST_SCORES} scores; votes for 3 to 6 classes, without a link")
    if not asked.of_classes:
        raise Rejected("the property must have a class, or null for all")
    if asked.of is not None and not 0 <= asked.of < classes.count:
        raise Rejected(f"the class of the property must be from 0 to {classes.count - 1}")
    if asked.kind == "prediction":
        raise Rejected("a prediction needs a model of one score")
    if asked.kind == "decision" and (asked.bound < 0 or (classes.voting and asked.bound)):
        raise Rejected("the margin must be at least 0, and 0 for votes")
    if asked.kind != "decision" and classes.voting:
        raise Rejected("votes have no score of a class")
    if asked.kind == "probability" and link is None:
        raise Rejected("a probability needs a link")
    return ClassHead(classes=classes)


def _read_label(item: object, what: str) -> tuple[str, object]:
    """A label as its sort and its content: equal exactly if the labels are."""
    if type(item) is str or type(item) is bool:
        return type(item).__name__, item
    if type(item) is int:
        return "number", Fraction(item)
    (value,) = record(item, what, number=number)
    return "number", value
