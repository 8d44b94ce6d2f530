"""The files of one folder: those that the page offers, and the only ones that it may read or write."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from likewise.errors import SpecError
from likewise.importers.files import KNOWN_SUFFIXES, PICKLES
from likewise.spec.disk import open_file

DATA_SUFFIXES = (".csv", ".csv.gz", ".parquet")
CLAIM_SUFFIX = ".toml"
DEPTH = 3  # folders below the one that is served
MOST_FILES = 500
CLAIM_MARK = b"[similarity"  # what tells a claim file from other TOML
_ELSEWHERE = re.compile(
    r"[\\/]|[A-Za-z]:"
)  # how a path begins that starts at a root, a drive or another machine


class Folder:
    """A folder that is served, and nothing outside of it, whatever links there are."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).resolve()
        if not self.path.is_dir():
            raise SpecError(f"{path}: is no folder")

    def find(self, name: object) -> str:
        """The file of this name, which must be there."""
        path = self._place(name)
        if not path.is_file():
            raise SpecError(f"{name}: is not there")
        return str(path)

    def place(self, name: object, suffix: str, *, overwrite: bool) -> str:
        """Where a file of this name may be written."""
        if not str(name).lower().endswith(suffix):
            raise SpecError(f"{name}: its name must end in {suffix}")
        path = self._place(name)
        if not path.parent.is_dir():
            raise SpecError(f"{name}: there is no such folder")
        if path.exists() and not (overwrite and path.is_file()):
            raise SpecError(f"{name}: already exists", hint="another name")
        return str(path)

    def _place(self, name: object) -> Path:
        if not isinstance(name, str) or not name.strip() or "\0" in name:
            raise SpecError("no file was named")
        path = _resolved(self.path / name)
        if path is None or not path.is_relative_to(self.path):
            raise SpecError(f"{name}: is outside of the folder that is served")
        return path

    def outside(
        self, claim: str | Path, allowed: Collection[str] = (), *, own: bool = False
    ) -> dict[str, str]:
        """The files outside of the folder that a claim file names, by what they are, but those allowed.
        None of
        them is looked at.

        A path from a root, of a drive or of another machine counts as outside wherever it leads, as
        following it
        may be to ask that machine. In the server's `own` files, which were asked about before, paths are
        followed.
        """
        from likewise.spec.toml_tables import files_of_claim

        found = {}
        for what, written in files_of_claim(claim).items():
            path = Path(os.path.abspath(Path(claim).parent / written))  # noqa: PTH100 - follows no link
            place = _resolved(path) if own or not _ELSEWHERE.match(written) else None
            if place is None or not place.is_relative_to(self.path):
                name = str(place or path)
                if name not in allowed and str(path) not in allowed:
                    found[what] = name
        return found

    def listed(self, *, pickles: bool) -> dict[str, Any]:
        """The names of data, models and claim files, and whether some were left out because there are too many."""
        found: dict[str, list[str]] = {"data": [], "models": [], "claims": []}
        models = tuple(suffix for suffix in KNOWN_SUFFIXES if pickles or suffix not in PICKLES)
        count = 0
        for path in self._walk():
            kind = _kind_of(path, models)
            if kind is None:
                continue
            if count == MOST_FILES:
                return {**found, "more": True}
            count += 1
            found[kind].append(path.relative_to(self.path).as_posix())
        return {**found, "more": False}

    def _walk(self) -> Iterator[Path]:
        """Files from the top down, each folder's by name; hidden ones and environments are passed over."""
        for place, folders, names in os.walk(self.path):
            here = Path(place)
            deep = len(here.relative_to(self.path).parts) >= DEPTH
            hidden = {name for name in folders if name.startswith((".", "_")) or name == "node_modules"}
            folders[:] = [] if deep else sorted(set(folders) - hidden)
            yield from (here / name for name in sorted(names) if not name.startswith("."))


def check_files(folder: Folder, claim: str | Path, allowed: Collection[str]) -> None:
    """Refuse a claim file of the server's own that names others than files of the folder and those allowed: a
    link may be another one by now."""
    for file in folder.outside(claim, allowed, own=True).values():
        raise SpecError(f"{file}: is outside of the folder that is served", hint="open the claim file again")


def _resolved(path: Path) -> Path | None:
    """Where a path leads, links followed; None for what no file can be called."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def _kind_of(path: Path, models: tuple[str, ...]) -> str | None:
    name = path.name.lower()
    if name.endswith(DATA_SUFFIXES):
        return "data"
    if name.endswith(CLAIM_SUFFIX):
        return "claims" if _is_claim(path) else None
    return "models" if name.endswith(models) else None


def _is_claim(path: Path) -> bool:
    try:
        with open_file(path) as stream:
            return CLAIM_MARK in stream.read(1 << 20)
    except OSError:
        return False
