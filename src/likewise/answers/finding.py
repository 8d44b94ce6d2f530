"""The answer of a published algorithm: what it says, and what that is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.answers.answer import Answer, Block, fact, spacer, strong, words
from likewise.answers.audience import PYTHON_AUDIENCE
from likewise.answers.pair import pair_of_document
from likewise.figures import seconds_text

if TYPE_CHECKING:
    from likewise.paper.answers import Finding


def finding_answer(found: Finding) -> Answer:
    """The whole of it."""
    document = found.to_dict()
    blocks: list[Block] = [
        fact("method", found.algorithm),
        fact("answer", strong(found.answer), spacer(2), f"after {seconds_text(found.seconds)}"),
        fact("means", found.meaning),
        *pair_of_document(document, **PYTHON_AUDIENCE.pair),
    ]
    return Answer(
        title=str(found.answer),
        summary=words(found.meaning),
        blocks=tuple(blocks),
        document=document,
    )
