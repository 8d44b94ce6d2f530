/** The rule `polynomial` (section 8), and what `sos` has in common with it. */

import { PolynomialBody } from '../bodies/polynomial.js';
import { AxesPolynomial } from '../exact/axes-polynomial.js';
import { ONE, Rational } from '../exact/rational.js';
import { readArrayOf, readInt } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { Cube, cubeOf } from './cube.js';
import { majorantMaximum } from './majorant.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cases.js').Line} Line
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * `["polynomial", way, [e, ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function polynomial(context, cell, json) {
  const body = polynomialBody(context);
  readArrayOf(json, 'polynomial', 3);
  const cube = cubeOf(context.geometry, cell, body.columns);
  if (cube === null) return { clearance: null, line: null };
  const line = context.readLine(json[1]);
  const hints = readArrayOf(json[2], 'hints', cube.axes).map((hint) => readInt(hint, 'hint', -64n, 64n));
  const excess = excessOf(context, body, cube, line);
  return concludeFromExcess(context, line, majorantMaximum(cube, excess, hints));
}

/** @param {LeafContext} context */
export function polynomialBody(context) {
  const { body } = context.claim.model;
  return body.kind === 'polynomial' ? body : reject('polynomial: not for this body');
}

/**
 * S(y) = a F(x) - b G(x') - T, which every witness of the cell has above 0.
 * @param {LeafContext} context
 * @param {PolynomialBody} body
 * @param {Cube} cube
 * @param {Line} line
 */
export function excessOf(context, body, cube, line) {
  const forms = context.derive(line, () => ({ first: scoreBody(body, line.first), second: scoreBody(body, line.second) }));
  const first = scoreOnCube(context, forms.first, cube, 0);
  const second = scoreOnCube(context, forms.second, cube, 1);
  const excess = AxesPolynomial.constant(line.target.negated());
  if (line.factors === null) return excess.addMultiple(first, line.a).addMultiple(second, line.b.negated());
  const [constant, ...slopes] = readFactors(line.factors, cube);
  const a = AxesPolynomial.affine(constant, slopes.map((slope, axis) => [axis, slope]));
  const b = AxesPolynomial.constant(ONE).addMultiple(a, ONE.negated());
  return excess.addMultiple(a.times(first), ONE).addMultiple(b.times(second), ONE.negated());
}

/**
 * a = p_0 + sum_i p_i y_(i-1) must be in [0, 1] on the cube.
 * @param {Rational[]} factors
 * @param {Cube} cube
 */
function readFactors(factors, cube) {
  require(factors.length === cube.axes + 1, 'way: not one number more than there are axes');
  const reach = factors.slice(1).reduce((total, factor) => total.plus(factor.absolute().scaled(1)), factors[0].scaled(1).minus(ONE).absolute());
  require(reach.atMost(ONE), 'way: a is not in [0, 1] on the cell');
  return factors;
}

/**
 * @param {PolynomialBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}

/**
 * @param {LeafContext} context
 * @param {PolynomialBody} body of one score
 * @param {Cube} cube
 * @param {0 | 1} copy
 */
function scoreOnCube({ clock }, body, cube, copy) {
  const columns = cube.columns[copy];
  const total = new AxesPolynomial();
  /** @type {Map<string, AxesPolynomial>} products of columns; most terms share all but their last one with another */
  const known = new Map([['', AxesPolynomial.constant(ONE)]]);
  /**
   * @param {number[]} factors
   * @returns {AxesPolynomial}
   */
  const productOf = (factors) => {
    const key = factors.join();
    const before = known.get(key);
    if (before !== undefined) return before;
    clock.tick();
    const made = productOf(factors.slice(0, -1)).times(columns[factors[factors.length - 1]]);
    known.set(key, made);
    return made;
  };
  for (const { coefficients, factors } of body.terms) {
    if (!coefficients[0].isZero()) total.addMultiple(productOf(factors), coefficients[0]);
  }
  return total;
}

/**
 * @param {LeafContext} context
 * @param {Line} line
 * @param {Rational} bound of S
 * @returns {LeafResult}
 */
export function concludeFromExcess(context, line, bound) {
  const sign = bound.sign();
  require(sign < 0 || (sign === 0 && line.mayTouch), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}
