"""``likewise repair``: a model that treats similar individuals alike, made of one that does not, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.certificate_files import moves_older_certificates, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.older_files import OutputKind, moves_older
from likewise.cli.options import ClaimFlags, OutputFlags, SearchFlags
from likewise.errors import SpecError, UnsupportedModel, suggest_name
from likewise.spec.disk import write_file

if TYPE_CHECKING:
    from likewise.cli.claims import LoadedClaim
    from likewise.spec.space import Space


def _output_paths(given: Mapping[str, Any]) -> list[str]:
    """Where the repaired model goes: never over the one that it is made of."""
    if given["output"] is None:
        return []
    from likewise.cli.claims import model_file

    output, original = _output_path(given["output"]), model_file(ClaimFlags.of(given))
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


MODEL_KIND = OutputKind(option="--output", name="repaired model", recognised=_is_skops)


@moves_older_certificates
@moves_older(MODEL_KIND, _output_paths)
def repair(**given: Any) -> int:
    """Make a model that treats similar individuals alike, and prove it.

    CLAIM and flags are those of `likewise verify`. The verdict, the certificate and the exit code are about the
    repaired model. With --label, the data tell its accuracy.

    \b
    likewise repair claim.toml --method average --output fair.skops
    """
    flags, look, show = ClaimFlags.of(given), SearchFlags.of(given), OutputFlags.of(given)
    output = None if given["output"] is None else _output_path(given["output"])
    from likewise.analysis.repair import repair_problem
    from likewise.analysis.repair_request import RepairMethod
    from likewise.answers import json
    from likewise.answers.repair import repair_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience

    with start_run(flags, look, progress=not show.quiet) as run:
        loaded = load_claim(flags, run, given["property"], given["class_of_interest"])
        method = RepairMethod(
            name=given["method"],
            weights=given["weights"],
            reference=_parse_reference(given["reference"], loaded.space),
            grid=given["grid"],
        )
        repaired = repair_problem(loaded.problem, run, method, read_labels(loaded))
    if output is not None and repaired.result.verdict == "FAIR":
        proof = repaired.result.certificate
        _write(repaired.model, output, private=proof is None or proof.holds_rows)
    if show.certificate is not None and repaired.result.certificate is not None:
        save_certificate(repaired.result.certificate, show.certificate)
    telling = command_audience("repair", given, loaded, spec=flags.spec, proof=show.certificate)
    answer = repair_answer(repaired, telling, claim=True, output=given["output"])
    if show.as_json:
        emit_json({"output": None, **json.render(answer)})
    elif show.quiet:
        emit(str(repaired.result.verdict))
    else:
        emit_answer(answer)
    return Exit[repaired.result.verdict]


def _output_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != ".skops":
        raise SpecError(
            f"--output {text}: repaired models are written as .skops files", hint="--output fair.skops"
        )
    if not path.parent.is_dir():
        raise SpecError(f"--output {text}: no such folder", hint="name a file in a folder that exists")
    return path


def _write(model: Any, path: Path, *, private: bool) -> None:
    try:
        import skops.io
    except ImportError:
        raise UnsupportedModel(
            f"{path}: writing .skops files needs skops, which is not installed",
            hint='pip install "likewise[skops]"',
        ) from None
    try:
        write_file(path, skops.io.dumps(model), private=private)
    except OSError as error:
        raise SpecError(f"--output {path}: cannot be written: {error.strerror or error}") from None


def read_labels(loaded: LoadedClaim) -> Any:
    """The column that is predicted, if its values are the model's own labels (or numbers, of a regressor)."""
    if loaded.rows is None or loaded.label is None or loaded.label not in list(loaded.rows.columns):
        return None
    import numpy as np

    values = np.asarray(loaded.rows[loaded.label])
    known = loaded.problem.imported.model.head.labels
    if known is None:
        return values if values.dtype.kind in "biuf" else None
    return values if set(values.tolist()) <= set(known) else None


def _parse_reference(texts: tuple[str, ...], space: Space) -> dict[str, Any] | None:
    """FEATURE=VALUE with the value as the space has it."""
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or name not in space:
            raise SpecError(
                f"--reference {text}: no feature {name!r}{suggest_name(name, space.names)}",
                hint="--reference sex=f",
            )
        levels = getattr(space[name], "levels", None)
        if levels is None:
            found[name] = _parse_number(value, text)
            continue
        matching = [level for level in levels if str(level) == value]
        if not matching:
            raise SpecError(
                f"--reference {text}: {value!r} is no level of {name!r}", hint=space[name].describe()
            )
        found[name] = matching[0]
    return found or None


def _parse_number(value: str, text: str) -> float | int:
    try:
        number = float(value)
    except ValueError:
        raise SpecError(f"--reference {text}: {value!r} is not a number") from None
    return int(number) if number.is_integer() else number
