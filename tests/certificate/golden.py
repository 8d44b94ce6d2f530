"""Writes golden certificates: `python -m tests.certificate.golden`. Files that exist are never written again.

They stand for what was handed out: a later checker must go on accepting them, with the verdict that their
names and `verdicts.json` give. New kinds get new files; a change of format gets new names beside the old.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.certificate.kinds import COMING, CURVED, LATER, NEWEST, SMALL, STEEP, run

from likewise_check import check

FOLDER = Path(__file__).parent / "golden"
LATER_FOLDER = Path(__file__).parent / "golden_later"
NEWEST_FOLDER = Path(__file__).parent / "golden_newest"  # sections 17 to 20 of the specification
COMING_FOLDER = Path(__file__).parent / "golden_coming"  # sections 22 to 26
STEEP_FOLDER = Path(__file__).parent / "golden_steep"  # section 21
VERDICTS = FOLDER / "verdicts.json"


def handed_out(name: str) -> bytes:
    """The golden certificate of a kind."""
    return next(Path(__file__).parent.glob(f"golden*/v1-{name}.likewise")).read_bytes()


def write_missing(folder: Path = FOLDER, kinds: Iterable[str] = (*SMALL, *CURVED)) -> list[str]:
    """The names of the files written: those of kinds that had none."""
    folder.mkdir(exist_ok=True)
    listed = folder / "verdicts.json"
    verdicts = json.loads(listed.read_text()) if listed.exists() else {}
    written = []
    for name in kinds:
        path = folder / f"v1-{name}.likewise"
        if path.exists():
            continue
        run(name).certificate.save(path)
        report = check(path).to_dict()
        verdicts[path.name] = {
            key: report[key] for key in ("accepted", "kind", "cells", "clearance", "digests")
        }
        written.append(path.name)
    if written:
        listed.write_text(json.dumps(verdicts, indent=1, sort_keys=True) + "\n")
    return written


if __name__ == "__main__":
    write_missing()
    write_missing(LATER_FOLDER, LATER)
    write_missing(NEWEST_FOLDER, NEWEST)
    write_missing(COMING_FOLDER, COMING)
    write_missing(STEEP_FOLDER, STEEP)
