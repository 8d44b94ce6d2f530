"""Every option of every command, declared once; groups of them; and what commands take from them.

Where two commands give a flag another meaning, they have an option each. `table` says which command has which options; a command gets the
values by their names, and groups as one value: ``ClaimFlags.of(given)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import click

from likewise.cli.optional_values import OptionalValue
from likewise.spec.disk import MEMORY, memory_limit

DEBUG_KEY = "likewise.debug"  # key in click's meta: show tracebacks
JSON_KEY = "likewise.json"  # key in click's meta: stdout is for one JSON object


class _OptionGroup:
    """Built from a command's parameters: each field picks its own."""

    __slots__ = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        return cls(**{field.name: given[field.name] for field in fields(cls)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFlags(_OptionGroup):
    """What is claimed about which model: a claim file, flags, or flags over a claim file."""

    spec: str | None
    model: str | None
    data: str | None
    label: str | None
    free: tuple[str, ...]
    within: tuple[str, ...]
    pairs: tuple[str, ...]
    along: tuple[str, ...]
    metric: str | None
    metric_radius: str | None
    where: tuple[str, ...]
    widen: bool
    outside: str | None
    encoding: str | None
    threshold: float | None
    allow_pickle: bool
    trust: tuple[str, ...]
    import_budget: float

    @classmethod
    def each(cls, given: Mapping[str, Any]) -> tuple[Self, ...]:
        """One value a claim file, with the same flags over each; one value without a claim file if there is none."""
        return tuple(cls.of({**given, "spec": spec}) for spec in given["specs"] or (None,))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFlags(_OptionGroup):
    """How long to look, and from where."""

    budget: float
    jobs: int | None
    seed: int
    cluster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFlags(_OptionGroup):
    """What to print."""

    certificate: str | None
    as_json: bool
    all_features: bool
    quiet: bool


def _note_in_context(key: str) -> Any:
    def note(ctx: click.Context, _parameter: click.Parameter, value: bool) -> bool:
        ctx.meta[key] = value or ctx.meta.get(key, False)
        return value

    return note


def _limit_memory(ctx: click.Context, _parameter: click.Parameter, gigabytes: float) -> float:
    if not ctx.resilient_parsing:
        ctx.with_resource(memory_limit(gigabytes * (1 << 30)))
    return gigabytes


# -- the claim --------------------------------------------------------------------------------------------

SPEC = click.Argument(["spec"], required=False, metavar="[CLAIM]")
SPECS = click.Argument(["specs"], nargs=-1, metavar="[CLAIM]...")
MODEL = click.Option(
    ["--model"],
    metavar="FILE",
    help="Fitted model: a .skops file, one saved by XGBoost, LightGBM or CatBoost, a network (.onnx, .npz, .keras, .h5), or code to be asked: module:function.",
)
MODEL_NEEDED = click.Option(["--model"], required=True, metavar="FILE", help=MODEL.help)
DATA = click.Option(["--data"], metavar="FILE", help="Rows: .csv, .csv.gz or .parquet.")
LABEL = click.Option(["--label"], metavar="COLUMN", help="The column that is predicted: no feature.")
FREE = click.Option(["--free"], multiple=True, metavar="FEATURE", help="May differ in any way. Repeatable.")
WITHIN = click.Option(
    ["--within"],
    multiple=True,
    metavar="FEATURE=T",
    help="May differ by at most T, a number or a percentage of the range. Repeatable.",
)
PAIRS = click.Option(
    ["--pairs"],
    multiple=True,
    metavar="FEATURE=A:B",
    help="May differ between the levels A and B only. Repeatable.",
)
ALONG = click.Option(
    ["--along"],
    multiple=True,
    metavar="FEATURE=OTHER:A:B:S",
    help="Changes by S where another feature goes from the level A to B, and back by the opposite; OTHER:R for R times a whole number. Repeatable.",
)
METRIC = click.Option(
    ["--metric"],
    metavar="KIND:FEATURE=W,...",
    help="May differ by no more than --metric-radius in these features together: l1, l2 or linf, with weights of numbers and costs of levels. Of a Lipschitz claim, the metric that scores are compared with.",
)
RADIUS = click.Option(["--metric-radius"], metavar="R", help="How far apart by --metric.")
WHERE = click.Option(
    ["--where"],
    multiple=True,
    metavar="RULE",
    help='Only individuals with "a <= b - 14" or "if a == b then c != d". Repeatable.',
)
WIDEN = click.Option(["--widen"], is_flag=True, help="Widen the space to cover the data.")
OUTSIDE = click.Option(
    ["--outside"],
    type=click.Choice(["error", "ignore", "clip"]),
    help="Rows that are outside of the space: refuse them (the default), leave them out, or move numbers to the nearest end of their range.",
)
ENCODING = click.Option(
    ["--encoding"],
    type=click.Choice(["get_dummies"]),
    help="The model was fitted on pandas.get_dummies of the rows.",
)
THRESHOLD = click.Option(
    ["--threshold"],
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="T",
    help="Of two classes, the model decides for the second one where its probability is at least T.",
)
ALLOW_PICKLE = click.Option(
    ["--allow-pickle"], is_flag=True, help="Open .joblib, .pkl and .pickle: runs code from them."
)
TRUST = click.Option(
    ["--trust"], multiple=True, metavar="TYPE", help="Let a .skops file construct this type. Repeatable."
)
IMPORT_BUDGET = click.Option(
    ["--import-budget"],
    type=float,
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to read the model and compare it with the original.",
)
MAX_MEMORY = click.Option(
    ["--max-memory"],
    type=click.FloatRange(0, min_open=True),
    default=MEMORY / (1 << 30),
    show_default=True,
    metavar="GB",
    callback=_limit_memory,
    help="Refuse files whose content takes more memory than this.",
)
PROPERTY = click.Option(
    ["--property"],
    metavar="P",
    help="What they must share: decision (the default), score:0.5, probability:0.1 or lipschitz:0.5 (with --metric); or a claim by its name: monotone:income, influence:age,score=0.5, treatment:sex,f,m or rounding:age,0.5.",
)
CLASS = click.Option(
    ["--class-of-interest"], metavar="LABEL", help="Claim it of this class only, of more than two."
)
CLAIM = (
    *(MODEL, DATA, LABEL, FREE, WITHIN, PAIRS, ALONG, METRIC, RADIUS, WHERE),
    *(WIDEN, OUTSIDE, ENCODING, THRESHOLD, ALLOW_PICKLE, TRUST, IMPORT_BUDGET, MAX_MEMORY),
)

# -- the search -------------------------------------------------------------------------------------------

BUDGET = click.Option(
    ["--budget"],
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to search, from when the model is read.",
)
JOBS = click.Option(
    ["--jobs"],
    type=click.IntRange(min=1),
    show_default="all cores",
    metavar="N",
    help="Processes that search and check.",
)
SEED = click.Option(
    ["--seed"], type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the search."
)
CLUSTER = click.Option(
    ["--cluster"], metavar="ADDRESS", help="Search and check in the workers of a Dask scheduler instead."
)
SEARCH = (BUDGET, JOBS, CLUSTER, SEED)
CHECKPOINT = click.Option(
    ["--checkpoint"], metavar="FILE", help="Write the state of the search here, now and then and at its end."
)
RESUME = click.Option(["--resume"], is_flag=True, help="Go on from the checkpoint, if it is there.")
KEEP = (CHECKPOINT, RESUME)

# -- what is printed --------------------------------------------------------------------------------------

CERTIFICATE = click.Option(
    ["--certificate"], metavar="FILE", help="Write the certificate of the answer here."
)
ALL_FEATURES = click.Option(["--all", "all_features"], is_flag=True, help="Show all features of the pair.")
ALL_OF_PAIRS = click.Option(["--all", "all_features"], is_flag=True, help="Show all features of the pairs.")
ALL_REGIONS = click.Option(["--all", "all_regions"], is_flag=True, help="Print all regions.")
JSON = click.Option(
    ["--json", "as_json"],
    is_flag=True,
    callback=_note_in_context(JSON_KEY),
    help="Print one JSON object and nothing else.",
)
QUIET = click.Option(["--quiet", "-q"], is_flag=True, help="Print nothing but the answer.")
QUIET_BUT_BRACKET = click.Option(
    ["--quiet", "-q"], is_flag=True, help="Print nothing but the verdict or the bracket."
)
QUIET_BUT_SHARES = click.Option(["--quiet", "-q"], is_flag=True, help="Print nothing but the shares.")
QUIET_BUT_VERDICT = click.Option(["--quiet", "-q"], is_flag=True, help="Print nothing but the verdict.")
DEBUG = click.Option(
    ["--debug"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_note_in_context(DEBUG_KEY),
    help="Show the traceback of an error.",
)
OUTPUT = (CERTIFICATE, ALL_FEATURES, JSON, QUIET_BUT_BRACKET, DEBUG)

# -- of one command each ----------------------------------------------------------------------------------

SCALES = click.Choice(["score", "probability", "margin"])
MEASURED_CLAIM = click.Option(
    ["--property"],
    metavar="P",
    help="A claim by its name, whose pairs are looked at: monotone:income, treatment:sex,f,m or rounding:age,0.5.",
)
OF_MEASURED = click.Option(
    ["--of"],
    type=click.Choice(["score", "probability", "margin", "lipschitz"]),
    default="score",
    show_default=True,
    help="Gap of scores or of probabilities, margin of a flipped decision, or how fast scores change by --metric.",
)
OF_COMPARED = click.Option(
    ["--of"], type=SCALES, help="The gap to compare; probabilities where both models have them."
)
OF_CARD = click.Option(
    ["--of"], type=SCALES, help="The gap to measure; of probabilities where the model has them."
)
OF_REPORT = click.Option(
    ["--of"],
    type=SCALES,
    help="What is measured; default: what the claim is about, scores for decisions.",
)
MEASURE_TOLERANCE = click.Option(
    ["--tolerance"],
    type=float,
    default=1e-6,
    show_default=True,
    metavar="T",
    help="Search until the bracket is this narrow.",
)
COMPARE_TOLERANCE = click.Option(
    ["--tolerance"],
    type=float,
    default=1e-3,
    show_default=True,
    metavar="T",
    help="How closely to compare.",
)
LIKE_DATA = OptionalValue(
    ["--like-data"],
    bare="nearest",
    others=["frequent"],
    help="Show the pair that is nearest to a row of the data, and which row that is; or the one whose features are the most frequent in the data.",
)
JUNIT = click.Option(
    ["--junit"], metavar="FILE", help="Write a JUnit XML report here, one test case for each claim file."
)
SARIF = click.Option(["--sarif"], metavar="FILE", help="Write a SARIF 2.1.0 report here.")
ROWS_OUTPUT = click.Option(["--output"], metavar="FILE", help="Write all rows here: .csv or .parquet.")
FORMULAS = click.Option(
    ["--keep-formulas"],
    is_flag=True,
    help="In a .csv, leave text that begins like a formula as it is, not with an apostrophe in front.",
)
BY = click.Option(["--by"], metavar="COLUMN", help="Count for each value of this column of the data.")
OVER = click.Option(
    ["--over"],
    type=click.Choice(["uniform", "marginals", "data"]),
    default="uniform",
    show_default=True,
    help="All individuals alike, distributed as the data's columns, or the data's rows.",
)
GROUPS_BY = click.Option(
    ["--by"],
    multiple=True,
    required=True,
    metavar="FEATURE",
    help="What tells the groups: a feature, or a column of the data. Repeatable: groups are crossed.",
)
GROUPS_OVER = click.Option(
    ["--over"],
    type=click.Choice(["data", "marginals", "uniform", "population"]),
    default="data",
    show_default=True,
    help="The data's rows, individuals distributed as the data's columns, all individuals alike, or [population] of the claim file.",
)
FAVOURABLE = click.Option(
    ["--favourable"],
    metavar="LABEL",
    help="The decision that counts; of two labels the upper one if nothing is said.",
)
SHARE_METHOD = click.Option(
    ["--method"],
    type=click.Choice(["auto", "exact", "certified", "sampled"]),
    default="auto",
    show_default=True,
    help="Look at everybody, prove a bracket by cells, or draw a sample.",
)
CONFIDENCE = click.Option(
    ["--confidence"],
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.99,
    show_default=True,
    help="Confidence of the interval that a sample gives.",
)
FEATURE = click.Option(
    ["--feature"],
    metavar="FEATURE",
    help="Look for the tolerance of this feature; without, for a factor on all tolerances.",
)
DISTANCE = click.Option(
    ["--distance"],
    metavar="D",
    type=click.FloatRange(0, 1),
    help="Ask about everybody within this distance of a row; without, for the largest one.",
)
BOX_CERTIFICATES = click.Option(
    ["--certificates"], metavar="FOLDER", help="Write the certificates of all boxes here."
)
AROUND = click.Option(
    ["--around"],
    metavar="ROW|RULE",
    help="One fair box instead, around row number ROW (from 0) or a RULE.",
)
OVER_REGIONS = click.Option(
    ["--over"],
    type=click.Choice(["uniform", "marginals", "data"]),
    help="Whom to decide as many of as possible: all individuals alike, individuals distributed as the data's columns, or the data's rows  [default: the rows, if there are any]",
)
MAX_BOXES = click.Option(
    ["--max-boxes"],
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="No more fair and no more biased boxes than this, the largest found; 0 is no limit.",
)
REGIONS_OUTPUT = click.Option(["--output"], metavar="FILE", help="Write all regions here, as JSON.")
CERTIFICATES = click.Option(
    ["--certificates"], metavar="FOLDER", help="Write the certificates of all regions here."
)
WITH = click.Option(["--with", "other"], metavar="FILE", required=True, help="The new model.")
REPAIR_METHOD = click.Option(
    ["--method"],
    type=click.Choice(["average", "max", "min", "reference", "shrink", "threshold"]),
    default="average",
    show_default=True,
    help="What is made of the scores.",
)
WEIGHTS = click.Option(
    ["--weights"],
    type=click.Choice(["uniform", "observed"]),
    default="uniform",
    show_default=True,
    help="Weights of the settings in an average: all alike, or as often as in the data.",
)
REFERENCE = click.Option(
    ["--reference"],
    multiple=True,
    metavar="FEATURE=VALUE",
    help="The setting of --method reference; else the most frequent one. Repeatable.",
)
GRID = click.Option(
    ["--grid"],
    type=click.IntRange(min=1),
    default=9,
    show_default=True,
    help="Values of a continuous feature that count as settings.",
)
MODEL_OUTPUT = click.Option(
    ["--output"], metavar="FILE", help="Write the repaired model here, as .skops, if it is FAIR."
)
CARD_SHARE = click.Option(
    ["--share"], metavar="FILE", help="A share to be told as well: JSON with lower, upper, method."
)
CARD_OUTPUT = click.Option(
    ["--output", "-o"], metavar="FILE", help="Write the card here instead of printing it."
)
REPORT_OUTPUT = click.Option(
    ["--output", "-o"], required=True, metavar="FILE", help="The HTML file to write."
)
CHECK_PAGE_OUTPUT = click.Option(
    ["--output", "-o"],
    default="likewise-check.html",
    show_default=True,
    metavar="FILE",
    help="The HTML file to write.",
)
REPORT_ANALYSES = (
    "radius",
    "audit",
    "share",
    "groups",
    "regions",
    "repair",
)  # analyses that a report takes from what was printed
REPORT_READ = tuple(
    click.Option(
        [f"--{name}"], metavar="FILE", help=f"Include what `likewise {name} --json` said of the claim."
    )
    for name in REPORT_ANALYSES
)
REPORT_FULL = click.Option(
    ["--full"],
    is_flag=True,
    help="Ask all that can be asked: also how many, how far, who, and what can be done.",
)
NO_ROWS = click.Option(
    ["--no-rows"],
    is_flag=True,
    help="Show no row of the data, and no pair: counts alone, for readers who may not see people.",
)
UI_FOLDER = click.Argument(["folder"], required=False, default=".", metavar="[FOLDER]")
UI_PORT = click.Option(
    ["--port"],
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port to serve at.  [default: a free one]",
)
NO_BROWSER = click.Option(["--no-browser"], is_flag=True, help="Open no browser, print the address only.")
CERTIFICATE_FILE = click.Argument(["certificate"], metavar="CERT")
PARAMETERS_OUTPUT = click.Option(
    ["-o", "--output"], required=True, metavar="FILE", help="Where to write the model's parameters."
)
WHOLE_CLAIM = click.Option(
    ["--whole"], is_flag=True, help="Write the whole claim: space, similarity, property and model."
)
DATA_FILE = click.Argument(["data"])
SPEC_OUTPUT = click.Option(["-o", "--output"], metavar="FILE", help="Write here instead of to stdout.")
MINE = (
    click.Option(
        ["--mine"],
        is_flag=True,
        help="Look for rules that the rows obey, and put them into the draft as comments, to be judged.",
    ),
    click.Option(
        ["--exceptions"],
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        help="With --mine: how many rows may break a rule.",
    ),
)
FORCE = click.Option(["--force"], is_flag=True, help="Overwrite the output file.")
EXTERNAL_DATA = click.Option(
    ["--external-data"], is_flag=True, help="Weights of an .onnx file may be in other files beside it."
)
