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

from likewise.errors import DataError
from likewise.report import documents
from likewise.report.documents import Analyses
from likewise.report.provenance import certified, provenance
from likewise.report.texts import number, plain, printable
from likewise.spec.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

    from likewise.verifying.result import Result

MOST_BYTES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much of what may be long is shown."""

    rows: int
    regions: int
    attach: bool


# From the most to the least: the first that fits is written. The last is written however long names are.
ROOMS = (
    Room(rows=200, regions=300, attach=True),
    Room(rows=200, regions=300, attach=False),
    Room(rows=40, regions=60, attach=False),
    Room(rows=5, regions=5, attach=False),
)


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    analyses: Analyses | None = None,
    *,
    known: str | None = None,
    command: str | None = None,
    certificate_file: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the report, whole or not at all; `known` says what is known where the verdict is UNKNOWN."""
    analyses = Analyses() if analyses is None else analyses
    content = b""
    for room in ROOMS:
        page = rendered(
            result, analyses, room, known=known, command=command, certificate_file=certificate_file
        )
        content = page.encode()
        if len(content) <= MOST_BYTES:
            break
    try:
        write_whole(path, content)
    except OSError as error:
        raise DataError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    return Path(path)


def rendered(
    result: Result,
    analyses: Analyses,
    room: Room,
    *,
    known: str | None = None,
    command: str | None = None,
    certificate_file: str | os.PathLike[str] | None = None,
) -> str:
    """The page."""
    from markupsafe import Markup

    style, script = _part("style.css"), _part("script.js")
    regions = None
    if analyses.regions is not None:
        regions = documents.regions_section(analyses.regions, result, room.regions)
    context = {
        "result": result,
        "known": known,
        "stats": result.stats,
        "pair": documents.pair_table(result),
        "path": documents.score_path(result),
        "disparity": _of(analyses.disparity, documents.disparity_section),
        "radius": _of(analyses.radius, documents.radius_section),
        "share": _of(analyses.share, documents.share_section),
        "regions": regions,
        "audit": None if analyses.audit is None else documents.audit_section(analyses.audit, room.rows),
        "left_out": analyses.left_out,
        "files": analyses.files,
        "space": documents.space_table(result),
        "certificate": certified(result.certificate, certificate_file, attach=room.attach),
        "provenance": provenance(command),
        "data": json_text(_data(result, analyses, room, regions)),
        "style": Markup(style),
        "script": Markup(script),
        "policy": _policy(style, script),
    }
    return _environment().get_template("report.html.j2").render(context)


def _of(document: Mapping[str, Any] | None, section: Any) -> dict[str, Any] | None:
    return None if document is None else section(document)


def _data(
    result: Result, analyses: Analyses, room: Room, regions: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the page shows, for programs; long lists as far as the page shows them."""
    audit = None
    if analyses.audit is not None:
        audit = {**analyses.audit, "rows": analyses.audit["rows"][: room.rows]}
    return {
        "format": "likewise-report-1",
        "result": plain(result.to_dict()),
        "disparity": analyses.disparity,
        "radius": analyses.radius,
        "share": analyses.share,
        "audit": audit,
        "region_map": None if regions is None else regions["map"],
    }


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
