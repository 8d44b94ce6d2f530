/**
 * The maximum over the pairs of a cell of a sum of trees at x plus a sum of trees at x': tree by tree, over the pairs of
 * leaves that are together possible in the cell (section 9).
 *
 * Both copies go down a tree together, from its root. What the tests above a node leave of a feature becomes smaller on the way
 * down: two nodes that are not together possible have no leaves below them that are. Nor is a pair of nodes looked at whose
 * largest values do not exceed what was found already.
 */

import { TreesBody } from '../bodies/trees.js';
import { larger, Rational } from '../exact/rational.js';
import { canBeRelated, regionOf, wholeBox } from './regions.js';

/**
 * @typedef {import('../bodies/trees.js').InnerNode} InnerNode
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('../limits.js').Clock} Clock
 * @typedef {import('./regions.js').Box} Box
 * @typedef {import('./regions.js').Region} Region
 */

/**
 * A node of a tree, what the test above it leaves of a feature, and the node above it; of the root there is no such test.
 * @typedef {object} ShapeNode
 * @property {ShapeNode | null} parent
 * @property {number} feature that the parent tests
 * @property {Box | null} box
 * @property {[number, number] | null} children left and right; null for a leaf
 */

/**
 * What was found last: nothing changes where the intervals of the features that a tree tests do not.
 * @typedef {{values: Rational[], otherValues: Rational[], cell: Cell, most: Rational | null}} Found
 */

/**
 * The same of a group of trees (tree-groups.js), with the values of each of them.
 * @typedef {{values: Rational[][], otherValues: Rational[][], cell: Cell, most: Rational | null}} FoundOfGroup
 */

/**
 * @typedef {object} TreeShape
 * @property {ShapeNode[]} nodes
 * @property {number[]} features that it tests
 * @property {Found | null} last
 * @property {FoundOfGroup | null} lastOfGroup of a group whose first tree it was
 */

/** A number, and for each tree the largest value of the leaves below each node, of a leaf its own. */
/** @typedef {{bias: Rational, values: Rational[][]}} TreeForm */

/**
 * @param {TreesBody} body
 * @param {Clock} clock
 * @returns {TreeShape[]}
 */
export function shapesOf(body, clock) {
  return body.trees.map((tree) => {
    /** @type {ShapeNode[]} */
    const nodes = [];
    /** @type {Set<number>} */
    const features = new Set();
    tree.forEach((node, at) => {
      clock.tick();
      // The parent of a node stands before it, and has made it; the root has none.
      const own = nodes[at] ?? { parent: null, feature: -1, box: null, children: null };
      nodes[at] = own;
      if (Array.isArray(node)) return;
      const { feature } = node;
      features.add(feature);
      const before = boxOf(own, feature) ?? wholeBox(body.space.features[feature]);
      own.children = [at + 1, node.right];
      nodes[at + 1] = { parent: own, feature, box: boxOfTest(before, node, true), children: null };
      nodes[node.right] = { parent: own, feature, box: boxOfTest(before, node, false), children: null };
    });
    return { nodes, features: [...features], last: null, lastOfGroup: null };
  });
}

/**
 * @param {Box} before
 * @param {InnerNode} node
 * @param {boolean} left
 * @returns {Box}
 */
function boxOfTest(before, node, left) {
  /** @type {Box} */
  const after = { ...before, seen: [null, null] };
  if (node.threshold !== null) {
    const { threshold } = node;
    if (left && (before.upTo === null || threshold.less(before.upTo))) after.upTo = threshold;
    if (!left && (before.above === null || before.above.less(threshold))) after.above = threshold;
    after.missing = before.missing && node.missingLeft === left;
  } else {
    const inside = /** @type {Set<number>} */ (node.positions);
    after.positions = new Set([.../** @type {Set<number>} */ (before.positions)].filter((position) => inside.has(position) === left));
  }
  return after;
}

/**
 * @param {ShapeNode} node
 * @param {number} k
 * @returns {Box | null} what the tests above the node leave of a feature; null if none tests it
 */
function boxOf(node, k) {
  for (let own = node; own.parent !== null; own = own.parent) if (own.feature === k) return own.box;
  return null;
}

/**
 * @param {TreesBody} body of one score, whose trees have the shapes that are used with it
 * @param {Rational} factor
 * @returns {TreeForm}
 */
