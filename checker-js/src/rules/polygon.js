/** Linear functions of two codes that may differ by so much (section 4, "within t, numbers"; section 15, I). */

import { larger, largerOfMaxima, Rational, smaller } from '../exact/rational.js';

/**
 * The maximum of u x + v x' over lo <= x <= hi, lo' <= x' <= hi', p <= x' - x <= q, at one of the corners. As the two lines
 * of the difference are parallel, every corner lies on a side of the rectangle.
 * @param {Rational} u
 * @param {Rational} v
 * @param {Rational} lo
 * @param {Rational} hi
 * @param {Rational} otherLo
 * @param {Rational} otherHi
 * @param {Rational} p
 * @param {Rational} q
 * @returns {Rational | null} null if there is no such point
 */
export function polygonMaximum(u, v, lo, hi, otherLo, otherHi, p, q) {
  /** @type {Rational | null} */
  let most = null;
  for (const x of [lo, hi]) {
    const from = larger(otherLo, x.plus(p));
    const to = smaller(otherHi, x.plus(q));
    if (to.less(from)) continue;
    for (const other of [from, to]) most = largerOfMaxima(most, u.times(x).plus(v.times(other)));
  }
  for (const other of [otherLo, otherHi]) {
    const from = larger(lo, other.minus(q));
    const to = smaller(hi, other.minus(p));
    if (to.less(from)) continue;
    for (const x of [from, to]) most = largerOfMaxima(most, u.times(x).plus(v.times(other)));
  }
  return most;
}
