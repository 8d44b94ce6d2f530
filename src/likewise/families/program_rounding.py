"""Program rounding: how far the scores that the original program computes can be from those of the model as mathematics, and what that means for an answer.

A proof is about the stored parameters in real arithmetic, the program rounds. `error_bound` gives a number E with

    |program's score - real score| <= E       for every individual of the space,

from the description of the program that came with the model (`Rounding`, in each family's own room), for rows handed over in double precision and any order of summation; None
where a step is not described. With u = 2^-53, g_n = (1 + u)^n - 1, columns |x_c| <= m_c, which the program has with an error of at most
d_c = g_k (m_c + slack_c) (`traced_columns`), and M_c = m_c + slack_c:

    sums of columns     section 6 of spec/certificate-v1.md, leaves of trees section 9
    Gaussians           sum_t |a_t| e_t + g_(T+room) (2 sum_t |a_t| + sizes), where e_t bounds the error of one exp(-gamma d^2) <= 1:
                        sqrt(2 gamma / e) sum_c d_c for the columns; from differences, d^2 is off by a factor, and z exp(-z) <= 1/e;
                        `expanded`, d^2 is off by D = g_(w+room) (|M| + |s_t|)^2, and neither value leaves [0, 1]: min(1, exp(gamma D) - 1)
    powers              g_n (sum_t |a_t| B_t^D + sizes),  B_t = |coef0| + sum_c |gamma s_tc| M_c,  n = D (w + k + room) + T + room
    products            g_n (sum_f |w_f| product_f M + sizes)
    combined            the largest error of a part, and the rounding of a mean of their scores

A rounding of single precision, 1 + d with |d| <= 2^-24, is less than `SINGLE_AS_DOUBLE` = 2^30 roundings of double precision, and counts as so many, of columns as of sums: one count for programs that mix the two. What is
too small for single precision is off by up to 2^-126 more, which `SINGLE_SLACK` in what is rounded covers.

exp and pow are taken to be right within `room` roundings, as the C library and NumPy promise. All sums are of nonnegative numbers in float64, so that `OUTWARD_FACTOR`
covers their own rounding.

With such a bound E, a value of a pair that the program shows is off by at most

    score         2 E                                    the gap of two scores
    margin        E, or 2 E of leads over other classes  min(s, -s')
    probability   2 (slope E / 4 + link)                 sigma rises by at most 1/4, a softmax falls or rises by at most E / 2, and
                                                         the link itself takes a few roundings of numbers up to 1

An error is *large* if it can be seen: answers are shown in six digits, so that a difference that was observed counts from a millionth of the
largest score on (`VISIBLE_ERROR`). The bound holds for every individual and any order of summation, and so is some hundred times what happens; it counts from a thousandth on (`LARGE_BOUND`),
which sums of leaves in single precision stay below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from likewise.families.scored_model import Model, program_parts
from likewise.model.embedding import column_extents
from likewise.model.gauge import Scale
from likewise.model.head import Head
from likewise.spec.numbers import double_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import ComputedColumn
    from likewise.families.scored_model import Model
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

DOUBLE_BITS, SINGLE_BITS = 53, 24
SINGLE_AS_DOUBLE = 2**30  # a rounding of single precision is less than so many of double precision
SINGLE_SLACK = (
    2.0**-100
)  # times 2^-23 it is more than what a number that is too small for single precision loses
LARGEST_SINGLE = 2.0**126  # with room for roundings
EXTRA_ROUNDINGS = 32  # roundings: of exp, pow or sigma (a few units in the last place), of maps around a model, of additions not counted
OUTWARD_FACTOR = 1 + 1e-6  # what float64 sums of up to 10^9 nonnegative numbers lose, with room
DENORMAL_LOSS = 2.0**-960  # more than all results that are denormal lose together
MOST_ROUNDINGS = 2**40  # for which g_n <= 1.001 n u
LARGEST_ERROR = 2.0**1000  # an error beyond it is as good as unknown


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """What the program's score is off by at most, and what bounds its size. A `crude` one is so far beyond what happens that nothing is stated where it is large."""

    error: float
    size: float
    crude: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnstatedRounding:
    """What the roundings of programs have in common of which no certificate states anything: the columns that the program computes, (k, slack) of each that is off
    by about k u (|column| + slack), and whether all that happens to them is described (see `Rounding`)."""

    columns: tuple[tuple[int, float], ...] = ()
    described: bool = True

    def certified_error(self, model: Model, space: Space) -> None:  # noqa: ARG002
        return None

    def line(self) -> None:
        return None

    def undescribed(self) -> Self:
        return self  # nothing is stated of it anyway

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> Self:
        return replace(self, columns=column_slacks(columns), described=described)

    def of_single_columns(
        self,
        model: Model,  # noqa: ARG002
        space: Space,  # noqa: ARG002
        columns: Sequence[ComputedColumn],  # noqa: ARG002
        *,
        described: bool,  # noqa: ARG002
    ) -> Self | None:
        return None  # but in rooms that know more

    def reach(self, model: Model, space: Space) -> tuple[int, Floats]:
        """The most roundings of a column, and the largest absolute value of each over a space with its slack."""
        largest = np.array([double_beyond(value) for value in column_extents(model.embedding, space)])
        if not self.columns:  # the numbers of the rows themselves
            return 0, largest
        return max(k for k, _ in self.columns), largest + np.array([slack for _, slack in self.columns])


