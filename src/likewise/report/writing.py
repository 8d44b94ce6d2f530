"""The template filled in and written, as one file that asks nothing of a network.

Everything that users name is text: the template escapes it, and what scripts read is JSON in which no character can end a script. The
page's content security policy allows the one style sheet and the one script by their digests, and nothing else, not even an image.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import DataError, SpecError
from likewise.report import documents
from likewise.report.documents import Analyses
from likewise.report.margins import margins_section
from likewise.report.pictures import thinned
from likewise.report.provenance import certified, provenance
from likewise.report.texts import number, plain, printable
from likewise.spec.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment

    from likewise.verifying.contributions import Contributions
    from likewise.verifying.result import Result

MOST_BYTES = 500_000
# What showing a document of another shape ends in.
MISSHAPEN = (ValueError, KeyError, IndexError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much of what may be long is shown."""

    rows: int
    regions: int
    features: int
    attach: bool


# From the most to the least: the first that fits is written. The last is written however long names are.
ROOMS = (
    Room(rows=200, regions=300, features=800, attach=True),
    Room(rows=200, regions=300, features=800, attach=False),
    Room(rows=40, regions=60, features=400, attach=False),
    Room(rows=5, regions=5, features=60, attach=False),
)


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    analyses: Analyses | None = None,
    *,
    known: str | None = None,
    rounding: str | None = None,
    warning: str | None = None,
    command: str | None = None,
    certificate_file: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the report, whole or not at all; `known` says what is known where the verdict is UNKNOWN, `rounding` what a proof
    says of the program that rounds, `warning` that its rounding is large."""
    told = Told(
        result=result,
        analyses=Analyses() if analyses is None else analyses,
        contributions=result.contributions,
        certificate=certified(result.certificate, certificate_file),
        known=known,
        rounding=rounding,
        warning=warning,
        command=command,
    )
    content = b""
    for room in ROOMS:
        content = rendered(told, room).encode()
        if len(content) <= MOST_BYTES:
            break
    try:
        write_whole(path, content)
    except OSError as error:
        raise DataError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    return Path(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """All that a report is made of."""

    result: Result
    analyses: Analyses
    contributions: Contributions | None
    certificate: Mapping[str, Any] | None
    known: str | None
    rounding: str | None
    warning: str | None
    command: str | None

    def section(
        self, name: str, made: Callable[[Mapping[str, Any]], dict[str, Any]]
    ) -> dict[str, Any] | None:
        """The section of an analysis, if there is one; refuses a file that is of another shape."""
        document = getattr(self.analyses, name)
        if document is None:
            return None
        if name not in self.analyses.files:
            return made(document)
        try:
            return made(document)
        except MISSHAPEN as error:
            raise SpecError(
                f"{self.analyses.files[name]}: not what Likewise answers about {name}: {error}"
            ) from error


def rendered(told: Told, room: Room) -> str:
    """The page."""
    from markupsafe import Markup

    result, analyses = told.result, told.analyses
    style, script = _part("style.css"), _part("script.js")
    regions = told.section("regions", lambda found: documents.regions_section(found, result, room.regions))
    context = {
        "result": result,
        "known": told.known,
        "rounding": told.rounding,
        "warning": told.warning,
        "stats": result.stats,
        "pair": documents.pair_table(result, room.features),
        "path": documents.score_path(told.contributions, room.features),
        "disparity": told.section("disparity", documents.disparity_section),
        "margins": told.section(
            "margins", lambda found: margins_section(found, result.claimed.property, result.verdict)
        ),
        "radius": told.section("radius", documents.radius_section),
        "share": told.section("share", documents.share_section),
        "regions": regions,
        "audit": told.section("audit", lambda found: documents.audit_section(found, room.rows)),
        "repair": told.section("repair", documents.repair_section),
        "left_out": analyses.left_out,
        "files": analyses.files,
        "space": documents.space_table(result, room.features),
        "certificate": told.certificate,
        "attached": room.attach and told.certificate is not None and told.certificate["content"] is not None,
        "provenance": provenance(told.command),
        "data": json_text(_data(told, room, regions)),
        "style": Markup(style),
        "script": Markup(script),
        "policy": _policy(style, script),
    }
    return _environment().get_template("report.html.j2").render(context)


def _data(told: Told, room: Room, regions: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the page shows, for programs; long lists as far as the page shows them."""
    analyses, parts = told.analyses, told.contributions
    few = len(told.result.claimed.space) <= room.features
    audit = analyses.audit
    if audit is not None:
        audit = {**audit, "rows": audit["rows"][: room.rows]}
    return {
        "format": "likewise-report-1",
        "result": _shortened(plain(told.result.to_dict()), few),
        "contributions": None if parts is None or not few else parts.to_dict(),
        "disparity": _shortened(analyses.disparity, few),
        "margins": analyses.margins,
        "radius": _shortened(analyses.radius, few),
        "share": analyses.share,
        "audit": audit,
        "repair": _without_result(analyses.repair),
        "region_map": None if regions is None else regions["map"],
    }


def _without_result(repair: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Of the result on the repaired model the verdict and its reason: it may hold a pair of very many features."""
    if repair is None:
        return None
    return {**repair, "result": {key: repair["result"][key] for key in ("verdict", "reason", "certified")}}


def _shortened(document: Mapping[str, Any] | None, few: bool) -> Mapping[str, Any] | None:
    """Without a pair of very many features, and with no more of a history than is drawn."""
    if document is None:
        return None
    kept = dict(document)
    if not few and "pair" in kept:
        kept["pair"] = None
    if "history" in kept:
        kept["history"] = thinned(kept["history"])
    return kept


def json_text(value: Any) -> Any:
    """JSON that may stand inside of a script element: no markup can begin or end in it."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII only
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _policy(style: str, script: str) -> str:
    """Nothing but the one style sheet and the one script."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _part(name: str) -> str:
    return (files("likewise.report") / "templates" / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def seen(value: Any) -> Any:
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=PackageLoader("likewise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = number
    return made
