"""One search in many processes: the same claims with 1 process and with more, and what limits it with many.

    python -m benchmarks scale [--claims NAME ...] [--processes 1 2] [--budget 60] [--workers 10 100 1000] [--rows 10000000] [--share-rows 4000] [--dask 2]

Each line of the first table is one `measure` of German: its wall time, the cells of its search and the bracket that it reached. A search that closes tells by its time what processes gain, one that does not by its
cells and its bracket. Times include the start of the processes, and count from when the model is read. Every process computes with one thread, the only one of a single process too. The last line of a claim is that of a cluster of Dask on this machine with so many workers, which were started before; `--dask 0` leaves it out, as does a machine without `distributed`.

The second table is the sampled share of Adult by an RBF kernel, fitted on `--share-rows` rows: how many are drawn is settled by a first small sample and the budget, so look at the draws a second. `--share-rows 0` leaves it out. The third is an audit of so many rows of Adult's shape, read from a .parquet file, with each number of processes and on the cluster: all of it, what of that was judging, CPU seconds of all processes, and the largest
memory of the one that reads and of one that judges. `--rows 0` leaves it out.

The last one is a simulation of the coordinator with many workers, from what one part took here: workers search parts of two seconds, the coordinator
needs a while for each that comes back (unpickling, checking its cells, grafting, dealing out), one after another. It says how much of the workers' time is spent searching.
"""

from __future__ import annotations

import argparse
import heapq
import importlib.util
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

import likewise as lw
from benchmarks._clusters import dask_workers
from benchmarks._large_data import audit_in_process, write_rows
from benchmarks._standardised import standardised
from benchmarks.rbf import machine
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.search.frontiers import make_frontiers
from likewise.search.parted_search import MOST_SECONDS
from likewise.search.parts import absorb, finished_part, resume_part, send_away, take_best
from likewise.verifying.posed_problem import pose

BUDGET, PROCESSES, WORKERS = 60.0, (1, 2), (10, 100, 1000)
CLAIMS = ("rbf-age-2", "rbf-4-gamma", "forest-100-6")
ROWS = 10_000_000
SHARE_ROWS = 4000  # that the kernel of the share is fitted on
AUDIT_BUDGET = 3600.0  # for rows, all of which are to be judged
SIMULATED_SECONDS = 600.0
ROOTS = 64  # of the part that is timed


def claim_of(name: str) -> tuple[Any, lw.Space, lw.Similarity, Any]:
    """Model, space, similarity and rows of a claim by its name."""
    if name == "rbf-age-2":
        case = standardised("german", within={"age": 2})
    else:
        case = standardised("german", gamma_times=4.0 if name == "rbf-4-gamma" else 1.0)
    model, similar = case.model, case.similar
    if name == "forest-100-6":
        forest = RandomForestClassifier(100, max_depth=6, random_state=0)
        model = make_pipeline(clone(case.model[0]), forest).fit(case.X, case.model.predict(case.X))
    return model, case.space, similar, case.X


Way = tuple[str, int, Executor | None]  # as it is called, how many processes, and where


@contextmanager
def ways_to_run(counts: Sequence[int], dask: int) -> Iterator[list[Way]]:
    """With every number of processes, and on a cluster."""
    with dask_workers(dask) as executor:
        found: list[Way] = [(str(count), count, None) for count in counts]
        yield found + ([(f"Dask {dask}", dask, executor)] if executor is not None else [])


def processes(claims: Sequence[str], counts: Sequence[int], budget: float, dask: int = 0) -> Table:
    """Every claim with every number of processes, and on a cluster."""
    table = Table(title=f"measure of German, {machine()}")
    for column in ("claim", "processes", "seconds", "cells", "lower", "upper"):
        table.add_column(column, justify="left" if column == "claim" else "right")
    for name in claims:
        model, space, similar, X = claim_of(name)
        with ways_to_run(counts, dask) as ways:
            for way, count, where in ways:
                found = lw.measure(model, space, similar, X=X, budget=budget, n_jobs=count, executor=where)
                took = float(found.stats["seconds"])
                row = (name, way, f"{took:.1f}", f"{found.stats['cells']:,}")
                table.add_row(*row, f"{found.lower:.6g}", f"{found.upper:.6g}")
                print("  ".join(row), file=sys.stderr, flush=True)
    return table


def shares(fitted_on: int, counts: Sequence[int], budget: float, dask: int) -> Table:
    """The sampled share of Adult, every way."""
    case = standardised("adult", rows=fitted_on)
    table = Table(title=f"share of Adult, RBF of {case.terms:,} terms, {machine()}")
    for column in ("processes", "seconds", "draws", "draws a second", "lower", "upper"):
        table.add_column(column, justify="right")
    with ways_to_run(counts, dask) as ways:
        for way, count, where in ways:
            found = lw.share(
                case.model,
                case.space,
                case.similar,
                X=case.X,
                method="sampled",
                budget=budget,
                n_jobs=count,
                executor=where,
            )
            took, draws = float(found.stats["seconds"]), int(found.stats["samples"])
            row = (way, f"{took:.1f}", f"{draws:,}", f"{draws / took:,.0f}")
            table.add_row(*row, f"{found.lower:.4f}", f"{found.upper:.4f}")
            print("adult-rbf-share", *row, sep="  ", file=sys.stderr, flush=True)
    return table


