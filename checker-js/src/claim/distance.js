/** A distance that the two of a pair may have at most, over several features together (section 19). */

import { Rational, sum, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readIndex, readInt, readNumbersOf, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { positionOf } from './space.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./space.js').Feature} Feature
 * @typedef {import('./space.js').Space} Space
 */

/**
 * The cost of one feature: so much a step, so much for any two levels, or so much for these two levels.
 * @typedef {{kind: 'each', cost: Rational} | {kind: 'unequal', cost: Rational} | {kind: 'table', rows: Rational[][]}} Cost
 * @typedef {{feature: number, cost: Cost}} DistanceTerm
 */

/**
 * w z^2, z the sum of alpha_k(x'_k) - alpha_k(x_k); alpha_k is a factor of the code or an amount a level.
 * @typedef {{feature: number, factor: Rational | null, amounts: Rational[] | null}} FormEntry
 * @typedef {{weight: Rational, entries: FormEntry[]}} DistanceForm
 */

/**
 * @typedef {object} Distance
 * @property {1 | 2} power
 * @property {DistanceTerm[]} terms
 * @property {DistanceForm[]} forms
 * @property {Rational} bound
 */

/**
 * @param {Json} json
 * @param {Space} space
 * @returns {Distance}
 */
export function readDistance(json, { features }) {
  const part = readObject(json, 'distance', ['power', 'terms', 'forms', 'bound']);
  const power = readInt(part('power'), 'power of the distance', 1n, 2n) === 1n ? 1 : 2;
  const { terms, forms } = readTermsAndForms(part('terms'), part('forms'), features);
  const bound = readNumber(part('bound'), 'bound of the distance');
  require(bound.sign() >= 0, 'distance: a negative bound');
  return { power, terms, forms, bound };
}

/**
 * @param {Json} termsJson
 * @param {Json} formsJson
 * @param {Feature[]} features
 * @returns {{terms: DistanceTerm[], forms: DistanceForm[]}}
 */
export function readTermsAndForms(termsJson, formsJson, features) {
  const terms = readArray(termsJson, 'terms of the distance').map((item) => readTerm(item, features));
  requireIncreasing(terms);
  const forms = readArray(formsJson, 'forms of the distance').map((item) => readForm(item, features));
  require(forms.length <= MAXIMUM.forms, 'distance: too many forms');
  require(terms.length + forms.length > 0, 'distance: neither terms nor forms');
  return { terms, forms };
}

/** @param {{feature: number}[]} items */
function requireIncreasing(items) {
  require(items.every(({ feature }, i) => i === 0 || items[i - 1].feature < feature), 'distance: features are not strictly increasing');
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @returns {Feature}
 */
function readFeatureOf(json, features) {
  const feature = features[readIndex(json, 'feature of the distance', features.length)];
  require(feature.missing === null, 'distance: a feature with missing values');
  return feature;
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @returns {DistanceTerm}
 */
function readTerm(json, features) {
  const what = 'term of the distance';
  const kind = ['each', 'unequal', 'table'].find((key) => json instanceof Map && json.has(key));
  if (kind === undefined) return reject(`${what}: unknown`);
  const part = readObject(json, what, ['feature', kind]);
  const feature = readFeatureOf(part('feature'), features);
  const k = features.indexOf(feature);
  if (kind === 'each') {
    require(feature.kind !== 'categorical', 'distance: "each" for a categorical feature');
    return { feature: k, cost: { kind, cost: readCost(part(kind)) } };
  }
  if (feature.levels === null) return reject('distance: a feature without levels needs "each"');
  if (kind === 'unequal') return { feature: k, cost: { kind, cost: readCost(part(kind)) } };
  const rows = readArrayOf(part(kind), what, feature.levels.length - 1).map((row, i) => readArrayOf(row, what, i + 1).map(readCost));
  return { feature: k, cost: { kind: 'table', rows } };
}

/** @param {Json} json */
function readCost(json) {
  const cost = readNumber(json, 'cost');
  require(cost.sign() >= 0, 'distance: a negative cost');
  return cost;
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @returns {DistanceForm}
 */
function readForm(json, features) {
  const [weightJson, entriesJson] = readArrayOf(json, 'form of the distance', 2);
  const weight = readNumber(weightJson, 'weight of a form');
  require(weight.sign() > 0, 'distance: a form whose weight is not positive');
  const entries = readArray(entriesJson, 'form of the distance').map((item) => {
    const [featureJson, alpha] = readArrayOf(item, 'entry of a form', 2);
    const feature = readFeatureOf(featureJson, features);
    const k = features.indexOf(feature);
    if (Array.isArray(alpha)) {
      if (feature.levels === null) return reject('distance: amounts for a feature without levels');
      return { feature: k, factor: null, amounts: readNumbersOf(alpha, 'amounts of a form', feature.levels.length) };
    }
    require(feature.kind !== 'categorical', 'distance: a factor for a categorical feature');
    return { feature: k, factor: readNumber(alpha, 'factor of a form'), amounts: null };
  });
  require(entries.length > 0, 'distance: a form without entries');
  requireIncreasing(entries);
  return { weight, entries };
}

/**
 * cost_k(u, v) of two codes.
 * @param {Cost} cost
 * @param {Rational} code
 * @param {Rational} other
 */
export function costOf(cost, code, other) {
  if (code.equals(other)) return ZERO;
  if (cost.kind === 'each') return cost.cost.times(code.minus(other).absolute());
  if (cost.kind === 'unequal') return cost.cost;
  const [u, v] = [positionOf(code), positionOf(other)];
  return cost.rows[Math.max(u, v) - 1][Math.min(u, v)];
}

/**
 * alpha_k(x'_k) - alpha_k(x_k) of two codes.
 * @param {FormEntry} entry
 * @param {Rational} code
 * @param {Rational} other
 */
export function changeOf({ factor, amounts }, code, other) {
  if (amounts === null) return /** @type {Rational} */ (factor).times(other.minus(code));
  return amounts[positionOf(other)].minus(amounts[positionOf(code)]);
}

/**
 * The costs of the terms and the z of the forms, of two individuals.
 * @param {{terms: DistanceTerm[], forms: DistanceForm[]}} distance
 * @param {Rational[]} x
 * @param {Rational[]} other
 * @returns {{costs: Rational[], changes: Rational[]}}
 */
export function partsBetween({ terms, forms }, x, other) {
  return {
    costs: terms.map(({ feature, cost }) => costOf(cost, x[feature], other[feature])),
    changes: forms.map(({ entries }) => sum(entries.map((entry) => changeOf(entry, x[entry.feature], other[entry.feature])))),
  };
}

/**
 * @param {Rational} cost
 * @param {1 | 2} power
 */
export function toPower(cost, power) {
  return power === 1 ? cost : cost.squared();
}

/**
 * @param {Distance} distance
 * @param {Rational[]} x
 * @param {Rational[]} other
 * @returns {Rational} d(x, x')
 */
export function distanceBetween(distance, x, other) {
  const { costs, changes } = partsBetween(distance, x, other);
  const squares = changes.map((z, j) => distance.forms[j].weight.times(z.squared()));
  return sum([...costs.map((cost) => toPower(cost, distance.power)), ...squares]);
}
