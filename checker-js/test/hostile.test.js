/** Small files that would take long or much memory end in seconds. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkCertificate } from '../src/check.js';
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

test('the clock is looked at', () => {
  const report = checkCertificate(new Uint8Array(readFileSync(new URL('v1-svc.likewise', goldenFolder))), { seconds: -1 });
  assert.equal(report.answer, 'rejected');
  assert.match(report.reason ?? '', /seconds/);
});
