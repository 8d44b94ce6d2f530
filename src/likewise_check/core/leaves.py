"""Judges the leaves of a proof, in this process or in several.

Leaves are independent of each other. They are judged in batches, with `jobs` > 1 by worker processes; only a few batches are
under way at a time, and their results are taken in the order of the file, so that the answer does not depend on `jobs`.
"""

import signal
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from time import perf_counter
from typing import TypeAlias

from likewise_check.core.affine import Affine
from likewise_check.core.cells import Cell, LeafRefused
from likewise_check.core.claim import Claim
from likewise_check.core.decided import Sides, add_sides, note_side
from likewise_check.core.fields import Rejected
from likewise_check.core.rules import RULES, Rule
from likewise_check.packs.classes.head import Case
from likewise_check.packs.classes.lemmas import lemma
from likewise_check.packs.classes.scores import Several, example
from likewise_check.packs.trees.body import Trees

MOST_POINTS = 1 << 24
BATCH = 256
BATCH_OF_SLOW = 16  # leaves of kernel bodies take milliseconds: few at a time keep all jobs busy to the end
UNDER_WAY = 4  # batches a job
MOST_LEMMAS = 64  # rules prepared for lemmas of a proof and kept at a time

# Index among the nodes, line, node, cell, and the case of a model with classes.
Leaf: TypeAlias = tuple[int, int, list[object], Cell, Case | None]


@dataclass(slots=True)
class Tally:
    """What has been found about the leaves so far; clearance None stands for infinite."""

    rules: dict[str, int] = field(default_factory=dict)
    clearance: Fraction | None = None
    points: int = 0
    sides: Sides = field(default_factory=dict)
    refused: list[tuple[int, int, str]] = field(default_factory=list)  # index, line, reason
    malformed: tuple[str, int] | None = None  # reason, line
    late: bool = False  # the time was over before all were looked at

    def clear_by(self, clearance: Fraction | None) -> None:
        """Takes the clearance of a leaf into the smallest."""
        if clearance is not None and (self.clearance is None or clearance < self.clearance):
            self.clearance = clearance

    def add(self, later: "Tally") -> None:
        """Takes in what was found about later leaves."""
        for name, count in later.rules.items():
            self.rules[name] = self.rules.get(name, 0) + count
        self.clear_by(later.clearance)
        self.points += later.points
        add_sides(self.sides, later.sides)
        self.refused += later.refused
        self.malformed, self.late = later.malformed, self.late or later.late


class Judge:
    """The rules prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._rules: dict[str, Rule] = {}
        self._lemmas: dict[object, Rule] = {}

    def judge(self, batch: list[Leaf], refusals: int, seconds: float) -> Tally:
        """Looks at the leaves in order, until one is malformed, so many are refused, or so many seconds are over."""
        tally = Tally()
        known, until = None, perf_counter() + seconds
        for index, line, node, cell, case in batch:
            if perf_counter() > until:
                tally.late = True
                break
            try:
                name, rule, leaf = self._rule(node, case)
                holds = rule(leaf, cell)
            except LeafRefused as refusal:
                tally.refused.append((index, line, str(refusal)))
                if len(tally.refused) >= refusals:
                    break
                continue
            except Rejected as rejection:
                tally.malformed = rejection.reason, line
                break
            tally.rules[name] = tally.rules.get(name, 0) + 1
            tally.points += holds.points
            note_side(tally.sides, node, case, holds)
            if holds is not known:
                tally.clear_by(holds.clearance)
                known = holds
        return tally

    def _rule(self, node: list[object], case: Case | None) -> tuple[str, Rule, list[object]]:
        """A leaf's rule, prepared for what the leaf is about, and the leaf as the rule reads it."""
        name = node[0] if node else None
        if type(name) is not str or name not in RULES:
            raise Rejected(f"unknown rule; known: split, {', '.join(RULES)}")
        body = self._claim.model.body
        if case is None or not isinstance(body, Several):
            if isinstance(body, Several) and name != "independent":
                raise Rejected('the proof of a model with classes begins with "cases" or "independent"')
            if name not in self._rules:
                self._rules[name] = RULES[name](self._claim)
            return name, self._rules[name], node
        about = lemma(self._claim, body, case, node)
        key = name, case, about.key
        if key not in self._lemmas:
            if len(self._lemmas) >= MOST_LEMMAS:
                self._lemmas.clear()
            self._lemmas[key] = RULES[name](about.claim())
        return name, self._lemmas[key], about.leaf


class Jury:
    """Takes leaves one by one and keeps the tally; a context manager that ends its worker processes."""

    def __init__(self, claim: Claim, tally: Tally, *, jobs: int, refusals: int, until: float) -> None:
        self._tally, self._refusals, self._until = tally, refusals, until
        self._most = UNDER_WAY * jobs
        quick = isinstance(example(claim.model.body), Affine | Trees)
        self._size = BATCH if quick else BATCH_OF_SLOW
        self._judge = Judge(claim)
        self._batch: list[Leaf] = []
        self._pool = ProcessPoolExecutor(jobs, initializer=_start, initargs=(claim,)) if jobs > 1 else None
        self._under_way: deque[Future[Tally]] = deque()

    def __enter__(self) -> "Jury":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def take(self, leaf: Leaf) -> None:
        """One more leaf, in the order of the file."""
        self._batch.append(leaf)
        if len(self._batch) >= self._size:
            self._send()

    def finish(self) -> None:
        """Judges what is left; raises if any leaf of the proof was refused."""
        self._send()
        while self._under_way:
            self._count(self._under_way.popleft().result())
        if self._tally.refused:
            self._give_up()

    def _send(self) -> None:
        batch, self._batch, left = self._batch, [], self._until - perf_counter()
        if self._pool is None:
            self._count(self._judge.judge(batch, self._refusals, left))
            return
        if len(self._under_way) >= self._most:
            self._count(self._under_way.popleft().result())
        self._under_way.append(self._pool.submit(_work, batch, self._refusals, left))

    def _count(self, found: Tally) -> None:
        tally = self._tally
        tally.add(found)
        if len(tally.refused) >= self._refusals or (tally.refused and tally.malformed):
            self._give_up()
        if tally.malformed:
            raise Rejected(tally.malformed[0], line=tally.malformed[1])
        if tally.points > MOST_POINTS:
            raise Rejected(f"more than {MOST_POINTS} enumerated points in all")
        if tally.late or perf_counter() > self._until:
            raise Rejected("the time given was over before all leaves were looked at", finished=False)

    def _give_up(self) -> None:
        del self._tally.refused[self._refusals :]
        _, line, reason = self._tally.refused[0]
        raise Rejected(reason, line=line)


_judge: Judge  # of a worker process, set once before any batch


def _start(claim: Claim) -> None:
    global _judge  # noqa: PLW0603
    _judge = Judge(claim)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that waits for this process


def _work(batch: list[Leaf], refusals: int, seconds: float) -> Tally:
    return _judge.judge(batch, refusals, seconds)
