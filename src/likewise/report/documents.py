"""What a report is made of: the documents of analyses, and the answers that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from likewise.answers.audience import Audience, suggest_nothing
from likewise.answers.audit import audit_answer, merge_rows, rows_table
from likewise.answers.disparity import disparity_answer
from likewise.answers.disparity import disparity_document as facts_of_disparity
from likewise.answers.groups import groups_answer
from likewise.answers.margins import margins_answer
from likewise.answers.radius import radius_answer
from likewise.answers.radius import radius_document as facts_of_radius
from likewise.answers.regions import regions_answer
from likewise.answers.repair import repair_document_answer
from likewise.answers.share import share_answer
from likewise.answers.texts import document_of, json_value
from likewise.errors import SpecError
from likewise.figures import number_text
from likewise.spec.along import cases_of, words_of

if TYPE_CHECKING:
    from likewise.answers.answer import Answer
    from likewise.spec.along import Alongs
    from likewise.spec.display_names import DisplayNames
    from likewise.spec.features import Feature
    from likewise.spec.similarity import Relation
    from likewise.verifying.result import Result

# The keys without which a document is not what it is said to be.
DOCUMENT_KEYS = {
    "disparity": ("of", "lower", "upper", "history", "proved", "reason"),
    "margins": ("of", "points", "reason"),
    "radius": ("of", "proved", "refuted", "largest", "history", "reason"),
    "audit": ("total", "biased", "undecided", "share", "share_at_most", "proved", "reasons", "rows"),
    "share": ("lower", "upper", "method", "confidence", "over", "proved", "reason"),
    "groups": ("by", "groups", "favourable", "over", "differences", "ratios", "four_fifths", "reason"),
    "regions": ("fair", "biased", "undecided", "empty", "shares", "around", "reason"),
    "repair": ("method", "how", "threshold", "rows", "changed", "measure", "before", "after", "result"),
}
# Objects that know more than their documents.
DOCUMENT_READERS: dict[str, Callable[[Any], Mapping[str, Any]]] = {
    "disparity": facts_of_disparity,
    "radius": facts_of_radius,
}
STATS_OF_ROWS = ("nearest_row", "frequency")  # of a result, which quote rows
# What showing a document of another shape ends in.
SAME_IN_ROWS = 6  # features of a row of the data that are shown although they are the same in its counterpart
SHAPE_ERRORS = (ValueError, KeyError, IndexError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyses:
    """Documents of what else was found about the claim; `left_out` has reasons why one is not there, `files` where one was read."""

    disparity: Mapping[str, Any] | None = None
    margins: Mapping[str, Any] | None = None
    radius: Mapping[str, Any] | None = None
    audit: Mapping[str, Any] | None = None
    share: Mapping[str, Any] | None = None
    groups: Mapping[str, Any] | None = None
    regions: Mapping[str, Any] | None = None
    repair: Mapping[str, Any] | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        left_out: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        **given: Any,
    ) -> Analyses:
        """From objects with `to_dict`, or their documents; refuses what is neither."""
        documents = {name: _check_document(name, value) for name, value in given.items()}
        return cls(**documents, left_out=left_out or {}, files=files or {})


def without_rows(analyses: Analyses) -> Analyses:
    """The same counts, and no individual: no row of the data, no pair, nobody that an answer is about."""
    nobody = dict.fromkeys(("pair", "scores", "decisions", "probabilities"))
    lists: dict[str, Any] = {"rows": [], "worst": []}
    kept: dict[str, Any] = {}
    for name in DOCUMENT_KEYS:
        found = getattr(analyses, name)
        if found is None or (name == "regions" and found["around"] is not None):
            kept[name] = None
            continue
        hidden = lists if name == "audit" else nobody
        kept[name] = {key: hidden.get(key, value) for key, value in found.items()}
        if "stats" in found:
            stats = found["stats"].items()
            kept[name]["stats"] = {key: value for key, value in stats if key not in STATS_OF_ROWS}
    left_out = {"rows of the data, pairs and other individuals": "--no-rows"}
    return replace(analyses, **kept, left_out={**analyses.left_out, **left_out})


def _check_document(name: str, given: Any) -> Mapping[str, Any] | None:
    if given is None:
        return None
    document = DOCUMENT_READERS.get(name, document_of)(given) if hasattr(given, "to_dict") else given
    missing = [key for key in DOCUMENT_KEYS[name] if not isinstance(document, Mapping) or key not in document]
    if missing:
        raise SpecError(
            f"{name}: not what Likewise answers: it has no {missing[0]!r}",
            hint=f"pass the object that the analysis returned, or its to_dict(), as {name}",
        )
    return {key: json_value(value) for key, value in document.items()}


# -- the answers ------------------------------------------------------------------------------------------


def make_answers(analyses: Analyses, result: Result, *, rows: int, boxes: int) -> dict[str, Answer]:
    """The answers of the analyses that there are, by their names; refuses a file that is of another shape.

    Pairs are left out: the page shows the one of the verdict.
    """
    telling = Audience(speak=suggest_nothing, certify=None, boxes=boxes)
    claimed = result.claimed.property
    made: dict[str, Callable[[Mapping[str, Any]], Answer]] = {
        "disparity": lambda found: disparity_answer({**found, "pair": None}, None, telling),
        "margins": lambda found: margins_answer(found, claimed, str(result.verdict)),
        "radius": lambda found: radius_answer({**found, "pair": None}, None, telling),
        "share": lambda found: share_answer(found, None, telling),
        "groups": lambda found: groups_answer(found, None, telling),
        "regions": lambda found: regions_answer(found, None, telling),
        "audit": lambda found: _audit_rows_answer(found, telling, rows),
        "repair": repair_document_answer,
    }
    answers = {}
    for name, make in made.items():
        document = getattr(analyses, name)
        if document is None:
            continue
        try:
            answers[name] = make(document)
        except SHAPE_ERRORS as error:
            if name not in analyses.files:
                raise
            raise SpecError(
                f"{analyses.files[name]}: not what Likewise answers about {name}: {error}"
            ) from error
    return answers


def _audit_rows_answer(found: Mapping[str, Any], telling: Audience, most: int) -> Answer:
    """With all rows that there is room for, and not the biased ones alone; where nothing is known of any row, without a table of dashes."""
    answer, rows = audit_answer(found, None, telling), found["rows"]
    if all(row["biased"] is None and row["gap"] is None for row in rows):
        return replace(answer, blocks=tuple(answer.facts))
    merged = merge_rows(rows)
    title = "All rows" if len(merged) <= most else f"The worst {most} rows"
    table = rows_table(merged[:most], None, title=f"{title}, worst first", verdicts=True, most=SAME_IN_ROWS)
    return replace(answer, blocks=(*answer.facts, table))


# -- the space --------------------------------------------------------------------------------------------


def space_table(result: Result, most: int, names: DisplayNames) -> dict[str, Any]:
    """Features with their values and how far similar individuals may differ in them, at most so many, and the constraints."""
    space, similarity = result.claimed.space, result.claimed.similarity
    relations = similarity.relations(space)
    rows = [
        {
            "name": names.feature(name),
            "column": None if names.feature(name) == name else name,
            "values": space[name].describe(),
            "relation": _relation_text(relation, space[name])
            if name not in similarity.along
            else _along_text(cases_of(similarity.along[name]), names),
            "may": relation.kind != "same",
        }
        for name, relation in zip(space.names, relations, strict=True)
    ]
    left = max(len(rows) - most, 0)
    if left:
        rows.sort(key=lambda row: not row["may"])
    return {
        "summary": space.describe(),
        "rows": rows[:most],
        "left": left,
        "rules": space.rules,
        "notes": result.claimed.notes,
    }


def _along_text(cases: Alongs, names: DisplayNames) -> str:
    """What a feature changes along with, and how, with names for readers."""
    shown = [
        one.renamed({name: names.feature(name) for name in (one.feature, *(c.feature for c in one.where))})
        for one in cases
    ]
    return f"changes along with {shown[0].feature}: {words_of(tuple(shown))}"


def _relation_text(relation: Relation, feature: Feature) -> str:
    if relation.kind == "same":
        return "the same"
    if relation.kind == "free":
        return "may differ in any way"
    if relation.tolerance is not None:
        steps = " steps" if feature.kind == "ordinal" else ""
        return f"may differ by at most {number_text(float(relation.tolerance))}{steps}"
    many = len(relation.allowed)
    return f"may differ between {many} pair{'s' * (many != 1)} of values"
