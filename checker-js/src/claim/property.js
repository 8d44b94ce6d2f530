/** What similar individuals must have in common (section 2, "Property"; section 10, "Property"; sections 16 and 21). */

import { ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readIndex, readObject, readOnly } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { readRate } from './rate.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./head.js').Head} Head
 * @typedef {import('./rate.js').Rate} Rate
 * @typedef {import('./space.js').Space} Space
 */

/**
 * @typedef {object} Property
 * @property {'decision' | 'score' | 'probability' | 'prediction' | 'lipschitz'} kind
 * @property {Rational} margin of a decision; else 0
 * @property {Rational} delta of a decision 0
 * @property {number | null | undefined} ofClass the class of interest, null for all of them; undefined without classes
 * @property {Rate | null} rate of `lipschitz`: by how much more than delta scores may differ that are further apart
 */

/**
 * @param {Json} json
 * @param {Space} space
 * @returns {Property}
 */
export function readProperty(json, space) {
  const inner = readOnly(json, 'property');
  const kind = inner instanceof Map ? inner.get('kind') : null;
  if (kind !== 'decision' && kind !== 'score' && kind !== 'probability' && kind !== 'prediction' && kind !== 'lipschitz') {
    return reject('property: an unknown kind');
  }
  const number = kind === 'decision' ? 'margin' : 'delta';
  const ofRate = kind === 'lipschitz' ? ['constant', 'distance'] : [];
  const part = readObject(inner, 'property', ['kind', number, ...ofRate], ['class']);
  const value = readNumber(part(number), `${number} of the property`);
  if (kind !== 'decision') {
    require(value.sign() >= 0, 'property: delta is negative');
    require(kind !== 'probability' || value.less(ONE), 'property: delta of a probability is not below 1');
  }
  return {
    kind,
    margin: kind === 'decision' ? value : ZERO,
    delta: kind === 'decision' ? ZERO : value,
    ofClass: readClass(part('class')),
    rate: kind === 'lipschitz' ? readRate(part('constant'), part('distance'), space) : null,
  };
}

/**
 * @param {Json | undefined} json
 * @returns {number | null | undefined}
 */
function readClass(json) {
  return json === null || json === undefined ? json : readIndex(json, 'class of the property', MAXIMUM.scores);
}

/**
 * Whether a property can be one of a model with this head.
 * @param {Property} property
 * @param {Head} head
 * @param {boolean} oneWay whether similarity is (section 18)
 */
export function checkProperty(property, head, oneWay) {
  if (oneWay && property.kind === 'decision') {
    require(property.margin.sign() >= 0, 'property: a negative margin, though similarity is one-way');
    require(property.ofClass !== null, 'property: a decision of every class, though similarity is one-way');
  }
  if (head.kind === 'two') {
    require(property.ofClass === undefined, 'property: a class, but the model has no classes');
    require(property.kind !== 'decision' || head.labels !== null, 'property: a decision needs labels');
    require(property.kind !== 'probability' || head.link !== null, 'property: a probability needs a link');
    require(property.kind !== 'prediction' || head.exponential, 'property: a prediction needs the exponential link');
    require(property.kind !== 'lipschitz' || !head.exponential, 'property: with the exponential link scores have no rate');
    return;
  }
  if (property.ofClass === undefined) reject('property: the class is missing');
  require(property.kind !== 'prediction', 'property: a model of several scores has no prediction');
  require(property.ofClass === null || property.ofClass < head.labels.length, 'property: a class that the model has not');
  if (property.kind === 'decision') {
    require(property.margin.sign() >= 0, 'property: a negative margin');
    require(head.classes === 'argmax' || property.margin.isZero(), 'property: votes with a margin');
  } else {
    require(head.classes === 'argmax', 'property: votes have no score of a class');
    require(property.kind !== 'probability' || head.link !== null, 'property: a probability needs a link');
  }
}
