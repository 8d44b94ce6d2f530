/** Features that change along by tables and under conditions (section 26): parts compared with all pairs, certificates written by hand, words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { choicesOf, partOf } from '../src/claim/along-parts.js';
import { areSimilar, readSimilarity, related } from '../src/claim/similarity.js';
import { readSpace } from '../src/claim/space.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { Clock } from '../src/limits.js';
import { Rejection } from '../src/rejection.js';
import { reportLines } from '../src/report.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const FREE = { kind: 'free' };
const SAME = { kind: 'same' };
const FEATURES = [
  { name: 'sex', kind: 'categorical', levels: ['f', 'm'] },
  { name: 'job', kind: 'categorical', levels: ['boss', 'cook', 'dyer', 'maid'] },
  { name: 'pay', kind: 'integer', lo: '0', hi: '4' },
  { name: 'age', kind: 'integer', lo: '3', hi: '8' },
  { name: 'sector', kind: 'ordinal', levels: ['private', 'public'] },
];
const space = readSpace(json({ space: { features: FEATURES, constraints: [] } }));
const read = (/** @type {any[]} */ similarity, more = {}) => readSimilarity(json({ similarity, ...more }), space);
const partsOf = (/** @type {any[]} */ similarity, features = space.features) => choicesOf(similarity, features, new Clock(60)).map((choice) => partOf(similarity, choice));
/** Of a man who is a cook the counterpart is a maid; a boss stays one; a dyer has none. */
const TABLES = [[0, 1, [[0, 0], [2, 3], [3, 1], [3, 3]]], [1, 0, [[0, 0], [1, 3], [3, 2], [3, 3]]]];
const BANDS = [[0, 1, '1', '1'], [1, 0, '-1', '-1']];
const tables = (/** @type {any[]} */ ...cases) => ({ kind: 'along', with: 0, cases: cases.map(([where, own = TABLES]) => ({ where, tables: own })) });
const bands = (/** @type {any[]} */ ...cases) => ({ kind: 'along', with: 0, cases: cases.map(([where, own = BANDS]) => ({ where, bands: own })), else: '0' });
const like = (/** @type {any} */ job, /** @type {any} */ pay) => [FREE, job, pay, SAME, SAME];
/** A part in a line: of each feature that is not as ever its relation and its codes in the root. */
const words = (/** @type {any} */ { similarity, ranges }) =>
  similarity.flatMap((/** @type {any} */ { kind, low, high }, /** @type {number} */ k) => {
    const range = ranges.get(k);
    const codes = range === undefined ? '' : ` ${range.own.join('-')} ${range.other.join('-')}`;
    return range === undefined && kind === 'same' ? [] : [`${FEATURES[k].name} ${kind}${kind === 'between' ? ` ${low} ${high}` : ''}${codes}`];
  }).join(', ');

