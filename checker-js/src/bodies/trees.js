/** The body `trees` (section 9): a number plus the value of one leaf of each tree. */

import { larger, Rational } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readIndex, readInt, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { positionOf } from '../claim/space.js';
import { dot } from './affine.js';
import { readCoefficient } from './columns.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../claim/space.js').Feature} Feature
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

/**
 * @typedef {object} InnerNode
 * @property {number} feature
 * @property {Rational | null} threshold of a number: left if the code is at most this
 * @property {Set<number> | null} positions of a levels kind: left if the position is one of these
 * @property {number} right the index of the right child; the left one is the next node
 * @property {boolean} missingLeft where a missing code goes
 */

/** A leaf is the array of its values, one a score. */
/** @typedef {(InnerNode | Rational[])[]} Tree */

export class TreesBody {
  kind = /** @type {const} */ ('trees');
  irrational = false;

  /**
   * @param {Space} space
   * @param {Rational[]} bias
   * @param {Tree[]} trees
   */
  constructor(space, bias, trees) {
    this.space = space;
    this.bias = bias;
    this.trees = trees;
    this.scores = bias.length;
    /** @type {Set<number>} */
    this.tested = new Set();
    for (const tree of trees) for (const node of tree) if (!Array.isArray(node)) this.tested.add(node.feature);
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    const scores = this.bias.slice();
    for (const tree of this.trees) {
      let at = 0;
      for (let node = tree[0]; ; node = tree[at]) {
        if (Array.isArray(node)) {
          node.forEach((value, i) => {
            scores[i] = scores[i].plus(value);
          });
          break;
        }
        at = goesLeft(node, this.space.features[node.feature], codes[node.feature]) ? at + 1 : node.right;
      }
    }
    return scores;
  }

  /** @param {number} k */
  isConstant(k) {
    return !this.tested.has(k);
  }

  packs() {
    return ['trees'];
  }

  /**
   * The score alpha . f + shift, as a body of one score (section 10).
   * @param {Rational[]} alpha
   * @param {Rational} shift
   */
  form(alpha, shift) {
    const trees = this.trees.map((tree) => tree.map((node) => (Array.isArray(node) ? [dot(alpha, node)] : node)));
    return new TreesBody(this.space, [dot(alpha, this.bias).plus(shift)], trees);
  }

  /** |bias| plus the largest |value| of a leaf of each tree, the largest entry of arrays: the least `constant` of rounding. */
  size() {
    const sizeOf = (/** @type {Rational[]} */ values) => values.map((value) => value.absolute()).reduce(larger);
    return this.trees.reduce((total, tree) => {
      const leaves = tree.flatMap((node) => (Array.isArray(node) ? [sizeOf(node)] : []));
      return total.plus(leaves.reduce(larger));
    }, sizeOf(this.bias));
  }
}

/**
 * @param {InnerNode} node
 * @param {Feature} feature
 * @param {Rational} code
 */
function goesLeft(node, feature, code) {
  if (feature.missing !== null && code.equals(feature.missing)) return node.missingLeft;
  if (node.threshold !== null) return code.atMost(node.threshold);
  return /** @type {Set<number>} */ (node.positions).has(positionOf(code));
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 */
export function readTrees(json, context) {
  const part = readObject(json, 'body', ['kind', 'bias', 'trees']);
  const items = readArray(part('trees'), 'trees');
  require(items.length > 0, 'body: no tree');
  require(items.length <= MAXIMUM.trees, 'body: too many trees');
  let nodes = 0;
  const trees = items.map((item) => {
    const tree = readArray(item, 'tree').map((node) => readNode(node, context));
    nodes += tree.length;
    require(nodes <= MAXIMUM.treeNodes, 'body: too many nodes of trees');
    checkShape(tree);
    return tree;
  });
  return new TreesBody(context.space, readCoefficient(part('bias'), 'bias', context), trees);
}

/**
 * With several scores a leaf is an array, as an inner node is: numbers are texts, so that their first entries tell.
 * @param {Json} json
 * @param {BodyContext} context
 * @returns {InnerNode | Rational[]}
 */
function readNode(json, context) {
  if (!Array.isArray(json) || typeof json[0] !== 'bigint') return readCoefficient(json, 'value of a leaf', context);
  const index = readIndex(json[0], 'feature of a node', context.space.features.length);
  const feature = context.space.features[index];
  const right = Number(readInt(json[2], 'right child', 0n, BigInt(MAXIMUM.treeNodes)));
  require(json.length === (feature.missing === null ? 3 : 4), 'body: a node without the right number of entries');
  const missing = json[3];
  require(json.length === 3 || missing === 'left' || missing === 'right', 'body: "missing" is neither "left" nor "right"');
  const node = { feature: index, right, missingLeft: missing === 'left' };
  if (feature.levels === null) return { ...node, threshold: readNumber(json[1], 'test of a node'), positions: null };
  return { ...node, threshold: null, positions: readPositions(json[1], feature.levels.length) };
}

/**
 * @param {Json} json
 * @param {number} count
 */
function readPositions(json, count) {
  const positions = readArray(json, 'positions').map((position) => readIndex(position, 'position', count));
  require(positions.every((position, i) => i === 0 || positions[i - 1] < position), 'body: positions are not strictly increasing');
  return new Set(positions);
}

/**
 * Nodes must stand in depth-first order, every one but the root the child of exactly one node before it.
 * @param {Tree} tree
 */
function checkShape(tree) {
  /** @type {number[]} the right children that are still to come, the next one last */
  const waiting = [];
  for (let at = 0; at < tree.length; at++) {
    const node = tree[at];
    if (!Array.isArray(node)) {
      waiting.push(node.right);
      require(waiting.length <= MAXIMUM.treeDepth, 'body: a tree is too deep');
      continue;
    }
    const next = waiting.pop();
    if (next === undefined) {
      require(at === tree.length - 1, 'body: nodes of a tree that are nobody\'s children');
      return;
    }
    require(next === at + 1, 'body: the right child of a node does not follow its left subtree');
  }
  reject('body: a tree without an end');
}
