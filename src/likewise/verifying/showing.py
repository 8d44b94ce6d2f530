"""Showing: results as HTML tables for notebooks, the same words as on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.html_tables import table
from likewise.verifying.wording import (
    Treated,
    basis_in_words,
    bounds_in_words,
    feature_rows,
    pair_of,
    rows_in_words,
    treated_by,
    verdict_line,
    warning_of,
)

if TYPE_CHECKING:
    from likewise.verifying.result import Result

COLUMNS = ("", "x", "x'", "differs")


def result_html(result: Result) -> str:
    """Claim, space, verdict and what it rests on; below, the pair if there is one."""
    rows = [("claim", result.claimed.in_words()), ("space", result.claimed.space.describe())]
    rows.append(("verdict", " ".join(verdict_line(result).split())))
    if result.verdict == "FAIR":
        rows.append(("basis", basis_in_words(result)))
    elif (words := rows_in_words(result.stats)) is not None:
        rows.append(("compared", words))
    if result.reason is not None:
        rows.append(("reason", result.reason))
        rows.append(("bounds", bounds_in_words(result.claimed.property, result.bounds)))
    warning = warning_of(result.stats)
    rows += [] if warning is None else [("warning", warning)]
    shown = table(str(result.verdict), rows)
    if result.pair is None:
        return shown
    return shown + pair_html(result.pair, result.claimed.space.names, treated_by(result))


def pair_html(frame: Any, names: tuple[str, ...], treated: Treated) -> str:
    """Both individuals with all their features, what differs first, then how the model treats them."""
    differing, same = feature_rows(pair_of(frame, names))
    rows = [(name, first, second, "yes") for name, first, second, _ in differing]
    rows += [(name, first, second, "no") for name, first, second, _ in same]
    rows += [(name, first, second, "") for name, first, second in treated.rows()]
    return table("two similar individuals, and how the model treats them", rows, columns=COLUMNS)