test('parts: steps, then segments, then moves, runs first', () => {
  const UNDER = [[3, [[3, 4], [5, 5]]]];
  assert.deepEqual(partsOf(read(like(tables([[]]), SAME)).similarity).map(words), [
    '',
    ...['job same 0-0 0-0', 'job same 3-3 3-3', 'job free 2-2 3-3', 'job free 3-3 1-1'].map((job) => `sex free 0-0 1-1, ${job}`),
    ...['job same 0-0 0-0', 'job same 3-3 3-3', 'job free 1-1 3-3', 'job free 3-3 2-2'].map((job) => `sex free 1-1 0-0, ${job}`),
  ]);
  // A segment a given interval, though two of them touch, and what is left of the range.
  assert.deepEqual(partsOf(read(like(SAME, bands([UNDER]))).similarity).map(words), [
    '',
    'sex free 0-0 1-1, pay between 1 1, age same 3-4 3-4', 'sex free 0-0 1-1, pay between 1 1, age same 5-5 5-5', 'sex free 0-0 1-1, age same 6-8 6-8',
    'sex free 1-1 0-0, pay between -1 -1, age same 3-4 3-4', 'sex free 1-1 0-0, pay between -1 -1, age same 5-5 5-5', 'sex free 1-1 0-0, age same 6-8 6-8',
  ]);
  // The first case that holds counts, also where it has no table for the step; conditions of all cases of the relation cut.
  const ONE_WAY = [[0, 1, [[0, 1]]], [1, 0, [[1, 0]]]];
  const relation = tables([[[4, [[1, 1]]]], ONE_WAY], [UNDER]);
  assert.deepEqual(partsOf(read(like(relation, SAME)).similarity).slice(1, 13).map(words), [
    ...['3-4', '5-5'].flatMap((age) => ['job same 0-0 0-0', 'job same 3-3 3-3', 'job free 2-2 3-3', 'job free 3-3 1-1'].map((job) => `${job}, age same ${age} ${age}, sector same 0-0 0-0`).concat([`job free 0-0 1-1, age same ${age} ${age}, sector same 1-1 1-1`])),
    'age same 6-8 6-8, sector same 0-0 0-0', 'job free 0-0 1-1, age same 6-8 6-8, sector same 1-1 1-1',
  ].map((rest) => `sex free 0-0 1-1, ${rest}`));
});

test('a relation sleeps where no case has anything for the step', () => {
  const three = [{ ...FEATURES[0], levels: ['f', 'm', 'x'] }, ...FEATURES.slice(1)];
  const own = readSpace(json({ space: { features: three, constraints: [] } }));
  const { similarity } = readSimilarity(json({ similarity: like(SAME, bands([[[3, [[4, 4]]]]])) }), own);
  assert.deepEqual(partsOf(similarity, own.features).map(words).filter((part) => !part.includes('age')), ['', 'sex free 0-0 2-2', 'sex free 1-1 2-2', 'sex free 2-2 0-0', 'sex free 2-2 1-1']);
});

/**
 * Whether a pair is as a relation asks, as the specification says it, from the JSON.
 * @param {any} relation
 * @param {number} k
 * @param {number[]} x
 * @param {number[]} other
 */
function isAsked(relation, k, x, other) {
  if (relation.kind === 'free') return true;
  if (relation.kind === 'same') return x[k] === other[k];
  if (relation.kind === 'within') return Math.abs(x[k] - other[k]) <= Number(relation.tolerance);
  const j = relation.with;
  const [counts] = relation.cases.filter((/** @type {any} */ { where }) =>
    where.every((/** @type {any} */ [c, intervals]) => intervals.some((/** @type {any} */ [lo, hi]) => lo <= x[c] && x[c] <= hi)));
  if (relation.else === undefined) {
    const table = counts?.tables.find((/** @type {any} */ [i, to]) => i === x[j] && to === other[j]);
    return table === undefined ? x[k] === other[k] : table[2].some((/** @type {any} */ [v, w]) => v === x[k] && w === other[k]);
  }
  const band = counts?.bands.find((/** @type {any} */ own) => (own.length === 4 ? own[0] === x[j] && own[1] === other[j] : own[0] === other[j] - x[j]));
  const [low, high] = band === undefined ? [-Number(relation.else), Number(relation.else)] : band.slice(-2).map(Number);
  return low <= other[k] - x[k] && other[k] - x[k] <= high;
}

