"""``likewise warm-up``: compile the loops of all families now, so that no first answer waits for them."""

from __future__ import annotations

import time
from typing import Any

import click


def warm_up(**_given: Any) -> int:
    """Compile all loops now, not on first use.

    Bounds of kernels, polynomials, trees and networks are compiled once on a machine and kept. This does it beforehand: in an image of a container, or before a demonstration.
    """
    from likewise.analysis.warming import FAMILIES, warm_up_family
    from likewise.cli.exits import Exit

    for family in FAMILIES:
        began = time.perf_counter()
        warm_up_family(family)
        click.echo(f"{family:<12} {time.perf_counter() - began:.1f} s")
    return Exit.DONE
