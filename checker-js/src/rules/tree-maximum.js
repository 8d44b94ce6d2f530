/**
 * The maximum over the pairs of a cell of a sum of trees at x plus a sum of trees at x': tree by tree, over the pairs of
 * leaves that are together possible in the cell (section 9).
 */

import { TreesBody } from '../bodies/trees.js';
import { Rational } from '../exact/rational.js';
import { canBeRelated, isEmptyRegion, regionOf, wholeBox } from './regions.js';

/**
 * @typedef {import('../bodies/trees.js').Tree} Tree
 * @typedef {import('../bodies/trees.js').InnerNode} InnerNode
 * @typedef {import('../claim/space.js').Feature} Feature
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('../limits.js').Clock} Clock
 * @typedef {import('./regions.js').Box} Box
 * @typedef {import('./regions.js').Region} Region
 */

/**
 * The boxes of the leaves of a tree, and the features it tests.
 * @typedef {{boxes: Map<number, Box>[], features: number[]}} TreeShape
 */

/** A number plus the values of the leaves of each tree, in the order of the shape's boxes. */
/** @typedef {{bias: Rational, values: Rational[][]}} TreeForm */

/**
 * @param {TreesBody} body
 * @returns {TreeShape[]}
 */
export function shapesOf(body) {
  return body.trees.map((tree) => {
    /** @type {Map<number, Box>[]} */
    const boxes = [];
    const features = new Set(tree.flatMap((node) => (Array.isArray(node) ? [] : [node.feature])));
    /** @type {{at: number, box: Map<number, Box>}[]} */
    const waiting = [{ at: 0, box: new Map() }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const node = tree[next.at];
      if (Array.isArray(node)) {
        boxes.push(next.box);
        continue;
      }
      const feature = body.space.features[node.feature];
      waiting.push({ at: node.right, box: withTest(next.box, node, feature, false) });
      waiting.push({ at: next.at + 1, box: withTest(next.box, node, feature, true) });
    }
    return { boxes, features: [...features] };
  });
}

/**
 * @param {Map<number, Box>} box
 * @param {InnerNode} node
 * @param {Feature} feature
 * @param {boolean} left
 */
function withTest(box, node, feature, left) {
  const before = box.get(node.feature) ?? wholeBox(feature);
  const after = { ...before };
  if (node.threshold !== null) {
    const { threshold } = node;
    if (left && (before.upTo === null || threshold.less(before.upTo))) after.upTo = threshold;
    if (!left && (before.above === null || before.above.less(threshold))) after.above = threshold;
    after.missing = before.missing && node.missingLeft === left;
  } else {
    const inside = /** @type {Set<number>} */ (node.positions);
    after.positions = new Set([.../** @type {Set<number>} */ (before.positions)].filter((position) => inside.has(position) === left));
  }
  return new Map(box).set(node.feature, after);
}

/**
 * @param {TreesBody} body of one score, whose trees have the shapes that are used with it
 * @param {Rational} factor
 * @returns {TreeForm}
 */
export function treeFormOf(body, factor) {
  const values = body.trees.map((tree) => tree.flatMap((node) => (Array.isArray(node) ? [node[0].times(factor)] : [])));
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
  let total = first.bias.plus(second.bias);
  for (let t = 0; t < shapes.length; t++) {
    clock.tick();
    const most = maximumOfTree(view, shapes[t], first.values[t], second.values[t]);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}

/** The cell as seen by boxes: regions of both copies. */
class CellView {
  /**
   * @param {Geometry} geometry
   * @param {Cell} cell
   */
  constructor(geometry, cell) {
    this.geometry = geometry;
    this.cell = cell;
    /** @type {Map<number, [Region, Region]>} of features, without any test */
    this.whole = new Map();
    this.isPossible = geometry.similarity.every((relation, k) => canBeRelated(relation, ...this.wholeRegions(k)));
  }

  /**
   * @param {number} k
   * @returns {[Region, Region]}
   */
  wholeRegions(k) {
    const known = this.whole.get(k);
    if (known !== undefined) return known;
    const box = wholeBox(this.geometry.space.features[k]);
    /** @type {[Region, Region]} */
    const regions = [this.region(k, box, 0), this.region(k, box, 1)];
    this.whole.set(k, regions);
    return regions;
  }

  /**
   * @param {number} k
   * @param {Box} box
   * @param {0 | 1} copy
   */
  region(k, box, copy) {
    const v = copy === 0 ? this.geometry.first[k] : this.geometry.second[k];
    return regionOf(this.geometry.space.features[k], box, this.cell.lo[v], this.cell.hi[v]);
  }

  /**
   * @param {TreeShape} shape
   * @param {Rational[]} values
   * @param {0 | 1} copy
   * @returns {Reached[]} the leaves that one copy can come to, the largest value first
   */
  reached(shape, values, copy) {
    /** @type {Reached[]} */
    const leaves = [];
    shape.boxes.forEach((boxes, leaf) => {
      /** @type {Map<number, Region>} */
      const regions = new Map();
      for (const [k, box] of boxes) {
        const region = this.region(k, box, copy);
        if (isEmptyRegion(region)) return;
        regions.set(k, region);
      }
      leaves.push({ value: values[leaf], regions });
    });
    return leaves.sort((a, b) => b.value.compare(a.value));
  }

  /**
   * @param {Reached} leaf
   * @param {Reached} other
   */
  areTogetherPossible(leaf, other) {
    for (const [k, region] of leaf.regions) {
      if (!canBeRelated(this.geometry.similarity[k], region, other.regions.get(k) ?? this.wholeRegions(k)[1])) return false;
    }
    for (const [k, region] of other.regions) {
      if (leaf.regions.has(k)) continue;
      if (!canBeRelated(this.geometry.similarity[k], this.wholeRegions(k)[0], region)) return false;
    }
    return true;
  }
}

/** @typedef {{value: Rational, regions: Map<number, Region>}} Reached */

/**
 * @param {CellView} view
 * @param {TreeShape} shape
 * @param {Rational[]} values
 * @param {Rational[]} otherValues
 * @returns {Rational | null}
 */
function maximumOfTree(view, shape, values, otherValues) {
  if (!view.isPossible) return null;
  const leaves = view.reached(shape, values, 0);
  const others = view.reached(shape, otherValues, 1);
  /** @type {Rational | null} */
  let most = null;
  for (const leaf of leaves) {
    for (const other of others) {
      const value = leaf.value.plus(other.value);
      // The other leaves that follow have smaller values still.
      if (most !== null && value.atMost(most)) break;
      if (view.areTogetherPossible(leaf, other)) most = value;
    }
  }
  return most;
}
