/** The axes of a cell of a kernel model, and the exponents and loads of its terms (section 7, "Coordinates"). */

import { larger, Rational, smaller, ZERO } from '../exact/rational.js';
import { reject } from '../rejection.js';
import { related } from '../claim/similarity.js';
import { positionOf } from '../claim/space.js';
import { EXPONENT_BITS, towardsZero } from './fixed-point.js';
import { pairedSpans, spanOf } from './paired.js';

/**
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('./kernel-features.js').KernelFeature} KernelFeature
 * @typedef {import('./kernel-groups.js').Grouping} Grouping
 */

/**
 * @typedef {object} NumericAxis
 * @property {Rational} square A w^2, its part of R; 0 for an axis p
 * @property {number} hint the place of its e among the leaf's hints
 * @property {Rational[] | null} values the y that occur, if they are few
 * @property {[number, number] | null} product of an axis p: its axes u and d
 * @property {[Rational[], Rational[]]} loads l_t and l'_t, one a term
 */

/**
 * @typedef {object} OneHotAxis
 * @property {bigint} zeta an even number of ulps
 * @property {number[]} positions P; of a grouped feature groups
 * @property {number[]} own s_t as a place in P, -1 if it is not in P
 * @property {Rational[]} squares nu of the positions, their part of R; 0 but for a grouped feature with its ground in P
 */

/** Codes of integer features, and positions of tables, are looked at one by one if there are no more than this. */
const MOST_VALUES = 1024;

export class KernelAxes {
  /** @param {number} terms */
  constructor(terms) {
    /** @type {NumericAxis[]} */
    this.numeric = [];
    /** @type {OneHotAxis[]} grouped features among them */
    this.oneHot = [];
    /** @type {[bigint[], bigint[]]} the exponents of the factors in front of the expansions, at x and at x', rounded down */
    this.exponents = [Array.from({ length: terms }, () => 0n), Array.from({ length: terms }, () => 0n)];
    /** how often each of them was rounded, at most */
    this.roundings = 0;
    this.hints = 0;
    this.twoCopies = false;
    this.holdsNoPair = false;
  }

