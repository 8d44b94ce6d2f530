"""The command `likewise-check CERT`: exit code 0 for an accepted proof, 1 for an accepted witness, 4
rejected, 2 unreadable or wrong usage,
3 not finished (Ctrl-C, `--seconds`, `--memory`), 101 for an error of the checker. With `--expect`: 0 for
what is expected, 1 for what is accepted
but not that."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the current folder, where `python -m` looks for modules first

import argparse
import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from math import inf

from likewise_check import CheckReport, check
from likewise_check.core.deadline import OutOfTime, alarm
from likewise_check.core.safe_path import leave_current_folder

ACCEPTED, BIASED, UNREADABLE, UNFINISHED, REJECTED = 0, 1, 2, 3, 4
INTERNAL_ERROR = 101
MEMORY = 1024  # MiB, unless told otherwise
EXPECTED = {"fair": "proof", "biased": "witness"}
CLEAR_LINE = "\r\033[K"  # the line of progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code, which no error gets past."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        code, said = UNFINISHED, "interrupted: neither accepted nor rejected"
    except (MemoryError, OutOfTime):
        code, said = UNFINISHED, "NOT FINISHED: neither accepted nor rejected"
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, which says that a witness is accepted
        code, said = INTERNAL_ERROR, f"INTERNAL ERROR, neither accepted nor rejected: {error!r:.1000}"
    with suppress(Exception):  # such as a closed pipe
        sys.stderr.write(f"{said}\n")
    return code


def _run(arguments: Sequence[str] | None) -> int:
    if arguments is None:
        leave_current_folder()
    options = _make_parser().parse_args(arguments)
    talks = bool(sys.stderr and sys.stderr.isatty()) and not options.quiet
    if options.memory is not None:
        _limit_memory(options.memory)
    elif arguments is None:  # a process of its own
        with suppress(ImportError, OSError, ValueError):  # not every system can
            _limit_memory(MEMORY)
    try:
        with alarm(options.seconds):
            report = check(
                options.certificate,
                model=options.model,
                claim=options.claim,
                jobs=options.jobs,
                progress=_show_progress if talks else None,
                seconds=options.seconds,
            )
    except OutOfTime as late:
        report = CheckReport(accepted=False, finished=False, reason=str(late))
    finally:
        if talks:
            sys.stderr.write(CLEAR_LINE)
    said = ""
    if options.json:
        said = json.dumps(report.to_dict()) + "\n"
    elif not options.quiet:
        # What a terminal cannot show is escaped rather than an error.
        said = report.in_words(full=options.full)
        if options.expect is not None and report.accepted and report.kind != EXPECTED[options.expect]:
            said += f"\nNOT AS EXPECTED (--expect {options.expect}): it is a {report.kind}"
        encoding = sys.stdout.encoding or "utf-8"
        said = said.encode(encoding, "backslashreplace").decode(encoding) + "\n"
    if said:
        sys.stdout.write(said)
        sys.stdout.flush()  # at the exit it would be too late to say that this failed
    return _exit_code(report, options.expect)


def _exit_code(report: CheckReport, expect: str | None) -> int:
    if not report.finished:
        return UNFINISHED
    if not report.accepted:
        return REJECTED if report.readable else UNREADABLE
    wanted = "proof" if expect is None else EXPECTED[expect]
    return ACCEPTED if report.kind == wanted else BIASED


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="likewise-check",
        description="Checks a certificate in exact arithmetic.",
        epilog="Exit code: 0 for a proof that is accepted, 1 for a witness that is, which proves bias, 4 rejected, 2 unreadable or wrong usage, 3 not finished (Ctrl-C, --seconds, --memory), 101 an error of the checker. With --expect: 0 for what is expected, 1 for what is accepted but not that.",
    )
    parser.add_argument("certificate", metavar="CERT", help="the certificate file")
    parser.add_argument("--model", metavar="FILE", help="the model line the certificate must speak of")
    parser.add_argument(
        "--claim", metavar="FILE", help="the claim it must be about: space, similarity, property and model"
    )
    parser.add_argument(
        "--expect",
        choices=EXPECTED,
        help="exit with 1 if it is accepted, but proves the contrary",
    )
    parser.add_argument(
        "--seconds", type=_parse_seconds, default=inf, metavar="S", help="give up after so many seconds"
    )
    parser.add_argument(
        "--memory",
        type=_parse_memory,
        metavar="MIB",
        help=f"give up where more memory than so many MiB is needed (default: {MEMORY})",
    )
    parser.add_argument("--full", action="store_true", help="print all of the claim, however long")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--jobs", type=_parse_jobs, default=1, metavar="N", help="worker processes (default: 1)"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but JSON if asked for it")
    return parser


def _parse_jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:6]) <= 1024:
        raise argparse.ArgumentTypeError("a whole number from 1 to 1024")
    return int(text)


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError("a number of seconds above 0")
    return seconds


def _parse_memory(text: str) -> int:
    if find_spec("resource") is None:
        raise argparse.ArgumentTypeError("this system cannot limit the memory of a process")
    if not text.isdecimal() or not 1 <= int(text[:9]) <= 1 << 24:
        raise argparse.ArgumentTypeError("a whole number of MiB")
    return int(text)


def _limit_memory(mebibytes: int) -> None:
    """Of this process, and of each that it starts."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mebibytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


def _show_progress(nodes: int) -> None:
    sys.stderr.write(f"\r{nodes} cells")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