test('every pair is in exactly one part, and nobody else in any', () => {
  const random = new Random(26);
  const upTo = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);
  const sizes = [3, 3, 3, 3, 2];
  const all = upTo(sizes.reduce((a, b) => a * b)).map((n) => sizes.map((size, i) => Math.floor(n / sizes.slice(0, i).reduce((a, b) => a * b, 1)) % size));
  const where = () => [3, 4].flatMap((c) => {
    const intervals = upTo(sizes[c]).flatMap((lo) => (random.below(2) === 0 ? [[lo, lo]] : []));
    return intervals.length === 0 ? [] : [[c, random.below(2) === 0 && intervals.length === 2 && intervals[1][0] === intervals[0][0] + 1 ? [[intervals[0][0], intervals[1][0]]] : intervals]];
  });
  for (let n = 0; n < 60; n++) {
    const [byLevels, withTables] = [random.below(2) === 0, random.below(2) === 0];
    const ordinal = { kind: 'ordinal', levels: ['a', 'b', 'c'] };
    const features = [
      { name: 'j', ...(byLevels || withTables ? random.pick([ordinal, { kind: 'categorical', levels: [null, true, 'c'] }]) : random.pick([ordinal, { kind: 'integer', lo: '0', hi: '2' }])) },
      { name: 'k', ...(withTables ? random.pick([ordinal, { kind: 'categorical', levels: ['a', 'b', 'c'] }]) : random.pick([ordinal, { kind: 'integer', lo: '0', hi: '2' }])) },
      { name: 'l', kind: 'integer', lo: '0', hi: '2' },
      { name: 'c', kind: 'integer', lo: '0', hi: '2' },
      { name: 'd', kind: 'categorical', levels: ['a', 'b'] },
    ];
    const steps = [[0, 1], [0, 2], [1, 2]];
    const table = () => {
      const half = steps.filter(() => random.below(2) === 0).concat([[0, 1]]).slice(0, 1 + random.below(2));
      const chosen = half.filter(([i, to], at) => half.findIndex(([a, b]) => a === i && b === to) === at);
      const own = chosen.map(([i, to]) => {
        const pairs = upTo(9).filter(() => random.below(2) === 0).concat([4]).map((p) => [Math.floor(p / 3), p % 3]);
        return [i, to, pairs.filter(([v, w], at) => pairs.findIndex(([a, b]) => a === v && b === w) === at)];
      });
      const order = (/** @type {any[]} */ items) => items.sort((/** @type {any} */ a, /** @type {any} */ b) => a[0] - b[0] || a[1] - b[1]);
      return order([...own, ...own.map(([i, to, pairs]) => [to, i, pairs.map((/** @type {any} */ [v, w]) => [w, v])])].map(([i, to, pairs]) => [i, to, order(pairs)]));
    };
    const band = () => {
      const low = random.below(4) - 2;
      const high = low + random.below(2);
      if (byLevels) return [[0, 2, `${low}`, `${high}`], [2, 0, `${-high}`, `${-low}`]];
      return [[-1, `${-high}`, `${-low}`], [1, `${low}`, `${high}`]];
    };
    const cases = upTo(1 + random.below(3)).map(() => (withTables ? { where: where(), tables: table() } : { where: where(), bands: band() }));
    const j = byLevels || withTables ? (features[0].kind === 'ordinal' && random.below(2) === 0 ? { kind: 'within', tolerance: '1' } : FREE) : { kind: 'within', tolerance: `${1 + random.below(3)}` };
    const relation = { kind: 'along', with: 0, cases, ...(withTables ? {} : { else: `${random.below(2)}` }) };
    const second = byLevels || withTables ? { kind: 'along', with: 0, cases: [{ where: where(), bands: [[0, 1, '0', '1'], [1, 0, '-1', '0']] }], else: '0' } : SAME;
    const asked = [j, relation, second, SAME, SAME];
    const own = readSpace(json({ space: { features, constraints: [] } }));
    const claim = { space: own, ...readSimilarity(json({ similarity: asked }), own) };
    const parts = partsOf(claim.similarity, own.features);
    for (let i = 0; i < 1500; i++) {
      const x = random.pick(all);
      const other = x.map((code, k) => (k > 2 || random.below(3) === 0 ? code : random.below(3)));
      const [codes, others] = [x.map(Rational.of), other.map(Rational.of)];
      const isPair = asked.every((one, k) => isAsked(one, k, x, other));
      assert.equal(areSimilar(claim, codes, others), isPair, JSON.stringify({ asked, x, other }));
      const inside = (/** @type {Rational} */ code, /** @type {Rational[]} */ [lo, hi]) => lo.atMost(code) && code.atMost(hi);
      const holding = parts.filter(({ similarity, ranges }) =>
        similarity.every((one, k) => related(own.features[k], one, codes[k], others[k]))
        && [...ranges].every(([k, range]) => inside(codes[k], range.own) && inside(others[k], range.other)));
      assert.equal(holding.length, isPair ? 1 : 0, JSON.stringify({ asked, x, other }));
    }
  }
});