export function treeFormOf(body, factor) {
  const values = body.trees.map((tree) => {
    /** @type {Rational[]} */
    const most = [];
    // Children stand behind their parents.
    for (let at = tree.length - 1; at >= 0; at--) {
      const node = tree[at];
      most[at] = Array.isArray(node) ? node[0].times(factor) : larger(most[at + 1], most[node.right]);
    }
    return most;
  });
  return { bias: body.bias[0].times(factor), values };
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {TreeShape[]} shapes
 * @param {TreeForm} first at x
 * @param {TreeForm} second at x'
 * @param {Clock} clock
 * @returns {Rational | null} null if some tree has no pair of leaves
 */
export function maximumOfTrees(geometry, cell, shapes, first, second, clock) {
  const view = new CellView(geometry, cell);
  if (!view.isPossible) return null;
  let total = first.bias.plus(second.bias);
  for (let t = 0; t < shapes.length; t++) {
    clock.tick();
    const most = maximumOfTree(view, shapes[t], first.values[t], second.values[t], clock);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}

/** The cell as seen by boxes: regions of both copies. */
export class CellView {
  /**
   * @param {Geometry} geometry
   * @param {Cell} cell
   */
  constructor(geometry, cell) {
    this.geometry = geometry;
    this.cell = cell;
    /** of features, without any test */
    this.whole = geometry.space.features.map(wholeBox);
    this.isPossible = this.whole.every((box, k) => this.canMeet(k, box, box));
  }

  /**
   * What a box and the cell leave of one copy of a feature, found once for cells that follow each other with the same interval.
   * @param {number} k
   * @param {Box} box
   * @param {0 | 1} copy
   * @returns {Region}
   */
  region(k, box, copy) {
    const { first, second } = this.geometry;
    const v = copy === 0 ? first[k] : second[k];
    // A feature that is `same` has one variable, and one region for both copies.
    const slot = first[k] === second[k] ? 0 : copy;
    const lo = this.cell.lo[v];
    const hi = this.cell.hi[v];
    const seen = box.seen[slot];
    const open = this.cell.open?.[v] ?? false;
    if (seen !== null && seen.lo === lo && seen.hi === hi && seen.open === open) return seen.region;
    const region = regionOf(this.geometry.space.features[k], box, lo, hi, open);
    box.seen[slot] = { lo, hi, open, region };
    return region;
  }

  /**
   * @param {number} k
   * @param {Box} box at x
   * @param {Box} other at x'
   */
  canMeet(k, box, other) {
    return canBeRelated(this.geometry.similarity[k], this.region(k, box, 0), this.region(k, other, 1));
  }

  /** @param {number} k */
  isSame(k) {
    return this.geometry.similarity[k].kind === 'same';
  }

  /**
   * Whether what two nodes leave of a feature is together possible.
   * @param {number} k
   * @param {ShapeNode} node at x
   * @param {ShapeNode} other at x'
   */
  areTogetherPossible(k, node, other) {
    return this.canMeet(k, boxOf(node, k) ?? this.whole[k], boxOf(other, k) ?? this.whole[k]);
  }

  /**
   * @param {number[]} features
   * @param {Cell} before
   * @returns {boolean} whether the intervals of these features are those of a cell of before
   */
  isLike(features, before) {
    const { lo, hi } = this.cell;
    const isSame = (/** @type {number} */ v) => lo[v] === before.lo[v] && hi[v] === before.hi[v];
    return features.every((k) => isSame(this.geometry.first[k]) && isSame(this.geometry.second[k]));
  }
}

/**
 * @param {CellView} view
 * @param {TreeShape} shape
 * @param {Rational[]} values
 * @param {Rational[]} otherValues
 * @param {Clock} clock
 * @returns {Rational | null}
 */
export function maximumOfTree(view, shape, values, otherValues, clock) {
  const { last, features } = shape;
  if (last !== null && last.values === values && last.otherValues === otherValues && view.isLike(features, last.cell)) return last.most;
  const most = maximumOfLeaves(view, shape.nodes, values, otherValues, clock);
  shape.last = { values, otherValues, cell: view.cell, most };
  return most;
}

/**
 * @param {CellView} view
 * @param {ShapeNode[]} nodes
 * @param {Rational[]} values
 * @param {Rational[]} otherValues
 * @param {Clock} clock
 * @returns {Rational | null}
 */
function maximumOfLeaves(view, nodes, values, otherValues, clock) {
  /** @type {Rational | null} */
  let most = null;
  /** @type {PairOfNodes[]} that are together possible */
  const waiting = [{ at: 0, other: 0, value: null }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    clock.tick();
    if (most !== null && valueOf(next, values, otherValues).atMost(most)) continue;
    const { children } = nodes[next.at];
    const { children: otherChildren } = nodes[next.other];
    if (children === null && otherChildren === null) {
      most = valueOf(next, values, otherValues);
      continue;
    }
    // Both go down at once where they are at the same node, else the one that is further up.
    const both = next.at === next.other;
    const down = both || otherChildren === null || (children !== null && next.at < next.other);
    const firsts = down && children !== null ? children : [next.at];
    const seconds = (both || !down) && otherChildren !== null ? otherChildren : [next.other];
    /** @type {PairOfNodes[]} */
    const found = [];
    for (const at of firsts) {
      for (const other of seconds) {
        const tested = firsts.length > 1 ? nodes[at].feature : nodes[other].feature;
        // One and the same code does not go both ways at one test.
        if (both && at !== other && view.isSame(tested)) continue;
        if (view.areTogetherPossible(tested, nodes[at], nodes[other])) found.push({ at, other, value: null });
      }
    }
    // The one with the largest values is taken next.
    if (found.length > 1) found.sort((a, b) => valueOf(a, values, otherValues).compare(valueOf(b, values, otherValues)));
    for (const pair of found) waiting.push(pair);
  }
  return most;
}

/** @typedef {{at: number, other: number, value: Rational | null}} PairOfNodes the largest value below them, where it was asked for */

/**
 * @param {PairOfNodes} pair
 * @param {Rational[]} values
 * @param {Rational[]} otherValues
 */
function valueOf(pair, values, otherValues) {
  pair.value ??= values[pair.at].plus(otherValues[pair.other]);
  return pair.value;
}
