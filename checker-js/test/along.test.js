/** Features that change along with others (section 22): relations that are none, parts, and pairs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesOf, partOf } from '../src/claim/along-parts.js';
import { areSimilar, readSimilarity } from '../src/claim/similarity.js';
import { readSpace } from '../src/claim/space.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { Clock } from '../src/limits.js';
import { Rejection } from '../src/rejection.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const FEATURES = [
  { name: 'income', kind: 'continuous', lo: '0', hi: '9' },
  { name: 'sex', kind: 'categorical', levels: ['f', 'm', 'x'] },
  { name: 'age', kind: 'integer', lo: '0', hi: '3' },
];
const space = readSpace(json({ space: { features: FEATURES, constraints: [] } }));
const FREE = { kind: 'free' };
const WITHIN = { kind: 'within', tolerance: '5' };
const along = (/** @type {any[]} */ bands, more = {}) => ({ kind: 'along', with: 1, bands, else: '0', ...more });
const BANDS = [[0, 1, '1', '2'], [1, 0, '-2', '-1']];
const partsOf = (/** @type {any[]} */ similarity) => choicesOf(similarity, space.features, new Clock(60)).map((choice) => partOf(similarity, choice));
const read = (/** @type {any[]} */ similarity, more = {}) => readSimilarity(json({ similarity, ...more }), space);

test('parts: equal first, then by levels or by difference', () => {
  const byLevels = partsOf(read([along(BANDS), FREE, WITHIN]).similarity);
  assert.equal(byLevels.length, 7);
  assert.deepEqual(byLevels.map(({ ranges }) => [...ranges.values()].map(({ own, other }) => `${own[0]},${other[1]}`).join()), ['', '0,1', '0,2', '1,0', '1,2', '2,0', '2,1']);
  assert.deepEqual(byLevels.map(({ similarity: [own] }) => `${own.kind} ${own.low} ${own.high}`).slice(0, 4), ['same 0 0', 'between 1 2', 'same 0 0', 'between -2 -1']);
  const allowed = partsOf(read([along(BANDS), { kind: 'pairs', allowed: [[0, 2]] }, WITHIN]).similarity);
  assert.equal(allowed.length, 3);
  // A tolerance of 5 is one of 3 here.
  const byDifference = partsOf(read([along([[-1, '-1', '0'], [1, '0', '1']], { with: 2, else: '1/2' }), FREE, WITHIN]).similarity);
  assert.deepEqual(byDifference.map(({ similarity: [own, , age] }) => `${age.kind} ${age.low}: ${own.low} ${own.high}`), [
    'same 0: -1/2 1/2', 'between -3: -1/2 1/2', 'between -2: -1/2 1/2', 'between -1: -1 0', 'between 1: 0 1', 'between 2: -1/2 1/2', 'between 3: -1/2 1/2',
  ]);
});

test('pairs', () => {
  const claim = { space, ...read([along(BANDS, { else: '1/4' }), FREE, WITHIN]) };
  const similar = (/** @type {number} */ sex, /** @type {number} */ other, /** @type {bigint} */ quarters) =>
    areSimilar(claim, [4, sex, 0].map(Rational.of), [Rational.of(4).plus(Rational.fraction(quarters, 4n)), Rational.of(other), Rational.of(0)]);
  assert.ok(similar(0, 1, 4n) && similar(0, 1, 8n) && similar(1, 0, -4n) && similar(0, 0, 1n) && similar(0, 2, -1n));
  assert.ok(!similar(0, 1, 3n) && !similar(0, 1, -4n) && !similar(1, 0, 4n) && !similar(0, 0, 2n) && !similar(2, 1, 4n));
});

test('relations that are none', () => {
  const good = [along(BANDS), FREE, WITHIN];
  read(good);
  for (const similarity of [
    [along([]), FREE, WITHIN],
    [along(BANDS.slice(1)), FREE, WITHIN],
    [along([...BANDS].reverse()), FREE, WITHIN],
    [along([[0, 1, '1', '2'], [1, 0, '-2', '0']]), FREE, WITHIN],
    [along([[0, 0, '0', '0']]), FREE, WITHIN],
    [along([[0, 3, '0', '0'], [3, 0, '0', '0']]), FREE, WITHIN],
    [along(BANDS, { else: '-1' }), FREE, WITHIN],
    [along(BANDS, { with: 0 }), FREE, WITHIN],
    [along(BANDS, { with: 2 }), FREE, WITHIN],
    [along(BANDS), { kind: 'same' }, WITHIN],
    [along(BANDS), FREE, { kind: 'between', low: '0', high: '1' }],
    [along([[-6, '-1', '0'], [6, '0', '1']], { with: 2 }), FREE, WITHIN],
    [along([[0, '0', '0']], { with: 2 }), FREE, WITHIN],
    [along([[-1, '0', '0'], [1, '0', '0']]), FREE, WITHIN],
    [FREE, along(BANDS, { with: 2 }), WITHIN],
  ]) {
    assert.throws(() => read(similarity), Rejection, JSON.stringify(similarity));
  }
  assert.throws(() => read(good, { distance: { power: 1, terms: [{ feature: 0, each: '1' }], forms: [], bound: '1' } }), Rejection);
});
