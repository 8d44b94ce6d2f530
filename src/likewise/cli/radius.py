"""``likewise radius``: how far may similar individuals differ until the model treats them differently?"""

from __future__ import annotations

from typing import Any

from likewise.cli.certificate_files import moves_older_certificates, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, OutputFlags, SearchFlags


@moves_older_certificates
def radius(**given: Any) -> int:
    """How far may similar individuals differ until the property breaks?

    CLAIM and flags are those of `likewise verify`. The answer is the largest tolerance for which the property
    is proved, and the smallest for which a pair breaks it.

    \b
    likewise radius claim.toml --feature age
    likewise radius claim.toml --property probability:0.1
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    from likewise.analysis.radius import radius_of_problem
    from likewise.answers import json
    from likewise.answers.radius import radius_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience

    with start_run(flags, look, progress=not show.quiet) as run:
        loaded = load_claim(flags, run, given["property"], alone=given["feature"] is not None)
        found = radius_of_problem(loaded.problem, run, given["feature"])
    if show.certificate is not None and found.certificate is not None:
        save_certificate(found.certificate, show.certificate)
    telling = command_audience("radius", given, loaded, spec=flags.spec, proof=show.certificate)
    answer = radius_answer(found, loaded, telling)
    if show.as_json:
        emit_json(json.render(answer))
    elif show.quiet:
        emit(f"{found.proved!r} {found.refuted!r}")
    else:
        emit_answer(answer)
    return Exit.DONE if found.reason is None else Exit.UNKNOWN
