/** What is made of scores: labels, links, classes (section 2, "Model"; section 10, "Models of n scores"). */

import { ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';

/** @typedef {import('../file/json.js').Json} Json */

/**
 * @typedef {object} HeadOfTwo a model of one score
 * @property {'two'} kind
 * @property {string[] | null} labels
 * @property {boolean} zeroIsUpper
 * @property {{slope: Rational, offset: Rational} | null} link logistic of slope f + offset
 * @property {boolean} exponential whether the link is exp (section 16)
 */

/**
 * @typedef {object} HeadOfClasses a model of several scores
 * @property {'classes'} kind
 * @property {string[]} labels
 * @property {'argmax' | 'votes'} classes
 * @property {null | 'identity' | 'softmax'} link
 * @property {number} scores
 */

/** @typedef {HeadOfTwo | HeadOfClasses} Head */

/**
 * @param {Json} json
 * @returns {Head}
 */
export function readHead(json) {
  return json instanceof Map && json.has('classes') ? readHeadOfClasses(json) : readHeadOfTwo(json);
}

/**
 * @param {Json} json
 * @returns {HeadOfTwo}
 */
function readHeadOfTwo(json) {
  const part = readObject(json, 'head', ['labels', 'zero', 'link']);
  const labels = part('labels') === null ? null : readArrayOf(part('labels'), 'labels', 2).map(readLabel);
  const zero = part('zero');
  require(zero === 'lower' || zero === 'upper', 'head: "zero" is neither "lower" nor "upper"');
  const exponential = part('link') === 'exponential';
  require(!exponential || labels === null, 'head: the exponential link has no labels');
  return { kind: 'two', labels, zeroIsUpper: zero === 'upper', link: exponential ? null : readLink(part('link')), exponential };
}

/** @param {Json} json */
function readLink(json) {
  if (json === null) return null;
  if (json === 'logistic') return { slope: ONE, offset: ZERO };
  const [name, slopeJson, offset] = readArrayOf(json, 'link', 3);
  require(name === 'logistic', 'head: an unknown link');
  const slope = readNumber(slopeJson, 'slope of the link');
  require(!slope.isZero(), 'head: the slope of the link is 0');
  return { slope, offset: readNumber(offset, 'offset of the link') };
}

/**
 * A label as a text that tells it from any other one: texts, truth values, and numbers by value.
 * @param {Json} json
 * @returns {string}
 */
function readLabel(json) {
  if (typeof json === 'string') return JSON.stringify(json);
  if (typeof json === 'boolean') return `${json}`;
  if (typeof json === 'bigint') return `${Rational.of(json)}`;
  return `${readNumber(readObject(json, 'label', ['number'])('number'), 'label')}`;
}

/**
 * @param {Json} json
 * @returns {HeadOfClasses}
 */
function readHeadOfClasses(json) {
  const part = readObject(json, 'head', ['labels', 'classes', 'link']);
  const labels = readArray(part('labels'), 'labels').map(readLabel);
  require(labels.length >= 2, 'head: fewer than two labels');
  require(new Set(labels).size === labels.length, 'head: two equal labels');
  const classes = part('classes');
  const link = part('link');
  if (classes !== 'argmax' && classes !== 'votes') return reject('head: unknown "classes"');
  if (link !== null && link !== 'identity' && link !== 'softmax') return reject('head: an unknown link');
  const count = labels.length;
  if (classes === 'votes') {
    require(3 <= count && count <= 6, 'head: votes need 3 to 6 classes');
    require(link === null, 'head: votes have no link');
  }
  const scores = classes === 'argmax' ? count : (count * (count - 1)) / 2;
  require(scores <= MAXIMUM.scores, 'head: too many scores');
  return { kind: 'classes', labels, classes, link, scores };
}
