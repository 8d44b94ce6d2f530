"""Files: the one place that opens those that are read, and that writes those that are kept.

What is read is a file. A pipe or a device is refused: it may never answer, or never end. Little of a file
may become much in memory, so whatever unpacks one asks `check_memory`
before it allocates. What is written is there whole or not at all; files that may be about people are their
owner's alone from the first byte on.
"""

from __future__ import annotations

import errno
import io
import math
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from likewise.errors import DataError

if TYPE_CHECKING:
    import zipfile

    from numpy.typing import NDArray

MEMORY = 2 << 30  # bytes that the content of one file may take
MODEL_GROWTH, JSON_GROWTH, TOML_GROWTH = 8, 64, 256  # at most: bytes in memory for a byte of such a file
# Never waiting for somebody at the other end; no flag is on all systems.
_AT_ONCE = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_memory: ContextVar[int] = ContextVar("memory", default=MEMORY)


@contextmanager
def memory_limit(most: float) -> Iterator[None]:
    """Let the content of a file take so many bytes of memory."""
    token = _memory.set(int(most))
    try:
        yield
    finally:
        _memory.reset(token)


def check_memory(needed: int, what: str) -> None:
    """Refuse what would need more memory than the content of a file may take."""
    if needed > _memory.get():
        raise DataError(
            f"{what} needs about {_gigabytes(needed)} GB of memory; the limit is {_gigabytes(_memory.get())} GB",
            hint=f"if you trust the file: --max-memory {_gigabytes(1.1 * needed)}",
        )


def _gigabytes(size: float) -> str:
    return f"{math.ceil(size / (1 << 30) * 10) / 10:g}"


# -- reading ----------------------------------------------------------------------------------------------


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """A file, open for reading; an OSError for all that is none."""
    _check_kind(os.stat(path))  # noqa: PTH116 - a path as it was given
    handle = os.open(path, os.O_RDONLY | _AT_ONCE)
    try:
        _check_kind(os.fstat(handle))  # another may be there by now
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _check_kind(found: os.stat_result) -> None:
    kind = next((name for holds, name in _KINDS if holds(found.st_mode)), None)
    if kind is not None:
        raise OSError(errno.EINVAL, f"is {kind}, not a file")


def read_file(path: str | os.PathLike[str], *, growth: int = 1) -> bytes:
    """All of a file, of which a byte takes `growth` bytes of memory once it is parsed."""
    what = f"{os.fspath(path)}: reading it"
    with open_file(path) as stream:
        check_memory(os.fstat(stream.fileno()).st_size * growth, what)
        content = stream.read(_memory.get() // growth + 1)
        check_memory(len(content) * growth, what)
        return content


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member of an archive; no more of it is unpacked than it says, even in passing."""
    info = archive.getinfo(name)
    check_memory(info.file_size, f"unpacking {name!r}")
    with archive.open(info) as stream:
        return stream.read(info.file_size)


def parse_array(content: bytes) -> NDArray[Any]:
    """An array of numbers or texts in NumPy's format, with as many entries as its header says."""
    import numpy as np

    form, stream = np.lib.format, io.BytesIO(content)
    version = form.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("an array has a header of another version")
    shape, _, dtype = (form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0)(
        stream
    )
    if dtype.hasobject or any(length < 0 for length in shape):
        raise ValueError("an array is not one of values")
    if dtype.itemsize == 0 and math.prod(shape) > 0:
        raise ValueError("an array has entries without a size")
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array has more or fewer entries than it says")
    found: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return found


def unpack(content: bytes) -> bytes:
    """What zlib packed."""
    unpacking, most = zlib.decompressobj(), _memory.get()
    found = unpacking.decompress(content, most + 1)
    check_memory(len(found), "unpacking it")
    if not unpacking.eof:
        raise EOFError("cut off")
    return found


# -- writing ----------------------------------------------------------------------------------------------


def write_file(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> None:
    """Write `content` as `replacing` does. OSErrors pass to the caller."""
    with replacing(path, private=private) as stream:
        stream.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool) -> Iterator[IO[bytes]]:
    """What is written inside takes the place of `path` at the end, in one step; `private`: for its owner's
    eyes only."""
    target = Path(path)
    draft = target.parent / f".{target.name}.{secrets.token_hex(8)}.tmp"

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600 if private else 0o666)

    try:
        with open(draft, "xb", opener=create) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
