"""The answer of `regions`: which boxes are fair, which are biased, and of which nothing is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.answers.answer import (
    Answer,
    Block,
    Item,
    Listing,
    Picture,
    Step,
    Words,
    fact,
    join_words,
    strong,
    words,
)
from likewise.answers.audience import PYTHON_AUDIENCE, Audience
from likewise.answers.sentences import (
    ClaimSubject,
    claim_facts,
    comparison_facts,
    reading_facts,
    reason_facts,
    warning_facts,
)
from likewise.answers.texts import document_of, plural
from likewise.figures import percent_text

if TYPE_CHECKING:
    from likewise.analysis.region_merge import RegionKind
    from likewise.analysis.region_result import Region

_KIND_TEXTS: dict[RegionKind, str] = {
    "fair": "proved, nobody is treated differently",
    "biased": "proved, everybody has a similar individual who gets another decision",
    "undecided": "nothing is proved, some may be affected and others not",
    "empty": "excluded by the constraints",
}
REGION_KINDS = tuple(_KIND_TEXTS)


def regions_answer(
    given: Any, about: ClaimSubject | None = None, telling: Audience = PYTHON_AUDIENCE
) -> Answer:
    """The whole of it, from a `Regions` or its document."""
    found = document_of(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [*claim_facts(about, title="regions"), *reading_facts(stats)]
    blocks += [] if found["around"] is None else [fact("around", found["around"])]
    blocks += [_kind_listing(kind, found, telling) for kind in REGION_KINDS if found[kind]]
    blocks += [*comparison_facts(stats), *warning_facts(stats), *reason_facts(found["reason"])]
    blocks.append(Picture(kind="regions", drawn=found))
    return Answer(
        title="who is treated alike, and who is not",
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(found, about, telling),
        document=found,
    )


def summary_of(found: Mapping[str, Any]) -> Words:
    """The shares of the kinds that there are, of the people whom the partition is about, or of the space."""
    said = [
        words(f"{kind} ", strong(percent_text(_total_share(found[kind], weight_of))))
        for kind in REGION_KINDS
        if found[kind]
    ]
    return words(f"of {found.get('over') or 'the space'}: ", join_words(", ", said))


def _next_steps(found: Mapping[str, Any], about: ClaimSubject | None, telling: Audience) -> tuple[Step, ...]:
    if found["reason"] is None or not found["undecided"]:
        return ()
    return telling.longer("regions", **({} if about is None else {"property": about.property}))


def region_line(region: Region) -> str:
    """One region in one line."""
    shares = [percent_text(share) for share in (region.people, region.measure) if share is not None]
    return "  ".join([f"{region.kind:<9}", *(f"{text:>7}" for text in shares), region.rule])


def _kind_listing(kind: RegionKind, found: Mapping[str, Any], telling: Audience) -> Listing:
    regions, over = found[kind], found.get("over")
    most = len(regions) if telling.boxes is None else telling.boxes
    rest = regions[most:]
    where = telling.rest if telling.rest.startswith("--") else f".{kind} has them"
    of_space = words(strong(percent_text(_total_share(regions, measure_of))), " of the space")
    of_people = (
        None
        if over is None
        else words(strong(percent_text(_total_share(regions, weight_of))), f" of {over}, ")
    )
    return Listing(
        title=kind,
        words=words(
            _least_words(kind, found),
            of_people,
            of_space,
            f", {plural(len(regions), 'region')}: {_KIND_TEXTS[kind]}",
        ),
        items=tuple(_region_item(region, over) for region in regions[:most]),
        figures=("share",) if over is None else (f"of {over}", "of the space"),
        left=(
            len(rest),
            _share_figures(over, _total_share(rest, weight_of), _total_share(rest, measure_of)),
            where,
        )
        if rest
        else None,
    )


def _least_words(kind: RegionKind, found: Mapping[str, Any]) -> str:
    """Shares of what is proved are the least there is, as long as boxes are undecided: some individuals of those may be affected."""
    return "at least " if kind in ("fair", "biased") and found["undecided"] else ""


def _share_figures(over: str | None, people: Fraction, measure: Fraction) -> tuple[str, ...]:
    return (percent_text(measure),) if over is None else (percent_text(people), percent_text(measure))


def _total_share(
    regions: Iterable[Mapping[str, Any]], share: Callable[[Mapping[str, Any]], Fraction]
) -> Fraction:
    return sum(map(share, regions), Fraction(0))


def measure_of(region: Mapping[str, Any]) -> Fraction:
    """Its share of the space, exactly where the document has it so."""
    return Fraction(region.get("exact_measure", region["measure"]))


def weight_of(region: Mapping[str, Any]) -> Fraction:
    """Its share of the people whom the partition is about, or of the space."""
    people = region.get("exact_people", region.get("people"))
    return measure_of(region) if people is None else Fraction(people)


def _region_item(region: Mapping[str, Any], over: str | None) -> Item:
    remark: Words = ()
    if region.get("counterparts"):
        upper, lower = (
            ", ".join(f"{name} {value}" for name, value in one.items()) for one in region["counterparts"]
        )
        remark = words(f"one decision with {upper}, the other with {lower}")
    figures = _share_figures(over, weight_of(region), measure_of(region))
    return Item(figures=figures, words=words(region["rule"]), remark=remark)
