/** Middle and half difference of two codes that may differ (section 7, "Coordinates of a paired feature"; also section 8). */

import { largest, Rational, smallest, larger, smaller } from '../exact/rational.js';

/**
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 */

/**
 * Middle and half width of an interval.
 * @typedef {{middle: Rational, width: Rational}} Span
 */

/**
 * @param {Rational} lo
 * @param {Rational} hi
 * @returns {Span}
 */
export function spanOf(lo, hi) {
  return { middle: lo.plus(hi).half(), width: hi.minus(lo).half() };
}

/**
 * The spans of u = (x + x')/2 and d = (x' - x)/2.
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k a numeric feature that is not `same`
 * @returns {{u: Span, d: Span} | null} null if the cell holds no pair
 */
export function pairedSpans(geometry, cell, k) {
  const [i, j, difference] = [geometry.first[k], geometry.second[k], geometry.difference[k]];
  const [lo, hi, otherLo, otherHi] = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
  let p = otherLo.minus(hi);
  let q = otherHi.minus(lo);
  if (difference >= 0) {
    p = larger(p, cell.lo[difference]);
    q = smaller(q, cell.hi[difference]);
  }
  if (q.less(p)) return null;
  const [halfP, halfQ] = [p.half(), q.half()];
  const from = largest([lo.plus(otherLo).half(), lo.plus(halfP), otherLo.minus(halfQ)]);
  const to = smallest([hi.plus(otherHi).half(), hi.plus(halfQ), otherHi.minus(halfP)]);
  return { u: spanOf(from, to), d: spanOf(halfP, halfQ) };
}
