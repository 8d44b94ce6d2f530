/**
 * The amounts of a separable majorant of a sum of cubics (section 7, the table of "A separable majorant"): every product of axes
 * goes to one place, row by row. What becomes of them is in kernel-majorant.js.
 *
 * All amounts are in ulps. Each of them belongs to a product of absolute value at most 1, so that rounding it down by less than
 * an ulp is made good by one ulp: `roundings` counts them.
 */

import { floorDivide } from '../exact/rational.js';
import { absolute, FIXED_SHIFT } from './fixed-point.js';
import { KernelAxes } from './kernel-axes.js';

/** @typedef {import('./kernel-expansion.js').CubicTerm} CubicTerm */

export class KernelAmounts {
  /**
   * @param {KernelAxes} axes
   * @param {CubicTerm[]} terms
   * @param {() => void} tick called now and then
   */
  constructor(axes, terms, tick) {
    this.axes = axes;
    this.terms = terms;
    this.tick = tick;
    this.roundings = 0n;
    const numeric = axes.numeric.length;
    this.constant = terms.reduce((total, { q }) => total + q[0], 0n);
    /** n1, n2, n3 of the numeric axes */
    this.n1 = zeros(numeric);
    this.n2 = zeros(numeric);
    this.n3 = zeros(numeric);
    this.tables = axes.oneHot.map(({ positions }) => zeros(positions.length));
    /** @type {bigint[][]} what is taken from the tables after pairs were eliminated (section 20) */
    this.takenLater = axes.oneHot.map(({ positions }) => zeros(positions.length));
    /** @type {Map<number, bigint>} G_fl at numeric * f + l, f < l */
    this.products = new Map();
    /** @type {bigint[][][]} N1[v] of (i, f) */
    this.first = axes.oneHot.map(({ positions }) => axes.numeric.map(() => zeros(positions.length)));
    /** @type {bigint[][][]} N2[v] of (i, f) */
    this.second = axes.oneHot.map(({ positions }) => axes.numeric.map(() => zeros(positions.length)));
    /** @type {bigint[][][][]} pair_ij[v][u], i < j */
    this.pairs = axes.oneHot.map((a, i) =>
      axes.oneHot.map((b, j) => (i < j ? a.positions.map(() => zeros(b.positions.length)) : [])),
    );
    this.addNumericProducts();
    this.addOneHotProducts();
    this.addMixedProducts();
  }

  /**
   * @param {bigint} amount in units of 2^-(128 scale)
   * @param {bigint} scale
   * @returns {bigint} in ulps
   */
  rounded(amount, scale) {
    if (amount === 0n) return 0n;
    this.roundings += 1n;
    return amount >> (FIXED_SHIFT * (scale - 1n));
  }

  /** Rows f, f l, f f l and f l o of the table. */
  addNumericProducts() {
    const count = this.axes.numeric.length;
    for (let f = 0; f < count; f++) {
      this.tick();
      let [one, two, three] = [0n, 0n, 0n];
      for (const { q, loads } of this.terms) {
        const load = loads[f];
        if (load === 0n) continue;
        one += q[1] * load;
        const square = load * load;
        two += q[2] * square;
        three += q[3] * square * load;
      }
      this.n1[f] += this.rounded(one, 2n);
      this.n2[f] += this.rounded(two, 3n);
      this.n3[f] += this.rounded(three, 4n);
    }
    for (let f = 0; f < count; f++) for (let l = f + 1; l < count; l++) this.addPairOfNumeric(f, l);
  }

