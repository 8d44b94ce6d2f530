"""What the report shows, as plain values: from a `Result` and the documents of analyses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from likewise.errors import SpecError
from likewise.report.pictures import bracket_history, contribution_bars, radius_levels, share_bar
from likewise.report.regionmap import KINDS, region_map
from likewise.report.texts import number, percent, plain, shown, signed, told_apart

if TYPE_CHECKING:
    from likewise.spec.features import Feature
    from likewise.spec.similarity import Relation
    from likewise.verifying.contributions import Contributions
    from likewise.verifying.result import Result

# The keys without which a document is not what it is said to be.
KEYS = {
    "disparity": ("of", "lower", "upper", "history", "proved", "reason"),
    "margins": ("of", "points", "reason"),
    "radius": ("of", "proved", "refuted", "largest", "history", "reason"),
    "audit": ("total", "biased", "undecided", "share", "share_at_most", "proved", "reasons", "rows"),
    "share": ("lower", "upper", "method", "confidence", "over", "proved", "reason"),
    "regions": ("fair", "biased", "undecided", "empty", "shares", "around", "reason"),
    "repair": ("method", "how", "threshold", "rows", "changed", "measure", "before", "after", "result"),
}
MEASURED = {
    "score": "the largest gap of scores between two similar individuals",
    "probability": "the largest gap of probabilities between two similar individuals",
    "margin": "the largest margin by which two similar individuals get different decisions",
}
COUNTERPART = "counterpart_"  # in front of the names of an audit's columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyses:
    """Documents of what else was found about the claim; `left_out` has reasons why one is not there, `files` where one was read."""

    disparity: Mapping[str, Any] | None = None
    margins: Mapping[str, Any] | None = None
    radius: Mapping[str, Any] | None = None
    audit: Mapping[str, Any] | None = None
    share: Mapping[str, Any] | None = None
    regions: Mapping[str, Any] | None = None
    repair: Mapping[str, Any] | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        left_out: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        **given: Any,
    ) -> Analyses:
        """From objects with `to_dict`, or their documents; refuses what is neither."""
        documents = {name: _document(name, value) for name, value in given.items()}
        return cls(**documents, left_out=left_out or {}, files=files or {})


def _document(name: str, given: Any) -> Mapping[str, Any] | None:
    if given is None:
        return None
    document = given.to_dict() if hasattr(given, "to_dict") else given
    missing = [key for key in KEYS[name] if not isinstance(document, Mapping) or key not in document]
    if missing:
        raise SpecError(
            f"{name}: not what Likewise answers: it has no {missing[0]!r}",
            hint=f"pass the object that the analysis returned, or its to_dict(), as {name}",
        )
    return {key: plain(value) for key, value in document.items()}


# -- the answer -------------------------------------------------------------------------------------------


def pair_table(result: Result, most: int) -> dict[str, Any] | None:
    """Both individuals, what differs first, and how the model treats them; at most so many features."""
    document = plain(result.to_dict())
    if document["pair"] is None:
        return None
    first, second = document["pair"]
    rows = [
        {
            "name": name,
            "values": told_apart(first[name], second[name]),
            "differs": first[name] != second[name],
        }
        for name in result.claimed.space.names
    ]
    treated = []
    if document["decisions"] is not None:
        treated.append(("decision", told_apart(*document["decisions"])))
    if document["scores"] is not None:
        treated.append((result.score_name, told_apart(*document["scores"])))
    if document["probabilities"] is not None:
        treated.append((f"P({shown(plain(result.upper_label))})", told_apart(*document["probabilities"])))
    rows.sort(key=lambda row: not row["differs"])
    return {
        "rows": rows[:most],
        "left": max(len(rows) - most, 0),
        "treated": treated,
        "differing": sum(row["differs"] for row in rows),
        "same": sum(not row["differs"] for row in rows),
    }


def score_path(contributions: Contributions | None, most: int) -> dict[str, Any] | None:
    """What each differing feature makes of the gap, largest first, with a bar for each number; at most so many."""
    if contributions is None:
        return None
    parts = sorted(contributions.parts, key=lambda part: -abs(part.from_first))
    missed = [
        contributions.gap - sum(getattr(part, end) for part in parts) for end in ("from_first", "from_second")
    ]
    left, parts = max(len(parts) - most, 0), parts[:most]
    columns = [[part.from_first for part in parts]]
    if not contributions.additive:
        columns.append([part.from_second for part in parts])
    bars = iter(contribution_bars([value for column in columns for value in column]))
    drawn = [[(signed(value), next(bars)) for value in column] for column in columns]
    return {
        "gap": signed(contributions.gap),
        "additive": contributions.additive,
        "left": left,
        "rows": [
            {"name": part.feature, "cells": cells}
            for part, cells in zip(parts, zip(*drawn, strict=True), strict=True)
        ],
        "together": [signed(value) for value, _ in zip(missed, columns, strict=False)],
    }


def space_table(result: Result, most: int) -> dict[str, Any]:
    """Features with their values and how far similar individuals may differ in them, at most so many, and the constraints."""
    space, similarity = result.claimed.space, result.claimed.similarity
    relations = similarity.relations(space)
    rows = [
        {
            "name": name,
            "values": space[name].describe(),
            "relation": _relation(relation, space[name]),
            "may": relation.kind != "same",
        }
        for name, relation in zip(space.names, relations, strict=True)
    ]
    left = max(len(rows) - most, 0)
    if left:
        rows.sort(key=lambda row: not row["may"])
    return {
        "summary": space.describe(),
        "rows": rows[:most],
        "left": left,
        "rules": space.rules,
        "notes": result.claimed.notes,
    }


def _relation(relation: Relation, feature: Feature) -> str:
    if relation.kind == "same":
        return "the same"
    if relation.kind == "free":
        return "may differ in any way"
    if relation.tolerance is not None:
        steps = " steps" if feature.kind == "ordinal" else ""
        return f"may differ by at most {number(float(relation.tolerance))}{steps}"
    many = len(relation.allowed)
    return f"may differ between {many} pair{'s' * (many != 1)} of values"


# -- the analyses -----------------------------------------------------------------------------------------


def disparity_section(disparity: Mapping[str, Any]) -> dict[str, Any]:
    """The bracket in words and over time."""
    return {
        "measured": MEASURED.get(disparity["of"], disparity["of"]),
        "of": disparity["of"],
        "lower": number(disparity["lower"]),
        "upper": _end(disparity["lower"], disparity["upper"]),
        "program": None if disparity.get("program_lower") is None else number(disparity["program_lower"]),
        "program_upper": None
        if disparity.get("program_upper") is None
        else _end(disparity["upper"], disparity["program_upper"]),
        "proved": disparity["proved"],
        "no_flip": disparity["of"] == "margin" and disparity["upper"] is not None and disparity["upper"] < 0,
        "reason": disparity["reason"],
        "history": [(number(s), number(low), number(high)) for s, low, high in disparity["history"][-8:]],
        "chart": bracket_history(disparity),
    }


def _end(lower: float | None, upper: float | None) -> str:
    """The upper end, told apart from a lower one that is almost the same."""
    if lower is not None and upper is not None and lower < upper and number(lower) == number(upper):
        return f"{number(lower)} + {upper - lower:.1g}"
    return number(upper)


def radius_section(radius: Mapping[str, Any]) -> dict[str, Any]:
    """What is proved and refuted of the tolerance, and the levels asked about."""
    return {
        "of": radius["of"],
        "proved": None if radius["proved"] is None else number(radius["proved"]),
        "refuted": None if radius["refuted"] is None else number(radius["refuted"]),
        "largest": number(radius["largest"]),
        "reason": radius["reason"],
        "asked": [(number(level), verdict, number(s)) for level, verdict, s in radius["history"]],
        "chart": radius_levels(radius),
    }


def share_section(share: Mapping[str, Any]) -> dict[str, Any]:
    """The share of individuals with a differently treated counterpart, in words and as a bar."""
    return {
        **share,
        "texts": (percent(share["lower"]), percent(share["upper"])),
        "chart": share_bar(share),
    }


def regions_section(regions: Mapping[str, Any], result: Result, most: int) -> dict[str, Any]:
    """The shares of the kinds, the rules of the largest regions, and their boxes for the map."""
    found = [region for kind in KINDS for region in regions[kind]]
    found.sort(key=lambda region: -region["measure"])
    kept = found[:most]
    return {
        "shares": [(kind, percent(regions["shares"][kind])) for kind in KINDS],
        "around": regions["around"],
        "reason": regions["reason"],
        "rows": [(region["kind"], percent(region["measure"]), region["rule"]) for region in kept],
        "total": len(found),
        "undrawn": sum(region["measure"] for region in found[most:]),
        "map": region_map(kept, result.claimed.space),
    }


def repair_section(repair: Mapping[str, Any]) -> dict[str, Any]:
    """What was made of the model, the verdict on that, and what it costs on the rows that are known."""
    rows, changed, measure, result = (repair[key] for key in ("rows", "changed", "measure", "result"))
    known = bool(rows) and changed is not None
    return {
        "how": repair["how"],
        "made": repair["method"] != "threshold" or repair["threshold"] is not None,
        "verdict": str(result["verdict"]),
        "reason": result["reason"],
        "proved": result["verdict"] == "FAIR" and bool(result["certified"]),
        "what": "decisions" if measure == "accuracy" else "predictions",
        "changed": (f"{changed:,}", f"{rows:,}", percent(changed / rows)) if known else None,
        "measure": measure,
        "worth": None
        if repair["before"] is None or repair["after"] is None
        else [f"{repair[key]:.4f}" for key in ("before", "after")],
    }


def audit_section(audit: Mapping[str, Any], most: int) -> dict[str, Any]:
    """The counts, and the worst rows as the cells of a table: text, and the key that it is sorted by."""
    rows = audit["rows"][:most]
    decided = bool(rows) and "decision" in rows[0]
    header = [
        "row",
        "verdict",
        "gap",
        *(("decision", "counterpart's") if decided else ()),
        "counterpart",
    ]
    reasons = [(reason, count) for reason, count in audit["reasons"].items()]
    return {
        **{key: audit[key] for key in ("total", "biased", "undecided", "proved")},
        "share": percent(audit["share"]),
        "share_at_most": percent(audit["share_at_most"]),
        "reasons": reasons,
        "header": header,
        "numeric": ("row", "gap"),
        "rows": [_audited(row, decided) for row in rows],
        "all_shown": len(rows) == len(audit["rows"]),
    }


def _audited(row: Mapping[str, Any], decided: bool) -> dict[str, Any]:
    verdict = {True: "biased", False: "not biased", None: "undecided"}[row["biased"]]
    values = [
        f"{name.removeprefix(COUNTERPART)} = {shown(value)}"
        for name, value in row.items()
        if name.startswith(COUNTERPART) and name != f"{COUNTERPART}decision"
    ]
    cells = [(shown(row["row"]), row["row"]), (verdict, verdict)]
    cells.append(("–" if row["gap"] is None else number(row["gap"]), row["gap"]))
    if decided:
        cells += [(shown(row[name]), shown(row[name])) for name in ("decision", f"{COUNTERPART}decision")]
    said = ", ".join(values)
    return {"verdict": verdict, "cells": [*cells, (said, said)]}
