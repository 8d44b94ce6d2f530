/** The node `inner` (section 24): a cell cut at the score of an inner body. */

import { readNumber } from '../exact/number-syntax.js';
import { readArrayOf, readIndex } from '../file/fields.js';
import { reject } from '../rejection.js';
import { cutAtQuantity } from './neuron.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../proof/cell.js').Cell} Cell
 */

/**
 * @param {number} k an inner body
 * @param {number} copy 0: s_k(x), 1: s_k(x')
 */
export function innerKey(k, copy) {
  return `inner ${k} ${copy}`;
}

/**
 * `["inner", k, copy, at]`: the left child has the upper limit `at`, the right one the lower limit, itself left out.
 * @param {Body} body
 * @param {Cell} cell
 * @param {Json} json
 * @returns {[Cell, Cell]}
 */
export function splitAtInner(body, cell, json) {
  if (body.kind !== 'nested') return reject('inner: the model has no inner bodies');
  const [, innerJson, copyJson, atJson] = readArrayOf(json, 'inner', 4);
  const k = readIndex(innerJson, 'inner body', body.inner.length);
  const copy = readIndex(copyJson, 'copy', 2);
  return cutAtQuantity(cell, innerKey(k, copy), readNumber(atJson, 'place of a cut'));
}
