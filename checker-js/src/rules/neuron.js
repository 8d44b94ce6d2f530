/** The node `neuron` (section 15): a cell cut at an inner quantity of a network. */

import { readNumber } from '../exact/number-syntax.js';
import { readArrayOf, readIndex } from '../file/fields.js';
import { larger, Rational, smaller } from '../exact/rational.js';
import { reject } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Limit} Limit
 */

/**
 * @param {number} layer
 * @param {number} neuron
 * @param {number} copy 0: y(x), 1: y(x'), 2: y(x') - y(x)
 */
export function quantityKey(layer, neuron, copy) {
  return `${layer} ${neuron} ${copy}`;
}

/**
 * `["neuron", l, i, copy, at]`: the left child has the upper limit `at`, the right one the lower limit.
 * @param {Body} body
 * @param {Cell} cell
 * @param {Json} json
 * @returns {[Cell, Cell]}
 */
export function splitAtNeuron(body, cell, json) {
  if (body.kind !== 'network') return reject('neuron: the model is not a network');
  const [, layerJson, neuronJson, copyJson, atJson] = readArrayOf(json, 'neuron', 5);
  const layer = readIndex(layerJson, 'layer', body.layers.length);
  const neuron = readIndex(neuronJson, 'neuron', body.layers[layer].biases.length);
  const copy = readIndex(copyJson, 'copy', 3);
  const at = readNumber(atJson, 'place of a neuron');
  return cutAtQuantity(cell, quantityKey(layer, neuron, copy), at);
}

/**
 * @param {Cell} cell
 * @param {string} key of an inner quantity
 * @param {Rational} at
 * @returns {[Cell, Cell]} with the upper limit `at` of the quantity, and with the lower one; the sharper limit counts
 */
export function cutAtQuantity(cell, key, at) {
  const { lo, hi } = cell.limits.get(key) ?? { lo: null, hi: null };
  const left = { lo, hi: hi === null ? at : smaller(hi, at) };
  const right = { lo: lo === null ? at : larger(lo, at), hi };
  return [withLimit(cell, key, left), withLimit(cell, key, right)];
}

/**
 * @param {Cell} cell
 * @param {string} key
 * @param {Limit} limit
 * @returns {Cell}
 */
function withLimit(cell, key, limit) {
  return { ...cell, limits: new Map(cell.limits).set(key, limit), depth: cell.depth + 1 };
}

