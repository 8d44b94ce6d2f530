/**
 * Bounds of the exponentials of the rule `mixed` (section 23) by polynomials of degree 2 in the axes of a cell.
 *
 * Whole numbers here are in units of 2^-128 ("ulps"). Whatever is rounded is counted: `error` is at least what all roundings of the
 * polynomial amount to at any point of the cube, and is added to its constant at the end.
 */

import { AxesPolynomial, axesOf, axisProduct } from '../exact/axes-polynomial.js';
import { ceilShift } from '../exact/exponential.js';
import { ONE, Rational } from '../exact/rational.js';
import { absolute, FIXED_BITS, FIXED_SHIFT, fixedProduct, towardsZero, wholeAbove } from './fixed-point.js';

/**
 * @typedef {import('../bodies/mixed.js').ColumnSum} ColumnSum
 * @typedef {import('../bodies/mixed.js').MixedBody} MixedBody
 * @typedef {import('../bodies/mixed.js').Shape} Shape
 */

const UNIT = 1n << FIXED_SHIFT;
/** Rounding may have taken a number this far over the edge where the page decides between two bounds; both hold there. */
const ROOM = 1n << 64n;

/**
 * One of x and x': z_j = alpha_j + sum_i W_ji y_i, rounded, and R.
 * @typedef {object} Copy
 * @property {bigint[]} alpha
 * @property {Map<number, bigint>[]} slopes W_ji of each sum, by axis
 * @property {bigint[]} reach r_j
 * @property {bigint} off at least by how much all sums together, and centres, are off, in ulps
 * @property {Map<number, bigint>[]} squares gamma M_il, by i and l >= i; those with l > i twice, as y_i y_l and y_l y_i are one product
 * @property {bigint} rho
 */

/**
 * @param {MixedBody} body
 * @param {AxesPolynomial[]} columns at x or at x'
 * @param {number} axes
 * @returns {Copy}
 */
export function copyOf({ shape, gamma, sums }, columns, axes) {
  let off = 0n;
  /** @type {bigint[]} */
  const alpha = [];
  const slopes = sums.map(({ constant, pairs }, j) => {
    alpha[j] = constant.floor(FIXED_BITS);
    off += 2n; // of the constant and of a centre
    /** @type {Map<number, bigint>} */
    const own = new Map();
    for (const { column, factor } of pairs) {
      for (const [product, coefficient] of columns[column].terms) {
        const amount = factor.times(coefficient).floor(FIXED_BITS);
        off += 1n;
        if (product === '') alpha[j] += amount;
        else own.set(axesOf(product)[0], (own.get(axesOf(product)[0]) ?? 0n) + amount);
      }
    }
    return own;
  });
  const reach = slopes.map((own) => [...own.values()].reduce((total, slope) => total + absolute(slope), 0n));
  const { squares, rho } = shape === 'gaussian' ? squaresOf(gamma, slopes, axes) : { squares: [], rho: 0n };
  return { alpha, slopes, reach, off, squares, rho };
}

/**
 * @param {Rational} gamma
 * @param {Map<number, bigint>[]} slopes
 * @param {number} axes
 */
function squaresOf(gamma, slopes, axes) {
  /** @type {Map<number, bigint>[]} in units of 2^-256 */
  const exact = Array.from({ length: axes }, () => new Map());
  for (const own of slopes) {
    for (const [i, slope] of own) {
      for (const [l, other] of own) {
        if (l >= i) exact[i].set(l, (exact[i].get(l) ?? 0n) + (l > i ? 2n : 1n) * slope * other);
      }
    }
  }
  let rho = 0n;
  const squares = exact.map(
    (row) =>
      new Map(
        [...row].map(([l, amount]) => {
          const value = gamma.times(Rational.dyadic(amount, -2 * FIXED_BITS)).floor(FIXED_BITS);
          rho += absolute(value) + 1n;
          return [l, value];
        }),
      ),
  );
  return { squares, rho };
}

/** The sum of the bounds of all terms. */
export class TermBounds {
  /**
   * @param {Shape} shape
   * @param {Rational} gamma
   * @param {number} axes
   * @param {bigint} r
   */
  constructor(shape, gamma, axes, r) {
    this.shape = shape;
    this.gamma = gamma;
    this.axes = axes;
    /** r/16, and a little: h may be there exactly */
    this.limit = (r << (FIXED_SHIFT - 4n)) + ROOM;
    this.constant = 0n;
    this.error = 0n;
    this.linear = Array.from({ length: axes }, () => 0n);
    /** @type {Map<number, bigint>[]} */
    this.square = Array.from({ length: axes }, () => new Map());
  }

