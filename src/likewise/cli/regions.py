"""``likewise regions``: who is treated fairly, who is not, and of whom is nothing proved?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.certificate_files import make_folder, moves_older_certificates_of_boxes, save_certificate
from likewise.cli.exits import Exit
from likewise.cli.options import ClaimFlags, SearchFlags
from likewise.errors import SpecError

if TYPE_CHECKING:
    from likewise.analysis.region_result import Regions
    from likewise.cli.claims import LoadedClaim

LONGEST_ROW = 20  # characters
MOST_SHOWN = 8  # regions of a kind that are printed without --all


@moves_older_certificates_of_boxes
def regions(**given: Any) -> int:
    """Who is treated fairly, who is not, and of whom is nothing proved?

    CLAIM and flags are those of `likewise verify`. The answer is a partition into boxes: fair ones, biased ones, in which every individual
    has a similar one who gets another decision, and undecided ones.

    \b
    likewise regions claim.toml
    likewise regions claim.toml --where "age >= 60"
    likewise regions claim.toml --around "age >= 60 and housing == own"
    """
    flags, look = ClaimFlags.of(given), SearchFlags.of(given)
    from likewise.analysis.regions import regions_of_problem
    from likewise.answers import json
    from likewise.answers.regions import REGION_KINDS, regions_answer
    from likewise.cli.claims import load_claim, start_run
    from likewise.cli.output import emit, emit_answer, emit_json
    from likewise.cli.steps import command_audience

    kept = {"checkpoint": given["checkpoint"], "resume": given["resume"]}
    with start_run(flags, look, progress=not given["quiet"], **kept) as run:
        loaded = load_claim(flags, run, given["property"])
        over, around, most = given["over"], _parse_around(given["around"], loaded), given["max_boxes"] or None
        if loaded.rows is None and over in ("marginals", "data"):
            raise SpecError(f"--over {over} needs data", hint="--data rows.csv, or [data] in the claim file")
        found = regions_of_problem(loaded.problem, run, around=around, over=over, max_boxes=most)
    if given["output"] is not None:
        _write(found, given["output"])
    if given["certificates"] is not None:
        _save(found, make_folder("--certificates", given["certificates"]))
    boxes = None if given["all_regions"] else MOST_SHOWN
    answer = regions_answer(
        found, loaded, command_audience("regions", given, loaded, spec=flags.spec, boxes=boxes)
    )
    if given["as_json"]:
        emit_json(json.render(answer))
    elif given["quiet"]:
        emit(" ".join(f"{float(found.share(kind))!r}" for kind in REGION_KINDS))
    else:
        emit_answer(answer)
    return Exit.DONE if found.reason is None else Exit.UNKNOWN


def _parse_around(text: str | None, loaded: LoadedClaim) -> Any:
    """A row of the data by its number, or the rule as it is."""
    if text is None or not text.strip().isdecimal():
        return text
    if len(text) > LONGEST_ROW:  # Python reads no number of thousands of digits
        raise SpecError(
            f"--around {text}: the data have no row of that number", hint="rows are counted from 0"
        )
    number = int(text)
    if loaded.rows is None:
        raise SpecError(f"--around {number}: there are no rows", hint="give --data, or a rule")
    if number >= len(loaded.rows):
        raise SpecError(f"--around {number}: the data have {len(loaded.rows)} rows, from 0")
    return loaded.rows[number : number + 1]


def _write(found: Regions, path: str) -> None:
    import json

    from likewise.spec.disk import write_file

    try:
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
        write_file(path, text.encode(), private=found.around is not None)
    except OSError as error:
        raise SpecError(f"--output {path}: cannot be written: {error.strerror or error}") from None


def _save(found: Regions, folder: Path) -> None:
    """One file a certificate, numbered as the regions are listed: fair-1, biased-1-upper, biased-1-lower."""
    for kind in ("fair", "biased"):
        for number, region in enumerate(getattr(found, kind), start=1):
            sides = ("",) if kind == "fair" else ("-upper", "-lower")
            for side, certificate in zip(sides, region.certificates, strict=True):
                save_certificate(certificate, folder / f"{kind}-{number}{side}.likewise")
