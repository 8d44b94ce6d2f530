/** Features that change along with others (sections 22 and 26): what a relation `along` says, and which pairs satisfy it. */

import { Rational } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readIndex, readInt, readObject } from '../file/fields.js';
import { reject, require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./similarity.js').Relation} Relation
 * @typedef {import('./space.js').Feature} Feature
 */

/**
 * Named by two positions of the other feature, or by a difference of its codes.
 * @typedef {{from: bigint, to: bigint, low: Rational, high: Rational}} Band by difference: `to` is the difference, `from` 0
 */

/**
 * Which positions of a levels kind become which others, where the other feature changes from one position to another.
 * @typedef {{from: bigint, to: bigint, pairs: [number, number][]}} Table
 */

/** @typedef {{feature: number, intervals: [bigint, bigint][]}} Condition the codes of a feature that both share */

/**
 * Bands, or tables, by the names of the steps that name them.
 * @typedef {{where: Condition[], bands: Map<string, Band>, tables: Map<string, Table>}} Case
 */

/**
 * @typedef {object} Along
 * @property {number} with the feature that it goes along with
 * @property {boolean} byLevels
 * @property {Case[]} cases the first one that holds counts; one without conditions, if only bands are given (section 22)
 * @property {Rational | null} otherwise how far codes may be apart where nothing is named; null with tables: not at all
 */

const ANY = 10n ** 600n;

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @param {number} k
 * @param {string} what
 * @returns {Along}
 */
export function readAlong(json, features, k, what) {
  const has = (/** @type {string} */ key) => json instanceof Map && json.has(key);
  const [hasCases, hasTables] = [has('cases'), has('cases') && !has('else')];
  const part = readObject(json, what, ['kind', 'with', hasCases ? 'cases' : 'bands', ...(hasTables ? [] : ['else'])]);
  const feature = features[k];
  const canChange = hasTables ? feature.levels !== null : feature.kind !== 'categorical' && feature.missing === null;
  require(canChange, `${what}: "along" for a feature that cannot change so`);
  const j = readIndex(part('with'), what, features.length);
  require(j !== k, `${what}: along with itself`);
  const place = { what, feature, other: features[j] };
  if (!hasCases) {
    const bands = readBands(part('bands'), place);
    return { with: j, byLevels: areByLevels(bands), cases: [{ where: [], bands, tables: new Map() }], otherwise: readElse(part('else'), place) };
  }
  const items = readArray(part('cases'), what);
  require(items.length > 0, `${what}: no case`);
  const cases = items.map((item) => {
    const own = readObject(item, what, ['where', hasTables ? 'tables' : 'bands']);
    const where = readConditions(own('where'), features, what);
    return { where, bands: hasTables ? new Map() : readBands(own('bands'), place), tables: hasTables ? readTables(own('tables'), place) : new Map() };
  });
  const byLevels = hasTables || areByLevels(cases[0].bands);
  require(hasTables || cases.every(({ bands }) => areByLevels(bands) === byLevels), `${what}: bands by levels and by difference`);
  return { with: j, byLevels, cases, otherwise: hasTables ? null : readElse(part('else'), place) };
}

/** @typedef {{what: string, feature: Feature, other: Feature}} Place where a band or a table stands, and the feature that it goes along with */

/**
 * The name of two positions, or of a difference.
 * @param {boolean} byLevels
 * @param {bigint | Rational} from
 * @param {bigint | Rational} to
 */
export function nameOf(byLevels, from, to) {
  return byLevels ? `${from} ${to}` : `${to}`;
}

/**
 * Of bands that are all of one form.
 * @param {Map<string, Band>} bands at least one
 */
function areByLevels(bands) {
  const [name] = bands.keys();
  return name.includes(' ');
}

/**
 * @param {Json} json
 * @param {Place} place
 */
function readElse(json, place) {
  const otherwise = readAmount(json, place);
  require(otherwise.sign() >= 0, `${place.what}: "else" is negative`);
  return otherwise;
}

/**
 * @param {Json} json
 * @param {Place} place
 */
function readAmount(json, { what, feature }) {
  const number = readNumber(json, what);
  require(!feature.discrete || number.isWhole(), `${what}: a number that is not whole`);
  return number;
}

/**
 * @param {Json} json
 * @param {Place} place
 * @returns {Map<string, Band>}
 */
function readBands(json, place) {
  const { what } = place;
  const items = readArray(json, what).map((item) => readArray(item, what));
  require(items.length > 0, `${what}: no band`);
  const byLevels = items[0].length === 4;
  const bands = items.map((item) => {
    const [lowJson, highJson] = readArrayOf(item, what, byLevels ? 4 : 3).slice(-2);
    const [low, high] = [readAmount(lowJson, place), readAmount(highJson, place)];
    require(low.atMost(high), `${what}: low is above high`);
    if (!byLevels) return { from: 0n, to: readInt(item[0], what, -ANY, ANY), low, high };
    return { ...readPositions(item, place), low, high };
  });
  const named = inOrder(bands, byLevels, what);
  for (const { from, to, low, high } of bands) {
    const mirror = named.get(byLevels ? nameOf(true, to, from) : nameOf(false, 0n, -to));
    const isMirrored = mirror !== undefined && mirror.low.equals(high.negated()) && mirror.high.equals(low.negated());
    require(isMirrored, `${what}: bands are not mirrored`);
  }
  return named;
}

/**
 * @param {Json} json
 * @param {Place} place
 * @returns {Map<string, Table>}
 */
function readTables(json, place) {
  const { what, feature } = place;
  const count = feature.levels?.length ?? 0;
  const items = readArray(json, what);
  require(items.length > 0, `${what}: no table`);
  const tables = items.map((json) => {
    const item = readArrayOf(json, what, 3);
    const pairs = readArray(item[2], what).map((pair) => {
      const [v, other] = readArrayOf(pair, what, 2).map((position) => readIndex(position, what, count));
      return /** @type {[number, number]} */ ([v, other]);
    });
    require(pairs.length > 0, `${what}: a table without pairs`);
    require(pairs.every((pair, n) => n === 0 || comesBefore(pairs[n - 1], pair)), `${what}: pairs are not strictly increasing`);
    return { ...readPositions(item, place), pairs };
  });
  const named = inOrder(tables, true, what);
  for (const { from, to, pairs } of tables) {
    const mirror = named.get(nameOf(true, to, from))?.pairs ?? [];
    const own = new Set(pairs.map(([v, other]) => `${v} ${other}`));
    const isMirrored = mirror.length === pairs.length && mirror.every(([v, other]) => own.has(`${other} ${v}`));
    require(isMirrored, `${what}: tables are not mirrored`);
  }
  return named;
}

/**
 * @param {[number, number]} pair
 * @param {[number, number]} next
 */
function comesBefore([v, other], [nextV, nextOther]) {
  return v < nextV || (v === nextV && other < nextOther);
}

/**
 * The two positions at the beginning of a band or a table.
 * @param {Json[]} item
 * @param {Place} place
 */
function readPositions(item, { what, other }) {
  if (other.levels === null) return reject(`${what}: positions of a feature without levels`);
  const [from, to] = [item[0], item[1]].map((position) => BigInt(readIndex(position, what, /** @type {unknown[]} */ (other.levels).length)));
  require(from !== to, `${what}: from a level to itself`);
  return { from, to };
}

/**
 * Bands or tables, which must be strictly increasing, by name.
 * @template {{from: bigint, to: bigint}} T
 * @param {T[]} items
 * @param {boolean} byLevels
 * @param {string} what
 * @returns {Map<string, T>}
 */
function inOrder(items, byLevels, what) {
  items.forEach(({ from, to }, n) => {
    const before = items[n - 1];
    const increasing = before === undefined || before.from < from || (before.from === from && before.to < to);
    require(increasing, `${what}: not strictly increasing`);
  });
  return new Map(items.map((item) => [nameOf(byLevels, item.from, item.to), item]));
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @param {string} what
 * @returns {Condition[]}
 */
function readConditions(json, features, what) {
  const conditions = readArray(json, what).map((item) => {
    const [featureJson, intervalsJson] = readArrayOf(item, what, 2);
    const feature = readIndex(featureJson, what, features.length);
    const { discrete, missing, lo, hi } = features[feature];
    require(discrete && missing === null, `${what}: a condition on a feature that has none`);
    const intervals = readArray(intervalsJson, what).map((interval) => {
      const [from, to] = readArrayOf(interval, what, 2).map((code) => readInt(code, what, lo.floor(), hi.floor()));
      require(from <= to, `${what}: a condition with lo above hi`);
      return /** @type {[bigint, bigint]} */ ([from, to]);
    });
    require(intervals.length > 0, `${what}: a condition without an interval`);
    require(intervals.every(([from], n) => n === 0 || intervals[n - 1][1] < from), `${what}: intervals of a condition are not increasing`);
    return { feature, intervals };
  });
  require(conditions.every(({ feature }, n) => n === 0 || conditions[n - 1].feature < feature), `${what}: conditions are not strictly increasing`);
  return conditions;
}

/**
 * What a relation `along` needs of the others.
 * @param {Relation[]} similarity
 * @param {Feature[]} features
 */
export function checkAlong(similarity, features) {
  /** @type {Map<number, boolean>} */
  const forms = new Map();
  for (const { along } of similarity) {
    if (along === null) continue;
    const j = along.with;
    const { kind, high } = similarity[j];
    const [other, isWithin] = [features[j], kind === 'within'];
    const fits = other.levels !== null ? kind === 'free' || kind === 'pairs' || isWithin : other.kind === 'integer' && other.missing === null && isWithin;
    require(fits, `${other.name}: nothing can go along with this feature`);
    require((forms.get(j) ?? along.byLevels) === along.byLevels, `${other.name}: bands by levels and by difference`);
    forms.set(j, along.byLevels);
    for (const { where, bands } of along.cases) {
      for (const { feature } of where) require(similarity[feature].kind === 'same', `${features[feature].name}: a condition on a feature that is not "same"`);
      if (along.byLevels) continue;
      require(isWithin && other.kind !== 'categorical', `${other.name}: bands by difference of a feature that is not within a tolerance`);
      for (const { to } of bands.values()) require(to !== 0n && Rational.of(to).absolute().atMost(high), `${other.name}: a band of a difference that there is not`);
    }
  }
  if (forms.size > 0) require(similarity.every(({ kind }) => kind !== 'between'), 'similarity: "along" and "between"');
}

/**
 * Whether the codes of feature k are as its relation asks, given all codes of both.
 * @param {Along} along
 * @param {number} k
 * @param {Rational[]} x
 * @param {Rational[]} other
 */
export function changesAlong({ with: j, byLevels, cases, otherwise }, k, x, other) {
  const counted = cases.find(({ where }) => where.every((condition) => holdsOf(condition, x[condition.feature].floor())));
  const name = byLevels ? nameOf(true, x[j], other[j]) : nameOf(false, x[j], other[j].minus(x[j]));
  const difference = other[k].minus(x[k]);
  if (otherwise === null) {
    const table = counted?.tables.get(name);
    if (table === undefined) return difference.isZero();
    return table.pairs.some(([v, w]) => x[k].equals(Rational.of(v)) && other[k].equals(Rational.of(w)));
  }
  const { low, high } = counted?.bands.get(name) ?? { low: otherwise.negated(), high: otherwise };
  return low.atMost(difference) && difference.atMost(high);
}

/**
 * @param {Condition} condition
 * @param {bigint} code
 */
function holdsOf({ intervals }, code) {
  return intervals.some(([lo, hi]) => lo <= code && code <= hi);
}
