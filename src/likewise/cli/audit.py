"""``likewise audit``: for every row of the data, is there a similar individual who is treated differently?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import Exit
from likewise.cli.options import (
    CLASS,
    PROPERTY,
    ClaimFlags,
    SearchFlags,
    claim_options,
    debug_option,
    json_option,
    quiet_option,
    search_options,
)

if TYPE_CHECKING:
    from likewise.analysis.auditing import Audit
    from likewise.cli.claims import Loaded

SHOWN = 10


@click.command(
    epilog="Exit codes: 0 every row is decided, 2 usage or input error, 3 some rows are not, 101 internal error."
)
@claim_options
@PROPERTY
@CLASS
@click.option("--output", metavar="FILE", help="Write all rows here: .csv or .parquet.")
@click.option("--by", "by", metavar="COLUMN", help="Count for each value of this column of the data.")
@search_options
@json_option
@quiet_option
@debug_option
def audit(**given: Any) -> int:
    """Who in the data has a differently treated counterpart?

    SPEC and flags are those of `likewise verify`. For every row of the data: is there a similar individual, in the data or not, who is
    treated differently, who, and by how much? The worst-treated rows come first.

    \b
    likewise audit claim.toml --output rows.csv
    likewise audit claim.toml --by sex --property probability:0.1
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.auditing import audit_problem
    from likewise.cli.claims import load, running
    from likewise.cli.output import emit, emit_json
    from likewise.errors import SpecError

    with running(flags, look, progress=not given["quiet"]) as run:
        loaded = load(flags, run, given["property"], given["class_of_interest"])
        if loaded.rows is None:
            raise SpecError("audit needs rows to look at", hint="--data rows.csv, or [data] in the spec file")
        found = audit_problem(loaded.problem, run)
    groups = None if given["by"] is None else found.by(given["by"])
    if given["output"] is not None:
        found.save(given["output"])
    if given["as_json"]:
        from likewise.analysis.audit_frames import records

        document = found.to_dict()
        if groups is not None:
            document["by"] = {"column": given["by"], "groups": records(groups)}
        emit_json(document)
    elif given["quiet"]:
        emit(repr(found.share))
    else:
        emit(_text(found, loaded, groups, flags, given))
    return Exit.UNKNOWN if found.undecided else Exit.DONE


def _text(found: Audit, loaded: Loaded, groups: Any, flags: ClaimFlags, given: dict[str, Any]) -> str:
    from likewise.verifying.wording import (
        claim_in_words,
        paragraph,
        reading_lines,
        rounding_lines,
        rows_lines,
    )

    lines = paragraph("claim", claim_in_words(loaded.space, loaded.similarity, loaded.property))
    lines += paragraph("space", loaded.space.describe())
    lines += reading_lines(found.stats)
    lines += paragraph("rows", f"{found.total:,}, looked at in {found.stats['seconds']:.2f} s")
    exact = (
        ", exact for each row" if found.proved else "; that others have none is floating point, not proved"
    )
    lines += paragraph("biased", f"{_count(found)} have a counterpart who breaks the claim{exact}")
    if found.undecided:
        lines += paragraph("undecided", f"{found.undecided:,}: {'; '.join(found.reasons)}")
    lines += rounding_lines(found.stats)
    if found.biased:
        lines += ["worst", *_worst(found)]
    if groups is not None:
        lines += [*paragraph("by", str(given["by"])), *_groups(groups)]
    lines += rows_lines(found.stats)
    if given["output"] is not None:
        lines += paragraph("file", str(given["output"]), whole_words=True)
    else:
        lines += paragraph(
            "next", f"likewise audit {flags.spec or '...'} --output rows.csv (all of them)", whole_words=True
        )
    return "\n".join(lines)


def _count(found: Audit) -> str:
    known = f"{found.biased:,} ({found.share:.3%})"
    if not found.undecided:
        return known
    most = found.biased + found.undecided
    return f"at least {known} and at most {most:,} ({most / found.total:.3%})"


def _worst(found: Audit) -> list[str]:
    from likewise.analysis.audit_frames import records
    from likewise.cli.tables import table_lines

    rows = [row for row in records(found.rows, SHOWN) if row["biased"]]
    decided = "decision" in rows[0]
    header = [
        "row",
        f"{found.stats['gap_of']} gap",
        *(["decision", "counterpart's"] if decided else []),
        "counterpart",
    ]
    body = []
    for row in rows:
        values = [f"{name.removeprefix('counterpart_')} = {_shown(row[name])}" for name in _features(row)]
        treated = [_shown(row["decision"]), _shown(row["counterpart_decision"])] if decided else []
        body.append([str(row["row"]), _shown(row["gap"]), *treated, ", ".join(values)])
    return table_lines(header, body)


def _features(row: dict[str, Any]) -> list[str]:
    return [name for name in row if name.startswith("counterpart_") and name != "counterpart_decision"]


def _groups(groups: Any) -> list[str]:
    from likewise.analysis.audit_frames import records
    from likewise.cli.tables import table_lines

    rows = records(groups)
    column, *counted = rows[0]
    texts = [[f"{v:.3%}" if name == "share" else _shown(v) for name, v in row.items()] for row in rows]
    return table_lines([column, *(name.replace("_", " ") for name in counted)], texts)


def _shown(value: Any) -> str:
    from likewise.verifying.wording import number

    return "-" if value is None else number(value) if isinstance(value, float) else str(value)
