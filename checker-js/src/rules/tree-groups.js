/**
 * Groups of trees that are looked at together (section 9): the maximum over leaves of all trees of a group that are together
 * possible in a cell, in the place of one maximum a tree.
 *
 * Both copies go down the first tree of a group; where both have come to a leaf, they go on at the root of the next tree with
 * what the tests so far have left of each feature. One copy takes one step at a time. What leads nowhere above the largest sum
 * that was found already is left out.
 */

import { Rational, ZERO } from '../exact/rational.js';
import { readArray, readIndex } from '../file/fields.js';
import { require } from '../rejection.js';
import { canBeRelated, commonRegion, isEmptyRegion } from './regions.js';
import { CellView, maximumOfTree } from './tree-maximum.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../limits.js').Clock} Clock
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('./regions.js').Box} Box
 * @typedef {import('./regions.js').Region} Region
 * @typedef {import('./tree-maximum.js').FoundOfGroup} FoundOfGroup
 * @typedef {import('./tree-maximum.js').TreeForm} TreeForm
 * @typedef {import('./tree-maximum.js').TreeShape} TreeShape
 */

/**
 * A node of what a cell leaves of a tree for one copy: nodes where all codes go the same way are left out.
 * @typedef {object} LiveNode
 * @property {number} at its place in the tree
 * @property {Rational} most the largest value of the leaves below it that the cell leaves, of a leaf its own
 * @property {number} feature that it tests; -1 for a leaf
 * @property {Way[]} ways two, the one with the larger values last; none for a leaf
 */

/** @typedef {{region: Region, to: LiveNode}} Way what is left of the feature that is tested, and where it goes */

/** What a tree of a group has for both copies: at x and at x'. */
/** @typedef {[LiveNode, LiveNode]} LivePair */

/**
 * Both copies on their way: at two nodes of one tree of the group.
 * @typedef {object} Stand
 * @property {number} tree its place in the group
 * @property {LiveNode} node at x
 * @property {LiveNode} other at x'
 * @property {Rational} sum of the leaves in the trees before
 * @property {Rational} bound of the whole sum; where both are at leaves of the last tree, the sum itself
 * @property {number} steps how many of the steps before lead here
 * @property {Step | null} step the last one
 */

/** @typedef {{v: number, region: Region}} Step what becomes of what is left of a variable */

const FEWEST = 2;
const MOST = 4;

/**
 * `[[t, ...], ...]`
 * @param {Json} json
 * @param {number} count how many trees there are
 * @returns {number[][]}
 */
