/**
 * The score line of a kernel model as a sum of cubics (section 7): sum_t C_t exp(L_t), less the same of the second copy, is
 * at most a sum over terms of q_0 + q_1 Z + q_2 Z^2 + q_3 Z^3, plus a number.
 *
 * Factors C_t and loads are rounded once, to whole ulps; what that can change is added up in `error`, and everything after
 * it is said of the rounded ones. With |C - C~| <= r, |L - L~| <= n ulps (one an axis) and |L|, |L~| <= h,
 *     C exp L  <=  C~ exp L~  +  r exp h  +  |C~| n exp h.
 */

import { Rational } from '../exact/rational.js';
import { require } from '../rejection.js';
import { absolute, FIXED_SHIFT, fixedProduct, towardsZero, wholeAbove } from './fixed-point.js';
import { KernelAxes } from './kernel-axes.js';
import { cubicsFor } from './kernel-cubics.js';

/** @typedef {import('./kernel-cubics.js').Cubics} Cubics */

/**
 * @typedef {object} CubicTerm
 * @property {[bigint, bigint, bigint, bigint]} q coefficients of powers of Z, in ulps
 * @property {bigint[]} loads of the numeric axes, in ulps
 * @property {number[]} own of the one-hot axes: the term's place in P, or -1
 */

const LARGEST_H = 64n * 1024n;

/**
 * One copy of a term: C exp(L), L = shift + Z.
 * @typedef {{factor: bigint, error: bigint, loads: bigint[], own: number[], shift: bigint, h1024: bigint}} Expansion
 */

export class Expansions {
  /**
   * @param {KernelAxes} axes
   * @param {Rational[]} firstFactors a F_t
   * @param {Rational[]} secondFactors b G_t
   */
  constructor(axes, firstFactors, secondFactors) {
    this.axes = axes;
    this.axisCount = BigInt(axes.numeric.length + axes.oneHot.length);
    /** @type {CubicTerm[]} */
    this.terms = [];
    /** what rounding can add, in ulps */
    this.error = 0n;
    /** what differences of exponentials add, in ulps */
    this.constant = 0n;
    firstFactors.forEach((factor, t) => {
      if (axes.twoCopies) this.addTwoCopies(t, factor, secondFactors[t]);
      else this.addOneCopy(t, factor, secondFactors[t]);
    });
  }

  /**
   * @param {number} t
   * @param {0 | 1} copy
   * @param {Rational} weight a F_t or b G_t
   */
  factor(t, copy, weight) {
    return fixedProduct(weight, this.axes.exponents[copy][t], this.axes.roundings);
  }

  /**
   * @param {number} t
   * @param {0 | 1} copy
   * @param {{value: bigint, error: bigint}} factor C_t
   * @returns {Expansion}
   */
  expansion(t, copy, { value, error }) {
    const loads = this.axes.numeric.map((axis) => towardsZero(axis.loads[copy][t]));
    const own = this.axes.oneHot.map((axis) => axis.own[t]);
    const shift = -this.axes.oneHot.reduce((total, axis) => total + (axis.own[t] < 0 ? 0n : axis.zeta / 2n), 0n);
    // Where ulps were dropped, less than one an axis, h_t is a little larger than the sum of what is left.
    const moves = this.axes.numeric.some((axis) => !axis.loads[copy][t].isZero()) || own.some((place) => place >= 0);
    const inexact = moves ? this.axisCount : 0n;
    const size = loads.reduce((total, load) => total + absolute(load), absolute(shift)) + inexact;
    const h1024 = -((-size * 1024n) >> FIXED_SHIFT);
    require(h1024 <= LARGEST_H, 'kernel: an exponent that moves by more than 64');
    const { size: exponential } = cubicsFor(h1024);
    this.error += error * exponential + wholeAbove(value) * this.axisCount * exponential;
    return { factor: value, error, loads, own, shift, h1024 };
  }

  /**
   * C_t = a F_t exp(...) - b G_t exp(...): both copies have the same loads.
   * @param {number} t
   * @param {Rational} first
   * @param {Rational} second
   */
  addOneCopy(t, first, second) {
    const plus = this.factor(t, 0, first);
    const minus = this.factor(t, 1, second);
    const expansion = this.expansion(t, 0, { value: plus.value - minus.value, error: plus.error + minus.error });
    this.addCubic(expansion, expansion.factor, 0n, 0n);
  }

  /**
   * C exp L - C' exp L' <= m P(L) + (C - m) p(L)  -  m P(L') - (C' - m) p'(L')  +  |m| eps g
   * @param {number} t
   * @param {Rational} firstFactor
   * @param {Rational} secondFactor
   */
  addTwoCopies(t, firstFactor, secondFactor) {
    const first = this.expansion(t, 0, this.factor(t, 0, firstFactor));
    const second = this.expansion(t, 1, this.factor(t, 1, secondFactor));
    const h1024 = first.h1024 > second.h1024 ? first.h1024 : second.h1024;
    const gap = first.loads.reduce((total, load, f) => total + absolute(load - second.loads[f]), 0n);
    const near = 2n * gap * 1024n <= h1024 << FIXED_SHIFT;
    const shared = near ? commonPart(first.factor, second.factor) : 0n;
    const { slack } = cubicsFor(h1024);
    this.constant += ((absolute(shared) * slack * gap) >> (2n * FIXED_SHIFT)) + 1n;
    this.addCubic(first, first.factor - shared, shared, h1024);
    this.addCubic(second, shared - second.factor, -shared, h1024);
  }

  /**
   * Adds factor p(L) + shared P(L), with p >= exp if the factor is positive and p <= exp if it is negative.
   * @param {Expansion} expansion
   * @param {bigint} factor
   * @param {bigint} shared
   * @param {bigint} sharedH1024
   */
  addCubic({ loads, own, shift, h1024 }, factor, shared, sharedH1024) {
    const { upper, lower, powers } = cubicsFor(h1024);
    const oneSided = factor > 0n ? upper : lower;
    const { middle, powers: sharedPowers } = cubicsFor(sharedH1024);
    const cubic = oneSided.map((coefficient, j) => (factor * coefficient + shared * middle[j]) >> FIXED_SHIFT);
    // Coefficients of the cubics are off by an ulp; then two roundings down, each times a power of L or of Z, |Z| <= 2h.
    const most = powers > sharedPowers ? powers : sharedPowers;
    this.error += (wholeAbove(factor) + wholeAbove(shared) + 2n) * most;
    this.terms.push({ q: shifted(cubic, shift), loads, own });
  }
}

/**
 * The one with the smaller absolute value, 0 if they do not have one sign.
 * @param {bigint} a
 * @param {bigint} b
 */
function commonPart(a, b) {
  if (a > 0n !== b > 0n || a === 0n || b === 0n) return 0n;
  return absolute(a) < absolute(b) ? a : b;
}

/**
 * The coefficients in Z of a cubic in L = k + Z.
 * @param {bigint[]} cubic
 * @param {bigint} k
 * @returns {[bigint, bigint, bigint, bigint]}
 */
function shifted([c0, c1, c2, c3], k) {
  const s = FIXED_SHIFT;
  return [
    c0 + ((((c1 << (2n * s)) + (c2 * k << s) + c3 * k * k) * k) >> (3n * s)),
    c1 + (((2n * c2 << s) + 3n * c3 * k) * k >> (2n * s)),
    c2 + ((3n * c3 * k) >> s),
    c3,
  ];
}
