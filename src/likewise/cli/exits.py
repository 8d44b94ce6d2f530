"""What a command says to the shell.

====  ====================================================================================
code  meaning
====  ====================================================================================
0     FAIR; or the command did what it was asked for
1     BIASED
2     usage or input error: click's own, and every `LikewiseError` but `InternalError`
3     UNKNOWN: the budget ended, Ctrl-C, or rounding
4     certificate rejected
101   internal error: any other exception
====  ====================================================================================
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes; 0 has two names."""

    FAIR = 0
    DONE = 0
    BIASED = 1
    INPUT = 2
    UNKNOWN = 3
    REJECTED = 4
    INTERNAL = 101


EXIT_CODES_TEXT = (
    "Exit codes: 0 FAIR, 1 BIASED, 2 usage or input error, 3 UNKNOWN, "
    "4 certificate rejected, 101 internal error."
)
