/** Kernel models with levels that are alike or at the ground (section 20). */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { readBody } from '../src/bodies/bodies.js';
import { readSpace } from '../src/claim/space.js';
import { readNumber } from '../src/exact/number-syntax.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { kernelFeatures } from '../src/rules/kernel-features.js';
import { openCertificate, writeCertificate } from '../tools/seal.js';
import { goldenFolder, newestFolder } from './folder.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));

/**
 * @param {string[][]} tables of the columns of one feature
 * @param {string[][]} centres
 * @param {any} [more]
 */
function featureOf(tables, centres, more = { grouped: true }) {
  const levels = tables[0].map((_, i) => `${i}`);
  const space = readSpace(json({ space: { features: [{ name: 'k', kind: 'categorical', levels }], constraints: [] } }));
  const body = {
    kind: 'rbf',
    gamma: '1',
    bias: '0',
    columns: tables.map((table) => ({ feature: 0, table })),
    terms: centres.map((centre) => ['1', centre]),
    ...more,
  };
  const [feature] = kernelFeatures(/** @type {any} */ (readBody(json(body), { space, scores: null })), space);
  return feature;
}

test('levels that share a column', () => {
  const tables = [['1', '0', '1', '0'], ['0', '1', '0', '0'], ['0', '0', '0', '1']];
  const { sort, grouping } = featureOf(tables, [['1', '0', '0'], ['0', '1', '0']]);
  assert.equal(sort, 'grouped');
  assert.deepEqual(grouping?.groupOf, [0, 1, 0, 2]);
  assert.equal(grouping?.ground, null);
  assert.deepEqual(grouping?.own, [0, 1]);
  assert.equal(`${grouping?.distance}`, '2');
  assert.deepEqual(grouping?.beta.map(String), ['2', '2']);
  assert.equal(featureOf(tables, [['1', '0', '0'], ['0', '1', '0']], {}).sort, 'other');
});

test('a level that was dropped is the ground', () => {
  const tables = [['0', '1', '0'], ['0', '0', '1']];
  const { sort, grouping } = featureOf(tables, [['1', '0'], ['0', '0']]);
  assert.equal(sort, 'grouped');
  assert.equal(grouping?.ground, 0);
  assert.deepEqual(grouping?.own, [1, -1]);
  assert.equal(`${grouping?.distance}`, '2');
  assert.deepEqual(grouping?.beta.map(String), ['1', '0']);
});

test('others are not grouped', () => {
  assert.equal(featureOf([['0', '1', '2'], ['0', '1', '1']], [['1', '0']]).sort, 'other');
  // Two levels and one group.
  assert.equal(featureOf([['1', '1'], ['2', '2']], [['1', '2'], ['0', '0']]).sort, 'other');
  assert.throws(() => featureOf([['0', '1'], ['1', '0']], [['1', '0']], { grouped: false }));
});

const folder = [newestFolder, goldenFolder].find((place) => existsSync(new URL('v1-kernel-grouped.likewise', place)));
for (const name of folder === undefined ? [] : ['v1-kernel-grouped.likewise', 'v1-kernel-grouped-within.likewise']) {
  const file = () => openCertificate(new Uint8Array(readFileSync(new URL(name, folder))));
  test(`${name}: not without "grouped", and not for a tenth of what was proved`, () => {
    const plain = file();
    assert.ok(/** @type {any} */ (plain[4]).get('model').get('body').delete('grouped'));
    assert.equal(checkCertificate(writeCertificate(plain)).answer, 'rejected');
    const tight = file();
    const property = /** @type {any} */ (tight[3]).get('property');
    const key = property.has('delta') ? 'delta' : 'margin';
    property.set(key, `${readNumber(property.get(key), key).over(Rational.of(10))}`);
    assert.equal(checkCertificate(writeCertificate(tight)).answer, 'rejected');
  });
}
