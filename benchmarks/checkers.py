"""Both checkers of certificates side by side: CPU seconds of the one in Python and the one in JavaScript, on golden files and on larger proofs.

    python -m benchmarks checkers [--proofs credit-rbf german-forest adult-boosting] [--seconds 60] [--no-golden] [--golden golden_newest]

The proofs are of the upper end of a measurement of so many seconds: a kernel model on Credit, a forest on German, boosted trees on Adult. Start and end of each program are counted, which
is most of what small files take. Where node is not installed the second column says so. A file that one of them does not accept is shown with its answer.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import likewise as lw
from benchmarks._standardised import measured, standardised
from benchmarks.trees import PROTECTED, fitted

ROOT = Path(__file__).parents[1]
CERTIFICATES = ROOT / "tests" / "certificate"
JAVASCRIPT = ROOT / "checker-js" / "bin" / "likewise-check.js"
PROOFS = ("credit-rbf", "german-forest", "adult-boosting")
ANSWERS = {0: "", 1: "", 2: " unreadable", 3: " not finished", 4: " REJECTED"}  # 1: an accepted witness


def proved(name: str, seconds: float) -> Any:
    """The certificate of a measurement's upper end, or None."""
    data, _, family = name.partition("-")
    if family == "rbf":
        case = standardised(data)
        return measured(case, of="score", tolerance=0.05, budget=seconds, certify=True).certificate
    model, space = fitted({"forest": "rf-100-6", "boosting": "gb-100-3"}[family], data)
    similar = lw.Similarity(free=list(PROTECTED[data][0]))
    return lw.measure(model, space, similar, of="score", budget=seconds, certify=True).certificate


def timed(command: list[str], path: Path) -> str:
    """CPU seconds of a program that checks a file, and its answer where it is not acceptance."""
    before = os.times()
    done = subprocess.run([*command, str(path)], capture_output=True, check=False)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return f"{spent:.2f}{ANSWERS.get(done.returncode, f' exit {done.returncode}')}"


def certificates(options: argparse.Namespace, folder: Path) -> Iterator[Path]:
    """The files, one after the other; proofs are made when it is their turn."""
    if not options.no_golden:
        yield from sorted(CERTIFICATES.glob(f"{options.golden}/*.likewise"))
    for name in options.proofs:
        found = proved(name, options.seconds)
        if found is None:
            print(f"{name:<34} no proof within {options.seconds:g} s", flush=True)
        else:
            yield found.save(folder / f"{name}.likewise")


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    first, *_ = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(prog="python -m benchmarks checkers", description=first)
    parser.add_argument("--proofs", nargs="*", default=PROOFS, choices=PROOFS)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of a proof")
    parser.add_argument("--no-golden", action="store_true", help="only the proofs")
    parser.add_argument("--golden", default="golden*", metavar="FOLDERS", help="all of them, unless told")
    options = parser.parse_args(arguments)
    node = shutil.which("node")
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load}, Python {platform.python_version()}")
    print(f"{'certificate':<34} {'bytes':>10} {'Python, CPU s':>16} {'JavaScript, CPU s':>24}")
    with tempfile.TemporaryDirectory() as folder:
        for path in certificates(options, Path(folder)):
            python = timed([sys.executable, "-m", "likewise_check", "--quiet"], path)
            other = "node is not installed" if node is None else timed([node, str(JAVASCRIPT)], path)
            print(f"{path.stem:<34} {path.stat().st_size:>10,} {python:>16} {other:>24}", flush=True)


def run() -> None:
    """All of it."""
    main([])


if __name__ == "__main__":
    main()
