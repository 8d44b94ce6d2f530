"""Judges the leaves of a proof, in this process or in several.

Leaves are independent of each other. They are judged in batches, with `jobs` > 1 and more than a moment's work by worker processes; only a few batches are
under way at a time, and their results are taken in the order of the file, so that the answer does not depend on `jobs`. A worker process that ends before its
time takes nothing with it: what was under way, and what comes later, is judged in this process.
"""

import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from time import perf_counter
from typing import TypeAlias

from likewise_check.core.cells import Cell, LeafRefused
from likewise_check.core.claim import Claim
from likewise_check.core.common_decision import Sides, add_sides, note_side
from likewise_check.core.deadline import OutOfTime, alarm, deadline_at
from likewise_check.core.fields import Rejected
from likewise_check.core.head import Case
from likewise_check.core.registry import find_entry, known_names
from likewise_check.core.rules import Rule

MOST_POINTS = 1 << 24
BATCH = 32  # leaves may take milliseconds: few at a time keep all jobs busy to the end
MOST_PENDING = 4  # batches a job
ALONE_SECONDS = 0.3  # before processes are started: most proofs are judged by then
LOSSES = BrokenExecutor, CancelledError, OSError, MemoryError  # of worker processes, for no fault of a leaf
MOST_LEMMAS = 64  # rules prepared for lemmas of a proof and kept at a time

Leaf: TypeAlias = tuple[int, int, list[object], Cell, Case]  # index among the nodes, line, node, cell, case


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

    def lower_clearance(self, clearance: Fraction | None) -> None:
        """Takes the clearance of a leaf into the smallest."""
        if clearance is not None and (self.clearance is None or clearance < self.clearance):
            self.clearance = clearance

    def add(self, later: "Tally") -> None:
        """Takes in what was found about later leaves."""
        for name, count in later.rules.items():
            self.rules[name] = self.rules.get(name, 0) + count
        self.lower_clearance(later.clearance)
        self.points += later.points
        add_sides(self.sides, later.sides)
        self.refused += later.refused
        self.malformed, self.late = later.malformed, self.late or later.late


class Judge:
    """The rules, prepared for the lemmas of one claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim, self._names = claim, known_names("RULES")
        self._rules: dict[object, Rule] = {}

    def judge(self, batch: list[Leaf], refusals: int, seconds: float) -> Tally:
        """Looks at the leaves in order, until one is malformed, so many are refused, or so many seconds are over."""
        until = perf_counter() + seconds
        with deadline_at(until):
            return self._judge(batch, refusals, until)

    def _judge(self, batch: list[Leaf], refusals: int, until: float) -> Tally:
        tally = Tally()
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
            except OutOfTime:
                tally.late = True
                break
            except Rejected as rejection:
                tally.malformed = rejection.reason, line
                break
            tally.rules[name] = tally.rules.get(name, 0) + 1
            tally.points += holds.points
            note_side(tally.sides, case, holds)
            tally.lower_clearance(holds.clearance)
        return tally

    def _rule(self, node: list[object], case: Case) -> tuple[str, Rule, list[object]]:
        """A leaf's rule, prepared for what the leaf is about, and the leaf as the rule reads it."""
        name = node[0] if node else None
        if type(name) is not str or name not in self._names:
            raise Rejected(f"unknown rule; known: split, {', '.join(self._names)}")
        task = case.task(self._claim, node)
        key = name, case, task.key
        if key not in self._rules:
            if len(self._rules) >= MOST_LEMMAS:
                self._rules.clear()
            lemma, rule = task.lemma(), find_entry("RULES", name)
            allowance = lemma.asked.allowance
            self._rules[key] = rule(lemma) if allowance is None else allowance.prepared(name, rule, lemma)
        return name, self._rules[key], task.leaf


