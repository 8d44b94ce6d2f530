"""A clear and slow twin of the kernel oracle, straight from section 7 of spec/certificate-v1.md, and random problems.

The twin shares nothing with the compiled code but the three classes that describe axes: it works with codes, A_k and
B_tk, dense arrays and Python loops over axes, in the specification's letters.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from likewise.families.kernel.rbf import GroupedAxis, OneHotAxis, SlopedAxis, TableAxis, Terms, shared_terms
from likewise.families.kernel.rbf.terms import Axis, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sum:
    """F over some axes: gamma, the axes, the coefficients of the terms, and the whole cell."""

    gamma: float
    axes: list[Axis]
    coefficients: Floats
    lo: Floats
    hi: Floats

    @property
    def terms(self) -> Terms:
        return shared_terms(gamma=self.gamma, axes=self.axes, terms=len(self.coefficients))


def discrete(axis: Axis) -> bool:
    return not isinstance(axis, SlopedAxis) or axis.whole


def distance(axis: Axis, codes: Floats) -> Floats:
    """D_tk at codes: shape (codes, terms)."""
    if isinstance(axis, OneHotAxis):
        return axis.distance * (codes[:, None] != axis.places[None, :])
    if isinstance(axis, GroupedAxis):
        groups = axis.groups[codes.astype(int)][:, None]
        own = axis.distance * (groups == axis.places[None, :])
        raised = axis.distance / 2 * (groups != axis.ground) if axis.ground >= 0 else 0.0
        return axis.betas[None, :] - own + raised
    if isinstance(axis, TableAxis):
        return (axis.values[codes.astype(int)][:, None] - axis.centres[None, :]) ** 2
    columns = axis.offsets + codes[:, None] * axis.slopes
    return ((columns[:, None, :] - axis.centres[None, :, :]) ** 2).sum(axis=2)


def values(problem: Sum, points: Floats) -> Floats:
    """F at points (codes)."""
    total = sum(distance(axis, points[:, k]) for k, axis in enumerate(problem.axes))
    return np.exp(-problem.gamma * total) @ problem.coefficients


# --- the majorant ------------------------------------------------------------------------------


def parabola(axis: SlopedAxis | TableAxis) -> tuple[float, Floats, Floats]:
    """A_k, B_tk and C_tk of a numeric axis."""
    if isinstance(axis, TableAxis):
        return 1.0, axis.centres, axis.centres**2
    away = axis.centres - axis.offsets
    return float((axis.slopes**2).sum()), away @ axis.slopes, (away**2).sum(axis=1)


def tau_values(axis: SlopedAxis | TableAxis, lo: float, hi: float) -> Floats:
    """Ends of the interval of tau, or all values where the axis is a table."""
    if isinstance(axis, TableAxis):
        return axis.values[int(lo) : int(hi) + 1]
    return np.array([lo, hi])


@dataclass(slots=True, kw_only=True)
class Seen:
    """The cell in the specification's letters."""

    weight: Floats  # C_t
    offset: Floats  # k_t
    reach: Floats  # h_t
    numeric: list[int]
    loads: list[Floats]  # l_tf
    bends: list[float]  # A_k w_k^2
    grids: list[Floats | None]
    hot: list[int]
    zetas: list[float]
    own: list[Floats]  # [v, t]: 1 where s_ti = v
    rises: list[Floats]  # [v]: nu of section 20