test('relations that are none', () => {
  read(like(tables([[]]), bands([[[3, [[3, 3], [4, 8]]], [4, [[0, 0]]]]])));
  const table = (/** @type {any[]} */ ...own) => like(tables([[], own]), SAME);
  const condition = (/** @type {any} */ ...where) => like(SAME, bands([where]));
  for (const similarity of [
    like({ ...tables([[]]), else: '0' }, SAME),
    like({ ...tables([[]]), cases: [] }, SAME),
    like({ kind: 'along', with: 0, cases: [{ tables: TABLES }] }, SAME),
    like({ kind: 'along', with: 0, cases: [{ where: [], tables: TABLES, bands: BANDS }] }, SAME),
    like({ kind: 'along', with: 0, cases: [{ where: [], tables: TABLES }, { where: [], bands: BANDS }] }, SAME),
    like({ ...tables([[]]), with: 1 }, SAME),
    like({ ...tables([[]]), with: 3 }, SAME),
    // bands of a categorical feature, tables of a number
    like(bands([[]]), SAME),
    like(SAME, tables([[]])),
    like(SAME, { ...bands([[]]), bands: BANDS }),
    like(SAME, { ...bands([[]]), else: '1/2' }),
    table(),
    table(TABLES[0]),
    table(TABLES[1], TABLES[0]),
    table([0, 1, []], [1, 0, []]),
    table([0, 1, [[0, 0], [0, 0]]], [1, 0, [[0, 0], [0, 0]]]),
    table([0, 1, [[1, 0], [0, 1]]], [1, 0, [[0, 1], [1, 0]]]),
    table([0, 1, [[0, 1]]], [1, 0, [[0, 1]]]),
    table([0, 1, [[0, 1]]], [1, 0, [[0, 0], [1, 0]]]),
    table([0, 0, [[0, 0]]]),
    table([0, 1, [[0, 4]]], [1, 0, [[4, 0]]]),
    table([0, 2, [[0, 0]]], [2, 0, [[0, 0]]]),
    table([0, 1, [[0, '1']]], [1, 0, [['1', 0]]]),
    like(SAME, bands([[], BANDS], [[], [[-1, '0', '0'], [1, '0', '0']]])),
    condition([3, []]),
    condition([3, [[3, 3], [3, 4]]]),
    condition([3, [[5, 6], [3, 4]]]),
    condition([3, [[4, 3]]]),
    condition([3, [[2, 3]]]),
    condition([3, [[3, 9]]]),
    condition([3, [['3', '4']]]),
    condition([4, [[0, 2]]]),
    condition([5, [[0, 0]]]),
    condition([0, [[0, 0]]]),
    condition([2, [[0, 0]]]),
    condition([4, [[0, 0]]], [3, [[3, 3]]]),
    condition([3, [[3, 3]]], [3, [[3, 3]]]),
    [SAME, tables([[]]), SAME, SAME, SAME],
    [FREE, tables([[]]), SAME, { kind: 'between', low: '0', high: '1' }, SAME],
  ]) {
    assert.throws(() => read(similarity), Rejection, JSON.stringify(similarity));
  }
  assert.throws(() => read(like(tables([[]]), SAME), { distance: { power: 1, terms: [{ feature: 2, each: '1' }], forms: [], bound: '1' } }), Rejection);
  const features = [...FEATURES.slice(0, 3), { name: 'age', kind: 'continuous', lo: '3', hi: '8' }];
  const own = readSpace(json({ space: { features, constraints: [] } }));
  assert.throws(() => readSimilarity(json({ similarity: condition([3, [[3, 4]]]).slice(0, 4) }), own), Rejection);
});

