"""Why a certificate is not accepted.

    Rejected        the file breaks a rule of the format, or states something that is not so
    LeafRefused     one leaf of a proof is well formed, but its rule does not hold in its cell

Both stay inside the package: `check` turns them into a report. Anything else that is raised is a defect of the checker.
"""


class Rejected(Exception):
    """The certificate is wrong; `line` (from 1) is where, or None for the line read last."""

    def __init__(self, reason: str, *, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class LeafRefused(Exception):
    """The rule of one leaf does not hold in its cell; a proof with smaller cells may still succeed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
