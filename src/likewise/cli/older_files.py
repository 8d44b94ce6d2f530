"""What becomes of the files of an earlier run, where this run writes its own.

A run that ends without a result (UNKNOWN, an error, Ctrl-C) must not leave one behind that says otherwise: before anything else
happens, an older file is moved to NAME.old, and what has no successor in the end is told on stderr. Proofs may have taken
hours, so they are moved and not removed. A file of another kind is never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from likewise.errors import SpecError

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_TOLD = 3  # of the files without a successor, one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputKind:
    """What an option writes, and how it is told from everything else."""

    option: str
    name: str
    recognised: Callable[[Path], bool]


def moves_older(
    kind: OutputKind, places: Callable[[Mapping[str, Any]], Sequence[str]]
) -> Callable[[Function], Function]:
    """For a command: it runs once what is at the places that its parameters name is out of the way."""

    def wrapped(command: Function) -> Function:
        @wraps(command)
        def run(**given: Any) -> Any:
            with move_aside(kind, places(given)):
                return command(**given)

        return run  # type: ignore[return-value]

    return wrapped


@contextmanager
def move_aside(kind: OutputKind, paths: Sequence[str]) -> Iterator[None]:
    """Nothing is at these places inside; afterwards, what has not been replaced is told."""
    there = [path for path in map(Path, dict.fromkeys(paths)) if _is_there(kind, path)]
    older: dict[Path, Path] = {}
    try:
        for path in there:
            older[path] = _move_file(kind, path)
        yield
    finally:
        _report_left(kind, {path: moved for path, moved in older.items() if not _was_replaced(path, moved)})


def _is_there(kind: OutputKind, path: Path) -> bool:
    try:
        if not path.exists():
            return False
        if path.is_file() and (not path.stat().st_size or kind.recognised(path)):
            return True
    except OSError as error:
        raise _unwritable_error(kind, path, error) from None
    raise SpecError(
        f"{kind.option} {path}: already exists and is no {kind.name}", hint="name another file or folder"
    )


def _move_file(kind: OutputKind, path: Path) -> Path:
    try:
        return path.replace(path.with_name(f"{path.name}.old"))
    except OSError as error:
        raise _unwritable_error(kind, path, error) from None


def _unwritable_error(kind: OutputKind, path: Path, error: OSError) -> SpecError:
    return SpecError(f"{kind.option} {path}: cannot be written: {error.strerror or error}")


def _was_replaced(path: Path, moved: Path) -> bool:
    if not path.exists():
        return False
    moved.unlink(missing_ok=True)
    return True


def _report_left(kind: OutputKind, left: Mapping[Path, Path]) -> None:
    for path, moved in list(left.items())[:MOST_TOLD]:
        click.echo(f"no {kind.name} was written to {path}; the older one is now {moved}", err=True)
    if len(left) > MOST_TOLD:
        click.echo(f"nor to {len(left) - MOST_TOLD} more places; the older ones end in .old now", err=True)
