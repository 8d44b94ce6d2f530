"""``likewise export``: the model as certificates hold it, to compare digests with."""

from __future__ import annotations

from typing import Any

from likewise.cli.options import ClaimFlags


def export(output: str, **given: Any) -> None:
    """Write the model's exact parameters, for `likewise-check CERT --model FILE`.

    Whoever holds the model can tell in this way that a certificate is about this very model.
    """
    from likewise.certificate.writer import model_line
    from likewise.cli.claims import load_claim
    from likewise.cli.output import emit
    from likewise.errors import DataError
    from likewise.run import open_run
    from likewise.spec.atomic_write import write_atomically

    flags = ClaimFlags.of(given)
    with open_run(budget=0, import_budget=flags.import_budget) as run:
        imported = load_claim(flags, run).problem.imported
    line = model_line(imported.model)
    try:
        write_atomically(output, line + b"\n")
    except OSError as error:
        raise DataError(f"{output}: cannot be written: {error.strerror or error}") from None
    emit(f"{output}: exact parameters of {imported.model.family}")
