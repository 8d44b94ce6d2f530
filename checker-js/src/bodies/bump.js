/** A bump exp(-gamma d) of a squared distance d, as `rbf` and `mixed` add them up. */

import { exactly, expOfNear } from '../exact/interval.js';
import { ONE, Rational } from '../exact/rational.js';

/** @typedef {import('../exact/interval.js').Interval} Interval */

/**
 * @param {Rational} gamma
 * @param {bigint} distance the squares of d, each rounded up to a multiple of 2^-work, added up in units of that
 * @param {number} work
 * @param {Rational} slack by which gamma d may be too large for that
 * @param {number} bits
 * @returns {Interval} of the bump, which is 1 where d is 0: rounding up leaves 0 only of 0
 */
export function bumpAt(gamma, distance, work, slack, bits) {
  if (distance === 0n) return exactly(ONE);
  return expOfNear(gamma.times(Rational.dyadic(distance, -work)).negated(), slack, bits);
}
