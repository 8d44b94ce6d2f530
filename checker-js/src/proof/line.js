/**
 * Lines that separate scores from witnesses (section 4, the table of `way`): a g(x) - b g(x') <= T at every pair of a cell
 * shows that the cell holds no witness.
 */

import { add, exactly, logOf, multiply, subtract } from '../exact/interval.js';
import { HALF, ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/property.js').Property} Property
 */

/** T must be known to within 2^-100 (1 + |T|); this leaves a lot of room. */
const BITS_OF_TARGET = 192;

/**
 * @typedef {object} Weights
 * @property {Rational} a
 * @property {Rational} b
 * @property {Rational} target a lower bound of T
 * @property {boolean} mayTouch whether a bound equal to T is enough
 */

/**
 * @param {Property} property
 * @param {Json} way
 * @returns {Weights}
 */
export function weightsOfWay(property, way) {
  const value = readNumber(way, 'way');
  const { kind, margin, delta } = property;
  if (kind === 'decision') {
    require(value.sign() >= 0 && value.atMost(ONE), 'way: not from 0 to 1');
    return { a: value, b: ONE.minus(value), target: margin, mayTouch: value.sign() > 0 };
  }
  if (kind === 'score' || kind === 'lipschitz' || delta.isZero()) {
    require(value.equals(HALF), 'way: not 1/2');
    return { a: HALF, b: HALF, target: delta.half(), mayTouch: true };
  }
  return kind === 'prediction' ? tangentOfExponential(value, delta) : tangentAt(value, delta);
}

/**
 * The tangent of the witness set of a prediction (section 16, "Way").
 * @param {Rational} w
 * @param {Rational} delta positive
 * @returns {Weights}
 */
function tangentOfExponential(w, delta) {
  require(HALF.atMost(w) && w.atMost(ONE), 'way: not from 1/2 to 1');
  const b = ONE.minus(w);
  const lean = w.scaled(1).minus(ONE);
  // r log r, with 0 log 0 = 0.
  const logTimes = (/** @type {Rational} */ r) => (r.isZero() ? exactly(ZERO) : multiply(logOf(r, BITS_OF_TARGET), r));
  const middle = lean.isZero() ? exactly(ZERO) : multiply(logOf(delta, BITS_OF_TARGET), lean);
  const target = subtract(add(subtract(logTimes(w), logTimes(b)), middle), logTimes(lean));
  // 1/2: no logarithm is left, and T is 0.
  return { a: w, b, target: lean.isZero() ? ZERO : target.lo, mayTouch: true };
}

/**
 * The tangent of the witness set of a probability at p = sigma(s').
 * @param {Rational} p
 * @param {Rational} delta
 * @returns {Weights}
 */
export function tangentAt(p, delta) {
  require(p.sign() > 0 && p.less(ONE.minus(delta)), 'way: not above 0 and below 1 - delta');
  const q = p.plus(delta);
  const a = q.times(ONE.minus(q));
  const b = p.times(ONE.minus(p));
  if (delta.isZero()) return { a, b, target: ZERO, mayTouch: true };
  const logitOf = (/** @type {Rational} */ r) => logOf(r.over(ONE.minus(r)), BITS_OF_TARGET);
  return { a, b, target: subtract(multiply(logitOf(q), a), multiply(logitOf(p), b)).lo, mayTouch: true };
}
