"""The independent checker of certificates: standard library only, and nothing of `likewise`.

It reads a certificate (`spec/certificate-v1.md`), and accepts it only if every step of its proof, or its witness, holds in exact
arithmetic. No float takes part in a decision, and there is no tolerance.
"""

from likewise_check.checking import check
from likewise_check.report import CheckReport

__all__ = ["check", "CheckReport"]
