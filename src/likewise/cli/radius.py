"""``likewise radius``: how far may similar individuals differ until the model treats them differently?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import Exit
from likewise.cli.options import (
    PROPERTY,
    ClaimFlags,
    OutputFlags,
    SearchFlags,
    claim_options,
    output_options,
    search_options,
)

if TYPE_CHECKING:
    from likewise.analysis.widening import Radius
    from likewise.cli.claims import Loaded


@click.command(
    epilog="Exit codes: 0 both ends meet, 2 usage or input error, 3 the search ended first, 101 internal error."
)
@claim_options
@PROPERTY
@click.option(
    "--feature",
    metavar="FEATURE",
    help="Look for the tolerance of this feature; without, for a factor on all tolerances.",
)
@search_options
@output_options
def radius(**given: Any) -> int:
    """How far may similar individuals differ until the property breaks?

    SPEC and flags are those of `likewise verify`. The answer is the largest tolerance for which the property
    is proved, and the smallest for which a pair breaks it.

    \b
    likewise radius claim.toml --feature age
    likewise radius claim.toml --property probability:0.1
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    from likewise.analysis.widening import radius_of_problem
    from likewise.cli.claims import load, running
    from likewise.cli.output import emit, emit_json

    with running(flags, look, progress=not show.quiet) as run:
        loaded = load(flags, run, given["property"], alone=given["feature"] is not None)
        found = radius_of_problem(loaded.problem, run, given["feature"])
    if show.certificate is not None and found.certificate is not None:
        found.certificate.save(show.certificate)
    if show.as_json:
        emit_json(found.to_dict())
    elif show.quiet:
        emit(f"{found.proved!r} {found.refuted!r}")
    else:
        emit(_text(found, loaded, show))
    return Exit.DONE if found.reason is None else Exit.UNKNOWN


def _text(found: Radius, loaded: Loaded, show: OutputFlags) -> str:
    from likewise.verifying.wording import (
        Treated,
        number,
        pair_lines,
        pair_of,
        paragraph,
        reading_lines,
        rounding_lines,
        rows_lines,
    )

    what = f"the tolerance of {found.of}" if found.of is not None else "the factor on all tolerances"
    others = loaded.similarity.describe(loaded.space) if loaded.similarity.names else "differ in nothing else"
    lines = paragraph("radius", f"{what} up to which individuals who {others} {loaded.property.describe()}")
    lines += paragraph("space", loaded.space.describe())
    lines += reading_lines(found.stats)
    if found.proved is None:
        proved = "at no level"
    elif found.proved >= found.largest:
        proved = f"at every level ({number(found.largest)} reaches everybody)"
    elif found.proved == 0 and found.certificate is None:
        proved = "0: only for individuals who are alike"
    else:
        proved = f"up to {number(found.proved)}"
    note = found.rounding_note()
    lines += paragraph("proved", proved if note is None else f"{proved}; {note}")
    lines += rounding_lines(found.stats)
    if found.refuted is not None and found.result is not None:
        lines += paragraph("refuted", f"at {number(found.refuted)}, by this pair")
        treated = Treated(
            decisions=found.result.decisions,
            scores=found.result.scores,
            probabilities=found.result.probabilities,
            upper_label=found.result.upper_label,
        )
        pair = pair_of(found.pair, loaded.space.names)
        lines += pair_lines(pair, treated, all_features=show.all_features)
    lines += rows_lines(found.stats)
    if found.reason is not None:
        lines += paragraph("reason", found.reason)
    if show.certificate is not None and found.certificate is not None:
        lines += paragraph(
            "proof", f"{show.certificate} (likewise-check {show.certificate})", whole_words=True
        )
    return "\n".join(lines)
