/** The rule `mixed` (section 23): every term is bounded by a polynomial of degree 2, and the sum by its separable majorant. */

import { readArrayOf, readInt } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { cubeOf } from './cube.js';
import { FIXED_BITS } from './fixed-point.js';
import { majorantMaximum } from './majorant.js';
import { copyOf, TermBounds } from './mixed-terms.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/mixed.js').MixedBody} MixedBody
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

const LARGEST_HINT = 64n;
const LARGEST_R = 64n;

/**
 * `["mixed", way, [e, ...], r]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function mixed(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'mixed') return reject('mixed: not for this body');
  // Section 21 names the rules for such a property, and this one only as a line of a part of a sum.
  require(context.case.rate === null || context.knownLine !== null, 'mixed: not for the property "lipschitz"');
  readArrayOf(json, 'mixed', 4);
  const cube = cubeOf(context.geometry, cell, body.columns);
  if (cube === null) return { clearance: null, line: null };
  const line = context.readLine(json[1]);
  const hints = readArrayOf(json[2], 'hints', cube.axes).map((hint) => readInt(hint, 'hint', -LARGEST_HINT, LARGEST_HINT));
  const r = readInt(json[3], 'r', 0n, LARGEST_R);
  const { axes } = cube;
  const products = 2 * (body.terms.length * (body.sums.length * axes + axes * axes) + axes * axes * body.sums.length);
  require(products <= MAXIMUM.mixedProducts, 'mixed: too many products in one leaf');
  const { first, second } = context.derive(line, () => ({ first: scoreBody(body, line.first), second: scoreBody(body, line.second) }));
  const centres = context.derive(body, () => body.terms.map(({ centre }) => centre.map((number) => number.floor(FIXED_BITS))));
  const bounds = new TermBounds(body.shape, body.gamma, axes, r);
  const [here, there] = cube.columns.map((columns) => copyOf(body, columns, axes));
  centres.forEach((centre, t) => {
    context.clock.tick();
    bounds.add(here, line.a.times(first.terms[t].coefficients[0]), centre);
    bounds.add(there, line.b.times(second.terms[t].coefficients[0]).negated(), centre);
  });
  const excess = bounds.polynomial();
  excess.addTerm('', constantOf(line, first, second));
  require(majorantMaximum(cube, excess, hints).sign() < 0, 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}

/**
 * @param {MixedBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}

/**
 * What is no term: (a - b)(sign bias + shift) - T.
 * @param {import('../proof/cases.js').Line} line
 * @param {MixedBody} first
 * @param {MixedBody} second
 */
function constantOf({ a, b, target }, first, second) {
  return a.times(first.bias[0]).minus(b.times(second.bias[0])).minus(target);
}
