"""``likewise card``: a section in Markdown for the model's card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.cli.certificate_files import moves_older_certificates, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags

if TYPE_CHECKING:
    from likewise.analysis.groups_result import Groups
    from likewise.analysis.measure import Disparity
    from likewise.cli.claims import LoadedClaim
    from likewise.problem import Problem
    from likewise.run import Run

HALF = 0.5  # of the budget for the verdict, the rest for the disparity


@moves_older_certificates
def card(**given: Any) -> int:
    """Write a section for the model's card, in Markdown.

    CLAIM and flags are those of `likewise verify`. The section tells the verdict with the pair, how large the
    gap can be, the digests, and how to check it again.

    \b
    likewise card claim.toml --certificate claim.likewise -o fairness.md
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    share = None if given["share"] is None else _read_share(given["share"])
    from likewise.cli.claims import file_digests, load_claim, start_run
    from likewise.cli.output import emit
    from likewise.search.budget import interruptible
    from likewise.verifying.verification import verify_problem

    with start_run(flags, look, progress=True) as run:
        loaded = load_claim(flags, run, given["property"], given["class_of_interest"])
        with interruptible(run.budget):
            result = verify_problem(loaded.problem, run.part(HALF))
            disparity = _measure_disparity(loaded.problem, run, given["of"])
            groups = _groups_of_rows(loaded, run)
    if given["certificate"] is not None and result.certificate is not None:
        save_certificate(result.certificate, given["certificate"])
    text = result.model_card(
        disparity=disparity,
        share=share,
        groups=groups,
        certificate_path=given["certificate"],
        files=file_digests(flags),
        command=_verify_command(given, loaded),
    )
    if given["output"] is None:
        emit(text.rstrip("\n"))
    else:
        _write(given["output"], text)
    return Exit.DONE


def _verify_command(given: dict[str, Any], loaded: LoadedClaim) -> str:
    """The command that verifies the same claim and writes a certificate."""
    import shlex

    from likewise.answers.card import CERTIFICATE_NAME
    from likewise.cli.steps import repeat_command

    new = {"certificate": CERTIFICATE_NAME}
    return shlex.join(repeat_command("verify", "card", given, given["spec"], loaded.property, new))


def _measure_disparity(problem: Problem, run: Run, of: str | None) -> Disparity:
    """The bracket on the scale asked for, or on the first that the model has."""
    from likewise.analysis.compare import SCALES
    from likewise.analysis.measure import DEFAULT_TOLERANCE, MeasureRequest, measure_problem
    from likewise.errors import SpecError

    scales: tuple[Any, ...] = SCALES if of is None else (of,)
    for last, scale in enumerate(scales, start=1):
        try:
            label = problem.claim.property.class_of_interest
            wanted = MeasureRequest(of=scale, class_of_interest=label, tolerance=DEFAULT_TOLERANCE)
            return measure_problem(problem, run.part(1), wanted)
        except SpecError:
            if last == len(scales):
                raise
    raise SpecError("no scale to measure on")


def _groups_of_rows(loaded: LoadedClaim, run: Run) -> Groups | None:
    """Where there are rows, decisions, and a feature that tells groups."""
    from likewise.cli.groups import groups_of_claim
    from likewise.errors import SpecError, UnsupportedModel

    if loaded.rows is None:
        return None
    try:
        return groups_of_claim(loaded, run)
    except (SpecError, UnsupportedModel):
        return None


def _read_share(path: str) -> dict[str, Any]:
    """A share as it was printed in JSON."""
    from likewise.cli.report import read_document
    from likewise.errors import SpecError

    found = read_document("share", path)
    ends = [found.get(end) for end in ("lower", "upper")] if isinstance(found, dict) else []
    numbers = [end for end in ends if isinstance(end, (int, float)) and not isinstance(end, bool)]
    if (
        len(numbers) != 2
        or not 0 <= numbers[0] <= numbers[1] <= 1
        or not isinstance(found.get("method"), str)
    ):
        raise SpecError(
            f"--share {path}: no share", hint='{"lower": 0.1, "upper": 0.2, "method": "certified", ...}'
        )
    return dict(found)


def _write(path: str, text: str) -> None:
    from likewise.errors import SpecError
    from likewise.spec.disk import write_file

    try:
        write_file(path, text.encode(), private=True)
    except OSError as error:
        raise SpecError(f"--output {path}: cannot be written: {error.strerror or error}") from None
