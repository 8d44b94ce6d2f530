"""Templates, and the content security policy of pages that are made of them.

A page has one style sheet and one script, allowed by their digests, and workers of scripts that it carries itself; nothing else, not even an image.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from likewise.answers.html import sentence_html, sort_key, words_html
from likewise.answers.texts import escape_unprintable
from likewise.figures import number_text, percent_text, seconds_text

if TYPE_CHECKING:
    from jinja2 import Environment

CHECKER = "checker.js"  # made of checker-js by its tools/bundle.js


def template_file(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("likewise.report") / "templates" / name).read_text(encoding="utf-8")


def packed_checker() -> str:
    """The script of the second checker, for a worker: compressed, in letters and digits."""
    return base64.b64encode(gzip.compress(template_file(CHECKER).encode(), mtime=0)).decode()


def content_policy(style: str, script: str) -> str:
    """Nothing but the one style sheet, the one script, and workers of what these hold."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )


def template_environment() -> Environment:
    """Where templates are found; everything put into them is text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def seen(value: Any) -> Any:
        return (
            escape_unprintable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        )

    environment = Environment(
        loader=PackageLoader("likewise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number_text,
        "percent": percent_text,
        "seconds": seconds_text,
        "words": words_html,
        "sentence": sentence_html,
        "sort_key": sort_key,
    }
    return environment


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
