"""Files that are damaged or crafted: what Likewise reads in them is what the library reads, or they are refused.

    python -m tests.fuzz.files --formats lightgbm xgboost-json --mutants 1000 --seed 7

A format is an entry of `FORMATS`: how valid files are made, how one is mutated, how Likewise and how the library predict with it. Both readings are processes of their own, so that nothing
that crashes or hangs ends the run. What Likewise has read by a library in a process with limits (CatBoost's own files, HDF5) is read in one such process here too, which takes many files in turn. Outcomes of a mutant:

    refused     in words
    same        both predict the same of all rows
    unread      Likewise reads it, and the library does not
    DIFFERENT   both read it, and predict otherwise
    CRASH       Likewise crashed, or did not end
    INTERNAL    Likewise raised what is no refusal
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import pickle
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.booster_files import BOOSTERS
from tests.fuzz.network_files import NETWORKS
from tests.fuzz.skops_files import SKOPS

from likewise.errors import LikewiseError, UnsupportedModel

SECONDS = 600  # for one reading of a file, on a machine that has much else to do
BAD = ("DIFFERENT", "CRASH", "INTERNAL")

FORMATS = {**BOOSTERS, **NETWORKS, **SKOPS}


# -- readings ----------------------------------------------------------------------------------------------


class Parser:
    """A process with limits that has a library read files, started anew where it has died."""

    def __init__(self) -> None:
        self.child: Any = None
        self.pipe: Any = None

    def ask(self, module: str, request: bytes, what: str) -> bytes:
        """As `reader_process.ask_process`."""
        if self.child is None:
            self.pipe, there = multiprocessing.Pipe()
            self.child = multiprocessing.get_context("spawn").Process(
                target=parse_files, args=(there, module), daemon=True
            )
            self.child.start()
            there.close()
        try:
            self.pipe.send_bytes(request)
            done, made = self.pipe.recv()
        except (EOFError, OSError):
            self.child.join()
            self.child = None
            done, made = False, b"its reader crashed"
        if not done:
            raise UnsupportedModel(f"is no {what} that can be read: {made!r}")
        return bytes(made)


def parse_files(pipe: Any, module: str) -> None:
    """In the process: answer requests until there are no more. A signal ends it when one takes too long."""
    import importlib
    import resource

    from likewise.spec.reader_process import MEMORY
    from likewise.spec.reader_process import SECONDS as SECONDS_OF_A_FILE

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answer = importlib.import_module(module).answer
    while True:
        request = pipe.recv_bytes()
        signal.setitimer(signal.ITIMER_PROF, SECONDS_OF_A_FILE)
        try:
            found = True, answer(request)
        except Exception as error:
            found = False, str(error)[-120:].encode()
        pipe.send(found)


def serve(name: str, side: str) -> None:
    """In a process: answer paths on standard input with an outcome and predictions."""
    from likewise.importers.catboost import reading
    from likewise.importers.files import load_model
    from likewise.importers.layer_files import hdf5_process

    for module in (reading, hdf5_process):
        module.ask_process = Parser().ask  # type: ignore[attr-defined]
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    one = FORMATS[name]
    rows = one.rows()
    for line in sys.stdin:
        path = line.strip()
        try:
            made: tuple[str, Any] = (
                "read",
                one.ours(load_model(path), rows) if side == "ours" else one.theirs(path, rows),
            )
        except LikewiseError as error:
            made = "refused", str(error)
        except Exception as error:
            made = (
                "INTERNAL" if side == "ours" else "refused",
                "".join(traceback.format_exception(error)[-3:]),
            )
        pickle.dump(made, stream)
        stream.flush()


class Reading:
    """A process that reads files, started anew where it has crashed or hangs."""

    def __init__(self, name: str, side: str) -> None:
        self.command = [sys.executable, "-m", "tests.fuzz.files", "--serve", name, side]
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, path: Path) -> tuple[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        try:
            self.process.stdin.write(f"{path}\n".encode())
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                raise EOFError
            found: tuple[str, Any] = pickle.load(self.process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.close()
            return "CRASH", "crashed, or did not end"
        return found

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether scores are the same to the last bit, and what is made of them nearly."""
    scores = [np.asarray(one[0], dtype=np.float64) for one in (ours, theirs)]
    made = [np.asarray(one[1]) for one in (ours, theirs)]
    if not np.array_equal(*scores, equal_nan=True):
        return False
    if made[0].dtype.kind == "U":
        return bool(np.array_equal(*made))
    return made[0].shape == made[1].shape and np.allclose(*made, rtol=1e-5, atol=1e-6, equal_nan=True)


def run(name: str, mutants: int, seed: int, kept: Path | None = None) -> collections.Counter[str]:
    """The outcomes of some mutants; files that come to no good are kept in a folder."""
    one, counts = FORMATS[name], collections.Counter[str]()
    ours, theirs = Reading(name, "ours"), Reading(name, "theirs")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{one.suffix}"
        valid = one.make()
        for number in range(-len(valid), mutants):
            draw = random.Random(f"{name} {seed} {number}")
            content = draw.choice(valid) if number >= 0 else valid[number]
            path.write_bytes(content if number < 0 else one.mutate(draw, content))
            outcome, made = ours.ask(path)
            if outcome == "read":
                outcome, other = theirs.ask(path)
                outcome = ("same" if same(made, other) else "DIFFERENT") if outcome == "read" else "unread"
            if number < 0:
                assert outcome == "same", f"a valid file is {outcome}: {made}"
                continue
            counts[outcome] += 1
            if outcome in BAD and kept is not None:
                (kept / f"{name}-{seed}-{number}{one.suffix}").write_bytes(path.read_bytes())
                print(f"{name} {number}: {outcome} {made if isinstance(made, str) else ''}", flush=True)
    ours.close()
    theirs.close()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.files")
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=FORMATS)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, help="a folder for files that come to no good")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(*chosen.serve)
        return 0
    bad = 0
    for name in chosen.formats:
        start, counts = time.process_time(), run(name, chosen.mutants, chosen.seed, chosen.keep)
        bad += sum(counts[outcome] for outcome in BAD)
        print(f"{name}: {dict(counts)}, {time.process_time() - start:.0f} s", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