  /**
   * @param {number} f
   * @param {number} l
   */
  addPairOfNumeric(f, l) {
    this.tick();
    const count = this.axes.numeric.length;
    let [product, ffl, fll] = [0n, 0n, 0n];
    const triples = zeros(count);
    for (const { q, loads } of this.terms) {
      const both = loads[f] * loads[l];
      if (both === 0n) continue;
      product += q[2] * both;
      const cubic = q[3] * both;
      ffl += cubic * loads[f];
      fll += cubic * loads[l];
      for (let o = l + 1; o < count; o++) triples[o] += cubic * loads[o];
    }
    this.addProduct(f, l, this.rounded(2n * product, 3n));
    this.addSquareTimes(l, this.rounded(3n * ffl, 4n));
    this.addSquareTimes(f, this.rounded(3n * fll, 4n));
    for (let o = l + 1; o < count; o++) {
      const third = absolute(this.rounded(6n * triples[o], 4n)) / 3n + 1n;
      for (const axis of [f, l, o]) this.n2[axis] += third;
    }
  }

  /**
   * s y_f^2 y_l <= (s/2) y_l + |s|/2
   * @param {number} l
   * @param {bigint} amount
   */
  addSquareTimes(l, amount) {
    this.n1[l] += amount >> 1n;
    this.constant += (absolute(amount) >> 1n) + 2n;
  }

  /**
   * @param {number} f
   * @param {number} l
   * @param {bigint} amount
   */
  addProduct(f, l, amount) {
    const [low, high] = f < l ? [f, l] : [l, f];
    const key = low * this.axes.numeric.length + high;
    this.products.set(key, (this.products.get(key) ?? 0n) + amount);
  }

  /** Rows i, i j and i j k. */
  addOneHotProducts() {
    const { oneHot } = this.axes;
    oneHot.forEach(({ zeta }, i) => {
      this.tick();
      const sums = this.sumsOver([i], ({ q }) => (q[1] << (2n * FIXED_SHIFT)) + (q[2] * zeta << FIXED_SHIFT) + q[3] * zeta * zeta);
      sums.forEach((sum, v) => (this.tables[i][v] += this.rounded(sum * zeta, 4n)));
    });
    for (let i = 0; i < oneHot.length; i++) {
      for (let j = i + 1; j < oneHot.length; j++) {
        this.tick();
        const [a, b] = [oneHot[i].zeta, oneHot[j].zeta];
        const width = oneHot[j].positions.length;
        const sums = this.sumsOver([i, j], ({ q }) => (2n * q[2] << FIXED_SHIFT) + 3n * q[3] * (a + b));
        sums.forEach((sum, at) => (this.pairs[i][j][Math.floor(at / width)][at % width] += this.rounded(sum * a * b, 4n)));
        for (let k = j + 1; k < oneHot.length; k++) this.addTriple(i, j, k);
      }
    }
  }

  /**
   * Sums over the terms that have a place on all of these one-hot axes, by these places (the last one changing fastest).
   * @param {number[]} axes
   * @param {(term: CubicTerm) => bigint} amountOf
   */
  sumsOver(axes, amountOf) {
    const sizes = axes.map((i) => this.axes.oneHot[i].positions.length);
    const sums = zeros(sizes.reduce((product, size) => product * size, 1));
    for (const term of this.terms) {
      let at = 0;
      for (let n = 0; n < axes.length && at >= 0; n++) {
        const own = term.own[axes[n]];
        at = own < 0 ? -1 : at * sizes[n] + own;
      }
      if (at >= 0) sums[at] += amountOf(term);
    }
    return sums;
  }

