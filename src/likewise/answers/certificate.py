"""What a certificate claims and how its proof is made. Nothing is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.answers.answer import Answer, Block, Item, Listing, Step, fact, spacer, strong, words
from likewise.answers.texts import plural
from likewise.families.registry import words_of_rules
from likewise.figures import bound_text

if TYPE_CHECKING:
    from likewise.certificate.certificate import Outline


def outline_answer(outline: Outline, path: str) -> Answer:
    """The claim, what the certificate says of it, and the rules that it uses."""
    from shlex import quote

    if outline.kind == "witness":
        said = words("it does ", strong("not hold"), ": a pair that breaks it, with exact scores")
        blocks: list[Block] = [fact("claim", outline.words), fact("says", said)]
    else:
        cells = outline.nodes - outline.rules.get("split", 0) - outline.rules.get("neuron", 0)
        said = words(
            "it ",
            strong("holds"),
            f" for every similar pair: a proof of {plural(cells, 'cell')}, depth {outline.depth}",
        )
        blocks = [fact("claim", outline.words), _rule_listing(outline, said)]
    if outline.clearance is not None:
        covered = "covers" if outline.covers_floating_point else "does not cover"
        moved = f"scores may move by {bound_text(float(outline.clearance), up=False)}; {covered} the model's own rounding"
        blocks.append(fact("margin", moved))
    blocks.append(
        fact("model", f"sha256 {outline.digests['model'][:16]}...", spacer(), f"written by {outline.tool}")
    )
    check = Step(why="check it: nothing here was checked", how=f"likewise-check {quote(path)}")
    return Answer(
        title=f"a {outline.kind}",
        summary=said,
        blocks=tuple(blocks),
        steps=(check,),
        document={
            "kind": outline.kind,
            "claim": outline.words,
            "tool": outline.tool,
            "digests": outline.digests,
            "nodes": outline.nodes,
            "depth": outline.depth,
            "rules": outline.rules,
            "clearance": None if outline.clearance is None else float(outline.clearance),
            "covers_floating_point": outline.covers_floating_point,
        },
    )


def _rule_listing(outline: Outline, said: tuple[Any, ...]) -> Listing:
    says = {
        "split": "cuts a cell in two",
        "neuron": "cuts a cell in two, by the sum of a neuron",
        **words_of_rules(),
    }
    counted = sorted(outline.rules.items(), key=lambda item: -item[1])
    items = tuple(
        Item(figures=(f"{rule:<12} {count:>9,}",), words=words(says.get(rule, ""))) for rule, count in counted
    )
    return Listing(title="says", words=said, items=items)
