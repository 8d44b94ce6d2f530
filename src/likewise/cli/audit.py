"""``likewise audit``: for every row of the data, is there a similar individual who is treated differently?"""

from __future__ import annotations

from typing import Any

from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags

MOST_LISTED = 100_000  # rows of the data, in JSON: files have all


def audit(**given: Any) -> int:
    """Who in the data has a differently treated counterpart?

    CLAIM and flags are those of `likewise verify`. For every row of the data: is there a similar individual, in the data or not, who is
    treated differently, who, and by how much? The worst-treated rows come first.

    \b
    likewise audit claim.toml --output rows.csv
    likewise audit claim.toml --by sex --property probability:0.1
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.audit import audit_problem
    from likewise.analysis.audit_frames import frame_records
    from likewise.answers import json
    from likewise.answers.audit import audit_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience
    from likewise.errors import SpecError

    kept = {"checkpoint": given["checkpoint"], "resume": given["resume"]}
    with start_run(flags, look, progress=not given["quiet"], **kept) as run:
        loaded = load_claim(flags, run, given["property"], given["class_of_interest"], streamed=True)
        if loaded.rows is None:
            raise SpecError(
                "audit needs rows to look at", hint="--data rows.csv, or [data] in the claim file"
            )
        found = audit_problem(loaded.problem, run, loaded.data)
    column, output = given["by"], given["output"]
    groups = None if column is None else (column, frame_records(found.by(column)))
    if output is not None:
        found.save(output, formulas=given["keep_formulas"])
    if given["quiet"] and not given["as_json"]:
        emit(repr(found.share))
        return Exit.UNKNOWN if found.undecided else Exit.DONE
    shown = found.document(MOST_LISTED) if given["as_json"] else found
    telling = command_audience("audit", given, loaded, spec=flags.spec)
    answer = audit_answer(shown, loaded, telling, groups=groups, file=output)
    if given["as_json"]:
        counted = {} if groups is None else {"by": {"column": column, "groups": groups[1]}}
        emit_json(json.render(answer) | counted)
    else:
        emit_answer(answer)
    return Exit.UNKNOWN if found.undecided else Exit.DONE
