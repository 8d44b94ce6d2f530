/** The rule `trees` (section 9): a bound of a line, tree by tree. */

import { readArrayOf } from '../file/fields.js';
import { reject } from '../rejection.js';
import { concludeFromBound } from './conclude.js';
import { maximumOfTrees, shapesOf, treeFormOf } from './tree-maximum.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/trees.js').TreesBody} TreesBody
 * @typedef {import('../exact/rational.js').Rational} Rational
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * `["trees", way]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function trees(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'trees') return reject('trees: not for this body');
  readArrayOf(json, 'trees', 2);
  const line = context.readLine(json[1]);
  const shapes = context.derive(body, () => shapesOf(body, context.clock));
  const { first, second } = context.derive(line, () => ({
    first: treeFormOf(scoreBody(body, line.first), line.a),
    second: treeFormOf(scoreBody(body, line.second), line.b.negated()),
  }));
  return concludeFromBound(line, maximumOfTrees(context.geometry, cell, shapes, first, second, context.clock));
}

/**
 * @param {TreesBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
