"""Running one problem: `verify` always, and a few of the other commands."""

from __future__ import annotations

from tests.fuzz.analyses import (
    compare_audit,
    compare_compare,
    compare_groups,
    compare_measure,
    compare_radius,
    compare_regions,
    compare_repair,
    compare_share,
)
from tests.fuzz.choices import Choices, chance
from tests.fuzz.commands import compare_command
from tests.fuzz.findings import Findings
from tests.fuzz.problems import Problem
from tests.fuzz.verdicts import compare_verify

OFTEN = {
    "measure": 40,
    "audit": 35,
    "share": 25,
    "groups": 25,
    "radius": 12,
    "regions": 12,
    "repair": 20,
    "compare": 10,
}  # per cent
COMMAND_LINE = 6


def compare_all(problem: Problem, choices: Choices, commands: tuple[str, ...] = ()) -> Findings:
    """What the commands say of a problem beside brute force; all of `commands`, if some are named."""
    findings = Findings()
    if not commands or "verify" in commands:
        result = compare_verify(problem, findings)
        if chance(choices, COMMAND_LINE):
            compare_command(problem, findings, result)
    for command, percent in OFTEN.items():
        if command not in commands and (commands or not chance(choices, percent)):
            continue
        if command == "measure":
            compare_measure(problem, findings, choices)
        elif command == "audit":
            compare_audit(problem, findings, choices)
        elif command == "share":
            compare_share(problem, findings, choices)
        elif command == "groups":
            compare_groups(problem, findings, choices)
        elif command == "radius":
            compare_radius(problem, findings, choices)
        elif command == "regions":
            compare_regions(problem, findings)
        elif command == "repair":
            compare_repair(problem, findings, choices)
        else:
            compare_compare(problem, findings, choices)
    return findings
