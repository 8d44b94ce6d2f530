"""Certificates of earlier versions keep being accepted, with the same verdict."""

import gzip
import json

import pytest
from tests.certificate.golden import (
    COMING_FOLDER,
    FOLDER,
    LATER_FOLDER,
    NEWEST_FOLDER,
    STEEP_FOLDER,
    VERDICTS,
    write_missing,
)
from tests.certificate.kinds import COMING, CURVED, LATER, NEWEST, SMALL, STEEP

from likewise_check import check

EXPECTED = json.loads(VERDICTS.read_text())
APART = {
    folder / name: expected
    for folder in (LATER_FOLDER, NEWEST_FOLDER, COMING_FOLDER, STEEP_FOLDER)
    for name, expected in json.loads((folder / "verdicts.json").read_text()).items()
}


@pytest.mark.parametrize("name", EXPECTED)
def test_it_is_accepted_as_ever(name):
    report = check(FOLDER / name).to_dict()
    assert report["accepted"] is True, report["reason"]
    assert {key: report[key] for key in EXPECTED[name]} == EXPECTED[name]


@pytest.mark.parametrize("path", APART, ids=lambda path: path.name)
def test_a_later_one_is_accepted_as_ever(path):
    report = check(path).to_dict()
    assert report["accepted"] is True, report["reason"]
    assert {key: report[key] for key in APART[path]} == APART[path]
    kinds = {LATER_FOLDER: LATER, NEWEST_FOLDER: NEWEST, COMING_FOLDER: COMING, STEEP_FOLDER: STEEP}[
        path.parent
    ]
    assert {f"v1-{kind}.likewise" for kind in kinds} == {
        known.name for known in APART if known.parent == path.parent
    }


def test_every_file_is_listed_and_every_kind_has_one():
    files = {path.name for path in FOLDER.glob("*.likewise")}
    assert files == set(EXPECTED)
    assert {f"v1-{name}.likewise" for name in SMALL | CURVED} <= files
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000


def test_old_files_are_never_written_again(tmp_path):
    kept = "v1-masked.likewise"
    (tmp_path / kept).write_bytes(b"old")
    kinds = ["masked", "gaps", "witness-trees"]
    assert write_missing(tmp_path, kinds) == ["v1-gaps.likewise", "v1-witness-trees.likewise"]
    assert (tmp_path / kept).read_bytes() == b"old"
    assert write_missing(tmp_path, kinds) == []


def test_trees_that_were_looked_at_together_are_named():
    """The golden file has a leaf with a group, without which it would not hold."""
    lines = gzip.decompress((COMING_FOLDER / "v1-trees-together.likewise").read_bytes()).splitlines()
    assert json.loads(lines[-2]) == ["trees", "0x1p-1", [[1, 3]]]
