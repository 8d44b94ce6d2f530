"""``likewise compare``: two models on the same claim. Did fairness get worse?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import Exit
from likewise.cli.options import (
    PROPERTY,
    ClaimFlags,
    SearchFlags,
    claim_options,
    debug_option,
    json_option,
    search_options,
)

if TYPE_CHECKING:
    from likewise.analysis.comparing import Comparison
    from likewise.cli.claims import Loaded

LARGEST = {
    "score": "largest score gap",
    "probability": "largest probability gap",
    "margin": "largest margin",
}


@click.command(
    epilog="Exit codes: 0 the new model is fairer or as fair, 1 less fair, 2 usage or input error, "
    "3 not told apart, 101 internal error."
)
@claim_options
@PROPERTY
@click.option("--with", "other", metavar="FILE", required=True, help="The new model.")
@click.option(
    "--of",
    type=click.Choice(["score", "probability", "margin"]),
    help="The gap to compare; probabilities where both models have them.",
)
@click.option(
    "--tolerance", type=float, default=1e-3, show_default=True, metavar="T", help="How closely to compare."
)
@search_options
@json_option
@debug_option
def compare(**given: Any) -> int:
    """Did fairness get worse from one model to another?

    SPEC and flags are those of `likewise verify` and name the old model; --with names the new one.

    \b
    likewise compare claim.toml --with new.skops
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.comparing import compare_problems, scales_of
    from likewise.cli.claims import load, load_other, running
    from likewise.cli.output import emit, emit_json

    with running(flags, look, progress=True) as run:
        loaded = load(flags, run, given["property"])
        other = load_other(given["other"], loaded.problem, flags, run)
        scales = scales_of(given["of"], given["tolerance"])
        found = compare_problems((loaded.problem, other), run, scales)
    if given["as_json"]:
        emit_json(found.to_dict())
    else:
        emit(_text(found, loaded))
    ends = {"worse": Exit.BIASED, "undecided": Exit.UNKNOWN}
    return ends.get(found.change, Exit.DONE)


def _text(found: Comparison, loaded: Loaded) -> str:
    from likewise.verifying.wording import claim_in_words, number, paragraph, reading_lines, rows_in_words

    lines = paragraph("claim", claim_in_words(loaded.space, loaded.similarity, loaded.property))
    lines += paragraph("space", loaded.space.describe())
    lines += reading_lines(found.results[1].stats)
    for name, result, disparity in zip(found.names, found.results, found.disparities, strict=True):
        bracket = f"{LARGEST[found.of]} between {number(disparity.lower)} and {number(disparity.upper)}"
        bracket += "" if disparity.proved else " (upper end not proved)"
        lines += paragraph(name, f"{result.verdict!s:<8} {bracket}")
        if (rows := rows_in_words(result.stats)) is not None:
            lines += paragraph("", rows)
        note = disparity.rounding_note()
        lines += [] if note is None else paragraph("", note)
    in_words = {
        "better": "better: the new model is fairer",
        "worse": "worse: the new model is less fair",
        "same": "none: the two are told apart by nothing",
        "undecided": "not decided: --budget SECONDS searches longer",
    }
    lines += paragraph("change", in_words[found.change])
    if found.change == "undecided":
        reasons = dict.fromkeys(result.reason for result in found.results if result.reason is not None)
        lines += [line for reason in reasons for line in paragraph("reason", reason)]
    return "\n".join(lines)
