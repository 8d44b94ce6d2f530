"""A census of models: which are read and proved about, which are read and searched, which are asked only, and which are refused.

    python -m benchmarks census [--data german credit adult] [--parts classifiers ...] [--only NAME ...] [--jobs 2] [--keep FILE] [--write docs/census.md]

Every classifier and regressor of scikit-learn that takes a table, every transformer in front of three models, and the boosting libraries, with default settings
(`_census_models`), fitted on some rows of a data set. Classifiers are asked for a verdict about decisions and, where that is UNKNOWN, for a certified bracket of probabilities or scores; regressors for the bracket;
budgets are CPU seconds. Each model is fitted and asked in another process, which is ended when it takes too long, so that nothing ends the run: what ends its process, raises what is no error of ours, or takes too long has *failed*. With `--jobs` there are several such processes, and
what is found is the same. `--keep` remembers what was found, and only what is missing there is run.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import platform
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import likewise as lw
from benchmarks._census_models import (
    LEFT_OUT,
    PARTS,
    CannotBeFitted,
    CountedModel,
    FittingRows,
    counted_models,
    fit_model,
)

LOADERS = {"german": "load_german", "credit": "load_credit", "adult": "load_adult"}
KINDS = ("proved", "searched", "black box", "refused", "failed", "not fitted")
HEADINGS = ("data", "models", *KINDS, "not run", "share that is proved about")
SEED = 0
FITTED = "fitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run; `seconds` is the budget of each question, `limit` what a model may take with everything."""

    data: tuple[str, ...] = tuple(LOADERS)
    parts: tuple[str, ...] = PARTS
    only: tuple[str, ...] = ()
    rows: int = 500
    seconds: float = 3.0
    limit: float = 400.0
    jobs: int = 1
    keep: Path | None = None
    run_none: bool = False
    write: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of a model: one of `KINDS`, the answers, and why it is no more than that."""

    data: str
    part: str
    title: str
    kind: str
    verdict: str = ""
    bracket: str = ""
    why: str = ""
    seconds: float = 0.0


# -- one model --------------------------------------------------------------------------------------------


def fitting_rows(name: str, count: int) -> tuple[FittingRows, tuple[str, ...]]:
    """Some rows of a data set, and what is protected in them."""
    import numpy as np

    data = getattr(lw.datasets, LOADERS[name])(frame="pandas")
    chosen = np.random.default_rng(SEED).permutation(len(data.X))[:count]
    X = data.X.iloc[chosen].reset_index(drop=True)
    labels = np.asarray(data.y)[chosen]
    words = [column for column in X.columns if X[column].dtype.kind not in "iuf"]
    numbers = [column for column in X.columns if column not in words]
    amounts = 1.0 + (labels == data.positive) + X[numbers[0]].rank(pct=True).to_numpy()
    rows = FittingRows(X=X, words=words, numbers=numbers, labels=labels, amounts=amounts)
    return rows, tuple(data.protected)


def examine(one: CountedModel, name: str, options: Options, tell: Callable[[str], None]) -> Finding:
    """Fit a model, tell that it is, and ask about it."""
    from likewise import clock

    started = time.process_time()
    clock.now = time.process_time
    rows, protected = fitting_rows(name, options.rows)
    known: dict[str, Any] = {"data": name, "part": one.part, "title": one.title}
    try:
        model = fit_model(one, rows)
    except CannotBeFitted as error:
        return Finding(**known, kind="not fitted", why=_short(error))
    tell(FITTED)
    fitted = time.process_time()
    space = lw.Space.from_data(rows.X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            similar = lw.Similarity(free=list(protected))
            found = _ask(model, space, similar, rows.X, options.seconds, decides=one.decides)
    except lw.LikewiseError as error:
        found = {"kind": "refused", "why": _short(error)}
    except Exception as error:  # noqa: BLE001 - the census goes on, and shows it
        found = {"kind": "failed", "why": f"{type(error).__name__}: {_short(error)}"}
    return Finding(**known, **found, seconds=round(time.process_time() - max(started, fitted), 1))


def _ask(
    model: Any, space: lw.Space, similar: lw.Similarity, X: Any, seconds: float, *, decides: bool
) -> dict[str, str]:
    """The verdict, or where that is left open, and of numbers, a bracket; and what it amounts to."""
    verdict = why = ""
    asked: str | None = None
    if decides:
        result = lw.verify(model, space, similar, X=X, budget=seconds)
        verdict, why, asked = str(result.verdict), result.reason or "", result.stats.get("black_box")
    if asked is not None:
        return {"kind": "black box", "verdict": verdict, "why": asked}
    if verdict in ("FAIR", "BIASED"):
        return {"kind": "proved", "verdict": verdict}
    try:
        gap = lw.measure(
            model, space, similar, of="probability" if verdict else "score", X=X, budget=seconds, certify=True
        )
    except lw.LikewiseError:
        gap = lw.measure(model, space, similar, X=X, budget=seconds, certify=True)
    if "black_box" in gap.stats:
        return {"kind": "black box", "bracket": f"at least {gap.lower:.3g}", "why": gap.stats["black_box"]}
    certified = (
        math.isfinite(gap.upper)
        and gap.certificate is not None
        and not (gap.of == "probability" and gap.upper >= 1)
    )
    bracket = f"[{gap.lower:.3g}, {gap.upper:.3g}]{'' if certified else '?'}"
    return {
        "kind": "proved" if certified else "searched",
        "verdict": verdict,
        "bracket": bracket,
        "why": "" if certified else why or gap.reason or "",
    }


def _short(error: object) -> str:
    return " ".join(str(error).split("\nhint")[0].split())[:300]


# -- all of them, each in a process -----------------------------------------------------------------------


def _serve(connection: Any, options: Options) -> None:
    """Answer for one model after the other."""
    while True:
        one, name = connection.recv()
        connection.send(asdict(examine(one, name, options, connection.send)))


class Examiner:
    """A process that models are given to; another one takes its place where it dies or takes too long."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None

    def examine(self, one: CountedModel, name: str) -> Finding:
        if self._process is None:
            self._connection, inside = self._context.Pipe()
            self._process = self._context.Process(target=_serve, args=(inside, self.options), daemon=True)
            self._process.start()
            inside.close()
        self._connection.send((one, name))
        said: Any = None
        kind = "failed"
        try:
            while self._connection.poll(self.options.limit):
                said = self._connection.recv()
                if said != FITTED:
                    return Finding(**said)
            why = f"took more than {self.options.limit:g} s"
            kind = "failed" if said == FITTED else "not fitted"
        except EOFError:
            why = "its process ended" + ("" if said == FITTED else " while it was fitted")
        self.close()
        return Finding(data=name, part=one.part, title=one.title, kind=kind, why=why)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


