/** The rule `nested` (section 24): limits of inner scores, and what the outer trees or the median make of them. */

import { larger, Rational, smaller, sum, ZERO } from '../exact/rational.js';
import { readArrayOf } from '../file/fields.js';
import { reject } from '../rejection.js';
import { numberAsFeature } from '../bodies/nested.js';
import { Geometry } from '../proof/cell.js';
import { concludeFromBound } from './conclude.js';
import { innerKey } from './inner.js';
import { PartLines } from './sum.js';
import { maximumOfTrees, shapesOf, treeFormOf } from './tree-maximum.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/nested.js').Median} Median
 * @typedef {import('../bodies/trees.js').TreesBody} TreesBody
 * @typedef {import('../claim/similarity.js').Relation} Relation
 * @typedef {import('../proof/cases.js').Line} Line
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 * @typedef {import('./sum.js').Rule} Rule
 */

/** The limits of one score; `open`: it is above lo, not equal to it. */
/** @typedef {{lo: Rational, hi: Rational, open: boolean}} Limits */

/**
 * What is known of s_k at x and at x', and by how much it falls or rises at most from x to x' (null: nothing).
 * @typedef {{here: Limits, there: Limits, fall: Rational | null, rise: Rational | null}} InnerLimits
 */

/** The six lines of an inner body: half of the way belongs to x, and the sign is that of h = sign s. */
const LINES = /** @type {const} */ ([
  { name: 'low', halves: 2, sign: -1 },
  { name: 'high', halves: 2, sign: 1 },
  { name: 'lowThere', halves: 0, sign: 1 },
  { name: 'highThere', halves: 0, sign: -1 },
  { name: 'fall', halves: 1, sign: 1 },
  { name: 'rise', halves: 1, sign: -1 },
]);

/** @typedef {Record<(typeof LINES)[number]['name'], Rational | null>} Shown T' of each line */

const NO_PAIR = Object.freeze({ clearance: null, line: null });

/**
 * `["nested", way, [limits, ...]]`
 * @param {Map<string, Rule>} rules by name
 * @returns {Rule}
 */
export function nestedRule(rules) {
  return (context, cell, json) => {
    const { body } = context.claim.model;
    if (body.kind !== 'nested') return reject('nested: not for this body');
    readArrayOf(json, 'nested', 3);
    const line = context.readLine(json[1]);
    const items = readArrayOf(json[2], 'limits of inner scores', body.inner.length);
    const shown = items.map((item, k) => {
      context.clock.tick();
      const inner = body.inner[k];
      const own = context.derive(inner, () => context.ofBody(inner));
      return shownBy(new PartLines(rules, own, cell, inner.kind), item);
    });
    // Every line must hold, also where one of them found that there is no pair.
    if (shown.includes(null)) return NO_PAIR;
    /** @type {InnerLimits[]} */
    const limits = [];
    for (let k = 0; k < shown.length; k++) {
      const own = limitsOf(cell, k, /** @type {Shown} */ (shown[k]));
      if (own === null) return NO_PAIR;
      limits.push(own);
    }
    const { outer } = body;
    if (outer.kind === 'median') return concludeFromBound(line, boundOfMedian(outer, line, limits));
    return concludeFromBound(line, boundOfTrees(context, outer, line, limits));
  };
}

/**
 * `[low, high, low', high', fall, rise]`
 * @param {PartLines} lines
 * @param {Json} json
 * @returns {Shown | null} null if a line found that the cell holds no pair
 */
function shownBy(lines, json) {
  const items = readArrayOf(json, 'limits of an inner score', LINES.length);
  let holdsNoPair = false;
  const entries = LINES.map(({ name, halves, sign }, i) => {
    if (items[i] === null) return [name, null];
    const target = lines.shown(items[i], Rational.of(halves).half(), sign);
    if (target === null) holdsNoPair = true;
    return [name, target];
  });
  return holdsNoPair ? null : Object.fromEntries(entries);
}

/**
 * @param {Cell} cell
 * @param {number} k
 * @param {Shown} shown
 * @returns {InnerLimits | null} null if the cell holds no pair
 */
function limitsOf(cell, k, shown) {
  const [fall, rise] = [shown.fall, shown.rise].map((target) => (target === null ? null : target.scaled(1)));
  if (fall !== null && rise !== null && rise.less(fall.negated())) return null;
  const here = limitsAt(cell, innerKey(k, 0), shown.low, shown.high);
  if (here === null) return null;
  const there = limitsAt(cell, innerKey(k, 1), shown.lowThere, shown.highThere);
  return there === null ? null : { here, there, fall, rise };
}

/**
 * Of what lines show and of the cell's own limits the sharper one.
 * @param {Cell} cell
 * @param {string} key
 * @param {Rational | null} low T' of the line: the score is at least -T'
 * @param {Rational | null} high
 * @returns {Limits | null} null if the cell holds no pair
 */
