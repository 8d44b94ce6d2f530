"""``likewise report``: the answers about one claim as one HTML file, for people who do not run Likewise."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.cli.certificate_files import moves_older_certificates, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.options import REPORT_ANALYSES, ClaimFlags, SearchFlags
from likewise.errors import DataError, InternalError, LikewiseError
from likewise.spec.disk import JSON_GROWTH, read_file

if TYPE_CHECKING:
    from likewise.cli.claims import LoadedClaim
    from likewise.problem import Problem
    from likewise.report import Analyses
    from likewise.run import Run

VERDICT_SHARE = 0.5  # of the budget
CONFIDENCE, GRID = 0.99, 9  # as `likewise share` and `likewise repair` have them
SECTIONS = {
    "disparity": "how large the difference can be",
    "margins": "how it grows with the tolerances",
    "audit": "the rows of the data",
    "radius": "how far they may differ",
    "share": "how many are affected",
    "groups": "how often each group is selected",
    "regions": "who is treated alike",
    "repair": "what can be done",
}


@moves_older_certificates
def report(**given: Any) -> int:
    """Write the answers about a claim as one HTML file.

    CLAIM and flags are those of `likewise verify`. Half of the budget is for the verdict, the rest for how large the gap can
    be, how it grows with the tolerances, and for the rows of the data where there are any. With --full, it is for how many are
    affected, for how often each group is selected, for how far similar individuals may differ, for who is treated alike and for a repaired model as well.

    \b
    likewise report claim.toml -o report.html
    likewise report claim.toml --full --budget 300 -o report.html
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.answers.answer import code, fact
    from likewise.answers.verdict import verdict_answer
    from likewise.cli.claims import display_names, file_digests, load_claim, start_run
    from likewise.cli.output import emit, emit_answer
    from likewise.cli.steps import repeat_command
    from likewise.report import Analyses, write_report
    from likewise.search.budget import interruptible
    from likewise.verifying.verification import verify_problem

    read = {name: read_document(name, given[name]) for name in REPORT_ANALYSES if given[name] is not None}
    Analyses.of(**read)  # refuses what is no answer before anything is searched
    with start_run(flags, look, progress=not given["quiet"]) as run:
        loaded = load_claim(flags, run, given["property"], given["class_of_interest"])
        with interruptible(run.budget):
            result = verify_problem(loaded.problem, run.part(VERDICT_SHARE))
            if given["certificate"] is not None and result.certificate is not None:
                save_certificate(result.certificate, given["certificate"])
            names = {name: given[name] for name in read}
            questions = _questions(loaded.problem, given["of"])
            if given["full"]:
                questions |= _further_questions(loaded)
            analyses = _run_analyses(questions, run, read, names)
    path = write_report(
        result,
        given["output"],
        analyses,
        command=shlex.join(["likewise", *sys.argv[1:]]),
        export=shlex.join(
            repeat_command(
                "export",
                "report",
                given,
                flags.spec,
                loaded.property,
                {"output": "claim.lines", "whole": True},
            )
        ),
        certificate_file=None if result.certificate is None else given["certificate"],
        display=display_names(flags),
        files=file_digests(flags),
        rows=not given["no_rows"],
    )
    if given["quiet"]:
        emit(str(result.verdict))
    else:
        told = verdict_answer(result, steps=False)
        kept = [one for one in told.facts if one.title in ("claim", "verdict", "warning")]
        kept += [fact("without", f"{name}: {why}") for name, why in analyses.left_out.items()]
        emit_answer(replace(told, blocks=(*kept, fact("report", code(path), whole=True))))
    return Exit[result.verdict]


def _run_analyses(
    questions: dict[str, Callable[[Run], Any]], run: Run, read: dict[str, Any], names: dict[str, str]
) -> Analyses:
    """What is read, and what is found in what is left of the budget; what cannot be asked of this claim is left out with its reason."""
    from likewise.report import Analyses

    found, left_out = dict(read), {}
    waiting = [name for name in questions if name not in read]
    for place, name in enumerate(waiting):
        try:
            found[name] = questions[name](run.part(1 / (len(waiting) - place)))
        except InternalError:
            raise
        except LikewiseError as error:
            left_out[SECTIONS[name]] = error.message
    return Analyses.of(**found, left_out=left_out, files=names)


def _questions(problem: Problem, of: str | None) -> dict[str, Callable[[Run], Any]]:
    """What is asked of the claim beside the verdict, each with its part of the run."""
    from likewise.analysis.audit import audit_problem
    from likewise.analysis.margins import margins_of_problem
    from likewise.analysis.measure import DEFAULT_TOLERANCE, MeasureRequest, measure_problem

    claim = problem.claim
    kind, label = claim.property.kind, claim.property.class_of_interest

    def wanted(scale: Any) -> MeasureRequest:
        return MeasureRequest(of=scale, class_of_interest=label, tolerance=DEFAULT_TOLERANCE)

    measured = wanted(of or ("score" if kind == "decision" else kind))
    asked: dict[str, Callable[[Run], Any]] = {
        "disparity": lambda part: measure_problem(problem, part, measured)
    }
    if claim.similarity.within:
        limited = wanted("margin" if kind == "decision" else kind)  # the scale that the claim sets a limit on
        asked["margins"] = lambda part: margins_of_problem(problem, part, limited)
    if claim.X is not None:
        asked["audit"] = lambda part: audit_problem(problem, part)
    return asked


def _further_questions(loaded: LoadedClaim) -> dict[str, Callable[[Run], Any]]:
    """All else that can be asked of the claim."""
    from likewise.analysis.radius import radius_of_problem
    from likewise.analysis.regions import regions_of_problem
    from likewise.analysis.repair import repair_problem
    from likewise.analysis.repair_request import RepairMethod
    from likewise.analysis.share import ShareRequest, share_of_problem
    from likewise.cli.groups import groups_of_claim
    from likewise.cli.repair import read_labels

    problem, has_rows = loaded.problem, loaded.rows is not None
    counted = ShareRequest(over="uniform", method="auto", confidence=CONFIDENCE, has_rows=has_rows)
    mean = RepairMethod(name="average", weights="uniform", reference=None, grid=GRID)
    asked: dict[str, Callable[[Run], Any]] = {
        "share": lambda part: share_of_problem(problem, part, counted),
        "regions": lambda part: regions_of_problem(problem, part),
        "repair": lambda part: repair_problem(problem, part, mean, read_labels(loaded)),
    }
    if has_rows:
        asked["groups"] = lambda part: groups_of_claim(loaded, part)
    if problem.claim.similarity.within:
        asked["radius"] = lambda part: radius_of_problem(problem, part)
    return asked


def read_document(name: str, path: str) -> Any:
    """The document that a command printed; that it is one is checked where it is taken."""
    try:
        text = read_file(path, growth=JSON_GROWTH)
        return json.loads(text, parse_int=_read_number, parse_float=_read_number, parse_constant=_read_number)
    except OSError as error:
        raise DataError(f"--{name} {path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"--{name} {path}: not JSON: {error}", hint=f"likewise {name} CLAIM --json") from None


def _read_number(text: str) -> float:
    """A number that commands print: no NaN, and none beyond all doubles, with which Python cannot go on."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is too large, or none")
    return number if not text.lstrip("-").isdecimal() else int(text)
