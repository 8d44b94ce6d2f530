"""Judges the leaves of a proof, in this process or in several.

Leaves are independent of each other. With `jobs` > 1 they go to worker processes in batches; only a few batches are under way at a
time, and their results are taken in the order of the file, so that the answer does not depend on the number of jobs.
"""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from likewise_check.cells import Cell
from likewise_check.claim import Claim
from likewise_check.errors import LeafRefused, Rejected
from likewise_check.rules import RULES, Rule

MOST_POINTS = 1 << 24
BATCH = 256
UNDER_WAY = 4  # batches a job

# Index among the nodes, line, the leaf, its cell.
Task: TypeAlias = tuple[int, int, list[object], Cell]


@dataclass(slots=True, kw_only=True)
class Tally:
    """What has been found about the leaves so far; clearance None stands for infinite."""

    rules: dict[str, int] = field(default_factory=dict)
    clearance: Fraction | None = None
    points: int = 0
    refused: list[tuple[int, int, str]] = field(default_factory=list)  # index, line, reason
    wrong: tuple[int, str] | None = None  # line and reason of a malformed leaf

    def clear_by(self, clearance: Fraction | None) -> None:
        """Takes the clearance of a leaf into the smallest."""
        if clearance is not None and (self.clearance is None or clearance < self.clearance):
            self.clearance = clearance

    def add(self, other: "Tally") -> None:
        """Takes in what was found about later leaves."""
        for name, count in other.rules.items():
            self.rules[name] = self.rules.get(name, 0) + count
        self.clear_by(other.clearance)
        self.points += other.points
        self.refused += other.refused
        self.wrong = other.wrong


class Judge:
    """The rules prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._rules: dict[str, Rule] = {}

    def judge(self, tasks: Iterable[Task], refusals: int) -> Tally:
        """Looks at the leaves in order, until one is malformed or so many are refused."""
        tally = Tally()
        known = None
        for index, line, leaf, cell in tasks:
            try:
                name, rule = self._rule(leaf)
                holds = rule(leaf, cell)
            except LeafRefused as refusal:
                tally.refused.append((index, line, refusal.reason))
                if len(tally.refused) >= refusals:
                    break
                continue
            except Rejected as rejection:
                tally.wrong = line, rejection.reason
                break
            tally.rules[name] = tally.rules.get(name, 0) + 1
            tally.points += holds.points
            if holds is not known:
                tally.clear_by(holds.clearance)
                known = holds
        return tally

    def _rule(self, leaf: list[object]) -> tuple[str, Rule]:
        name = leaf[0] if leaf else None
        if type(name) is not str or name not in RULES:
            raise Rejected(f"unknown rule; known: split, {', '.join(RULES)}")
        if name not in self._rules:
            self._rules[name] = RULES[name](self._claim)
        return name, self._rules[name]


class Jury:
    """Takes leaves one by one and keeps the tally; a context manager that ends its worker processes."""

    def __init__(self, claim: Claim, tally: Tally, *, jobs: int, refusals: int) -> None:
        self._claim, self._tally, self._jobs, self._refusals = claim, tally, jobs, refusals
        self._judge = Judge(claim)
        self._batch: list[Task] = []
        self._pool: ProcessPoolExecutor | None = None
        self._under_way: deque[Future[Tally]] = deque()

    def __enter__(self) -> "Jury":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def take(self, index: int, line: int, leaf: list[object], cell: list) -> None:  # type: ignore[type-arg]
        """One more leaf, in the order of the file; the cell may change after the call."""
        if self._jobs == 1:
            self._count(self._judge.judge([(index, line, leaf, cell)], 1), line)
            return
        self._batch.append((index, line, leaf, tuple(cell)))
        if len(self._batch) >= BATCH:
            self._send()

    def finish(self) -> None:
        """Waits for all leaves taken."""
        if self._pool is None:
            self._count(self._judge.judge(self._batch, self._refusals), None)
        elif self._batch:
            self._send()
        self._batch = []
        while self._under_way:
            self._collect()
        if self._tally.refused:
            self._give_up()

    def _send(self) -> None:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._jobs, initializer=_start, initargs=(self._claim,))
        if len(self._under_way) >= UNDER_WAY * self._jobs:
            self._collect()
        self._under_way.append(self._pool.submit(_work, self._batch, self._refusals))
        self._batch = []

    def _collect(self) -> None:
        try:
            found = self._under_way.popleft().result()
        except BrokenProcessPool as error:
            raise Rejected("a worker process ended before its time; try fewer jobs") from error
        self._count(found, None)

    def _count(self, found: Tally, line: int | None) -> None:
        tally = self._tally
        tally.add(found)
        if len(tally.refused) >= self._refusals:
            del tally.refused[self._refusals :]
            self._give_up()
        if tally.wrong is not None:
            raise Rejected(tally.wrong[1], line=tally.wrong[0])
        if tally.points > MOST_POINTS:
            raise Rejected(f"more than {MOST_POINTS} enumerated points in all", line=line)

    def _give_up(self) -> None:
        _, line, reason = self._tally.refused[0]
        raise Rejected(reason, line=line)


_judge: Judge


def _start(claim: Claim) -> None:
    """Prepares a worker process."""
    global _judge  # noqa: PLW0603 - one judge a worker process, set once before any batch
    _judge = Judge(claim)


def _work(batch: list[Task], refusals: int) -> Tally:
    return _judge.judge(batch, refusals)
