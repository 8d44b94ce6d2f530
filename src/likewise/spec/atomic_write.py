"""Onto disk whole or not at all: the old file or the new one is there, never a part of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` beside `path`, then move it there in one step. OSErrors pass to the caller."""
    target = Path(path)
    draft = target.parent / f".{target.name}.{secrets.token_hex(8)}.tmp"
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
