"""``likewise measure``: how large can the gap of a similar pair be? A bracket, and the pair that attains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import Exit
from likewise.cli.options import (
    CLASS,
    ClaimFlags,
    OutputFlags,
    SearchFlags,
    claim_options,
    output_options,
    search_options,
)

if TYPE_CHECKING:
    from likewise.analysis.measuring import Disparity
    from likewise.cli.claims import Loaded
    from likewise.model.gauge import Scale
    from likewise.spec.properties import Label
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space


@click.command(
    epilog="Exit codes: 0 bracket within the tolerance, 2 usage or input error, 3 the search ended first, "
    "101 internal error."
)
@claim_options
@click.option(
    "--of",
    type=click.Choice(["score", "probability", "margin"]),
    default="score",
    show_default=True,
    help="Gap of scores or of probabilities, or margin of a flipped decision.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1e-6,
    show_default=True,
    metavar="T",
    help="Search until the bracket is this narrow.",
)
@CLASS
@search_options
@output_options
def measure(**given: Any) -> int:
    """How large can the gap of a similar pair be?

    SPEC and flags are those of `likewise verify`. The answer is a bracket around the largest gap over all
    similar pairs, with a pair that attains its lower end.
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    from likewise.analysis.measuring import Wanted, measure_problem
    from likewise.cli.claims import load, running
    from likewise.cli.output import emit, emit_json

    with running(flags, look, progress=not show.quiet) as run:
        loaded = load(flags, run, class_text=given["class_of_interest"])
        label = loaded.property.class_of_interest
        wanted = Wanted(of=given["of"], class_of_interest=label, tolerance=given["tolerance"])
        disparity = measure_problem(loaded.problem, run, wanted, certify=show.certificate is not None)
    if show.certificate is not None and disparity.certificate is not None:
        disparity.certificate.save(show.certificate)
    if show.as_json:
        emit_json(_document(disparity, loaded))
    elif show.quiet:
        emit(f"{disparity.lower!r} {disparity.upper!r}")
    else:
        emit(_text(disparity, loaded, flags, show, look))
    # Rounded outward, a bracket that the search has closed may be an ulp wider than the tolerance.
    done = disparity.reason is None or disparity.upper - disparity.lower <= given["tolerance"]
    return Exit.DONE if done else Exit.UNKNOWN


def _document(disparity: Disparity, loaded: Loaded) -> dict[str, Any]:
    return {
        **disparity.to_dict(),
        "similarity": loaded.similarity.to_dict(),
        "model": loaded.problem.imported.model.family,
        "class_of_interest": loaded.property.class_of_interest,
    }


def _text(
    disparity: Disparity, loaded: Loaded, flags: ClaimFlags, show: OutputFlags, look: SearchFlags
) -> str:
    from likewise.verifying.wording import pair_lines, pair_of, paragraph, rows_lines, treated_by

    lines = bracket_lines(
        disparity, loaded.space, loaded.similarity, class_of_interest=loaded.property.class_of_interest
    )
    lines += pair_lines(
        pair_of(disparity.pair, loaded.space.names),
        treated_by(disparity),
        all_features=show.all_features,
    )
    lines += rows_lines(disparity.stats)
    if show.certificate is not None and disparity.certificate is not None:
        lines += paragraph(
            "proof", f"{show.certificate} (likewise-check {show.certificate})", whole_words=True
        )
    lines += paragraph("next", _next(disparity, flags, look), whole_words=True)
    return "\n".join(lines)


_MEASURED = {
    "score": "the largest gap of scores{of_class} between individuals who",
    "probability": "the largest gap of probabilities{of_class} between individuals who",
    "margin": "the largest margin of different decisions for individuals who",
}
_MEASURED_OF_ONE = (
    "the largest margin by which one gets the class {label} and the other does not, for individuals who"
)


def bracket_lines(
    disparity: Disparity, space: Space, similarity: Similarity, *, class_of_interest: Label | None = None
) -> list[str]:
    """What was measured, and between which numbers it lies."""
    from likewise.verifying.wording import number, paragraph, reading_lines, rounding_lines

    seconds = disparity.stats.get("seconds", 0.0)
    lines = paragraph("measure", f"{_measured(disparity.of, class_of_interest)} {similarity.describe(space)}")
    lines += paragraph("space", space.describe())
    low, high = number(disparity.lower), number(disparity.upper)
    if low == high and disparity.upper > disparity.lower:
        high = f"{low} + {disparity.upper - disparity.lower:.1g}"
    how = "proved in {:.2f} s, exact" if disparity.proved else "found in {:.2f} s, upper end not proved"
    lines += paragraph("between", f"{low} and {high}   {how.format(seconds)}")
    if not disparity.proved:
        lines += paragraph("", "the upper end is floating point: --certificate FILE proves it")
    if disparity.program_lower is not None:
        lines += paragraph("rounding", disparity.program_in_words())
    lines += rounding_lines(disparity.stats)
    lines += reading_lines(disparity.stats)
    if disparity.reason is not None:
        lines += paragraph("reason", disparity.reason)
    if disparity.of == "margin" and disparity.upper < 0:
        lines += paragraph("", "below 0: no similar pair gets different decisions")
    return lines


def _measured(of: Scale, label: Label | None) -> str:
    if label is not None and of == "margin":
        return _MEASURED_OF_ONE.format(label=repr(label))
    return _MEASURED[of].format(of_class="" if label is None else f" of the class {label!r}")


def _next(disparity: Disparity, flags: ClaimFlags, look: SearchFlags) -> str:
    from likewise.analysis.measuring import NEEDS_NO_CERTIFICATE

    claim = flags.spec or "..."
    if disparity.reason not in (None, NEEDS_NO_CERTIFICATE):
        return f"likewise measure {claim} --budget {10 * look.budget:g} (search longer)"
    if disparity.of == "margin":
        return f"likewise verify {claim} (is there a pair at all)"
    return f"likewise verify {claim} --property {disparity.of}:LIMIT (prove a limit of your own)"
