"""Compiled code is cached by file, and numba does not see that a function in another file has changed.

So the cache of the tests is named after all the sources of the package: an edit anywhere compiles anew.
"""

import hashlib
import tempfile
from pathlib import Path

import numba

import likewise.families.kernel.rbf

SOURCES = sorted(Path(likewise.families.kernel.rbf.__file__).parent.glob("*.py"))
DIGEST = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()

numba.config.CACHE_DIR = str(Path(tempfile.gettempdir()) / f"likewise-numba-{DIGEST[:16]}")
