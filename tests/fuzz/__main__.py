"""Long campaigns: python -m tests.fuzz --problems 10000 --seed 1 --jobs 2, or --minutes 30

Problem i of a campaign has the seed `seed * 1,000,000 + i`; `--only SEED` runs one of them again, with everything that is known of it.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

SPACING = 1_000_000
CHUNK = 20


def run_seed(
    seed: int, families: tuple[str, ...], commands: tuple[str, ...], budget: float
) -> tuple[int, str, str, list[Any], float]:
    """(seed, family, description, findings, seconds)."""
    from tests.fuzz.choices import SeededChoices
    from tests.fuzz.findings import Findings
    from tests.fuzz.problems import drawn_problem
    from tests.fuzz.running import compare_all

    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choices = SeededChoices(seed)
        problem = drawn_problem(choices, families, budget=budget)
        findings = Findings()
        with findings.of("fuzzer"):  # a mistake here must not end a campaign
            findings.list += compare_all(problem, choices, commands).list
    return seed, problem.family.name, problem.described(), findings.list, time.process_time() - started


def run_chunk(
    seeds: list[int], families: tuple[str, ...], commands: tuple[str, ...], budget: float
) -> list[Any]:
    return [run_seed(seed, families, commands, budget) for seed in seeds]


class Tally:
    """What a campaign came to."""

    def __init__(self) -> None:
        self.outcomes: Counter[tuple[str, str, str]] = Counter()
        self.families: Counter[tuple[str, str]] = Counter()
        self.reasons: Counter[tuple[str, str, str]] = Counter()
        self.problems = 0
        self.disagreements = 0
        self.slow: list[tuple[float, int]] = []

    def add(self, seed: int, family: str, described: str, findings: list[Any], seconds: float) -> None:
        self.problems += 1
        self.slow = sorted([*self.slow, (seconds, seed)], reverse=True)[:5]
        bad = [f for f in findings if f.outcome == "disagreed"]
        for f in findings:
            self.outcomes[f.command, f.outcome, f.verdict] += 1
            self.families[family, f.outcome] += 1
            if f.outcome in ("unknown", "refused", "rounding"):
                self.reasons[f.outcome, f.command, f.detail[:140]] += 1
            if f.outcome == "unknown" and "rounding" not in f.detail and not f.detail.startswith("near"):
                print(f"unknown   seed {seed}  {family}  {f.command}: {f.detail[:200]}")
        if bad:
            self.disagreements += 1
            print(f"DISAGREES seed {seed}  {described}")
            for f in bad:
                print(f"    {f.command}: {f.detail[:600]}")
            sys.stdout.flush()

    def show(self) -> None:
        print("\nanswers compared, by command, outcome and verdict")
        for (command, outcome, verdict), count in sorted(self.outcomes.items()):
            print(f"  {command:24} {outcome:10} {verdict:10} {count:7}")
        print("\nby family")
        names = sorted({family for family, _ in self.families})
        outcomes = ("agreed", "rounding", "unknown", "refused", "disagreed")
        print(f"  {'':24}" + "".join(f"{o:>10}" for o in outcomes))
        for name in names:
            print(f"  {name:24}" + "".join(f"{self.families[name, o]:10}" for o in outcomes))
        print("\nreasons")
        for (outcome, command, detail), count in self.reasons.most_common(60):
            print(f"  {count:5} {outcome:8} {command:22} {detail}")
        print("\nslowest (CPU seconds, seed)", [(round(s, 1), seed) for s, seed in self.slow])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--problems", type=int, help="1000, unless --minutes says when to end")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="one seed of a campaign, again")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each command")
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--commands", nargs="*", default=[])
    options = parser.parse_args()
    families, commands = tuple(options.families), tuple(options.commands)
    if options.only is not None:
        _, _, described, findings, _ = run_seed(options.only, families, commands, options.budget)
        print(described)
        for f in findings:
            print(f"  {f.outcome:10} {f.command:22} {f.verdict:8} {f.detail}")
        return int(any(f.outcome == "disagreed" for f in findings))
    tally, started = Tally(), time.perf_counter()
    first = options.seed * SPACING
    problems = options.problems or (1000 if options.minutes == float("inf") else SPACING)
    seeds = [list(range(first + i, first + min(i + CHUNK, problems))) for i in range(0, problems, CHUNK)]
    pool = ProcessPoolExecutor(options.jobs)
    try:
        ask = partial(run_chunk, families=families, commands=commands, budget=options.budget)
        for k, chunk in enumerate(pool.map(ask, seeds)):
            for one in chunk:
                tally.add(*one)
            if k % 3 == 2:
                seconds = time.perf_counter() - started
                rate = f"{tally.problems / seconds:.2f} a second"
                print(f"... {tally.problems} problems, {tally.disagreements} disagree, {rate}", flush=True)
            if time.perf_counter() - started > 60 * options.minutes:
                break
    except KeyboardInterrupt:
        print("interrupted: what was compared until then")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    seconds = time.perf_counter() - started
    tally.show()
    print(
        f"\n{tally.problems} problems from seed {options.seed}, {tally.disagreements} with a disagreement, {seconds:.0f} s, {tally.problems / seconds:.2f} a second"
    )
    return int(tally.disagreements > 0)


if __name__ == "__main__":
    sys.exit(main())
