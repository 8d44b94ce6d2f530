"""The second checker (`checker-js`) passes its own tests, where node is installed, and answers as the first one does."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.check.builder import packed, sealed
from tests.tiers import ALL, SEED, some

import likewise

ROOT = Path(__file__).parent.parent
CHECKER = ROOT / "checker-js"
GOLDEN = ROOT / "tests" / "certificate" / "golden"
NODE = shutil.which("node")
OLDEST = 18
TODAY = random.Random(SEED).randrange(10**6)
LATER = ROOT / "tests" / "certificate" / "golden_later"
NEWEST = ROOT / "tests" / "certificate" / "golden_newest"
COMING = ROOT / "tests" / "certificate" / "golden_coming"
STEEP = ROOT / "tests" / "certificate" / "golden_steep"


def _certificates() -> list[Path]:
    paths = (path for folder in (GOLDEN, LATER, NEWEST, COMING, STEEP) for path in folder.glob("*.likewise"))
    return sorted(paths)


def _node_is_too_old() -> bool:
    if NODE is None:
        return True
    version = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.lstrip("v").split(".")[0]) < OLDEST


pytestmark = pytest.mark.skipif(
    _node_is_too_old(), reason=f"node {OLDEST} or newer is not installed: checker-js was not tested"
)


STARTS_PROCESSES = "command.test.js"  # as `test_exit_codes` does, but more of them
OWN_TESTS = sorted(path.name for path in (CHECKER / "test").glob("*.test.js"))


@pytest.mark.draw(2)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n == STARTS_PROCESSES else []) for n in OWN_TESTS]
)
def test_its_own_tests_pass(name: str) -> None:
    run = subprocess.run(
        [NODE, "--test", str(CHECKER / "test" / name)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]


def test_command_answers_as_the_python_checker_does() -> None:
    paths = some(_certificates(), 8)
    command = [NODE, str(CHECKER / "bin" / "likewise-check.js"), "--json", *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    reports = [likewise.check(path) for path in paths]
    assert run.returncode == any(report.kind == "witness" for report in reports), run.stderr
    for path, report, line in zip(paths, reports, run.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        assert answer["accepted"] == report.accepted, path.name
        assert answer["kind"] == report.kind
        assert sorted(answer["packs"]) == sorted(report.packs)
        assert answer["covers_floating_point"] == report.covers_floating_point
        assert answer["label_of_everybody"] == report.decided


def test_pages_carry_what_the_sources_give() -> None:
    shipped = ROOT / "src" / "likewise" / "report" / "templates" / "checker.js"
    command = [NODE, str(CHECKER / "tools" / "bundle.js")]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert made == shipped.read_text(encoding="utf-8"), f"run: node checker-js/tools/bundle.js {shipped}"


def test_exit_codes(tmp_path: Path) -> None:
    command = str(CHECKER / "bin" / "likewise-check.js")
    nothing = tmp_path / "nothing.likewise"
    nothing.write_bytes(b"no certificate")
    for arguments in ([str(nothing)], [str(tmp_path / "absent")], [], ["--unknown"]):
        assert subprocess.run([NODE, command, *arguments], capture_output=True, check=False).returncode == 2
    cut = tmp_path / "cut.likewise"
    cut.write_bytes((GOLDEN / "v1-within.likewise").read_bytes()[:-9])
    assert subprocess.run([NODE, command, str(cut)], capture_output=True, check=False).returncode in (2, 4)


def _assert_both_agree(paths: list[Path], *, count: int, seed: int) -> None:
    """On the certificates themselves and on mutants of them: answer, kind, packs, clearance, coverage, somebody, decided."""
    command = [NODE, str(CHECKER / "tools" / "differential.js"), "--python", sys.executable]
    command += ["--count", str(count), "--seed", str(seed), *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
    assert f"{len(paths)} certificates and {count} mutants of them; 0 disagreements" in run.stdout


def test_mutants_get_the_same_answer_from_both() -> None:
    _assert_both_agree(some(_certificates(), 15), count=3000 if ALL else 45, seed=TODAY)


@pytest.mark.slow
def test_mutants_of_crafted_certificates_get_the_same_answer_from_both(tmp_path: Path) -> None:
    """Classes, votes, networks and combined scores are among these, which golden files have less of."""
    items = map(json.loads, (CHECKER / "test" / "crafted.jsonl").read_text(encoding="utf-8").splitlines())
    for n, item in enumerate(items):
        (tmp_path / f"{n:03}.likewise").write_bytes(packed(sealed(item["lines"])))
    _assert_both_agree(sorted(tmp_path.glob("*.likewise")), count=2000, seed=TODAY)


@pytest.mark.slow
def test_mutants_of_networks_and_sums_get_the_same_answer_from_both() -> None:
    _assert_both_agree(sorted((CHECKER / "test" / "certificates").glob("*.likewise")), count=1500, seed=TODAY)
