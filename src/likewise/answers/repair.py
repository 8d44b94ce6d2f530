"""The answer of `repair`: the verdict on the new model, how it was made, and what it costs on the rows that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Answer, Block, Fact, Step, Words, code, fact, strong, verdict, words
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.sentences import reason_facts
from likewise.answers.texts import document_of
from likewise.answers.verdict import verdict_answer
from likewise.figures import number_text, percent_text

if TYPE_CHECKING:
    from likewise.analysis.repair_result import Repaired


def repair_answer(
    found: Repaired, telling: Audience = PYTHON_AUDIENCE, *, claim: bool = False, output: str | None = None
) -> Answer:
    """The whole of it; `output` is the file that was asked for, which is written if the verdict is FAIR."""
    fair = found.result.verdict == "FAIR"
    document = found.to_dict()
    proved = verdict_answer(found.result, replace(telling, proof=None), claim=claim, steps=False)
    blocks: list[Block] = [*proved.blocks, *cost_facts(document)]
    if output is not None:
        written = code(output) if fair else "not written: it is not FAIR"
        blocks.append(fact("model", written, whole=True))
    if found.result.certificate is not None:
        from likewise.answers.sentences import proof_facts

        blocks += proof_facts(telling.proof)
    return Answer(
        title=f"repaired: {document['how']}",
        summary=summary_of(document),
        blocks=tuple(blocks),
        steps=_next_steps(found, telling, output),
        document=document | ({} if output is None else {"output": output if fair else None}),
    )


def repair_document_answer(given: Any) -> Answer:
    """The same from a document, which has no more of the verdict than its name and reason."""
    document = document_of(given)
    facts = [
        fact("verdict", verdict(document["result"]["verdict"]), " on the new model"),
        *reason_facts(document["result"]["reason"]),
        *cost_facts(document),
    ]
    return Answer(
        title=f"repaired: {document['how']}",
        summary=summary_of(document),
        blocks=tuple(facts),
        document=document,
    )


def summary_of(document: Mapping[str, Any]) -> Words:
    """What was made, and the verdict on it."""
    if document["method"] == "threshold" and document["threshold"] is None:
        return words(f"No other model was made of this one: {document['how']}.")
    said = words(
        f"Another model was made of this one: {document['how']}. The verdict on it is ",
        verdict(document["result"]["verdict"]),
    )
    if document["result"]["verdict"] == "FAIR" and document["result"].get("certified"):
        said = words(said, ", with a certificate of its own that the checker has accepted")
    return words(said, ".")


def cost_facts(document: Mapping[str, Any]) -> list[Fact]:
    """How it was made, how many decisions are other ones, and how often both models are right."""
    facts = [fact("repaired", document["how"])]
    rows, changed = document["rows"], document["changed"]
    if rows and changed is not None:
        what = "decisions" if document["measure"] == "accuracy" else "predictions"
        share = f"({percent_text(changed / rows)})"
        facts.append(fact("changed", strong(f"{changed:,}"), f" of {rows:,} {what} {share}"))
    if document["before"] is not None and document["after"] is not None:
        facts += [
            fact(when, f"{document['measure']} ", strong(number_text(document[when])))
            for when in ("before", "after")
        ]
    return facts


def _next_steps(found: Repaired, telling: Audience, output: str | None) -> tuple[Step, ...]:
    same = {"property": found.result.claimed.property}
    if found.result.verdict == "FAIR":
        if output is None:
            return telling.steps(("keep the model", "repair", {**same, "output": "fair.skops"}))
        return telling.steps(("verify it again", "verify", {**same, "model": output}))
    if found.method != "average":
        return telling.steps(("the mean over what may differ", "repair", {**same, "method": "average"}))
    return telling.longer("repair", **same)
