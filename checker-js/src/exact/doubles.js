/** The finite doubles m 2^e, abs(m) < 2^53, -1074 <= e <= 971 (section 2, "Space"), told apart without using any. */

import { bitLength, Rational } from './rational.js';

const DIGITS = 53;
const LOWEST = -1074;
const HIGHEST = 971;

/** @param {Rational} value */
export function isDouble(value) {
  if (value.isZero()) return true;
  const { above, below, power } = value.reduced();
  const length = bitLength(above);
  return below === 1n && length <= DIGITS && power >= LOWEST && length + power <= DIGITS + HIGHEST;
}

/**
 * @param {Rational} value a double
 * @returns {Rational | null} the smallest double above it; null above the largest one
 */
export function nextDouble(value) {
  if (value.isZero()) return Rational.dyadic(1n, LOWEST);
  const { above, power } = value.reduced();
  const step = Math.max(LOWEST, power + bitLength(above) - DIGITS);
  const mantissa = above << BigInt(power - step);
  // Just below a power of 2 (in absolute value) doubles are twice as dense, but not among the smallest ones.
  const shrinking = mantissa === -(1n << BigInt(DIGITS - 1)) && step > LOWEST;
  const next = shrinking ? Rational.dyadic(2n * mantissa + 1n, step - 1) : Rational.dyadic(mantissa + 1n, step);
  return isDouble(next) ? next : null;
}

/**
 * @param {Rational} lo
 * @param {Rational} hi at least lo
 * @returns {boolean} whether a double lies in [lo, hi]
 */
export function holdsDouble(lo, hi) {
  const first = firstDoubleFrom(lo);
  return first !== null && first.atMost(hi);
}

/**
 * @param {Rational} value
 * @returns {Rational | null} the smallest double that is not below it; null above the largest one
 */
export function firstDoubleFrom(value) {
  if (value.isZero()) return value;
  const largest = Rational.dyadic((1n << BigInt(DIGITS)) - 1n, HIGHEST);
  if (largest.less(value)) return null;
  if (value.atMost(largest.negated())) return largest.negated();
  const { above, below, power } = value.reduced();
  // |value| is at least 2^magnitude and less than 2^(magnitude + 1).
  let magnitude = bitLength(above) - bitLength(below) + power;
  if (value.absolute().less(Rational.dyadic(1n, magnitude))) magnitude -= 1;
  const step = Math.max(LOWEST, magnitude - DIGITS + 1);
  return Rational.dyadic(value.ceil(-step), step);
}

/**
 * @param {Rational} value
 * @returns {Rational | null} the largest double that is not above it; null below the smallest one
 */
export function lastDoubleTo(value) {
  return firstDoubleFrom(value.negated())?.negated() ?? null;
}
