"""Card: a section in Markdown on what was proved of a model, to be pasted into its card.

The verdict comes from a `Result`; a disparity, a share and rates of groups may be added, each as the object or as its document. What no certificate stands
behind is said to be so.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.answers import disparity as disparity_in_words
from likewise.answers import groups as groups_in_words
from likewise.answers import share as share_in_words
from likewise.answers.answer import Block, Cell, Table, code, fact, words
from likewise.answers.markdown import code_block_md, render
from likewise.answers.texts import document_of
from likewise.answers.verdict import verdict_answer

if TYPE_CHECKING:
    from likewise.verifying.result import Result

TITLE = "Individual fairness"
CERTIFICATE_NAME = "claim.likewise"  # where nobody named a file


def model_card(
    result: Result,
    *,
    disparity: Any = None,
    share: Any = None,
    groups: Any = None,
    certificate_path: str | None = None,
    files: Mapping[str, str] | None = None,
    command: str | None = None,
) -> str:
    """The section; `certificate_path` is where readers find the certificate, `files` are names and SHA-256 digests to be listed beside
    those of the certificate, `command` asks again and writes a certificate."""
    from likewise import __version__

    told = verdict_answer(result, steps=False)
    blocks: list[Block] = list(told.blocks)
    blocks.insert(1, fact("model", result.claimed.family))
    if disparity is not None:
        blocks.append(disparity_in_words.card_fact(document_of(disparity)))
    if share is not None:
        blocks.append(share_in_words.card_fact(document_of(share)))
    if groups is not None:
        blocks.append(groups_in_words.card_fact(document_of(groups)))
    blocks.append(fact("verified with", f"Likewise {__version__}"))
    blocks += _digest_tables(result, files or {})
    text = render(replace(told, blocks=tuple(blocks)), title=TITLE)
    return (
        f"{text}\n\n### How to check this again\n\n{_reproduction_text(result, certificate_path, command)}\n"
    )


def _digest_tables(result: Result, files: Mapping[str, str]) -> list[Table]:
    digests = {} if result.certificate is None else result.certificate.outline().digests
    listed = {f"{name} in the certificate": digest for name, digest in digests.items()} | dict(files)
    rows = tuple(
        (Cell(words=words(name)), Cell(words=words(code(digest)))) for name, digest in listed.items()
    )
    return [Table(title="Digests (SHA-256)", columns=("what", "digest"), rows=rows)] if rows else []


def _reproduction_text(result: Result, path: str | None, command: str | None) -> str:
    if result.certificate is None:
        return "There is no certificate: nothing was proved or refuted. `likewise verify` with a larger budget asks again."
    what, code_of_it = ("proof", 0) if result.verdict == "FAIR" else ("pair", 1)
    commands = [f"likewise-check {shlex.quote(path or CERTIFICATE_NAME)}"]
    first = ""
    if path is None and command is not None:
        commands.insert(0, command)
    elif path is None:
        first = (
            f'`result.certificate.save("{CERTIFICATE_NAME}")` writes the certificate, and this checks it:\n\n'
        )
    return (
        f"{first}{code_block_md(chr(10).join(commands))}\n\n"
        f"The certificate holds the claim, the model's exact parameters and the {what}; `likewise-check` needs nothing else, shares no "
        f"code with the search, and exits with {code_of_it} ({what} accepted), 4 (rejected) or 2 (unreadable). `likewise export --whole` writes the claim "
        "about a model at hand, and `likewise-check --claim` compares it with the certificate's."
    )
