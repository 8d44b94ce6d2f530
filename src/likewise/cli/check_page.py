"""``likewise check-page``: the page that checks certificates in a browser."""

from __future__ import annotations


def check_page(output: str) -> None:
    """Write likewise-check.html, a page that checks certificates in any browser, without a network.

    For people who do not install anything: they drop a certificate on it, and a claim written by `likewise export --whole` to compare it with. It
    has the second checker in it, which shares nothing with likewise-check.
    """
    from likewise.cli.output import emit
    from likewise.report.check_page import write_check_page

    path = write_check_page(output)
    emit(f"{path}: open it in a browser and drop a certificate on it")
