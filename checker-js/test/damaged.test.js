/** Damaged certificates are not accepted: dropped lines, wrong digests, stronger claims, files that are none. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { checkCertificate } from '../src/check.js';
import { readNumber } from '../src/exact/number-syntax.js';
import { openCertificate, writeCertificate } from '../tools/seal.js';
import { mutate, Random } from '../tools/mutate.js';
import { goldenFolder } from './folder.js';

const names = readdirSync(goldenFolder).filter((name) => name.endsWith('.likewise'));
const fileOf = (/** @type {string} */ name) => new Uint8Array(readFileSync(new URL(name, goldenFolder)));

for (const name of names) {
  test(`${name}: without one of its lines`, () => {
    const lines = openCertificate(fileOf(name));
    // All lines of the claim, and a dozen of the rest.
    for (let at = 0; at < lines.length; at += at < 6 ? 1 : Math.ceil(lines.length / 12)) {
      const rest = openCertificate(fileOf(name)).filter((_, i) => i !== at);
      assert.notEqual(checkCertificate(writeCertificate(rest)).answer, 'accepted', `line ${at + 1} dropped`);
    }
  });

  test(`${name}: a changed byte before the end, without a new digest`, () => {
    const text = gunzipSync(fileOf(name));
    const end = text.lastIndexOf('{"end"');
    const random = new Random(7);
    for (let i = 0; i < 5; i++) {
      const copy = Uint8Array.from(text);
      copy[random.below(end)] ^= 1 << random.below(7);
      assert.notEqual(checkCertificate(new Uint8Array(gzipSync(copy))).answer, 'accepted');
    }
  });
}

test('what is put together again is accepted', () => {
  for (const name of names) assert.equal(checkCertificate(writeCertificate(openCertificate(fileOf(name)))).answer, 'accepted');
});

test('mutants get an answer, and most are rejected', () => {
  const random = new Random(3);
  let accepted = 0;
  const count = 100;
  for (let n = 0; n < count; n++) {
    const { lines, seal } = mutate(openCertificate(fileOf(names[n % names.length])), random);
    if (checkCertificate(writeCertificate(lines, { seal }), { seconds: 20 }).answer === 'accepted') accepted += 1;
  }
  assert.ok(accepted < count / 2, `${accepted} of ${count} accepted`);
});

for (const [name, key] of [
  ['v1-score-bound', 'delta'],
  ['v1-regression', 'delta'],
  ['v1-probability-bound', 'delta'],
  ['v1-kernel-score', 'delta'],
  ['v1-kernel-within', 'delta'],
  ['v1-kernel-margin', 'margin'],
  ['v1-polynomial', 'delta'],
  ['v1-polynomial-within', 'delta'],
  ['v1-sos', 'margin'],
  ['v1-trees-within', 'delta'],
]) {
  test(`${name}: half of what was proved`, () => {
    const lines = openCertificate(fileOf(`${name}.likewise`));
    const property = /** @type {any} */ (lines[3]).get('property');
    property.set(key, `${readNumber(property.get(key), key).half()}`);
    const report = checkCertificate(writeCertificate(lines));
    assert.equal(report.answer, 'rejected');
    assert.ok((report.line ?? 0) > 5);
  });
}

test('files that are no certificates are unreadable', () => {
  assert.equal(checkCertificate(new Uint8Array(0)).answer, 'unreadable');
  assert.equal(checkCertificate(new TextEncoder().encode('{"likewise-certificate":1}\n')).answer, 'unreadable');
  assert.equal(checkCertificate(new Uint8Array(gzipSync('{"likewise-certificate":2}\n'))).answer, 'unreadable');
  assert.equal(checkCertificate(new Uint8Array(gzipSync('hello\n'))).answer, 'unreadable');
});