  /**
   * Adds an upper bound of c exp(-gamma dist_t).
   * @param {Copy} copy
   * @param {Rational} c
   * @param {bigint[]} centre in ulps, rounded
   */
  add(copy, c, centre) {
    if (c.isZero()) return;
    // exp(-gamma dist) changes by at most 1 + gamma times what the z_j change by together.
    this.error += c.absolute().times(this.gamma.plus(ONE)).ceil() * copy.off;
    const d = copy.alpha.map((value, j) => value - centre[j]);
    const { lambda, fall, extra, least, most } = this.shape === 'gaussian' ? gaussian(d, copy.reach) : laplacian(d, copy.reach);
    /** @type {Map<number, bigint>} */
    const sums = new Map();
    copy.slopes.forEach((own, j) => {
      for (const [i, slope] of own) sums.set(i, (sums.get(i) ?? 0n) + lambda[j] * slope);
    });
    const load = new Map([...sums].map(([i, total]) => [i, this.times(-total).floor(FIXED_BITS)]));
    const h = [...load.values()].reduce((total, l) => total + absolute(l) + 1n, 0n);
    const { rho } = copy;
    if (c.sign() > 0) {
      if (h > this.limit) return this.addConstant(c, least);
      if (this.shape === 'gaussian') {
        const drop = this.times(fall - least).ceil(FIXED_BITS);
        const g = boundsOfG(drop < h ? drop : h).hi;
        const kappa = UNIT - ceilShift(g * (2n * h + rho), FIXED_SHIFT);
        if (kappa >= -ROOM) return this.addBracket(copy, c, fall, load, g, kappa);
      }
      return this.addBracket(copy, c, fall, load, boundsOfG(h).hi, 0n);
    }
    if (h + rho > this.limit) return this.addConstant(c, most);
    const { lo } = boundsOfG(-(h + rho));
    const g = lo > 0n ? lo : 0n;
    return this.addBracket(copy, c, fall + extra, load, g, UNIT + ceilShift(2n * h * g, FIXED_SHIFT));
  }

  /**
   * @param {bigint} amount in units of 2^-256
   * @returns {Rational} gamma times it
   */
  times(amount) {
    return this.gamma.times(Rational.dyadic(amount, -2 * FIXED_BITS));
  }

  /**
   * c exp(-gamma distance), with the error in ulps
   * @param {Rational} c
   * @param {bigint} distance in units of 2^-256
   */
  exponential(c, distance) {
    return fixedProduct(c, this.times(-distance).floor(2 * FIXED_BITS), 1);
  }

  /**
   * @param {Rational} c
   * @param {bigint} distance
   */
  addConstant(c, distance) {
    const { value, error } = this.exponential(c, distance);
    this.constant += value;
    this.error += error;
  }

  /**
   * Adds c exp(-gamma distance) (1 + L + g L^2 - kappa gamma R).
   *
   * But for a little, abs(L) <= h <= 4, 0 <= g < 4, abs(kappa) <= 5 and kappa gamma R <= 20 (rho <= 4 where c < 0, else g (2 h + rho) <= 1
   * and g >= 1/2, or kappa = 0): the bracket is at most 1 + 4 + 64 + 20 in absolute value. Each number of the n of L, and each of
   * the m of gamma R, may be off by one ulp, which changes the bracket by at most (1 + 2 * 4 * 4 + 1) n + 5 m ulps. Products
   * below are rounded to whole ulps: one each for n of K L, one each for those of g L^2 and of kappa gamma R, and K g and K kappa,
   * whose roundings are multiplied by L^2 <= 16 and by gamma R <= 4.
   * @param {Copy} copy
   * @param {Rational} c
   * @param {bigint} distance
   * @param {Map<number, bigint>} load of L
   * @param {bigint} g
   * @param {bigint} kappa
   */
  addBracket(copy, c, distance, load, g, kappa) {
    const { value: K, error } = this.exponential(c, distance);
    this.error += 128n * error;
    const loads = [...load];
    const n = BigInt(loads.length);
    const m = copy.squares.reduce((total, row) => total + BigInt(row.size), 0n);
    this.error += wholeAbove(K) * (64n * n + 8n * m) + n + n * n + m + 32n;
    this.constant += K;
    const [ofSquare, ofR] = [(K * g) >> FIXED_SHIFT, (K * kappa) >> FIXED_SHIFT];
    loads.forEach(([i, l], place) => {
      this.linear[i] += (K * l) >> FIXED_SHIFT;
      const own = ofSquare * l;
      for (const [other, load2] of loads.slice(place)) {
        this.addSquare(i, other, ((other === i ? own : 2n * own) * load2) >> (2n * FIXED_SHIFT));
      }
    });
    if (kappa === 0n) return;
    copy.squares.forEach((row, i) => {
      for (const [l, amount] of row) this.addSquare(i, l, -((ofR * amount) >> FIXED_SHIFT));
    });
  }

