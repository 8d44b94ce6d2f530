/**
 * Cubics that bound exp on abs(L) <= h (section 7, "One-sided cubics" and "Two expansions"), as fixed-point coefficients that
 * are off by at most one ulp each. All for h a multiple of 1/1024, given as h * 1024.
 */

import { add, exactly, expOf, interval, multiply, subtract } from '../exact/interval.js';
import { ONE, Rational } from '../exact/rational.js';
import { FIXED_BITS } from './fixed-point.js';

/** @typedef {import('../exact/interval.js').Interval} Interval */

/**
 * @typedef {object} Cubics
 * @property {bigint[]} upper c_0, ..., c_3 of a cubic >= exp
 * @property {bigint[]} lower of a cubic <= exp
 * @property {bigint[]} middle of P: exp(L) - exp(L') <= P(L) - P(L') + slack |L - L'|
 * @property {bigint} slack an upper bound of eps
 * @property {bigint} size a whole number from exp(h) on
 * @property {bigint} powers a whole number from 1 + 2h + 4h^2 + 8h^3 on
 */

/** Divisions by h^3 >= 2^-30 cost 30 bits, exp(64) costs 93. */
const WORK_BITS = FIXED_BITS + 160;

/** @type {Map<bigint, Cubics>} */
const known = new Map();

/**
 * @param {bigint} h1024 at least 0
 * @returns {Cubics}
 */
export function cubicsFor(h1024) {
  const before = known.get(h1024);
  if (before !== undefined) return before;
  const made = h1024 === 0n ? cubicsAtZero() : makeCubics(Rational.dyadic(h1024, -10));
  if (known.size > 4096) known.clear();
  known.set(h1024, made);
  return made;
}

/** @returns {Cubics} all are 1 + L + L^2/2 + L^3/6, and only L = 0 matters */
function cubicsAtZero() {
  const series = [1n, 1n, 2n, 6n].map((n) => Rational.fraction(1n, n).floor(FIXED_BITS));
  return { upper: series, lower: series, middle: [0n, ...series.slice(1)], slack: 0n, size: 1n, powers: 1n };
}

/**
 * @param {Rational} h positive
 * @returns {Cubics}
 */
function makeCubics(h) {
  const whole = h.ceil();
  const { slack, middle } = chebyshev(h);
  return {
    upper: upperCubic(h).map(nearest),
    lower: lowerCubic(h).map(nearest),
    middle: middle.map(nearest),
    slack: slack.hi.ceil(FIXED_BITS),
    size: expOf(h, WORK_BITS).hi.ceil(),
    powers: 1n + 2n * whole + 4n * whole ** 2n + 8n * whole ** 3n,
  };
}

/**
 * @param {Interval} value much narrower than an ulp
 * @returns {bigint} within one ulp of it
 */
function nearest({ lo }) {
  return (lo.floor(FIXED_BITS + 1) + 1n) >> 1n;
}

/**
 * @param {Rational} h
 * @returns {{cosh: Interval, sinh: Interval}}
 */
function hyperbolic(h) {
  const up = expOf(h, WORK_BITS);
  const down = expOf(h.negated(), WORK_BITS);
  const half = Rational.dyadic(1n, -1);
  return { cosh: multiply(add(up, down), half), sinh: multiply(subtract(up, down), half) };
}

/**
 * 1 + L + (cosh h - 1)/h^2 L^2 + (sinh h - h)/h^3 L^3
 * @param {Rational} h
 */
function upperCubic(h) {
  const { cosh, sinh } = hyperbolic(h);
  const inverse = ONE.over(h);
  return [
    exactly(ONE),
    exactly(ONE),
    multiply(subtract(cosh, exactly(ONE)), inverse.squared()),
    multiply(subtract(sinh, exactly(h)), inverse.squared().times(inverse)),
  ];
}

/**
 * (cosh a - a sinh a / 2) + (3 sinh a - a cosh a)/(2a) L + sinh a/(2a) L^2 + (a cosh a - sinh a)/(2a^3) L^3, a = h/2
 * @param {Rational} h
 */
function lowerCubic(h) {
  const a = h.half();
  const { cosh, sinh } = hyperbolic(a);
  const inverse = ONE.over(a);
  const half = inverse.half();
  return [
    subtract(cosh, multiply(sinh, a.half())),
    multiply(subtract(multiply(sinh, Rational.of(3)), multiply(cosh, a)), half),
    multiply(sinh, half),
    multiply(subtract(multiply(cosh, a), sinh), half.times(inverse.squared())),
  ];
}

/**
 * P(L) = (I_0 - 2 I_2) L + (I_1 / h) L^2 + (4 I_2 / (3 h^2)) L^3 and eps = exp(h) - I_0 - 2 I_1 - 2 I_2.
 * @param {Rational} h
 * @returns {{middle: Interval[], slack: Interval}}
 */
function chebyshev(h) {
  const [i0, i1, i2] = [0, 1, 2].map((order) => besselOf(order, h));
  const inverse = ONE.over(h);
  const two = Rational.of(2);
  const middle = [
    exactly(Rational.of(0)),
    subtract(i0, multiply(i2, two)),
    multiply(i1, inverse),
    multiply(i2, Rational.fraction(4n, 3n).times(inverse.squared())),
  ];
  const series = add(i0, multiply(add(i1, i2), two));
  return { middle, slack: subtract(expOf(h, WORK_BITS), series) };
}

/**
 * I_n(h) = sum_k (h/2)^(2k+n) / (k! (k+n)!)
 * @param {number} order
 * @param {Rational} h at most a few hundreds
 * @returns {Interval}
 */
function besselOf(order, h) {
  const quarter = h.half().squared();
  let term = Rational.of(1);
  for (let n = 1; n <= order; n++) term = term.times(h.half()).over(Rational.of(n));
  let low = term.floor(WORK_BITS);
  let high = term.ceil(WORK_BITS);
  let [lo, hi] = [0n, 0n];
  for (let k = 1n; ; k += 1n) {
    lo += low;
    hi += high;
    const ratio = quarter.over(Rational.of(k * (k + BigInt(order))));
    // From here on every term is at most half of the one before, so that the rest is at most the last term.
    if (ratio.scaled(1).atMost(ONE) && high <= 1n) return interval(Rational.dyadic(lo, -WORK_BITS), Rational.dyadic(hi + high, -WORK_BITS));
    low = Rational.of(low).times(ratio).floor();
    high = Rational.of(high).times(ratio).ceil();
  }
}