def see(problem: Sum, lo: Floats, hi: Floats, most_grid: int) -> Seen:
    terms = len(problem.coefficients)
    exponent, offset, reach = np.zeros(terms), np.zeros(terms), np.zeros(terms)
    seen = Seen(
        weight=exponent,
        offset=offset,
        reach=reach,
        numeric=[],
        loads=[],
        bends=[],
        grids=[],
        hot=[],
        zetas=[],
        own=[],
        rises=[],
    )
    for k, axis in enumerate(problem.axes):
        if isinstance(axis, OneHotAxis):
            zeta = problem.gamma * axis.distance
            positions = np.arange(lo[k], hi[k] + 1)
            own = (positions[:, None] == axis.places[None, :]).astype(float)
            inside = own.sum(axis=0)
            if len(positions) == 1:
                exponent -= zeta * (1 - inside)
            else:
                exponent -= zeta * (1 - inside) + zeta / 2 * inside
                offset -= zeta / 2 * inside
                seen.hot.append(k)
                seen.zetas.append(zeta)
                seen.own.append(own)
                seen.rises.append(np.zeros(len(positions)))
            continue
        if isinstance(axis, GroupedAxis):
            groups = np.unique(axis.groups[int(lo[k]) : int(hi[k]) + 1])
            if len(groups) == 1:
                exponent -= problem.gamma * distance(axis, lo[k : k + 1])[0]
                continue
            zeta, grounded = problem.gamma * axis.distance, axis.ground in groups
            own = (groups[:, None] == axis.places[None, :]).astype(float)
            exponent -= problem.gamma * axis.betas - zeta / 2 * own.sum(axis=0)
            exponent -= zeta / 2 if axis.ground >= 0 and not grounded else 0.0
            offset -= zeta / 2 * own.sum(axis=0)
            seen.hot.append(k)
            seen.zetas.append(zeta)
            seen.own.append(own)
            seen.rises.append(axis.distance / 2 * (groups != axis.ground) * grounded)
            continue
        A, B, C = parabola(axis)
        ends = tau_values(axis, lo[k], hi[k])
        m, w = (ends.max() + ends.min()) / 2, (ends.max() - ends.min()) / 2
        exponent -= problem.gamma * (A * m**2 - 2 * B * m + C)
        if w > 0:
            load = -2 * problem.gamma * w * (A * m - B)
            reach += np.abs(load)
            seen.numeric.append(k)
            seen.loads.append(load)
            seen.bends.append(A * w**2)
            codes = np.arange(lo[k], hi[k] + 1)
            few = discrete(axis) and len(codes) <= most_grid
            taus = axis.values[codes.astype(int)] if isinstance(axis, TableAxis) else codes
            seen.grids.append((taus - m) / w if few else None)
    seen.weight = problem.coefficients * np.exp(exponent)
    seen.reach = reach + np.abs(offset)
    return seen


def rounded_up(h: float) -> float:
    """The reach that the specification has cubics for."""
    return float(np.ceil(h * 1024) / 1024)


def cubic(h: float, positive: bool) -> tuple[float, float, float, float]:
    if positive:
        return (1, 1, (np.cosh(h) - 1) / h**2, (np.sinh(h) - h) / h**3) if h > 1e-3 else (1, 1, 0.5, 1 / 6)
    a = h / 2
    if a < 1e-3:
        return 1, 1, 0.5, 1 / 6
    sinh, cosh = np.sinh(a), np.cosh(a)
    linear = (3 * sinh - a * cosh) / (2 * a)
    return cosh - a * sinh / 2, linear, sinh / (2 * a), (a * cosh - sinh) / (2 * a**3)


def best_cubic(n1: float, n2: float, n3: float, grid: Floats | None) -> float:
    y = np.array([-1.0, 1.0]) if grid is None else grid
    if grid is None:
        roots = np.roots([3 * n3, 2 * n2, n1])
        y = np.concatenate([y, roots.real[(np.abs(roots.imag) < 1e-9) & (np.abs(roots.real) < 1)]])
    return float((n1 * y + n2 * y**2 + n3 * y**3).max())


def phi(problem: Sum, lo: Floats, hi: Floats, U: float, e: Ints, r: int, most_grid: int = 16) -> float:
    """The right side of the rule, with exact means over the allowed positions."""
    s = see(problem, lo, hi, most_grid)
    p = np.array([cubic(rounded_up(h), c > 0) for h, c in zip(s.reach, s.weight, strict=True)])
    return separated(s, s.weight[:, None] * p, 0.0, problem.gamma, U, e, r)


