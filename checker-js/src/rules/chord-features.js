/**
 * What features add to the exponents of kernel terms (section 25): gamma D_tk, its range over codes, and sums over the terms of
 * S_t gamma D_tk, in units ("ulps") of 2^-96.
 *
 * Of a number, gamma D_tk(z) = gamma A z^2 - 2 gamma B_t z + gamma C_t. The B_t are rounded down to 2^-(96 + b), where no code is
 * above 2^b in absolute value, and the C_t to ulps: so a sum S_t gamma D_tk(z) is wrong by at most 3 sum abs(S_t) ulps.
 * Of a levels kind gamma D_tk(v) itself is rounded down.
 */

import { bitLength, larger, Rational } from '../exact/rational.js';
import { FALLING_BITS } from '../exact/falling-exponential.js';
import { kernelFeatures } from './kernel-features.js';

/**
 * @typedef {import('../bodies/rbf.js').RbfBody} RbfBody
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../claim/space.js').Feature} Feature
 * @typedef {import('./kernel-features.js').KernelFeature} KernelFeature
 * @typedef {import('./parabola.js').Parabola} Parabola
 */

/** The smallest and the largest gamma D_tk over some codes, one a term, in ulps: not above, and not below. */
/** @typedef {{least: bigint[], most: bigint[]}} Ranges */

/** By how many ulps, times the sum of all abs(S_t), the weighted sums of this file may be too small. */
export const ERROR_OF_SUMS = 3n;
/** By how many ulps `valuesAt` may be wrong: the square by 1, the product by 5, the constant by 1. */
const ERROR_OF_VALUE = 8n;
/** Rows of levels that are remembered, as numbers of terms: more are made anew. */
const REMEMBERED = 2 ** 22;

/** A feature that is a number. */
export class ChordNumber {
  /**
   * @param {KernelFeature} feature
   * @param {Feature} own
   * @param {Rational} gamma
   */
  constructor({ A, B, C }, { lo, hi }, gamma) {
    this.square = gamma.times(A);
    this.codeBits = bitLength(larger(lo.absolute(), hi.absolute()).ceil());
    const slopes = B.map((b) => gamma.times(b));
    this.B = slopes.map((slope) => slope.floor(FALLING_BITS + this.codeBits));
    this.C = C.map((c) => gamma.times(c).floor(FALLING_BITS));
    // Codes are rounded to so many bits that 2 gamma B_t z changes by at most an ulp.
    this.gridBits = FALLING_BITS + bitLength(slopes.map((slope) => slope.absolute()).reduce(larger).scaled(1).ceil());
    this.isConstant = A.isZero();
    /** where each term is smallest, rounded down to the grid, and what it is there */
    this.turns = this.isConstant ? [] : B.map((b) => b.over(A).floor(this.gridBits));
    this.least = this.isConstant ? [] : B.map((b, t) => gamma.times(C[t].minus(b.squared().over(A))).floor(FALLING_BITS));
  }

  /**
   * @param {Rational} z a code
   * @returns {bigint[]} gamma D_tk(z), wrong by less than ERROR_OF_VALUE
   */
  valuesAt(z) {
    const square = this.square.times(z).times(z).floor(FALLING_BITS);
    const place = z.scaled(1).floor(this.gridBits);
    const drop = BigInt(this.codeBits + this.gridBits);
    return this.B.map((b, t) => square - ((b * place) >> drop) + this.C[t]);
  }

  /**
   * @param {Rational} lo
   * @param {Rational} hi
   * @returns {Ranges}
   */
  ranges(lo, hi) {
    const [atLo, atHi] = [this.valuesAt(lo), lo.equals(hi) ? null : this.valuesAt(hi)];
    if (atHi === null) return { least: atLo.map((value) => value - ERROR_OF_VALUE), most: atLo.map((value) => value + ERROR_OF_VALUE) };
    const most = atLo.map((value, t) => (value > atHi[t] ? value : atHi[t]) + ERROR_OF_VALUE);
    // As all of them are rounded down, a place inside of the interval is not left out.
    const [from, to] = [lo.floor(this.gridBits), hi.floor(this.gridBits)];
    const least = atLo.map((value, t) => {
      const end = (value < atHi[t] ? value : atHi[t]) - ERROR_OF_VALUE;
      const isInside = !this.isConstant && from <= this.turns[t] && this.turns[t] <= to;
      return isInside && this.least[t] < end ? this.least[t] : end;
    });
    return { least, most };
  }