function limitsAt(cell, key, low, high) {
  const own = cell.limits.get(key) ?? { lo: null, hi: null };
  const least = low === null ? null : low.negated();
  const open = own.lo !== null && (least === null || least.atMost(own.lo));
  const lo = open ? own.lo : least;
  const hi = own.hi === null ? high : high === null ? own.hi : smaller(high, own.hi);
  if (lo === null || hi === null) return reject('nested: an inner score without a limit');
  return hi.less(lo) || (open && hi.equals(lo)) ? null : { lo, hi, open };
}

/**
 * The rule `trees` in the cell that the limits make, with one number for each inner score.
 * @param {LeafContext} context
 * @param {TreesBody} outer
 * @param {Line} line
 * @param {InnerLimits[]} limits
 * @returns {Rational | null}
 */
function boundOfTrees(context, outer, line, limits) {
  const shapes = context.derive(outer, () => shapesOf(outer, context.clock));
  // Relations change from leaf to leaf: nothing that was found before counts.
  for (const shape of shapes) shape.last = null;
  const { first, second } = context.derive(line, () => ({
    first: treeFormOf(scoreBody(outer, line.first), line.a),
    second: treeFormOf(scoreBody(outer, line.second), line.b.negated()),
  }));
  const { geometry, cell } = cellOfLimits(limits);
  return maximumOfTrees(geometry, cell, shapes, first, second, context.clock);
}

/**
 * @param {TreesBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}

/**
 * @param {InnerLimits[]} limits
 * @returns {{geometry: Geometry, cell: Cell}}
 */
function cellOfLimits(limits) {
  const features = limits.map(({ here, there }) => {
    const hi = larger(here.hi, there.hi);
    return { ...numberAsFeature(), lo: smaller(here.lo, there.lo), hi, lastNumber: hi };
  });
  /** @type {Relation[]} */
  const similarity = limits.map(({ fall, rise }) =>
    fall !== null && rise !== null
      ? { kind: 'between', low: fall.negated(), high: rise, allowed: [], along: null }
      : { kind: 'free', low: ZERO, high: ZERO, allowed: [], along: null },
  );
  const geometry = new Geometry({ features, constraints: [] }, similarity);
  const root = geometry.root();
  const [lo, hi, open] = [root.lo.slice(), root.hi.slice(), root.lo.map(() => false)];
  limits.forEach(({ here, there }, k) => {
    const [i, j] = [geometry.first[k], geometry.second[k]];
    [lo[i], hi[i], open[i]] = [here.lo, here.hi, here.open];
    [lo[j], hi[j], open[j]] = [there.lo, there.hi, there.open];
  });
  return { geometry, cell: { ...root, lo, hi, open } };
}

/**
 * B of a g(x) - b g(x'), g = sign (offset + slope M) + shift.
 * @param {Median} median
 * @param {Line} line
 * @param {InnerLimits[]} limits
 * @returns {Rational}
 */
function boundOfMedian(median, { first: { sign, shift }, a, b }, limits) {
  const [l, u] = [limits.map(({ here }) => here.lo), limits.map(({ here }) => here.hi)];
  const [lThere, uThere] = [limits.map(({ there }) => there.lo), limits.map(({ there }) => there.hi)];
  const [least, most] = [median.of(l), median.of(u)];
  const [leastThere, mostThere] = [median.of(lThere), median.of(uThere)];
  const [A, C] = [smaller(least, leastThere), larger(most, mostThere)];
  const clipped = (/** @type {Rational} */ t) => smaller(larger(t, A), C);
  // By how much the median falls at most, given by how much each score does.
  const change = (/** @type {Rational[]} */ from, /** @type {Rational[]} */ to, /** @type {(Rational | null)[]} */ limit) =>
    from.map((value, k) => {
      const own = clipped(value).minus(clipped(to[k]));
      const known = limit[k];
      return known === null ? own : smaller(own, larger(ZERO, known));
    }).reduce(larger);
  const S = sign.times(median.slope);
  const m = smaller(a, b);
  const [restHere, restThere] = [a.minus(m), b.minus(m)];
  const constant = a.minus(b).times(sign.times(median.offset).plus(shift));
  if (S.sign() > 0) {
    const E = smaller(most.minus(leastThere), change(u, lThere, limits.map(({ fall }) => fall)));
    return constant.plus(S.times(sum([m.times(E), restHere.times(most), restThere.times(leastThere).negated()])));
  }
  const E = smaller(mostThere.minus(least), change(uThere, l, limits.map(({ rise }) => rise)));
  return constant.minus(S.times(sum([m.times(E), restThere.times(mostThere), restHere.times(least).negated()])));
}