def separated(
    s: Seen,
    cubics: Floats,
    constant: float,
    gamma: float,
    U: float,
    e: Ints,
    r: int,
    products: tuple[tuple[int, int, int], ...] = (),
) -> float:
    """The same for any cubics (terms, 4) of the L_t; `products` are axes (u, d, p) with y_p = y_u y_d."""
    F, H = range(len(s.numeric)), range(len(s.hot))
    p, k = cubics.T, s.offset
    constant += float((p[0] + p[1] * k + p[2] * k**2 + p[3] * k**3).sum())
    q1, q2, q3 = p[1] + 2 * p[2] * k + 3 * p[3] * k**2, p[2] + 3 * p[3] * k, p[3]
    ls, zs, own = s.loads, s.zetas, s.own
    n1 = np.array([(q1 * x).sum() for x in ls])
    n2 = np.array([(q2 * x**2).sum() for x in ls])
    n3 = np.array([(q3 * x**3).sum() for x in ls])
    table = [own[i] @ (zs[i] * (q1 + zs[i] * q2 + zs[i] ** 2 * q3)) for i in H]
    G = {(f, g): (2 * q2 * ls[f] * ls[g]).sum() for f, g in itertools.combinations(F, 2)}
    for f, g in itertools.permutations(F, 2):
        amount = (3 * q3 * ls[f] ** 2 * ls[g]).sum()
        n1[g] += amount / 2
        constant += abs(amount) / 2
    for triple in itertools.combinations(F, 3):
        n2[list(triple)] += abs((6 * q3 * ls[triple[0]] * ls[triple[1]] * ls[triple[2]]).sum()) / 3
    N1 = {(f, i): own[i] @ (ls[f] * zs[i] * (2 * q2 + 3 * q3 * zs[i])) for f in F for i in H}
    N2 = {(f, i): own[i] @ (3 * q3 * ls[f] ** 2 * zs[i]) for f in F for i in H}
    for (f, g), i in itertools.product(G, H):
        amount = own[i] @ (6 * q3 * ls[f] * ls[g] * zs[i])
        G[f, g] += amount.mean()
        table[i] += np.abs(amount - amount.mean())
    pair = {}
    for i, j in itertools.combinations(H, 2):
        pair[i, j] = (own[i] * (zs[i] * zs[j] * (2 * q2 + 3 * q3 * (zs[i] + zs[j])))) @ own[j].T
        for f in F:
            rest = (own[i] * (6 * q3 * ls[f] * zs[i] * zs[j])) @ own[j].T
            N1[f, i] += rest.mean(axis=1)
            rest -= rest.mean(axis=1, keepdims=True)
            N1[f, j] += rest.mean(axis=0)
            rest -= rest.mean(axis=0, keepdims=True)
            pair[i, j] += np.abs(rest)
    for i, j, h in itertools.combinations(H, 3):
        rest = np.einsum("vt,ut,wt,t->vuw", own[i], own[j], own[h], 6 * q3 * zs[i] * zs[j] * zs[h])
        pair[j, h] += rest.mean(axis=0)
        rest -= rest.mean(axis=0, keepdims=True)
        pair[i, h] += rest.mean(axis=1)
        rest -= rest.mean(axis=1, keepdims=True)
        pair[i, j] += rest.max(axis=2)
    for f, i in N1:
        a, b = N1[f, i] - N1[f, i].mean(), N2[f, i] - N2[f, i].mean()
        n1[f] += N1[f, i].mean()
        n2[f] += N2[f, i].mean()
        table[i] += np.array([best_cubic(x, y, 0.0, None) for x, y in zip(a, b, strict=True)])
    for i, j in sorted(pair):
        total = pair[i, j] + table[i][:, None] + table[j][None, :]
        table[i], table[j] = total.max(axis=1) / 2, total.max(axis=0) / 2
    for u, d, p_axis in products:
        G[u, d] += n1[p_axis]
        n1[p_axis] = 0.0
    for (f, g), amount in G.items():
        sigma = 1 if amount >= 0 else -1
        tau = (e[s.numeric[f]] - sigma * e[s.numeric[g]]) / 64
        n2[[f, g]] += abs(amount) / 2
        n1[f] -= abs(amount) * tau
        n1[g] += abs(amount) * tau * sigma
        constant += abs(amount) * tau**2 / 2
    bends = np.array(s.bends)
    R_max, R0 = bends.sum() + sum(rise.max() for rise in s.rises), r / 1024 / gamma
    multiple = (
        U * np.exp(gamma * R0) * gamma if U >= 0 else U * np.expm1(gamma * R_max) / R_max if R_max > 0 else 0
    )
    for i in H:
        table[i] = table[i] - multiple * s.rises[i]
    if U >= 0:
        constant -= U * np.exp(gamma * R0) * (1 - gamma * R0)
        n2 -= U * np.exp(gamma * R0) * gamma * bends
    else:
        constant -= U
        n2 -= U * np.expm1(gamma * R_max) / R_max * bends if R_max > 0 else 0
    maxima = sum(best_cubic(n1[f], n2[f], n3[f], s.grids[f]) for f in F)
    return float(constant + sum(t.max() for t in table) + maxima)


