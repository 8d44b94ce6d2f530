"""The quadratic bound of a cell (specification, section 23), in float64: V(y) = constant + linear . y + y^T square y above a s(x) - b s(x') - T for all |y_i| <= 1, and its separable majorant.

terms      `add_terms`: bumps about the middle of the cell become quadratics, or constants where they are too wide
majorant   `separable_bound`: products of axes of different groups become squares and lines, then each group has a maximum of its own
hints      `ascend`: where V is large; products are bounded tightly there
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.mixed.body import MixedSum

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

HINT_UNIT = 64
WIDTH_UNIT = 16  # of the hint that says how wide a bump may be
SWEEPS = 3
FAR = 700.0  # exponents beyond it are as good as 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CopyTerms:
    """The bumps of one copy about the middle of a cell."""

    falls: Floats
    extras: Floats
    slopes: Floats  # l of each term and axis
    steep: Floats  # h
    least: Floats
    most: Floats
    matrix: Floats  # gamma M
    rho: float


def copy_terms(body: MixedSum, alpha: Floats, reaches: Floats) -> CopyTerms:
    """From z = alpha + reaches y."""
    d, radii = alpha - body.centres, np.abs(reaches).sum(axis=1)
    far, near = np.abs(d) + radii, np.maximum(np.abs(d) - radii, 0.0)
    if body.shape == "gaussian":
        matrix = body.gamma * (reaches.T @ reaches)
        slopes = -2 * body.gamma * (d @ reaches)
        falls, extras = (d**2).sum(axis=1), np.zeros(len(d))
        least, most = (near**2).sum(axis=1), (far**2).sum(axis=1)
    else:
        matrix = np.zeros((reaches.shape[1],) * 2)
        tilt = d / np.maximum(np.maximum(np.abs(d), radii), 1e-300)
        slopes = -body.gamma * (tilt @ reaches)
        falls, least, most = (tilt * d).sum(axis=1), near.sum(axis=1), far.sum(axis=1)
        inside = np.where(np.abs(d) < radii, (radii**2 - d**2) / np.maximum(radii, 1e-300), 0.0)
        extras = inside.sum(axis=1)
    gamma = body.gamma
    return CopyTerms(
        falls=gamma * falls,
        extras=gamma * extras,
        slopes=slopes,
        steep=np.abs(slopes).sum(axis=1),
        least=gamma * least,
        most=gamma * most,
        matrix=matrix,
        rho=float(np.abs(matrix).sum()),
    )


@dataclass(slots=True, eq=False)
class Quadratic:
    """constant + linear . y + y^T square y; `size` adds up what was added up, for its rounding, `masses` by axis what a bump loses for being curved."""

    constant: float
    linear: Floats
    square: Floats
    masses: Floats
    size: float = 0.0


def add_terms(total: Quadratic, body: MixedSum, terms: CopyTerms, weight: float, width: int) -> None:
    """Add the majorants of weight * coefficient * bump."""
    c = weight * body.coefficients
    rising, limit = c > 0, width / WIDTH_UNIT
    wide = np.where(rising, terms.steep, terms.steep + terms.rho) > limit * (1 - 1e-9) - 1e-12
    if width == 0:
        wide[:] = True
    blunt = c * np.exp(-np.minimum(np.where(rising, terms.least, terms.most), FAR))
    total.constant += float(blunt[wide].sum())
    total.size += float(np.abs(blunt[wide]).sum())
    spread = np.abs(c) * np.exp(-np.minimum(terms.least, FAR))
    total.masses += (spread * np.minimum(terms.steep + terms.rho, 1.0)) @ np.abs(terms.slopes)
    total.masses += float(spread.sum()) * np.abs(terms.matrix).sum(axis=1) * min(terms.rho, 1.0)
    sharp = ~wide
    if not sharp.any():
        return
    c, up, steep = c[sharp], rising[sharp], terms.steep[sharp]
    fall = terms.falls[sharp] + np.where(up, 0.0, terms.extras[sharp])
    amount = c * np.exp(-np.minimum(fall, FAR))
    slopes = terms.slopes[sharp]
    top = np.minimum(steep, terms.falls[sharp] - terms.least[sharp]) if terms.rho else steep
    g = curvature(np.where(up, np.maximum(top, 0.0), -(steep + terms.rho)))
    kappa = np.where(up, 1 - g * (2 * steep + terms.rho), 1 + 2 * steep * g)
    flat = up & (kappa < 0)
    g, kappa = np.where(flat, curvature(steep), g), np.where(flat, 0.0, kappa)
    total.constant += float(amount.sum())
    total.linear += amount @ slopes
    total.square += (slopes * (amount * g)[:, None]).T @ slopes - float(amount @ kappa) * terms.matrix
    total.size += float(np.abs(amount) @ (1 + steep + g * steep**2 + np.abs(kappa) * terms.rho))


def curvature(x: Floats) -> Floats:
    """G(x) = (exp(x) - 1 - x) / x^2."""
    small = np.abs(x) < 0.05
    safe = np.where(small, 1.0, x)
    series = 0.5 + x / 6 + x**2 / 24 + x**3 / 120 + x**4 / 720 + x**5 / 5040
    found: Floats = np.where(small, series, (np.expm1(safe) - safe) / safe**2)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AxisGroup:
    """Axes that depend on one code, and their values at its places (None: all of |y| <= 1)."""

    axes: Indices
    places: Floats | None = None  # (places, axes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """All axes, in groups; `apart` tells which pairs of axes are of two."""

    all: tuple[AxisGroup, ...]
    apart: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        count = sum(len(group.axes) for group in self.all)
        apart = np.ones((count, count), dtype=bool)
        for group in self.all:
            apart[np.ix_(group.axes, group.axes)] = False
        object.__setattr__(self, "apart", apart)


def ascend(total: Quadratic, groups: Groups) -> tuple[Floats, Indices]:
    """y where V is large, and the places of the groups that have some, by going from group to group."""
    y, at = np.zeros(len(total.linear)), np.full(len(groups.all), -1, dtype=np.intp)
    both = total.square + total.square.T
    for _ in range(SWEEPS):
        before = y.copy()
        for g, group in enumerate(groups.all):
            axes = group.axes
            slope = total.linear[axes] + both[axes] @ y - both[np.ix_(axes, axes)] @ y[axes]
            own = total.square[np.ix_(axes, axes)]
            if group.places is not None:
                heights = group.places @ slope + ((group.places @ own) * group.places).sum(axis=1)
                at[g] = int(heights.argmax())
                y[axes] = group.places[at[g]]
            else:
                y[axes[0]] = _best(float(slope[0]), float(own[0, 0]))
        if np.abs(y - before).max(initial=0.0) < 1e-3:
            break
    return y, at


def _best(n1: float, n2: float) -> float:
    """Where n1 y + n2 y^2 is largest, |y| <= 1."""
    if n2 < 0 and abs(n1) < -2 * n2:
        return n1 / (-2 * n2)
    return 1.0 if n1 >= 0 else -1.0


def separable_bound(total: Quadratic, groups: Groups, hints: Floats) -> tuple[float, Floats]:
    """The separable majorant's maximum, with hints in units of 1, and what each axis loses by it."""
    products = np.where(groups.apart, total.square + total.square.T, 0.0)
    sizes = np.abs(products)
    tau = hints[:, None] - np.where(products >= 0, 1.0, -1.0) * hints
    lost = sizes.sum(axis=1)
    linear = total.linear - (sizes * tau).sum(axis=1)
    bound = total.constant + float((sizes * tau**2).sum()) / 4
    for group in groups.all:
        axes = group.axes
        own = total.square[np.ix_(axes, axes)] + np.diag(lost[axes] / 2)
        if group.places is not None:
            heights = group.places @ linear[axes] + ((group.places @ own) * group.places).sum(axis=1)
            bound += float(heights.max())
        else:
            n1, n2 = float(linear[axes[0]]), float(own[0, 0])
            best = _best(n1, n2)
            bound += n1 * best + n2 * best * best
    return bound, lost