class Jury:
    """Takes leaves one by one and keeps the tally; a context manager that ends its worker processes."""

    def __init__(self, claim: Claim, tally: Tally, *, jobs: int, refusals: int, until: float) -> None:
        self._tally, self._refusals, self._until = tally, refusals, until
        self._claim, self._jobs, self._most = claim, jobs, MOST_PENDING * jobs
        self._judge = Judge(claim)
        self._batch: list[Leaf] = []
        self._began = perf_counter()
        self._pool: ProcessPoolExecutor | None = None
        self._under_way: deque[tuple[list[Leaf], Future[Tally] | None]] = deque()

    def __enter__(self) -> "Jury":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def take(self, leaf: Leaf) -> None:
        """One more leaf, in the order of the file."""
        self._batch.append(leaf)
        if len(self._batch) >= BATCH:
            self._send()

    def finish(self) -> None:
        """Judges what is left; raises if any leaf of the proof was refused."""
        self._send()
        while self._under_way:
            self._count(self._next_result())
        if self._tally.refused:
            self._give_up()

    def _send(self) -> None:
        batch, self._batch = self._batch, []
        if self._pool is None and self._jobs > 1 and perf_counter() - self._began >= ALONE_SECONDS:
            with _starting_processes():
                self._pool = ProcessPoolExecutor(
                    self._jobs, initializer=_start_worker, initargs=(self._claim,)
                )
        if self._pool is None and not self._under_way:
            self._count(self._judge.judge(batch, self._refusals, self._until - perf_counter()))
            return
        if len(self._under_way) >= self._most:
            self._count(self._next_result())
        self._under_way.append((batch, self._submit(batch)))

    def _submit(self, batch: list[Leaf]) -> Future[Tally] | None:
        """Sends a batch to the worker processes; None where they are gone."""
        if self._pool is None:
            return None
        try:
            with _starting_processes():
                return self._pool.submit(
                    _judge_in_worker, batch, self._refusals, self._until - perf_counter()
                )
        except LOSSES:
            self._go_on_alone()
            return None

    def _next_result(self) -> Tally:
        """What was found about the first batch under way; by this process, where the one that was to judge it is gone."""
        batch, future = self._under_way.popleft()
        try:
            if future is not None:
                return future.result()
        except LOSSES:
            self._go_on_alone()
        return self._judge.judge(batch, self._refusals, self._until - perf_counter())

    def _go_on_alone(self) -> None:
        self._jobs = 1
        if self._pool is not None:
            self._pool.shutdown(wait=False)
        self._pool = None

    def _count(self, found: Tally) -> None:
        tally = self._tally
        tally.add(found)
        if len(tally.refused) >= self._refusals or (tally.refused and tally.malformed):
            self._give_up()
        if tally.malformed:
            self._drop()
            raise Rejected(tally.malformed[0], line=tally.malformed[1])
        if tally.points > MOST_POINTS:
            raise Rejected(f"more than {MOST_POINTS} enumerated points in all")
        if tally.late or perf_counter() > self._until:
            raise OutOfTime(OutOfTime.reason)

    def _drop(self) -> None:
        """Leaves aside what comes later in the file, so that the answer is that of what comes first."""
        self._batch, self._under_way = [], deque()

    def _give_up(self) -> None:
        self._drop()
        del self._tally.refused[self._refusals :]
        _, line, reason = self._tally.refused[0]
        raise Rejected(reason, line=line)


@contextmanager
def _starting_processes() -> Iterator[None]:
    """Processes that are started meanwhile look for no modules in the current folder."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before


_judge: Judge  # of a worker process, set once before any batch


def _start_worker(claim: Claim) -> None:
    global _judge  # noqa: PLW0603
    _judge = Judge(claim)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that waits for this process


def _judge_in_worker(batch: list[Leaf], refusals: int, seconds: float) -> Tally:
    try:
        with alarm(seconds):
            return _judge.judge(batch, refusals, seconds)
    except OutOfTime:
        return Tally(late=True)