# --- random problems ---------------------------------------------------------------------------


def random_axis(rng: np.random.Generator, terms: int) -> tuple[Axis, float, float]:
    """An axis of a random sort and its range of codes."""
    match rng.integers(4):
        case 0 | 1 as whole:
            columns = int(rng.integers(1, 3))
            hi = float(rng.integers(1, 40)) if whole else 4.0
            slopes = rng.normal(size=columns) * 4 / hi
            centres = rng.normal(size=(terms, columns))
            offsets = rng.normal(size=columns)
            axis: Axis = SlopedAxis(slopes=slopes, offsets=offsets, centres=centres, whole=bool(whole))
            return axis, -hi / 2 if not whole else 0.0, hi / 2 if not whole else hi
        case 2:
            levels = int(rng.integers(2, 7))
            table = TableAxis(values=rng.normal(size=levels), centres=rng.normal(size=terms))
            return table, 0.0, levels - 1.0
        case _:
            levels = int(rng.integers(2, 6))
            places = rng.integers(-1, levels, size=terms)  # -1: the term's own level is not in the space
            return OneHotAxis(distance=float(rng.uniform(0.2, 3)), places=places), 0.0, levels - 1.0


def random_grouped(rng: np.random.Generator, terms: int) -> tuple[Axis, float, float]:
    """A grouped axis, with ground or without, and its range of positions."""
    levels = int(rng.integers(3, 7))
    groups = np.unique(rng.integers(0, 4, size=levels), return_inverse=True)[1].ravel()
    ground = int(rng.integers(-1, groups.max() + 1))
    places = rng.integers(-1, groups.max() + 1, size=terms)
    places[places == ground] = -1
    d = float(rng.uniform(0.2, 3))
    betas = d + rng.uniform(0, 1, size=terms)
    axis = GroupedAxis(distance=d, groups=groups, places=places, betas=betas, ground=ground)
    return axis, 0.0, levels - 1.0


def random_sum(rng: np.random.Generator, axes: int, *, grouped: int = 0) -> Sum:
    terms = int(rng.integers(1, 14))
    drawn = [random_axis(rng, terms) for _ in range(axes)]
    drawn += [random_grouped(rng, terms) for _ in range(grouped)]
    rng.shuffle(drawn) if grouped else None
    coefficients = rng.normal(size=terms) * (rng.random(terms) < 0.9)
    return Sum(
        gamma=float(10 ** rng.uniform(-2, 0.3)),
        axes=[axis for axis, _, _ in drawn],
        coefficients=coefficients,
        lo=np.array([lo for _, lo, _ in drawn]),
        hi=np.array([hi for _, _, hi in drawn]),
    )


def random_cell(problem: Sum, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Part of the whole cell; some axes fixed, most of them narrow."""
    lo, hi = problem.lo.copy(), problem.hi.copy()
    share = rng.random() ** 2
    for k, axis in enumerate(problem.axes):
        ends = np.sort(problem.lo[k] + rng.random(2) * (problem.hi[k] - problem.lo[k]))
        middle, half = ends.mean(), share * (ends[1] - ends[0]) / 2
        lo[k], hi[k] = middle - half, middle + half
        if isinstance(axis, (OneHotAxis, GroupedAxis)):
            lo[k], hi[k] = ends
        if discrete(axis):
            lo[k], hi[k] = np.floor(lo[k]), np.ceil(hi[k])
        if rng.random() < 0.1:
            hi[k] = lo[k]
    return lo, hi


def random_points(problem: Sum, lo: Floats, hi: Floats, rng: np.random.Generator, count: int) -> Floats:
    """Points of the cell, many of them at its ends."""
    where = rng.random((count, len(lo)))
    points = lo + rng.random(where.shape) * (hi - lo)
    points = np.where(where < 0.3, lo, np.where(where < 0.6, hi, points))
    whole = np.array([discrete(axis) for axis in problem.axes])
    return np.where(whole, np.round(points), points)
