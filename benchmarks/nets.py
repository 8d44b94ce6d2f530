"""Neural networks: brackets of the largest score gap beside HiGHS, claims with room beside Marabou, certificates.

    python -m benchmarks nets [--data german credit adult8 adult] [--nets 50 100 16-16 64-32-16] [--adult FOLDER]
                              [--marks 1 10 60] [--certificate-seconds 60] [--claim-seconds 60] [--decision-seconds 60] [--highs-seconds 60] [--marabou-seconds 60]

scikit-learn's `MLPClassifier` (relu, random_state=0) behind one-hot levels and scaled numbers. One feature may differ: German sex-marital-status, Credit ethnicity, Adult8 race, Adult sex; 0 seconds
leave a part out. Seconds are CPU seconds of one core, of the search alone: reading the model and compiling loops are left aside.

The first table has the bracket of `measure` as it was after each mark, and HiGHS's (a mixed-integer program with one binary a relu and copy, and our own limits of all sums) after as long. The second has what
`measure(certify=True)` proves of the upper end, a *claim with room*: no gap above 1.25 times the largest one found, which Marabou gets too, where it is installed (pip install maraboupy), and the verdict on equal decisions. auto_LiRPA is not run: its releases need PyTorch below
1.13, which is not part of this project's set-up.
"""

from __future__ import annotations

import argparse
import io
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from rich.console import Console
from rich.table import Table

import likewise as lw
from benchmarks._highs import by_highs
from benchmarks._marabou import available, by_marabou
from benchmarks._networks import ADULT_FILE, DATA, SIZES, Case, fitted, rows_of
from benchmarks._pair_program import pair_program
from benchmarks.rbf import machine
from likewise import clock
from likewise.families.network.bounder import NetworkBounder
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.verifying.posed_problem import pose
from likewise_check import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks._pair_program import PairProgram

MARKS = (1.0, 10.0, 60.0)
SECONDS = 60.0
ROOM = 1.25  # of a claim, above the largest gap found
CLOSED = 1e-6  # relative: a bracket that is told as one number
IDENTIFIED = ("data", "net", "free")
CERTIFIED = ("proved", "search and check", "leaves", "bytes", "check")
CLAIMED = ("claim", "verdict", "search and check", "leaves", "bytes", "check")
DECIDED = ("same decision", "search and check")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run, and for how many CPU seconds each."""

    data: tuple[str, ...] = DATA
    nets: tuple[str, ...] = SIZES
    adult: Path | None = None
    marks: tuple[float, ...] = MARKS
    certificate_seconds: float = SECONDS
    claim_seconds: float = SECONDS
    decision_seconds: float = SECONDS
    highs_seconds: float = SECONDS
    marabou_seconds: float = SECONDS


def bracket(lower: float, upper: float) -> str:
    """Of a largest gap; one number where it is known."""
    if not math.isfinite(lower) or not math.isfinite(upper):
        return f"[{lower:.4g}, {upper:.4g}]"
    return f"{lower:.5g}" if upper - lower <= CLOSED * (1 + abs(lower)) else f"[{lower:.5g}, {upper:.5g}]"


def measured(case: Case, marks: Sequence[float]) -> tuple[lw.Disparity, list[str]]:
    """The bracket after each mark, and the last one."""
    found = lw.measure(case.model, case.space, case.similar, X=case.X, budget=marks[-1])
    told = []
    for mark in marks[:-1]:
        early = [(lower, upper) for at, lower, upper in found.history if at <= mark]
        done = found.stats["seconds"] <= mark
        told.append(bracket(found.lower, found.upper) if done else bracket(*early[-1]) if early else "-")
    return found, [*told, bracket(found.lower, found.upper)]


def program_of(case: Case) -> PairProgram:
    """The same question as other solvers take it."""
    run = Run(budget=Budget(SECONDS))
    claim = make_claim(case.model, case.space, case.similar, lw.ScoreGap(0.0), case.X)
    bounder = pose(prepare(claim, run), run).task.bounder
    if not isinstance(bounder, NetworkBounder):
        raise TypeError("only networks are asked about")
    return pair_program(bounder)


def weighed(certificate: lw.Certificate | None) -> list[str]:
    """Leaves, bytes, and the CPU seconds that checking takes."""
    if certificate is None:
        return ["", "", ""]
    content, started = certificate.content, time.process_time()
    accepted = check(io.BytesIO(content)).accepted
    seconds = f"{time.process_time() - started:.2f}" if accepted else "refused"
    leaves = sum(n for rule, n in certificate.outline().rules.items() if rule not in ("split", "neuron"))
    return [f"{leaves:,}", f"{len(content):,}", seconds]


def bracket_row(case: Case, options: Options) -> tuple[list[str], float]:
    """Our brackets and HiGHS's, and the largest gap found."""
    started = time.process_time()
    found, told = measured(case, options.marks)
    ratio = f"{found.upper / found.lower - 1:.1%}" if found.lower > 0 else "-"
    took = min(float(found.stats["seconds"]), time.process_time() - started)
    row = [*told, f"{found.stats['cells']:,}", f"{took:.1f}", ratio]
    if options.highs_seconds:
        marks = tuple(mark for mark in options.marks if mark < options.highs_seconds)
        theirs = by_highs(program_of(case), (*marks, options.highs_seconds))
        row += [bracket(one.lower, one.upper) for one in theirs]
        row += [""] * (len(options.marks) - len(theirs)) + [f"{theirs[-1].seconds:.1f}"]
    return row, found.lower


