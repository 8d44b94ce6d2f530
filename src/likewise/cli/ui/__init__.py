"""``likewise ui``: a page to work in, served to a browser on this machine.

    server    what the browser asks for over HTTP, and who may ask
    files     the files of the folder, and which of them may be read or written
    jobs      one piece of work at a time, done by a process of its own
    worker    that process: drafts claims, answers questions, writes claim files
    choices   a claim as the page shows it, and with what was chosen there
    static    the page

The process that serves the page reads no model and no data: whatever does is a child that can be stopped.
"""

from __future__ import annotations

from typing import Any

import click


def ui(**given: Any) -> int:
    """Work in a browser: choose files, say what may differ, verify, measure.

    Serves a page on this machine alone, from the files in FOLDER (the current one if none is named). Only somebody who has the
    address that is printed can use it. Ctrl-C ends it.

    \b
    likewise ui
    """
    from likewise.cli.exits import Exit
    from likewise.cli.ui.server import open_server

    reading = {name: given[name] for name in ("allow_pickle", "trust", "import_budget", "max_memory")}
    with open_server(given["folder"], port=given["port"], reading=reading) as server:
        click.echo(
            f"Likewise is at\n  {server.address}\nin this machine's browser. Ctrl-C ends it.", err=True
        )
        if not given["no_browser"]:
            import webbrowser

            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("ended", err=True)
    return Exit.DONE
