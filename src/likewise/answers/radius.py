"""The answer of `radius`: up to which tolerance the property is proved, and from which on a pair refutes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likewise.answers.answer import (
    Answer,
    Block,
    Cell,
    Fact,
    Picture,
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
from likewise.answers.sentences import (
    ClaimSubject,
    comparison_facts,
    proof_facts,
    reading_facts,
    reason_facts,
    rounding_warning,
    warning_facts,
)
from likewise.answers.texts import json_value
from likewise.figures import distinct_texts, number_text


def radius_answer(
    given: Any, about: ClaimSubject | None = None, telling: Audience = PYTHON_AUDIENCE
) -> Answer:
    """The whole of it, from a `Radius` or its document."""
    found = radius_document(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [*_asked_facts(found, about), *reading_facts(stats)]
    blocks += [fact("proved", _proved_words(found)), *warning_facts(stats), *_refuted_facts(found)]
    blocks += pair_of_document(found, **telling.pair) if found["refuted"] is not None else []
    blocks += [*comparison_facts(stats), *reason_facts(found["reason"])]
    blocks += proof_facts(telling.proof if found.get("certified") else None)
    blocks += [Picture(kind="radius", drawn=found), _level_table(found)] if found.get("history") else []
    return Answer(
        title=f"the {_subject_text(found)}",
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(found, about, telling),
        document=found,
    )


def radius_document(given: Any) -> Mapping[str, Any]:
    """The document, with how the model treats the pair and what the proof says of the program that rounds."""
    if isinstance(given, Mapping):
        return given
    found = {**given.to_dict(), "rounding": given.rounding}
    if given.result is not None:
        names = ("decisions", "scores", "probabilities", "upper_label", "score_name")
        found |= {name: json_value(getattr(given.result, name)) for name in names}
    return found


def _subject_text(found: Mapping[str, Any]) -> str:
    return "factor on all tolerances" if found["of"] is None else f"tolerance of {found['of']}"


def _asked_facts(found: Mapping[str, Any], about: ClaimSubject | None) -> list[Fact]:
    if about is None:
        return []
    similar = about.similarity.describe(about.space) if about.similarity.names else "differ in nothing else"
    return [
        fact(
            "radius",
            f"the {_subject_text(found)} up to which individuals who {similar} {about.property.describe(one_way=about.similarity.one_way)}",
        ),
        fact("space", about.space.describe()),
    ]


def _proved_words(found: Mapping[str, Any]) -> Words:
    proved, note = found["proved"], rounding_note(found)
    if proved is None:
        said = words("at no level")
    elif proved >= found["largest"]:
        said = words(strong("at every level"), f" ({number_text(found['largest'])} reaches everybody)")
    elif proved == 0 and not found.get("certified"):
        said = words(strong("0"), ": only for individuals who are alike")
    else:
        said = words("up to ", strong(level_texts(found)[0]))
    return said if note is None else words(said, f"; {note}")


def level_texts(found: Mapping[str, Any]) -> tuple[str, str]:
    """The largest level that is proved and the smallest that is refuted, told apart."""
    proved, refuted = found["proved"], found["refuted"]
    if proved is None or refuted is None:
        return number_text(proved), number_text(refuted)
    return distinct_texts(proved, refuted)


def _refuted_facts(found: Mapping[str, Any]) -> list[Fact]:
    if found["refuted"] is None:
        return []
    shown = ", by this pair" if found.get("pair") is not None else ", by a pair"
    return [fact("refuted", "at ", strong(level_texts(found)[1]), shown)]


def rounding_note(found: Mapping[str, Any]) -> str | None:
    """What the proof says of the program that rounds, where it does not cover it."""
    if found.get("program_proved") == found["proved"]:
        return None
    note: str | None = found.get("rounding")
    return note


def summary_of(found: Mapping[str, Any]) -> Words:
    """Both ends in one sentence, with what is to be said of them."""
    what, proved, refuted = _subject_text(found), found["proved"], found["refuted"]
    if proved is None:
        said = words(f"no {what} is proved")
        if refuted is not None:
            said = words(said, ", ", strong(level_texts(found)[1]), " is refuted")
    elif refuted is None and proved >= found["largest"]:
        said = words(f"every {what} is proved")
    else:
        said = words(f"{what}: proved up to ", strong(level_texts(found)[0]))
        said = words(
            said,
            *(", nothing refuted",) if refuted is None else (", refuted at ", strong(level_texts(found)[1])),
        )
    notes = (rounding_note(found), found["reason"], rounding_warning(found.get("stats", {})))
    told = "; ".join(note for note in notes if note)
    return words(said, f"  ({told})" if told else None)


def _level_table(found: Mapping[str, Any]) -> Table:
    """The levels that were asked about, in their order."""
    rows = tuple(
        (
            Cell(words=words(number_text(level)), value=level),
            Cell(words=words(verdict(told)), value=told),
            Cell(words=words(number_text(seconds)), value=seconds),
        )
        for level, told, seconds in found["history"]
    )
    return Table(title="levels asked about", columns=("level", "verdict", "seconds"), rows=rows, detail=True)


def _next_steps(found: Mapping[str, Any], about: ClaimSubject | None, telling: Audience) -> tuple[Step, ...]:
    if found["reason"] is None:
        return ()
    options: dict[str, Any] = {} if about is None else {"property": about.property}
    options |= {} if found["of"] is None else {"feature": found["of"]}
    return telling.longer("radius", **options)
