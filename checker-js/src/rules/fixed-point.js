/** Fixed-point numbers of the rule `kernel`: integers in units ("ulps") of 2^-128. */

import { expOfNear } from '../exact/interval.js';
import { bitLength, Rational } from '../exact/rational.js';

export const FIXED_BITS = 128;
export const FIXED_SHIFT = BigInt(FIXED_BITS);

/** Exponents are sums of numbers with many denominators: each is rounded down to a multiple of 2^-256. */
export const EXPONENT_BITS = 256;

/**
 * factor exp(exponent), rounded, with the largest possible error in ulps.
 * @param {Rational} factor
 * @param {bigint} exponent in units of 2^-256, rounded down
 * @param {number} roundings how many units the exponent can be larger
 * @returns {{value: bigint, error: bigint}}
 */
export function fixedProduct(factor, exponent, roundings) {
  if (factor.isZero()) return { value: 0n, error: 0n };
  const bits = FIXED_BITS + bitLength(factor.ceil()) + bitLength(factor.floor()) + 4;
  const slack = Rational.dyadic(BigInt(roundings), -EXPONENT_BITS);
  const { lo, hi } = expOfNear(Rational.dyadic(exponent, -EXPONENT_BITS), slack, bits);
  const [one, other] = [lo.times(factor), hi.times(factor)];
  const [low, high] = factor.sign() > 0 ? [one, other] : [other, one];
  const value = low.floor(FIXED_BITS);
  return { value, error: high.ceil(FIXED_BITS) - value };
}

/**
 * The absolute value is rounded down, so that bounds of a sum of absolute values stay bounds.
 * @param {Rational} value
 */
export function towardsZero(value) {
  return value.sign() >= 0 ? value.floor(FIXED_BITS) : value.ceil(FIXED_BITS);
}

/** @param {bigint} value */
export function absolute(value) {
  return value < 0n ? -value : value;
}

/**
 * The smallest whole number from the absolute value of a fixed-point number on.
 * @param {bigint} value
 */
export function wholeAbove(value) {
  return (absolute(value) >> FIXED_SHIFT) + 1n;
}