test('too many parts', () => {
  const many = (/** @type {number} */ count) => {
    const features = [FEATURES[0], FEATURES[2], ...Array.from({ length: count }, (_, n) => ({ name: `c${n}`, kind: 'integer', lo: '0', hi: '1' }))];
    const own = readSpace(json({ space: { features, constraints: [] } }));
    const relation = bands([Array.from({ length: count }, (_, n) => [2 + n, [[1, 1]]])]);
    return partsOf(readSimilarity(json({ similarity: [FREE, relation, ...features.slice(2).map(() => SAME)] }), own).similarity, own.features).length;
  };
  assert.equal(many(12), 1 + 2 ** 13);
  assert.throws(() => many(13), /too many parts/);
  assert.throws(() => many(2000), /too many parts/);
});

const HEAD = { labels: null, zero: 'lower', link: null };
const column = (/** @type {number} */ feature, /** @type {any} */ rest) => ({ feature, weight: '1', ...rest });
/** f = 4 [m] + job's number + pay: what the tables take, the sex gives. */
const BODY = { kind: 'affine', bias: '0', columns: [column(0, { table: ['0', '4'] }), column(1, { table: ['0', '1', '2', '5'] }), column(2, { slope: '1', offset: '0' })] };
const ROUNDING = { sizes: ['1', '1', '1'], constant: '0', operations: 3 };

/**
 * @param {any} parts
 * @returns {any} the report
 */
function reportOf({ similarity, delta = '0', nodes, clearance = '0' }) {
  const isWitness = !Array.isArray(nodes[0]);
  const lines = [
    { 'likewise-certificate': 1, kind: isWitness ? 'witness' : 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features: FEATURES, constraints: [] } },
    { similarity },
    { property: { kind: 'score', delta } },
    { model: { family: 'f', body: BODY, head: HEAD, rounding: ROUNDING } },
    ...nodes,
    { end: isWitness ? { sha256: '' } : { nodes: nodes.length, clearance, covers_floating_point: false, sha256: '' } },
  ].map(json);
  return checkCertificate(writeCertificate(lines));
}

test('certificates: one leaf a part, and lies refused', () => {
  const leaf = ['separable', '1/2'];
  // Nothing but 4 - (5 - 1), 4 - 4 and jobs that stay is equal: maids who become cooks are 4 less, men 4 more.
  const FAIR = [[0, 1, [[3, 1]]], [1, 0, [[1, 3]]]];
  const similarity = like(tables([[], FAIR]), SAME);
  const accepted = reportOf({ similarity, nodes: [['independent'], leaf, leaf] });
  assert.equal(accepted.answer, 'accepted', accepted.reason);
  assert.deepEqual(accepted.packs, ['core', 'along']);
  assert.equal(reportOf({ similarity, nodes: [['independent'], leaf] }).answer, 'rejected');
  assert.equal(reportOf({ similarity, nodes: [['independent'], leaf, leaf, leaf] }).answer, 'rejected');
  assert.equal(reportOf({ similarity, nodes: [['independent'], ['independent'], leaf] }).answer, 'rejected');
  assert.equal(reportOf({ similarity, nodes: [['independent'], leaf, leaf], clearance: '1' }).answer, 'rejected');
  // Dyers who become maids are 3 more in spite of the 4: a gap of 1, one way.
  const other = like(tables([[], [[0, 1, [[3, 2]]], [1, 0, [[2, 3]]]]]), SAME);
  assert.equal(reportOf({ similarity: other, nodes: [['independent'], leaf, leaf] }).answer, 'rejected');
  assert.equal(reportOf({ similarity: other, delta: '1', nodes: [['independent'], leaf, leaf] }).answer, 'accepted');
  // Only in the public sector; elsewhere sexes differ by 4, whoever is first. Parts: equal; f to m, m to f in two segments each.
  const under = like(tables([[[4, [[1, 1]]]], FAIR]), SAME);
  const nodes = [['independent'], leaf, leaf, leaf, leaf];
  assert.equal(reportOf({ similarity: under, nodes }).answer, 'rejected');
  assert.equal(reportOf({ similarity: under, delta: '4', nodes }).answer, 'accepted');
  assert.equal(reportOf({ similarity: under, delta: '4', nodes: nodes.slice(1) }).answer, 'rejected');
  // The root of a part is its range: a split outside of it is none.
  const split = (/** @type {string} */ at) => [['independent'], ['split', 5, at], ['separable', '1/2'], leaf, leaf, leaf, leaf];
  const old = like(SAME, bands([[[3, [[4, 6]]]]]));
  const wide = (/** @type {any[]} */ nodes) => reportOf({ similarity: old, delta: '5', nodes }).answer;
  assert.equal(wide([['independent'], leaf, leaf, leaf, leaf, leaf, leaf]), 'accepted');
  assert.equal(wide([...split('4'), leaf, leaf]), 'rejected');
  const middle = (/** @type {string} */ at) => [['independent'], leaf, ['split', 5, at], leaf, leaf, leaf, leaf, leaf, leaf];
  assert.equal(wide(middle('4')), 'accepted');
  assert.equal(wide(middle('6')), 'rejected');
});

