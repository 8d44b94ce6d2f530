"""The files of one folder: those that the page offers, and the only ones that it may read or write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from likewise.errors import SpecError
from likewise.importers.files import KNOWN_SUFFIXES, PICKLES

DATA_SUFFIXES = (".csv", ".csv.gz", ".parquet")
CLAIM_SUFFIX = ".toml"
DEPTH = 3  # folders below the one that is served
MOST_FILES = 500
CLAIM_MARK = b"[similarity"  # what tells a claim file from other TOML


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
        path = (self.path / name).resolve()
        if not path.is_relative_to(self.path):
            raise SpecError(f"{name}: is outside of the folder that is served")
        return path

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


def _kind_of(path: Path, models: tuple[str, ...]) -> str | None:
    name = path.name.lower()
    if name.endswith(DATA_SUFFIXES):
        return "data"
    if name.endswith(CLAIM_SUFFIX):
        return "claims" if _is_claim(path) else None
    return "models" if name.endswith(models) else None


def _is_claim(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return CLAIM_MARK in stream.read(1 << 20)
    except OSError:
        return False
