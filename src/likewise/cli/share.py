"""``likewise share``: how many individuals have a differently treated counterpart?"""

from __future__ import annotations

from typing import Any

from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags


def share(**given: Any) -> int:
    """How many individuals have a differently treated counterpart?

    CLAIM and flags are those of `likewise verify`. The answer is exact where everybody can be looked at; otherwise it is a proved bracket, or
    an interval from a sample in which every individual is judged exactly. It always says which.

    \b
    likewise share claim.toml
    likewise share claim.toml --over data
    likewise share claim.toml --over marginals --method sampled --confidence 0.999
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.share import ShareRequest, share_of_problem
    from likewise.answers import json
    from likewise.answers.share import share_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience
    from likewise.errors import SpecError

    kept = {"checkpoint": given["checkpoint"], "resume": given["resume"]}
    with start_run(flags, look, progress=not given["quiet"], **kept) as run:
        rows = given["over"] == "data"
        loaded = load_claim(flags, run, given["property"], given["class_of_interest"], streamed=rows)
        if loaded.rows is None and given["over"] != "uniform":
            raise SpecError(
                f"--over {given['over']} needs data", hint="--data rows.csv, or [data] in the claim file"
            )
        wanted = ShareRequest(
            over=loaded.rows if rows else given["over"],
            method=given["method"],
            confidence=given["confidence"],
            has_rows=loaded.rows is not None,
        )
        found = share_of_problem(loaded.problem, run, wanted, loaded.data)
    answer = share_answer(found, loaded, command_audience("share", given, loaded, spec=flags.spec))
    if given["as_json"]:
        emit_json(json.render(answer))
    elif given["quiet"]:
        emit(f"{found.lower!r} {found.upper!r}")
    else:
        emit_answer(answer)
    return Exit.DONE if found.reason is None else Exit.UNKNOWN
