"""RBF models: brackets of the largest gap and margin, beside SCIP; enumeration of a grid; certificates.

    python -m benchmarks rbf [--quick] [--data credit german adult] [--scip-seconds 120] [--no-certificates]

Credit, German and Adult (5,000 training rows) through `StandardScaler`, one-hot columns and `SVC(C=1, gamma="scale")`, the data
set's protected features free. "CPU s" is one core, the compilation of the bounds left aside. SCIP (10, through PySCIPOpt: pip install
pyscipopt) gets the time said, and only the pair of protected values at which we found the largest value;
"ratio" is how many times wider its bracket is when its time is over, or how many times longer it took.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import platform
import sys
import time
from dataclasses import dataclass
from datetime import date

from rich.console import Console
from rich.table import Table

import likewise as lw
from benchmarks._scip import Bracket, available, by_scip
from benchmarks._standardised import Case, measured, standardised
from likewise.model.gauge import Scale
from likewise_check import check

DATA = ("credit", "german", "adult")
ADULT_ROWS = 5_000
SCIP_SECONDS = 120.0
QUICK_SCIP_SECONDS = 10.0
JOBS = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One row: what is measured, how closely, within which time, and what was aimed at."""

    data: str
    of: Scale
    tolerance: float
    budget: float = 300.0
    target: str = ""
    gamma_times: float = 1.0
    within: tuple[tuple[str, int | str], ...] = ()
    quick: bool = False  # part of the short run

    @property
    def name(self) -> str:
        what = "D*" if self.of == "score" else self.of
        gamma = "" if self.gamma_times == 1 else f", gamma x {self.gamma_times:g}"
        near = "".join(f", {name} within {t}" for name, t in self.within)
        return f"{self.data} {what} to {self.tolerance:g}{gamma}{near}"


QUESTIONS = (
    Question(data="credit", of="score", tolerance=0.01, target="2 s", quick=True),
    Question(data="german", of="score", tolerance=0.05, target="15 s"),
    Question(data="german", of="score", tolerance=0.01, target="30 s"),
    Question(data="credit", of="margin", tolerance=0.05, target="30 s", quick=True),
    Question(data="german", of="margin", tolerance=0.05, target="30 s"),
    Question(data="adult", of="score", tolerance=0.001, target="5 s"),
    Question(data="german", of="score", tolerance=0.01, budget=40, gamma_times=4.0, target="after 40 s"),
    Question(data="credit", of="score", tolerance=0.05, within=(("age", 2),), target="15 s", quick=True),
    Question(data="credit", of="score", tolerance=0.05, within=(("limit", "5%"),)),
    Question(
        data="credit", of="score", tolerance=0.05, within=(("limit", "5%"), ("income", "5%")), target="90 s"
    ),
    Question(data="german", of="score", tolerance=0.05, budget=60, within=(("age", 2),), target="after 60 s"),
)
CERTIFIED = (
    (Question(data="credit", of="score", tolerance=0.01, quick=True), "10 s"),
    (Question(data="german", of="score", tolerance=0.05), "120 s"),
    (Question(data="credit", of="score", tolerance=0.05, within=(("age", 2),)), ""),
)
ON_A_GRID = "10 s"


def case_of(question: Question) -> Case:
    """The model that a row is about."""
    rows = ADULT_ROWS if question.data == "adult" else None
    return standardised(
        question.data, rows=rows, gamma_times=question.gamma_times, within=dict(question.within)
    )


def timed(case: Case, question: Question, *, certify: bool = False) -> tuple[lw.Disparity, float]:
    """The measurement and its CPU seconds."""
    started = time.process_time()
    found = measured(
        case, of=question.of, tolerance=question.tolerance, budget=question.budget, certify=certify
    )
    return found, time.process_time() - started


def ratio(ours: lw.Disparity, seconds: float, theirs: Bracket, tolerance: float) -> str:
    """How much wider SCIP's bracket is, or how much longer it took to a bracket as narrow."""
    width = theirs.upper - theirs.lower
    if width <= tolerance * (1 + 1e-6):
        return f"time x {theirs.seconds / seconds:.2g}"
    return f"width x {width / (ours.upper - ours.lower):.2g}" if math.isfinite(width) else "no bound"