  /**
   * @param {number} i
   * @param {number} l
   * @param {bigint} amount
   */
  addSquare(i, l, amount) {
    const [first, second] = i <= l ? [i, l] : [l, i];
    this.square[first].set(second, (this.square[first].get(second) ?? 0n) + amount);
  }

  /** @returns {AxesPolynomial} what is not below the sum of all terms anywhere on the cube */
  polynomial() {
    const exactly = (/** @type {bigint} */ value) => Rational.dyadic(value, -FIXED_BITS);
    const result = AxesPolynomial.affine(exactly(this.constant + this.error), this.linear.map((value, i) => [i, exactly(value)]));
    this.square.forEach((row, i) => {
      for (const [l, value] of row) result.addTerm(axisProduct(i) + axisProduct(l), exactly(value));
    });
    return result;
  }
}

/**
 * @typedef {object} Distances of a term; lambda in ulps, all others in units of 2^-256
 * @property {bigint[]} lambda
 * @property {bigint} fall
 * @property {bigint} extra
 * @property {bigint} least
 * @property {bigint} most
 */

/**
 * @param {bigint[]} d
 * @param {bigint[]} reach
 * @returns {Distances}
 */
function gaussian(d, reach) {
  let [fall, least, most] = [0n, 0n, 0n];
  d.forEach((own, j) => {
    const [near, far] = [absolute(own) - reach[j], absolute(own) + reach[j]];
    fall += own * own;
    if (near > 0n) least += near * near;
    most += far * far;
  });
  return { lambda: d.map((own) => 2n * own), fall, extra: 0n, least, most };
}

/**
 * Any lambda with abs(lambda) <= 1 will do, if extra is what abs(v) can be above lambda v at the ends of [d - r, d + r].
 * @param {bigint[]} d
 * @param {bigint[]} reach
 * @returns {Distances}
 */
function laplacian(d, reach) {
  let [fall, extra, least, most] = [0n, 0n, 0n, 0n];
  const lambda = d.map((own, j) => {
    const r = reach[j];
    const size = absolute(own) > r ? absolute(own) : r;
    const slope = size === 0n ? 0n : towardsZero(Rational.fraction(own, size));
    const above = (/** @type {bigint} */ v) => (absolute(v) << FIXED_SHIFT) - slope * v;
    const [left, right] = [above(own - r), above(own + r)];
    fall += slope * own;
    extra += left > right ? left : right;
    if (absolute(own) > r) least += (absolute(own) - r) << FIXED_SHIFT;
    most += (absolute(own) + r) << FIXED_SHIFT;
    return slope;
  });
  return { lambda, fall, extra, least, most };
}

/**
 * G(x) = (exp(x) - 1 - x) / x^2 = 1/2! + x/3! + x^2/4! + ...
 * @param {bigint} x in ulps, abs(x) < 5
 * @returns {{lo: bigint, hi: bigint}} in ulps
 */
export function boundsOfG(x) {
  const size = absolute(x);
  let [lo, hi] = [0n, 0n];
  let [lowTerm, highTerm] = [UNIT / 2n, UNIT / 2n];
  for (let k = 0n; ; k += 1n) {
    const isTaken = x < 0n && k % 2n === 1n;
    lo += isTaken ? -highTerm : lowTerm;
    hi += isTaken ? -lowTerm : highTerm;
    // From here on each term is at most half of the one before.
    if (k >= 8n && highTerm <= 1n) break;
    lowTerm = (lowTerm * size) / ((k + 3n) << FIXED_SHIFT);
    highTerm = (highTerm * size) / ((k + 3n) << FIXED_SHIFT) + 1n;
  }
  return { lo: lo - 2n, hi: hi + 2n };
}
