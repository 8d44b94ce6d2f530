/** How a kernel model sees each feature: numeric, one-hot or other (section 7, "features are of three sorts"), or grouped (section 20). */

import { RbfBody } from '../bodies/rbf.js';
import { columnValue } from '../bodies/columns.js';
import { Rational, sum, ZERO } from '../exact/rational.js';
import { groupingOf, groupsOf } from './kernel-groups.js';

/**
 * @typedef {import('../bodies/columns.js').TableColumn} TableColumn
 * @typedef {import('../claim/space.js').Space} Space
 */

/** @typedef {import('./kernel-groups.js').Grouping} Grouping */

/**
 * @typedef {object} KernelFeature
 * @property {'numeric' | 'one-hot' | 'grouped' | 'other'} sort
 * @property {Rational} A of a numeric feature: D_t = A tau^2 - 2 B_t tau + C_t
 * @property {Rational[]} B one a term
 * @property {Rational[]} C one a term
 * @property {Rational[] | null} table tau of the positions of a levels kind with one column
 * @property {Rational} distance d_k of a one-hot feature
 * @property {number[]} own s_tk of a one-hot feature: the position of each term, -1 for none
 * @property {Grouping | null} grouping of a grouped feature
 * @property {(code: Rational) => Rational[]} distances D_tk at a code, one a term
 */

/**
 * @param {RbfBody} body
 * @param {Space} space
 * @returns {KernelFeature[]}
 */
export function kernelFeatures(body, space) {
  return space.features.map((feature, k) => {
    const columns = body.columns.flatMap((column, c) => (column.feature === k ? [{ column, c }] : []));
    /** @type {Map<string, Rational[]>} */
    const known = new Map();
    const distances = (/** @type {Rational} */ code) => {
      const key = `${code}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const values = columns.map(({ column }) => columnValue(column, code));
      const made = body.terms.map(({ centre }) => sum(columns.map(({ c }, n) => values[n].minus(centre[c]).squared())));
      if (known.size > 1000) known.clear();
      known.set(key, made);
      return made;
    };
    const none = { A: ZERO, B: body.terms.map(() => ZERO), C: body.terms.map(() => ZERO), table: null, distance: ZERO, own: [], grouping: null };
    if (feature.levels !== null && columns.length > 1) {
      const found = oneHot(feature.levels.length, distances);
      const grouping = found.sort === 'other' && body.grouped ? groupingOf(groupsOf(columns, feature.levels.length), distances) : null;
      return { ...none, distances, ...(grouping === null ? found : { sort: 'grouped', grouping }) };
    }
    return { ...none, sort: 'numeric', distances, ...quadratic(body, columns) };
  });
}

/**
 * @param {RbfBody} body
 * @param {{column: import('../bodies/columns.js').PlainColumn, c: number}[]} columns
 */
function quadratic(body, columns) {
  const parts = columns.map(({ column, c }) => {
    const [slope, offset] = column.kind === 'linear' ? [column.slope, column.offset] : [Rational.of(1), ZERO];
    return { slope, offset, c };
  });
  const [only] = columns;
  return {
    A: sum(parts.map(({ slope }) => slope.squared())),
    B: body.terms.map(({ centre }) => sum(parts.map(({ slope, offset, c }) => slope.times(centre[c].minus(offset))))),
    C: body.terms.map(({ centre }) => sum(parts.map(({ offset, c }) => centre[c].minus(offset).squared()))),
    table: only !== undefined && only.column.kind === 'table' ? only.column.table : null,
  };
}

/**
 * One-hot if every term has distance 0 at one position at most, and one and the same distance at all others.
 * @param {number} count of levels
 * @param {(code: Rational) => Rational[]} distances
 * @returns {{sort: 'one-hot', distance: Rational, own: number[]} | {sort: 'other'}}
 */
function oneHot(count, distances) {
  const rows = Array.from({ length: count }, (_, v) => distances(Rational.of(v)));
  /** @type {Rational | null} */
  let common = null;
  const own = rows[0].map(() => -1);
  for (let v = 0; v < count; v++) {
    for (let t = 0; t < own.length; t++) {
      const distance = rows[v][t];
      if (distance.isZero()) {
        if (own[t] >= 0) return { sort: 'other' };
        own[t] = v;
      } else if (common === null) {
        common = distance;
      } else if (!common.equals(distance)) {
        return { sort: 'other' };
      }
    }
  }
  return { sort: 'one-hot', distance: common ?? ZERO, own };
}
