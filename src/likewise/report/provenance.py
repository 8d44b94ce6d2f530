"""Where a report comes from: versions, command, and the certificate with its digests."""

from __future__ import annotations

import base64
import hashlib
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from likewise import __version__

if TYPE_CHECKING:
    from os import PathLike

    from likewise.certificate.certificate import Certificate

CERTIFICATE_NAME = "claim.likewise"  # of the certificate, where nobody gave it one
LIBRARIES = ("numpy", "scikit-learn", "xgboost", "xgboost-cpu", "lightgbm")
MOST_ATTACHED = 4_000_000  # bytes of a certificate that are put into the file itself


def written_on() -> str:
    """The day, for the head of the page."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def provenance(command: str | None) -> list[tuple[str, str]]:
    """When, with what, and by which command."""
    rows = [
        ("written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Likewise", __version__),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.machine()})"),
    ]
    for name in LIBRARIES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return [*rows, ("command", command or "none: written from Python")]


def certificate_summary(
    certificate: Certificate | None, saved: str | PathLike[str] | None, *, rows: bool = True
) -> dict[str, Any] | None:
    """What the certificate is, its digests, and its bytes where they are few; not those of one about people
    without `rows`. None without one."""
    if certificate is None:
        return None
    outline, content = certificate.outline(), certificate.content
    withheld = certificate.is_about_people and not rows
    return {
        "kind": outline.kind,
        "name": PurePath(saved).name if saved is not None else CERTIFICATE_NAME,
        "saved": saved is not None,
        "bytes": f"{len(content):,}",
        "sha256": hashlib.sha256(content).hexdigest(),
        "nodes": outline.nodes,
        "digests": outline.digests,
        "tool": outline.tool,
        "withheld": withheld,
        "rows": certificate.holds_rows,
        "content": base64.b64encode(content).decode()
        if len(content) <= MOST_ATTACHED and not withheld
        else None,
    }
