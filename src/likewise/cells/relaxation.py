"""Linear relaxation of one cell under constraints: proposes the lean and the multipliers of a leaf.

With the discrete variables relaxed (numbers to intervals, levels to convex weights), solve

    max z   such that   lean_i s(x) - (1 - lean_i) s(x') >= T(lean_i) + z     for the question's leans,
                        g_j(x) + n_j z <= 0,   g_j(x') + n_j z <= 0           for the constraints,
                        |x_k - x'_k| <= t_k                                   for `within` numbers,
                        weight of i <= weights of its partners at the other   for levels in `pairs`.

z* < 0: the dual values w_i >= 0 of the first rows and mu_j, nu_j >= 0 of the second show that no point of
the cell is a witness; sum w_i (lean_i, 1 - lean_i) is one direction whose T is at least sum w_i T(lean_i)
(T is superadditive), so they make a leaf. z* > 0: the maximiser is a point to try, strictly inside the
constraints so that rounding does it no harm. z* = 0 is a tie, decided only by exact duals: those solve
B^T y = c_B in rationals, B the rows with a dual and the columns without a reduced cost in HiGHS's solution.
Any non-negative multipliers are sound; the exact check of the leaf decides.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq, fmpq_mat

from likewise.cells.leaf import Leaf, RelaxationResult
from likewise.model.witness_set import snap_lean
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import PairSpace
from likewise.spec.pieces import PiecewisePolynomial
from likewise.spec.similarity import Relation
from likewise.spec.terms import Separable, Term, nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

Row = dict[int, Fraction]
FRACTIONAL_DISTANCE = (
    1e-6  # distance from a whole number that makes a relaxed discrete variable worth splitting
)
TIE_TOLERANCE = 1e-7  # |z*| below this is treated as a possible tie: the duals are then computed exactly
MOST_TANGENTS = 4  # lines added to the question's polygon before giving up on a cell
DEEP_ENOUGH = 1.0  # how far inside the constraints is far enough, in units of their coefficients
DUAL_GRID = 2**40  # float duals are rounded to this grid: any non-negative value is sound


class LinearRelaxation:
    """Builds and solves the linear program of a cell."""

    def __init__(self, score: Separable, pairs: PairSpace, second: Separable | None = None) -> None:
        self.score = score
        self.second = score if second is None else second  # of x', if that is another one
        self.pairs = pairs
        opposite = [c.negated() for c in pairs.constraints]
        self.elastic = [
            Fraction(0) if c in opposite else sum((_term_size(t) for t in c.terms), Fraction(0))
            for c in pairs.constraints
        ]

    def pair(self, lo: Floats, hi: Floats) -> RelaxationResult | None:
        """The same without any score: a pair as far inside the constraints as the cell allows, or, if it allows none, the multipliers
        that show it; None if the solver gives up. `elastic` constraints alone are kept at a distance: equalities have no inside."""
        answer = _Program(self, lo, hi, None, [], elastic=self.elastic).solve()
        if answer is not None:
            return answer
        return _Program(self, lo, hi, None, [], elastic=self._all_elastic()).solve()

    def _all_elastic(self) -> list[Fraction]:
        """All constraints elastic, equalities too."""
        return [e or Fraction(1) for e in self.elastic]

    def solve(self, lo: Floats, hi: Floats, question: WitnessSet) -> RelaxationResult | None:
        """Lean and multipliers for this cell; None if the solver gives up."""
        leans = [Fraction(lean) for lean in question.leans()]
        answer = None
        for _ in range(MOST_TANGENTS):
            program = _Program(self, lo, hi, question, leans, elastic=self.elastic)
            answer = program.solve()
            if answer is None:  # equalities exclude the whole cell: let them give way too
                return _Program(self, lo, hi, question, leans, elastic=self._all_elastic()).solve()
            more = (
                question.lean_at(program.second_score(answer.point))
                if program.excess > TIE_TOLERANCE
                else None
            )
            if more is None or snap_lean(more) in leans:
                return answer
            leans.append(snap_lean(more))
        return answer


class _Program:
    """One linear program: columns (variables or levels, then z) and rows in rationals."""

    def __init__(
        self,
        owner: LinearRelaxation,
        lo: Floats,
        hi: Floats,
        question: WitnessSet | None,
        leans: list[Fraction],
        *,
        elastic: list[Fraction],
    ) -> None:
        self.score, self.second, self.pairs = owner.score, owner.second, owner.pairs
        self.lo, self.hi, self.question, self.leans = lo, hi, question, leans
        self.excess = np.inf
        self.columns: list[tuple[float, float]] = []
        self.place: list[tuple[int, int]] = []  # first column and first level of each pair variable
        self.levels = [self._is_levels(v) for v in range(len(lo))]
        self.rows: list[tuple[Row, float, float]] = []
        self._add_variables()
        self.z = len(self.columns)
        self.columns.append((-np.inf, DEEP_ENOUGH if question is None else np.inf))
        for lean, threshold in zip(leans, self._thresholds(), strict=True):
            row = _add_rows(self._terms(self.score, 1, lean), self._terms(self.second, 2, lean - 1))
            row[self.z] = Fraction(-1)
            constant = lean * self.score.bias + (lean - 1) * self.second.bias
            constant += self._chord_constants(1, lean) + self._chord_constants(2, lean - 1)
            self.rows.append((row, nearest_double(Fraction(threshold) - constant), np.inf))
        for side in (1, 2):
            for constraint, give in zip(self.pairs.constraints, elastic, strict=True):
                row = self._terms(constraint, side, Fraction(1))
                row[self.z] = give
                self.rows.append((row, -np.inf, nearest_double(-constraint.bias)))
        self._add_convexity_and_bands()

    def solve(self) -> RelaxationResult | None:
        found = self._optimum()
        if found.status:
            return None
        values, row_duals = found.x, np.zeros(len(self.rows))
        np.add.at(row_duals, self.equal, found.eqlin.marginals)
        np.add.at(row_duals, self.above, found.ineqlin.marginals[: len(self.above)])
        np.add.at(row_duals, self.below, found.ineqlin.marginals[len(self.above) :])
        self.excess = float(values[self.z])
        duals = None
        if abs(self.excess) <= TIE_TOLERANCE:
            duals = self._exact_duals(row_duals, found.lower.marginals + found.upper.marginals)
        if duals is None:
            duals = [Fraction(round(abs(d) * DUAL_GRID), DUAL_GRID) for d in row_duals]
        count = len(self.leans)
        weights, multipliers = duals[:count], duals[count : count + 2 * len(self.pairs.constraints)]
        total = sum(weights, Fraction(0))
        lean = None  # the constraints alone exclude the cell
        if total > 0 and self.question is not None:
            lean = sum((w * at for w, at in zip(weights, self.leans, strict=True)), Fraction(0)) / total
            # The duals are for weights that add up to `total`; a probability's direction has another scale.
            way = self.question.direction(lean)
            multipliers = [m * (way.a + way.b) / total for m in multipliers]
        point, fractional = self._point(values)
        leaf = Leaf(rule="separable" if total > 0 else "empty", lean=lean, multipliers=tuple(multipliers))
        return RelaxationResult(leaf=leaf, point=point, fractional=fractional)

    def _thresholds(self) -> list[float]:
        if self.question is None:
            return []
        found: list[float] = self.question.threshold(np.array([float(lean) for lean in self.leans])).tolist()
        return found

    def second_score(self, point: Floats) -> float:
        _, other = self.pairs.split([float(c) for c in point])
        return float(self.second.scores(np.array([other]))[0])

    def _is_levels(self, v: int) -> bool:
        name = self.pairs.space.names[self.pairs.variables[v].feature]
        return isinstance(self.pairs.space[name], (Categorical, Ordinal))

    def _add_variables(self) -> None:
        for v, levels in enumerate(self.levels):
            self.place.append((len(self.columns), int(self.lo[v]) if levels else 0))
            if levels:
                self.columns += [(0.0, 1.0)] * int(self.hi[v] - self.lo[v] + 1)
            else:
                self.columns.append((float(self.lo[v]), float(self.hi[v])))

    def _terms(self, part: Separable, side: int, factor: Fraction) -> Row:
        """factor * (part without its bias), as a row over the columns of one individual."""
        row: Row = {}
        owner = self.pairs.first if side == 1 else self.pairs.second
        for k, term in enumerate(part.terms):
            column, level = self.place[owner[k]]
            if term.pieces is not None:
                row[column] = factor * self._chord(term.pieces, owner[k])[0]
                continue
            if term.table is None:
                if term.slope and not self.levels[owner[k]]:
                    row[column] = factor * term.slope
                continue
            for position in range(level, int(self.hi[owner[k]]) + 1):
                row[column + position - level] = factor * term.table[position]
        return row

    def _chord(self, pieces: PiecewisePolynomial, v: int) -> tuple[Fraction, Fraction]:
        """Slope and constant of the line through both ends of a variable: a guess at a function in pieces, right once
        the cell lies in one piece that is linear. (The multipliers of any guess are sound.)"""
        lo, hi = Fraction(float(self.lo[v])), Fraction(float(self.hi[v]))
        low, high = pieces.exact(lo), pieces.exact(hi)
        slope = (high - low) / (hi - lo) if hi > lo else Fraction(0)
        return slope, low - slope * lo

    def _chord_constants(self, side: int, factor: Fraction) -> Fraction:
        owner, score = (self.pairs.first, self.score) if side == 1 else (self.pairs.second, self.second)
        curves = ((owner[k], term.pieces) for k, term in enumerate(score.terms) if term.pieces is not None)
        return factor * sum((self._chord(pieces, v)[1] for v, pieces in curves), Fraction(0))

    def _add_convexity_and_bands(self) -> None:
        for v, levels in enumerate(self.levels):
            if levels:
                column, level = self.place[v]
                row = {column + i: Fraction(1) for i in range(int(self.hi[v]) - level + 1)}
                self.rows.append((row, 1.0, 1.0))
        for k, relation in enumerate(self.pairs.relations):
            i, j = self.pairs.first[k], self.pairs.second[k]
            if relation.kind == "within" and not self.levels[i]:
                row = {self.place[i][0]: Fraction(-1), self.place[j][0]: Fraction(1)}
                self.rows.append((row, *relation.reach))
            if relation.kind == "pairs":
                self._add_partners(relation, i, j)
                self._add_partners(relation, j, i)

    def _add_partners(self, relation: Relation, here: int, there: int) -> None:
        """A level has no more weight on one side than its partners have together on the other."""
        (column, start), (other, first) = self.place[here], self.place[there]
        end, last = int(self.hi[here]), int(self.hi[there])
        for level in range(start, end + 1):
            row = {column + level - start: Fraction(1)}
            for partner in relation.partners(level, last + 1):
                if partner >= first:
                    row[other + partner - first] = Fraction(-1)
            self.rows.append((row, -np.inf, 0.0))

    def _optimum(self) -> Any:
        """SciPy's result for the rows that are `equal` to a number, stay `below` one, or `above` one."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        lo, hi = (np.array([row[at] for row in self.rows]) for at in (1, 2))
        starts = np.cumsum([0] + [len(row[0]) for row in self.rows])
        at = [column for row in self.rows for column in row[0]]
        entries = [nearest_double(v) for row in self.rows for v in row[0].values()]
        matrix = csr_array((entries, at, starts), shape=(len(self.rows), len(self.columns)))
        self.equal = np.flatnonzero(lo == hi)
        self.below = np.flatnonzero((hi < np.inf) & (lo < hi))
        self.above = np.flatnonzero((lo > -np.inf) & (lo < hi))
        cost = np.zeros(len(self.columns))
        cost[self.z] = -1.0
        return linprog(
            cost,
            A_ub=vstack([-matrix[self.above], matrix[self.below]]),
            b_ub=np.concatenate([-lo[self.above], hi[self.below]]),
            A_eq=matrix[self.equal],
            b_eq=lo[self.equal],
            bounds=self.columns,
            method="highs-ds",
            options={"presolve": False},
        )

    def _exact_duals(self, row_duals: Floats, reduced_costs: Floats) -> list[Fraction] | None:
        """B^T y = c_B in rationals: y is zero on rows whose dual is, and square on the others."""
        columns = [c for c, cost in enumerate(reduced_costs) if abs(cost) <= TIE_TOLERANCE]
        active = [r for r, dual in enumerate(row_duals) if abs(dual) > TIE_TOLERANCE]
        system = fmpq_mat(len(columns), len(active) + 1)
        for i, c in enumerate(columns):
            for j, r in enumerate(active):
                entry = self.rows[r][0].get(c, Fraction(0))
                system[i, j] = fmpq(entry.numerator, entry.denominator)
            system[i, len(active)] = fmpq(int(c == self.z))
        reduced, rank = system.rref()
        if rank != len(active) or any(reduced[i, i] != 1 for i in range(rank)):
            return None  # no solution, or many
        duals = [Fraction(0)] * len(self.rows)
        for i, r in enumerate(active):
            duals[r] = abs(Fraction(int(reduced[i, rank].p), int(reduced[i, rank].q)))
        return duals

    def _point(self, values: Floats) -> tuple[Floats, tuple[int, float] | None]:
        """The maximiser rounded into the cell, and the discrete variable that is furthest from whole."""
        point = np.empty(len(self.place))
        worst, fractional = FRACTIONAL_DISTANCE, None
        for v, variable in enumerate(self.pairs.variables):
            column, level = self.place[v]
            if self.levels[v]:
                weights = values[column : column + int(self.hi[v]) - level + 1]
                point[v] = level + int(weights.argmax())
                mean = level + float(weights @ np.arange(len(weights)))
                off, at = float(1 - weights.max()), min(float(np.floor(mean)), self.hi[v] - 1)
            else:
                value = float(np.clip(values[column], self.lo[v], self.hi[v]))
                point[v] = round(value) if variable.discrete else value
                off, at = abs(value - round(value)) if variable.discrete else 0.0, float(np.floor(value))
            if off > worst and self.lo[v] < self.hi[v]:
                worst, fractional = off, (v, at)
        return point, fractional


def _term_size(term: Term) -> Fraction:
    return abs(term.slope) if term.table is None else max(abs(v) for v in term.table)


def _add_rows(first: Row, second: Row) -> Row:
    total = dict(first)
    for column, value in second.items():
        total[column] = total.get(column, Fraction(0)) + value
    return total
