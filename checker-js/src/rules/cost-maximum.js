/** What a feature with a cost adds to a bound (sections 19 and 21): the largest u(x) + v(x') - lambda cost(x, x')^power. */

import { larger, largerOfMaxima, Rational, smaller, ZERO } from '../exact/rational.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { costOf, toPower } from '../claim/distance.js';
import { related } from '../claim/similarity.js';
import { positionOf } from '../claim/space.js';
import { polygonMaximum } from './polygon.js';

/**
 * @typedef {import('../bodies/affine.js').Phi} Phi
 * @typedef {import('../claim/distance.js').Cost} Cost
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 */

/**
 * The codes of a cell and the interval of their difference.
 * @typedef {{lo: Rational, hi: Rational, otherLo: Rational, otherHi: Rational, p: Rational, q: Rational}} Codes
 */

/**
 * A cost that is taken off a bound: lambda cost^power, lambda > 0.
 * @typedef {{cost: Cost, power: 1 | 2, lambda: Rational}} Charge
 */

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k a feature that is not `same`
 * @param {Charge} charge
 * @param {Phi} u
 * @param {Phi} v
 * @param {() => Rational | null} withoutCost the maximum of u and v alone
 * @returns {Rational | null} null if there are no such codes
 */
export function maximumWithCost(geometry, cell, k, charge, u, v, withoutCost) {
  if (u.kind === 'table' && v.kind === 'table') return maximumOfLevels(geometry, cell, k, charge, u.values, v.values);
  const { cost, power, lambda } = charge;
  const codes = codesOf(geometry, cell, k);
  if (codes === null) return null;
  if (cost.kind !== 'each') throw new Error('a cost that does not fit its feature');
  if (u.kind === 'linear' && v.kind === 'linear') {
    if (power === 1) return maximumOfSlopes(u.slope, v.slope, codes, lambda.times(cost.cost));
    return maximumOfParabolas(u.slope, v.slope, codes, lambda.times(cost.cost.squared()));
  }
  const most = withoutCost();
  if (most === null) return null;
  return most.minus(lambda.times(toPower(costOf(cost, ZERO, leastDifference(codes)), power)));
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k a feature without levels
 * @returns {Codes | null} null if no two codes have such a difference
 */
export function codesOf({ first, second, difference }, cell, k) {
  const [i, j, d] = [first[k], second[k], difference[k]];
  const [lo, hi, otherLo, otherHi] = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
  let [p, q] = [otherLo.minus(hi), otherHi.minus(lo)];
  if (d >= 0) [p, q] = [larger(p, cell.lo[d]), smaller(q, cell.hi[d])];
  return q.less(p) ? null : { lo, hi, otherLo, otherHi, p, q };
}

/**
 * @param {{p: Rational, q: Rational}} codes
 * @returns {Rational} the x' - x that is nearest to 0
 */
export function leastDifference({ p, q }) {
  return p.sign() > 0 ? p : q.sign() < 0 ? q : ZERO;
}

/**
 * The largest u x + v x' - c abs(x' - x): linear on either side of x = x'.
 * @param {Rational} u
 * @param {Rational} v
 * @param {Codes} codes
 * @param {Rational} c
 */
function maximumOfSlopes(u, v, { lo, hi, otherLo, otherHi, p, q }, c) {
  const above = polygonMaximum(u.plus(c), v.minus(c), lo, hi, otherLo, otherHi, larger(p, ZERO), q);
  const below = polygonMaximum(u.minus(c), v.plus(c), lo, hi, otherLo, otherHi, p, smaller(q, ZERO));
  return above === null ? below : largerOfMaxima(below, above);
}

/**
 * The largest u x + v x' - c d^2, d = x' - x. For each d the best x is the largest one, min(hi, hi' - d), if u + v >= 0, else
 * the smallest one, max(lo, lo' - d): two parabolas in d, which meet where these two are equal.
 * @param {Rational} u
 * @param {Rational} v
 * @param {Codes} codes
 * @param {Rational} c
 * @returns {Rational}
 */
function maximumOfParabolas(u, v, { lo, hi, otherLo, otherHi, p, q }, c) {
  const slope = u.plus(v);
  const upwards = slope.sign() >= 0;
  const meeting = upwards ? otherHi.minus(hi) : otherLo.minus(lo);
  const valueAt = (/** @type {Rational} */ d) => {
    const x = upwards ? smaller(hi, otherHi.minus(d)) : larger(lo, otherLo.minus(d));
    return slope.times(x).plus(v.times(d)).minus(c.times(d.squared()));
  };
  const places = [p, q, meeting];
  // The tops of the parabolas: x does not move with d, or it moves against it.
  if (c.sign() > 0) for (const linear of [v, v.minus(slope)]) places.push(linear.over(c.scaled(1)));
  return places.map((d) => valueAt(smaller(larger(d, p), q))).reduce(larger);
}

/**
 * The pairs of positions of a cell that satisfy the relation.
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k a levels kind
 * @returns {Generator<[Rational, Rational], void, void>}
 */
export function* positionsOf({ space, similarity, first, second }, cell, k) {
  const [lo, hi, otherLo, otherHi] = [cell.lo[first[k]], cell.hi[first[k]], cell.lo[second[k]], cell.hi[second[k]]].map(positionOf);
  const relation = similarity[k];
  if (relation.kind === 'pairs') {
    const isInside = (/** @type {number} */ i, /** @type {number} */ j) => lo <= i && i <= hi && otherLo <= j && j <= otherHi;
    for (let i = Math.max(lo, otherLo); i <= Math.min(hi, otherHi); i++) yield [Rational.of(i), Rational.of(i)];
    for (const [i, j] of relation.allowed) {
      if (isInside(i, j)) yield [Rational.of(i), Rational.of(j)];
      if (isInside(j, i)) yield [Rational.of(j), Rational.of(i)];
    }
    return;
  }
  require((hi - lo + 1) * (otherHi - otherLo + 1) <= MAXIMUM.positionPairs, 'too many pairs of positions for one feature');
  for (let i = lo; i <= hi; i++) {
    for (let j = otherLo; j <= otherHi; j++) {
      const [code, other] = [Rational.of(i), Rational.of(j)];
      if (related(space.features[k], relation, code, other)) yield [code, other];
    }
  }
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k
 * @param {Charge} charge
 * @param {Rational[]} u
 * @param {Rational[]} v
 */
function maximumOfLevels(geometry, cell, k, { cost, power, lambda }, u, v) {
  /** @type {Rational | null} */
  let most = null;
  for (const [code, other] of positionsOf(geometry, cell, k)) {
    const own = lambda.times(toPower(costOf(cost, code, other), power));
    most = largerOfMaxima(most, u[positionOf(code)].plus(v[positionOf(other)]).minus(own));
  }
  return most;
}