def error_bound(model: Model, space: Space) -> Fraction | None:
    """The largest difference between the program's score and the real one over the whole space; None where it is not known. Of several
    scores, that of each of them."""
    found = _found_bound(model, space)
    return None if found is None else Fraction(found.error)


def _found_bound(model: Model, space: Space) -> ErrorBound | None:
    if model.rounding is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        found = model.rounding.bound(model, space)
    return None if found is None or not found.error <= LARGEST_ERROR else found


def program_bits(model: Model) -> int:
    """The coarsest precision that the program is known to make scores in, and so probabilities of them."""
    return min(getattr(part.rounding, "bits", DOUBLE_BITS) for part in program_parts(model))


def column_slacks(columns: Sequence[ComputedColumn]) -> tuple[tuple[int, float], ...]:
    """(k, slack) of columns that the program computes: each is off by about k u (|column| + slack)."""
    return tuple((one.roundings + 2, float(one.slack + 2 * abs(one.offset))) for one in columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedColumn:
    """A column with its roundings counted in those of single precision."""

    roundings: int
    slack: Fraction
    offset: Fraction


def in_single_roundings(columns: Sequence[ComputedColumn]) -> list[CountedColumn]:
    """The same columns, for a rounding whose unit is that of single precision."""
    return [
        CountedColumn(roundings=-(-one.roundings // SINGLE_AS_DOUBLE), slack=one.slack, offset=one.offset)
        for one in columns
    ]


def rounding_growth(roundings: int, bits: int = 53) -> float:
    """At least (1 + 2^-bits)^roundings - 1."""
    if roundings > MOST_ROUNDINGS:
        return math.inf
    return math.expm1(roundings * 2.0**-bits) * OUTWARD_FACTOR


def round_outward(error: float, size: float, *, crude: bool = False) -> ErrorBound:
    """The bound that covers how it was itself computed."""
    return ErrorBound(OUTWARD_FACTOR * (error + DENORMAL_LOSS * (1 + size)), OUTWARD_FACTOR * size, crude)


def double_beyond(value: Fraction) -> float:
    """A double above a number > 0, infinity if need be; 0 of 0."""
    try:
        return float(np.nextafter(float(value), np.inf)) if value else 0.0
    except OverflowError:
        return math.inf


VISIBLE_ERROR = 1e-6
LARGE_BOUND = 1e-3
SMALLEST_SCORE = (
    1e-300  # below any score: nothing is large against scores that are all 0 but for denormal numbers
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedError:
    """The largest difference between the program's scores and the exact ones on the rows compared, and their largest absolute value."""

    error: float = 0.0
    size: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRounding:
    """How far the program's scores may be from the real ones: a proved bound of each score, None where it is not known; and what
    was observed. `bits` are those in which the program makes probabilities of scores."""

    bounds: tuple[Fraction | None, ...]
    observed: ObservedError = ObservedError()
    bits: int = 53

    @property
    def error(self) -> Fraction | None:
        """The largest bound."""
        known = [bound for bound in self.bounds if bound is not None]
        return max(known) if known and len(known) == len(self.bounds) else None

    @property
    def large(self) -> bool:
        """Whether the error may be seen in what is shown of scores."""
        seen, size = self.observed.error, self.observed.size
        feared = 0 if self.error is None else self.error
        return seen > VISIBLE_ERROR * size + SMALLEST_SCORE or feared > Fraction(LARGE_BOUND) * Fraction(
            size
        ) + Fraction(SMALLEST_SCORE)

    def moved(self, of: Scale, head: Head) -> Fraction | None:
        """By how much the value of a pair may differ between program and mathematics; None where that is not known."""
        error = self.error
        if error is None:
            return None
        if head.link == "exponential":
            return None  # what exp makes of an error depends on the score
        if of == "score" or head.link == "identity":
            return 2 * error
        if of == "margin":
            return 2 * error if head.n_scores > 1 else error
        steepest = Fraction(1, 2) if head.n_scores > 1 else abs(head.slope) / 4
        shift = len(head.classes) if head.n_scores > 1 else 2 * abs(float(head.offset))
        return 2 * (steepest * error + Fraction(rounding_growth(EXTRA_ROUNDINGS, self.bits) * (1 + shift)))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an unknown bound is null."""
        return {
            "bound": None if self.error is None else double_above(self.error),
            "observed": self.observed.error,
            "large": self.large,
        }


def reads_feature(model: Model, feature: int) -> bool:
    """Whether any column or any test of a tree changes with a feature: if none does, the program is asked about equal numbers."""
    if any(column.feature == feature and not column.constant for column in model.embedding):
        return True
    return any(body.reads(feature) for body in model.bodies)


UNDESCRIBED = ProgramRounding(bounds=(None,))


def program_rounding(
    model: Model, space: Space, observed: ObservedError, *, bits: int = 53
) -> ProgramRounding:
    """The rounding of a program whose scores are this model's over a space; what was observed includes the rounding of whoever compared, and
    is no more than the bound. Crude bounds that would alone make it large are not stated."""
    bounds = [_found_bound(part, space) for part in program_parts(model)]
    found = ProgramRounding(
        bounds=tuple(None if one is None else Fraction(one.error) for one in bounds), bits=bits
    )
    unstated = ProgramRounding(bounds=(None,) * len(bounds), observed=observed, bits=bits)
    if any(one is not None and one.crude for one in bounds) and not unstated.large:
        found = unstated if replace(found, observed=observed).large else found
    if found.error is not None and found.error < observed.error:
        observed = replace(observed, error=float(found.error))
    return replace(found, observed=observed)


def rounding_stats(
    rounding: ProgramRounding, of: Scale | None = None, head: Head | None = None
) -> dict[str, Any]:
    """What the `stats` of every answer say; of an answer on a scale also by how much a value on it may move (`moves`)."""
    document = rounding.to_dict()
    if of is not None and head is not None:
        moved = rounding.moved(of, head)
        document["moves"] = None if moved is None else double_above(moved)
    return {"program_rounding": document}


def program_upper_bound(level: float, moved: Fraction | None, of: Scale) -> float | None:
    """What no value of a pair exceeds on the program itself, where `level` is what none exceeds; None where its rounding is not known."""
    if moved is None or not math.isfinite(level):
        return None if moved is None else level
    highest = double_above(Fraction(level) + moved)
    return min(highest, 1.0) if of == "probability" else highest