test('witnesses', () => {
  const witness = (/** @type {any} */ similarity, /** @type {number[]} */ x, /** @type {number[]} */ other, /** @type {string[]} */ scores) =>
    reportOf({ similarity, nodes: [{ witness: { x: x.map(String), other: other.map(String), scores } }] }).answer;
  const similarity = like(tables([[[3, [[5, 6]]]]]), SAME);
  // A man who is a maid becomes a dyer at 5, and stays a maid at 7.
  assert.equal(witness(similarity, [1, 3, 0, 5, 0], [0, 2, 0, 5, 0], ['9', '2']), 'accepted');
  assert.equal(witness(similarity, [1, 3, 0, 7, 0], [0, 2, 0, 7, 0], ['9', '2']), 'rejected');
  assert.equal(witness(similarity, [1, 3, 0, 7, 0], [0, 3, 0, 7, 0], ['9', '5']), 'accepted');
  assert.equal(witness(similarity, [1, 2, 0, 7, 0], [0, 2, 0, 7, 0], ['6', '2']), 'accepted');
  assert.equal(witness(similarity, [1, 2, 0, 5, 0], [0, 2, 0, 5, 0], ['6', '2']), 'rejected');
  assert.equal(witness(similarity, [1, 3, 0, 5, 0], [1, 2, 0, 5, 0], ['9', '6']), 'rejected');
});

test('words', () => {
  const told = (/** @type {any} */ similarity) => reportLines(reportOf({ similarity, nodes: [['empty', []]] })).filter((line) => line.includes('along with')).join('\n');
  assert.match(told(like(tables([[[3, [[3, 3], [5, 7]]], [4, [[0, 1]]]]]), SAME)), new RegExp([
    '"job": .*; changes along with "sex"; if "age" is 3 or from 5 to 7 and "sector" is "private" or "public": ',
    'where that changes from "f" to "m", "cook" has no counterpart, "dyer" becomes "maid", "maid" becomes "cook" or "maid", and all others stay the same; ',
    'where that changes from "m" to "f", "cook" becomes "maid", "dyer" has no counterpart, "maid" becomes "dyer" or "maid", and all others stay the same; ',
    'wherever none of this applies, both agree$',
  ].join('')));
  assert.match(told(like(SAME, bands([[[4, [[1, 1]]]]], [[]]))), new RegExp([
    '"pay": .*; changes along with "sex"; of these cases the first one that holds counts; ',
    'if "sector" is "public": where that changes from "f" to "m", the second is 1 above the first, where that changes from "m" to "f", the second is 1 below the first; ',
    'for all others: where that .* first; wherever none of this applies, it differs by at most 0$',
  ].join('')));
  assert.match(told(like(SAME, bands([[]]))), /changes along with "sex": where that .*; else it differs by at most 0$/);
});