def certificate_row(case: Case, largest: float, options: Options) -> list[str]:
    """What is proved of the upper end, and a claim with room."""
    row = []
    asked: dict[str, Any] = {"X": case.X}
    if options.certificate_seconds:
        started, budget = time.process_time(), options.certificate_seconds
        found = lw.measure(case.model, case.space, case.similar, certify=True, budget=budget, **asked)
        seconds = f"{time.process_time() - started:.1f}"
        proved = f"<= {found.upper:.5g}" if found.certificate else f"no: {found.reason}"
        row += [proved, seconds, *weighed(found.certificate)]
    if options.claim_seconds:
        level, started = ROOM * largest, time.process_time()
        claim = lw.ScoreGap(level)
        result = lw.verify(case.model, case.space, case.similar, claim, budget=options.claim_seconds, **asked)
        seconds = f"{time.process_time() - started:.1f}"
        row += [f"{level:.4g}", str(result.verdict), seconds, *weighed(result.certificate)]
        if options.marabou_seconds and available():
            answer = by_marabou(program_of(case), level, options.marabou_seconds)
            row += [answer.word, f"{answer.seconds:.1f}"]
    if options.decision_seconds:
        started, budget = time.process_time(), options.decision_seconds
        result = lw.verify(case.model, case.space, case.similar, lw.SameDecision(), budget=budget, **asked)
        row += [str(result.verdict), f"{time.process_time() - started:.1f}"]
    return row


def cases(options: Options) -> Any:
    """Each network that was asked for, one after the other; what has no data is said."""
    for data in options.data:
        rows = rows_of(data, options.adult)
        if rows is None:
            print(f"left out: {data}: no folder with UCI's {ADULT_FILE} was named (--adult)", flush=True)
            continue
        for size in options.nets:
            yield fitted(data, size, *rows)


def tables(options: Options) -> tuple[Table, Table]:
    """Both tables; each row is also printed as soon as it is known."""
    of_highs = [f"HiGHS {mark:g} s" for mark in options.marks] if options.highs_seconds else []
    ours = [*(f"{mark:g} s" for mark in options.marks), "cells", "CPU s", "open"]
    first = Table(*IDENTIFIED, *ours, *of_highs, *(["CPU s"] if of_highs else []), title="largest score gap")
    columns = [*(CERTIFIED if options.certificate_seconds else ())]
    if options.claim_seconds:
        columns += [*CLAIMED, *(["Marabou", "CPU s"] if options.marabou_seconds and available() else [])]
    columns += DECIDED if options.decision_seconds else ()
    second = Table(*IDENTIFIED, *columns, title="certificates, seconds of CPU")
    for case in cases(options):
        names = [case.data, case.size, case.free]
        row, largest = bracket_row(case, options)
        first.add_row(*names, *row)
        print(" | ".join([*names, *row]), file=sys.stderr, flush=True)
        if columns:
            row = certificate_row(case, largest, options)
            second.add_row(*names, *row)
            print(" | ".join([*names, *row]), file=sys.stderr, flush=True)
    return first, second


def compile_loops() -> None:
    """Once, before anything is timed."""
    rows = rows_of("credit", None)
    if rows is not None:
        case = fitted("credit", "2", *rows)
        lw.measure(case.model, case.space, case.similar, X=case.X, budget=1.0, certify=True)


def run(options: Options | None = None) -> None:
    """Print the tables."""
    chosen, console = options or Options(), Console(width=220)
    console.print(f"{machine()}, one core")
    if chosen.marabou_seconds and not available():
        console.print("Marabou is left out: pip install maraboupy")
    compile_loops()
    with mock.patch.object(
        clock, "now", time.process_time
    ):  # so that other programs take nothing of a budget
        first, second = tables(chosen)
    console.print(first)
    if second.columns[len(IDENTIFIED) :]:
        console.print(second)


def main(arguments: list[str]) -> None:
    """With options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks nets")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--nets", nargs="+", default=list(SIZES), help="neurons of hidden layers, as 16-16")
    parser.add_argument("--adult", type=Path, help=f"a folder that has UCI's {ADULT_FILE}")
    parser.add_argument("--marks", nargs="+", type=float, default=list(MARKS))
    for part in ("certificate", "claim", "decision", "highs", "marabou"):
        parser.add_argument(f"--{part}-seconds", type=float, default=SECONDS, help="0: without")
    given = vars(parser.parse_args(arguments))
    given.update({name: tuple(given[name]) for name in ("data", "nets")}, marks=tuple(sorted(given["marks"])))
    run(Options(**given))
