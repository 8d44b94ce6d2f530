"""The paper's experiments again: each of its models fitted, then answered by its algorithm, by testing and by `verify`.

A cell is one model; its parts are the fit and up to three answers, each a plain dictionary ready for JSON. A part
that is finished is kept in a file whose name has the digest of what it depends on: the fit, the budget, the seed, and
the source code of Likewise itself. So a rerun continues where the last one ended, and no answer of other code is
taken for one of this. What could not be answered (a model that is not supported, Ctrl-C) is never kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import likewise
from likewise.datasets import Dataset, paper_problem
from likewise.errors import DataError, InternalError, LikewiseError, SpecError, suggest_name
from likewise.paper.meta import verify_individual_bias
from likewise.paper.published import ROWS, SAMPLES, Published
from likewise.paper.testing import random_testing
from likewise.paper.training import Fit, digest_of, fit_all, load_fit
from likewise.spec.disk import write_file
from likewise.spec.similarity import Similarity
from likewise.verifying import verify

Part = Literal["published", "testing", "ours"]
Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which models, with what, and how long each answer may take."""

    rows: tuple[Published, ...]
    parts: tuple[Part, ...]
    folder: Path
    data: Path | None = None
    budget: float = 60.0
    seed: int = 0
    jobs: int = 2
    samples: int = SAMPLES
    fresh: bool = False


@dataclass(slots=True, kw_only=True)
class ExperimentCell:
    """One model: its row in the paper, its fit, its answers so far; `missing` says why there is nothing."""

    row: Published
    fit: Fit | None = None
    answers: dict[Part, Document] = field(default_factory=dict)
    missing: str | None = None

    def to_dict(self) -> Document:
        """Everything about this model, ready for JSON."""
        row, fit = self.row, self.fit
        return {
            "model": row.title,
            "key": row.key,
            "paper": {
                "train": row.train,
                "test": row.test,
                "bias": row.bias,
                "time": row.time,
                "testing": row.testing,
                "testing_time": row.testing_time,
            },
            "missing": self.missing,
            "fit": None
            if fit is None
            else {"train": fit.train, "test": fit.test, "seconds": fit.seconds, "digest": fit.digest},
            **{part: self.answers.get(part) for part in ("published", "testing", "ours")},
        }


class Interrupted(Exception):
    """Ctrl-C during an answer: what was finished before is kept."""


Listener = Callable[[str], None]


def chosen_rows(names: Sequence[str]) -> tuple[Published, ...]:
    """The models meant by names: german-rbf2, GC_Rbf2, german-rbf, german (its six), rbf2 or rbf (of all)."""
    if not names:
        return ROWS
    chosen: set[str] = set()
    for name in names:
        found = {row.key for row in ROWS if name.lower() in _row_names(row)}
        if not found:
            known = sorted({known for row in ROWS for known in _row_names(row)})
            raise SpecError(
                f"no model {name!r} in the paper{suggest_name(name.lower(), known)}",
                hint="a model (german-rbf2), a data set (german) or a kind (rbf, rbf2)",
            )
        chosen |= found
    return tuple(row for row in ROWS if row.key in chosen)


def _row_names(row: Published) -> set[str]:
    return {row.key, row.title.lower(), f"{row.data}-{row.family}", row.data, row.kind, row.family}


def count_steps(plan: Plan) -> int:
    """How many steps `run` reports: a fit and the answers of each model."""
    return len(plan.rows) * (1 + len(plan.parts))


def run(plan: Plan, cells: list[ExperimentCell], step: Listener) -> None:
    """Fill `cells`, in the order of the plan; what is finished is in them even if this ends early."""
    cells[:] = [ExperimentCell(row=row) for row in plan.rows]
    sets, missing = data_sets(plan)
    for cell in cells:
        cell.missing = missing.get(cell.row.data)
    known = [cell for cell in cells if cell.missing is None]
    by_key = {cell.row.key: cell for cell in known}
    wanted = [(cell.row, sets[cell.row.data]) for cell in known]
    for row, fit in fit_all(wanted, plan.folder, jobs=plan.jobs):
        by_key[row.key].fit = fit
        step(f"fitted {row.title}")
    for cell in known:
        for part in plan.parts:
            cell.answers[part] = answer_part(plan, cell, sets[cell.row.data], part)
            step(f"{cell.row.title}: {part}")


