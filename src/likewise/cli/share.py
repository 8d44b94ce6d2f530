"""``likewise share``: how many individuals have a differently treated counterpart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import Exit
from likewise.cli.options import (
    CLASS,
    PROPERTY,
    ClaimFlags,
    SearchFlags,
    claim_options,
    debug_option,
    json_option,
    quiet_option,
    search_options,
)

if TYPE_CHECKING:
    from likewise.analysis.share_result import Share
    from likewise.cli.claims import Loaded


@click.command(
    epilog="Exit codes: 0 exact, or as narrow as aimed at, 2 usage or input error, 3 the budget ended first, "
    "101 internal error."
)
@claim_options
@PROPERTY
@CLASS
@click.option(
    "--over",
    type=click.Choice(["uniform", "marginals", "data"]),
    default="uniform",
    show_default=True,
    help="All individuals alike, distributed as the data's columns, or the data's rows.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "certified", "sampled"]),
    default="auto",
    show_default=True,
    help="Look at everybody, prove a bracket by cells, or draw a sample.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.99,
    show_default=True,
    help="Of a sampled interval.",
)
@search_options
@json_option
@quiet_option
@debug_option
def share(**given: Any) -> int:
    """How many individuals have a differently treated counterpart?

    SPEC and flags are those of `likewise verify`. The answer is exact where everybody can be looked at; otherwise it is a proved bracket, or
    an interval from a sample in which every individual is judged exactly. It always says which.

    \b
    likewise share claim.toml
    likewise share claim.toml --over data
    likewise share claim.toml --over marginals --method sampled --confidence 0.999
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.sharing import WantedShare, share_of_problem
    from likewise.cli.claims import load, running
    from likewise.cli.output import emit, emit_json
    from likewise.errors import SpecError

    with running(flags, look, progress=not given["quiet"]) as run:
        loaded = load(flags, run, given["property"], given["class_of_interest"])
        if loaded.rows is None and given["over"] != "uniform":
            raise SpecError(
                f"--over {given['over']} needs data", hint="--data rows.csv, or [data] in the spec file"
            )
        wanted = WantedShare(
            over=loaded.rows if given["over"] == "data" else given["over"],
            method=given["method"],
            confidence=given["confidence"],
            has_rows=loaded.rows is not None,
        )
        found = share_of_problem(loaded.problem, run, wanted)
    if given["as_json"]:
        emit_json(found.to_dict())
    elif given["quiet"]:
        emit(f"{found.lower!r} {found.upper!r}")
    else:
        emit(_text(found, loaded, flags))
    return Exit.DONE if found.reason is None else Exit.UNKNOWN


def _text(found: Share, loaded: Loaded, flags: ClaimFlags) -> str:
    from likewise.verifying.wording import (
        claim_in_words,
        paragraph,
        reading_lines,
        rounding_lines,
        rows_lines,
    )

    lines = paragraph("claim", claim_in_words(loaded.space, loaded.similarity, loaded.property))
    lines += paragraph("space", loaded.space.describe())
    lines += reading_lines(found.stats)
    lines += paragraph("over", found.over)
    lines += paragraph("share", f"{found.in_words()} have a counterpart who breaks the claim")
    lines += paragraph("basis", _basis(found))
    lines += rows_lines(found.stats)
    lines += rounding_lines(found.stats)
    if found.reason is not None:
        lines += paragraph("reason", found.reason)
    following = (
        "likewise audit {} (who, in the data)" if loaded.rows is not None else "likewise verify {} (a pair)"
    )
    lines += paragraph("next", following.format(flags.spec or "..."), whole_words=True)
    return "\n".join(lines)


def _basis(found: Share) -> str:
    seconds = found.stats["seconds"]
    unproved = "" if found.proved else "; that some have none is floating point, not proved"
    if found.method == "exact":
        return f"exact: {found.stats['individuals']:,} individuals looked at in {seconds:.2f} s{unproved}"
    if found.method == "certified":
        if "independent" in found.stats:
            return "proved: the model does not depend on what may differ"
        if "cells" not in found.stats:
            return f"proved by the distribution of the sum that the score is, in {seconds:.2f} s"
        checked = found.stats["certificates"]
        accepted = f", with {checked:,} certificates that the checker accepted," if checked else ""
        return f"proved by {found.stats['cells']:,} cells{accepted} in {seconds:.2f} s"
    return (
        f"sampled: {found.stats['samples']:,} individuals, each judged exactly, in {seconds:.2f} s; the interval holds "
        f"the share with confidence {found.confidence:g} (Clopper-Pearson){unproved}"
    )
