"""The answer of `audit`: how many rows have a counterpart who is treated differently, which ones, and in which groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from likewise.answers.answer import (
    Answer,
    Block,
    Cell,
    Fact,
    Step,
    Table,
    Words,
    code,
    fact,
    feature,
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
    rounding_warning,
    warning_facts,
)
from likewise.answers.texts import value_text
from likewise.figures import distinct_texts, percent_text, seconds_text

MOST_SHOWN = 10  # rows, where they are not asked for
SAME_SHOWN = 3  # features of a row that its counterpart shares, to tell who it is
COUNTERPART = "counterpart_"  # in front of the names of an audit's columns
MORE = "more_like_it"
SIDE = "row_is"
_NO_FEATURES = ("row", "biased", "gap", "decision", f"{COUNTERPART}decision", "proved", MORE, SIDE)
_VERDICT_TEXTS = {True: "biased", False: "not biased", None: "undecided"}


def audit_answer(
    given: Any,
    about: ClaimSubject | None = None,
    telling: Audience = PYTHON_AUDIENCE,
    *,
    groups: tuple[str, Iterable[Mapping[str, Any]]] | None = None,
    file: str | None = None,
) -> Answer:
    """The whole of it, from an `Audit` or its document; `groups` are counts by a column, `file` is where all rows were written."""
    found = audit_document(given)
    stats = found.get("stats", {})
    blocks: list[Block] = [*claim_facts(about), *reading_facts(stats), *_count_facts(found)]
    blocks += [*warning_facts(stats), *_worst_rows(found)]
    if groups is not None:
        blocks += [fact("by", feature(groups[0])), _group_table(groups[0], list(groups[1]))]
    blocks += comparison_facts(stats)
    blocks += [] if file is None else [fact("file", code(file), whole=True)]
    return Answer(
        title="rows with a differently treated counterpart",
        summary=summary_of(found),
        blocks=tuple(blocks),
        steps=_next_steps(found, about, telling, written=file is not None),
        document=found,
    )


def audit_document(given: Any) -> Mapping[str, Any]:
    """The document; of an `Audit` with no more rows than are shown."""
    if isinstance(given, Mapping):
        return given
    found: Mapping[str, Any] = given.document(MOST_SHOWN)
    return found


def summary_of(found: Mapping[str, Any]) -> Words:
    """The counts in one sentence."""
    said = words(
        strong(f"{found['biased']:,}"),
        f" of {found['total']:,} rows ({percent_text(found['share'])}) have a differently treated counterpart",
    )
    if found["undecided"]:
        said = words(said, f"; {found['undecided']:,} are undecided ({'; '.join(found['reasons'])})")
    if not found["proved"]:
        said = words(said, "; that the others are not biased was computed in floating point, not proved")
    warning = rounding_warning(found.get("stats", {}))
    return said if warning is None else words(said, f"; {warning}")


def _count_facts(found: Mapping[str, Any]) -> list[Fact]:
    known = words(strong(f"{found['biased']:,} ({percent_text(found['share'])})"))
    if found["undecided"]:
        most = found["biased"] + found["undecided"]
        known = words("at least ", known, f" and at most {most:,} ({percent_text(most / found['total'])})")
    sure = (
        ", exact for each row"
        if found["proved"]
        else "; that the others have none was computed in floating point, not proved"
    )
    seconds = found.get("stats", {}).get("seconds")
    looked = "" if seconds is None else f", looked at in {seconds_text(seconds)}"
    said = [fact("rows", f"{found['total']:,}{looked}")]
    said.append(fact("biased", known, f" have a counterpart who breaks the claim{sure}"))
    if found.get("sides") is not None and found["biased"]:
        first, second = (found["sides"][side] for side in ("first", "second"))
        said.append(
            fact("sides", f"{first:,} of them stand as the first of the pair shown, {second:,} as the second")
        )
    if found["undecided"]:
        said.append(fact("undecided", f"{found['undecided']:,}: {'; '.join(found['reasons'])}"))
    return said


def _worst_rows(found: Mapping[str, Any]) -> list[Table]:
    """Biased rows, the worst-treated first and no two alike; of a document that does not say which are alike, the first."""
    worst = found.get("worst")
    rows = [row for row in found["rows"][:MOST_SHOWN] if row["biased"]] if worst is None else worst
    gap_of = found.get("stats", {}).get("gap_of")
    return [rows_table(rows, gap_of, title="worst", most=SAME_SHOWN)] if rows else []


def merge_rows(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows, in their order, one for all that are equal but for their number, with how many others there
    are."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = repr([(name, value) for name, value in row.items() if name not in ("row", MORE)])
        if key in found:
            found[key][MORE] += 1 + row.get(MORE, 0)
        else:
            found[key] = {MORE: 0, **row}
    return list(found.values())


def rows_table(
    rows: list[Mapping[str, Any]],
    gap_of: str | None,
    *,
    title: str,
    verdicts: bool = False,
    most: int | None = None,
) -> Table:
    """Rows with their counterparts: the gap, the decisions, what differs, and who the row is besides, by `most` of its other features (None: all)."""
    decided = bool(rows) and "decision" in rows[0]
    faces = any(_split_features(row)[1] for row in rows)
    alike = any(row.get(MORE) for row in rows)
    ordered = any(SIDE in row for row in rows)
    columns = ("row", *(("like it",) if alike else ()), *(("verdict",) if verdicts else ()))
    columns += ("row is",) if ordered else ()
    columns += (f"{gap_of} gap" if gap_of else "gap", *(("decisions",) if decided else ()))
    columns += ("row / counterpart", "the same") if faces else ("counterpart",)
    cells = []
    for row in rows:
        differs, same = _split_features(row)
        line = [Cell(words=words(value_text(row["row"])), value=row["row"])]
        if alike:
            more = f"{row[MORE]:,} more" if row[MORE] else ""
            line.append(Cell(words=words(more), value=row[MORE]))
        line += [_text_cell(words(_VERDICT_TEXTS[row["biased"]]))] if verdicts else []
        line += [_text_cell(words(_known_text(row.get(SIDE))))] if ordered else []
        line.append(Cell(words=words(_known_text(row["gap"])), value=row["gap"]))
        if decided:
            both = [_known_text(row[name]) for name in ("decision", f"{COUNTERPART}decision")]
            line.append(_text_cell(words(" / ".join(both))))
        line.append(_text_cell(join_words(", ", differs)))
        if faces:
            rest = [] if most is None or len(same) <= most else [words(f"{len(same) - most} more")]
            line.append(_text_cell(join_words(", ", [*same[:most], *rest])))
        cells.append(tuple(line))
    return Table(title=title, columns=columns, rows=tuple(cells))


def _text_cell(said: Words) -> Cell:
    return Cell(words=said, value="".join(span.text for span in said))


def _split_features(row: Mapping[str, Any]) -> tuple[list[Words], list[Words]]:
    """What differs between a row and its counterpart, both values; and the other features of the row, as far as they are known."""
    differs: list[Words] = []
    own = {name: value for name, value in row.items() if name not in _NO_FEATURES}
    for name in [name for name in own if name.startswith(COUNTERPART)]:
        feature_name, other = name.removeprefix(COUNTERPART), own.pop(name)
        mine = next((key for key in (f"{feature_name}_", feature_name) if key in own), None)
        if mine is None:
            differs.append(words(feature(feature_name), " = ", strong(_known_text(other))))
        elif other is not None and own[mine] != other:
            texts = distinct_texts(own.pop(mine), other, value_text)
            differs.append(words(feature(feature_name), f" = {texts[0]} / ", strong(texts[1])))
    return differs, [words(feature(name), f" = {value_text(value)}") for name, value in own.items()]


def _known_text(value: Any) -> str:
    return "-" if value is None else value_text(value)


def _group_table(column: str, groups: list[Mapping[str, Any]]) -> Table:
    """Counts for each value of a column; the largest gap is that of any row, also of one that keeps the claim."""
    names = list(groups[0])[1:] if groups else []
    titles = (_GROUP_TITLES.get(name, name) for name in names)
    rows = tuple(
        tuple(
            Cell(words=words(_group_text(name, value) if name in names else _known_text(value)), value=value)
            for name, value in group.items()
        )
        for group in groups
    )
    return Table(title="", columns=(column, *titles), rows=rows)


_GROUP_TITLES = {"largest_gap": "largest gap of any row"}


def _group_text(name: str, value: Any) -> str:
    if name == "share":
        return percent_text(value)
    return f"{value:,}" if isinstance(value, int) else _known_text(value)


def _next_steps(
    found: Mapping[str, Any], about: ClaimSubject | None, telling: Audience, *, written: bool
) -> tuple[Step, ...]:
    same: dict[str, Any] = {} if about is None else {"property": about.property}
    longer = telling.longer("audit", **same) if found["undecided"] else ()
    if written:
        return longer
    return (*longer, *telling.steps(("all of them", "audit", {**same, "output": "rows.csv"})))
