/**
 * Small certificates written by hand, one a sentence of the specification that can be misread: ties, touching bounds, clearances,
 * cases, cubes, activations, empty cells. Both checkers gave these answers.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { parseJson } from '../src/file/json.js';
import { writeCertificate } from '../tools/seal.js';

const texts = readFileSync(new URL('crafted.jsonl', import.meta.url), 'utf8').trimEnd().split('\n');

for (const text of texts) {
  const item = /** @type {any} */ (parseJson(text));
  test(item.get('name'), () => {
    const report = checkCertificate(writeCertificate(item.get('lines')));
    assert.equal(report.answer, item.get('answer'), report.reason ?? '');
    const everybody = item.get('everybody');
    assert.equal(report.labelOfEverybody, everybody === null ? null : Number(everybody));
  });
}
