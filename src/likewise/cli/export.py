"""``likewise export``: the model, or the whole claim, as certificates hold it, to compare digests with."""

from __future__ import annotations

from typing import Any

from likewise.cli.options import ClaimFlags


def export(output: str, whole: bool, **given: Any) -> None:
    """Write the model's exact parameters, for `likewise-check CERT --model FILE`, or the --whole claim, for `--claim FILE`.

    Whoever holds the model can tell in this way that a certificate is about this very model, space, similarity and property.
    """
    from likewise.certificate.writer import holds_rows, model_line
    from likewise.cli.certificate_files import tell_rows
    from likewise.cli.claims import load_claim
    from likewise.cli.output import emit
    from likewise.errors import DataError
    from likewise.run import open_run
    from likewise.spec.disk import write_file
    from likewise.verifying.certification import problem_lines

    flags = ClaimFlags.of(given)
    with open_run(budget=flags.import_budget, import_budget=flags.import_budget) as run:
        problem = load_claim(flags, run, given["property"], given["class_of_interest"]).problem
    imported = problem.imported
    lines = problem_lines(problem) if whole else [model_line(imported.model, imported.space)]
    try:
        write_file(output, b"".join(line + b"\n" for line in lines), private=holds_rows(lines[-1]))
    except OSError as error:
        raise DataError(f"{output}: cannot be written: {error.strerror or error}") from None
    what = "space, similarity, property and exact parameters" if whole else "exact parameters"
    tell_rows(output, lines[-1])
    emit(f"{output}: {what} of {imported.model.family}")
