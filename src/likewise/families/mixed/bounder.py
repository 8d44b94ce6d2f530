"""Mixed bounder: sums of bumps over cells of pair space, by a quadratic in the coordinates of the cell (`quadratic`). Bounds are float64 and a closed cell is a proposal, as for kernels: the checker does the same in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.families.cube_bounder import Boxes, CubeBounder
from likewise.families.mixed.curves import CurveForms, curve_forms
from likewise.families.mixed.quadratic import (
    HINT_UNIT,
    AxisGroup,
    Groups,
    Quadratic,
    add_terms,
    ascend,
    copy_terms,
    separable_bound,
)
from likewise.families.oracle import Bounds
from likewise.model.witness_set import LEAN_GRID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.mixed.body import MixedScore
    from likewise.model.witness_set import WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

WIDTHS = (64, 24, 8, 0)  # how wide a bump may be, in sixteenths, that is taken as a quadratic
ROOM = 2.0**-40  # that a checker is left, by the specification
FLOAT_ROOM = 1e-10  # what float64 may lose of a sum of this size
MOST_KEPT = 100_000  # intervals of columns in pieces that are kept


class _Bent:
    """The columns in pieces of one feature, of one copy or of both if they are the same."""

    def __init__(self, bounder: MixedBounder, k: int, variable: int, sides: tuple[int, ...]) -> None:
        embedding = bounder.score.embedding
        owned = [(c, one.pieces) for c, one in enumerate(embedding) if one.feature == k]
        self.feature, self.variable, self.sides = k, variable, sides
        self.columns = [c for c, pieces in owned if pieces is not None]
        self.curves = tuple(pieces for _, pieces in owned if pieces is not None)
        self.whole = bool(bounder.discrete[variable])
        cuts = sorted({cut for curve in self.curves for cut in curve.cuts})
        ends = {float(np.nextafter(float(c), -np.inf)) if Fraction(float(c)) > c else float(c) for c in cuts}
        self.cuts = np.array(sorted(ends))
        self._known: dict[tuple[float, float], CurveForms] = {}

    def forms(self, lo: float, hi: float) -> CurveForms:
        if (lo, hi) not in self._known:
            if len(self._known) > MOST_KEPT:
                self._known.clear()
            self._known[lo, hi] = curve_forms(self.curves, lo, hi, whole=self.whole)
        return self._known[lo, hi]


class MixedBounder(CubeBounder):
    """Oracle of a mixed body on the pairs of a space."""

    rule: Rule = "mixed"
    exact = False

    def __init__(self, score: MixedScore, pairs: PairSpace, second: MixedScore | None = None) -> None:
        super().__init__(score, pairs)
        self.score, self.other = score, score if second is None else second
        self.size = sum(
            float(np.abs(one.body.coefficients).sum()) + abs(one.body.bias) for one in (score, self.other)
        )
        constants, self.factors = score.matrix
        count = len(self.coordinates.all)
        self.constants, self.maps = [], []
        for side in (0, 1):
            offsets = np.array([float(offset) for offset, _ in self.coordinates.maps[side]])
            parts = np.zeros((len(offsets), count))
            for c, (_, pieces) in enumerate(self.coordinates.maps[side]):
                for place, factor in pieces:
                    parts[c, place] += float(factor)
            self.constants.append(constants + self.factors @ offsets)
            self.maps.append(self.factors @ parts)
        self.bent = [
            bent
            for k, relation in enumerate(pairs.relations)
            for bent in self._bent_columns(k, same=relation.kind == "same")
            if bent.columns
        ]
        self.levels = [self._level_heights(n) for n in range(count)]

    def _bent_columns(self, k: int, *, same: bool) -> list[_Bent]:
        i, j = self.pairs.first[k], self.pairs.second[k]
        return [_Bent(self, k, i, (0, 1))] if same else [_Bent(self, k, i, (0,)), _Bent(self, k, j, (1,))]

    def _level_heights(self, n: int) -> Floats | None:
        c = self.coordinates.all[n]
        return np.array([float((v - c.middle) / c.reach) for v in c.table]) if c.kind == "level" else None

    # -- one cell ---------------------------------------------------------------------------------------------

    def _code_form(self, bent: _Bent, side: int, middle: Floats, half: Floats) -> tuple[float, Floats]:
        """x or x' of a number: its middle, and its reach along each coordinate."""
        value, reaches = 0.0, np.zeros(len(half))
        for n, c in enumerate(self.coordinates.all):
            if c.feature != bent.feature:
                continue
            if c.kind == "number" and c.variables[0] != bent.variable:
                continue
            sign = -1.0 if c.kind == "half difference" and side == 0 else 1.0
            value += sign * (float(c.middle) + float(c.reach) * middle[n])
            reaches[n] = sign * float(c.reach) * half[n]
        return value, reaches

    def _sums(
        self, lo: Floats, hi: Floats, middle: Floats, half: Floats
    ) -> tuple[list[Floats], list[Floats], list[AxisGroup]]:
        """alpha and W of both copies, and the groups of the axes that columns in pieces add."""
        alpha = [self.constants[s] + self.maps[s] @ middle for s in (0, 1)]
        reaches = [self.maps[s] * half for s in (0, 1)]
        added: list[list[Floats]] = [[], []]
        groups: list[AxisGroup] = []
        for bent in self.bent:
            found = bent.forms(float(lo[bent.variable]), float(hi[bent.variable]))
            start = len(half) + len(added[0])
            for c, form in zip(bent.columns, found.forms, strict=True):
                for side in bent.sides:
                    code, along = self._code_form(bent, side, middle, half) if form.slope else (0.0, None)
                    value = form.value + (form.slope * (code - form.middle) if form.slope else 0.0)
                    alpha[side] += self.factors[:, c] * value
                    if along is not None:
                        reaches[side] += np.outer(self.factors[:, c] * form.slope, along)
                if form.reach:
                    for side in (0, 1):
                        there = (
                            self.factors[:, c] * form.reach if side in bent.sides else 0 * self.factors[:, c]
                        )
                        added[side].append(there)
            axes = np.arange(start, len(half) + len(added[0]))
            if found.places is not None:
                groups.append(AxisGroup(axes=axes, places=found.places))
            else:
                groups += [AxisGroup(axes=axes[i : i + 1]) for i in range(len(axes))]
        if added[0]:
            reaches = [np.hstack([r, np.array(more).T]) for r, more in zip(reaches, added, strict=True)]
        return alpha, reaches, groups

    def _groups(self, boxes: Boxes, i: int, lo: Floats, hi: Floats, more: list[AxisGroup]) -> Groups:
        """The axes of a cell, in groups."""
        found: dict[int, list[int]] = {}
        for n, c in enumerate(self.coordinates.all):
            found.setdefault(c.group, []).append(n)
        groups = []
        for g, axes in found.items():
            count, first = int(boxes.place_count[i, g]), self.coordinates.all[axes[0]]
            places = None
            if first.kind == "level":
                start, end = int(lo[first.variables[0]]), int(hi[first.variables[0]]) + 1
                heights = np.stack([self._heights(n)[start:end] for n in axes], axis=1)
                half = boxes.half[i, axes]
                places = np.where(
                    half > 0, (heights - boxes.middle[i, axes]) / np.where(half > 0, half, 1), 0.0
                )
            elif count > 1:
                places = np.linspace(-1.0, 1.0, count)[:, None]
            elif count == 1 or not boxes.half[i, axes[0]]:
                places = np.zeros((1, 1))
            groups.append(AxisGroup(axes=np.array(axes, dtype=np.intp), places=places))
        return Groups(all=(*groups, *more))

    def _heights(self, n: int) -> Floats:
        heights = self.levels[n]
        return np.zeros(0) if heights is None else heights

    def _bound_cell(
        self, boxes: Boxes, i: int, lo: Floats, hi: Floats, lean: float, threshold: float
    ) -> tuple[float, float, Floats, Indices, Floats, int, Floats]:
        """Bound, its room, y, places, hints, width and losses by axis."""
        alpha, reaches, more = self._sums(lo, hi, boxes.middle[i], boxes.half[i])
        groups, weights = self._groups(boxes, i, lo, hi, more), (lean, lean - 1.0)
        bodies = (self.score.body, self.other.body)
        terms = [copy_terms(body, alpha[s], reaches[s]) for s, body in enumerate(bodies)]
        base = lean * bodies[0].bias - (1 - lean) * bodies[1].bias - threshold
        axes, best = reaches[0].shape[1], None
        steepest = max(float((one.steep + one.rho).max()) for one in terms)
        widths = WIDTHS[:1] if steepest < 1 else WIDTHS
        for width in widths:
            total = Quadratic(base, np.zeros(axes), np.zeros((axes, axes)), np.zeros(axes), abs(base))
            for weight, body, one in zip(weights, bodies, terms, strict=True):
                if weight:
                    add_terms(total, body, one, weight, width)
            y, at = ascend(total, groups)
            for hints in (np.round(y * HINT_UNIT) / HINT_UNIT, np.zeros(axes)):
                bound, lost = separable_bound(total, groups, hints)
                room = FLOAT_ROOM * total.size + self._checker_room(axes, terms[0].rho)
                if best is None or bound + room < best[0] + best[1]:
                    best = (bound, room, y, at, hints, width, total.masses + lost)
        if best is None:
            raise AssertionError("no width was tried")
        return best

    def _checker_room(self, axes: int, rho: float) -> float:
        sums = len(self.score.body.sums)
        return ROOM * (1 + self.score.body.gamma) * (1 + axes) * sums * (1 + self.size * (1 + rho) ** 2)

    # -- many cells -------------------------------------------------------------------------------------------

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        lean = np.round(lean * LEAN_GRID) / LEAN_GRID  # as the leaf will have it
        boxes, cells = self.boxes(lo, hi), len(lo)
        count = len(self.coordinates.all)
        upper, room = np.full(cells, -np.inf), np.zeros(cells)
        t, at = boxes.middle.copy(), np.zeros((cells, self.coordinates.groups), dtype=np.int64)
        hints: list[tuple[int, ...]] = [(0,)] * cells  # of cells without pairs: a width, and no axes
        loss = np.zeros_like(lo)
        for i in range(cells):
            if boxes.empty[i]:
                continue
            upper[i], room[i], y, places, e, width, masses = self._bound_cell(
                boxes, i, lo[i], hi[i], float(lean[i]), float(threshold[i])
            )
            t[i] += boxes.half[i] * y[:count]
            groups = dict.fromkeys(c.group for c in self.coordinates.all)
            for n, g in enumerate(groups):
                at[i, g] = places[n]
            hints[i] = (*self._axis_hints(lo[i], hi[i], e, count), width)
            loss[i] = self._losses(lo[i][None], hi[i][None], masses[None, :count])[0]
            self._add_bent_losses(loss[i], lo[i], hi[i], masses[count:])
        nobody = np.array(
            [bool(boxes.empty[i]) and self._is_contradictory(lo[i], hi[i]) for i in range(cells)]
        )
        open_cells = ~boxes.empty
        points = self._points(lo, hi, t, at)
        return Bounds(
            upper=np.where(boxes.empty, -np.inf, upper + threshold),
            first=self.score.scores(points[:, self.first]),
            second=self.other.scores(points[:, self.second]),
            points=points,
            noise=np.zeros(cells),
            closes=nobody | ((upper + room < 0) & open_cells),
            nearly=nobody | ((upper + room < 0) & open_cells),
            hints=hints,
            loss=loss,
        )

    def _axis_hints(self, lo: Floats, hi: Floats, e: Floats, count: int) -> list[int]:
        """The hints of the cell's axes in the order of a certificate: feature by feature, columns in pieces last."""
        found: list[int] = []
        axes = self.coordinates.is_axis(lo.tolist(), hi.tolist())
        more = count
        added: dict[int, list[int]] = {}
        for bent in self.bent:
            forms = bent.forms(float(lo[bent.variable]), float(hi[bent.variable])).forms
            width = sum(form.reach != 0 for form in forms)
            added.setdefault(bent.feature, []).extend(range(more, more + width))
            more += width
        for k in range(len(self.pairs.relations)):
            own = [n for n, c in enumerate(self.coordinates.all) if c.feature == k and axes[n]]
            found += [round(float(e[n]) * HINT_UNIT) for n in (*own, *added.get(k, ()))]
        return found

    def _add_bent_losses(self, loss: Floats, lo: Floats, hi: Floats, masses: Floats) -> None:
        start = 0
        for bent in self.bent:
            forms = bent.forms(float(lo[bent.variable]), float(hi[bent.variable])).forms
            width = sum(form.reach != 0 for form in forms)
            loss[bent.variable] += masses[start : start + width].sum()
            start += width

    # -- cutting ----------------------------------------------------------------------------------------------

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        variable, at = super().branch(lo, hi, loss, cuts)
        for bent in self.bent:
            for i in np.flatnonzero(variable == bent.variable).tolist():
                low, high = lo[i, bent.variable], hi[i, bent.variable]
                inside = bent.cuts[(bent.cuts >= low) & (bent.cuts < high)]
                if len(inside) and not bent.whole:
                    at[i] = inside[np.abs(inside - at[i]).argmin()]
        return variable, at

    def after(self, variable: int, at: float) -> float | None:
        """At a cut of pieces, the double next to it."""
        for bent in self.bent:
            if bent.variable == variable and not bent.whole and at in bent.cuts:
                return float(np.nextafter(at, np.inf))
        return None

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Only proposed here, by the float64 bound."""
        if leaf.rule != "mixed" or leaf.lean is None or not question.admits(leaf.lean):
            return None
        lean = np.array([float(leaf.lean)])
        closes = self.bound(lo[None], hi[None], lean, question.threshold(lean)).closes
        return Fraction(0) if closes is not None and closes[0] else None