def audits(rows: int, counts: Sequence[int], dask: int = 0) -> Table:
    """An audit of generated rows with every number of processes, and on a cluster."""
    table = Table(title=f"audit of {rows:,} rows of Adult's shape, {machine()}")
    columns = (
        "processes",
        "seconds",
        "judging s",
        "CPU s",
        "rows a CPU s",
        "MiB",
        "a worker's MiB",
        "biased",
    )
    for column in columns:
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        write_rows(file, rows)
        ways = [(str(count), count, False) for count in counts] + [(f"Dask {dask}", dask, True)] * bool(dask)
        for way, count, on_dask in ways:
            found = audit_in_process(file, count, AUDIT_BUDGET, dask=on_dask)
            figures = (found["seconds"], found["judging"], found["cpu"], rows / found["cpu"])
            memory = (found[of] / 2**20 for of in ("memory", "worker memory"))
            row = (
                way,
                *(f"{figure:,.1f}" for figure in figures),
                *(f"{used:,.0f}" for used in memory),
            )
            table.add_row(*row, f"{found['biased']:,}")
            print("  ".join(row), file=sys.stderr, flush=True)
    return table


def part_costs(name: str) -> tuple[float, int, int]:
    """Seconds that the coordinator spends on one part, the bytes that it comes back in, and its nodes."""
    model, space, similar, X = claim_of(name)
    limit = 1.05 * lw.measure(model, space, similar, X=X, budget=2).lower  # where a search has much to do
    run = Run(budget=Budget(120))
    posed = pose(prepare(make_claim(model, space, similar, lw.ScoreGap(limit), X), run), run)
    frontier = make_frontiers(posed.task).all[0]
    frontier.run(most=4 * ROOTS)
    part = send_away(frontier, take_best(frontier, ROOTS))
    worker = resume_part(frontier.task, part)
    worker.run(seconds=MOST_SECONDS)
    message = pickle.dumps(finished_part(worker, part.roots))
    began = time.perf_counter()
    absorb(frontier, pickle.loads(message))  # noqa: S301 - written above
    pickle.dumps(send_away(frontier, take_best(frontier, ROOTS)))
    return time.perf_counter() - began, len(message), len(worker.proof.nodes)


def busy_share(workers: int, seconds: float) -> tuple[float, float]:
    """Of the workers' time, what they spend searching where each part takes the coordinator so many seconds; and parts a second."""
    back = [(MOST_SECONDS * (1 + n / workers), n) for n in range(workers)]
    heapq.heapify(back)
    free, done = 0.0, 0
    while back[0][0] < SIMULATED_SECONDS:
        when, worker = heapq.heappop(back)
        free = max(free, when) + seconds
        heapq.heappush(back, (free + MOST_SECONDS, worker))
        done += 1
    return done * MOST_SECONDS / (workers * SIMULATED_SECONDS), done / SIMULATED_SECONDS


def simulation(name: str, counts: Sequence[int]) -> Table:
    """What the coordinator allows."""
    seconds, size, nodes = part_costs(name)
    title = f"{name}: a part of {nodes:,} nodes is {size / 1e3:,.0f} kB and takes the coordinator {1e3 * seconds:.1f} ms"
    table = Table(title=title)
    for column in ("workers", "busy", "parts a second", "MB a second"):
        table.add_column(column, justify="right")
    for count in counts:
        busy, rate = busy_share(count, seconds)
        table.add_row(f"{count:,}", f"{busy:.0%}", f"{rate:.1f}", f"{rate * size / 1e6:.1f}")
    return table


def run(
    claims: Sequence[str] = CLAIMS,
    counts: Sequence[int] = PROCESSES,
    budget: float = BUDGET,
    workers: Sequence[int] = WORKERS,
    rows: int = ROWS,
    share_rows: int = SHARE_ROWS,
    dask: int | None = None,
) -> None:
    """Print the tables."""
    console = Console(width=140)
    if dask is None:
        dask = max(counts) if importlib.util.find_spec("distributed") else 0
    console.print(processes(claims, counts, budget, dask))
    if share_rows:
        console.print(shares(share_rows, counts, budget, dask))
    if rows:
        console.print(audits(rows, counts, dask))
    for name in claims:
        console.print(simulation(name, workers))


def main(arguments: list[str]) -> None:
    """Run with options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale")
    parser.add_argument("--claims", nargs="+", choices=CLAIMS, default=CLAIMS)
    parser.add_argument("--processes", nargs="+", type=int, default=PROCESSES)
    parser.add_argument("--budget", type=float, default=BUDGET)
    parser.add_argument("--workers", nargs="+", type=int, default=WORKERS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--share-rows", type=int, default=SHARE_ROWS)
    parser.add_argument(
        "--dask", type=int, help="workers; by default as many as processes, if `distributed` is there"
    )
    given = parser.parse_args(arguments)
    run(
        given.claims,
        given.processes,
        given.budget,
        given.workers,
        given.rows,
        given.share_rows,
        given.dask,
    )
