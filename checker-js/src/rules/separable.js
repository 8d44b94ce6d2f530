/** The rules `separable` and `empty` (section 4). */

import { AffineBody, SeparableForm } from '../bodies/affine.js';
import { Rational, sum, ZERO } from '../exact/rational.js';
import { readArray, readArrayOf, readNumbersOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { concludeFromBound } from './conclude.js';
import { lessConstraints, lessDistanceForms, maximumOfForms, scaledForm, zeroForm } from './form-maximum.js';

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
  const multipliers = json.length === 3 ? readMultipliersWithDistance(context, json[2]) : null;
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
  const bound = maximumWithMultipliers(context, cell, zero, zero, readMultipliersWithDistance(context, json[1]));
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
 * The multipliers of a bound: of the constraints at x and at x', lambda of the distance, and y_j of its forms.
 * @typedef {{here: Rational[], there: Rational[], lambda: Rational, forms: Rational[]}} Multipliers
 */

/**
 * @param {LeafContext} context
 * @param {Json} json
 * @returns {Multipliers}
 */
function readMultipliersWithDistance(context, json) {
  const { space, distance } = context.claim;
  const count = 2 * space.constraints.length;
  const items = readArray(json, 'multipliers');
  if (distance === null || items.length === count) return readMultipliers(context, json);
  const [lambda, ...forms] = readNumbersOf(items.slice(count), 'multipliers of the distance', 1 + distance.forms.length);
  require(lambda.sign() >= 0, 'a negative multiplier');
  return { ...readMultipliers(context, items.slice(0, count)), lambda, forms };
}

/**
 * @param {LeafContext} context
 * @param {Json} json one for each constraint at x, then one for each at x'
 * @returns {Multipliers}
 */
export function readMultipliers(context, json) {
  const multipliers = readNumbersOf(json, 'multipliers', 2 * context.claim.space.constraints.length);
  require(multipliers.every((multiplier) => multiplier.sign() >= 0), 'a negative multiplier');
  const half = multipliers.length / 2;
  return { here: multipliers.slice(0, half), there: multipliers.slice(half), lambda: ZERO, forms: [] };
}

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {SeparableForm} first
 * @param {SeparableForm} second
 * @param {Multipliers | null} multipliers
 */
export function maximumWithMultipliers({ geometry }, cell, first, second, multipliers) {
  if (multipliers === null) return maximumOfForms(geometry, cell, first, second);
  const { constraints } = geometry.space;
  const { here, there, lambda, forms } = multipliers;
  let own = lessConstraints(first, constraints, here);
  let other = lessConstraints(second, constraints, there);
  if (lambda.isZero() || geometry.distance === null) return maximumOfForms(geometry, cell, own, other);
  const { distance } = geometry;
  // - lambda w_j (2 y_j z_j - y_j^2), z_j = alpha(x') - alpha(x), and lambda times the bound.
  const factors = distance.forms.map(({ weight }, j) => lambda.times(weight).times(forms[j]));
  own = lessDistanceForms(own, distance.forms, factors.map((factor) => factor.scaled(1).negated()));
  other = lessDistanceForms(other, distance.forms, factors.map((factor) => factor.scaled(1)));
  const most = maximumOfForms(geometry, cell, own, other, lambda);
  return most === null ? null : sum([most, lambda.times(distance.bound), ...factors.map((factor, j) => factor.times(forms[j]))]);
}
