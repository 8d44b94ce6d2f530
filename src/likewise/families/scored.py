"""A scored model: embedding, n >= 1 bodies of one family and head together, evaluated exactly (one) or in float64 (many).

The score of a model, a `Separable`, `KernelScore`, `PolynomialScore`, `TreeScore`, or a `CombinedScore` of these, is its real-number semantics and what every verdict
refers to: `enclose` gives it for one individual, to any precision, `scores` for many in float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.families.affine.body import Affine
from likewise.families.combined.score import Combined, CombinedScore, SimpleBody, SimpleScore
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.score import KernelScore
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.trees.body import TreeForm
from likewise.families.trees.score import TreeScore
from likewise.model.embedding import Column
from likewise.model.head import Head
from likewise.spec.features import Continuous, Integer
from likewise.spec.pieces import Pieces, summed
from likewise.spec.terms import Separable, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """What bounds the rounding error of the original program's score, in whatever order it adds.

    A value computed by `operations` successive roundings of terms t is off by at most
    ((1 + u)^operations - 1) * sum |t|, u = 2^-53. `sizes` weigh the columns' absolute values in sum |t|:
    |weight| for a plain dot product, more where the program goes through support vectors. Where the program
    computes column c itself and has it with an error of at most ((1 + u)^k - 1) (|c| + slack), k operations more
    and size * slack in the constant cover that, as (1 + g_n) (1 + g_k) = 1 + g_(n+k) for g_n = (1 + u)^n - 1.

    A program whose rounding is not `described` (it goes through logarithms, say) is only compared with, as if
    it did no more than this; what a proof states of it covers no rounding at all. Its score is still `bounded` by this where only what
    it makes of the score (a probability that is compared) is not described.
    """

    sizes: tuple[Fraction, ...]
    constant: Fraction
    operations: int
    described: bool = True
    bounded: bool = True

    def error(self, columns: Sequence[Fraction]) -> Fraction:
        """The bound for columns whose absolute values are at most these."""
        size = self.constant + sum(
            (s * abs(c) for s, c in zip(self.sizes, columns, strict=True)), Fraction(0)
        )
        growth = (1 + Fraction(1, 2**53)) ** self.operations - 1
        return growth * size + self.operations * UNDERFLOW

    def stated(self) -> Rounding:
        """What a certificate says: this, or an error that no clearance exceeds."""
        if self.described:
            return self
        return Rounding(sizes=(Fraction(0),) * len(self.sizes), constant=BOUNDLESS, operations=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRounding:
    """How the original program computes squared distances: from differences, or `expanded` as
    |x|^2 - 2 x.s + |s|^2, which loses the digits that the squares have in common. `error` is good for comparing two
    programs; what bounds the program's error over a space is in `program_error`, and no certificate states it.
    `columns` has (k, slack) for each column that the program computes: off by about k u (|column| + slack)."""

    expanded: bool
    columns: tuple[tuple[int, float], ...] = ()
    more: float = 0.0  # sizes of what is added to the sum afterwards
    described: bool = True  # whether the columns are: see `Rounding`

    def error(self, body: RbfSum, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room."""
        size, terms, width = float(np.abs(body.coefficients).sum()), len(body.coefficients), len(columns)
        lost = 1.0
        if self.expanded:
            lost += body.gamma * (
                float(np.square(columns).sum()) + float((body.centres**2).sum(axis=1).max())
            )
        epsilon = float(np.finfo(np.float64).eps)
        # exp(-gamma |x - s|^2) changes by at most sqrt(2 gamma / e) for each unit that x moves.
        moved = sum(k * (abs(c) + slack) for c, (k, slack) in zip(columns, self.columns, strict=False))
        steepest = math.sqrt(2 * body.gamma / math.e)
        return 8 * epsilon * (size * (terms + (width + 4) * lost + steepest * moved) + abs(body.bias))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PolynomialRounding:
    """How the original program computes b + sum_t a_t (gamma <s_t, x> + coef0)^degree. Good for comparing two
    programs only, like `KernelRounding`."""

    coefficients: NDArray[np.float64]  # a_t
    slopes: NDArray[np.float64]  # gamma s_t
    coef0: float
    bias: float
    degree: int
    columns: tuple[tuple[int, float], ...] = ()  # as in `KernelRounding`
    described: bool = True

    def error(self, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room.

        With B_t = |coef0| + sum_c |gamma s_tc x_c| the inner value is off by (width + 3) roundings of B_t at
        most, its power by degree times as many of B_t^degree and the power's own, and then the sum is taken.
        Where the columns are computed, they move the inner value by gamma |s_tc| times their own errors.
        """
        inner = np.abs(self.slopes) @ np.abs(columns) + abs(self.coef0)
        roundings = self.degree * (len(columns) + 4) + len(self.coefficients) + 2
        total = roundings * (float(np.abs(self.coefficients) @ inner**self.degree) + abs(self.bias))
        if self.columns and self.degree:
            errors = [k * (abs(c) + slack) for c, (k, slack) in zip(columns, self.columns, strict=True)]
            moved = np.abs(self.slopes) @ np.array(errors)
            total += float(np.abs(self.coefficients) @ (self.degree * inner ** (self.degree - 1) * moved))
        return 8 * float(np.finfo(np.float64).eps) * total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductRounding:
    """How the original program computes b + sum_f w_f product_f of its columns. Good for comparing two programs
    only, like `KernelRounding`."""

    coefficients: NDArray[np.float64]  # w_f
    products: tuple[tuple[int, ...], ...]
    bias: float
    columns: tuple[tuple[int, float], ...] = ()  # as in `KernelRounding`
    after: int = 0  # roundings of what scales the products
    described: bool = True

    def error(self, columns: Sequence[float]) -> float:
        """About how far two programs may be apart at a row, by first-order rounding analysis, with room: a product of
        d columns is off by at most the sum of their relative errors and d roundings, then the sum is taken."""
        sizes = [abs(c) + slack for c, (_, slack) in zip(columns, self.columns, strict=False)] or [
            *map(abs, columns)
        ]
        roundings = max((k for k, _ in self.columns), default=0)
        total = abs(self.bias)
        for weight, product in zip(np.abs(self.coefficients).tolist(), self.products, strict=True):
            total += weight * math.prod(sizes[c] for c in product)
        degree = max(map(len, self.products), default=0)
        return (
            8 * float(np.finfo(np.float64).eps) * (len(self.products) + degree * (roundings + 2) + 8) * total
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRounding:
    """What bounds the rounding error of a program that adds up leaves: at most `operations` additions, with `bits` bits
    (24 for float32, 53 for float64), of numbers whose absolute values add up to at most `constant`."""

    constant: Fraction
    operations: int
    bits: int = 53

    def error(self) -> Fraction:
        """The bound, at every individual."""
        growth = (1 + Fraction(1, 2**self.bits)) ** self.operations - 1
        return growth * self.constant + self.operations * SMALLEST[self.bits]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CombinedRounding:
    """The original program scores these models and combines what they say: it is off by no more than the one that is off most, and by
    the rounding of the mean. Good for comparing two programs only, like `KernelRounding`."""

    parts: tuple[Model, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeparateRounding:
    """The original program computes every score as that of a model of its own. No certificate states it."""

    parts: tuple[Model, ...]


Body = SimpleBody | Combined
Score = SimpleScore | CombinedScore
# Beyond any score: a sum of products of three doubles or their inverses.
BOUNDLESS = Fraction(2**4096)
UNDERFLOW = Fraction(1, 2**1074)  # an operation whose result is denormal is off by at most this
SMALLEST = {24: Fraction(1, 2**149), 53: UNDERFLOW}  # the same, by bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """What an importer makes of a fitted estimator; `family` names the estimator for people. There is a body a score, all of them
    over one embedding; those of sums of Gaussians share `centres` and `gamma`, so that their coefficients are rows of one array, and those of trees
    one ensemble."""

    family: str
    rounding: (
        Rounding
        | KernelRounding
        | PolynomialRounding
        | ProductRounding
        | TreeRounding
        | CombinedRounding
        | SeparateRounding
        | None
    )
    embedding: tuple[
        Column, ...
    ]  # empty for trees, which test codes themselves, and for combined bodies, whose parts have their own
    bodies: tuple[Body, ...]
    head: Head

    @property
    def n_scores(self) -> int:
        return len(self.bodies)

    @property
    def body(self) -> Body:
        """The body of the only score."""
        if len(self.bodies) != 1:
            raise InternalError(f"{self.family} has {len(self.bodies)} scores, and one was asked for")
        return self.bodies[0]

    def exact(self, codes: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """All scores of an individual, for families whose scores are rational."""
        columns = [column.exact(codes[column.feature]) for column in self.embedding]
        scores = []
        for body in self.bodies:
            if isinstance(body, (RbfSum, Combined)):
                raise InternalError("only scores of affine and polynomial bodies and of trees are rational")
            scores.append(body.exact(codes if isinstance(body, TreeForm) else columns))
        return tuple(scores)

    def decide(self, codes: Sequence[Fraction]) -> object:
        """The label of an individual, for families whose scores are rational."""
        return self.head.decide(self.exact(codes))


def rounding_error(model: Model, space: Space) -> Fraction | None:
    """The largest rounding error of the original program's score over the whole space, where it is known."""
    if isinstance(model.rounding, TreeRounding):
        return model.rounding.error()
    if not isinstance(model.rounding, Rounding):
        return None
    return model.rounding.stated().error(extents(model.embedding, space))


def extents(embedding: Sequence[Column], space: Space) -> list[Fraction]:
    """The largest absolute value of each column over the whole space; of one in pieces, of the terms that are added up."""
    ends = []
    for column in embedding:
        feature = space[space.names[column.feature]]
        if column.pieces is not None and isinstance(feature, (Continuous, Integer)):
            lo, hi, whole = Fraction(feature.lo), Fraction(feature.hi), isinstance(feature, Integer)
            ends.append(column.pieces.extent(lo, hi, whole=whole))
        elif isinstance(feature, (Continuous, Integer)):
            ends.append(max(abs(column.exact(Fraction(end))) for end in (feature.lo, feature.hi)))
        else:
            ends.append(max(abs(value) for value in column.table or (Fraction(0),)))
    return ends


def score_of(model: Model, n_features: int) -> Score:
    """The only score in the form that its family's oracle works on."""
    return body_score(model.body, model.embedding, n_features)


def body_score(body: Body, embedding: tuple[Column, ...], n_features: int) -> Score:
    """The score of a body over an embedding."""
    if isinstance(body, Combined):
        parts = tuple(simple_score(part.body, part.embedding, n_features) for part in body.parts)
        return CombinedScore(how=body.how, weights=body.weights, parts=parts)
    return simple_score(body, embedding, n_features)


def simple_score(body: SimpleBody, embedding: tuple[Column, ...], n_features: int) -> SimpleScore:
    """The score of a body that is not combined."""
    if isinstance(body, TreeForm):
        return TreeScore(body=body.ensemble, alpha=body.alpha)
    if isinstance(body, RbfSum):
        return KernelScore(body=body, embedding=embedding)
    if isinstance(body, PolynomialSum):
        return PolynomialScore(body=body, embedding=embedding)
    return affine_score(body, embedding, n_features)


def separable(model: Model, n_features: int) -> Separable:
    """The score of a model whose body is affine."""
    if not isinstance(model.body, Affine):
        raise InternalError("only affine scores are separable")
    return affine_score(model.body, model.embedding, n_features)


def affine_score(body: Affine, embedding: tuple[Column, ...], n_features: int) -> Separable:
    """The score of an affine body feature by feature: columns of one feature are added up exactly."""
    slopes = [Fraction(0)] * n_features
    tables: list[list[Fraction] | None] = [None] * n_features
    curves: dict[int, list[tuple[Fraction, Pieces]]] = {}
    bias = body.bias
    for column, weight in zip(embedding, body.weights, strict=True):
        k = column.feature
        if column.pieces is not None:
            curves.setdefault(k, []).append((weight, column.pieces))
        elif column.table is None:
            if tables[k] is not None:
                raise InternalError(f"feature {k} is embedded both as a number and as levels")
            slopes[k] += weight * column.slope
            bias += weight * column.offset
        else:
            values = [weight * v for v in column.table]
            old = tables[k]
            tables[k] = values if old is None else [a + b for a, b in zip(old, values, strict=True)]
    terms = [
        Term(slope=slope, table=None if table is None else tuple(table))
        for slope, table in zip(slopes, tables, strict=True)
    ]
    for k, parts in curves.items():
        terms[k] = Term(pieces=summed(parts, slopes[k]))
    return Separable(bias=bias, terms=tuple(terms))
