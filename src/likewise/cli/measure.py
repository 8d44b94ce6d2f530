"""``likewise measure``: how large can the gap of a similar pair be? A bracket, and the pair that attains it."""

from __future__ import annotations

from typing import Any

from likewise.cli.certificate_files import moves_older_certificates, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, OutputFlags, SearchFlags


@moves_older_certificates
def measure(**given: Any) -> int:
    """How large can the gap of a similar pair be?

    CLAIM and flags are those of `likewise verify`. The answer is a bracket around the largest gap over all
    similar pairs, with a pair that attains its lower end.
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    from likewise.analysis.measure import MeasureRequest, measure_problem
    from likewise.answers import json
    from likewise.answers.disparity import disparity_answer
    from likewise.cli.claims import load_claim, named_pairs, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience

    kept = {name: given[name] for name in ("checkpoint", "resume")}
    with start_run(flags, look, progress=not show.quiet, **kept) as run:
        steep = given["of"] == "lipschitz"
        named = named_pairs(given["property"])
        loaded = load_claim(flags, run, named, given["class_of_interest"], steepness=steep)
        label = loaded.property.class_of_interest
        wanted = MeasureRequest(of=given["of"], class_of_interest=label, tolerance=given["tolerance"])
        disparity = measure_problem(loaded.problem, run, wanted, certify=show.certificate is not None)
    if show.certificate is not None and disparity.certificate is not None:
        save_certificate(disparity.certificate, show.certificate)
    telling = command_audience("measure", given, loaded, spec=flags.spec, proof=show.certificate)
    answer = disparity_answer(disparity, loaded, telling, label=label)
    if show.as_json:
        about = {"similarity": loaded.similarity.to_dict(), "model": loaded.problem.imported.model.family}
        emit_json({**json.render(answer), **about, "class_of_interest": label})
    elif show.quiet:
        emit(f"{disparity.lower!r} {disparity.upper!r}")
    else:
        emit_answer(answer)
    # Rounded outward, a bracket that the search has closed may be an ulp wider than the tolerance.
    done = disparity.reason is None or disparity.upper - disparity.lower <= given["tolerance"]
    return Exit.DONE if done else Exit.UNKNOWN
