"""The answer of `audit`: how many rows have a counterpart who is treated differently, which ones, and in which groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from likewise.figures import percent_text, seconds_text

MOST_SHOWN = 10  # rows, where they are not asked for
COUNTERPART = "counterpart_"  # in front of the names of an audit's columns
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
        said = words(said, "; rows that are not biased rest on floating point")
    warning = rounding_warning(found.get("stats", {}))
    return said if warning is None else words(said, f"; {warning}")


def _count_facts(found: Mapping[str, Any]) -> list[Fact]:
    known = words(strong(f"{found['biased']:,} ({percent_text(found['share'])})"))
    if found["undecided"]:
        most = found["biased"] + found["undecided"]
        known = words("at least ", known, f" and at most {most:,} ({percent_text(most / found['total'])})")
    sure = (
        ", exact for each row" if found["proved"] else "; that others have none is floating point, not proved"
    )
    seconds = found.get("stats", {}).get("seconds")
    looked = "" if seconds is None else f", looked at in {seconds_text(seconds)}"
    said = [fact("rows", f"{found['total']:,}{looked}")]
    said.append(fact("biased", known, f" have a counterpart who breaks the claim{sure}"))
    if found["undecided"]:
        said.append(fact("undecided", f"{found['undecided']:,}: {'; '.join(found['reasons'])}"))
    return said


def _worst_rows(found: Mapping[str, Any]) -> list[Table]:
    """The rows of the document that are biased, as far as they are among the first."""
    rows = [row for row in found["rows"][:MOST_SHOWN] if row["biased"]]
    return [rows_table(rows, found.get("stats", {}).get("gap_of"), title="worst")] if rows else []


def rows_table(
    rows: list[Mapping[str, Any]], gap_of: str | None, *, title: str, verdicts: bool = False
) -> Table:
    """Rows with their counterparts: what each is, the gap, the decisions and who the counterpart is."""
    decided = bool(rows) and "decision" in rows[0]
    columns = ("row", *(("verdict",) if verdicts else ()), f"{gap_of} gap" if gap_of else "gap")
    columns += ("decision", "counterpart's", "counterpart") if decided else ("counterpart",)
    cells = tuple(_row_cells(row, decided=decided, verdicts=verdicts) for row in rows)
    return Table(title=title, columns=columns, rows=cells)


def _row_cells(row: Mapping[str, Any], *, decided: bool, verdicts: bool) -> tuple[Cell, ...]:
    cells = [Cell(words=words(value_text(row["row"])), value=row["row"])]
    if verdicts:
        cells.append(Cell(words=words(_VERDICT_TEXTS[row["biased"]]), value=_VERDICT_TEXTS[row["biased"]]))
    cells.append(Cell(words=words(_known_text(row["gap"])), value=row["gap"]))
    if decided:
        both = [_known_text(row[name]) for name in ("decision", f"{COUNTERPART}decision")]
        cells += [Cell(words=words(text), value=text) for text in both]
    who = join_words(
        ", ",
        (
            words(feature(name.removeprefix(COUNTERPART)), " = ", strong(_known_text(value)))
            for name, value in row.items()
            if name.startswith(COUNTERPART) and name != f"{COUNTERPART}decision"
        ),
    )
    said = "".join(span.text for span in who)
    return (*cells, Cell(words=who, value=said))


def _known_text(value: Any) -> str:
    return "-" if value is None else value_text(value)


def _group_table(column: str, groups: list[Mapping[str, Any]]) -> Table:
    """Counts for each value of a column."""
    names = list(groups[0])[1:] if groups else []
    rows = tuple(
        tuple(
            Cell(words=words(percent_text(value) if name == "share" else _known_text(value)), value=value)
            for name, value in group.items()
        )
        for group in groups
    )
    return Table(title="", columns=(column, *(name.replace("_", " ") for name in names)), rows=rows)


def _next_steps(
    found: Mapping[str, Any], about: ClaimSubject | None, telling: Audience, *, written: bool
) -> tuple[Step, ...]:
    same: dict[str, Any] = {} if about is None else {"property": about.property}
    longer = telling.longer("audit", **same) if found["undecided"] else ()
    if written:
        return longer
    return (*longer, *telling.steps(("all of them", "audit", {**same, "output": "rows.csv"})))
