"""A pair program by Marabou (pip install maraboupy): whether any pair has a gap of so much. Levels are disjunctions; whole numbers are taken for reals, which Marabou has no others of.

It runs in a process of its own with a limit of CPU time, because its own limit is not kept while it prepares a query.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import multiprocessing
import resource
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks._pair_program import Expression, PairProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """sat, unsat or TIMEOUT, in its own words, and the CPU seconds."""

    word: str
    seconds: float


def available() -> bool:
    """Whether Marabou is installed."""
    return importlib.util.find_spec("maraboupy") is not None


def by_marabou(program: PairProgram, gap: float, seconds: float) -> Answer:
    """Its answer to: is there a pair whose gap is at least this?"""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    before = _spent()
    process = context.Process(target=_solve, args=(program, gap, seconds, sender))
    process.start()
    sender.close()
    try:
        word = str(receiver.recv())
    except EOFError:  # its time was over
        word = "TIMEOUT"
    process.join()
    return Answer(word=word, seconds=_spent() - before)


def _spent() -> float:
    """CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _solve(program: PairProgram, gap: float, seconds: float, sender: Any) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    last = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (last, last + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that parsers of formats not asked for are missing
        marabou, core = (importlib.import_module(f"maraboupy.{name}") for name in ("Marabou", "MarabouCore"))
    query = core.InputQuery()
    query.setNumberOfVariables(len(program.lower))
    for column, (low, high) in enumerate(zip(program.lower, program.upper, strict=True)):
        query.setLowerBound(column, low)
        query.setUpperBound(column, high)
    for low, high, terms in program.rows:
        if low == high:
            query.addEquation(_equation(core, "EQ", terms, low))
        else:
            query.addEquation(_equation(core, "GE", terms, low))
            query.addEquation(_equation(core, "LE", terms, high))
    for y, h in program.relus:
        core.addReluConstraint(query, y, h)
    for group in program.one_of:
        choices = [
            [_equation(core, "EQ", {column: 1.0}, float(column == chosen)) for column in group]
            for chosen in group
        ]
        core.addDisjunctionConstraint(query, choices)
    query.addEquation(_equation(core, "GE", program.objective, gap - program.constant))
    word, _, _ = core.solve(query, marabou.createOptions(verbosity=0, numWorkers=1), "")
    sender.send(word)


def _equation(core: Any, kind: str, terms: Expression, scalar: float) -> Any:
    equation = core.Equation(getattr(core.Equation, kind))
    for column, weight in terms.items():
        if weight:
            equation.addAddend(weight, column)
    equation.setScalar(scalar)
    return equation
