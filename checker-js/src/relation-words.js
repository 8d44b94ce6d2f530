/** How two similar individuals may differ in a feature, in words (section 13, and "Words" of sections 18, 22 and 26). */

import { Rational } from './exact/rational.js';
import { levelWords, list, quoted, shown, SHOWN } from './values.js';

/**
 * @typedef {import('./claim/along.js').Along} Along
 * @typedef {import('./claim/along.js').Band} Band
 * @typedef {import('./claim/along.js').Condition} Condition
 * @typedef {import('./claim/along.js').Table} Table
 * @typedef {import('./claim/similarity.js').Relation} Relation
 * @typedef {import('./claim/space.js').Feature} Feature
 */

/**
 * @param {Relation} relation
 * @param {Feature} feature
 * @param {Feature[]} features
 * @param {boolean} full
 */
export function relationWords({ kind, low, high, allowed, along }, feature, features, full) {
  const steps = stepsWord(feature);
  if (kind === 'same') return 'both agree';
  if (kind === 'free') return 'may differ in any way';
  if (along !== null) return alongWords(along, feature, features, full);
  if (kind === 'within') return `may differ by at most ${shown(high)}${steps}`;
  if (kind === 'between') return `may differ: the second is ${betweenWords(low, high, steps)} the first`;
  const pairs = allowed.map(([i, j]) => `${levelWords(feature.levels?.[i])} with ${levelWords(feature.levels?.[j])}`);
  return `may differ in these ways only: ${list(pairs, full)}`;
}

/** @param {Feature} feature */
function stepsWord({ levels }) {
  return levels === null ? '' : ' steps';
}

/**
 * Where x' is, as seen from x (section 18).
 * @param {Rational} low
 * @param {Rational} high
 * @param {string} steps
 */
function betweenWords(low, high, steps) {
  const size = (/** @type {Rational} */ value) => shown(value.absolute());
  if (low.equals(high)) return low.isZero() ? 'equal to' : `${size(low)}${steps} ${low.sign() > 0 ? 'above' : 'below'}`;
  if (low.isZero()) return `not below and at most ${size(high)}${steps} above`;
  if (high.isZero()) return `not above and at most ${size(low)}${steps} below`;
  if (low.sign() > 0) return `from ${size(low)} to ${size(high)}${steps} above`;
  if (high.sign() < 0) return `from ${size(high)} to ${size(low)}${steps} below`;
  return `at most ${size(low)}${steps} below and at most ${size(high)}${steps} above`;
}

/**
 * @param {Along} along
 * @param {Feature} feature
 * @param {Feature[]} features
 * @param {boolean} full
 */
function alongWords({ with: j, byLevels, cases, otherwise }, feature, features, full) {
  const start = `changes along with ${quoted(features[j].name)}`;
  const rest = otherwise === null ? 'both agree' : `it differs by at most ${shown(otherwise)}${stepsWord(feature)}`;
  const changes = cases.map(({ bands, tables }) => {
    const where = (/** @type {Band | Table} */ item) => `where that changes ${changeWords(item, byLevels, features[j])}`;
    if (otherwise === null) return list([...tables.values()].map((table) => `${where(table)}, ${tableWords(table, feature, full)}`), full, '; ');
    return list([...bands.values()].map((band) => `${where(band)}, the second is ${betweenWords(band.low, band.high, stepsWord(feature))} the first`), full);
  });
  if (cases.length === 1 && cases[0].where.length === 0) return `${start}: ${changes[0]}; else ${rest}`;
  const told = cases.map(({ where }, n) => `${conditionsWords(where, n === 0, features, full)}: ${changes[n]}`);
  const order = cases.length === 1 ? '' : '; of these cases the first one that holds counts';
  return `${start}${order}; ${list(told, full, '; ')}; wherever none of this applies, ${rest}`;
}

/**
 * @param {Band | Table} item
 * @param {boolean} byLevels
 * @param {Feature} other the feature that it goes along with
 */
function changeWords({ from, to }, byLevels, { levels }) {
  return byLevels ? `from ${levelWords(levels?.[Number(from)])} to ${levelWords(levels?.[Number(to)])}` : `by ${to}`;
}

/**
 * @param {Table} table
 * @param {Feature} feature
 * @param {boolean} full
 */
function tableWords({ pairs }, { levels }, full) {
  /** @type {Map<number, number[]>} the levels that each one becomes */
  const becomes = new Map();
  for (const [v, other] of pairs) {
    const others = becomes.get(v);
    if (others === undefined) becomes.set(v, [other]);
    else others.push(other);
  }
  const wordsOf = (/** @type {number} */ v) => levelWords(levels?.[v]);
  const stay = new Set([...becomes].flatMap(([v, others]) => (others.length === 1 && others[0] === v ? [v] : [])));
  const lost = (levels?.length ?? 0) - becomes.size;
  const places = lost > SHOWN ? [...becomes.keys()] : (levels ?? []).map((_, v) => v);
  const words = places.flatMap((v) => {
    const others = becomes.get(v)?.map(wordsOf);
    return stay.has(v) ? [] : [`${wordsOf(v)} ${others === undefined ? 'has no counterpart' : `becomes ${either(others, full)}`}`];
  });
  if (lost > SHOWN) words.push(`${lost} levels have no counterpart`);
  if (words.length === 0) return 'all levels stay the same';
  return `${list(words, full)}${stay.size === 0 ? '' : ', and all others stay the same'}`;
}

/**
 * @param {Condition[]} where
 * @param {boolean} isFirst
 * @param {Feature[]} features
 * @param {boolean} full
 */
function conditionsWords(where, isFirst, features, full) {
  if (where.length === 0) return isFirst ? 'always' : 'for all others';
  return `if ${where.map((condition) => conditionWords(condition, features[condition.feature], full)).join(' and ')}`;
}

/**
 * @param {Condition} condition
 * @param {Feature} feature
 * @param {boolean} full
 */
function conditionWords({ intervals }, { name, levels }, full) {
  const codes = intervals.flatMap(([lo, hi]) => {
    if (levels === null) return [lo === hi ? `${lo}` : `from ${lo} to ${hi}`];
    const [from, to] = [Number(lo), Number(hi)];
    if (to - from >= SHOWN) return [`one of ${to - from + 1} levels from ${levelWords(levels[from])} to ${levelWords(levels[to])}`];
    return levels.slice(from, to + 1).map((level) => levelWords(level));
  });
  return `${quoted(name)} is ${either(codes, full)}`;
}

/**
 * @param {string[]} items at least one
 * @param {boolean} full
 */
function either(items, full) {
  if (items.length === 1) return items[0];
  if (!full && items.length > SHOWN) return `one of ${list(items, full)}`;
  return `${items.slice(0, -1).join(', ')} or ${items[items.length - 1]}`;
}
