/** Intervals with rational ends that enclose a real number, and the functions of them that the rules need. */

import { expFixed, logFixed } from './exponential.js';
import { larger, ONE, Rational, smaller, ZERO } from './rational.js';

/** @typedef {Readonly<{lo: Rational, hi: Rational}>} Interval */

/**
 * @param {Rational} lo
 * @param {Rational} hi
 * @returns {Interval}
 */
export function interval(lo, hi) {
  return { lo, hi };
}

/**
 * @param {Rational} value
 * @returns {Interval}
 */
export function exactly(value) {
  return { lo: value, hi: value };
}

/**
 * @param {Interval} a
 * @param {Interval} b
 */
export function add(a, b) {
  return interval(a.lo.plus(b.lo), a.hi.plus(b.hi));
}

/**
 * @param {Interval} a
 * @param {Interval} b
 */
export function subtract(a, b) {
  return interval(a.lo.minus(b.hi), a.hi.minus(b.lo));
}

/**
 * @param {Interval} a
 * @param {Rational} factor
 */
export function multiply(a, factor) {
  const low = a.lo.times(factor);
  const high = a.hi.times(factor);
  return factor.sign() >= 0 ? interval(low, high) : interval(high, low);
}

/**
 * @param {Interval} a
 * @param {Interval} b
 */
export function product(a, b) {
  const ends = [a.lo.times(b.lo), a.lo.times(b.hi), a.hi.times(b.lo), a.hi.times(b.hi)];
  return interval(ends.reduce(smaller), ends.reduce(larger));
}

/**
 * @param {Interval} a
 * @param {number} n at least 0
 * @returns {Interval} the range of v^n
 */
export function powerOf(a, n) {
  const of = (/** @type {Rational} */ v) => Array.from({ length: n }, () => v).reduce((total, factor) => total.times(factor), ONE);
  const [low, high] = [of(a.lo), of(a.hi)];
  if (n % 2 === 1 || a.lo.sign() >= 0) return interval(low, high);
  if (a.hi.sign() <= 0) return interval(high, low);
  return interval(n === 0 ? ONE : ZERO, larger(low, high));
}

/**
 * @param {Interval} a
 * @returns {Rational} the larger absolute value of its ends
 */
export function sizeOf(a) {
  return larger(a.lo.absolute(), a.hi.absolute());
}

/**
 * @param {Interval} a both ends positive
 */
export function reciprocal(a) {
  return interval(ONE.over(a.hi), ONE.over(a.lo));
}

/**
 * The interval widened to ends that are multiples of 2^-bits.
 * @param {Interval} a
 * @param {number} bits
 */
export function roundedOut(a, bits) {
  return interval(Rational.dyadic(a.lo.floor(bits), -bits), Rational.dyadic(a.hi.ceil(bits), -bits));
}

/**
 * @param {Rational} x
 * @param {number} bits
 * @returns {Interval} of exp(x), not wider than a few 2^-bits
 */
export function expOf(x, bits) {
  const { lo, hi } = expFixed(x, bits);
  return interval(Rational.dyadic(lo, -bits), Rational.dyadic(hi, -bits));
}

/**
 * Of exp(y) for every y from x to x + slack, as exp(x + t) <= exp(x) (1 + 2 t) for 0 <= t <= 1.
 * @param {Rational} x
 * @param {Rational} slack from 0 to 1, short
 * @param {number} bits
 * @returns {Interval}
 */
export function expOfNear(x, slack, bits) {
  const { lo, hi } = expOf(x, bits);
  return interval(lo, hi.plus(hi.times(slack).scaled(1)));
}

/**
 * @param {Interval} x
 * @param {number} bits
 */
export function expOfInterval(x, bits) {
  if (x.lo === x.hi) return expOf(x.lo, bits);
  return interval(expOf(x.lo, bits).lo, expOf(x.hi, bits).hi);
}

/**
 * @param {Rational} x positive
 * @param {number} bits
 * @returns {Interval} of log(x)
 */
export function logOf(x, bits) {
  const { lo, hi } = logFixed(x, bits);
  return interval(Rational.dyadic(lo, -bits), Rational.dyadic(hi, -bits));
}

/**
 * sigma(s) = 1 / (1 + exp(-s)), taken of the sign that keeps the exponential below 1.
 * @param {Rational} s
 * @param {number} bits
 * @returns {Interval}
 */
export function sigmaOf(s, bits) {
  const small = expOf(s.absolute().negated(), bits);
  const denominator = interval(ONE.plus(small.lo), ONE.plus(small.hi));
  const above = roundedOut(reciprocal(denominator), bits);
  return s.sign() >= 0 ? above : subtract(exactly(ONE), above);
}

/**
 * softplus(t) = log(1 + exp t) = max(t, 0) + log(1 + exp(-|t|)).
 * @param {Rational} t
 * @param {number} bits
 * @returns {Interval}
 */
export function softplusOf(t, bits) {
  const small = expOf(t.absolute().negated(), bits);
  const rest = interval(logOf(ONE.plus(small.lo), bits).lo, logOf(ONE.plus(small.hi), bits).hi);
  return t.sign() > 0 ? add(exactly(t), rest) : rest;
}

/**
 * H(w) = -sum w log w, with 0 log 0 = 0.
 * @param {Rational[]} weights none negative
 * @param {number} bits
 * @returns {Interval}
 */
export function entropyOf(weights, bits) {
  let total = exactly(ZERO);
  for (const weight of weights) {
    if (!weight.isZero()) total = subtract(total, multiply(logOf(weight, bits), weight));
  }
  return total;
}
