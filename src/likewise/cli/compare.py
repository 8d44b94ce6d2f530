"""``likewise compare``: two models on the same claim. Did fairness get worse?"""

from __future__ import annotations

from typing import Any

from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags


def compare(**given: Any) -> int:
    """Did fairness get worse from one model to another?

    CLAIM and flags are those of `likewise verify` and name the old model; --with names the new one.

    \b
    likewise compare claim.toml --with new.skops
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.compare import candidate_scales, compare_problems
    from likewise.answers import json
    from likewise.answers.comparison import comparison_answer
    from likewise.cli.claims import load_claim, load_other, start_run
    from likewise.cli.output import emit_answer, emit_json
    from likewise.cli.steps import command_audience

    with start_run(flags, look, progress=True) as run:
        loaded = load_claim(flags, run, given["property"])
        other = load_other(given["other"], loaded.problem, flags, run)
        scales = candidate_scales(given["of"], given["tolerance"])
        found = compare_problems((loaded.problem, other), run, scales)
    telling = command_audience("compare", given, loaded, spec=flags.spec)
    answer = comparison_answer(found, loaded, telling, new=given["other"])
    if given["as_json"]:
        emit_json(json.render(answer))
    else:
        emit_answer(answer)
    ends = {"worse": Exit.BIASED, "undecided": Exit.UNKNOWN}
    return ends.get(found.change, Exit.DONE)
