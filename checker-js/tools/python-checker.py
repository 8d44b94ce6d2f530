"""Answers of the Python checker on many files: reads paths from standard input, writes one line of JSON each."""

import json
import sys

import likewise

SECONDS = 20.0


def main() -> None:
    """Check every file that is named on standard input."""
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            report = likewise.check(path, seconds=SECONDS)
        except Exception as error:  # noqa: BLE001 - a checker that falls over is a finding, no reason to stop
            answer = {"answer": "error", "reason": f"{type(error).__name__}: {error}"}
        else:
            word = "accepted" if report.accepted else "rejected" if report.readable else "unreadable"
            if not report.finished:
                word = "unfinished"
            answer = {
                "answer": word,
                "reason": report.reason,
                "line": report.line,
                "kind": report.kind,
                "clearance": "null" if report.clearance is None else str(report.clearance),
                "covers": report.covers_floating_point,
                "decided": report.decided,
                "packs": sorted(report.packs or []),
            }
        sys.stdout.write(json.dumps(answer, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