def bracket_table(questions: list[Question], scip_seconds: float) -> Table:
    """Ours and SCIP's brackets."""
    table = Table(title=f"brackets, {machine()}")
    for column in ("question", "M", "ours", "cells", "CPU s", "target", "SCIP, one pair", "CPU s", "ratio"):
        table.add_column(column, justify="left" if column == "question" else "right")
    for question in questions:
        case = case_of(question)
        found, seconds = timed(case, question)
        row = [
            question.name,
            str(case.terms),
            f"[{found.lower:.4f}, {found.upper:.4f}]",
            f"{found.stats['cells']:,}",
            f"{seconds:.1f}",
            question.target,
        ]
        if scip_seconds and question.within:
            row += ["not asked: two copies of every term", "", ""]
        elif scip_seconds:
            limit = max(scip_seconds, seconds)
            pair = case.space.encode(found.pair)
            scip = by_scip(case, pair, of=question.of, tolerance=question.tolerance, seconds=limit)
            row += [
                f"[{scip.lower:.4f}, {scip.upper:.4f}]",
                f"{scip.seconds:.1f}",
                ratio(found, seconds, scip, question.tolerance),
            ]
        table.add_row(*row)
        print("  ".join(row), file=sys.stderr, flush=True)  # a full run takes a quarter of an hour
    return table


def grid_table() -> Table:
    """Adult by enumeration: every individual of its grid."""
    table = Table(title="every individual of Adult's grid")
    for column in ("individuals", "M", "flips", "share", "CPU s", "target"):
        table.add_column(column, justify="right")
    case = standardised("adult", rows=ADULT_ROWS)
    started = time.process_time()
    found = lw.share(case.model, case.space, case.similar, X=case.X, method="exact", budget=300)
    seconds, people = time.process_time() - started, found.stats["individuals"]
    table.add_row(
        f"{people:,}",
        str(case.terms),
        f"{round(found.lower * people):,}",
        " to ".join(dict.fromkeys((f"{found.lower:.3%}", f"{found.upper:.3%}"))),
        f"{seconds:.1f}",
        ON_A_GRID,
    )
    return table


def certificate_table(rows: list[tuple[Question, str]]) -> Table:
    """Proofs of the upper end: what they weigh and what checking them costs."""
    table = Table(title="certificates of the upper end")
    columns = ["question", "proved", "nodes", "bytes", "search and check, CPU s"]
    for column in (*columns, *(f"check, {j} jobs, CPU s (wall)" for j in JOBS), "target"):
        table.add_column(column, justify="left" if column == "question" else "right")
    for question, target in rows:
        found, seconds = timed(case_of(question), question, certify=True)
        if found.certificate is None:
            table.add_row(question.name, f"no: {found.reason}")
            continue
        content = found.certificate.content
        table.add_row(
            question.name,
            f"<= {found.upper:.4f}",
            f"{found.stats['cells']:,}",
            f"{len(content):,}",
            f"{seconds:.1f}",
            *(checked(content, jobs) for jobs in JOBS),
            target,
        )
    return table


def checked(content: bytes, jobs: int) -> str:
    """CPU seconds of this process and its children, and the wall clock."""
    before, wall = os.times(), time.perf_counter()
    if not check(io.BytesIO(content), jobs=jobs).accepted:
        return "refused"
    after = os.times()
    spent = sum(after[:4]) - sum(before[:4])
    return f"{spent:.1f} ({time.perf_counter() - wall:.1f})"


def machine() -> str:
    """Where and when this ran."""
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{platform.machine()}, {os.cpu_count()} cores, load {load}, Python {platform.python_version()}, {date.today()}"


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rbf", description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", choices=DATA, default=DATA, help="only rows about these")
    parser.add_argument("--quick", action="store_true", help="Credit only, and SCIP for ten seconds a row")
    parser.add_argument(
        "--scip-seconds", type=float, help="CPU seconds for SCIP a row, at least ours; 0: none"
    )
    parser.add_argument("--no-certificates", action="store_true")
    options = parser.parse_args(arguments)
    seconds = options.scip_seconds
    if seconds is None:
        seconds = QUICK_SCIP_SECONDS if options.quick else SCIP_SECONDS
    console = Console(width=170)
    if seconds and not available():
        console.print("SCIP is left out: pip install pyscipopt")
        seconds = 0.0
    nobody: dict[str, int | float | str] = {}
    for within in (nobody, {"age": 2}):  # compiles the bounds of one copy and of two
        timed(standardised("credit", within=within), Question(data="credit", of="score", tolerance=1.0))
    asked = [q for q in QUESTIONS if q.data in options.data and (q.quick or not options.quick)]
    console.print(bracket_table(asked, seconds))
    if "adult" in options.data and not options.quick:
        console.print(grid_table())
    certified = [
        row for row in CERTIFIED if row[0].data in options.data and (row[0].quick or not options.quick)
    ]
    if certified and not options.no_certificates:
        console.print(certificate_table(certified))


def run() -> None:
    """For `python -m benchmarks rbf`."""
    main([])


if __name__ == "__main__":
    main()
