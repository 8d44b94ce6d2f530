"""``likewise verify``: is there a pair of similar individuals that the model treats differently?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import IN_WORDS, Exit
from likewise.cli.options import (
    CLASS,
    PROPERTY,
    ClaimFlags,
    OutputFlags,
    SearchFlags,
    claim_options,
    output_options,
    search_options,
)

if TYPE_CHECKING:
    from likewise.verifying.result import Result


@click.command(epilog=IN_WORDS)
@claim_options
@PROPERTY
@CLASS
@search_options
@output_options
def verify(**given: Any) -> int:
    """Is there a similar pair that the model treats differently?

    SPEC is a spec file as drafted by `likewise init`; flags override its entries. Without one, --model,
    --data and --free (or --within) say it all.

    \b
    likewise verify claim.toml
    likewise verify --model m.skops --data d.csv --label y --free sex
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    from likewise.cli.claims import load
    from likewise.cli.output import emit, emit_json
    from likewise.verifying import verify as decide

    loaded = load(flags, given["property"], given["class_of_interest"])
    result = decide(
        loaded.model,
        loaded.space,
        loaded.similarity,
        loaded.property,
        X=loaded.X,
        budget=look.budget,
        n_jobs=look.jobs,
        random_state=look.seed,
        progress=not show.quiet,
    )
    if show.certificate is not None and result.certificate is not None:
        result.certificate.save(show.certificate)
    if show.as_json:
        emit_json(result.to_dict())
    elif show.quiet:
        emit(str(result.verdict))
    else:
        emit(_text(result, flags, show, look))
    return Exit[result.verdict]


def _text(result: Result, flags: ClaimFlags, show: OutputFlags, look: SearchFlags) -> str:
    from likewise.verifying.wording import paragraph, result_text

    lines = [result_text(result, all_features=show.all_features)]
    if show.certificate is not None and result.certificate is not None:
        lines += paragraph(
            "proof", f"{show.certificate} (likewise-check {show.certificate})", whole_words=True
        )
    lines += paragraph("next", _next(result, flags, look), whole_words=True)
    return "\n".join(lines)


def _next(result: Result, flags: ClaimFlags, look: SearchFlags) -> str:
    """What to do now, in commands that exist."""
    claim = flags.spec or "..."
    if result.verdict == "BIASED":
        return f"likewise measure {claim} (how large the gap can be)"
    if result.verdict == "FAIR":
        if result.claimed.property.kind == "decision":
            return f"likewise measure {claim} --of score (how far apart scores can be)"
        return f"likewise measure {claim} --of {result.claimed.property.kind} (how large the gap is)"
    return f"likewise verify {claim} --budget {10 * look.budget:g} (search longer)"
