"""The command table: each command with its function, its options, its section of the help, and what its exit codes mean.

The help of a command is its function's docstring. A command returns its exit code, or None for 0.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import click

from likewise.cli import options as o
from likewise.cli.audit import audit
from likewise.cli.bench import PAPER, paper
from likewise.cli.card import card
from likewise.cli.check_page import check_page
from likewise.cli.compare import compare
from likewise.cli.demo import demo
from likewise.cli.exits import EXIT_CODES_TEXT
from likewise.cli.explain import explain
from likewise.cli.export import export
from likewise.cli.groups import groups
from likewise.cli.init import init
from likewise.cli.measure import measure
from likewise.cli.near import near
from likewise.cli.optional_values import OptionalValueCommand
from likewise.cli.radius import radius
from likewise.cli.regions import regions
from likewise.cli.repair import repair
from likewise.cli.report import report
from likewise.cli.share import share
from likewise.cli.ui import ui
from likewise.cli.verify import verify
from likewise.cli.warm_up import warm_up

BEGIN, ASK, ACT, TELL, MORE = "Begin", "Ask", "Act", "Tell others", "More"  # in the order of the help


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command; `group` is the command that it is part of, if it is one of several."""

    run: Callable[..., int | None]
    options: Iterable[click.Parameter]
    section: str
    exits: str | None = None
    group: str | None = None

    @property
    def name(self) -> str:
        return self.run.__name__.replace("_", "-")


ABOUT = (o.SPEC, *o.CLAIM, o.PROPERTY)
ABOUT_A_CLASS = (*ABOUT, o.CLASS)
PRINT_OPTIONS = (o.JSON, o.QUIET, o.DEBUG)
DRAFT = (
    *(o.MODEL_NEEDED, o.LABEL, o.FREE, *o.MINE, o.SPEC_OUTPUT, o.FORCE),
    *(o.ALLOW_PICKLE, o.TRUST, o.MAX_MEMORY, o.EXTERNAL_DATA, o.DEBUG),
)
BOXES = (o.AROUND, o.OVER_REGIONS, o.MAX_BOXES, o.REGIONS_OUTPUT, o.CERTIFICATES, o.ALL_REGIONS)
REPAIR = (o.REPAIR_METHOD, o.WEIGHTS, o.REFERENCE, o.GRID, o.MODEL_OUTPUT)
PAGE = (o.REPORT_OUTPUT, o.REPORT_FULL, o.NO_ROWS, o.OF_REPORT, *o.REPORT_READ, o.QUIET_BUT_VERDICT, o.DEBUG)

GROUPS = {"bench": "Repeat published experiments."}

