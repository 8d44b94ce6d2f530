"""The process behind the page: reads one request from stdin, and writes its progress and its answer to stdout, a line of JSON each.

``{"progress": ...}`` while it works, ``{"answer": ...}`` at the end, or ``{"error": ..., "hint": ...}``. Ctrl-C (SIGINT) ends a search with the bounds so far.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from likewise.answers.texts import escape_unprintable
from likewise.cli.hints import translate_hint
from likewise.cli.options import ClaimFlags, SearchFlags
from likewise.cli.ui.choices import choose, show_claim
from likewise.cli.ui.files import Folder, check_files
from likewise.errors import InternalError, LikewiseError
from likewise.spec.disk import memory_limit

if TYPE_CHECKING:
    from likewise.answers.answer import Answer
    from likewise.answers.audience import Audience
    from likewise.progress import Snapshot
    from likewise.spec.claim import WrittenClaim

Tell = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Do what stdin asks for."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # whatever a library prints is no answer
        request = json.loads(sys.stdin.read())

        def tell(message: Mapping[str, Any]) -> None:
            _write_line(out, message)

        try:
            with memory_limit(request["max_memory"] * (1 << 30)):
                tell({"answer": QUESTIONS[request["question"]](request, tell)})
        except InternalError:
            raise
        except LikewiseError as error:
            tell({"error": error.message, "hint": None if error.hint is None else translate_hint(error.hint)})
        except click.ClickException as error:
            tell({"error": error.format_message(), "hint": None})


def _write_line(out: TextIO, message: Mapping[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


# -- the claim --------------------------------------------------------------------------------------------


def read_columns(request: Mapping[str, Any], _tell: Tell) -> dict[str, Any]:
    """The columns of the data, and the one that looks like what is predicted."""
    from likewise.cli.init import find_label

    columns, label = find_label(request)
    return {"columns": columns, "label": label}


def draft(request: Mapping[str, Any], _tell: Tell) -> dict[str, Any]:
    """A claim drafted from data and model, kept in the file `kept`."""
    from likewise.cli.init import draft_claim

    drafted = draft_claim({"free": (), "external_data": False, **request})
    _keep(drafted.claim, request)
    notes = [f"the model was not fitted on {name}" for name in drafted.left_out]
    notes += [f"{name} is the same in every row: give it its real range" for name in drafted.constant]
    return {**show_claim(drafted.claim), "notes": [*notes, *drafted.doubts]}


def open_claim(request: Mapping[str, Any], _tell: Tell) -> dict[str, Any]:
    """A claim file that is there, kept as a draft is; or the files outside of the folder that it names, to be
    asked about before anything is read."""
    from likewise.spec.file import read_spec

    outside = Folder(request["folder"]).outside(request["claim"], request["allowed"])
    if outside:
        return {
            "outside": [
                {"what": what, "file": file, "shown": escape_unprintable(file)}
                for what, file in outside.items()
            ]
        }
    claim = read_spec(request["claim"])
    _keep(claim, request)
    return {**show_claim(claim), "notes": []}


def show_choice(request: Mapping[str, Any], _tell: Tell) -> dict[str, Any]:
    """The claim as it is with the choice."""
    return show_claim(_chosen(request))


def save_claim(request: Mapping[str, Any], _tell: Tell) -> dict[str, Any]:
    """The claim with the choice, written to a file of the user's."""
    from likewise.spec.toml_writer import write_spec

    claim = _chosen(request)
    write_spec(claim, request["output"])
    return {"saved": Path(request["output"]).name}


def _keep(claim: WrittenClaim, request: Mapping[str, Any]) -> None:
    from likewise.spec.toml_writer import write_spec

    write_spec(claim, request["kept"])


def _chosen(request: Mapping[str, Any]) -> WrittenClaim:
    from likewise.spec.file import read_spec

    check_files(Folder(request["folder"]), request["kept"], request["allowed"])
    return choose(read_spec(request["kept"]), request["choice"])


# -- questions --------------------------------------------------------------------------------------------


def verify(request: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Is it fair? Leaves the certificate in the file `certificate`."""
    from likewise.answers.verdict import verdict_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.verifying.verification import verify_problem

    flags = _write_asked(request)
    with start_run(flags, _search_flags(request), progress=_listener(tell)) as run:
        result = verify_problem(load_claim(flags, run).problem, run)
    if result.certificate is not None:
        result.certificate.save(request["certificate"])
    answer = verdict_answer(result, _audience(), claim=False, steps=False)
    return {**_shown(answer), "verdict": str(result.verdict), "certified": result.certificate is not None}


def measure(request: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """How large can the gap be?"""
    from likewise.analysis.measure import DEFAULT_TOLERANCE, MeasureRequest, measure_problem
    from likewise.answers.disparity import disparity_answer
    from likewise.cli.claims import load_claim, start_run

    flags = _write_asked(request)
    with start_run(flags, _search_flags(request), progress=_listener(tell)) as run:
        loaded = load_claim(flags, run)
        label = loaded.property.class_of_interest
        wanted = MeasureRequest(of=request["of"], class_of_interest=label, tolerance=DEFAULT_TOLERANCE)
        disparity = measure_problem(loaded.problem, run, wanted)
    return _shown(disparity_answer(disparity, loaded, _audience(), label=label))


def _write_asked(request: Mapping[str, Any]) -> ClaimFlags:
    """The claim that is asked about, in the file `asked`, from which reports are made as well."""
    from likewise.spec.toml_writer import write_spec

    write_spec(_chosen(request), request["asked"])
    names = ("model", "data", "label", "outside", "encoding", "metric", "metric_radius")
    nothing: dict[str, object] = {**dict.fromkeys(names), "widen": False}
    lists: dict[str, tuple[str, ...]] = dict.fromkeys(("free", "within", "pairs", "along", "where"), ())
    read = {name: request[name] for name in ("allow_pickle", "import_budget")}
    return ClaimFlags.of(
        {"spec": request["asked"], **nothing, **lists, **read, "trust": tuple(request["trust"])}
    )


def _search_flags(request: Mapping[str, Any]) -> SearchFlags:
    return SearchFlags(budget=float(request["budget"]), jobs=None, seed=0)


def _listener(tell: Tell) -> Callable[[Snapshot], None]:
    def listen(snapshot: Snapshot) -> None:
        seen = asdict(snapshot)
        ends = {name: seen[name] for name in ("lower", "upper")}
        known = {name: end if end is not None and math.isfinite(end) else None for name, end in ends.items()}
        tell({"progress": {**seen, **known}})

    return listen


def _audience() -> Audience:
    """A reader who clicks: no command is suggested, and nothing left out."""
    from likewise.answers.audience import Audience, suggest_nothing

    return Audience(speak=suggest_nothing, certify=None, same=None)


def _shown(answer: Answer) -> dict[str, Any]:
    from likewise.answers import html

    return {"title": answer.title, "summary": html.sentence_html(answer.summary), "html": html.render(answer)}


QUESTIONS: dict[str, Callable[[Mapping[str, Any], Tell], dict[str, Any]]] = {
    "columns": read_columns,
    "draft": draft,
    "open": open_claim,
    "show": show_choice,
    "save": save_claim,
    "verify": verify,
    "measure": measure,
}

if __name__ == "__main__":
    main()
