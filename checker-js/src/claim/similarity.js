/** Who is similar to whom: one relation a feature (section 2, "Similarity"; section 18), and perhaps a distance (section 19). */

import { Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArrayOf, readIndex, readArray, readObject } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { changesAlong, checkAlong, readAlong } from './along.js';
import { distanceBetween, readDistance } from './distance.js';
import { positionOf } from './space.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./space.js').Feature} Feature
 * @typedef {import('./space.js').Space} Space
 * @typedef {import('./distance.js').Distance} Distance
 * @typedef {import('./along.js').Along} Along
 */

/**
 * @typedef {object} Relation
 * @property {'same' | 'within' | 'between' | 'free' | 'pairs' | 'along'} kind
 * @property {Rational} low the least x' - x of `between`, and of `within`: minus the tolerance; else 0
 * @property {Rational} high the largest one
 * @property {[number, number][]} allowed of `pairs`, the smaller position first; else empty
 * @property {Along | null} along with which feature it changes, of `along` (sections 22 and 26)
 */

/**
 * @param {Json} json
 * @param {Space} space
 * @returns {{similarity: Relation[], distance: Distance | null}}
 */
export function readSimilarity(json, space) {
  const part = readObject(json, 'similarity', ['similarity'], ['distance']);
  const items = readArrayOf(part('similarity'), 'similarity', space.features.length);
  const similarity = items.map((item, k) => readRelation(item, space.features, k));
  checkAlong(similarity, space.features);
  const distance = part('distance');
  require(distance === undefined || !goesAlong(similarity), 'similarity: "along" and a distance');
  return { similarity, distance: distance === undefined ? null : readDistance(distance, space) };
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @param {number} k
 * @returns {Relation}
 */
function readRelation(json, features, k) {
  const feature = features[k];
  const kind = json instanceof Map ? json.get('kind') : null;
  const what = `relation of ${feature.name}`;
  if (kind === 'same' || kind === 'free') {
    readObject(json, what, ['kind']);
    return { kind, low: ZERO, high: ZERO, allowed: [], along: null };
  }
  if (kind === 'within') {
    const tolerance = readNumber(readObject(json, what, ['kind', 'tolerance'])('tolerance'), what);
    require(tolerance.sign() > 0, `${what}: the tolerance is not positive`);
    require(feature.kind !== 'categorical', `${what}: "within" for a categorical feature`);
    require(!feature.discrete || tolerance.isWhole(), `${what}: the tolerance is not whole`);
    return { kind, low: tolerance.negated(), high: tolerance, allowed: [], along: null };
  }
  if (kind === 'between') {
    const part = readObject(json, what, ['kind', 'low', 'high']);
    const [low, high] = [readNumber(part('low'), what), readNumber(part('high'), what)];
    require(low.atMost(high), `${what}: low is above high`);
    require(feature.kind !== 'categorical', `${what}: "between" for a categorical feature`);
    require(feature.missing === null, `${what}: "between" for a feature with missing values`);
    require(!feature.discrete || (low.isWhole() && high.isWhole()), `${what}: limits that are not whole`);
    return { kind, low, high, allowed: [], along: null };
  }
  if (kind === 'pairs') {
    const allowed = readArray(readObject(json, what, ['kind', 'allowed'])('allowed'), what);
    return { kind, low: ZERO, high: ZERO, allowed: readAllowed(allowed, feature, what), along: null };
  }
  if (kind === 'along') return { kind, low: ZERO, high: ZERO, allowed: [], along: readAlong(json, features, k, what) };
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
 * Whether the two codes of a feature may differ by limited amounts.
 * @param {Relation} relation
 */
export function isNear({ kind }) {
  return kind === 'within' || kind === 'between';
}

/**
 * Whether it matters who of two similar individuals is x (section 18).
 * @param {Relation[]} similarity
 */
export function isOneWay(similarity) {
  return similarity.some(({ low, high }) => !low.equals(high.negated()));
}

/**
 * Whether nobody is similar to themselves by this relation (section 6).
 * @param {Relation} relation
 */
export function moves({ low, high }) {
  return low.sign() > 0 || high.sign() < 0;
}

/**
 * Whether some feature changes along with another one.
 * @param {Relation[]} similarity
 */
export function goesAlong(similarity) {
  return similarity.some(({ kind }) => kind === 'along');
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
    case 'along':
      throw new Error('a relation that needs the codes of another feature');
    case 'within':
    case 'between': {
      if (feature.missing !== null) {
        const missing = code.equals(feature.missing);
        if (missing !== other.equals(feature.missing)) return false;
      }
      const difference = other.minus(code);
      return relation.low.atMost(difference) && difference.atMost(relation.high);
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
 * @param {{space: Space, similarity: Relation[], distance: Distance | null}} claim
 * @param {Rational[]} x
 * @param {Rational[]} other
 */
export function areSimilar({ space, similarity, distance }, x, other) {
  const areRelated = similarity.every((relation, k) => {
    if (relation.along !== null) return changesAlong(relation.along, k, x, other);
    return related(space.features[k], relation, x[k], other[k]);
  });
  if (!areRelated) return false;
  return distance === null || distanceBetween(distance, x, other).atMost(distance.bound);
}
