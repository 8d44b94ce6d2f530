/** Levels of kernel models that are alike, or at the ground (section 20). */

import { larger, Rational } from '../exact/rational.js';

/** @typedef {import('../bodies/columns.js').PlainColumn} PlainColumn */

/**
 * D_t(q) is beta_t - d at q = s_t and beta_t elsewhere; or, with a ground, beta_t there, beta_t - d/2 at q = s_t and
 * beta_t + d/2 elsewhere.
 * @typedef {object} Grouping
 * @property {number[]} groupOf the group of each position
 * @property {number | null} ground the group that is the ground
 * @property {Rational[]} beta one a term
 * @property {number[]} own s_t, one a term; -1 for none
 * @property {Rational} distance d
 */

/**
 * @param {{column: PlainColumn}[]} columns of one feature
 * @param {number} levels
 * @returns {number[]} the group of each position: groups are numbered in the order of their first positions
 */
export function groupsOf(columns, levels) {
  /** @type {Map<string, number>} groups by the entries that their positions have in common */
  const groups = new Map();
  return Array.from({ length: levels }, (_, position) => {
    const entries = columns.map(({ column }) => {
      if (column.kind !== 'table') throw new Error('a slope on a levels kind');
      return `${column.table[position]}`;
    });
    const key = entries.join(' ');
    const group = groups.get(key) ?? groups.size;
    groups.set(key, group);
    return group;
  });
}

/**
 * @param {number[]} groupOf
 * @param {(code: Rational) => Rational[]} distances D_t at a position, one a term
 * @returns {Grouping | null} the first way that fits: without ground, then with ground 0, 1, ...
 */
export function groupingOf(groupOf, distances) {
  const count = new Set(groupOf).size;
  if (count < 2) return null;
  const rows = Array.from({ length: count }, (_, q) => distances(Rational.of(groupOf.indexOf(q))));
  const without = withoutGround(rows);
  if (without !== null) return { groupOf, ground: null, ...without };
  for (let ground = 0; ground < count; ground++) {
    const found = withGround(rows, ground);
    if (found !== null) return { groupOf, ground, ...found };
  }
  return null;
}

/**
 * @param {Rational[][]} rows D_t(q), by q and then by t
 * @returns {{beta: Rational[], own: number[], distance: Rational} | null}
 */
function withoutGround(rows) {
  const beta = rows.reduce((most, row) => most.map((value, t) => larger(value, row[t])));
  const own = beta.map(() => -1);
  /** @type {Rational | null} */
  let distance = null;
  for (let q = 0; q < rows.length; q++) {
    for (let t = 0; t < beta.length; t++) {
      const less = beta[t].minus(rows[q][t]);
      if (less.isZero()) continue;
      if (own[t] >= 0 || (distance !== null && !distance.equals(less))) return null;
      own[t] = q;
      distance = less;
    }
  }
  return distance === null ? null : { beta, own, distance };
}

/**
 * @param {Rational[][]} rows
 * @param {number} ground
 * @returns {{beta: Rational[], own: number[], distance: Rational} | null}
 */
function withGround(rows, ground) {
  const beta = rows[ground];
  const own = beta.map(() => -1);
  /** @type {Rational | null} d/2 */
  let half = null;
  for (let q = 0; q < rows.length; q++) {
    if (q === ground) continue;
    for (let t = 0; t < beta.length; t++) {
      const more = rows[q][t].minus(beta[t]);
      if (more.isZero() || (half !== null && !half.equals(more.absolute()))) return null;
      half = more.absolute();
      if (more.sign() > 0) continue;
      if (own[t] >= 0) return null;
      own[t] = q;
    }
  }
  return half === null ? null : { beta, own, distance: half.scaled(1) };
}
