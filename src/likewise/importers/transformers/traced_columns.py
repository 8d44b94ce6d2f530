"""Tracing: what every column is on its way through the preprocessing, a function of ONE raw feature.

A transformer says of each column that it gives which column it takes (`Derived.source`) and what it does to it:

    UNCHANGED     the values themselves
    Arithmetic    + m, * s, / s by stored doubles: an affine map of a number stays one, in exact rationals
    Constant      one number whatever the value
    Filled        another value in the place of one that is missing, the others as they are
    Tabulated     anything else that looks at one value at a time: a table over the values of a discrete feature

Of a continuous feature there are no tables. A monotone function of numpy makes a column a line of that (`bend`), other functions and functions of functions a curve next to them (`curve_pieces`). Where a `TableFunction` knows the thresholds between which it is constant, the
column has steps from then on (`starts`), whatever is done to it; where it knows its function in pieces, the column is a
`curve`, and can only be calculated with.

A column of a number that has only met arithmetic is a `Line`. The program that computes it rounds: with c
its exact value and u = 2^-53, what the program has is off by at most

    ((1 + u)^roundings - 1) (|c| + slack).

The stored doubles are exact, so the first subtraction is off by u |c| only: roundings 1, slack 0. After that,
with c' the value after the operation, from |c| <= |c'| + |m| and (1 + u) ((1 + u)^k - 1) + u = (1 + u)^(k+1) - 1:

    + m    one rounding more, slack + |m|               (slack 0 if nothing was rounded before)
    * s    one rounding more, |s| slack + 2^-1022       (the last for results that are denormal)
    / s    as * 1/s with two: programs divide, or multiply by a rounded 1/s

A *cast* to single precision is one rounding more, of the number itself, and what follows is rounded to single precision too: each operation once in double precision and once more, the stored double before it, and a divisor twice as often.
Every one of these counts as 2^30 of double precision (`families.program_rounding`), and 2^-100 more is slack for results that are denormal there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from likewise.errors import MismatchedModel, UnsupportedModel
from likewise.families.program_rounding import SINGLE_AS_DOUBLE, SINGLE_SLACK
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal
from likewise.spec.pieces import PiecewisePolynomial

if TYPE_CHECKING:
    from likewise.importers.transformers.fitted_curves import FittedCurve
    from likewise.importers.transformers.monotone import MonotoneMap

MOST_CODES = 100_000  # values of an integer feature that a table is made for
SMALLEST_NORMAL = Fraction(1, 2**1022)
WIDEST_SCALE = 2.0**1000  # scales beyond it, or their inverses, leave the range of normal doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Where in the preprocessing a transformer stands, for messages."""

    path: tuple[str, ...]
    kind: str = ""

    def inside(self, name: str, transformer: Any) -> Step:
        return Step(path=(*self.path, name), kind=type(transformer).__name__)

    def __str__(self) -> str:
        return f"step {' > '.join(map(repr, self.path))} ({self.kind})"

    def refuse(self, why: str, *, hint: str | None = None) -> NoReturn:
        raise UnsupportedModel(f"{self} {why}", hint=hint)

    def refuse_space(self, why: str, *, hint: str | None = None) -> NoReturn:
        """The space is not that of the rows that the model was fitted on: asking it would tell nothing either."""
        raise MismatchedModel(f"{self} {why}", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """offset + slope * number, and how a program that computes it rounds: by which operations, in their order."""

    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    roundings: int = 0
    slack: Fraction = Fraction(0)
    operations: tuple[Operation, ...] = field(default=(), compare=False)
    single: bool = False  # from a cast on

    def computed(self, number: float) -> float:
        """What the program makes of a number."""
        return compute_line(self.operations, number)

    def cast(self) -> Line:
        return replace(
            self,
            roundings=self.roundings + SINGLE_AS_DOUBLE,
            slack=self.slack + Fraction(SINGLE_SLACK),
            single=True,
        )

    def plus(self, number: Fraction) -> Line:
        return replace(
            self,
            offset=self.offset + number,
            roundings=self.roundings + (3 * SINGLE_AS_DOUBLE if self.single else 1),
            slack=self.slack + (abs(number) if self.roundings else 0),
        )

    def times(self, number: Fraction, *, roundings: int = 1) -> Line:
        return replace(
            self,
            slope=self.slope * number,
            offset=self.offset * number,
            roundings=self.roundings + ((1 + 2 * roundings) * SINGLE_AS_DOUBLE if self.single else roundings),
            slack=self.slack * abs(number) + (Fraction(SINGLE_SLACK) if self.single else SMALLEST_NORMAL),
        )


@dataclass(frozen=True, slots=True)
class Operation:
    """One arithmetic operation with a stored double, or a cast to single precision."""

    kind: Literal["plus", "times", "over", "cast"]
    number: Fraction = Fraction(0)

    def on(self, line: Line) -> Line:
        return replace(self._on(line), operations=(*line.operations, self))

    def _on(self, line: Line) -> Line:
        if self.kind == "cast":
            return line.cast()
        if self.kind == "plus":
            return line.plus(self.number)
        if self.kind == "times":
            return line.times(self.number)
        return line.times(1 / self.number, roundings=2)

    def computed(self, number: float) -> float:
        """The same in floating point; the number is a stored double."""
        return self._with(number, float(self.number))

    def computed_singly(self, number: float) -> float:
        """The same in single precision, as scikit-learn's StandardScaler does it: the stored double is rounded first."""
        return single_number(self._with(number, single_number(float(self.number))))

    def _with(self, number: float, by: float) -> float:
        if self.kind == "cast":
            return single_number(number)
        if self.kind == "plus":
            return number + by
        return number * by if self.kind == "times" else number / by


def compute_line(operations: Sequence[Operation], number: float) -> float:
    """What the program makes of a number by these operations; from a cast on in single precision."""
    single = False
    for operation in operations:
        single = single or operation.kind == "cast"
        number = operation.computed_singly(number) if single else operation.computed(number)
    return number


def single_number(number: float) -> float:
    """The number of single precision next to a double."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Operations in their order; none of them leaves a column unchanged."""

    operations: tuple[Operation, ...]

    def on(self, line: Line) -> Line:
        for operation in self.operations:
            line = operation.on(line)
        return line


@dataclass(frozen=True, slots=True)
class Constant:
    """The same number for everybody."""

    number: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFunction:
    """A function of one value that is no arithmetic. `does` completes "it ...", as in "cuts numbers into bins".

    `settled` tells that its floating-point results are determined: comparisons, and operations that IEEE 754
    rounds correctly. Logarithms and the like may differ in the last digits from one machine to the next.
    `thresholds` are the numbers at which a value begins that is the same up to the next one; `spline` is the function
    itself, continuous and in pieces; `function` one of numpy's, or a fitted one that rises; `marks` tells that it looks at nothing but whether a value is missing.
    """

    does: str
    settled: bool = True
    thresholds: tuple[float, ...] | None = None
    spline: PiecewisePolynomial | None = None
    function: np.ufunc | FittedCurve | None = None
    marks: bool = False


@dataclass(frozen=True, slots=True)
class FillMissing:
    """This value where one is missing, and all others as they are."""

    value: Level


UNCHANGED = Arithmetic(())
CAST = Arithmetic((Operation("cast"),))
Action = Arithmetic | Constant | TableFunction | FillMissing


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A column that a transformer gives: from which of those it takes, and by which action."""

    source: int
    action: Action = UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedColumn:
    """A column on its way. `line` is None where it is a table or has steps, which begin at the raw numbers `starts`;
    with a `curve` or a `bend` it is a line of that; `distance` is how far the curve may be from a function that it stands for. `untouched` while it has the raw values, `fill` in the place of missing ones.
    `tells` that the column is otherwise where the value is missing than for any raw value; `marker` is what stands for missing levels in
    the user's rows, None where these do not tell."""

    index: int
    name: str
    feature: Feature
    line: Line | None
    untouched: bool = True
    settled: bool = True
    starts: tuple[float, ...] | None = None
    curve: PiecewisePolynomial | None = None
    bend: MonotoneMap | None = None
    distance: Fraction = Fraction(0)
    fill: Level = None
    tells: bool = False
    marker: str | None = None

    @property
    def text(self) -> str | None:
        """A text that the column holds, None where it holds numbers."""
        if not self.untouched or isinstance(self.feature, (Continuous, Integer)):
            return None
        first = self.feature.levels[0]
        return first if isinstance(first, str) else None

    @property
    def values(self) -> Sequence[Level] | None:
        """The values, where the column still has the raw ones and they can be listed."""
        values = listable_values(self.feature) if self.untouched else None
        if values is None or not self.feature.missing or self.fill is None:
            return values
        return tuple(self.fill if value is None else value for value in values)


def listable_values(feature: Feature) -> Sequence[Level] | None:
    """The values of a feature, None where they cannot be listed: a continuous one has but one if lo = hi."""
    match feature:
        case Continuous(lo=lo, hi=hi):
            return (lo,) if lo == hi and not feature.missing else None
        case Integer(lo=lo, hi=hi):
            values = range(int(lo), int(hi) + 1)
            return (*values, None) if feature.missing else values
        case Categorical(levels=levels) | Ordinal(levels=levels):
            return levels


def raw_column(index: int, name: str, feature: Feature, *, marker: str | None = None) -> TracedColumn:
    """A feature as it stands in the user's frame."""
    levels = isinstance(feature, (Categorical, Ordinal))
    return TracedColumn(
        index=index, name=name, feature=feature, line=None if levels else Line(), marker=marker
    )


def derive_column(column: TracedColumn, action: Action, step: Step) -> TracedColumn:
    """The column after an action; refuses what ends neither in a line nor in a table."""
    if isinstance(action, Arithmetic):
        if not action.operations:
            return column
        require_number(column, step)
        line = None if column.line is None else action.on(column.line)
        return replace(column, untouched=column.untouched and action == CAST, line=line)
    if isinstance(action, Constant):
        line = None if column.line is None else Line(slope=Fraction(0), offset=action.number)
        return replace(column, untouched=False, line=line, curve=None, bend=None)
    if isinstance(action, FillMissing):
        if column.fill is not None or not column.feature.missing:
            return column
        return replace(column, fill=action.value, tells=column.tells or not column.untouched)
    if isinstance(column.feature, Continuous) and listable_values(column.feature) is None:
        return _derive_continuous(column, column.feature, action, step)
    if isinstance(column.feature, Integer) and column.feature.size > MOST_CODES:
        step.refuse(
            f"{action.does}, which needs a table of {column.name!r}, and that has {column.feature.size:,} values",
            hint=f"tables are made for at most {MOST_CODES:,} values: narrow its bounds, or use coarser units",
        )
    return replace(column, untouched=False, line=None, settled=column.settled and action.settled)


def _derive_continuous(
    column: TracedColumn, feature: Continuous, action: TableFunction, step: Step
) -> TracedColumn:
    """Steps where there are steps already or thresholds are known, a curve of a line in pieces; else refused."""
    from likewise.importers.transformers.breaks import raw_starts
    from likewise.importers.transformers.curve_pieces import function_in_pieces
    from likewise.importers.transformers.monotone import monotone_map
    from likewise.importers.transformers.splines import compose_spline

    settled = column.settled and action.settled
    if action.marks:
        line = Line(slope=Fraction(0))
        return replace(column, untouched=False, line=line, starts=None, curve=None, bend=None, tells=True)
    if column.starts is not None:
        return replace(column, untouched=False, settled=settled)
    if column.line is None or column.curve is not None:
        refuse_curve(column, action, step)
    _refuse_single(column, action, step)
    if action.function is not None:
        bend = (
            monotone_map(column.line, action.function, float(feature.lo), float(feature.hi))
            if column.bend is None
            else None
        )
        if bend is not None:
            return replace(column, untouched=False, line=bend.line(), settled=settled, bend=bend)
        found = function_in_pieces(column, action.function, feature)
        if found is None:
            refuse_curve(column, action, step)
        return found
    if column.bend is not None and action.spline is None:
        refuse_curve(column, action, step)
    if action.thresholds is not None:
        starts = raw_starts(column.line, action.thresholds, float(feature.lo), float(feature.hi))
        return replace(column, untouched=False, line=None, settled=settled, starts=starts)
    if action.spline is None:
        refuse_curve(column, action, step)
    lo, hi = feature.lo, feature.hi
    if column.bend is not None and (values := column.bend.range()) is not None:
        lo, hi = values.lo, values.hi
    composed = compose_spline(action.spline, column.line, float(lo), float(hi))
    if composed is None:
        step.refuse(
            f"has splines too steep for doubles between {float(lo)!r} and {float(hi)!r}",
            hint="use units in which the column is of ordinary size",
        )
    return replace(column, untouched=False, line=composed[1], settled=False, curve=composed[0])


def _refuse_single(column: TracedColumn, action: TableFunction, step: Step) -> None:
    """Functions that the program calculates in single precision: how far it may be off is known of doubles."""
    single = column.line is not None and column.line.single
    if single and (action.function is not None or action.spline is not None):
        step.refuse(
            f"{action.does}, and {column.name!r} is in single precision by then",
            hint="put the cast to float32 behind it, or leave it out",
        )


def refuse_curve(column: TracedColumn, action: TableFunction, step: Step) -> NoReturn:
    """Functions of a continuous number that are neither polynomials between known places nor monotone all over."""
    step.refuse(
        f"{action.does}, which is exact on discrete features only, and {column.name!r} is continuous",
        hint=f"declare it with the values that it can take, space.replace({{{column.name!r}: Integer(lo, hi)}}) "
        "or Ordinal([...]), or fit the model on the number itself or scaled",
    )


def require_number(column: TracedColumn, step: Step) -> None:
    """Refuse to calculate with text."""
    if column.text is not None:
        step.refuse(
            f"takes numbers, but feature {column.name!r} has the level {column.text!r}",
            hint=f"declare {column.name!r} as the model was fitted, or encode it first (OneHotEncoder)",
        )


def exact_parameter(value: Any, step: Step) -> Fraction:
    """A fitted number, exactly."""
    number = float(value)
    if not abs(number) < float("inf"):
        step.refuse(f"holds the number {number}", hint="fit it again on finite numbers")
    return Fraction(number)


def exact_scale(value: Any, step: Step) -> Fraction:
    """A fitted number to multiply with or divide by."""
    number = exact_parameter(value, step)
    if number and not Fraction(1) / Fraction(WIDEST_SCALE) < abs(number) < Fraction(WIDEST_SCALE):
        step.refuse(f"scales by {float(number)!r}", hint="use units in which the column is of ordinary size")
    return number