  /**
   * @param {0 | 1} copy
   * @param {(t: number) => Rational} amountOf
   */
  addExponents(copy, amountOf) {
    const exponents = this.exponents[copy];
    this.roundings += 1;
    for (let t = 0; t < exponents.length; t++) exponents[t] += amountOf(t).floor(EXPONENT_BITS);
  }
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {KernelFeature[]} features
 * @param {Rational} gamma
 * @param {number} terms
 */
export function kernelAxes(geometry, cell, features, gamma, terms) {
  const axes = new KernelAxes(terms);
  const place = { geometry, cell, gamma, axes };
  features.forEach((feature, k) => {
    if (geometry.similarity[k].kind === 'same') addSame(place, feature, k);
  });
  features.forEach((feature, k) => {
    if (geometry.similarity[k].kind === 'same') return;
    if (geometry.isFixed(k, cell)) addFixed(place, feature, k);
    else addPaired(place, feature, k);
  });
  return axes;
}

/** @typedef {{geometry: Geometry, cell: Cell, gamma: Rational, axes: KernelAxes}} Place */

/**
 * @param {Place} place
 * @param {KernelFeature} feature
 * @param {number} k
 */
function addSame(place, feature, k) {
  const { geometry, cell, gamma, axes } = place;
  const v = geometry.first[k];
  const fixed = cell.lo[v].equals(cell.hi[v]);
  if (feature.sort === 'one-hot') addOneHot(place, feature, v);
  else if (feature.grouping !== null && !fixed) addGrouped(place, feature, feature.grouping, v);
  else if (feature.sort === 'numeric' && !fixed) addNumeric(place, feature, k, v);
  else if (fixed) {
    const distances = feature.distances(cell.lo[v]);
    for (const copy of /** @type {const} */ ([0, 1])) axes.addExponents(copy, (t) => gamma.times(distances[t]).negated());
  } else reject('kernel: a feature that is neither numeric nor one-hot, and not fixed in the cell');
}

/**
 * @param {Place} place
 * @param {KernelFeature} feature
 * @param {number} k
 * @param {number} v
 */
function addNumeric({ geometry, cell, gamma, axes }, feature, k, v) {
  const hint = axes.hints;
  axes.hints += 1;
  const { levels, discrete } = geometry.space.features[k];
  /** @type {Rational[] | null} */
  let taus = null;
  if (levels !== null) taus = (feature.table ?? levels.map(() => ZERO)).slice(positionOf(cell.lo[v]), positionOf(cell.hi[v]) + 1);
  const { middle, width } = taus === null ? spanOf(cell.lo[v], cell.hi[v]) : spanOf(taus.reduce(smaller), taus.reduce(larger));
  const { A, B, C } = feature;
  const atMiddle = A.times(middle.squared());
  for (const copy of /** @type {const} */ ([0, 1])) {
    axes.addExponents(copy, (t) => gamma.times(atMiddle.minus(B[t].times(middle).scaled(1)).plus(C[t])).negated());
  }
  if (width.isZero() || A.isZero()) return;
  if (taus === null && discrete && width.scaled(1).floor() < BigInt(MOST_VALUES)) {
    taus = Array.from({ length: Number(width.scaled(1).floor()) + 1 }, (_, i) => cell.lo[v].plus(Rational.of(i)));
  }
  const few = taus !== null && taus.length <= MOST_VALUES;
  const values = few ? /** @type {Rational[]} */ (taus).map((tau) => tau.minus(middle).over(width)) : null;
  const factor = gamma.times(width).scaled(1).negated();
  const loads = B.map((b) => factor.times(A.times(middle).minus(b)));
  axes.numeric.push({ square: A.times(width.squared()), hint, values, product: null, loads: [loads, loads] });
}

/**
 * @param {Place} place
 * @param {KernelFeature} feature
 * @param {number} v
 */
function addOneHot({ cell, gamma, axes }, feature, v) {
  const [first, last] = [positionOf(cell.lo[v]), positionOf(cell.hi[v])];
  const zeta = gamma.times(feature.distance);
  const active = last > first;
  const isInside = (/** @type {number} */ t) => first <= feature.own[t] && feature.own[t] <= last;
  for (const copy of /** @type {const} */ ([0, 1])) {
    axes.addExponents(copy, (t) => (!isInside(t) ? zeta.negated() : active ? zeta.half().negated() : ZERO));
  }
  if (!active) return;
  axes.oneHot.push({
    zeta: 2n * towardsZero(zeta.half()),
    positions: Array.from({ length: last - first + 1 }, (_, i) => first + i),
    own: feature.own.map((own, t) => (isInside(t) ? own - first : -1)),
    squares: Array.from({ length: last - first + 1 }, () => ZERO),
  });
}

/**
 * A grouped feature that is not fixed (section 20).
 * @param {Place} place
 * @param {KernelFeature} feature
 * @param {Grouping} grouping
 * @param {number} v
 */
function addGrouped({ cell, gamma, axes }, feature, { groupOf, ground, beta, own, distance }, v) {
  const inside = new Set(groupOf.slice(positionOf(cell.lo[v]), positionOf(cell.hi[v]) + 1));
  const groups = [...inside].sort((a, b) => a - b);
  const active = groups.length > 1;
  const atOne = feature.distances(cell.lo[v]);
  const half = distance.half();
  const raised = ground !== null && !inside.has(ground) ? half : ZERO;
  const exponentOf = (/** @type {number} */ t) => {
    if (!active) return atOne[t];
    return beta[t].plus(raised).minus(inside.has(own[t]) ? half : ZERO);
  };
  for (const copy of /** @type {const} */ ([0, 1])) axes.addExponents(copy, (t) => gamma.times(exponentOf(t)).negated());
  if (!active) return;
  axes.oneHot.push({
    zeta: 2n * towardsZero(gamma.times(half)),
    positions: groups,
    own: own.map((group) => groups.indexOf(group)),
    squares: groups.map((group) => (ground === null || !inside.has(ground) || group === ground ? ZERO : half)),
  });
}

/**
 * A feature that may differ and is fixed in both copies.
 * @param {Place} place
 * @param {KernelFeature} feature
 * @param {number} k
 */
function addFixed({ geometry, cell, gamma, axes }, feature, k) {
  const [code, other] = [cell.lo[geometry.first[k]], cell.lo[geometry.second[k]]];
  if (!related(geometry.space.features[k], geometry.similarity[k], code, other)) axes.holdsNoPair = true;
  const v = geometry.difference[k];
  if (v >= 0) {
    const difference = other.minus(code);
    if (difference.less(cell.lo[v]) || cell.hi[v].less(difference)) axes.holdsNoPair = true;
  }
  [code, other].forEach((own, copy) => {
    const distances = feature.distances(own);
    axes.addExponents(/** @type {0 | 1} */ (copy), (t) => gamma.times(distances[t]).negated());
  });
}

/**
 * @param {Place} place
 * @param {KernelFeature} feature
 * @param {number} k
 */
function addPaired({ geometry, cell, gamma, axes }, feature, k) {
  if (geometry.space.features[k].levels !== null) reject('kernel: a levels kind that may differ and is not fixed in the cell');
  axes.twoCopies = true;
  const hint = axes.hints;
  axes.hints += 3;
  const spans = pairedSpans(geometry, cell, k);
  if (spans === null) {
    axes.holdsNoPair = true;
    return;
  }
  const { u, d } = spans;
  const { A, B, C } = feature;
  const centres = [u.middle.minus(d.middle), u.middle.plus(d.middle)];
  centres.forEach((x, copy) => {
    const square = A.times(x.squared());
    axes.addExponents(/** @type {0 | 1} */ (copy), (t) => gamma.times(square.minus(B[t].times(x).scaled(1)).plus(C[t])).negated());
  });
  if (A.isZero()) return;
  const twice = gamma.scaled(1);
  const slopes = centres.map((x) => B.map((b) => twice.times(A.times(x).minus(b))));
  const scaled = (/** @type {Rational[]} */ values, /** @type {Rational} */ factor) => values.map((value) => value.times(factor));
  const uAxis = axes.numeric.length;
  if (u.width.sign() > 0) {
    const loads = /** @type {[Rational[], Rational[]]} */ (slopes.map((own) => scaled(own, u.width.negated())));
    axes.numeric.push({ square: A.times(u.width.squared()), hint, values: null, product: null, loads });
  }
  const dAxis = axes.numeric.length;
  if (d.width.sign() > 0) {
    /** @type {[Rational[], Rational[]]} */
    const loads = [scaled(slopes[0], d.width), scaled(slopes[1], d.width.negated())];
    axes.numeric.push({ square: A.times(d.width.squared()), hint: hint + 1, values: null, product: null, loads });
  }
  if (u.width.sign() > 0 && d.width.sign() > 0) {
    const load = twice.times(A).times(u.width).times(d.width);
    /** @type {[Rational[], Rational[]]} */
    const loads = [B.map(() => load), B.map(() => load.negated())];
    axes.numeric.push({ square: ZERO, hint: hint + 2, values: null, product: [uAxis, dAxis], loads });
  }
}
