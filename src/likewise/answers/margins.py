"""How the largest gap grows with the tolerances of the claim, beside the limit that the claim sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Answer, Block, Cell, Picture, Table, strong, words
from likewise.answers.disparity import gap_in_words
from likewise.answers.sentences import reason_facts
from likewise.answers.texts import document_of
from likewise.figures import number_text

if TYPE_CHECKING:
    from likewise.spec.properties import Property


def margins_answer(given: Any, property: Property, verdict: str) -> Answer:
    """The brackets, and what they say of the claim where its limit is on the same scale."""
    found = document_of(given)
    limit = claim_limit(property, found["of"])
    points = [point for point in found["points"] if point[0] is not None]
    what = gap_in_words(found["of"])
    said = words(
        "With all tolerances of the claim multiplied by one factor (1 is the claim itself, 0 leaves only what may differ in any way), the "
        f"{what} of two similar individuals is between these ends.",
    )
    if limit is not None:
        said = words(said, " Above the limit of ", strong(number_text(limit)), " the claim is broken.")
    blocks: list[Block] = [*reason_facts(found["reason"])]
    blocks.append(Picture(kind="margins", drawn={"points": points, "limit": limit, "of": found["of"]}))
    blocks.append(_bracket_table(points, limit, verdict))
    return Answer(title=f"the {what}, by tolerance", summary=said, blocks=tuple(blocks), document=found)


def _bracket_table(points: list[Any], limit: float | None, verdict: str) -> Table:
    columns = ("factor", "at least", "at most", "upper end")
    rows = []
    for factor, low, high, proved in points:
        row = [Cell(words=words(number_text(value)), value=value) for value in (factor, low, high)]
        row.append(Cell(words=words("proved" if proved else "floating point")))
        if limit is not None:
            row.append(Cell(words=words(claim_status(factor, low, high, proved, limit, verdict))))
        rows.append(tuple(row))
    return Table(
        title="the largest gap for each factor on all tolerances",
        columns=columns if limit is None else (*columns, "the claim"),
        rows=tuple(rows),
    )


def claim_limit(property: Property, of: str) -> float | None:
    """What a gap has to exceed to break the claim; for decisions, the margin."""
    if property.kind == "decision":
        return float(property.margin) if of == "margin" else None
    return float(property.delta) if of == property.kind else None


def claim_status(
    factor: float, low: float | None, high: float | None, proved: bool, limit: float, verdict: str
) -> str:
    """What is known of the claim at a factor: a verdict FAIR holds for all smaller ones as well, BIASED for all larger ones."""
    if (verdict == "BIASED" and factor >= 1) or (low is not None and low > limit):
        return "broken"
    if verdict == "FAIR" and factor <= 1:
        return "kept"
    if high is not None and high < limit:
        return "kept" if proved else "kept, by floating point"
    return "open"
