/** The rule `slope` (section 21): on boxes that cover all segments between the two of a pair, no slope is larger than the rate allows. */

import { sizeOf } from '../exact/interval.js';
import { larger, ONE, Rational, smaller, sum, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readIndex } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { slopesOfBody } from './slopes.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/rate.js').Rate} Rate
 * @typedef {import('../claim/space.js').Feature} Feature
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/** An interval a feature: of reals, or of positions. */
/** @typedef {readonly Interval[]} Box */

/**
 * `["slope", [node, ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function slope(context, cell, json) {
  const [, nodesJson] = readArrayOf(json, 'slope', 2);
  const { rate } = context.case;
  if (rate === null) return reject('slope: the property is not "lipschitz"');
  const { geometry, claim } = context;
  const { body } = claim.model;
  const { features } = geometry.space;
  const moving = features.flatMap(({ levels }, k) => (levels === null && geometry.similarity[k].kind !== 'same' ? [k] : []));
  const { first: score } = context.readLineAside(HALF_WAY);
  const slopesOn = context.derive(rate, () => slopesOfBody(body, geometry.space, score.alpha));
  const waiting = [firstBox(geometry, cell)];
  const nodes = readArray(nodesJson, 'nodes of a slope');
  require(nodes.length <= MAXIMUM.slopeNodes, 'slope: too many nodes');
  for (const node of nodes) {
    context.clock.tick();
    const box = waiting.pop();
    if (box === undefined) return reject('slope: a node after the end of the tree');
    if (node === 0n) {
      const slopes = new Map(moving.map((k) => [k, ZERO]));
      for (const [k, range] of slopesOn(box, moving)) slopes.set(k, sizeOf(range));
      require(isWithinRate(rate, slopes), 'slope: a slope is larger than the rate allows');
    } else {
      const [left, right] = cutBox(features, box, node);
      waiting.push(right, left);
    }
  }
  require(waiting.length === 0, 'slope: the tree is not complete');
  return { clearance: body.kind === 'affine' ? claim.property.delta.half() : context.noClearance, line: null };
}

/** The way of all lines of a score. */
const HALF_WAY = '1/2';

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @returns {Box} that holds both codes of every pair of the cell, and all between
 */
function firstBox({ space, similarity, first, second }, cell) {
  return space.features.map(({ levels }, k) => {
    const [i, j] = [first[k], second[k]];
    const box = { lo: smaller(cell.lo[i], cell.lo[j]), hi: larger(cell.hi[i], cell.hi[j]) };
    const mayMove = similarity[k].kind === 'same' || levels === null;
    require(mayMove || box.lo.equals(box.hi), 'slope: levels that may differ and are not fixed to one position');
    return box;
  });
}

/**
 * `[k, at]`
 * @param {Feature[]} features
 * @param {Box} box
 * @param {Json} json
 * @returns {[Box, Box]}
 */
function cutBox(features, box, json) {
  const [feature, place] = readArrayOf(json, 'node of a slope', 2);
  const k = readIndex(feature, 'feature of a cut', features.length);
  const at = readNumber(place, 'place of a cut');
  const { lo, hi } = box[k];
  const isOfLevels = features[k].levels !== null;
  require(isOfLevels ? at.isWhole() && lo.atMost(at) : lo.less(at), 'slope: a cut outside the box');
  require(at.less(hi), 'slope: a cut outside the box');
  const withInterval = (/** @type {Interval} */ own) => box.map((range, i) => (i === k ? own : range));
  return [withInterval({ lo, hi: at }), withInterval({ lo: isOfLevels ? at.plus(ONE) : at, hi })];
}

/**
 * @param {Rate} rate
 * @param {Map<number, Rational>} slopes S_k of the features that may differ
 */
function isWithinRate({ constant, norm, terms }, slopes) {
  /** @type {Rational[]} S_k / c_k */
  const shares = [];
  for (const [k, size] of slopes) {
    if (size.isZero()) continue;
    const cost = terms.find(({ feature }) => feature === k)?.cost;
    if (cost === undefined || cost.kind !== 'each' || cost.cost.isZero()) return false;
    shares.push(size.over(cost.cost));
  }
  if (norm === 1) return shares.every((share) => share.atMost(constant));
  if (norm === 'max') return sum(shares).atMost(constant);
  return sum(shares.map((share) => share.squared())).atMost(constant.squared());
}
