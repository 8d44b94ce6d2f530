"""``likewise explain``: what a certificate claims and how its proof is made, for people. Checks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.options import debug_option, json_option

if TYPE_CHECKING:
    from likewise.certificate.certificate import Outline

RULES = {
    "split": "cuts a cell in two",
    "separable": "a line separates the cell's scores from those that break the property",
    "empty": "the constraints exclude the cell",
    "enumerated": "every pair of the cell is looked at",
    "independent": "the score depends on nothing that may differ",
    "kernel": "a sum of Gaussians stays on one side of a line, by a cubic bound",
    "polynomial": "a polynomial stays on one side of a line, by a sum of functions of one feature each",
}


@click.command()
@click.argument("certificate", metavar="CERT")
@json_option
@debug_option
def explain(certificate: str, as_json: bool) -> None:
    """Say what a certificate claims and how its proof is made.

    This reads the certificate, it does not check it: `likewise-check CERT` does.
    """
    from likewise.certificate.certificate import load_certificate
    from likewise.cli.output import emit, emit_json

    outline = load_certificate(certificate).outline()
    if as_json:
        emit_json(_document(outline))
    else:
        emit("\n".join(_lines(outline, certificate)))


def _document(outline: Outline) -> dict[str, Any]:
    return {
        "kind": outline.kind,
        "claim": outline.words,
        "tool": outline.tool,
        "digests": outline.digests,
        "nodes": outline.nodes,
        "depth": outline.depth,
        "rules": outline.rules,
        "clearance": None if outline.clearance is None else float(outline.clearance),
        "covers_floating_point": outline.covers_floating_point,
    }


def _lines(outline: Outline, path: str) -> list[str]:
    from likewise.verifying.wording import paragraph

    lines = paragraph("claim", outline.words)
    if outline.kind == "witness":
        lines += paragraph("says", "it does not hold: a pair that breaks it, with exact scores")
    else:
        cells = outline.nodes - outline.rules.get("split", 0)
        lines += paragraph(
            "says", f"it holds for every similar pair: a proof of {cells:,} cells, depth {outline.depth}"
        )
        for rule, count in sorted(outline.rules.items(), key=lambda item: -item[1]):
            lines.append(f"  {rule:<12} {count:>9,}  {RULES.get(rule, '')}".rstrip())
    if outline.clearance is not None:
        covered = "covers" if outline.covers_floating_point else "does not cover"
        lines += paragraph(
            "margin", f"scores may move by {float(outline.clearance):.3g}; {covered} the model's own rounding"
        )
    lines += paragraph("model", f"sha256 {outline.digests['model'][:16]}...   written by {outline.tool}")
    lines += paragraph(
        "next", f"likewise-check {path} (check it: nothing here was checked)", whole_words=True
    )
    return lines
