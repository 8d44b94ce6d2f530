"""``likewise-check.html``: a page that checks certificates in a browser, by the second checker, as one file that asks nothing of a network."""

from __future__ import annotations

import os
from pathlib import Path

from likewise import __version__
from likewise.errors import DataError
from likewise.report.templating import content_policy, packed_checker, template_environment, template_file
from likewise.spec.disk import write_file


def render_check_page() -> str:
    """The page."""
    from markupsafe import Markup

    style, script = template_file("style.css"), template_file("check.js") + template_file("check_page.js")
    return (
        template_environment()
        .get_template("check_page.html.j2")
        .render(
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
            checker=Markup(packed_checker()),
            version=__version__,
        )
    )


def write_check_page(path: str | os.PathLike[str]) -> Path:
    """Write the page, whole or not at all."""
    try:
        write_file(path, render_check_page().encode())
    except OSError as error:
        raise DataError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    return Path(path)
