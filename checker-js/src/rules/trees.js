/** The rule `trees` (section 9): a bound of a line, tree by tree or by groups of trees. */

import { reject, require } from '../rejection.js';
import { concludeFromBound } from './conclude.js';
import { maximumWithGroups, readGroups } from './tree-groups.js';
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
 * `["trees", way]` or `["trees", way, [[t, ...], ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function trees(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'trees') return reject('trees: not for this body');
  require(json.length === 2 || json.length === 3, `trees: ${json.length} entries where 2 or 3 are needed`);
  const groups = json.length === 2 ? null : readGroups(json[2], body.trees.length);
  const line = context.readLine(json[1]);
  const shapes = context.derive(body, () => shapesOf(body, context.clock));
  const { first, second } = context.derive(line, () => ({
    first: treeFormOf(scoreBody(body, line.first), line.a),
    second: treeFormOf(scoreBody(body, line.second), line.b.negated()),
  }));
  const { geometry, clock } = context;
  if (groups === null) return concludeFromBound(line, maximumOfTrees(geometry, cell, shapes, first, second, clock));
  return concludeFromBound(line, maximumWithGroups(geometry, cell, shapes, first, second, groups, clock));
}

/**
 * @param {TreesBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}
