"""Where certificates go; those that are there already are moved out of the way (`older_files`)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.older_files import OutputKind, moves_older
from likewise.errors import SpecError
from likewise.spec.disk import open_file

if TYPE_CHECKING:
    from likewise.certificate.certificate import Certificate

CERTIFICATE_START = b'{"likewise-certificate":'  # of the first line, once it is unpacked
GZIP_WBITS = 31  # for zlib: the largest window, with gzip's header
BOX_FILE = re.compile(r"fair-\d+|biased-\d+-(upper|lower)|near-\d+")


def certificate_file(given: str, spec: str | None, *, several: bool) -> str:
    """Where the certificate of a claim goes: to the file given, or into the folder given."""
    if not several and not Path(given).is_dir():
        return given
    return str(Path(given) / f"{Path(spec or 'claim').stem}.likewise")


def checkpoint_file(given: str | None, spec: str | None, *, several: bool) -> str | None:
    """The same of the checkpoint of a claim; a folder is made for those of several."""
    if given is None or not (several or Path(given).is_dir()):
        return given
    return str(make_folder("--checkpoint", given) / f"{Path(spec or 'claim').stem}.checkpoint")


def save_certificate(certificate: Certificate, path: str | Path) -> None:
    """Write it; says so where it holds rows of the training data."""
    certificate.save(path)
    tell_rows(path, certificate.model_line())


def tell_rows(path: str | Path, model_line: bytes) -> None:
    """Say that a file holds rows of the training data, if it does."""
    from likewise.certificate.writer import holds_rows

    if holds_rows(model_line):
        click.echo(f"note: {path}: holds rows of the training data, of which this model is made", err=True)


def make_folder(option: str, given: str) -> Path:
    """The folder that an option names, made where it does not exist yet."""
    folder = Path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"{option} {given}: {error.strerror or error}") from None
    return folder


def _certificate_paths(given: Mapping[str, Any]) -> list[str]:
    if given["certificate"] is None:
        return []
    specs: Sequence[str | None] = given.get("specs") or (given.get("spec"),)
    return [certificate_file(given["certificate"], spec, several=len(specs) > 1) for spec in specs]


def _box_certificate_paths(given: Mapping[str, Any]) -> list[str]:
    """Those that are in the folder: how many there will be, nobody knows before."""
    if given["certificates"] is None:
        return []
    found = Path(given["certificates"]).glob("*.likewise")
    return sorted(str(path) for path in found if BOX_FILE.fullmatch(path.stem))


def _begins_as_certificate(path: Path) -> bool:
    with open_file(path) as stream:
        start = stream.read(1 << 16)
    try:
        return zlib.decompressobj(GZIP_WBITS).decompress(start, len(CERTIFICATE_START)) == CERTIFICATE_START
    except zlib.error:
        return False


moves_older_certificates = moves_older(
    OutputKind(option="--certificate", name="certificate", recognised=_begins_as_certificate),
    _certificate_paths,
)
moves_older_certificates_of_boxes = moves_older(
    OutputKind(option="--certificates", name="certificate", recognised=_begins_as_certificate),
    _box_certificate_paths,
)
