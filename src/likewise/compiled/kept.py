"""What was compiled, kept on disk.

A file is found by a digest of all that goes into the machine code: the code of the function and of its parts, the constants and tuples that they name, numba's options, types of
arguments, the machine and the versions. So a change in any of them is seen, also in another file. What cannot be read, or is not what was written, is compiled again; where nothing can be
written nothing is kept.

Looked for in `NUMBA_CACHE_DIR` if that is set, else beside the sources, else in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import caching, types
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from likewise.errors import InternalError

if TYPE_CHECKING:
    from likewise.compiled.entry import Entry

CODE_PER_SECOND = 9000  # bytes of Python's code, of an entry and its parts, that are compiled in a second
CONSTANTS = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)
DIGITS = 24  # of digests in names of files


class Kept(caching._Cache):
    """What was compiled of one function, for all types of arguments."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.missed = False  # something was not there

    @property
    def cache_path(self) -> str | None:
        return str(self._folders[0])

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen())
        for folder in self._folders:
            found = _read(folder / name)
            if found is not None:
                # The bytes are those that were written, but perhaps not by this installation.
                with suppress(Exception):
                    return CompileResult._rebuild(target_context, *pickle.loads(found))  # noqa: S301 - written by this user
        self.missed = True
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        for environment in cres._find_referenced_environments():
            cres.codegen.set_env(environment.env_name, environment)  # of the parts, which are in place now
        if cres.library.has_dynamic_globals:
            return
        name, content = self._file_name(sig, cres.codegen), dumps(cres._reduce())
        for folder in self._folders:
            with suppress(OSError):
                _write(folder / name, content)
                self._remove_older(folder, name)
                return

    def enable(self) -> None:
        """Always is."""

    def disable(self) -> None:
        """Never is."""

    def flush(self) -> None:
        """Nothing is held back."""

    def expected_seconds(self) -> float:
        """What compiling takes, about; 0 as long as nothing was missed."""
        return self._code[1] / CODE_PER_SECOND if self.missed else 0.0

    @cached_property
    def _code(self) -> tuple[str, int]:
        """Digest of the code of the function and its parts, and how much it is."""
        digest, size = hashlib.sha256(), 0
        for piece in _ingredients(self.entry, set()):
            digest.update(len(piece).to_bytes(8, "big") + piece)
            size += len(piece)
        return digest.hexdigest()[:DIGITS], size

    @cached_property
    def _folders(self) -> tuple[Path, ...]:
        source = Path(self.entry.py_func.__code__.co_filename).resolve()
        apart = f"{source.parent.name}_{hashlib.sha256(str(source.parent).encode()).hexdigest()[:DIGITS]}"
        # Not numba's own setting, which a file of the current folder can make: what is kept are pickles.
        chosen = os.environ.get("NUMBA_CACHE_DIR")
        if chosen:
            return (Path(chosen) / apart,)
        user = Path(AppDirs(appname="likewise", appauthor=False).user_cache_dir)
        return source.parent / "__pycache__", user / apart

    @property
    def _prefix(self) -> str:
        function = self.entry.py_func
        version = f"{sys.implementation.cache_tag}.numba-{numba.__version__}"
        return f"{function.__module__.rpartition('.')[2]}.{function.__name__}.{version}."

    def _file_name(self, sig: Any, generator: Any) -> str:
        fields = sorted(str(_fields(t)) for t in _types_of(sig))
        there = repr((str(sig), fields, generator.magic_tuple(), sys.version, np.__version__))
        return f"{self._prefix}{self._code[0]}.{hashlib.sha256(there.encode()).hexdigest()[:DIGITS]}.nbc"

    def _remove_older(self, folder: Path, name: str) -> None:
        """Remove what was compiled of other code of this function."""
        same = name.rpartition(".")[0].rpartition(".")[0]
        for path in folder.glob(f"{self._prefix}*.nbc"):
            if not path.name.startswith(same):
                path.unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    """What was written to a file, or None where that is not in it."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, content = content[:32], content[32:]
    return content if hashlib.sha256(content).digest() == digest else None


def _write(path: Path, content: bytes) -> None:
    """Put a file in its place, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


# -- what goes into the machine code ----------------------------------------------------------------------------


def _ingredients(entry: Entry, seen: set[int]) -> Iterator[bytes]:
    """The code of a function, and of all that it names: in an order that only depends on the code."""
    if id(entry) in seen:
        return
    seen.add(id(entry))
    function = entry.py_func
    options = sorted((name, _value(value, name)) for name, value in entry.targetoptions.items())
    yield repr((function.__name__, options)).encode()
    yield repr(function.__defaults__).encode()
    names: set[str] = set()
    yield from _code_pieces(function.__code__, names)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {name: cell.cell_contents for name, cell in cells}
    found |= {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name in sorted(found):
        yield name.encode()
        if hasattr(found[name], "part"):
            yield from _ingredients(found[name], seen)
        else:
            yield _value(found[name], f"{function.__module__}.{function.__name__} names {name}").encode()


def _code_pieces(code: CodeType, names: set[str]) -> Iterator[bytes]:
    names.update(code.co_names)
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_pieces(constant, names)
        else:
            yield _value(constant, code.co_name).encode()


def _value(value: Any, where: str) -> str:
    """A constant, written down."""
    if isinstance(value, CONSTANTS):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(_value(v, where) for v in value)})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_value(v, where) for v in value))}}}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, ModuleType) and not value.__name__.startswith("likewise"):
        return value.__name__
    if isinstance(value, FunctionType | Callable) and not str(value.__module__).startswith("likewise"):
        return f"{value.__module__}.{value.__qualname__}"
    raise InternalError(
        f"{where}, a {type(value).__name__}: a change of that would not be seen by what is kept of compiled code"
    )


def _types_of(sig: Any) -> Iterable[Any]:
    return sig if isinstance(sig, tuple) else sig.args


def _fields(kind: Any) -> Any:
    """The names of what a tuple consists of, which numba's names of types do not say."""
    if isinstance(kind, types.BaseTuple):
        return getattr(kind, "fields", ()), [_fields(part) for part in getattr(kind, "types", ())]
    return ()
