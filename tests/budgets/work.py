"""A clock that moves with the work that is done and with nothing else, so that budgets can be tested on any machine.

Every kind of work costs seconds by its size: scores, cells that are bounded, exact proofs, pairs of leaves, questions to the original
model, lines and leaves of certificates. They are made up, and so high that all of it together takes far longer than any budget here.
"""

from collections import Counter
from functools import wraps

import likewise_check.checking
import likewise_check.core.leaves
from likewise import clock
from likewise.families.affine.bounder import RivalBounder, SeparableBounder
from likewise.families.affine.odds import OddsBounder
from likewise.families.combined.judge import CombinedJudge
from likewise.families.judge import Judge
from likewise.families.kernel.bounder import KernelBounder
from likewise.families.kernel.judge import KernelJudge
from likewise.families.polynomial.bounder import PolynomialBounder
from likewise.families.polynomial.judge import PolynomialJudge
from likewise.families.separable import SeparableJudge
from likewise.families.trees import elements, ensemble_elements
from likewise.families.trees import lines as tree_lines
from likewise.families.trees.bounder import TreeBounder
from likewise.families.trees.cells import TreeCells
from likewise.families.trees.judge import TreeJudge
from likewise.importers import replay
from likewise.search import task
from likewise.verifying import certification, posed_problem

KERNEL_VALUES = 20_000  # that every score costs
KERNEL_VALUE = 1e-7  # seconds
SCORE = KERNEL_VALUES * KERNEL_VALUE
SLOWER = 100  # than what judges say of their pace
CELL = 0.05
PROOF = 0.03
EXACT = 0.02  # a pair put to the exact test
CELL_OF_A_TREE = 0.004  # times the number of trees
NODE = 0.002  # of a tree whose pairs of leaves are found
ELEMENT = 1e-4  # of all pairs of leaves put in an order
ANSWER = 0.05  # of the original model
LINE = 0.05  # of a tree in a certificate
BYTE = 2e-6  # of a certificate, read by the checker
LEAF = 0.1  # of a proof, judged by the checker

JUDGES = (SeparableJudge, KernelJudge, PolynomialJudge, TreeJudge, CombinedJudge, Judge)
ORACLES = (SeparableBounder, KernelBounder, PolynomialBounder, RivalBounder, OddsBounder, TreeCells)


class Work:
    """What was done so far, in seconds; `largest` is the largest piece of it."""

    def __init__(self):
        self.now, self.largest, self.by_kind = 0.0, 0.0, Counter()

    def do(self, kind, seconds):
        self.now += seconds
        self.largest = max(self.largest, seconds)
        self.by_kind[kind] += seconds

    def costs(self, monkeypatch, place, name, kind, seconds):
        """Let a function cost what `seconds` says of its arguments."""
        function = getattr(place, name)

        @wraps(function)
        def costly(*given, **named):
            self.do(kind, seconds(*given, **named))
            return function(*given, **named)

        monkeypatch.setattr(place, name, costly)


def counted(monkeypatch):
    """The clock in place of the real one, moved by all work that follows."""
    work = Work()
    monkeypatch.setattr(clock, "now", lambda: work.now)
    for module in (likewise_check.core.leaves, likewise_check.checking):
        monkeypatch.setattr(module, "perf_counter", lambda: work.now)
    monkeypatch.setattr(posed_problem, "SearchTask", _costly(work, posed_problem.SearchTask))
    for judge in JUDGES:
        work.costs(monkeypatch, judge, "cross", "scores", _of_judge)
    for oracle in ORACLES:  # those of trees bound by `bound_memory`
        if "bound" in vars(oracle) and oracle is not TreeCells:
            work.costs(monkeypatch, oracle, "bound", "cells", lambda _, lo, *__: CELL * len(lo))
        if "prove" in vars(oracle):
            work.costs(monkeypatch, oracle, "prove", "proofs", lambda *_: PROOF)
    work.costs(
        monkeypatch,
        TreeBounder,
        "bound_memory",
        "cells",
        lambda self, *_: CELL_OF_A_TREE * len(self.score.body.trees),
    )
    work.costs(monkeypatch, TreeBounder, "prove_memory", "proofs", lambda *_: PROOF)
    work.costs(
        monkeypatch,
        elements,
        "pair_leaves",
        "pairs of leaves",
        lambda nodes, *_: NODE * len(nodes.feature) / len(nodes.roots),
    )
    work.costs(
        monkeypatch,
        ensemble_elements.EnsembleElements,
        "ordered",
        "orders",
        lambda _, value: ELEMENT * len(value),
    )
    work.costs(monkeypatch, task, "exact_witness", "exact pairs", lambda *_: EXACT)
    work.costs(monkeypatch, replay, "ask_part", "answers", lambda *_, **__: ANSWER)
    work.costs(monkeypatch, tree_lines, "_tree_line", "lines", lambda *_: LINE)
    work.costs(monkeypatch, certification, "check", "reading", lambda file, **_: BYTE * len(file.getvalue()))
    work.costs(monkeypatch, likewise_check.core.leaves.Judge, "_rule", "leaves", lambda *_: LEAF)
    return work


def _of_judge(judge, rows, _, settings):
    """Judges say how many scores they have in a second; this machine is slower. Of one score its own judge is asked as well, and counts."""
    if getattr(judge, "n_scores", None) == 1:
        return 0.0
    return SLOWER * len(rows) * len(settings) / judge.pace


def _costly(work, made):
    """Problems whose scores cost what they say they cost."""

    def problem_of(**given):
        scores = given["scores"]

        def costly(codes):
            work.do("scores", SCORE * len(codes))
            return scores(codes)

        return made(**{**given, "scores": costly, "cost": KERNEL_VALUES})

    return problem_of