  /**
   * @param {bigint[]} S one a term
   * @returns {Parabola} sum S_t gamma D_tk
   */
  weighted(S) {
    let [total, slope, constant] = [0n, 0n, 0n];
    for (let t = 0; t < S.length; t++) {
      const own = S[t];
      if (own === 0n) continue;
      total += own;
      slope += own * this.B[t];
      constant += own * this.C[t];
    }
    return {
      square: Rational.dyadic(total, -FALLING_BITS).times(this.square),
      slope: Rational.dyadic(-slope, 1 - 2 * FALLING_BITS - this.codeBits),
      constant: Rational.dyadic(constant, -2 * FALLING_BITS),
    };
  }
}

/** A feature that is a levels kind. */
export class ChordLevels {
  /**
   * @param {KernelFeature} feature
   * @param {Rational} gamma
   */
  constructor(feature, gamma) {
    this.feature = feature;
    this.gamma = gamma;
    /** of a one-hot feature: gamma D_tk at all positions but the term's own, where it is 0 */
    this.step = gamma.times(feature.distance).floor(FALLING_BITS);
    /** @type {Map<number, bigint[]>} */
    this.rows = new Map();
  }

  /**
   * @param {number} position
   * @returns {bigint[]} gamma D_tk(position), rounded down
   */
  row(position) {
    const known = this.rows.get(position);
    if (known !== undefined) return known;
    const made = this.feature.distances(Rational.of(position)).map((distance) => this.gamma.times(distance).floor(FALLING_BITS));
    if ((this.rows.size + 1) * made.length > REMEMBERED) this.rows.clear();
    this.rows.set(position, made);
    return made;
  }

  /**
   * @param {number} first
   * @param {number} last
   * @returns {Ranges}
   */
  ranges(first, last) {
    const [least, most] = [this.row(first).slice(), this.row(first).slice()];
    for (let v = first + 1; v <= last; v++) {
      const row = this.row(v);
      for (let t = 0; t < row.length; t++) {
        if (row[t] < least[t]) least[t] = row[t];
        else if (row[t] > most[t]) most[t] = row[t];
      }
    }
    return { least, most: most.map((value) => value + 1n) };
  }

  /**
   * @param {bigint[]} S one a term
   * @returns {[bigint, bigint[]]} the sum of all, and of those whose own position each one is
   */
  sumsByLevel(S) {
    const { own } = this.feature;
    /** @type {bigint[]} */
    const apart = [];
    let total = 0n;
    for (let t = 0; t < S.length; t++) {
      total += S[t];
      if (own[t] >= 0) apart[own[t]] = (apart[own[t]] ?? 0n) + S[t];
    }
    return [total, apart];
  }

  /**
   * @param {bigint[]} S one a term
   * @param {number} first
   * @param {number} last
   * @returns {Rational[]} sum S_t gamma D_tk, by position; only those from first to last are there
   */
  weighted(S, first, last) {
    /** @type {Rational[]} */
    const sums = [];
    if (this.feature.sort === 'one-hot') {
      const [total, apart] = this.sumsByLevel(S);
      for (let v = first; v <= last; v++) sums[v] = Rational.dyadic((total - (apart[v] ?? 0n)) * this.step, -2 * FALLING_BITS);
      return sums;
    }
    for (let v = first; v <= last; v++) {
      const row = this.row(v);
      let total = 0n;
      for (let t = 0; t < S.length; t++) if (S[t] !== 0n) total += S[t] * row[t];
      sums[v] = Rational.dyadic(total, -2 * FALLING_BITS);
    }
    return sums;
  }
}

/**
 * @param {RbfBody} body
 * @param {Space} space
 * @returns {{kernel: KernelFeature[], features: (ChordNumber | ChordLevels)[]}}
 */
export function chordFeatures(body, space) {
  const kernel = kernelFeatures(body, space);
  const features = kernel.map((feature, k) => {
    const own = space.features[k];
    return own.levels === null ? new ChordNumber(feature, own, body.gamma) : new ChordLevels(feature, body.gamma);
  });
  return { kernel, features };
}
