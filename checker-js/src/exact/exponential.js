/**
 * Rigorous bounds of exp and log at rationals, in fixed-point integers.
 *
 * Every rounding goes outwards: what stands in `lo` is rounded down, what stands in `hi` is rounded up, and series of
 * positive terms are cut with the rest added to `hi`. So there is no error analysis to trust.
 */

import { bitLength, floorDivide, Rational } from './rational.js';

/**
 * Two integers: lo / 2^bits <= value <= hi / 2^bits.
 * @typedef {{lo: bigint, hi: bigint}} FixedBounds
 */

/** x is halved this often before the series of exp is summed up, which is then squared as often. */
const HALVINGS = 8;
const GUARD_BITS = 32;

/**
 * @param {bigint} a
 * @param {bigint} b positive
 */
function ceilDivide(a, b) {
  return -floorDivide(-a, b);
}

/**
 * @param {bigint} value
 * @param {bigint} bits
 * @returns {bigint} value / 2^bits, rounded up
 */
export function ceilShift(value, bits) {
  return -(-value >> bits);
}

/**
 * artanh(1/n) = 1/n + 1/(3 n^3) + 1/(5 n^5) + ...
 * @param {bigint} top
 * @param {bigint} bottom at least 3 * top
 * @param {bigint} bits
 * @returns {FixedBounds} of artanh(top / bottom), top >= 0
 */
function artanh(top, bottom, bits) {
  let lowPower = (top << bits) / bottom;
  let highPower = ceilDivide(top << bits, bottom);
  let lo = 0n;
  let hi = 0n;
  for (let k = 1n; ; k += 2n) {
    lo += lowPower / k;
    hi += ceilDivide(highPower, k);
    if (highPower <= 1n) break;
    lowPower = (lowPower * top * top) / (bottom * bottom);
    highPower = ceilDivide(highPower * top * top, bottom * bottom);
  }
  // The rest is at most the last term, at most 1, times 1/9 + 1/81 + ...
  return { lo, hi: hi + 1n };
}

/** @type {Map<bigint, FixedBounds>} */
const logarithmsOfTwo = new Map();

/**
 * @param {bigint} bits
 * @returns {FixedBounds} of log 2 = 2 artanh(1/3)
 */
function logOfTwo(bits) {
  const known = logarithmsOfTwo.get(bits);
  if (known !== undefined) return known;
  const { lo, hi } = artanh(1n, 3n, bits);
  const bounds = { lo: 2n * lo, hi: 2n * hi };
  if (logarithmsOfTwo.size > 64) logarithmsOfTwo.clear();
  logarithmsOfTwo.set(bits, bounds);
  return bounds;
}

/**
 * The series of exp(y), y = x / 2^HALVINGS < 1/2, rounded down, then squared HALVINGS times. Of the series, each term is less
 * than 4 units too small (half the error of the one before, and two roundings of less than one), the rest is less than a
 * unit, and y is less than a unit too small, which is less than 4 units of exp(y): that is added for `hi`.
 * @param {bigint} x from 0 to 2^bits, standing for x / 2^bits
 * @param {bigint} bits
 * @returns {FixedBounds} of exp(x / 2^bits)
 */
function expOfSmall(x, bits) {
  const y = x >> BigInt(HALVINGS);
  let term = 1n << bits;
  let lo = term;
  let terms = 0n;
  while (term > 0n) {
    terms += 1n;
    term = ((term * y) >> bits) / terms;
    lo += term;
  }
  let hi = lo + 4n * terms + 8n;
  for (let i = 0; i < HALVINGS; i++) {
    lo = (lo * lo) >> bits;
    hi = ceilShift(hi * hi, bits);
  }
  return { lo, hi };
}

/**
 * Bounds of exp(x) whose distance is at most 2^-bits, for x up to a few thousands.
 * @param {Rational} x
 * @param {number} bits
 * @returns {FixedBounds} over 2^bits
 */
export function expFixed(x, bits) {
  // log 2 > 1/2, so that exp(x) < 2^-bits if x < -bits.
  if (x.less(Rational.of(-bits))) return { lo: 0n, hi: 1n };
  const magnitude = Number(x.ceil() > 0n ? x.ceil() : 0n);
  const work = BigInt(bits + 2 * magnitude + GUARD_BITS + 16);
  const two = logOfTwo(work);
  const point = x.floor(Number(work));
  const doublings = floorDivide(point, two.lo);
  // point - doublings log 2 <= x 2^work - doublings log 2 <= point + 1 - doublings log 2.
  const [nearTwo, farTwo] = doublings >= 0n ? [two.lo, two.hi] : [two.hi, two.lo];
  const lowRest = point - doublings * farTwo;
  const highRest = point + 1n - doublings * nearTwo;
  const start = lowRest > 0n ? lowRest : 0n;
  const { lo, hi } = expOfSmall(start, work);
  const drop = work - BigInt(bits) - doublings;
  // exp(rest) with a rest below 0 (by a rounding of log 2) is at least 1 - |rest|; exp(s + t) <= exp(s) (1 + 2 t) for t <= 1.
  const below = lowRest < 0n ? -lowRest : 0n;
  const above = ceilShift(2n * hi * (highRest - start), work);
  return { lo: shift(lo - below, drop), hi: shiftUp(hi + above, drop) };
}

/**
 * @param {bigint} value
 * @param {bigint} drop
 */
function shift(value, drop) {
  return drop >= 0n ? value >> drop : value << -drop;
}

/**
 * @param {bigint} value
 * @param {bigint} drop
 */
function shiftUp(value, drop) {
  return drop >= 0n ? ceilShift(value, drop) : value << -drop;
}

/**
 * Bounds of log(x) whose distance is about 2^-bits.
 * @param {Rational} x positive
 * @param {number} bits
 * @returns {FixedBounds} over 2^bits
 */
export function logFixed(x, bits) {
  const numerator = x.two > 0 ? x.top << BigInt(x.two) : x.top;
  const denominator = x.two < 0 ? x.odd << BigInt(-x.two) : x.odd;
  // x = 2^power * m with 1/2 < m < 2, so that z = (m - 1) / (m + 1) has an absolute value below 1/3.
  const power = bitLength(numerator) - bitLength(denominator);
  const top = power < 0 ? numerator << BigInt(-power) : numerator;
  const bottom = power > 0 ? denominator << BigInt(power) : denominator;
  const work = BigInt(bits + GUARD_BITS + 32);
  const two = logOfTwo(work);
  const above = top >= bottom;
  const rest = artanh(above ? top - bottom : bottom - top, top + bottom, work);
  const logM = above ? { lo: 2n * rest.lo, hi: 2n * rest.hi } : { lo: -2n * rest.hi, hi: -2n * rest.lo };
  const times = BigInt(power);
  const lo = logM.lo + times * (times >= 0n ? two.lo : two.hi);
  const hi = logM.hi + times * (times >= 0n ? two.hi : two.lo);
  const drop = work - BigInt(bits);
  return { lo: lo >> drop, hi: ceilShift(hi, drop) };
}
