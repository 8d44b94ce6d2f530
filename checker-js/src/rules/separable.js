/** The rules `separable` and `empty` (section 4). */

import { AffineBody, SeparableForm } from '../bodies/affine.js';
import { Rational, sum, ZERO } from '../exact/rational.js';
import { readArray, readArrayOf, readNumbersOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { concludeFromBound } from './conclude.js';
import { readToll } from './rate.js';
import { lessConstraints, lessDistanceForms, maximumOfForms, scaledForm, zeroForm } from './form-maximum.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/distance.js').DistanceForm} DistanceForm
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 * @typedef {import('./cost-maximum.js').Charge} Charge
 * @typedef {import('./rate.js').Toll} Toll
 */

/**
 * `["separable", way]` or `["separable", way, [m, ...]]`; with four entries it is about a rate (section 21).
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function separable(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'affine') return reject('separable: not for this body');
  const { rate } = context.case;
  // A part of a sum has lines of its own (section 17), which are about no rate.
  const ofRate = rate !== null && context.knownLine === null && json.length === 4;
  require(ofRate || json.length === 2 || json.length === 3, 'separable: not two or three entries');
  const line = ofRate ? context.readLineAside(json[1]) : context.readLine(json[1]);
  const { first, second } = context.derive(line, () => ({
    first: scaledForm(formOf(body, line.first), line.a),
    second: scaledForm(formOf(body, line.second), line.b.negated()),
  }));
  const multipliers = json.length === 2 || (ofRate && isEmpty(json[2])) ? null : readMultipliersWithDistance(context, json[2]);
  const toll = ofRate ? readToll(rate, json[3]) : null;
  return concludeFromBound(line, maximumWithMultipliers(context, cell, first, second, multipliers, toll));
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

/** @param {Json} json */
function isEmpty(json) {
  return Array.isArray(json) && json.length === 0;
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
 * @param {Toll | null} [toll]
 */
export function maximumWithMultipliers({ geometry }, cell, first, second, multipliers, toll = null) {
  let [own, other, constant] = [first, second, ZERO];
  /** @type {Map<number, Charge>} */
  let charges = new Map();
  if (multipliers !== null) {
    const { constraints } = geometry.space;
    own = lessConstraints(own, constraints, multipliers.here);
    other = lessConstraints(other, constraints, multipliers.there);
    const { lambda, forms } = multipliers;
    const { distance } = geometry;
    if (distance !== null && !lambda.isZero()) {
      // - lambda w_j (2 y_j z_j - y_j^2), z_j = alpha(x') - alpha(x), and lambda times the bound.
      const factors = distance.forms.map(({ weight }, j) => lambda.times(weight).times(forms[j]));
      [own, other] = lessForms(own, other, distance.forms, factors.map((factor) => factor.scaled(1)));
      constant = sum([lambda.times(distance.bound), ...factors.map((factor, j) => factor.times(forms[j]))]);
      charges = new Map(distance.terms.map(({ feature, cost }) => [feature, { cost, power: distance.power, lambda }]));
    }
  }
  if (toll !== null) {
    [own, other] = lessForms(own, other, toll.forms, toll.factors);
    require(toll.costly.every((feature) => !charges.has(feature)), 'separable: one feature with costs of two distances');
    for (const [feature, charge] of toll.charges) charges.set(feature, charge);
  }
  const most = maximumOfForms(geometry, cell, own, other, charges);
  return most === null ? null : most.plus(constant);
}

/**
 * - sum_j factor_j z_j, z_j = alpha(x') - alpha(x).
 * @param {SeparableForm} own
 * @param {SeparableForm} other
 * @param {DistanceForm[]} forms
 * @param {Rational[]} factors
 * @returns {[SeparableForm, SeparableForm]}
 */
function lessForms(own, other, forms, factors) {
  return [lessDistanceForms(own, forms, factors.map((factor) => factor.negated())), lessDistanceForms(other, forms, factors)];
}
