"""Mutation run: makes one mistake at a time in a copy of the sources, and runs the fast tests on it.

    python -m tests.mutants                    all mistakes of tests/mutants.toml; `make mutants` runs this
    python -m tests.mutants frontier cells     those of files whose path contains one of the words

A mistake is an old text that occurs exactly once in its file, and a new text. It is killed if one of its tests
fails. The copy lies in a temporary folder, with all that the tests write. In the end the tests that failed are run
without any mistake, and must pass. The exit code is 1 if a mistake survives.
"""

from __future__ import annotations

import argparse
import compileall
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

from hypothesis import Phase, settings
from tests.tiers import SEED

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "mutants.toml"
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
PASSED, FOUND, LATE = 0, 1, -signal.SIGXCPU  # exit codes of pytest
CPU_LIMIT = "LIKEWISE_MUTANT_SECONDS"


class UselessMutant(Exception):
    """A mistake that cannot be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mistake: `old` becomes `new` in a file below src; `tests` are paths below tests."""

    path: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}: {self.new}"

    def text(self) -> str:
        """The file with the mistake."""
        text = (ROOT / "src" / self.path).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise UselessMutant(
                f"{self.path}: this occurs {text.count(self.old)} times, not once: {self.old}"
            )
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run of tests: pytest's exit code, what it printed, and CPU seconds."""

    code: int
    said: str
    seconds: float


def pytest_configure() -> None:
    """As a plugin of the runs: CPU time is limited, and an example that fails need not be made small."""
    seconds = int(os.environ[CPU_LIMIT])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    settings.register_profile("unshrunk", settings(), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("unshrunk")


def read_mutants(words: list[str] | None = None) -> list[Mutant]:
    """The mistakes of the list, or those of files whose path contains one of the words."""
    found = [
        Mutant(path=module["path"], old=old, new=new, tests=tuple(tests or module["tests"]))
        for module in tomllib.loads(LIST.read_text(encoding="utf-8"))["module"]
        for old, new, *tests in module["mutants"]
    ]
    return [one for one in found if not words or any(word in one.path for word in words)]


def copy_sources(folder: Path, jobs: int) -> list[Path]:
    """One copy of src for each job, compiled: no run writes bytecode, so no mistake outlives its run."""
    homes = [folder / str(job) for job in range(jobs)]
    shutil.copytree(ROOT / "src", homes[0] / "src")
    compileall.compile_dir(homes[0] / "src", quiet=2)
    for home in homes[1:]:
        shutil.copytree(homes[0], home)
    for home in homes:
        (home / "tmp").mkdir()
    return homes


def run_tests(home: Path, tests: list[str], limit: int) -> Outcome:
    """Run fast tests on a copy of the sources, up to the first that fails."""
    environment = {
        key: value for key, value in os.environ.items() if key not in ("LIKEWISE_TESTS", "NUMBA_CACHE_DIR")
    }
    environment |= {
        "PYTHONPATH": str(home / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(home / "hypothesis"),
        "TMPDIR": str(home / "tmp"),
        CPU_LIMIT: str(limit),
    }
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants", f"--hypothesis-seed={SEED}"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=ROOT,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return Outcome(
            code=process.returncode,
            said=said.read(),
            seconds=used.ru_utime + used.ru_stime,
        )


def try_mutant(mutant: Mutant, homes: queue.Queue[Path], limit: int) -> Outcome:
    """Make the mistake in a copy that nobody uses, run its tests, and take it back."""
    home, changed = homes.get(), mutant.text()
    place = home / "src" / mutant.path
    Path(cache_from_source(place)).unlink(missing_ok=True)
    try:
        place.write_text(changed, encoding="utf-8")
        return run_tests(home, [f"tests/{path}" for path in mutant.tests], limit)
    finally:
        shutil.copy2(ROOT / "src" / mutant.path, place)
        homes.put(home)


def seed_mistakes(mutants: list[Mutant], jobs: int, limit: int) -> int:
    """Try all of them and print what became of each; 1 if one was not found."""
    survivors, killers, total = [], set(), 0.0
    with tempfile.TemporaryDirectory(prefix="likewise-mutants-") as folder:
        copies = copy_sources(Path(folder), jobs)
        homes: queue.Queue[Path] = queue.Queue()
        for home in copies:
            homes.put(home)
        with ThreadPoolExecutor(jobs) as pool:
            runs = {pool.submit(try_mutant, mutant, homes, limit): mutant for mutant in mutants}
            try:
                for run in as_completed(runs):
                    mutant, outcome = runs[run], run.result()
                    by, total = FAILED.search(outcome.said), total + outcome.seconds
                    if outcome.code == FOUND and by:
                        killers.add(by[1])
                        print(f"killed    {outcome.seconds:5.1f} s  {mutant}  by {by[1]}", flush=True)
                        continue
                    survivors.append(mutant)
                    what = {PASSED: "SURVIVED", LATE: "TOO LONG"}.get(outcome.code, "BROKEN")
                    print(f"{what:8}  {outcome.seconds:5.1f} s  {mutant}", flush=True)
                    if what == "BROKEN":
                        print(outcome.said)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        sober = run_tests(copies[0], sorted(killers), limit * len(killers)) if killers else None
    print(f"{len(mutants)} mistakes, {len(survivors)} not found; {total:.0f} CPU seconds; seed {SEED}")
    if sober and sober.code != PASSED:
        print(f"the tests that found mistakes fail without any:\n{sober.said}")
        return 1
    return int(bool(survivors))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="Does the fast tier find mistakes?"
    )
    parser.add_argument("words", nargs="*", help="only mistakes in files whose path contains one of these")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=120, help="CPU seconds for the tests of one mistake")
    options = parser.parse_args()
    mutants = read_mutants(options.words)
    for mutant in mutants:
        mutant.text()  # an error before anything is run
    return seed_mistakes(mutants, options.jobs, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
