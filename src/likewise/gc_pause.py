"""Collecting: Python's search for circles of references, left out while certificates of many nodes are made or read.

Their values refer to each other in no circle, and looking for one among a million of them takes as long as reading them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Meanwhile objects are freed by counting references alone."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
