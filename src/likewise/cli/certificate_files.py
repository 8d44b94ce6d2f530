"""Where certificates go, and what becomes of those that are there already.

A run that ends without a certificate (UNKNOWN, an error, Ctrl-C) must not leave one behind that says otherwise: before anything else
happens, an older certificate is moved to NAME.old, and what has no successor in the end is told on stderr. Proofs may have taken
hours, so they are moved and not removed. A file that is no certificate is never overwritten.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

START = b'{"likewise-certificate":'  # of the first line, once it is unpacked
GZIP = 31  # for zlib: the largest window, with gzip's header


def certificate_file(given: str, spec: str | None, *, several: bool) -> str:
    """Where the certificate of a claim goes: to the file given, or into the folder given."""
    if not several and not Path(given).is_dir():
        return given
    return str(Path(given) / f"{Path(spec or 'claim').stem}.likewise")


def moves_older_certificates(command: Function) -> Function:
    """The command with --certificate, run once older certificates are out of the way."""

    @wraps(command)
    def run(**given: Any) -> Any:
        with older_moved(_files(given)):
            return command(**given)

    return run  # type: ignore[return-value]


def _files(given: Mapping[str, Any]) -> list[str]:
    if given["certificate"] is None:
        return []
    specs: Sequence[str | None] = given.get("specs") or (given.get("spec"),)
    return [certificate_file(given["certificate"], spec, several=len(specs) > 1) for spec in specs]


@contextmanager
def older_moved(paths: Sequence[str]) -> Iterator[None]:
    """No certificate is at these places inside; afterwards, what has not been replaced is told."""
    older = {path: moved for path in dict.fromkeys(paths) if (moved := _moved(Path(path))) is not None}
    try:
        yield
    finally:
        for path, moved in older.items():
            if Path(path).exists():
                moved.unlink(missing_ok=True)
            else:
                click.echo(f"no certificate was written to {path}; the older one is now {moved}", err=True)


def _moved(path: Path) -> Path | None:
    """Where the certificate at this place has gone, if there was one."""
    from likewise.errors import SpecError

    try:
        if not path.exists():
            return None
        if not path.is_file() or not _replaceable(path):
            raise SpecError(
                f"--certificate {path}: is there already and no certificate", hint="name another file"
            )
        return path.replace(path.with_name(f"{path.name}.old"))
    except OSError as error:
        raise SpecError(f"--certificate {path}: cannot be written: {error.strerror or error}") from None


def _replaceable(path: Path) -> bool:
    """A certificate, or at least its beginning; or nothing at all."""
    with path.open("rb") as stream:
        start = stream.read(1 << 16)
    try:
        return not start or zlib.decompressobj(GZIP).decompress(start, len(START)) == START
    except zlib.error:
        return False
