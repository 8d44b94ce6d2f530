"""Standard output when its reader has gone."""

from __future__ import annotations

import os
import sys


def silence_stdout() -> None:
    """Send the rest of stdout nowhere, so that the interpreter's last flush does not complain either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = os.fdopen(nowhere, "w")
    else:
        os.close(nowhere)
