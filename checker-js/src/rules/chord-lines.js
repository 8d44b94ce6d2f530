/**
 * Lines above terms c exp(-Q) of a kernel model (section 25, "Lines" and "Rounding"): c exp(-Q) <= constant + S Q for all Q from
 * least to most. c, Q and S are in units ("ulps") of 2^-96, constants in units of 2^-192.
 */

import { ceilShift } from '../exact/exponential.js';
import { FALLING_BITS, fallingExponential } from '../exact/falling-exponential.js';

/** @typedef {{S: bigint[], constant: bigint}} Lines the slope of each term, and the sum of the constants */

const SHIFT = BigInt(FALLING_BITS);
const SIX = 6n << SHIFT;
const TWELVE = 12n << SHIFT;

/** What one line is made of; the last one that was made is remembered in these two. */
class LineAbove {
  constructor() {
    this.S = 0n;
    this.constant = 0n;
  }

  /**
   * c (e + m (most - Q)), e >= exp(-most) and e + m (most - least) >= exp(-least).
   * @param {bigint} c above 0
   * @param {bigint} least
   * @param {bigint} most
   */
  chord(c, least, most) {
    const e = fallingExponential(most).hi;
    const rise = fallingExponential(least).hi - e;
    // c m, rounded up.
    const slope = rise <= 0n || most === least ? 0n : (c * rise - 1n) / (most - least) + 1n;
    this.S = -slope;
    this.constant = c * e + slope * most;
  }

  /**
   * -n + (size exp(-p) - n) max(0, most - p) + n (Q - p), n <= size exp(-p).
   * @param {bigint} size -c, above 0
   * @param {bigint} least
   * @param {bigint} most
   */
  tangent(size, least, most) {
    const width = most - least;
    const p = least + (SIX * width) / (TWELVE + width);
    const { lo, hi } = fallingExponential(p);
    const n = (size * lo) >> SHIFT;
    const lost = size * hi - (n << SHIFT);
    this.S = n;
    this.constant = ceilShift(lost * (most - p), SHIFT) - (n << SHIFT) - n * p;
  }

  /**
   * c e, 0 <= e <= exp(-most).
   * @param {bigint} size -c, above 0
   * @param {bigint} most
   */
  flat(size, most) {
    this.S = 0n;
    this.constant = -size * fallingExponential(most).lo;
  }
}

/**
 * @param {bigint[]} factors c_t, rounded up
 * @param {bigint[]} least L_t >= 0, not above the least Q_t
 * @param {bigint[]} most R_t, not below the largest Q_t
 * @param {bigint} widest up to which width tangents are taken
 * @param {() => void} tick
 * @returns {Lines}
 */
export function linesAbove(factors, least, most, widest, tick) {
  const line = new LineAbove();
  /** @type {bigint[]} */
  const S = [];
  let constant = 0n;
  for (let t = 0; t < factors.length; t++) {
    tick();
    const c = factors[t];
    if (c === 0n) {
      S.push(0n);
      continue;
    }
    if (c > 0n) line.chord(c, least[t], most[t]);
    else if (most[t] - least[t] <= widest) line.tangent(-c, least[t], most[t]);
    else line.flat(-c, most[t]);
    S.push(line.S);
    constant += line.constant;
  }
  return { S, constant };
}
