"""A claim and the rows that it is put to: one frame, or more rows than are to be in memory at once.

Of a frame the model is read with all rows. Of a file, or of frames that come one after another, it is read with a sample of them (`spec.data_rows`), on which it is compared with the
original as it is on rows of a frame: those are sampled in the same way.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from likewise.analysis.data_reading import read_rows
from likewise.problem import Claim, Problem, prepare
from likewise.spec.data_rows import admit_chunk, rows_of_frame
from likewise.spec.row_source import open_source

if TYPE_CHECKING:
    from likewise.run import Run
    from likewise.spec.data_rows import DataRows


def pose_data(claim: Claim, given: Any, run: Run) -> tuple[Problem, DataRows]:
    """The problem that a claim without rows is, and the rows that were given: a frame, a path or an iterable of frames."""
    source = open_source(given)
    if source is None:
        problem = prepare(replace(claim, X=given), run)
        return problem, problem_rows(problem)
    with run.budget.reading(str(given) if isinstance(given, str | os.PathLike) else "data"):
        data = read_rows(
            claim.space,
            source,
            partial(admit_chunk, claim.space),
            run,
            lambda seen: run.tell(f"{seen:,} rows read"),
            whole=True,
        )
    return prepare(replace(claim, **sample_fields(data)), run), data


def sample_fields(data: DataRows) -> dict[str, Any]:
    """What a claim is told of rows that are not all in memory."""
    return {
        "X": data.sample,
        "codes": data.sample_codes,
        "numbers": data.sample_numbers,
        "outside": data.outside,
    }


def problem_rows(problem: Problem) -> DataRows:
    """The rows that a problem was posed with."""
    return rows_of_frame(problem.claim.space, problem.claim.X, problem.codes)
