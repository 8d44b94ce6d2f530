/** The rule `kernel` (section 7), for one copy and for two copies of the features that may differ. */

import { RbfBody } from '../bodies/rbf.js';
import { expOf } from '../exact/interval.js';
import { largest, ONE, Rational, sum } from '../exact/rational.js';
import { readArrayOf, readInt } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { FIXED_BITS } from './fixed-point.js';
import { kernelAxes, KernelAxes } from './kernel-axes.js';
import { Expansions } from './kernel-expansion.js';
import { kernelFeatures } from './kernel-features.js';
import { KernelAmounts } from './kernel-amounts.js';
import { kernelMaximum } from './kernel-majorant.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

const LARGEST_HINT = 64n;
const LARGEST_R = 1n << 20n;
const LARGEST_EXPONENT = Rational.of(1025);

/**
 * `["kernel", way, [e, ...], r]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function kernel(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'rbf') return reject('kernel: not for this body');
  readArrayOf(json, 'kernel', 4);
  const line = context.readLine(json[1]);
  const features = context.derive(body, () => kernelFeatures(body, context.claim.space));
  const axes = kernelAxes(context.geometry, cell, features, body.gamma, body.terms.length);
  const hints = readArrayOf(json[2], 'hints', axes.hints).map((hint) => readInt(hint, 'hint', -LARGEST_HINT, LARGEST_HINT));
  const r = readInt(json[3], 'r', 0n, LARGEST_R);
  if (axes.holdsNoPair) return { clearance: null, line: null };
  const { first, second } = context.derive(line, () => ({ first: scoreBody(body, line.first), second: scoreBody(body, line.second) }));
  const kappa = line.a.times(first.bias[0]).minus(line.b.times(second.bias[0]));
  const expansions = new Expansions(axes, factorsOf(first, line.a), factorsOf(second, line.b));
  const amounts = new KernelAmounts(axes, expansions.terms, () => context.clock.tick());
  subtractPsi(amounts, axes, line.target.minus(kappa), body.gamma, r);
  const bound = kernelMaximum(amounts, hints) + expansions.constant + expansions.error;
  require(bound < 0n, 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}

/**
 * @param {RbfBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}

/**
 * @param {RbfBody} body of one score
 * @param {Rational} weight
 */
function factorsOf(body, weight) {
  return body.terms.map(({ coefficients }) => coefficients[0].times(weight));
}

/**
 * Takes from the amounts a lower bound of Psi(R) <= U exp(gamma R), R = sum A_k w_k^2 y_k^2 + sum nu_k(v_k): a number, multiples
 * of y_k^2, and numbers a group, which are taken later. Rounding any of them down keeps it a lower bound, as y_k^2 >= 0.
 * @param {KernelAmounts} amounts
 * @param {KernelAxes} axes
 * @param {Rational} U
 * @param {Rational} gamma
 * @param {bigint} r gamma R0 = r / 1024
 */
function subtractPsi(amounts, axes, U, gamma, r) {
  const { constant, slope } = U.sign() >= 0 ? tangent(U, gamma, r) : secant(U, gamma, largestSquares(axes));
  amounts.constant -= constant.floor(FIXED_BITS);
  axes.numeric.forEach(({ square }, f) => {
    amounts.n2[f] -= slope.times(square).floor(FIXED_BITS);
  });
  amounts.takenLater = axes.oneHot.map(({ squares }) => squares.map((nu) => slope.times(nu).floor(FIXED_BITS)));
}

/**
 * @param {KernelAxes} axes
 * @returns {Rational} R_max
 */
function largestSquares({ numeric, oneHot }) {
  return sum([...numeric.map(({ square }) => square), ...oneHot.map(({ squares }) => largest(squares))]);
}

/**
 * U e (1 + gamma (R - R0)), e <= exp(gamma R0): where the bracket is negative it is below 0 <= U exp(gamma R) anyway.
 * @param {Rational} U at least 0
 * @param {Rational} gamma
 * @param {bigint} r
 */
function tangent(U, gamma, r) {
  const exponent = Rational.dyadic(r, -10);
  const scaled = U.times(expOf(exponent, 2 * FIXED_BITS).lo);
  return { constant: scaled.times(ONE.minus(exponent)), slope: scaled.times(gamma) };
}

/**
 * U (1 + R (exp(gamma R_max) - 1) / R_max), the exponential rounded up.
 * @param {Rational} U below 0
 * @param {Rational} gamma
 * @param {Rational} squares R_max
 */
function secant(U, gamma, squares) {
  if (squares.isZero()) return { constant: U, slope: Rational.of(0) };
  const exponent = gamma.times(squares);
  require(exponent.less(LARGEST_EXPONENT), 'kernel: the squares of the cell are too large');
  const growth = expOf(exponent, 2 * FIXED_BITS).hi.minus(ONE);
  return { constant: U, slope: U.times(growth).over(squares) };
}
