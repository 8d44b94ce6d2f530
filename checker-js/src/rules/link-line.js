/** Lines above and below a link (section 17, "With a link"): lambda(t) <= alpha r + beta on an interval of scores. */

import { add, exactly, multiply, product, sigmaOf, subtract } from '../exact/interval.js';
import { larger, ONE, Rational, smaller, ZERO } from '../exact/rational.js';
import { reject, require } from '../rejection.js';
import { tableAt } from '../bodies/link.js';

/**
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../bodies/link.js').PlainLink} PlainLink
 * @typedef {import('../bodies/link.js').Knot} Knot
 */

/**
 * l <= t <= u; null stands for no limit.
 * @typedef {{low: Rational | null, high: Rational | null}} Scores
 */

/** Numbers with sigma must be as tight as 2^-100. */
const BITS = 192;

/**
 * @param {PlainLink} link
 * @param {Rational} alpha at least 0
 * @param {Rational} tangent at least 0
 * @param {Scores} scores
 * @returns {Rational} beta, rounded up: lambda(t) <= alpha r + beta
 */
export function betaAbove(link, alpha, tangent, { low, high }) {
  return link.kind === 'table' ? betaOfTable(link.knots, alpha, low, high) : betaOfLogistic(link, alpha, tangent, low, high);
}

/**
 * @param {PlainLink} link
 * @param {Rational} alpha
 * @param {Rational} tangent
 * @param {Scores} scores
 * @returns {Rational} beta', rounded down: lambda(t) >= alpha r + beta'
 */
export function betaBelow(link, alpha, tangent, { low, high }) {
  const turned = { low: high === null ? null : high.negated(), high: low === null ? null : low.negated() };
  const whole = link.kind === 'logistic' ? ONE : ZERO;
  return whole.minus(betaAbove(turnedLink(link), alpha, tangent, turned));
}

/**
 * mu(t) = w - lambda(-t).
 * @param {PlainLink} link
 * @returns {PlainLink}
 */
export function turnedLink(link) {
  if (link.kind === 'logistic') return { ...link, offset: link.offset.negated() };
  const knots = link.knots.map(({ place, below, at, above }) => ({
    place: place.negated(),
    below: above.negated(),
    at: at.negated(),
    above: below.negated(),
  }));
  return { ...link, knots: knots.reverse() };
}

/**
 * @param {{slope: Rational, offset: Rational}} link
 * @param {Rational} alpha
 * @param {Rational} tangent tau
 * @param {Rational | null} low
 * @param {Rational | null} high
 */
function betaOfLogistic({ slope, offset }, alpha, tangent, low, high) {
  const U = high === null ? null : slope.times(high).plus(offset);
  if (alpha.isZero()) return U === null ? ONE : sigmaOf(U, BITS).hi;
  if (low === null) return reject('sum: a rising line above a link needs a lower limit of the score');
  const L = slope.times(low).plus(offset);
  /** @type {Rational[]} */
  const values = [];
  if (L.sign() <= 0) {
    const end = U === null ? ZERO : smaller(U, ZERO);
    for (const r of [L, end]) values.push(sigmaOf(r, BITS).hi.minus(alpha.times(r)));
  }
  if (U === null || U.sign() > 0) {
    const sigma = sigmaOf(tangent, BITS);
    const steepness = product(sigma, subtract(exactly(ONE), sigma));
    const valueAt = (/** @type {Rational} */ r) => add(sigma, multiply(steepness, r.minus(tangent))).hi.minus(alpha.times(r));
    values.push(valueAt(larger(L, ZERO)));
    if (U === null) require(steepness.hi.atMost(alpha), 'sum: the tangent of a link rises more than the line');
    else values.push(valueAt(U));
  }
  return values.reduce(larger);
}

/**
 * @param {Knot[]} knots
 * @param {Rational} alpha
 * @param {Rational | null} low
 * @param {Rational | null} high
 */
function betaOfTable(knots, alpha, low, high) {
  if (alpha.sign() > 0 && low === null) return reject('sum: a rising line above a link needs a lower limit of the score');
  /** @type {Rational[]} */
  const values = [];
  for (const t of [low, high]) {
    if (t === null) continue;
    const { value, knot } = tableAt(knots, t);
    values.push((knot === null ? value : knot.above).minus(alpha.times(t)));
  }
  for (const { place, above } of knots) {
    if ((low === null || low.atMost(place)) && (high === null || place.atMost(high))) values.push(above.minus(alpha.times(place)));
  }
  if (low === null) values.push(knots[0].below);
  if (high === null) {
    const last = knots[knots.length - 1];
    const start = low === null ? last.place : larger(last.place, low);
    values.push(last.above.minus(alpha.times(start)));
  }
  return values.reduce(larger);
}
