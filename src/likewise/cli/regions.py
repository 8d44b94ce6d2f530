"""``likewise regions``: who is treated fairly, who is not, and of whom is nothing proved?"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.certificate_files import moves_older_certificates_of_regions
from likewise.cli.exits import Exit
from likewise.cli.options import (
    PROPERTY,
    ClaimFlags,
    SearchFlags,
    claim_options,
    debug_option,
    decorated,
    json_option,
    search_options,
)
from likewise.errors import SpecError

if TYPE_CHECKING:
    from likewise.analysis.region_result import Region, Regions
    from likewise.cli.claims import Loaded

WIDTH = 80
SHOWN = 8  # regions of a kind that are printed without --all
OPTIONS = (
    click.option(
        "--around",
        metavar="ROW|RULE",
        help="One fair box instead, around row number ROW (from 0) or a RULE.",
    ),
    click.option(
        "--over",
        type=click.Choice(["uniform", "marginals", "data"]),
        help="Decide as many as it can of all individuals alike, distributed as the data's columns, or of the data's rows  [default: the rows, if there are any]",
    ),
    click.option(
        "--max-boxes",
        type=click.IntRange(min=0),
        default=100,
        show_default=True,
        help="No more fair and no more biased boxes than this, the largest found; 0 is no limit.",
    ),
    click.option("--output", metavar="FILE", help="Write all regions here, as JSON."),
    click.option("--certificates", metavar="FOLDER", help="Write the certificates of all regions here."),
    click.option("--all", "all_regions", is_flag=True, help="Print all regions."),
    json_option,
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but the shares."),
    debug_option,
)


def region_options(command: Any) -> Any:
    """The flags of this command alone."""
    return decorated(moves_older_certificates_of_regions(command), OPTIONS)


@click.command(
    epilog="Exit codes: 0 done, 2 usage or input error, 3 the budget or --max-boxes ended it first, 101 internal error."
)
@claim_options
@PROPERTY
@search_options
@region_options
def regions(**given: Any) -> int:
    """Who is treated fairly, who is not, and of whom is nothing proved?

    SPEC and flags are those of `likewise verify`. The answer is a partition into boxes: fair ones, biased ones, in which every individual
    has a similar one who gets another decision, and undecided ones.

    \b
    likewise regions claim.toml
    likewise regions claim.toml --where "age >= 60"
    likewise regions claim.toml --around "age >= 60 and housing == own"
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.regions import regions_of_problem
    from likewise.cli.claims import load, running
    from likewise.cli.output import emit, emit_json

    with running(flags, look, progress=not given["quiet"]) as run:
        loaded = load(flags, run, given["property"])
        over, around, most = given["over"], _around(given["around"], loaded), given["max_boxes"] or None
        if loaded.rows is None and over in ("marginals", "data"):
            raise SpecError(f"--over {over} needs data", hint="--data rows.csv, or [data] in the spec file")
        found = regions_of_problem(loaded.problem, run, around=around, over=over, max_boxes=most)
    if given["output"] is not None:
        _write(found, given["output"])
    if given["certificates"] is not None:
        _save(found, Path(given["certificates"]))
    if given["as_json"]:
        emit_json(found.to_dict())
    elif given["quiet"]:
        emit(" ".join(f"{float(found.share(kind))!r}" for kind in ("fair", "biased", "undecided", "empty")))
    else:
        emit(_text(found, loaded, all_regions=given["all_regions"]))
    return Exit.DONE if found.reason is None else Exit.UNKNOWN


def _around(text: str | None, loaded: Loaded) -> Any:
    """A row of the data by its number, or the rule as it is."""
    if text is None or not text.strip().isdigit():
        return text
    number = int(text)
    if loaded.rows is None:
        raise SpecError(f"--around {number}: there are no rows", hint="give --data, or a rule")
    if number >= len(loaded.rows):
        raise SpecError(f"--around {number}: the data have {len(loaded.rows)} rows, from 0")
    return loaded.rows[number : number + 1]


def _write(found: Regions, path: str) -> None:
    import json

    from likewise.spec.disk import write_whole

    try:
        write_whole(Path(path), (json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise SpecError(f"--output {path}: cannot be written: {error.strerror or error}") from None


def _save(found: Regions, folder: Path) -> None:
    """One file a certificate, numbered as the regions are listed: fair-1, biased-1-upper, biased-1-lower."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"--certificates {folder}: {error.strerror or error}") from None
    for kind in ("fair", "biased"):
        for number, region in enumerate(getattr(found, kind), start=1):
            sides = ("",) if kind == "fair" else ("-upper", "-lower")
            for side, certificate in zip(sides, region.certificates, strict=True):
                certificate.save(str(folder / f"{kind}-{number}{side}.likewise"))


def _text(found: Regions, loaded: Loaded, *, all_regions: bool) -> str:
    from likewise.analysis.region_result import KINDS, share_text
    from likewise.verifying.wording import paragraph, reading_lines, rounding_lines, rows_lines

    claim = f"individuals who {loaded.similarity.describe(loaded.space)} {loaded.property.describe()}"
    lines = paragraph("regions", claim) + paragraph("space", loaded.space.describe())
    lines += reading_lines(found.stats)
    if found.around is not None:
        lines += paragraph("around", found.around)
    for kind in KINDS:
        kept, meaning = getattr(found, kind), MEANINGS[kind]
        if not kept:
            continue
        count = f"{len(kept)} region{'' if len(kept) == 1 else 's'}"
        of = f"{share_text(found.share(kind))} of the space"
        if found.over is not None:
            of = f"{share_text(found.people(kind))} of {found.over}, {of}"
        lines += paragraph(f"{kind} ", f"{of}, {count}: {meaning}")
        lines += [line for region in (kept if all_regions else kept[:SHOWN]) for line in _lines(region)]
        if len(kept) > SHOWN and not all_regions:
            lines.append(f"  ... {len(kept) - SHOWN} more (--all shows them)")
    lines += rows_lines(found.stats)
    lines += rounding_lines(found.stats)
    if found.reason is not None:
        lines += paragraph("reason", found.reason)
    return "\n".join(lines)


MEANINGS = {
    "fair": "proved, nobody is treated differently",
    "biased": "proved, EVERYBODY has a similar one who gets the other decision",
    "undecided": "nothing is proved, there may be both",
    "empty": "excluded by the constraints",
}


def _lines(region: Region) -> list[str]:
    from likewise.analysis.region_result import share_text

    shares = [share_text(share) for share in (region.people, region.measure) if share is not None]
    start = "  " + "".join(f"{share:>8}  " for share in shares)
    lines = textwrap.wrap(
        region.rule, WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
    )
    if region.counterparts:
        upper, lower = (
            ", ".join(f"{name} {value}" for name, value in one.items()) for one in region.counterparts
        )
        said = f"one decision with {upper}, the other with {lower}"
        indent = " " * (len(start) + 2)
        lines += textwrap.wrap(
            said, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
    return lines
