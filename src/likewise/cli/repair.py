"""``likewise repair``: a model that treats similar individuals alike, made of one that does not, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import IN_WORDS, Exit
from likewise.cli.older_files import Kind, moves_older
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
from likewise.errors import SpecError, UnsupportedModel, closest

if TYPE_CHECKING:
    from likewise.analysis.repaired import Repaired
    from likewise.cli.claims import Loaded
    from likewise.spec.space import Space


def _outputs(given: Mapping[str, Any]) -> list[str]:
    """Where the repaired model goes: never over the one that it is made of."""
    if given["output"] is None:
        return []
    from likewise.cli.claims import model_file

    output, original = _output(given["output"]), model_file(ClaimFlags.of(given))
    if original is not None and output.resolve() == Path(original).resolve():
        raise SpecError(f"--output {output}: is the model to be repaired", hint="name another file")
    return [str(output)]


def _is_skops(path: Path) -> bool:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return "schema.json" in archive.namelist()
    except zipfile.BadZipFile:
        return False


MODEL = Kind(option="--output", name="repaired model", recognised=_is_skops)


@click.command(epilog=IN_WORDS)
@claim_options
@PROPERTY
@CLASS
@click.option(
    "--method",
    type=click.Choice(["average", "max", "min", "reference", "shrink", "threshold"]),
    default="average",
    show_default=True,
    help="What is made of the scores.",
)
@click.option(
    "--weights",
    type=click.Choice(["uniform", "observed"]),
    default="uniform",
    show_default=True,
    help="Of the settings in an average: all alike, or as in the data.",
)
@click.option(
    "--reference",
    multiple=True,
    metavar="FEATURE=VALUE",
    help="The setting of --method reference; else the most frequent one. Repeatable.",
)
@click.option(
    "--grid",
    type=click.IntRange(min=1),
    default=9,
    show_default=True,
    help="Values of a continuous feature that count as settings.",
)
@click.option("--output", metavar="FILE", help="Write the repaired model here, as .skops, if it is FAIR.")
@search_options
@output_options
@moves_older(MODEL, _outputs)
def repair(**given: Any) -> int:
    """Make a model that treats similar individuals alike, and prove it.

    SPEC and flags are those of `likewise verify`. The verdict, the certificate and the exit code are about the
    repaired model. With --label, the data tell its accuracy.

    \b
    likewise repair claim.toml --method average --output fair.skops
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    output = None if given["output"] is None else _output(given["output"])
    from likewise.analysis.repairing import repair_problem
    from likewise.analysis.wish import Method
    from likewise.cli.claims import load, running
    from likewise.cli.output import emit, emit_json

    with running(flags, look, progress=not show.quiet) as run:
        loaded = load(flags, run, given["property"], given["class_of_interest"])
        method = Method(
            name=given["method"],
            weights=given["weights"],
            reference=_reference(given["reference"], loaded.space),
            grid=given["grid"],
        )
        repaired = repair_problem(loaded.problem, run, method, _labels(loaded))
    fair = repaired.result.verdict == "FAIR"
    if output is not None and fair:
        _write(repaired.model, output)
    if show.certificate is not None and repaired.result.certificate is not None:
        repaired.result.certificate.save(show.certificate)
    if show.as_json:
        emit_json(repaired.to_dict() | {"output": str(output) if output is not None and fair else None})
    elif show.quiet:
        emit(str(repaired.result.verdict))
    else:
        emit(_text(repaired, flags, show, output))
    return Exit[repaired.result.verdict]


def _output(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != ".skops":
        raise SpecError(
            f"--output {text}: repaired models are written as .skops files", hint="--output fair.skops"
        )
    if not path.parent.is_dir():
        raise SpecError(f"--output {text}: no such folder", hint="name a file in a folder that exists")
    return path


def _write(model: Any, path: Path) -> None:
    try:
        import skops.io
    except ImportError:
        raise UnsupportedModel(
            f"{path}: writing .skops files needs skops, which is not installed",
            hint='pip install "likewise[skops]"',
        ) from None
    try:
        skops.io.dump(model, path)
    except OSError as error:
        raise SpecError(f"--output {path}: cannot be written: {error.strerror or error}") from None


def _labels(loaded: Loaded) -> Any:
    """The column that is predicted, if its values are the model's own labels (or numbers, of a regressor)."""
    if loaded.rows is None or loaded.label is None or loaded.label not in list(loaded.rows.columns):
        return None
    import numpy as np

    values = np.asarray(loaded.rows[loaded.label])
    known = loaded.problem.imported.model.head.labels
    if known is None:
        return values if values.dtype.kind in "biuf" else None
    return values if set(values.tolist()) <= set(known) else None


def _reference(texts: tuple[str, ...], space: Space) -> dict[str, Any] | None:
    """FEATURE=VALUE with the value as the space has it."""
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or name not in space:
            raise SpecError(
                f"--reference {text}: no feature {name!r}{closest(name, space.names)}",
                hint="--reference sex=f",
            )
        levels = getattr(space[name], "levels", None)
        if levels is None:
            found[name] = _number(value, text)
            continue
        matching = [level for level in levels if str(level) == value]
        if not matching:
            raise SpecError(
                f"--reference {text}: {value!r} is no level of {name!r}", hint=space[name].describe()
            )
        found[name] = matching[0]
    return found or None


def _number(value: str, text: str) -> float | int:
    try:
        number = float(value)
    except ValueError:
        raise SpecError(f"--reference {text}: {value!r} is not a number") from None
    return int(number) if number.is_integer() else number


def _text(repaired: Repaired, flags: ClaimFlags, show: OutputFlags, output: Path | None) -> str:
    from likewise.verifying.wording import paragraph, result_text

    lines = [result_text(repaired.result, all_features=show.all_features)]
    lines += paragraph("repaired", repaired.how())
    if repaired.rows and (changed := repaired.changed_in_words()) is not None:
        lines += paragraph("changed", changed)
    if repaired.before is not None and repaired.after is not None:
        lines += paragraph("before", f"{repaired.measure} {repaired.before:.4f}")
        lines += paragraph("after", f"{repaired.measure} {repaired.after:.4f}")
    fair = repaired.result.verdict == "FAIR"
    if output is not None:
        lines += paragraph("model", str(output) if fair else "not written: it is not FAIR", whole_words=True)
    if show.certificate is not None and repaired.result.certificate is not None:
        lines += paragraph(
            "proof", f"{show.certificate} (likewise-check {show.certificate})", whole_words=True
        )
    lines += paragraph("next", _next(flags, output if fair else None, fair=fair), whole_words=True)
    return "\n".join(lines)


def _next(flags: ClaimFlags, output: Path | None, *, fair: bool) -> str:
    claim = flags.spec or "..."
    if not fair:
        return f"likewise repair {claim} --method average (the mean over what may differ)"
    if output is None:
        return f"likewise repair {claim} --output fair.skops (keep the model)"
    return f"likewise verify {claim} --model {output} (verify it again)"
