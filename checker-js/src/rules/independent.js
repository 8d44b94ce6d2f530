/** The rule `independent` (section 4): no feature that may differ matters to any score. */

import { ZERO } from '../exact/rational.js';
import { readArrayOf } from '../file/fields.js';
import { require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/claim.js').Claim} Claim
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * `["independent"]`
 * @param {Claim} claim
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function independent({ similarity, model, property }, json) {
  readArrayOf(json, 'independent', 1);
  require(property.kind !== 'decision' || property.margin.sign() >= 0, 'independent: the margin is negative');
  similarity.forEach(({ kind }, k) => {
    require(kind === 'same' || model.body.isConstant(k), `independent: feature ${k} may differ, and matters`);
  });
  return { clearance: ZERO, line: null };
}