COMMANDS = (
    Command(run=demo, section=BEGIN, options=(o.ALL_OF_PAIRS, o.DEBUG)),
    Command(
        run=init,
        section=BEGIN,
        options=(o.DATA_FILE, *DRAFT),
    ),
    Command(
        run=ui,
        section=BEGIN,
        options=(
            *(o.UI_FOLDER, o.UI_PORT, o.NO_BROWSER, o.ALLOW_PICKLE, o.TRUST),
            *(o.IMPORT_BUDGET, o.MAX_MEMORY, o.DEBUG),
        ),
    ),
    Command(
        run=verify,
        section=ASK,
        options=(
            o.SPECS,
            *o.CLAIM,
            o.PROPERTY,
            o.CLASS,
            o.LIKE_DATA,
            *o.SEARCH,
            *o.KEEP,
            o.JUNIT,
            o.SARIF,
            *o.OUTPUT,
        ),
        exits=EXIT_CODES_TEXT,
    ),
    Command(
        run=measure,
        section=ASK,
        options=(
            o.SPEC,
            *o.CLAIM,
            o.MEASURED_CLAIM,
            o.OF_MEASURED,
            o.MEASURE_TOLERANCE,
            o.CLASS,
            *o.SEARCH,
            *o.KEEP,
            *o.OUTPUT,
        ),
        exits="Exit codes: 0 bracket within the tolerance, 2 usage or input error, 3 the search ended first, "
        "101 internal error.",
    ),
    Command(
        run=audit,
        section=ASK,
        options=(*ABOUT_A_CLASS, o.ROWS_OUTPUT, o.FORMULAS, o.BY, *o.SEARCH, *o.KEEP, *PRINT_OPTIONS),
        exits="Exit codes: 0 every row is decided, 2 usage or input error, 3 some rows are not, 101 internal error.",
    ),
    Command(
        run=share,
        section=ASK,
        options=(*ABOUT_A_CLASS, o.OVER, o.SHARE_METHOD, o.CONFIDENCE, *o.SEARCH, *o.KEEP, *PRINT_OPTIONS),
        exits="Exit codes: 0 exact, or as narrow as aimed at, 2 usage or input error, 3 the budget ended first, "
        "101 internal error.",
    ),
    Command(
        run=groups,
        section=ASK,
        options=(
            *(o.SPEC, *o.CLAIM, o.GROUPS_BY, o.GROUPS_OVER, o.FAVOURABLE, o.CONFIDENCE),
            *(*o.SEARCH, *PRINT_OPTIONS),
        ),
        exits="Exit codes: 0 exact, or as narrow as aimed at, 2 usage or input error, 3 the budget ended first, "
        "101 internal error.",
    ),
    Command(
        run=radius,
        section=ASK,
        options=(*ABOUT, o.FEATURE, *o.SEARCH, *o.OUTPUT),
        exits="Exit codes: 0 both ends meet, 2 usage or input error, 3 the search ended first, 101 internal error.",
    ),
    Command(
        run=near,
        section=ASK,
        options=(
            *ABOUT,
            o.DISTANCE,
            *o.SEARCH,
            o.BOX_CERTIFICATES,
            o.ALL_FEATURES,
            o.JSON,
            o.QUIET_BUT_BRACKET,
            o.DEBUG,
        ),
        exits="Exit codes: 0 FAIR, or both ends meet, 1 BIASED at the distance, 2 usage or input error, 3 the search ended first, 101 internal error.",
    ),
    Command(
        run=regions,
        section=ASK,
        options=(*ABOUT, *o.SEARCH, *o.KEEP, *BOXES, o.JSON, o.QUIET_BUT_SHARES, o.DEBUG),
        exits="Exit codes: 0 done, 2 usage or input error, 3 the budget or --max-boxes ended it first, "
        "101 internal error.",
    ),
    Command(
        run=compare,
        section=ASK,
        options=(*ABOUT, o.WITH, o.OF_COMPARED, o.COMPARE_TOLERANCE, *o.SEARCH, o.JSON, o.DEBUG),
        exits="Exit codes: 0 the new model is fairer or as fair, 1 less fair, 2 usage or input error, "
        "3 not told apart, 101 internal error.",
    ),
    Command(
        run=repair,
        section=ACT,
        options=(*ABOUT_A_CLASS, *REPAIR, *o.SEARCH, *o.OUTPUT),
        exits=EXIT_CODES_TEXT,
    ),
    Command(
        run=card,
        section=TELL,
        options=(*ABOUT_A_CLASS, o.OF_CARD, o.CARD_SHARE, *o.SEARCH, o.CERTIFICATE, o.CARD_OUTPUT, o.DEBUG),
        exits="Exit codes: 0 the card is written, whatever it says; 2 usage or input error, 101 internal error.",
    ),
    Command(
        run=report,
        section=TELL,
        options=(*ABOUT_A_CLASS, *o.SEARCH, o.CERTIFICATE, *PAGE),
        exits=EXIT_CODES_TEXT,
    ),
    Command(run=explain, section=TELL, options=(o.CERTIFICATE_FILE, o.JSON, o.DEBUG)),
    Command(
        run=export,
        section=TELL,
        options=(*ABOUT_A_CLASS, o.PARAMETERS_OUTPUT, o.WHOLE_CLAIM, o.DEBUG),
    ),
    Command(run=check_page, section=TELL, options=(o.CHECK_PAGE_OUTPUT, o.DEBUG)),
    Command(run=warm_up, section=MORE, options=(o.DEBUG,)),
    Command(run=paper, section=MORE, options=(*PAPER, o.DEBUG), group="bench"),
)


def add_commands(program: click.Group) -> None:
    """Put all commands into the program."""
    for row in COMMANDS:
        home = program if row.group is None else _find_group(program, row.group)
        home.add_command(_make_command(row))


def sections() -> dict[str, list[str]]:
    """The names of the commands below the sections of the help."""
    found: dict[str, list[str]] = {}
    for row in COMMANDS:
        found.setdefault(row.section, []).append(row.group or row.name)
    return found


def options_of(name: str) -> tuple[click.Option, ...]:
    """The options of a command, in the order of its help."""
    row = next(row for row in COMMANDS if row.name == name)
    return tuple(option for option in row.options if isinstance(option, click.Option))


def _make_command(row: Command) -> click.Command:
    said = inspect.cleandoc(row.run.__doc__ or "")
    return OptionalValueCommand(
        row.name, callback=row.run, params=list(row.options), help=said, epilog=row.exits
    )


def _find_group(program: click.Group, name: str) -> click.Group:
    group = program.commands.get(name)
    if not isinstance(group, click.Group):
        group = click.Group(name, help=GROUPS[name])
        program.add_command(group)
    return group
