/** The rule `identical` (section 21): the two of every pair of the cell are equal. */

import { readArrayOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * `["identical"]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function identical({ claim, geometry }, cell, json) {
  readArrayOf(json, 'identical', 1);
  if (claim.property.rate === null) return reject('identical: the property is not "lipschitz"');
  const { first, second, difference } = geometry;
  geometry.similarity.forEach(({ kind }, k) => {
    if (kind === 'same') return;
    const d = difference[k];
    const isZero = d >= 0 && cell.lo[d].isZero() && cell.hi[d].isZero();
    const isOneCode = geometry.isFixed(k, cell) && cell.lo[first[k]].equals(cell.lo[second[k]]);
    require(isZero || isOneCode, `identical: feature ${k} may differ in the cell`);
  });
  return { clearance: claim.property.delta.half(), line: null };
}
