/** Who is similar to whom: one relation a feature (section 2, "Similarity"). */

import { Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArrayOf, readIndex, readArray, readObject, readOnly } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { positionOf } from './space.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./space.js').Feature} Feature
 * @typedef {import('./space.js').Space} Space
 */

/**
 * @typedef {object} Relation
 * @property {'same' | 'within' | 'free' | 'pairs'} kind
 * @property {Rational} tolerance of `within`; else 0
 * @property {[number, number][]} allowed of `pairs`, the smaller position first; else empty
 */

/**
 * @param {Json} json
 * @param {Space} space
 * @returns {Relation[]}
 */
export function readSimilarity(json, space) {
  const items = readArrayOf(readOnly(json, 'similarity'), 'similarity', space.features.length);
  return items.map((item, k) => readRelation(item, space.features[k]));
}

/**
 * @param {Json} json
 * @param {Feature} feature
 * @returns {Relation}
 */
function readRelation(json, feature) {
  const kind = json instanceof Map ? json.get('kind') : null;
  const what = `relation of ${feature.name}`;
  if (kind === 'same' || kind === 'free') {
    readObject(json, what, ['kind']);
    return { kind, tolerance: ZERO, allowed: [] };
  }
  if (kind === 'within') {
    const tolerance = readNumber(readObject(json, what, ['kind', 'tolerance'])('tolerance'), what);
    require(tolerance.sign() > 0, `${what}: the tolerance is not positive`);
    require(feature.kind !== 'categorical', `${what}: "within" for a categorical feature`);
    require(!feature.discrete || tolerance.isWhole(), `${what}: the tolerance is not whole`);
    return { kind, tolerance, allowed: [] };
  }
  if (kind === 'pairs') {
    const allowed = readArray(readObject(json, what, ['kind', 'allowed'])('allowed'), what);
    return { kind, tolerance: ZERO, allowed: readAllowed(allowed, feature, what) };
  }
  return reject(`${what}: unknown`);
}

/**
 * @param {Json[]} items
 * @param {Feature} feature
 * @param {string} what
 * @returns {[number, number][]}
 */
function readAllowed(items, feature, what) {
  if (feature.levels === null) return reject(`${what}: "pairs" for a feature without levels`);
  const count = feature.levels.length;
  /** @type {[number, number][]} */
  const pairs = [];
  for (const item of items) {
    const [first, second] = readArrayOf(item, what, 2).map((position) => readIndex(position, what, count));
    require(first < second, `${what}: a pair without its smaller position first`);
    const before = pairs[pairs.length - 1];
    const increasing = before === undefined || before[0] < first || (before[0] === first && before[1] < second);
    require(increasing, `${what}: pairs are not strictly increasing`);
    pairs.push([first, second]);
  }
  return pairs;
}

/**
 * Whether two codes of a feature are as its relation asks.
 * @param {Feature} feature
 * @param {Relation} relation
 * @param {Rational} code
 * @param {Rational} other
 */
export function related(feature, relation, code, other) {
  switch (relation.kind) {
    case 'free':
      return true;
    case 'same':
      return code.equals(other);
    case 'pairs':
      return code.equals(other) || isAllowed(relation, positionOf(code), positionOf(other));
    case 'within': {
      if (feature.missing !== null) {
        const missing = code.equals(feature.missing);
        if (missing !== other.equals(feature.missing)) return false;
      }
      return code.minus(other).absolute().atMost(relation.tolerance);
    }
  }
}

/**
 * @param {Relation} relation
 * @param {number} position
 * @param {number} other
 */
function isAllowed(relation, position, other) {
  const [first, second] = position < other ? [position, other] : [other, position];
  return relation.allowed.some((pair) => pair[0] === first && pair[1] === second);
}

/**
 * @param {Space} space
 * @param {Relation[]} similarity
 * @param {Rational[]} x
 * @param {Rational[]} other
 */
export function areSimilar(space, similarity, x, other) {
  return similarity.every((relation, k) => related(space.features[k], relation, x[k], other[k]));
}
