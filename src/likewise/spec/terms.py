"""Sums of one-feature terms: the shape shared by affine scores and linear constraints.

    Separable:  g(x) = bias + sum_k phi_k(x_k),      phi_k linear in a number, in pieces, or a table over levels.

`x_k` is the *code* of feature k: its value for numbers, the position of its level otherwise. Everything
is an exact rational; `scores` is the float64 evaluation of many rows, for proposing, never for deciding.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from likewise.errors import InternalError
from likewise.spec.enclosure import Enclosure
from likewise.spec.pieces import PiecewisePolynomial, sum_pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LARGEST_DOUBLE = Fraction(sys.float_info.max)


def nearest_double(value: Fraction) -> float:
    """A double near this rational, the largest one where it is beyond them all. For proposing only."""
    return float(min(max(value, -LARGEST_DOUBLE), LARGEST_DOUBLE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """phi_k of one feature: `table` over the positions of its levels, `pieces` of its number, else `slope` times it."""

    slope: Fraction = Fraction(0)
    table: tuple[Fraction, ...] | None = None
    pieces: PiecewisePolynomial | None = None

    @property
    def constant(self) -> bool:
        """Whether the score does not depend on this feature at all: exact, not small."""
        if self.pieces is not None:
            return self.pieces.constant
        return self.slope == 0 if self.table is None else len(set(self.table)) == 1

    def exact(self, code: Fraction) -> Fraction:
        if self.pieces is not None:
            return self.pieces.exact(code)
        return self.slope * code if self.table is None else self.table[int(code)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Separable:
    """bias + sum over features of one-feature terms."""

    bias: Fraction
    terms: tuple[Term, ...]

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        return self.bias + sum((t.exact(c) for t, c in zip(self.terms, codes, strict=True)), Fraction(0))

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:  # noqa: ARG002 (exact anyway)
        """The value of one individual; exact, so both ends are the same."""
        return Enclosure.of(self.exact(codes))

    def depends(self, feature: int) -> bool:
        """Whether the value can change with a feature. Exact."""
        return not self.terms[feature].constant

    @property
    def cost(self) -> int:
        """What one value costs, in products: next to nothing."""
        return 1

    def scores(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same in float64, for proposing; never for deciding."""
        return self.scorer()(codes)

    def scorer(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """`scores` for many calls: all numbers are rounded to doubles once."""
        import numpy as np

        bias = nearest_double(self.bias)
        slopes = [nearest_double(term.slope) for term in self.terms]
        tables = [
            None if term.table is None else np.array([*map(nearest_double, term.table)])
            for term in self.terms
        ]

        def scores(codes: NDArray[np.float64]) -> NDArray[np.float64]:
            total = np.full(len(codes), bias)
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow proposes nothing
                for k, (term, slope, table) in enumerate(zip(self.terms, slopes, tables, strict=True)):
                    if term.pieces is not None:
                        total += term.pieces.values(codes[:, k])
                    elif table is None:
                        total += slope * codes[:, k]
                    else:
                        total += table[codes[:, k].astype(np.intp)]
            return total

        return scores

    def least(self, lo: Sequence[float], hi: Sequence[float]) -> Fraction:
        """The smallest value over a box of codes. Exact. For constraints, which are never in pieces."""
        total = self.bias
        for term, low, high in zip(self.terms, lo, hi, strict=True):
            if term.pieces is not None:
                raise InternalError("the smallest value of a term in pieces was asked for")
            if term.table is None:
                total += min(term.slope * Fraction(low), term.slope * Fraction(high))
            else:
                total += min(term.table[int(low) : int(high) + 1])
        return total

    def negated(self) -> Self:
        return replace(self, bias=-self.bias, terms=tuple(_negate_term(term) for term in self.terms))


def _negate_term(term: Term) -> Term:
    return Term(
        slope=-term.slope,
        table=None if term.table is None else tuple(-v for v in term.table),
        pieces=None if term.pieces is None else term.pieces.moved(Fraction(-1), Fraction(0)),
    )


def weighted_sum(parts: Sequence[Separable], alpha: Sequence[Fraction]) -> Separable:
    """sum_c alpha_c parts_c, for parts of the same columns."""
    used = [(a, part) for a, part in zip(alpha, parts, strict=True) if a]
    terms = []
    for k, like in enumerate(parts[0].terms):
        if like.pieces is not None:
            pieces = ((a, part.terms[k].pieces) for a, part in used)
            terms.append(Term(pieces=sum_pieces(((a, p) for a, p in pieces if p is not None), Fraction(0))))
        elif like.table is not None:
            columns = zip(*(part.terms[k].table or () for part in parts), strict=True)
            terms.append(Term(table=tuple(dot(alpha, column) for column in columns)))
        else:
            terms.append(Term(slope=sum((a * part.terms[k].slope for a, part in used), Fraction(0))))
    return Separable(bias=sum((a * part.bias for a, part in used), Fraction(0)), terms=tuple(terms))


def dot(alpha: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    """sum_c alpha_c values_c."""
    return sum((a * v for a, v in zip(alpha, values, strict=True) if a), Fraction(0))