  /**
   * Means over v go to pair_jk, then means over u of the rest to pair_ik, the largest rest over w to pair_ij.
   * @param {number} i
   * @param {number} j
   * @param {number} k
   */
  addTriple(i, j, k) {
    this.tick();
    const { oneHot } = this.axes;
    const factor = 6n * oneHot[i].zeta * oneHot[j].zeta * oneHot[k].zeta;
    const [nv, nu, nw] = [i, j, k].map((axis) => oneHot[axis].positions.length);
    const g = this.sumsOver([i, j, k], ({ q }) => q[3]).map((sum) => this.rounded(sum * factor, 4n));
    const at = (/** @type {number} */ v, /** @type {number} */ u, /** @type {number} */ w) => (v * nu + u) * nw + w;
    for (let u = 0; u < nu; u++) {
      for (let w = 0; w < nw; w++) {
        const mean = meanOf(range(nv).map((v) => g[at(v, u, w)]));
        this.pairs[j][k][u][w] += mean;
        for (let v = 0; v < nv; v++) g[at(v, u, w)] -= mean;
      }
    }
    for (let v = 0; v < nv; v++) {
      for (let w = 0; w < nw; w++) {
        const mean = meanOf(range(nu).map((u) => g[at(v, u, w)]));
        this.pairs[i][k][v][w] += mean;
        for (let u = 0; u < nu; u++) g[at(v, u, w)] -= mean;
      }
      for (let u = 0; u < nu; u++) this.pairs[i][j][v][u] += largestOf(range(nw).map((w) => g[at(v, u, w)]));
    }
  }

  /** Rows f i, f l i and f i j. */
  addMixedProducts() {
    const { numeric, oneHot } = this.axes;
    oneHot.forEach(({ zeta }, i) => {
      numeric.forEach((_, f) => {
        this.tick();
        const one = this.sumsOver([i], ({ q, loads }) => loads[f] * ((2n * q[2] << FIXED_SHIFT) + 3n * q[3] * zeta));
        one.forEach((sum, v) => (this.first[i][f][v] += this.rounded(sum * zeta, 4n)));
        const two = this.sumsOver([i], ({ q, loads }) => q[3] * loads[f] * loads[f]);
        two.forEach((sum, v) => (this.second[i][f][v] += this.rounded(3n * sum * zeta, 4n)));
        for (let l = f + 1; l < numeric.length; l++) this.addNumericPairOnOneHot(f, l, i);
        for (let j = i + 1; j < oneHot.length; j++) this.addNumericOnTwoOneHot(f, i, j);
      });
    });
  }

  /**
   * @param {number} f
   * @param {number} l
   * @param {number} i
   */
  addNumericPairOnOneHot(f, l, i) {
    const factor = 6n * this.axes.oneHot[i].zeta;
    const g = this.sumsOver([i], ({ q, loads }) => q[3] * loads[f] * loads[l]).map((sum) => this.rounded(sum * factor, 4n));
    const mean = meanOf(g);
    this.addProduct(f, l, mean);
    g.forEach((amount, v) => (this.tables[i][v] += absolute(amount - mean)));
  }

  /**
   * @param {number} f
   * @param {number} i
   * @param {number} j
   */
  addNumericOnTwoOneHot(f, i, j) {
    const { oneHot } = this.axes;
    const factor = 6n * oneHot[i].zeta * oneHot[j].zeta;
    const [nv, nu] = [oneHot[i].positions.length, oneHot[j].positions.length];
    const g = this.sumsOver([i, j], ({ q, loads }) => q[3] * loads[f]).map((sum) => this.rounded(sum * factor, 4n));
    for (let v = 0; v < nv; v++) {
      const mean = meanOf(g.slice(v * nu, (v + 1) * nu));
      this.first[i][f][v] += mean;
      for (let u = 0; u < nu; u++) g[v * nu + u] -= mean;
    }
    for (let u = 0; u < nu; u++) {
      const mean = meanOf(range(nv).map((v) => g[v * nu + u]));
      this.first[j][f][u] += mean;
      for (let v = 0; v < nv; v++) this.pairs[i][j][v][u] += absolute(g[v * nu + u] - mean);
    }
  }
}

/** @param {number} count */
function zeros(count) {
  return Array.from({ length: count }, () => 0n);
}

/** @param {number} count */
function range(count) {
  return Array.from({ length: count }, (_, i) => i);
}

/** @param {bigint[]} values */
export function largestOf(values) {
  return values.reduce((a, b) => (a > b ? a : b));
}

/** @param {bigint[]} values */
export function meanOf(values) {
  return floorDivide(values.reduce((a, b) => a + b, 0n), BigInt(values.length));
}
