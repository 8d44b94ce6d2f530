"""Formulas as MathML, made by docutils while the pages are built: no script, no fonts, no network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

# Bars that open or close: docutils puts the space of an operator around them unless they come as a fence.
FENCES = {r"\lvert": r"\left|", r"\rvert": r"\right|", r"\lVert": r"\left\|", r"\rVert": r"\right\|"}

LOGGER = logging.getLogger(__name__)


def _mathml(node, *, block):
    formula = node.astext()
    for bar, fence in FENCES.items():
        formula = formula.replace(bar, fence)
    try:
        return tex2mathml(formula, as_block=block).replace("<mo>'</mo>", "<mi>′</mi>")
    except MathError as error:
        LOGGER.warning("%s in the formula %r", error, node.astext(), location=node)
        return ""


def _inline(writer, node):
    writer.body.append(f'<span class="formula">{_mathml(node, block=False)}</span>')
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="formula">{_mathml(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
