"""Files that a library written in C has to read, opened in a process of their own: a damaged file can make
the library crash, or never end.

The process imports the module that asks, gives a request to its function `answer`, and writes down what
comes back. It has limits of time and memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

from likewise.clock import check_clock, seconds_left
from likewise.errors import UnsupportedModel

SECONDS = 20  # of the processor, and many times as many on the clock
MEMORY = 4 << 30  # bytes that the process may have


def ask_process(module: str, request: bytes, what: str) -> bytes:
    """What the function `answer` of a module makes of a request, in another process; refuses a file that
    makes it crash, or never end."""
    check_clock()
    own = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({module!r})"],
            env={**os.environ, **own},
            input=request,
            capture_output=True,
            timeout=min(15 * SECONDS, seconds_left()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        check_clock()
        raise UnsupportedModel(
            f"is no {what} that can be read within {SECONDS} seconds", hint="the file is damaged"
        ) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UnsupportedModel(
            f"is no {what} that can be read: {said[-1][:120] if said else 'its reader crashed'}",
            hint="the file is cut off or damaged",
        )
    return done.stdout


def serve(module: str) -> None:
    """In the process: read a request from standard input, answer it on standard output, where libraries may
    not write."""
    _limit()
    out = os.dup(1)
    os.dup2(2, 1)
    answer: bytes = import_module(module).answer(sys.stdin.buffer.read())
    with os.fdopen(out, "wb") as stream:
        stream.write(answer)


def _limit() -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