def data_sets(plan: Plan) -> tuple[dict[str, Dataset], dict[str, str]]:
    """The data sets that the plan needs, and why one of them is not there."""
    sets, missing = {}, {}
    for name in dict.fromkeys(row.data for row in plan.rows):
        try:
            sets[name] = paper_problem(name, plan.data)
        except DataError as error:
            missing[name] = error.message
    return sets, missing


def answer_part(plan: Plan, cell: ExperimentCell, data: Dataset, part: Part) -> Document:
    """One answer: from its file if it was finished before, else worked out now and kept."""
    fit = cell.fit or load_fit(cell.row, digest_of(cell.row, data), plan.folder)
    if fit is None:
        raise InternalError(f"{cell.row.title} was not fitted")
    path = plan.folder / "answers" / f"{cell.row.key}-{part}-{_answer_digest(plan, fit, part)}.json"
    if path.is_file() and not plan.fresh:
        found: Document = json.loads(path.read_bytes())
        return found
    try:
        document = _ANSWERS[part](plan, fit, data)
    except InternalError:
        raise
    except LikewiseError as error:
        return {"error": type(error).__name__, "message": error.message}
    if _was_interrupted(document):
        raise Interrupted
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(document, indent=2).encode())
    return document


def _was_interrupted(document: Document) -> bool:
    """By Ctrl-C, as a `Finding` tells in its details and a `Result` in its reason."""
    reason = document.get("reason") or ""
    return "interrupted" in document.get("details", {}) or reason.startswith("interrupted")


def _answer_digest(plan: Plan, fit: Fit, part: Part) -> str:
    depends = (fit.digest, part, plan.budget, plan.seed, plan.samples, likewise.__version__, _source_digest())
    return hashlib.sha256(repr(depends).encode()).hexdigest()[:20]


@cache
def _source_digest() -> str:
    """The digest of Likewise's own source code."""
    digest = hashlib.sha256()
    root = Path(likewise.__file__).parent
    for package in (root, root.parent / "likewise_check"):
        for path in sorted(package.rglob("*.py")):
            digest.update(str(path.relative_to(root.parent)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _common_arguments(plan: Plan, fit: Fit, data: Dataset) -> dict[str, Any]:
    """What every algorithm is asked: the same decision for all who differ in the protected features only."""
    return {
        "model": fit.model,
        "space": data.space,
        "similar": Similarity(free=data.protected),
        "X": data.X,
        "budget": plan.budget,
        "random_state": plan.seed,
    }


def _run_published(plan: Plan, fit: Fit, data: Dataset) -> Document:
    """The paper's algorithm for the family: D are the protected features, no integer is relaxed unless it must be."""
    started = perf_counter()
    finding = verify_individual_bias(**_common_arguments(plan, fit, data))
    return {**finding.to_dict(), "wall": perf_counter() - started}


def _run_testing(plan: Plan, fit: Fit, data: Dataset) -> Document:
    started = perf_counter()
    finding = random_testing(**_common_arguments(plan, fit, data), samples=plan.samples)
    return {**finding.to_dict(), "wall": perf_counter() - started}


def _run_ours(plan: Plan, fit: Fit, data: Dataset) -> Document:
    started = perf_counter()
    result = verify(**_common_arguments(plan, fit, data))
    # `verify` gives a certificate out only after the independent checker accepted it.
    return {**result.to_dict(), "wall": perf_counter() - started, "checked": result.certificate is not None}


_ANSWERS: dict[Part, Callable[[Plan, Fit, Dataset], Document]] = {
    "published": _run_published,
    "testing": _run_testing,
    "ours": _run_ours,
}
