"""Answers for programs: the document of the result, with the answer in a sentence, its warnings, and what to ask next."""

from __future__ import annotations

from typing import Any

from likewise.answers.answer import Answer, words_text


def render(answer: Answer) -> dict[str, Any]:
    """One object, ready for JSON; everything that the result's own document has is in it."""
    return {
        **answer.document,
        "summary": " ".join(words_text(answer.summary).split()),
        "warnings": list(answer.warnings),
        "next": [{"why": step.why, "command": step.how} for step in answer.steps],
    }
