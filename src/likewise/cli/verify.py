"""``likewise verify``: is there a pair of similar individuals that the model treats differently?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.certificate_files import (
    certificate_file,
    checkpoint_file,
    make_folder,
    moves_older_certificates,
    save_certificate,
)
from likewise.cli.options import DEBUG_KEY, ClaimFlags, OutputFlags, SearchFlags

if TYPE_CHECKING:
    from likewise.cli.outcomes import ClaimOutcome


@moves_older_certificates
def verify(**given: Any) -> int:
    """Is there a similar pair that the model treats differently?

    CLAIM is a claim file as drafted by `likewise init`; flags override its entries. Without one, --model,
    --data and --free (or --within) say it all. Several run side by side, --jobs processes in all. Their exit
    code is 1 if any is BIASED, else 3 if any is UNKNOWN; each has the whole budget, --json prints a list,
    --certificate and --checkpoint name folders.

    \b
    likewise verify claim.toml
    likewise verify claims/*.toml --junit fairness.xml --sarif fairness.sarif
    likewise verify --model m.skops --data d.csv --label y --free sex
    """
    each, look, show = ClaimFlags.each(given), SearchFlags.of(given), OutputFlags.of(given)
    _check_files(each, show)
    reports = {kind: given[kind] for kind in ("junit", "sarif") if given[kind] is not None}
    _clear_reports(reports)
    from likewise.cli.outcomes import decide_claims, exit_code, read_claims

    outcomes = read_claims(
        each,
        given["property"],
        given["class_of_interest"],
        budget=look.budget,
        like_data=given["like_data"],
    )
    keep = partial(checkpoint_file, given["checkpoint"], several=len(each) > 1)
    outcomes = decide_claims(outcomes, look, progress=not show.quiet, keep=keep, resume=given["resume"])
    _save_certificates(outcomes, show)
    _write_reports(reports, outcomes)
    error = next((outcome.error for outcome in outcomes if outcome.error is not None), None)
    if error is None or any(outcome.result is not None for outcome in outcomes):
        _print_outcomes(outcomes, show, given)
    _report_crashes(outcomes)
    if error is not None:
        raise error
    return exit_code(outcomes)


# -- files ------------------------------------------------------------------------------------------------


def _check_files(each: Sequence[ClaimFlags], show: OutputFlags) -> None:
    specs = [flags.spec for flags in each]
    twice = next((spec for k, spec in enumerate(specs) if spec in specs[:k]), None)
    if twice is not None:
        raise click.UsageError(f"{twice} is given twice")
    if show.certificate is None:
        return
    names = [certificate_file(show.certificate, spec, several=len(each) > 1) for spec in specs]
    clash = next((k for k, name in enumerate(names) if name in names[:k]), None)
    if clash is not None:
        raise click.UsageError(
            f"--certificate {show.certificate}: {specs[clash]} and {specs[names.index(names[clash])]} would both be "
            f"written to {Path(names[clash]).name}"
        )


def _save_certificates(outcomes: Sequence[ClaimOutcome], show: OutputFlags) -> None:
    if show.certificate is None:
        return
    several = len(outcomes) > 1
    if several:
        make_folder("--certificate", show.certificate)
    for outcome in outcomes:
        if outcome.result is not None and outcome.result.certificate is not None:
            path = certificate_file(show.certificate, outcome.flags.spec, several=several)
            save_certificate(outcome.result.certificate, path)


def _clear_reports(reports: dict[str, str]) -> None:
    """A run that ends early leaves no report of an earlier run behind, which might say FAIR; other files are left alone."""
    from likewise.errors import SpecError

    if len({Path(path).absolute() for path in reports.values()}) < len(reports):
        raise click.UsageError("--junit and --sarif name the same file")
    for kind, path in reports.items():
        try:
            _clear_report(kind, Path(path))
        except OSError as error:
            raise SpecError(f"--{kind} {path}: cannot be written: {error.strerror or error}") from None


def _clear_report(kind: str, path: Path) -> None:
    from likewise.errors import SpecError
    from likewise.spec.disk import open_file

    if not path.absolute().parent.is_dir():
        raise SpecError(f"--{kind} {path}: there is no folder {path.absolute().parent}")
    if not path.exists():
        return
    # Devices are not for replacing either.
    start = b"?"
    if path.is_file():
        with open_file(path) as stream:
            start = stream.read(400)
    if start and _REPORT_MARKS[kind] not in start:
        raise SpecError(f"--{kind} {path}: already exists and is no such report", hint="name another file")
    path.unlink()


_REPORT_MARKS = {"junit": b"<testsuites", "sarif": b"sarif-2.1.0"}  # near the start of each kind of report


def _write_reports(reports: dict[str, str], outcomes: Sequence[ClaimOutcome]) -> None:
    from likewise.cli.junit import junit_document
    from likewise.cli.sarif import sarif_document
    from likewise.errors import SpecError
    from likewise.spec.disk import write_file

    for kind, path in reports.items():
        try:
            content = junit_document(outcomes) if kind == "junit" else sarif_document(outcomes)
            write_file(path, content, private=kind == "junit")  # which quotes pairs
        except OSError as error:
            raise SpecError(f"--{kind} {path}: cannot be written: {error.strerror or error}") from None


# -- the terminal -----------------------------------------------------------------------------------------


def _print_outcomes(outcomes: Sequence[ClaimOutcome], show: OutputFlags, given: Mapping[str, Any]) -> None:
    from likewise.answers import json
    from likewise.answers.answer import words
    from likewise.answers.terminal import answer_lines
    from likewise.cli.outcomes import summary_lines
    from likewise.cli.output import emit, emit_json, emit_lines

    several = len(outcomes) > 1
    if show.quiet and not show.as_json:
        emit("\n".join(f"{one.verdict:<7}  {one.name}" if several else one.verdict for one in outcomes))
        return
    answers = [outcome.answer(given, several=several) for outcome in outcomes]
    if show.as_json:
        documents = [json.render(answer) for answer in answers]
        emit_json(documents if several else documents[0])
        return
    blocks = [answer_lines(answer) for answer in answers]
    if several:
        blocks.append(summary_lines(outcomes))
    emit_lines([line for block in blocks for line in (words(), *block)][1:])


def _report_crashes(outcomes: Sequence[ClaimOutcome]) -> None:
    """What went wrong besides, on stderr."""
    from likewise.cli.output import report_defect

    crashes = [(outcome.name, outcome.crash) for outcome in outcomes if outcome.crash is not None]
    debug = bool(click.get_current_context().meta.get(DEBUG_KEY))
    for name, crash in crashes:
        if debug:
            click.echo(crash.trace, err=True, nl=False)
        click.echo(f"{name}: {crash.why}", err=True)
    if any(crash.defect for _, crash in crashes):
        report_defect(debug=debug)
