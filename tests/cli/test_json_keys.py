"""The JSON of every command has all keys that `json_keys.txt` lists: scripts rely on them. More may be added, none may go."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli import snapshots

from likewise.cli.app import cli

LIST = Path(__file__).parent / "json_keys.txt"
LOAN = f"--model biased.skops {snapshots.LOAN}"
LINES = {
    "verify": f"verify {LOAN}",
    "measure": f"measure {LOAN}",
    "audit": f"audit {LOAN} --by sex",
    "share": f"share {LOAN}",
    "groups": f"groups {LOAN} --by sex",
    "radius": f"radius {LOAN} --feature age",
    "near": f"near {LOAN} --distance 0.1",
    "regions": f"regions {LOAN} --budget 5",
    "compare": f"compare {LOAN} --with fair.skops",
    "repair": f"repair {LOAN}",
    "explain": "explain claim.likewise",
}
ADDED = {"summary", "warnings", "next"}  # to every answer
OPEN = {"stats", "box", "counterparts", "rules", "reasons", "shares"}  # keys below depend on the answer


def wanted():
    """The keys by command: below its name, indented."""
    found = {}
    for block in re.split(r"^(?=\w)", LIST.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, *listed = block.split()
        found[name] = set(listed)
    return found


def keys(value, place=""):
    """The places of all keys: ``models[].verify.pair``."""
    if isinstance(value, list):
        return keys(value[0], f"{place}[]") if value and isinstance(value[0], dict) else set()
    found = set()
    for key, inner in value.items() if isinstance(value, dict) else ():
        where = f"{place}.{key}" if place else key
        found |= {where} | (set() if key in OPEN else keys(inner, where))
    return found


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    snapshots.furnish(folder)
    return folder


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("name", LINES)
def test_no_key_is_gone(name, furnished, monkeypatch):
    monkeypatch.chdir(furnished)
    if name == "explain":
        CliRunner().invoke(cli, f"verify {LOAN} --certificate claim.likewise".split())
    done = CliRunner().invoke(cli, [*LINES[name].split(), "--json"])
    missing = (wanted()[name] | ADDED) - keys(json.loads(done.stdout))
    assert missing == set()