class Examiners:
    """As many processes as there are jobs, each with a thread that waits for it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._own = threading.local()
        self._all: list[Examiner] = []
        self._threads = ThreadPoolExecutor(max_workers=options.jobs)

    def examine(self, places: Iterable[tuple[CountedModel, str]]) -> Iterator[Finding]:
        """What comes of models, in their order."""
        return self._threads.map(self._examine, places)

    def _examine(self, place: tuple[CountedModel, str]) -> Finding:
        if not hasattr(self._own, "examiner"):
            self._own.examiner = Examiner(self.options)
            self._all.append(self._own.examiner)
        found: Finding = self._own.examiner.examine(*place)
        return found

    def close(self) -> None:
        """End the processes, and what waits for them."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for examiner in self._all:
            examiner.close()


def take_census(options: Options) -> Iterator[Finding]:
    """One finding a model and data set, those that are kept included."""
    kept = {(one.data, one.part, one.title): one for one in _read_kept(options.keep)}
    wanted = [
        (one, name)
        for name in options.data
        for one in counted_models()
        if one.part in options.parts and (not options.only or one.name in options.only)
    ]
    missing = [
        (one, name)
        for one, name in wanted
        if (name, one.part, one.title) not in kept and not options.run_none
    ]
    examiners = Examiners(options)
    try:
        coming = examiners.examine(missing)
        for one, name in wanted:
            place = (name, one.part, one.title)
            if place not in kept and options.run_none:
                continue
            if place not in kept:
                kept[place] = next(coming)
                _write_kept(options.keep, kept.values())
            yield kept[place]
    finally:
        examiners.close()


def _read_kept(file: Path | None) -> list[Finding]:
    if file is None or not file.exists():
        return []
    return [Finding(**one) for one in json.loads(file.read_text(encoding="utf-8"))]


def _write_kept(file: Path | None, findings: Iterable[Finding]) -> None:
    if file is not None:
        file.write_text(json.dumps([asdict(one) for one in findings], indent=0), encoding="utf-8")


# -- tables -----------------------------------------------------------------------------------------------


def count_kinds(findings: Sequence[Finding]) -> list[list[str]]:
    """One line a data set and part: how many of each kind, and the share that is proved about of those that were fitted."""
    lines = []
    everything = Counter(one.part for one in counted_models())
    for name, part in dict.fromkeys((one.data, one.part) for one in findings):
        counted = Counter(one.kind for one in findings if (one.data, one.part) == (name, part))
        fitted = counted.total() - counted["not fitted"]
        left = everything[part] - counted.total()
        share = f"{100 * counted['proved'] / fitted:.0f} %" if fitted and not left else ""
        lines.append([name, part, *(str(counted[kind]) for kind in KINDS), str(left), share])
    return lines


