"""The flags, declared once and in groups.

`claim_options` say what is claimed about which model, `search_options` how long to look and from where,
`output_options` what to print. A command takes the groups it needs and gets each as one value:
``ClaimFlags.of(given)``. Commands still to come share them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

import click

from likewise.cli.certificate_files import moves_older_certificates

DEBUG = "likewise.debug"  # key in click's meta: show tracebacks
JSON = "likewise.json"  # key in click's meta: stdout is for one JSON object

Function = TypeVar("Function", bound=Callable[..., Any])


class _Picked:
    """Built from a command's parameters: each field picks its own."""

    __slots__ = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        return cls(**{field.name: given[field.name] for field in fields(cls)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFlags(_Picked):
    """What is claimed about which model: a spec file, flags, or flags over a spec file."""

    spec: str | None
    model: str | None
    data: str | None
    label: str | None
    free: tuple[str, ...]
    within: tuple[str, ...]
    pairs: tuple[str, ...]
    where: tuple[str, ...]
    widen: bool
    allow_pickle: bool
    trust: tuple[str, ...]
    import_budget: float

    @classmethod
    def each(cls, given: Mapping[str, Any]) -> tuple[Self, ...]:
        """One value a spec file, with the same flags over each; one value without a spec file if there is none."""
        return tuple(cls.of({**given, "spec": spec}) for spec in given["specs"] or (None,))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFlags(_Picked):
    """How long to look, and from where."""

    budget: float
    jobs: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFlags(_Picked):
    """What to print."""

    certificate: str | None
    as_json: bool
    all_features: bool
    quiet: bool


MODEL_OPTIONS = (
    click.option("--allow-pickle", is_flag=True, help="Open .joblib, .pkl and .pickle: runs code from them."),
    click.option(
        "--trust", multiple=True, metavar="TYPE", help="Let a .skops file construct this type. Repeatable."
    ),
)

_SPEC = click.argument("spec", required=False, metavar="[SPEC]")
_SPECS = click.argument("specs", nargs=-1, metavar="[SPEC]...")

_CLAIM = (
    click.option(
        "--model", metavar="FILE", help="Fitted model: a .skops file, or one saved by XGBoost or LightGBM."
    ),
    click.option("--data", metavar="FILE", help="Rows: .csv, .csv.gz or .parquet."),
    click.option("--label", metavar="COLUMN", help="The column that is predicted: no feature."),
    click.option("--free", multiple=True, metavar="FEATURE", help="May differ in any way. Repeatable."),
    click.option(
        "--within",
        multiple=True,
        metavar="FEATURE=T",
        help="May differ by at most T, a number or a percentage of the range. Repeatable.",
    ),
    click.option(
        "--pairs",
        multiple=True,
        metavar="FEATURE=A:B",
        help="May differ between the levels A and B only. Repeatable.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="RULE",
        help='Only individuals with "a <= b - 14" or "if a == b then c != d". Repeatable.',
    ),
    click.option("--widen", is_flag=True, help="Widen the space to cover the data."),
    *MODEL_OPTIONS,
    click.option(
        "--import-budget",
        type=float,
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="Time to read the model and compare it with the original.",
    ),
)

PROPERTY = click.option(
    "--property",
    "property",
    metavar="P",
    help="What they must share: decision (the default), score:0.5 or probability:0.1.",
)

CLASS = click.option(
    "--class-of-interest",
    metavar="LABEL",
    help="Claim it of this class only, of more than two.",
)

_SEARCH = (
    click.option(
        "--budget",
        type=float,
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Time to search, from when the model is read.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Processes that check proofs.",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the search."
    ),
)


def _json_only(ctx: click.Context, _parameter: click.Parameter, value: bool) -> bool:
    ctx.meta[JSON] = value
    return value


json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=_json_only,
    help="Print one JSON object and nothing else.",
)

_CERTIFICATE = click.option("--certificate", metavar="FILE", help="Write the certificate of the answer here.")
_OUTPUT = (
    click.option("--all", "all_features", is_flag=True, help="Show all features of the pair."),
    json_option,
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but the verdict or the bracket."),
)


quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but the answer.")


def _debugging(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[DEBUG] = True


debug_option = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_debugging,
    help="Show the traceback of an error.",
)


def claim_options(command: Function) -> Function:
    """The flags of `ClaimFlags`."""
    return decorated(command, (_SPEC, *_CLAIM))


def claims_options(command: Function) -> Function:
    """The flags of `ClaimFlags`, for any number of spec files: `ClaimFlags.each`."""
    return decorated(command, (_SPECS, *_CLAIM))


def search_options(command: Function) -> Function:
    """The flags of `SearchFlags`."""
    return decorated(command, _SEARCH)


def certificate_option(command: Function) -> Function:
    """--certificate, with older certificates moved out of the way."""
    return decorated(moves_older_certificates(command), (_CERTIFICATE,))


def output_options(command: Function) -> Function:
    """The flags of `OutputFlags`, and --debug."""
    return certificate_option(decorated(command, (*_OUTPUT, debug_option)))


def decorated(command: Function, options: tuple[Callable[[Function], Function], ...]) -> Function:
    """The command with these options, listed in this order by --help."""
    for option in reversed(options):
        command = option(command)
    return command
