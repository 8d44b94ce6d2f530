/**
 * exp(-x) at very many places x >= 0, in fixed point: quicker than `exponential.js`, by tables that are filled from there.
 *
 * x is the sum of a whole number, of i/2^8, j/2^16 and k/2^24 with i, j, k below 2^8, and of a rest t below 2^-24, so that exp(-x)
 * is a product of four entries and of 1 - t + t^2/2 - t^3/6 + t^4/24, whose error is below t^5/120 < 2^-126.
 */

import { expFixed } from './exponential.js';
import { Rational } from './rational.js';

/** @typedef {import('./exponential.js').FixedBounds} FixedBounds */

/** x and exp(-x) are in units of 2^-96. */
export const FALLING_BITS = 96;
const UNIT_SHIFT = BigInt(FALLING_BITS);
/** Products are in units of 2^-128. */
const WORK_BITS = 128;
const WORK_SHIFT = BigInt(WORK_BITS);
const GUARD_SHIFT = WORK_SHIFT - UNIT_SHIFT;
const ONE = 1n << WORK_SHIFT;

/** exp(-67) is below 2^-96. */
const NOTHING_LEFT = 67n << UNIT_SHIFT;
/** The powers of 2 that the entries of the four tables are counted in. */
const STEPS = Object.freeze([0, 8, 16, 24]);
const REST = (1n << (UNIT_SHIFT - 24n)) - 1n;

/** By how many units of 2^-128 an entry may be too small. */
const ERROR_OF_ENTRY = 4n;
/** By how many the polynomial may be wrong: four terms rounded, and what is left out of the series. */
const ERROR_OF_REST = 8n;
/** By how many a product may be too small: those of its factors, which are at most 1, twice that of the rest, four roundings. */
const ERROR = 4n * ERROR_OF_ENTRY + 2n * ERROR_OF_REST + 4n;

/** @type {(bigint | undefined)[][]} by the place in STEPS and the number of steps */
const tables = STEPS.map(() => []);

/**
 * @param {number} table
 * @param {number} steps
 * @returns {bigint} exp(-steps / 2^STEPS[table]), rounded down
 */
function entry(table, steps) {
  const known = tables[table][steps];
  if (known !== undefined) return known;
  const { lo, hi } = expFixed(Rational.dyadic(BigInt(-steps), -STEPS[table]), WORK_BITS);
  if (hi - lo > ERROR_OF_ENTRY) throw new Error('bounds of an exponential that are too far apart');
  const made = lo < ONE ? lo : ONE;
  tables[table][steps] = made;
  return made;
}

/**
 * @param {bigint} x at least 0, standing for x / 2^96
 * @returns {FixedBounds} of exp(-x / 2^96), over 2^96
 */
export function fallingExponential(x) {
  if (x >= NOTHING_LEFT) return { lo: 0n, hi: 1n };
  let product = entry(0, Number(x >> UNIT_SHIFT));
  for (let table = 1; table < STEPS.length; table++) {
    const steps = Number((x >> (UNIT_SHIFT - BigInt(STEPS[table]))) & 255n);
    if (steps !== 0) product = (product * entry(table, steps)) >> WORK_SHIFT;
  }
  const t = (x & REST) << GUARD_SHIFT;
  const square = (t * t) >> WORK_SHIFT;
  const cube = (square * t) >> WORK_SHIFT;
  const fourth = (cube * t) >> WORK_SHIFT;
  const rest = ONE - t + square / 2n - cube / 6n + fourth / 24n - ERROR_OF_REST;
  const lo = (product * rest) >> WORK_SHIFT;
  return { lo: lo >> GUARD_SHIFT, hi: ((lo + ERROR) >> GUARD_SHIFT) + 1n };
}