def page(findings: Sequence[Finding], options: Options) -> str:
    """The page for the documentation."""
    data = list(dict.fromkeys(one.data for one in findings))
    machine = platform.processor() or platform.machine()
    lines = [
        "# Which models are read",
        "",
        f"Made by `python -m benchmarks census{_chosen_data(data)} --write docs/census.md`"
        f" ({machine}, Python {platform.python_version()}, {date.today()}): every classifier and regressor of scikit-learn that takes a table, every transformer in front of three models, and the boosting libraries, all with their default settings, on"
        f" some hundred rows of {', '.join(data)} ({options.rows:,} at most); {options.seconds:g} CPU seconds for each question, and what is protected in the data may differ.",
        "",
        "*Proved*: the model is read, and `verify` is FAIR or BIASED about its decisions, or the largest gap has a bracket whose upper end is certified. *Searched*: it is read, and neither was reached in that time. *Black box*: it is asked, pairs that break a"
        " claim are found, and nothing is proved. *Refused*: nothing is answered. *Failed*: it crashes, or takes too long. [Pipelines](pipelines.md) says what is read and how.",
        "",
        *_markdown(HEADINGS, count_kinds(findings)),
    ]
    for part in dict.fromkeys(one.part for one in findings):
        own = [one for one in findings if one.part == part]
        lines += ["", f"## {part.capitalize()}", "", *_markdown(("model", *data), _by_title(own, data))]
    strange = [one for one in findings if one.kind != "proved"]
    reasons = {(one.title, one.kind, one.why): None for one in strange}
    lines += [
        "",
        "## Why not proved",
        "",
        *_markdown(("model", "", "why"), [[f"`{title}`", kind, _cell(why)] for title, kind, why in reasons]),
    ]
    lines += [
        "",
        "## Not counted",
        "",
        *_markdown(("estimator", "it"), [[f"`{name}`", why] for name, why in sorted(LEFT_OUT.items())]),
    ]
    return "\n".join(lines) + "\n"


def _chosen_data(data: Sequence[str]) -> str:
    return "" if list(data) == list(LOADERS) else f" --data {' '.join(data)}"


def _by_title(findings: Sequence[Finding], data: Sequence[str]) -> list[list[str]]:
    found: dict[str, dict[str, Finding]] = {}
    for one in findings:
        found.setdefault(one.title, {})[one.data] = one
    return [
        [f"`{title}`", *(_cell(_in_words(own.get(name))) for name in data)] for title, own in found.items()
    ]


def _in_words(one: Finding | None) -> str:
    if one is None:
        return ""
    return ", ".join(part for part in (one.kind, one.verdict, one.bracket) if part)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _markdown(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    rows = [headings, ["---"] * len(headings), *lines]
    return ["| " + " | ".join(row) + " |" for row in rows]


def run(options: Options | None = None) -> None:
    """Print every finding as soon as it is known, and how many there are of each kind."""
    chosen = options or Options()
    findings = []
    for one in take_census(chosen):
        findings.append(one)
        print(
            f"{one.data:<7} {one.title:<52} {_in_words(one):<44} {one.seconds:5.1f} s  {one.why[:120]}",
            flush=True,
        )
    table = Table(*HEADINGS)
    for line in count_kinds(findings):
        table.add_row(*line)
    Console(width=120).print(table)
    ended = os.times()
    print(f"{ended.children_user + ended.children_system:.0f} CPU s with fitting and starting")
    if chosen.write is not None:
        chosen.write.write_text(page(findings, chosen), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """With options."""
    default = Options()
    parser = argparse.ArgumentParser(prog="python -m benchmarks census")
    parser.add_argument("--data", nargs="+", default=list(default.data), choices=list(LOADERS))
    parser.add_argument("--parts", nargs="+", default=list(default.parts), choices=list(PARTS))
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these estimators alone")
    parser.add_argument("--rows", type=int, default=default.rows)
    parser.add_argument("--seconds", type=float, default=default.seconds, help="budget of a question")
    parser.add_argument(
        "--limit", type=float, default=default.limit, help="seconds that a model may take with everything"
    )
    parser.add_argument("--jobs", type=int, default=default.jobs, help="models at a time")
    parser.add_argument(
        "--keep", type=Path, help="a file that findings are kept in: what is there is not run again"
    )
    parser.add_argument("--run-none", action="store_true", help="show what is kept, and run nothing")
    parser.add_argument("--write", type=Path, help="the page to write")
    given = parser.parse_args(arguments)
    run(
        Options(
            data=tuple(given.data),
            parts=tuple(given.parts),
            only=tuple(given.only),
            rows=given.rows,
            seconds=given.seconds,
            limit=given.limit,
            jobs=given.jobs,
            keep=given.keep,
            run_none=given.run_none,
            write=given.write,
        )
    )
