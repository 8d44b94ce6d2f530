/**
 * What two scores that differ by at most so much can differ by after a link (section 17, "A part by its difference"): the most
 * of C lambda(s_u) - E lambda(s_v), if s_u - s_v <= D.
 */

import { exactly, multiply, product, reciprocal, sigmaOf, subtract } from '../exact/interval.js';
import { larger, largerOfMaxima, ONE, Rational, smaller, ZERO } from '../exact/rational.js';
import { require } from '../rejection.js';
import { tableAt } from '../bodies/link.js';

/**
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../bodies/link.js').Knot} Knot
 * @typedef {import('../bodies/link.js').PlainLink} PlainLink
 * @typedef {import('../bodies/link.js').LogisticLink} LogisticLink
 * @typedef {import('./link-line.js').Scores} Scores
 */

/** The slope of phi may be as large as exp(40): so many bits leave it tighter than 2^-100. */
const BITS = 320;

/** The largest absolute value of a place. */
const FARTHEST = Rational.of(40);

/**
 * @param {Rational} D
 * @param {Scores} u limits of s_u
 * @param {Scores} v limits of s_v
 * @returns {Scores} p and q
 */
export function rangeOfDifference(D, u, v) {
  const p = largerOfMaxima(v.low, u.low === null ? null : u.low.minus(D));
  const shifted = u.high === null ? null : u.high.minus(D);
  const least = v.high === null ? shifted : shifted === null ? v.high : smaller(v.high, shifted);
  return { low: p, high: least === null || p === null ? least : larger(p, least) };
}

/**
 * @param {PlainLink} link
 * @param {Rational} C positive
 * @param {Rational} E positive
 * @param {Rational} D
 * @param {Scores} u limits of s_u
 * @param {Scores} v limits of s_v
 * @param {Rational} place
 * @returns {Rational} B_k
 */
export function mostOfDifference(link, C, E, D, u, v, place) {
  const { low: p, high: q } = rangeOfDifference(D, u, v);
  return link.kind === 'table' ? mostOfTable(link.knots, C, E, D, p, q) : mostOfLogistic(link, C, E, D, p, q, place);
}

/**
 * @param {LogisticLink} link
 * @param {Rational} C
 * @param {Rational} E
 * @param {Rational} D
 * @param {Rational | null} p null for minus infinity
 * @param {Rational | null} q null for infinity
 * @param {Rational} tau
 */
function mostOfLogistic({ slope, offset }, C, E, D, p, q, tau) {
  const e = slope.times(D);
  const ends = [p, q].map((t) => (t === null ? null : slope.times(t).plus(offset)));
  if (e.sign() <= 0) {
    // C phi(y) - E y at the two ends; at y = 0 it is 0, at y = 1 it is C - E.
    const values = ends.map((r, i) => {
      if (r === null) return i === 0 ? ZERO : C.minus(E);
      return subtract(multiply(sigmaOf(r.plus(e), BITS), C), multiply(sigmaOf(r, BITS), E)).hi;
    });
    return values.reduce(larger);
  }
  require(tau.absolute().atMost(FARTHEST), 'sum: a place of a difference that is too far away');
  const touched = sigmaOf(tau, BITS);
  const raised = sigmaOf(tau.plus(e), BITS);
  const m = product(steepness(raised), reciprocal(steepness(touched)));
  const rise = subtract(multiply(m, C), exactly(E));
  const values = ends.map((r, i) => {
    const y = r === null ? exactly(i === 0 ? ZERO : ONE) : sigmaOf(r, BITS);
    return product(rise, subtract(y, touched)).hi;
  });
  return subtract(multiply(raised, C), multiply(touched, E)).hi.plus(values.reduce(larger));
}

/**
 * sigma' = sigma (1 - sigma)
 * @param {Interval} sigma
 */
function steepness(sigma) {
  return product(sigma, subtract(exactly(ONE), sigma));
}

/**
 * @param {Knot[]} knots
 * @param {Rational} C
 * @param {Rational} E
 * @param {Rational} D
 * @param {Rational | null} p
 * @param {Rational | null} q
 */
function mostOfTable(knots, C, E, D, p, q) {
  const isInside = (/** @type {Rational} */ t) => (p === null || p.atMost(t)) && (q === null || t.atMost(q));
  const places = knots.flatMap(({ place }) => [place, place.minus(D)]).filter(isInside);
  for (const t of [p, q]) if (t !== null) places.push(t);
  const values = places.map((t) => {
    const [upper, lower] = [tableAt(knots, t.plus(D)), tableAt(knots, t)];
    const above = upper.knot === null ? upper.value : upper.knot.above;
    const below = lower.knot === null ? lower.value : lower.knot.below;
    return C.times(above).minus(E.times(below));
  });
  if (p === null) values.push(C.minus(E).times(knots[0].below));
  if (q === null) values.push(C.minus(E).times(knots[knots.length - 1].above));
  return values.reduce(larger);
}
