"""The answer of `measure`: the bracket around the largest gap of a similar pair, and a pair that attains its lower end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from likewise.answers.answer import (
    Answer,
    Block,
    Fact,
    Picture,
    Step,
    Words,
    fact,
    join_words,
    spacer,
    strong,
    words,
)
from likewise.answers.audience import PYTHON_AUDIENCE, Audience, limit_above
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
from likewise.figures import bound_text, bracket_texts, number_text, rough_bound_text, seconds_text
from likewise.spec.properties import SameDecision

if TYPE_CHECKING:
    from likewise.spec.properties import Label

UNPROVED = "the upper end was computed in floating point, not proved"
GAP_TEXTS = {
    "score": "gap of scores",
    "probability": "gap of probabilities",
    "margin": "margin of different decisions",
    "lipschitz": "change of scores over distance",
}
_BETWEEN = {"margin": "for individuals who"}
_MARGIN_OF_ONE = "margin by which one gets the class {label} and the other does not, for individuals who"


def disparity_answer(
    given: Any,
    about: ClaimSubject | None = None,
    telling: Audience = PYTHON_AUDIENCE,
    *,
    label: Label | None = None,
) -> Answer:
    """The whole of it, from a `Disparity` or its document; `label` is the class of interest."""
    found = disparity_document(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [
        *_measured_facts(found["of"], label, about),
        *bracket_facts(found, telling.certify),
    ]
    blocks += [*_rounding_facts(found), *warning_facts(stats), *reading_facts(stats)]
    blocks += reason_facts(found["reason"])
    if found["of"] == "margin" and found["upper"] is not None and found["upper"] < 0:
        blocks.append(fact("", "below 0: no similar pair gets different decisions"))
    blocks += pair_of_document(found, **telling.pair)
    blocks += [*comparison_facts(stats), *proof_facts(telling.proof if found.get("certified") else None)]
    blocks.append(Picture(kind="history", drawn=found))
    return Answer(
        title=scale_title(found["of"]),
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(found, label, telling),
        document=found,
    )


def disparity_document(given: Any) -> Mapping[str, Any]:
    """The document, with what a `Disparity` knows beside it."""
    if isinstance(given, Mapping):
        return given
    return {**given.to_dict(), "upper_label": json_value(given.upper_label), "score_name": given.score_name}


def scale_title(of: str) -> str:
    """What was measured, in a few words."""
    if of == "lipschitz":
        return "least Lipschitz constant"
    return f"largest {of} gap of a similar pair"


def gap_in_words(of: str) -> str:
    """``largest gap of scores``."""
    return f"largest {GAP_TEXTS.get(of, of)}"


def _measured_facts(of: str, label: Label | None, about: ClaimSubject | None) -> list[Fact]:
    if about is None:
        return []
    what = GAP_TEXTS[of]
    if label is not None:
        what = (
            _MARGIN_OF_ONE.format(label=repr(label)) if of == "margin" else f"{what} of the class {label!r}"
        )
    if label is None or of != "margin":
        what = f"{what} {_BETWEEN.get(of, 'between individuals who')}"
    return [
        fact("measure", f"the largest {what} {about.similarity.describe(about.space)}"),
        fact("space", about.space.describe()),
    ]


def bracket_facts(found: Mapping[str, Any], certify: str | None) -> list[Fact]:
    """The two ends, and what they rest on; `certify` is what proves the upper end."""
    seconds = seconds_text(found.get("stats", {}).get("seconds", 0.0))
    bracket = bracket_in_words(found)
    if found["of"] == "lipschitz" and found["lower"] is None:
        return [fact("largest", bracket, spacer(), f"found in {seconds}")]
    if found["proved"]:
        return [fact("largest", bracket, spacer(), strong("proved"), f" in {seconds}", *_exactness(found))]
    if found["upper"] is None:
        return [fact("largest", bracket, spacer(), f"found in {seconds}")]
    said = [fact("largest", bracket, spacer(), f"found in {seconds}, upper end not proved")]
    return said + (
        []
        if certify is None
        else [fact("", f"the upper end was computed in floating point; {certify} proves it")]
    )


def _exactness(found: Mapping[str, Any]) -> list[str]:
    """Both ends are exact; a bracket that is wider than was asked for is not called so."""
    if _is_unbounded(found):
        return [" by this pair"]
    return [", both ends"] if found.get("reason") is not None else [", exact"]


def bracket_in_words(found: Mapping[str, Any]) -> Words:
    """Both ends, rounded outwards, or the one number that they are."""
    lower, upper = found["lower"], found["upper"]
    low, high = bracket_texts(lower, upper)
    if _is_unbounded(found):
        return words(strong("no constant is large enough"))
    if lower is None and upper is None:
        return words("nothing is known")
    if upper is None:
        return words("at least ", strong(low), "; no upper bound is known")
    if lower is None:
        return words("at most ", strong(high))
    return words(strong(low)) if low == high else words("between ", strong(low), " and ", strong(high))


def _is_unbounded(found: Mapping[str, Any]) -> bool:
    """Whether two at no distance get different scores, of which no constant is an end."""
    return found.get("of") == "lipschitz" and found["lower"] is None


def summary_of(found: Mapping[str, Any]) -> Words:
    """The bracket in one sentence, with what is to be said of its ends."""
    notes = [UNPROVED] * (not found["proved"] and found["upper"] is not None) + [found["reason"]] * bool(
        found["reason"]
    )
    notes += [note for note in (program_note(found), rounding_warning(found.get("stats", {}))) if note]
    said = words(f"{scale_title(found['of'])}: ", bracket_in_words(found))
    return words(said, f"  ({'; '.join(notes)})" if notes else None)


def program_note(found: Mapping[str, Any]) -> str | None:
    """The program's own bracket, where it is another one in the digits that are shown."""
    ends = (("lower", "program_lower"), ("upper", "program_upper"))
    shows = any(
        found.get(its) is not None
        and found[own] is not None
        and number_text(found[own]) != number_text(found[its])
        for own, its in ends
    )
    return program_in_words(found) if shows else None


