"""Single backticks in docstrings: a public name becomes a link to its page, anything else is code."""

from docutils import nodes
from sphinx import addnodes

import likewise


def _name(_role, rawtext, text, _lineno, _inliner, options=None, content=None):  # noqa: ARG001 - docutils' signature
    shown = nodes.literal(rawtext, text)
    name = text.removesuffix("()").removeprefix("likewise.")
    if name not in likewise.__all__ or name in ("datasets", "__version__"):
        return [shown], []
    target = f"likewise.{name}"
    link = addnodes.pending_xref(
        rawtext, shown, refdomain="py", reftype="obj", reftarget=target, refexplicit=True
    )
    return [link], []


def setup(app):
    """Called by Sphinx."""
    app.add_role("name", _name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
