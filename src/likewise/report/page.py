"""The template filled in and written, as one file that asks nothing of a network.

Everything that users name is text: the template escapes it, and what scripts read is JSON in which no character can end a script. The
page carries its certificate and a checker that runs in the reader's browser, where the certificate is not too large.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Pair, Table
from likewise.answers.texts import json_value
from likewise.answers.verdict import ground_facts, pair_of_result, verdict_answer
from likewise.errors import DataError
from likewise.figures import percent_text
from likewise.report.documents import STATS_OF_ROWS, Analyses, make_answers, space_table, without_rows
from likewise.report.names import claim_text, rename_pair, rename_table
from likewise.report.pictures import bracket_chart, bracket_history, radius_levels, share_bar, thin_points
from likewise.report.provenance import certificate_summary, provenance, written_on
from likewise.report.region_map import KINDS, region_map
from likewise.report.score_path import score_path
from likewise.report.summary import three_sentences
from likewise.report.templating import content_policy, packed_checker, template_environment, template_file
from likewise.spec.disk import write_file
from likewise.spec.display_names import NO_NAMES, DisplayNames

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from likewise.answers.answer import Answer
    from likewise.verifying.contributions import Contributions
    from likewise.verifying.result import Result

MOST_BYTES = 500_000  # of a page, without its certificate
LEAST_SECONDS = 1.0  # of a search that has closed its bracket: a shorter one is no story
LEAST_DRAWN = 3  # points of a search, below which a drawing says less than its numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """How much of what may be long is shown."""

    rows: int
    regions: int
    features: int


# From the most to the least: the first that fits is written. The last is written however long names are.
PAGE_LIMITS = (
    PageLimits(rows=200, regions=300, features=800),
    PageLimits(rows=40, regions=60, features=400),
    PageLimits(rows=5, regions=5, features=60),
)


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    analyses: Analyses | None = None,
    *,
    command: str | None = None,
    export: str | None = None,
    certificate_file: str | os.PathLike[str] | None = None,
    display: DisplayNames = NO_NAMES,
    files: Mapping[str, str] | None = None,
    rows: bool = True,
) -> Path:
    """Write the report, whole or not at all, for its owner's eyes only; without `rows`, no individual is in
    it; `command` is the one that writes it, `export` one that writes the model's parameters, `display`
    what readers call things, `files` digests (SHA-256) of files by what they are."""
    analyses = Analyses() if analyses is None else analyses
    made = ReportContent(
        result=result,
        analyses=analyses if rows else without_rows(analyses),
        contributions=result.contributions if rows else None,
        certificate=certificate_summary(result.certificate, certificate_file, rows=rows),
        command=command,
        export=export,
        names=display,
        files=files or {},
        rows=rows,
    )
    content = b""
    certificate = made.certificate["content"] or "" if made.certificate is not None else ""
    for room in PAGE_LIMITS:
        content = render_page(made, room).encode()
        if len(content) - len(certificate) <= MOST_BYTES:
            break
    try:
        write_file(path, content, private=True)
    except OSError as error:
        raise DataError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    return Path(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """All that a report is made of."""

    result: Result
    analyses: Analyses
    contributions: Contributions | None
    certificate: Mapping[str, Any] | None
    command: str | None
    export: str | None
    names: DisplayNames = NO_NAMES
    files: Mapping[str, str] = field(default_factory=dict)
    rows: bool = True  # whether individuals are shown


def render_page(made: ReportContent, room: PageLimits) -> str:
    """The page."""
    from markupsafe import Markup

    result, analyses, names = made.result, made.analyses, made.names
    attached = made.certificate is not None and made.certificate["content"] is not None
    scripts = ["check.js", "script.js"] if attached else ["script.js"]
    style, script = template_file("style.css"), "".join(map(template_file, scripts))
    answers = make_answers(analyses, result, rows=room.rows, boxes=room.regions)
    if "audit" in answers:
        audit = answers["audit"]
        blocks = (rename_table(one, names) if isinstance(one, Table) else one for one in audit.blocks)
        answers["audit"] = replace(audit, blocks=tuple(blocks))
    regions = _region_section(answers.get("regions"), made, room)
    context = {
        "result": result,
        "names": names,
        "claim": claim_text(result, names),
        "own_claim": claim_text(result, NO_NAMES),  # as the certificate has it
        "sentences": three_sentences(result, analyses, names),
        "verdict": verdict_answer(result, claim=False, steps=False),
        "grounds": ground_facts(result),
        "pair": _pair_section(result, room, names) if made.rows else None,
        "path": score_path(made.contributions, room.features, names),
        **{name: answers.get(name) for name in SECTIONS},
        "charts": {
            name: draw(_picture_data(answers.get(name))) for name, draw in CHARTS.items() if name in answers
        },
        "regions": regions,
        "left_out": analyses.left_out,
        "files": analyses.files,
        "space": space_table(result, room.features, names),
        "certificate": made.certificate,
        "attached": attached,
        "checker": Markup(packed_checker()) if attached else None,
        "provenance": provenance(made.command),
        "digests": made.files,
        "written": written_on(),
        "export": made.export,
        "data": json_text(_page_data(made, room, regions)),
        "style": Markup(style),
        "script": Markup(script),
        "policy": content_policy(style, script),
    }
    return template_environment().get_template("report.html.j2").render(context)


def _is_worth_drawing(drawn: Mapping[str, Any]) -> bool:
    """Whether a search took long enough for anybody to ask how it went, or was left open."""
    history = drawn["history"]
    told = len(history) >= LEAST_DRAWN
    return told and (drawn["reason"] is not None or (history[-1][0] or 0) >= LEAST_SECONDS)


SHOWN_KINDS = ("biased", "fair", "undecided", "empty")  # of regions, in the table
SECTIONS = ("disparity", "margins", "radius", "share", "groups", "audit", "repair")
CHARTS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "disparity": lambda drawn: bracket_history(drawn) if _is_worth_drawing(drawn) else None,
    "margins": lambda drawn: bracket_chart([point[:3] for point in drawn["points"]], drawn["limit"]),
    "radius": lambda drawn: radius_levels(drawn) if len(drawn["history"]) >= LEAST_DRAWN else None,
    "share": lambda drawn: share_bar(drawn) if drawn["upper"] > 0 and drawn["lower"] < 1 else None,
}


def _picture_data(answer: Answer | None) -> Mapping[str, Any]:
    """What the picture of an answer is drawn from."""
    return {} if answer is None or not answer.pictures else answer.pictures[0].drawn


def _pair_section(result: Result, room: PageLimits, names: DisplayNames) -> dict[str, Any] | None:
    """The pair, with at most so many features."""
    found: list[Pair] = pair_of_result(result)
    if not found:
        return None
    pair = rename_pair(found[0], names)
    return {
        "shown": pair.features[: room.features],
        "left": max(len(pair.features) - room.features, 0),
        "treatment": pair.treatment,
        "differing": len(pair.differing),
        "same": len(pair.same),
    }


def _region_section(answer: Answer | None, made: ReportContent, room: PageLimits) -> dict[str, Any] | None:
    """The answer, the rules of the largest regions of any kind, and their boxes for the map."""
    if answer is None:
        return None
    from likewise.answers.regions import measure_of, weight_of

    over = answer.document.get("over")
    shares_of = (measure_of,) if over is None else (weight_of, measure_of)
    found = [region for kind in KINDS for region in answer.document[kind]]
    found.sort(key=shares_of[0], reverse=True)
    kept, left = found[: room.regions], found[room.regions :]
    shares = answer.document["shares"]
    return {
        "answer": answer,
        "shares": [(kind, percent_text(shares[kind])) for kind in KINDS if kind != "empty" or shares[kind]],
        "figures": ("share",) if over is None else (f"of {over}", "of the space"),
        "rows": [
            (
                region["kind"],
                [(percent_text(share(region)), float(share(region))) for share in shares_of],
                region["rule"],
            )
            for region in sorted(kept, key=lambda region: SHOWN_KINDS.index(region["kind"]))
        ],
        "total": len(found),
        "undrawn": float(sum(measure_of(region) for region in left)),
        "map": region_map(kept, made.result.claimed.space, made.names),
    }


def _page_data(made: ReportContent, room: PageLimits, regions: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the page shows, for programs; long lists as far as the page shows them."""
    analyses, parts = made.analyses, made.contributions
    few = len(made.result.claimed.space) <= room.features
    audit = analyses.audit
    if audit is not None:
        audit = {**audit, "rows": audit["rows"][: room.rows]}
    return {
        "format": "likewise-report-1",
        "result": _result_data(made, few),
        "contributions": None if parts is None or not few else parts.to_dict(),
        "disparity": _shorten_document(analyses.disparity, few),
        "margins": analyses.margins,
        "radius": _shorten_document(analyses.radius, few),
        "share": analyses.share,
        "groups": analyses.groups,
        "audit": audit,
        "repair": _without_result(analyses.repair),
        "region_map": None if regions is None else regions["map"],
    }


def _result_data(made: ReportContent, few: bool) -> Mapping[str, Any] | None:
    result = made.result
    if not made.rows:
        stats = {name: value for name, value in result.stats.items() if name not in STATS_OF_ROWS}
        nothing: dict[str, Any] = dict.fromkeys(("pair", "compared", "scores", "decisions", "probabilities"))
        result = replace(result, stats=stats, **nothing)
    return _shorten_document(json_value(result.to_dict()), few)


def _without_result(repair: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Of the result on the repaired model the verdict and its reason: it may hold a pair of very many features."""
    if repair is None:
        return None
    return {**repair, "result": {key: repair["result"][key] for key in ("verdict", "reason", "certified")}}


def _shorten_document(document: Mapping[str, Any] | None, few: bool) -> Mapping[str, Any] | None:
    """Without a pair of very many features, and with no more of a history than is drawn."""
    if document is None:
        return None
    kept = dict(document)
    if not few and "pair" in kept:
        kept["pair"] = None
    if "history" in kept:
        kept["history"] = thin_points(kept["history"])
    return kept


def json_text(value: Any) -> Any:
    """JSON that may stand inside of a script element: no markup can begin or end in it."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII only
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
