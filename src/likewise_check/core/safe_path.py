"""Which Python files a command runs: those that are installed, never ones that lie in the current folder
next to a certificate or a model."""

import os
import sys


def leave_current_folder() -> None:
    """For a command: neither it nor a process that it starts looks for modules in the current folder,
    unless ``PYTHONPATH`` names it; an empty entry is no name."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    named = [entry for entry in entries if entry]
    if 1 < len(entries) != len(named):
        os.environ["PYTHONPATH"] = os.pathsep.join(named)
        here = os.path.abspath("")  # noqa: PTH100 - pathlib is not loaded yet, and may lie there
        if here in sys.path and here not in map(os.path.abspath, named):
            sys.path.remove(here)
    sys.path[:] = filter(None, sys.path)
    # Processes are started by `python -m` or `-c`, which would look there first.
    os.environ["PYTHONSAFEPATH"] = "1"
