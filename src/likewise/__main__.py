"""``python -m likewise`` is the command ``likewise``."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, where `python -m` looks for modules first

from likewise.cli import main

main()
