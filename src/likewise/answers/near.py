"""The answer of `near`: up to which distance from the data the claim is proved, and at which a pair breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likewise.answers.answer import (
    Answer,
    Block,
    Cell,
    Fact,
    Step,
    Table,
    Words,
    fact,
    strong,
    verdict,
    words,
)
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.pair import pair_of_document
from likewise.answers.sentences import ClaimSubject, comparison_facts, reading_facts, reason_facts
from likewise.answers.texts import json_value
from likewise.figures import distinct_texts, number_text


def near_answer(given: Any, about: ClaimSubject | None = None, telling: Audience = PYTHON_AUDIENCE) -> Answer:
    """The whole of it, from a `Near` or its document."""
    found = _document(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [*_asked_facts(found, about), *reading_facts(stats), *_verdict_facts(found)]
    blocks += [fact("proved", _proved_words(found)), *_refuted_facts(found)]
    blocks += pair_of_document(found, **telling.pair) if found["refuted"] is not None else []
    blocks += [*comparison_facts(stats), *reason_facts(found["reason"])]
    blocks += [_level_table(found)]
    return Answer(
        title="near the data",
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(found, about, telling),
        document=found,
    )


def _document(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    found: dict[str, Any] = given.to_dict()
    if given.result is not None:
        names = ("decisions", "scores", "probabilities", "upper_label", "score_name")
        found |= {name: json_value(getattr(given.result, name)) for name in names}
    return found


def _asked_facts(found: Mapping[str, Any], about: ClaimSubject | None) -> list[Fact]:
    if about is None:
        return []
    asked = (
        "the largest distance from the rows within which"
        if found["distance"] is None
        else f"whether within {number_text(found['distance'])} of a row"
    )
    similar = f"individuals who {about.similarity.describe(about.space)} {about.property.describe()}"
    return [fact("near", f"{asked} {similar}"), fact("space", about.space.describe())]


def _verdict_facts(found: Mapping[str, Any]) -> list[Fact]:
    if found["verdict"] is None:
        return []
    return [
        fact("verdict", verdict(found["verdict"]), f" within {number_text(found['distance'])} of the data")
    ]


def _texts(found: Mapping[str, Any]) -> tuple[str, str]:
    proved, refuted = found["proved"], found["refuted"]
    if proved is None or refuted is None:
        return number_text(proved), number_text(refuted)
    return distinct_texts(proved, refuted)


def _proved_words(found: Mapping[str, Any]) -> Words:
    proved, boxes = found["proved"], len(found["boxes"])
    if proved is None:
        return words("at no distance")
    if proved >= 1:
        return words(strong("for everybody"))
    covered = f" ({boxes} box{'' if boxes == 1 else 'es'} around rows, a certificate each)"
    return words("up to ", strong(_texts(found)[0]), covered)


def _refuted_facts(found: Mapping[str, Any]) -> list[Fact]:
    if found["refuted"] is None:
        return []
    told = "a row itself" if not found["refuted"] else f"{_texts(found)[1]} away from a row"
    return [fact("refuted", "by this pair, ", strong(told))]


def summary_of(found: Mapping[str, Any]) -> Words:
    """Both ends in one sentence."""
    proved, refuted = found["proved"], found["refuted"]
    low, high = _texts(found)
    if proved is not None and proved >= 1:
        said = words("proved for everybody, however far from the data")
    elif proved is None:
        said = words("proved at no distance from the data")
    else:
        said = words("proved up to a distance of ", strong(low), " from the data")
    if refuted is not None:
        broken = words("by a row itself") if not refuted else words("by a pair at ", strong(high))
        said = words(said, ", refuted ", broken)
    if found["verdict"] is not None:
        said = words(
            verdict(found["verdict"]), f" within {number_text(found['distance'])} of the data: ", said
        )
    return words(said, f"  ({found['reason']})" if found["reason"] else None)


def _level_table(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(words=words(number_text(level)), value=level),
            Cell(words=words(verdict(told)), value=told),
            Cell(words=words(str(boxes)), value=boxes),
        )
        for level, told, boxes in found["history"]
    )
    return Table(
        title="distances asked about", columns=("distance", "verdict", "boxes"), rows=rows, detail=True
    )


def _next_steps(found: Mapping[str, Any], about: ClaimSubject | None, telling: Audience) -> tuple[Step, ...]:
    if found["reason"] is None:
        return ()
    options: dict[str, Any] = {} if about is None else {"property": about.property}
    options |= {} if found["distance"] is None else {"distance": found["distance"]}
    return telling.longer("near", **options)
