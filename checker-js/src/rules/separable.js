/** The rules `separable` and `empty` (section 4). */

import { AffineBody, SeparableForm } from '../bodies/affine.js';
import { Rational } from '../exact/rational.js';
import { readArrayOf, readNumbersOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { concludeFromBound } from './conclude.js';
import { lessConstraints, maximumOfForms, scaledForm, zeroForm } from './form-maximum.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * `["separable", way]` or `["separable", way, [m, ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function separable(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'affine') return reject('separable: not for this body');
  require(json.length === 2 || json.length === 3, 'separable: not two or three entries');
  const line = context.readLine(json[1]);
  const { first, second } = context.derive(line, () => ({
    first: scaledForm(formOf(body, line.first), line.a),
    second: scaledForm(formOf(body, line.second), line.b.negated()),
  }));
  const multipliers = json.length === 3 ? readMultipliers(context, json[2]) : null;
  return concludeFromBound(line, maximumWithMultipliers(context, cell, first, second, multipliers));
}

/**
 * `["empty", [m, ...]]`: no pair lies in the cell, if B < 0 with a = b = 0.
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function empty(context, cell, json) {
  readArrayOf(json, 'empty', 2);
  const zero = zeroForm(context.claim.space);
  const bound = maximumWithMultipliers(context, cell, zero, zero, readMultipliers(context, json[1]));
  require(bound === null || bound.sign() < 0, 'empty: the multipliers do not show that the cell is empty');
  return { clearance: null, line: null };
}

/**
 * @param {AffineBody} body
 * @param {Score} score
 */
export function formOf(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}

/**
 * @param {LeafContext} context
 * @param {Json} json
 * @returns {Rational[]} one for each constraint at x, then one for each at x'
 */
export function readMultipliers(context, json) {
  const multipliers = readNumbersOf(json, 'multipliers', 2 * context.claim.space.constraints.length);
  require(multipliers.every((multiplier) => multiplier.sign() >= 0), 'a negative multiplier');
  return multipliers;
}

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {SeparableForm} first
 * @param {SeparableForm} second
 * @param {Rational[] | null} multipliers
 */
export function maximumWithMultipliers({ geometry }, cell, first, second, multipliers) {
  if (multipliers === null) return maximumOfForms(geometry, cell, first, second);
  const { constraints } = geometry.space;
  const count = constraints.length;
  return maximumOfForms(
    geometry,
    cell,
    lessConstraints(first, constraints, multipliers.slice(0, count)),
    lessConstraints(second, constraints, multipliers.slice(count)),
  );
}

