/** Small files that would take long or much memory end in seconds. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkCertificate } from '../src/check.js';
import { ONE, ZERO } from '../src/exact/rational.js';
import { claimLines } from '../src/report.js';
import { openCertificate, writeCertificate } from '../tools/seal.js';
import { goldenFolder } from './folder.js';

/** @param {Uint8Array} file */
function quickly(file) {
  const start = Date.now();
  const report = checkCertificate(file, { seconds: 2 });
  assert.ok(Date.now() - start < 20_000, `${Date.now() - start} ms`);
  return report.answer;
}

const golden = (/** @type {string} */ name) => openCertificate(readFileSync(new URL(name, goldenFolder)));
const zip = (/** @type {string} */ text) => new Uint8Array(gzipSync(text, { level: 9 }));

test('deep nesting', () => {
  assert.equal(quickly(zip(`${'['.repeat(1_000_000)}\n`)), 'unreadable');
});

test('limits of a line', () => {
  const withModel = (/** @type {(model: any) => void} */ change) => {
    const lines = golden('v1-score-bound.likewise');
    change(/** @type {any} */ (lines[4]).get('model'));
    return checkCertificate(writeCertificate(lines));
  };
  const nested = (/** @type {number} */ depth) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  // The model line opens two brackets around the family, which is to be a text: the reasons differ.
  assert.doesNotMatch(withModel((model) => model.set('family', nested(30))).reason ?? '', /nested/);
  assert.match(withModel((model) => model.set('family', nested(31))).reason ?? '', /nested/);
  assert.match(withModel((model) => model.set('family', '['.repeat(2 ** 23))).reason ?? '', /brackets/);
  const weights = (/** @type {string[]} */ list) => (/** @type {any} */ model) => {
    const columns = model.get('body').get('columns');
    for (const weight of list) {
      columns.push(new Map(columns[0]).set('weight', weight));
      model.get('rounding').get('sizes').push('0');
    }
  };
  const longDenominator = (/** @type {bigint} */ last) => `1/${10n ** 9000n + last}`;
  assert.match(withModel(weights([1n, 3n, 7n].map(longDenominator))).reason ?? '', /common multiple/);
  assert.doesNotMatch(withModel(weights([1n, 1n, 1n].map(longDenominator))).reason ?? '', /common multiple/);
});

test('text far larger than the file', () => {
  assert.notEqual(quickly(zip(`{"likewise-certificate":1${' '.repeat(10_000_000)}}\n`)), 'accepted');
});

test('a space of very many enumerated points', () => {
  const lines = golden('v1-enumerated.likewise');
  lines.splice(5, lines.length - 6, ['enumerated']);
  assert.equal(quickly(writeCertificate(lines)), 'rejected');
});

test('very long numbers', () => {
  const lines = golden('v1-score-bound.likewise');
  const body = /** @type {any} */ (lines[4]).get('model').get('body');
  body.get('columns')[0].set('weight', `1/${'9'.repeat(9_000)}`);
  assert.equal(quickly(writeCertificate(lines)), 'accepted');
});

test('a coefficient for many levels, many times', () => {
  const lines = golden('v1-score-bound.likewise');
  const space = /** @type {any} */ (lines[1]).get('space');
  const levels = Array.from({ length: 50_000 }, (_, i) => new Map([['number', `${i}`]]));
  const k = space.get('features').push(new Map(/** @type {[string, any][]} */ ([['name', 'k'], ['kind', 'ordinal'], ['levels', levels]]))) - 1;
  for (let i = 0; i < 1000; i++) {
    space.get('constraints').push(new Map(/** @type {[string, any][]} */ ([['text', ''], ['terms', [[BigInt(k), '1']]], ['bound', '1']])));
  }
  assert.equal(quickly(writeCertificate(lines)), 'unfinished');
});

test('long names are said in full once', () => {
  const name = 'n'.repeat(100_000);
  const feature = { name, kind: 'integer', levels: null, lo: ZERO, hi: ONE, lastNumber: ONE, missing: null };
  const terms = [{ feature: 0, factor: ONE, amounts: null }];
  const space = { features: [feature], constraints: Array.from({ length: 50 }, () => ({ text: '', terms, bound: ONE })) };
  const similarity = [{ kind: 'same', low: ZERO, high: ZERO, allowed: [], along: null }];
  const property = { kind: 'score', delta: ONE, rate: null };
  const claim = /** @type {any} */ ({ space, similarity, distance: null, property, model: { head: { kind: 'score' } } });
  const said = claimLines(claim, 'proof', true).join('\n');
  assert.ok(said.includes(name));
  assert.ok(said.length < 200_000);
});

test('the clock is looked at', () => {
  const report = checkCertificate(new Uint8Array(readFileSync(new URL('v1-svc.likewise', goldenFolder))), { seconds: -1 });
  assert.equal(report.answer, 'unfinished');
  assert.match(report.reason ?? '', /seconds/);
});
