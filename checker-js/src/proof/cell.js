/** Variables and cells (section 3): a cell is an interval for each code of x and x' and for some differences. */

import { isDouble, nextDouble } from '../exact/doubles.js';
import { ONE, Rational } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readIndex } from '../file/fields.js';
import { require } from '../rejection.js';
import { isNear } from '../claim/similarity.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../claim/similarity.js').Relation} Relation
 * @typedef {import('../claim/distance.js').Distance} Distance
 * @typedef {import('../claim/along-parts.js').Range} Range
 */

/**
 * @typedef {object} Variable
 * @property {number} feature
 * @property {'code' | 'difference'} role
 * @property {boolean} discrete
 */

/** A limit of an inner quantity of a network (section 15), null for none. */
/** @typedef {{lo: Rational | null, hi: Rational | null}} Limit */

/**
 * @typedef {object} Cell
 * @property {readonly Rational[]} lo the lower ends of the variables
 * @property {readonly Rational[]} hi the upper ends
 * @property {ReadonlyMap<string, Limit>} limits of inner quantities, by "layer neuron copy" or "inner k copy"
 * @property {number} depth
 * @property {readonly boolean[]} [open] whether a lower end itself is left out (section 24); left out: none is
 */

/** Which variable stands for which code. */
export class Geometry {
  /**
   * @param {Space} space
   * @param {Relation[]} similarity
   * @param {Distance | null} [distance]
   * @param {ReadonlyMap<number, Range>} [ranges] codes that features have in the root, where these are not all (sections 22 and 26)
   */
  constructor(space, similarity, distance = null, ranges = new Map()) {
    this.ranges = ranges;
    this.space = space;
    this.similarity = similarity;
    this.distance = distance;
    /** @type {Variable[]} */
    this.variables = [];
    /** @type {number[]} the variable of x_k */
    this.first = [];
    /** @type {number[]} the variable of x'_k, the same one if the feature is `same` */
    this.second = [];
    /** @type {number[]} the variable of x'_k - x_k, or -1 */
    this.difference = space.features.map(() => -1);
    space.features.forEach(({ discrete }, k) => {
      this.first.push(this.variables.length);
      this.variables.push({ feature: k, role: 'code', discrete });
      if (similarity[k].kind !== 'same') this.variables.push({ feature: k, role: 'code', discrete });
      this.second.push(this.variables.length - 1);
    });
    space.features.forEach(({ discrete, levels }, k) => {
      if (!isNear(similarity[k]) || levels !== null) return;
      this.difference[k] = this.variables.length;
      this.variables.push({ feature: k, role: 'difference', discrete });
    });
  }

  /** @returns {Cell} with the features' full ranges, unless a part says otherwise */
  root() {
    const lo = this.variables.map(({ feature, role }) =>
      role === 'code' ? this.space.features[feature].lo : this.similarity[feature].low,
    );
    const hi = this.variables.map(({ feature, role }) =>
      role === 'code' ? this.space.features[feature].hi : this.similarity[feature].high,
    );
    for (const [k, { own, other }] of this.ranges) {
      [lo[this.first[k]], hi[this.first[k]]] = own;
      [lo[this.second[k]], hi[this.second[k]]] = other;
    }
    return { lo, hi, limits: new Map(), depth: 0 };
  }

  /**
   * @param {number} k
   * @param {Cell} cell
   * @returns {boolean} whether both codes of a feature have one value only
   */
  isFixed(k, cell) {
    const [first, second] = [this.first[k], this.second[k]];
    return cell.lo[first].equals(cell.hi[first]) && cell.lo[second].equals(cell.hi[second]);
  }
}

/**
 * The children of a cell at a node `["split", v, at]` or `["split", v, at, after]`.
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {Json} json
 * @returns {[Cell, Cell]} left and right
 */
export function splitCell(geometry, cell, json) {
  const parts = readArray(json, 'split');
  require(parts.length === 3 || parts.length === 4, 'split: not three or four entries');
  const v = readIndex(parts[1], 'variable of a split', geometry.variables.length);
  const at = readNumber(parts[2], 'place of a split');
  const { discrete, role } = geometry.variables[v];
  const [lo, hi] = [cell.lo[v], cell.hi[v]];
  if (parts.length === 4) {
    require(!discrete && role === 'code', 'split: a gap in a variable that is not a continuous code');
    const after = readNumber(parts[3], 'place of a split');
    require(isDouble(at) && isDouble(after), 'split: a gap not between doubles');
    require(lo.atMost(at) && at.less(after) && after.atMost(hi), 'split: a gap outside the cell');
    require(nextDouble(at)?.equals(after) ?? false, 'split: a double lies in the gap');
    return [withInterval(cell, v, lo, at), withInterval(cell, v, after, hi)];
  }
  if (discrete) {
    require(at.isWhole(), 'split: not at a whole number');
    require(lo.atMost(at) && at.less(hi), 'split: outside the cell');
    return [withInterval(cell, v, lo, at), withInterval(cell, v, at.plus(ONE), hi)];
  }
  require(lo.less(at) && at.less(hi), 'split: outside the cell');
  return [withInterval(cell, v, lo, at), withInterval(cell, v, at, hi)];
}

/**
 * @param {Cell} cell
 * @param {number} v
 * @param {Rational} lo
 * @param {Rational} hi
 * @returns {Cell}
 */
function withInterval(cell, v, lo, hi) {
  const [los, his] = [cell.lo.slice(), cell.hi.slice()];
  los[v] = lo;
  his[v] = hi;
  return { lo: los, hi: his, limits: cell.limits, depth: cell.depth + 1 };
}