def program_in_words(found: Mapping[str, Any]) -> str:
    """The program's own bracket: what it shows for the pair, and what its rounding can add for any."""
    if found.get("program_lower") is None:
        return "the program itself was not asked"
    shows = f"the program itself shows {number_text(found['program_lower'])} for the pair"
    rounding = found.get("stats", {}).get("program_rounding", {})
    if found.get("program_upper") is None:
        return shows if rounding.get("moves") is not None else f"{shows}; its rounding is not known"
    if (
        number_text(found["program_upper"]) == number_text(found["upper"])
        and rounding.get("moves") is not None
    ):
        return f"{shows}; its rounding adds at most {rough_bound_text(rounding['moves'])} to that of any pair"
    return f"{shows}, and with its rounding at most {_program_upper_text(found)} for any"


def _program_upper_text(found: Mapping[str, Any]) -> str:
    """The upper end of the program: what rounding alone makes of 0 in one digit, as any bound of rounding."""
    most: float = found["program_upper"]
    return bound_text(most, up=True) if found["upper"] else rough_bound_text(most)


def _rounding_facts(found: Mapping[str, Any]) -> list[Fact]:
    return [] if found.get("program_lower") is None else [fact("rounding", program_in_words(found))]


def card_fact(found: Mapping[str, Any]) -> Fact:
    """The bracket as one line of a card, its ends rounded to their safe sides."""
    said = bracket_in_words(found)
    notes: list[Words] = []
    if found["upper"] is not None and found.get("certified"):
        notes.append(words("the upper end was accepted by the checker"))
    elif found["upper"] is not None and not found.get("proved", False):
        notes.append(words("the upper end was computed in floating point, not proved"))
    if found.get("program_upper") is not None:
        notes.append(words(f"for the program, which rounds, at most {_program_upper_text(found)}"))
    reason = f" ({found['reason']})" if found.get("reason") else None
    return Fact(title=gap_in_words(found["of"]), words=words(join_words("; ", [said, *notes]), reason))


def _next_steps(found: Mapping[str, Any], label: Label | None, telling: Audience) -> tuple[Step, ...]:
    from likewise.analysis.measure import NEEDS_NO_CERTIFICATE

    of, upper = found["of"], found["upper"]
    one_class = {} if label is None else {"class_of_interest": label}
    if _is_unbounded(found):
        return ()  # time does not help
    if upper is None or found["reason"] not in (None, NEEDS_NO_CERTIFICATE):
        return telling.longer("measure", of=of, **one_class)
    if of == "lipschitz":
        return ()
    limit = None if of == "margin" else limit_above(of, upper, label)
    if limit is None:
        return telling.steps(
            (
                "does any pair get different decisions",
                "verify",
                {"property": SameDecision(class_of_interest=label)},
            )
        )
    return telling.steps(("prove a limit of your own", "verify", {"property": limit}))
