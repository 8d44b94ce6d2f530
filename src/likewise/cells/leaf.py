"""Leaf: why a cell of pair space holds no witness, by the rule that says so and what it needs to be checked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.polynomial.sos.exact import Content

    Floats = NDArray[np.float64]

Clearance = Fraction | float  # float only for infinity
Rule = str  # by its name in certificates: one of all families, or of a family's own (`families.registry`)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLines:
    """What the rule `softmax` bounds log odds by: weights w of Gibbs' inequality at x, and for each step of the sum of exponentials at
    x' the slope s of a line above softplus, with the weights v that bound its argument from above."""

    weights: tuple[Fraction, ...]
    steps: tuple[tuple[Fraction, tuple[Fraction, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLine:
    """A line of one part of a sum that is at most `threshold` on the cell; the leaf has the rule of its family and what that needs besides the lean, which follows from the line."""

    threshold: Fraction
    leaf: Leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLine:
    """A part of a sum at one individual: limits of its score, and the slope of a line around the function that it goes through, with the place of a tangent; two of each where that is one function after another."""

    low: PartLine | None
    high: PartLine | None
    slope: Fraction | tuple[Fraction, ...]
    tangent: Fraction | tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDifference:
    """What the rule `sum` needs of one part whose two scores are never far apart: a line of their difference, limits of each that help, and the place of a tangent, or the cuts of its pieces."""

    line: PartLine
    here: tuple[PartLine | None, PartLine | None]
    there: tuple[PartLine | None, PartLine | None]
    place: Fraction | tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartBound:
    """What the rule `sum` needs of one part: of x and of x' where it goes through a function, and the lines that are left."""

    here: LinkLine | None
    there: LinkLine | None
    lines: tuple[PartLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerLimits:
    """What the rule `nested` needs of one inner score: lines that limit it at x from below and above, at x' from below and above, and what it falls and rises by from x to x'."""

    lines: tuple[PartLine | None, ...]


PartOfLeaf = PartBound | PartDifference | InnerLimits | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """Why a cell holds no witness.

    separable    the line of `lean` separates the cell, with the help of `multipliers` of the constraints
    empty        the constraints, weighted by `multipliers`, exclude every pair of the cell
    enumerated   every pair of the cell was looked at
    identical    both individuals are one and the same in every pair of the cell (of claims with an allowance)
    slope        no derivative of the score is too large on any of the `boxes` that individuals of the cell are divided into
    independent  the score depends on no feature that may differ (the whole space is one such cell)
    kernel       the line of `lean` separates the cell of a sum of Gaussians, with `hints` for its majorant
    chords       the same by chords and tangents, for large cells
    mixed        the same for a sum of bumps in sums of columns
    polynomial   the same for a polynomial
    trees        the same for a sum of trees
    network      the same for a network, with the multipliers of its equations in `hints` (and without a line: there is no pair)
    sos          the same, with the help of the sums of squares of `squares`, which know their own lean
    sum          the same for a sum of scores of other families, with what bounds each of its `parts` (None: it does not count)
    nested       the same for a function of other scores, with limits of each of these in `parts`
    softmax      the line of `lean` separates log odds, bounded by `soft`
    odds         probabilities by softmax differ little enough, seen by the extent of scores in `directions`

    In a case of several classes a line is about one condition at x and one at x': `rivals`, by their places.
    """

    rule: Rule
    lean: Fraction | None = None
    multipliers: tuple[Fraction, ...] = ()
    hints: tuple[int, ...] = ()
    squares: Content | None = None
    rivals: tuple[int, int] | None = None
    soft: SoftLines | None = None
    directions: tuple[tuple[int, ...], ...] = ()
    parts: tuple[PartOfLeaf, ...] = ()
    shares: tuple[Fraction, ...] = ()  # of costs, that a separable line is taken less of
    boxes: tuple[tuple[int, Fraction] | None, ...] = ()  # cuts, depth first; None for a box that is left


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaxationResult:
    """What a linear program makes of one cell under constraints.

    `leaf` closes the cell if its relaxation can be separated at all; `point` is where the relaxation is
    hardest to separate, and `fractional` a discrete variable that is not whole there, with the place to
    split it.
    """

    leaf: Leaf
    point: Floats
    fractional: tuple[int, float] | None
