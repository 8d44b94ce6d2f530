"""Sentences that several answers have: the claim, how long reading took, what rounding does, what was not compared, what is known."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from likewise.answers.answer import Fact, code, fact
from likewise.figures import bound_text, distinct_texts, number_text, rough_bound_text, seconds_text
from likewise.verifying.result import LONG_READING, claim_in_words

if TYPE_CHECKING:
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space


# What is known of rows in single precision, by what was done about it.
SINGLE_PRECISION = {
    "replayed": "the pair was replayed on such rows too",
    "covered": "the proof has room for how the model rounds such rows, too",
    None: "this is about the model asked in double precision, and about rows in single precision it may answer otherwise",
}


MOST_UNSEEN = 6  # categories that are named


class ClaimSubject(Protocol):
    """What an answer is about: who must share what."""

    @property
    def space(self) -> Space: ...
    @property
    def similarity(self) -> Similarity: ...
    @property
    def property(self) -> Property: ...


def claim_facts(about: ClaimSubject | None, *, title: str = "claim") -> list[Fact]:
    """The claim and its space; nothing where they are told elsewhere."""
    if about is None:
        return []
    claim = claim_in_words(about.space, about.similarity, about.property)
    return [fact(title, claim), fact("space", about.space.describe())]


def reading_facts(stats: Mapping[str, Any]) -> list[Fact]:
    """How long reading the model took, where that is worth a line: no budget counts it."""
    seconds, unread = stats.get("import_seconds", 0.0), stats.get("black_box")
    found = []
    if unread is not None:
        found.append(
            fact(
                "asked", f"the model is asked, not read, so nothing about it is proved: {unread}", warns=True
            )
        )
        found.append(fact("", f"what would allow a proof: {stats['black_box_hint']}"))
    if seconds > LONG_READING:
        found.append(fact("reading", f"reading the model took {seconds_text(seconds)}"))
    return found


def comparison_in_words(stats: Mapping[str, Any]) -> str | None:
    """What is to be known of the rows of the data: how they are encoded for the model, columns that look
    like categories of one column, those outside of the space, rows that the model does not take as they
    are, and columns in single
    precision. None where that is nothing."""
    reason, single = stats.get("rows_not_compared"), stats.get("single_precision")
    said = [
        *_encoding_words(stats.get("encoding")),
        *_threshold_words(stats.get("threshold")),
        *_outside_words(stats.get("rows_outside")),
    ]
    said += map(_dummies_words, stats.get("dummies", ()))
    if reason is not None:
        told = re.sub(r"^\w*(Error|Exception): ", "", reason)
        said.append(
            f"the model was compared through codes only, as it does not take the rows as given; it says: {told}"
        )
    if single:
        told = SINGLE_PRECISION[stats.get("in_single_precision")]
        said.append(f"columns in single precision ({', '.join(single)}): {told}")
    return "; ".join(said) or None


def _encoding_words(encoding: Mapping[str, Any] | None) -> list[str]:
    if encoding is None:
        return []
    names, rows = ", ".join(encoding["features"]), encoding["rows_compared"]
    how = "not compared with pandas, which is not installed"
    if rows is not None:
        how = f"compared with pandas and the model's own predict on every category{f' and {rows:,} rows' if rows else ''}"
    said = [f"the model takes pandas.get_dummies of {names}, by the names of its columns: {how}"]
    unseen = [f"{level!r} of {feature}" for feature, level in encoding["without_column"]]
    more = f" and {len(unseen) - MOST_UNSEEN} more" if len(unseen) > MOST_UNSEEN else ""
    if unseen:
        said.append(
            f"categories without a column, which are 0 in all of them: {', '.join(unseen[:MOST_UNSEEN])}{more}"
        )
    return said


def _threshold_words(threshold: Mapping[str, Any] | None) -> list[str]:
    if threshold is None:
        return []
    return [
        f"the model decides for {threshold['label']!r} where its probability is at least {number_text(threshold['level'])}"
    ]


def _dummies_words(group: Mapping[str, Any]) -> str:
    shown = ", ".join(group["columns"][:MOST_UNSEEN]) + (
        ", ..." if len(group["columns"]) > MOST_UNSEEN else ""
    )
    return (
        f"warning: {shown} look like the categories of one column, as no row has two of them, but the space has people with several; "
        f'declare the constraint "{group["rule"]}"'
    )


def _outside_words(outside: Mapping[str, int] | None) -> list[str]:
    if outside is None:
        return []
    parts = [
        f"{outside[name]:,} {words}"
        for name, words in (("ignored", "left out"), ("clipped", "moved to the ends of their ranges"))
        if outside[name]
    ]
    return [f"of {outside['rows']:,} rows, those outside of the space: {' and '.join(parts)}"]


def comparison_facts(stats: Mapping[str, Any]) -> list[Fact]:
    """The same as a fact, if there is anything to say."""
    said = comparison_in_words(stats)
    return [] if said is None else [fact("compared", said)]


def rounding_warning(stats: Mapping[str, Any]) -> str | None:
    """A sentence on the program's own rounding, where it is large (`families.program_rounding`)."""
    found = stats.get("program_rounding")
    if not found or not found["large"]:
        return None
    seen = rough_bound_text(found["observed"])
    if found["bound"] is None:
        return (
            f"the program's own rounding moves scores by {seen} on the rows compared; no bound of it is known"
        )
    return f"the program's own rounding may move scores by {rough_bound_text(found['bound'])} ({seen} on the rows compared)"


def warning_facts(stats: Mapping[str, Any]) -> list[Fact]:
    """A warning where the program's own rounding is large, else nothing."""
    warning = rounding_warning(stats)
    return [] if warning is None else [fact("warning", warning, warns=True)]


def reason_facts(reason: str | None) -> list[Fact]:
    """Why an answer is less than was asked for."""
    return [] if reason is None else [fact("reason", reason)]


def proof_facts(path: str | None) -> list[Fact]:
    """Where the certificate is, and what checks it."""
    if path is None:
        return []
    from shlex import quote

    return [fact("proof", code(path), " (", code(f"likewise-check {quote(path)}"), ")", whole=True)]


def bounds_in_words(property: Property, bounds: tuple[float, float]) -> str:
    """What is known when the search ended early."""
    low, high = bounds
    if property.kind == "decision":
        what, least, limit = (
            "the largest margin of a pair with different decisions",
            -math.inf,
            property.margin,
        )
        allowed = f"the claim is broken above {number_text(limit)}"
    else:
        what, least, limit = f"the largest {property.kind} gap of a similar pair", 0.0, property.delta
        allowed = f"the claim allows {number_text(limit)}"
    if not math.isfinite(high) and low <= least:
        return f"nothing is known of {what}; {allowed}"
    if low <= least and high == limit:
        return f"{what} is at most {number_text(limit)} as far as the search tells, and the claim allows that"
    if low <= least:
        return f"{what} is at most {_end_text(high, limit, up=True)}; {allowed}"
    if not math.isfinite(high):
        return f"{what} is at least {_end_text(low, limit, up=False)}; {allowed}"
    return f"{what} is between {_end_text(low, limit, up=False)} and {_end_text(high, limit, up=True)}; {allowed}"


def _end_text(end: float, limit: float, *, up: bool) -> str:
    """An end rounded to its safe side, told apart from the limit that stands beside it."""
    said = bound_text(end, up=up)
    return said if end == limit or said != number_text(limit) else distinct_texts(limit, end)[1]
