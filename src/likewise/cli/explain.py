"""``likewise explain``: what a certificate claims and how its proof is made, for people. Checks nothing."""

from __future__ import annotations


def explain(certificate: str, as_json: bool) -> None:
    """Say what a certificate claims and how its proof is made.

    This reads the certificate, it does not check it: `likewise-check CERT` does.
    """
    from likewise.answers import json
    from likewise.answers.certificate import outline_answer
    from likewise.certificate.certificate import load_certificate
    from likewise.cli.output import emit_answer, emit_json

    answer = outline_answer(load_certificate(certificate).outline(), certificate)
    if as_json:
        emit_json(json.render(answer))
    else:
        emit_answer(answer)
