/** How fast scores may change: by delta, and by so much a unit of a distance (section 21, "Property"). */

import { largest, Rational, sum, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readObject } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { partsBetween, readTermsAndForms } from './distance.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./space.js').Space} Space
 * @typedef {import('./distance.js').DistanceTerm} DistanceTerm
 * @typedef {import('./distance.js').DistanceForm} DistanceForm
 */

/** Roots are known to 2^-ROOT_BITS; those of squares of rationals exactly. */
const ROOT_BITS = 160;

/**
 * @typedef {object} Rate
 * @property {Rational} constant L
 * @property {1 | 2 | 'max'} norm
 * @property {DistanceTerm[]} terms
 * @property {DistanceForm[]} forms none unless the norm is 2
 */

/**
 * @param {Json} constantJson
 * @param {Json} json
 * @param {Space} space
 * @returns {Rate}
 */
export function readRate(constantJson, json, { features }) {
  const constant = readNumber(constantJson, 'constant of the property');
  require(constant.sign() >= 0, 'property: a negative constant');
  const part = readObject(json, 'distance', ['norm', 'terms', 'forms']);
  const norm = readNorm(part('norm'));
  const { terms, forms } = readTermsAndForms(part('terms'), part('forms'), features);
  require(norm === 2 || forms.length === 0, 'distance: forms need the norm 2');
  return { constant, norm, terms, forms };
}

/**
 * @param {Json} json
 * @returns {Rate['norm']}
 */
function readNorm(json) {
  if (json === 'max') return json;
  if (json === 1n) return 1;
  return json === 2n ? 2 : reject('distance: the norm is none of 1, 2 and "max"');
}

/**
 * e^2, made of costs and of z as the norm says.
 * @param {Rate} rate
 * @param {Rational[]} costs one a term, none negative
 * @param {Rational[]} changes z, one a form
 * @returns {Rational}
 */
export function squareOfNorm({ norm, forms }, costs, changes) {
  if (norm === 1) return sum(costs).squared();
  if (norm === 'max') return costs.length === 0 ? ZERO : largest(costs).squared();
  return sum([...costs.map((cost) => cost.squared()), ...changes.map((z, j) => forms[j].weight.times(z.squared()))]);
}

/**
 * @param {Rate} rate
 * @param {Rational[]} x
 * @param {Rational[]} other
 * @returns {Rational} e(x, x')^2
 */
export function squareBetween(rate, x, other) {
  const { costs, changes } = partsBetween(rate, x, other);
  return squareOfNorm(rate, costs, changes);
}

/**
 * L e from e^2, or a little less: by less than 2^-128.
 * @param {Rate} rate
 * @param {Rational} square
 * @returns {Rational}
 */
export function allowanceOf({ constant }, square) {
  return constant.squared().times(square).rootBelow(ROOT_BITS);
}
