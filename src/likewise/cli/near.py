"""``likewise near``: is the claim true of everybody who is not far from a row of the data?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.certificate_files import make_folder, moves_older_certificates_of_boxes, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags
from likewise.errors import SpecError

if TYPE_CHECKING:
    from likewise.analysis.near import Near


@moves_older_certificates_of_boxes
def near(**given: Any) -> int:
    """Is the claim true of everybody who is not far from a row of the data?

    CLAIM and flags are those of `likewise verify`; the rows are those of the data. At a distance of 0.05 numbers and ordered levels are within a twentieth of their ranges of those of a
    row, and other levels are the same. Without --distance, the answer is the largest one at which the claim is proved, and one at which a pair breaks it.

    \b
    likewise near claim.toml
    likewise near claim.toml --distance 0.05
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.near import near_of_problem
    from likewise.answers import json
    from likewise.answers.near import near_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience
    from likewise.spec.neighbourhood import check_distance

    distance = None if given["distance"] is None else check_distance(given["distance"])
    with start_run(flags, look, progress=not given["quiet"]) as run:
        loaded = load_claim(flags, run, given["property"])
        if loaded.rows is None:
            raise SpecError(
                "what is near the data needs the data", hint="--data rows.csv, or [data] in the claim file"
            )
        found = near_of_problem(loaded.problem, run, distance)
    if given["certificates"] is not None:
        _save(found, make_folder("--certificates", given["certificates"]))
    answer = near_answer(found, loaded, command_audience("near", given, loaded, spec=flags.spec))
    if given["as_json"]:
        emit_json(json.render(answer))
    elif given["quiet"]:
        emit(found.verdict or f"{found.proved!r} {found.refuted!r}")
    else:
        emit_answer(answer)
    if found.verdict == "BIASED":
        return Exit.BIASED
    return Exit.DONE if found.reason is None else Exit.UNKNOWN


def _save(found: Near, folder: Path) -> None:
    """One file a box, in the order in which they are listed."""
    for number, certificate in enumerate(found.certificates, start=1):
        save_certificate(certificate, folder / f"near-{number}.likewise")
