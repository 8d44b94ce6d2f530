"""``likewise bench paper``: the paper's two tables again, its algorithms and the default engine side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.exits import Exit

if TYPE_CHECKING:
    from likewise.paper.experiment import Listener, Plan


PAPER = (
    click.Option(["--data"], metavar="DIR", help="Folder with the authors' fraud.csv, which is not shipped."),
    click.Option(
        ["--only"], multiple=True, metavar="NAME", help="german-rbf2, german, rbf, ...  Repeatable."
    ),
    click.Option(["--without-published"], is_flag=True, help="Leave out the paper's algorithms and testing."),
    click.Option(
        ["--budget"],
        type=float,
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Time for each answer.",
    ),
    click.Option(
        ["--samples"], type=click.IntRange(min=1), help="Random samples for each model.  [default: 50000]"
    ),
    click.Option(
        ["--jobs"], type=click.IntRange(min=1), default=2, show_default=True, help="Processes that fit."
    ),
    click.Option(
        ["--seed"], type=click.IntRange(min=0), default=0, show_default=True, help="Seed of searches."
    ),
    click.Option(
        ["--cache"],
        metavar="DIR",
        help="Where fits (pickles) and answers are kept: a folder of your own.",
    ),
    click.Option(["--fresh"], is_flag=True, help="Compute all answers again; fits are kept."),
    click.Option(["--json", "json_file"], metavar="FILE", help="Write everything here, machine-readable."),
    click.Option(["--markdown", "markdown_file"], metavar="FILE", help="Write the tables here as Markdown."),
)


def paper(**given: Any) -> int:
    """The paper's tables: 24 models, its algorithms and ours.

    Trains the models, answers each by the published algorithm, by random testing and by `likewise verify`, and
    prints both tables. Finished answers are kept: the same command, run again, continues.
    """
    from pathlib import Path

    from likewise.cli.paper_tables import json_document, markdown_tables, print_tables
    from likewise.paper.experiment import ExperimentCell, Interrupted, Plan, chosen_rows, run
    from likewise.paper.published import SAMPLES
    from likewise.paper.training import cache_folder
    from likewise.search.budget import Budget

    Budget(given["budget"])  # refuses a budget that is none
    plan = Plan(
        rows=chosen_rows(given["only"]),
        parts=("ours",) if given["without_published"] else ("published", "testing", "ours"),
        folder=Path(given["cache"]) if given["cache"] else cache_folder(),
        data=Path(given["data"]) if given["data"] else None,
        budget=given["budget"],
        seed=given["seed"],
        jobs=given["jobs"],
        samples=given["samples"] or SAMPLES,
        fresh=given["fresh"],
    )
    cells: list[ExperimentCell] = []
    code = Exit.DONE
    try:
        with _progress_bar(plan) as step:
            run(plan, cells, step)
    except (Interrupted, KeyboardInterrupt):
        click.echo("interrupted: the same command continues from here", err=True)
        code = Exit.UNKNOWN
    command = _command_line(given)
    print_tables(cells, plan)
    if given["json_file"]:
        _write(given["json_file"], json_document(cells, plan, command))
    if given["markdown_file"]:
        _write(given["markdown_file"], markdown_tables(cells, plan, command))
    return code


def _write(name: str, text: str) -> None:
    from likewise.errors import DataError
    from likewise.spec.disk import write_file

    try:
        write_file(name, text.encode())
    except OSError as error:
        raise DataError(f"{name}: cannot be written: {error.strerror or error}") from None


def _command_line(given: dict[str, Any]) -> str:
    """What decides the tables, as a command line; folders and files of this machine left out."""
    words = ["likewise bench paper", *(f"--only {name}" for name in given["only"])]
    if given["data"]:
        words.append("--data DIR")
    if given["without_published"]:
        words.append("--without-published")
    words += [f"--{name} {given[name]:g}" for name in ("budget", "seed") if given[name] not in (60.0, 0)]
    if given["samples"]:
        words.append(f"--samples {given['samples']}")
    return " ".join(words)


@contextmanager
def _progress_bar(plan: Plan) -> Iterator[Listener]:
    """A bar on stderr, on a terminal only."""
    from likewise.paper.experiment import count_steps

    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=count_steps(plan))
        yield lambda done: bar.update(task, advance=1, description=done)
