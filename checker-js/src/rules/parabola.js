/** Maxima of quadratic polynomials of a code, and of sums of two of them over codes that may differ by so much (section 25). */

import { larger, largerOfMaxima, Rational, smaller } from '../exact/rational.js';

/** @typedef {import('./cost-maximum.js').Codes} Codes */

/**
 * square z^2 + slope z + constant
 * @typedef {{square: Rational, slope: Rational, constant: Rational}} Parabola
 */

/**
 * @param {Parabola} parabola
 * @param {Rational} z
 */
function valueAt({ square, slope, constant }, z) {
  return square.times(z).plus(slope).times(z).plus(constant);
}

/**
 * @param {Parabola} parabola
 * @returns {Rational | null} where it is largest, if it is concave
 */
function peakOf({ square, slope }) {
  return square.sign() < 0 ? slope.over(square.scaled(1)).negated() : null;
}

/**
 * @param {Parabola} parabola concave
 * @returns {Rational} its largest value
 */
function valueAtPeak({ square, slope, constant }) {
  return constant.minus(slope.squared().over(square.scaled(2)));
}

/**
 * @param {Parabola} a
 * @param {Parabola} b
 * @returns {Parabola}
 */
function sumOfParabolas(a, b) {
  return { square: a.square.plus(b.square), slope: a.slope.plus(b.slope), constant: a.constant.plus(b.constant) };
}

/**
 * z -> parabola(z + by)
 * @param {Parabola} parabola
 * @param {Rational} by
 * @returns {Parabola}
 */
function shifted(parabola, by) {
  const { square, slope } = parabola;
  return { square, slope: slope.plus(square.times(by).scaled(1)), constant: valueAt(parabola, by) };
}

/**
 * @param {Parabola} parabola
 * @param {Rational} lo
 * @param {Rational} hi
 * @returns {Rational | null} null if lo is above hi
 */
export function maximumOnInterval(parabola, lo, hi) {
  if (hi.less(lo)) return null;
  const peak = peakOf(parabola);
  if (peak !== null && lo.less(peak) && peak.less(hi)) return valueAtPeak(parabola);
  return larger(valueAt(parabola, lo), valueAt(parabola, hi));
}

/**
 * The largest u(x) + v(x') over lo <= x <= hi, lo' <= x' <= hi', p <= x' - x <= q: on one of the six edges (some of which may not
 * be there), or where both are largest, if that lies inside.
 * @param {Parabola} u
 * @param {Parabola} v
 * @param {Codes} codes not contradicting each other
 * @returns {Rational}
 */
export function maximumOnPolygon(u, v, { lo, hi, otherLo, otherHi, p, q }) {
  /** @type {Rational | null} */
  let most = null;
  const [peak, otherPeak] = [peakOf(u), peakOf(v)];
  if (peak !== null && otherPeak !== null) {
    const difference = otherPeak.minus(peak);
    const inside = lo.atMost(peak) && peak.atMost(hi) && otherLo.atMost(otherPeak) && otherPeak.atMost(otherHi) && p.atMost(difference) && difference.atMost(q);
    if (inside) return valueAtPeak(u).plus(valueAtPeak(v));
  }
  const take = (/** @type {Rational | null} */ alongEdge, /** @type {Rational | null} */ across) => {
    if (alongEdge !== null && across !== null) most = largerOfMaxima(most, alongEdge.plus(across));
  };
  for (const x of [lo, hi]) take(maximumOnInterval(v, larger(otherLo, x.plus(p)), smaller(otherHi, x.plus(q))), valueAt(u, x));
  for (const other of [otherLo, otherHi]) take(maximumOnInterval(u, larger(lo, other.minus(q)), smaller(hi, other.minus(p))), valueAt(v, other));
  for (const difference of [p, q]) {
    const own = sumOfParabolas(u, shifted(v, difference));
    most = largerOfMaxima(most, maximumOnInterval(own, larger(lo, otherLo.minus(difference)), smaller(hi, otherHi.minus(difference))));
  }
  if (most === null) throw new Error('a polygon without a point');
  return most;
}
