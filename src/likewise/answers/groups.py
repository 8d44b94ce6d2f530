"""The answer of `groups`: how often each group gets the favourable decision, how far the groups are apart, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likewise.answers.answer import (
    Answer,
    Block,
    Cell,
    Fact,
    Span,
    Step,
    Table,
    Words,
    fact,
    feature,
    strong,
    words,
)
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.sentences import (
    ClaimSubject,
    comparison_facts,
    reading_facts,
    reason_facts,
    rounding_warning,
    warning_facts,
)
from likewise.answers.texts import document_of, value_text
from likewise.figures import (
    bracket_texts,
    number_text,
    percent_bracket_texts,
    percent_text,
    seconds_text,
    sure_text,
)

_TITLES = {
    "selection_rate": "selected",
    "true_positive_rate": "true positives",
    "false_positive_rate": "false positives",
}
_DIFFERENCES = {
    "selection_rate": "parity",
    "true_positive_rate": "equal opportunity",
    "false_positive_rate": "false positives",
}
NOT_THE_SAME = (
    "rates compare groups, not individuals: equal rates do not mean that similar individuals are treated alike, and a model that treats all similar individuals alike may still "
    "select one group more often, if its members differ in what counts"
)
_FOUR_FIFTHS = {
    True: "holds: no group is selected less than four fifths as often as another",
    False: "is broken: one group is selected less than four fifths as often as another",
    None: "is not decided by these brackets",
}


def groups_answer(
    given: Any, about: ClaimSubject | None = None, telling: Audience = PYTHON_AUDIENCE
) -> Answer:
    """The whole of it, from a `Groups` or its document."""
    found = document_of(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [
        fact("groups", "by ", *_joined(found["by"])),
        fact("selected", f"who is decided {value_text(found['favourable'])}"),
        *reading_facts(stats),
        fact("over", found["over"]),
        *_rate_blocks(found),
        *_empty_facts(stats),
        fact("basis", _basis_words(found)),
        *comparison_facts(stats),
        *warning_facts(stats),
        *reason_facts(found["reason"]),
        fact("note", NOT_THE_SAME),
    ]
    return Answer(
        title="how often each group is selected",
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(found, about, telling),
        document=found,
    )


def summary_of(found: Mapping[str, Any]) -> Words:
    """Rates and their difference in one sentence."""
    rates: list[str | Span] = []
    for group in found["groups"][:6]:
        rates += [", " if rates else "", f"{group_name(group)} ", strong(rate_text(group["selection_rate"]))]
    more = f", and {len(found['groups']) - 6} more" if len(found["groups"]) > 6 else ""
    said = words(
        "selected: ", *rates, more, "; difference ", strong(_ends(found["differences"]["selection_rate"]))
    )
    warning = rounding_warning(found.get("stats", {}))
    return words(
        said,
        f"  ({found['reason']})" if found["reason"] else None,
        None if warning is None else f"; {warning}",
    )


def group_name(group: Mapping[str, Any]) -> str:
    """The values that make it."""
    return ", ".join("missing" if value is None else value_text(value) for value in group["values"])


def _empty_facts(stats: Mapping[str, Any]) -> list[Fact]:
    """Groups that the constraints leave out."""
    names = [group_name({"values": values}) for values in stats.get("empty_groups", ())]
    more = f" and {len(names) - 6:,} more groups" if len(names) > 6 else ""
    said = f"no person in {'; '.join(names[:6])}{more} satisfies the constraints"
    return [fact("left out", said)] if names else []


def rate_text(rate: Mapping[str, Any]) -> str:
    """A share, or the two that it is between."""
    if rate["count"] == 0:
        return "nobody"
    return _between(percent_bracket_texts(rate["lower"], rate["upper"]))


def _between(texts: tuple[str, str]) -> str:
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} to {texts[1]}"


def _ends(ends: Any) -> str:
    return _between(percent_bracket_texts(ends[0], ends[1]))


def _joined(names: list[str]) -> list[Any]:
    found: list[Any] = []
    for name in names:
        found += [" and " if found else "", feature(name)]
    return found


def _metrics(found: Mapping[str, Any]) -> list[str]:
    return list(found["differences"])


def _rate_table(found: Mapping[str, Any], metric: str) -> Table:
    """One line a group; of rows with the interval for the people whom they are a sample of."""
    counted = found["groups"][0][metric]["interval"] is not None
    about = "about " if found.get("stats", {}).get("shares") == "estimated" else ""
    columns = [", ".join(found["by"]), "of all", *(["rows"] if counted else []), _TITLES[metric]]
    rows = []
    for group in found["groups"]:
        name, share, rate = group_name(group), group["share"], group[metric]
        line = [
            Cell(words=words(name), value=name),
            Cell(words=words(about, percent_text(share)), value=share),
        ]
        if counted:
            line.append(Cell(words=words(f"{rate['count']:,}"), value=rate["count"]))
        line.append(Cell(words=words(strong(rate_text(rate))), value=rate["lower"]))
        if counted:
            line.append(Cell(words=words(_ends(rate["interval"])), value=rate["interval"][0]))
        rows.append(tuple(line))
    return Table(title="", columns=(*columns, *(["interval"] if counted else [])), rows=tuple(rows))


def _rate_blocks(found: Mapping[str, Any]) -> list[Block]:
    said: list[Block] = []
    for metric in _metrics(found):
        ratio = _between(bracket_texts(*found["ratios"][metric]))
        apart = strong(_ends(found["differences"][metric]))
        said += [
            _rate_table(found, metric),
            fact(_DIFFERENCES[metric], "difference ", apart, f", ratio {ratio}"),
        ]
        if metric == "selection_rate":
            said.append(fact("four-fifths rule", _FOUR_FIFTHS[found["four_fifths"]]))
    if found["equalized_odds"] is not None:
        said.append(fact("equalised odds", "difference ", strong(_ends(found["equalized_odds"]))))
    return said


def _basis_words(found: Mapping[str, Any]) -> Words:
    stats = found.get("stats", {})
    took = f" in {seconds_text(stats['seconds'])}" if "seconds" in stats else ""
    methods = {group["selection_rate"]["method"] for group in found["groups"]}
    if found["groups"][0]["selection_rate"]["count"] is not None:
        return words(
            strong("exact"),
            f" of the rows, by the model's own decisions{took}; intervals hold the shares of the people whom the rows are a sample of, all at once, with confidence "
            f"{number_text(found['confidence'])} (Clopper-Pearson)",
        )
    unproved = "" if found["proved"] else "; the model can only be asked, so that nothing is proved"
    if "sampled" in methods:
        drawn = [group for group in found["groups"] if group["selection_rate"]["method"] == "sampled"]
        rest = len(found["groups"]) - len(drawn)
        without = f"; {rest:,} of {len(found['groups']):,} groups without a sample" if rest else ""
        return words(
            strong(f"sampled: {sure_text(found['confidence'])}"),
            f" of all intervals at once (Clopper-Pearson), from {stats.get('individuals', 0):,} individuals, each decided exactly{took}{without}{unproved}",
        )
    known = "everybody looked at" if methods == {"exact"} else "a bracket that holds for certain"
    return words(strong("exact" if methods == {"exact"} else "proved"), f": {known}{took}{unproved}")


def card_fact(found: Mapping[str, Any]) -> Fact:
    """The rates as one line of a card, and that they are another question."""
    named = ", ".join(
        f"{group_name(group)} {rate_text(group['selection_rate'])}" for group in found["groups"]
    )
    apart = _ends(found["differences"]["selection_rate"])
    return fact(
        f"decided {value_text(found['favourable'])}, by {' and '.join(found['by'])}",
        f"{named}; difference {apart}, of {found['over']} (rates of groups: {NOT_THE_SAME})",
    )


def _next_steps(found: Mapping[str, Any], about: ClaimSubject | None, telling: Audience) -> tuple[Step, ...]:
    """Whether similar individuals are treated alike, where it is known who may differ: what tells the groups, if the claim does not say it."""
    longer = telling.longer("groups") if found["reason"] is not None else ()
    new: dict[str, Any] = {}
    if about is not None and not about.similarity.names:
        new["free"] = tuple(name for name in found["by"] if name in about.space)
        if not new["free"]:  # columns of the data that are no features
            return longer
    return (*longer, *telling.steps(("are similar individuals treated alike", "verify", new)))