export function readGroups(json, count) {
  const items = readArray(json, 'groups of trees');
  require(items.length > 0, 'trees: no group');
  /** @type {Set<number>} */
  const grouped = new Set();
  return items.map((item) => {
    const places = readArray(item, 'group of trees');
    require(FEWEST <= places.length && places.length <= MOST, `trees: a group of ${places.length} trees`);
    const group = places.map((place) => readIndex(place, 'place of a tree', count));
    group.forEach((t, i) => {
      require(i === 0 || group[i - 1] < t, 'trees: places of a group are not strictly increasing');
      require(!grouped.has(t), 'trees: a tree is in two groups');
      grouped.add(t);
    });
    return group;
  });
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {TreeShape[]} shapes
 * @param {TreeForm} first at x
 * @param {TreeForm} second at x'
 * @param {number[][]} groups
 * @param {Clock} clock
 * @returns {Rational | null} null if there are no leaves that are together possible
 */
export function maximumWithGroups(geometry, cell, shapes, first, second, groups, clock) {
  const view = new CellView(geometry, cell);
  if (!view.isPossible) return null;
  const regions = regionsOf(view);
  let total = first.bias.plus(second.bias);
  const grouped = new Set(groups.flat());
  const alone = [...shapes.keys()].filter((t) => !grouped.has(t)).map((t) => [t]);
  for (const group of [...groups, ...alone]) {
    clock.tick();
    const most = maximumOfGroup(view, regions, shapes, first, second, group, clock);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}

/**
 * @param {CellView} view
 * @returns {Region[]} what the cell leaves of each variable
 */
function regionsOf(view) {
  const { first, second } = view.geometry;
  /** @type {Region[]} */
  const regions = [];
  view.whole.forEach((box, k) => {
    regions[first[k]] = view.region(k, box, 0);
    regions[second[k]] = view.region(k, box, 1);
  });
  return regions;
}

/**
 * @param {CellView} view
 * @param {Region[]} regions
 * @param {TreeShape[]} shapes
 * @param {TreeForm} first
 * @param {TreeForm} second
 * @param {number[]} group
 * @param {Clock} clock
 * @returns {Rational | null}
 */
function maximumOfGroup(view, regions, shapes, first, second, group, clock) {
  if (group.length === 1) return maximumOfTree(view, shapes[group[0]], first.values[group[0]], second.values[group[0]], clock);
  // The first tree of a group remembers what was found last: no other group of a leaf has it.
  const shape = shapes[group[0]];
  const last = shape.lastOfGroup;
  if (last !== null && isFoundAlready(view, shapes, first, second, group, last)) return last.most;
  /** @type {LivePair[]} */
  const pairs = [];
  for (const t of group) {
    const node = liveTree(view, shapes[t], first.values[t], 0, clock);
    const other = liveTree(view, shapes[t], second.values[t], 1, clock);
    if (node === null || other === null) return null;
    pairs.push([node, other]);
  }
  const most = new Descent(view, regions, pairs, clock).maximum();
  shape.lastOfGroup = { values: group.map((t) => first.values[t]), otherValues: group.map((t) => second.values[t]), cell: view.cell, most };
  return most;
}

/**
 * @param {CellView} view
 * @param {TreeShape[]} shapes
 * @param {TreeForm} first
 * @param {TreeForm} second
 * @param {number[]} group
 * @param {FoundOfGroup} last
 */
function isFoundAlready(view, shapes, first, second, group, last) {
  return (
    last.values.length === group.length &&
    group.every(
      (t, i) =>
        last.values[i] === first.values[t] &&
        last.otherValues[i] === second.values[t] &&
        view.isLike(shapes[t].features, last.cell),
    )
  );
}

/**
 * What the cell leaves of a tree, for one copy.
 * @param {CellView} view
 * @param {TreeShape} shape
 * @param {Rational[]} values
 * @param {0 | 1} copy
 * @param {Clock} clock
 * @returns {LiveNode | null} null if there is nothing
 */
function liveTree(view, { nodes }, values, copy, clock) {
  // Nodes that the cell leaves, parents before their children, with what is left of the features that their parents test.
  const places = [0];
  /** @type {(Region | null)[]} */
  const regions = [null];
  /** @type {number[]} where the children of each of them begin */
  const begins = [];
  for (let i = 0; i < places.length; i++) {
    clock.tick();
    begins.push(places.length);
    const { children } = nodes[places[i]];
    if (children === null) continue;
    for (const child of children) {
      const { feature, box } = nodes[child];
      const region = view.region(feature, /** @type {Box} */ (box), copy);
      if (isEmptyRegion(region)) continue;
      places.push(child);
      regions.push(region);
    }
  }
  begins.push(places.length);
  /** @type {(LiveNode | null)[]} */
  const live = places.map(() => null);
  for (let i = places.length - 1; i >= 0; i--) {
    const at = places[i];
    const { children } = nodes[at];
    /** @type {Way[]} */
    const ways = [];
    for (let j = begins[i]; j < begins[i + 1]; j++) {
      const to = live[j];
      if (to !== null) ways.push({ region: /** @type {Region} */ (regions[j]), to });
    }
    if (children === null) live[i] = { at, most: values[at], feature: -1, ways };
    else if (ways.length === 1) live[i] = ways[0].to;
    else if (ways.length === 2) live[i] = inner(at, nodes[children[0]].feature, ways);
  }
  return live[0];
}

/**
 * @param {number} at
 * @param {number} feature
 * @param {Way[]} ways two
 * @returns {LiveNode}
 */
function inner(at, feature, [way, other]) {
  const ways = other.to.most.less(way.to.most) ? [other, way] : [way, other];
  return { at, most: ways[1].to.most, feature, ways };
}

/** The way of both copies down all trees of a group. */
class Descent {
  /**
   * @param {CellView} view
   * @param {Region[]} regions what the cell leaves of each variable; changed on the way, and put back
   * @param {LivePair[]} pairs
   * @param {Clock} clock
   */
  constructor(view, regions, pairs, clock) {
    this.geometry = view.geometry;
    this.regions = regions;
    this.pairs = pairs;
    this.clock = clock;
    /** @type {Rational[]} what the trees from each place on add at most */
    this.rests = [...pairs, null].map(() => ZERO);
    /** @type {Step[]} what was left of variables before each step that was taken */
    this.before = [];
    /** @type {Stand[]} */
    this.waiting = [];
    /** @type {Rational | null} */
    this.most = null;
  }

  /** @returns {Rational | null} */
  maximum() {
    // The last tree by itself, then the last two, and so on: what was found of the trees behind limits what comes next.
    for (let tree = this.pairs.length - 1; tree >= 0; tree--) {
      const most = this.maximumFrom(tree);
      if (most === null) return null;
      this.rests[tree] = most;
    }
    return this.rests[0];
  }

  /**
   * @param {number} start
   * @returns {Rational | null} the maximum of the trees from one place on
   */
  maximumFrom(start) {
    const { pairs, waiting } = this;
    const [root, otherRoot] = pairs[start];
    this.most = null;
    this.begin(start, ZERO, this.rests[start + 1].plus(root.most).plus(otherRoot.most));
    for (let stand = waiting.pop(); stand !== undefined; stand = waiting.pop()) {
      this.clock.tick();
      if (!this.isAbove(stand.bound)) continue;
      this.goBack(stand.steps);
      if (stand.step !== null) this.take(stand.step);
      const { tree, node, other } = stand;
      if (node.feature !== -1 || other.feature !== -1) this.goOn(stand);
      else if (tree + 1 === pairs.length) this.most = stand.bound;
      else this.begin(tree + 1, stand.sum.plus(node.most).plus(other.most), stand.bound);
    }
    this.goBack(0);
    return this.most;
  }

  /** @param {Rational} bound */
  isAbove(bound) {
    return this.most === null || this.most.less(bound);
  }

  /**
   * @param {number} tree
   * @param {Rational} sum
   * @param {Rational} bound
   */
  begin(tree, sum, bound) {
    const [node, other] = this.pairs[tree];
    this.waiting.push({ tree, node, other, sum, bound, steps: this.before.length, step: null });
  }

  /**
   * One copy takes a step: the one that is further up in the tree.
   * @param {Stand} stand
   */
  goOn({ tree, node, other, sum }) {
    const isFirst = other.feature === -1 || (node.feature !== -1 && node.at <= other.at);
    const [moving, staying] = isFirst ? [node, other] : [other, node];
    const { first, second } = this.geometry;
    const k = moving.feature;
    const v = isFirst ? first[k] : second[k];
    const rest = sum.plus(this.rests[tree + 1]).plus(staying.most);
    for (const { region, to } of moving.ways) {
      const bound = rest.plus(to.most);
      if (!this.isAbove(bound)) continue;
      const left = commonRegion(this.regions[v], region);
      if (!this.isPossible(k, isFirst ? left : this.regions[first[k]], isFirst ? this.regions[second[k]] : left, left)) continue;
      const steps = this.before.length;
      const stand = { tree, node: isFirst ? to : node, other: isFirst ? other : to, sum, bound, steps, step: { v, region: left } };
      this.waiting.push(stand);
    }
  }

  /**
   * @param {number} k
   * @param {Region} here
   * @param {Region} there
   * @param {Region} changed the one of both that has changed, of a feature that is `same` the only one
   */
  isPossible(k, here, there, changed) {
    const { first, second, similarity } = this.geometry;
    return first[k] === second[k] ? !isEmptyRegion(changed) : canBeRelated(similarity[k], here, there);
  }

  /** @param {Step} step */
  take({ v, region }) {
    this.before.push({ v, region: this.regions[v] });
    this.regions[v] = region;
  }

  /** @param {number} steps how many stay taken */
  goBack(steps) {
    while (this.before.length > steps) {
      const { v, region } = /** @type {Step} */ (this.before.pop());
      this.regions[v] = region;
    }
  }
}
