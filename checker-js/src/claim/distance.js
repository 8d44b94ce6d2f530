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
  const terms = readArray(part('terms'), 'terms of the distance').map((item) => readTerm(item, features));
  requireIncreasing(terms);
  const forms = readArray(part('forms'), 'forms of the distance').map((item) => readForm(item, features));
  require(forms.length <= MAXIMUM.forms, 'distance: too many forms');
  require(terms.length + forms.length > 0, 'distance: neither terms nor forms');
  const bound = readNumber(part('bound'), 'bound of the distance');
  require(bound.sign() >= 0, 'distance: a negative bound');
  return { power, terms, forms, bound };
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
 * cost_k(u, v)^power of two codes.
 * @param {Distance} distance
 * @param {Cost} cost
 * @param {Rational} code
 * @param {Rational} other
 */
export function costOf({ power }, cost, code, other) {
  if (code.equals(other)) return ZERO;
  let own;
  if (cost.kind === 'each') own = cost.cost.times(code.minus(other).absolute());
  else if (cost.kind === 'unequal') own = cost.cost;
  else {
    const [u, v] = [positionOf(code), positionOf(other)];
    own = cost.rows[Math.max(u, v) - 1][Math.min(u, v)];
  }
  return power === 1 ? own : own.squared();
}

/**
 * @param {Distance} distance
 * @param {Rational[]} x
 * @param {Rational[]} other
 * @returns {Rational} d(x, x')
 */
export function distanceBetween(distance, x, other) {
  const costs = distance.terms.map(({ feature, cost }) => costOf(distance, cost, x[feature], other[feature]));
  const squares = distance.forms.map(({ weight, entries }) => {
    const z = sum(entries.map(({ feature, factor, amounts }) => {
      if (amounts === null) return /** @type {Rational} */ (factor).times(other[feature].minus(x[feature]));
      return amounts[positionOf(other[feature])].minus(amounts[positionOf(x[feature])]);
    }));
    return weight.times(z.squared());
  });
  return sum([...costs, ...squares]);
}
