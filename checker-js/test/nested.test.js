/** Functions of several scores (section 24): trees of sums of features, medians, cuts at inner scores. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { Median } from '../src/bodies/nested.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { writeCertificate } from '../tools/seal.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const UNIT = { name: 'c', kind: 'continuous', lo: '0', hi: '1' };
const TWO = [UNIT, { ...UNIT, name: 'd' }];
const SAME = { kind: 'same' };
const FREE = { kind: 'free' };
/** x_0 + x_1 */
const SUM = { kind: 'affine', bias: '0', columns: [0, 1].map((feature) => ({ feature, weight: '1', slope: '1', offset: '0' })) };
/** @param {number} feature */
const only = (feature) => ({ kind: 'affine', bias: '0', columns: [{ feature, weight: '1', slope: '1', offset: '0' }] });
/** 0 where the inner score is at most 1, else 1 */
const STEP = { kind: 'trees', bias: '0', trees: [[[0, '1', 2], '0', '1']] };
const DECISION = { kind: 'decision', margin: '0' };
const score = (/** @type {string} */ delta) => ({ kind: 'score', delta });
const line = (/** @type {string | null} */ target) => (target === null ? null : [target, 'separable']);
const limits = (/** @type {(string | null)[]} */ ...targets) => targets.map(line);

/**
 * @typedef {object} Parts
 * @property {any[]} [similarity]
 * @property {any} property
 * @property {any} body
 * @property {any} [head]
 * @property {any[]} nodes
 */

/** @param {Parts} parts */
function reportOf({ similarity = [FREE, SAME], property, body, head, nodes }) {
  const isWitness = !Array.isArray(nodes[0]);
  const lines = [
    { 'likewise-certificate': 1, kind: isWitness ? 'witness' : 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features: TWO, constraints: [] } },
    { similarity },
    { property },
    { model: { family: 'f', body, head: head ?? { labels: ['no', 'yes'], zero: 'lower', link: null }, rounding: null } },
    ...nodes,
    { end: isWitness ? { sha256: '' } : { nodes: nodes.length, clearance: '0', covers_floating_point: false, sha256: '' } },
  ];
  return checkCertificate(writeCertificate(lines.map(json)));
}

/** @param {Parts} parts */
function assertAccepted(parts) {
  const report = reportOf(parts);
  assert.equal(report.answer, 'accepted', report.reason ?? '');
  return report;
}

/**
 * @param {Parts} parts
 * @param {RegExp} [reason]
 */
function assertRejected(parts, reason = /./) {
  const report = reportOf(parts);
  assert.equal(report.answer, 'rejected');
  assert.match(report.reason ?? '', reason);
}

test('the lower weighted median', () => {
  const numbers = (/** @type {number[]} */ values) => values.map((value) => Rational.of(value));
  const medianOf = (/** @type {number[]} */ weights, /** @type {number[]} */ values) => `${new Median(numbers(weights), Rational.of(1), Rational.of(0)).of(numbers(values))}`;
  assert.equal(medianOf([1, 1, 1], [3, 1, 2]), '2');
  assert.equal(medianOf([1, 1], [3, 1]), '1');
  assert.equal(medianOf([1, 2], [1, 3]), '3');
  assert.equal(medianOf([2, 1], [3, 1]), '3');
  assert.equal(medianOf([1, 1, 2], [1, 1, 5]), '1');
});

test('trees of a sum: limits, cuts, and witnesses', () => {
  const body = { kind: 'nested', inner: [SUM], outer: STEP };
  const claim = { body, property: score('1/2') };
  const wide = limits('0', '2', '0', '2', null, null);
  assertRejected({ ...claim, nodes: [['nested', '1/2', [wide]]] }, /separate/);
  assertAccepted({ ...claim, property: score('1'), nodes: [['nested', '1/2', [wide]]] });
  // Lines must show what they state, and be those of the inner body.
  assertRejected({ ...claim, property: score('1'), nodes: [['nested', '1/2', [limits('0', '15/8', '0', '2', null, null)]]] });
  assertRejected({ ...claim, property: score('1'), nodes: [['nested', '1/2', [[['2', 'trees'], ...wide.slice(1)]]]] });
  assertRejected({ ...claim, property: score('1'), nodes: [['nested', '1/2', [wide.slice(1)]]] });
  assertRejected({ ...claim, property: score('1'), nodes: [['nested', '1/2', []]] });
  assertRejected({ ...claim, property: score('1'), nodes: [['nested', '1/2', [limits('0', null, '0', '2', null, null)]]] }, /without a limit/);
  assertAccepted({ ...claim, nodes: [{ witness: { x: ['1', '1'], other: ['0', '1'], scores: ['1', '0'] } }] });
  assertRejected({ ...claim, nodes: [{ witness: { x: ['1', '1'], other: ['1/2', '1'], scores: ['1', '1'] } }] });
  // The inner score does not change with what may differ.
  const report = assertAccepted({ ...claim, nodes: [['independent']], body: { ...body, inner: [only(1)] } });
  assertRejected({ ...claim, nodes: [['independent']] });
  assertAccepted({ ...claim, nodes: [['independent']], body: { ...body, inner: [only(1), only(0)] } });
  assert.deepEqual([...report.packs].sort(), ['core', 'nested', 'trees']);
});

test('open lower limits of cuts count', () => {
  const body = { kind: 'nested', inner: [SUM], outer: STEP };
  const claim = { body, property: DECISION };
  const all = limits('0', '2', '0', '2', null, null);
  // Right of a cut at 1 the sum is above 1: the upper label, for sure; left of it the lower one.
  const nodes = [['inner', 0, 0, '1'], ['nested', '1', [all]], ['inner', 0, 1, '1'], ['nested', '1/2', [all]], ['nested', '0', [all]]];
  assertRejected({ ...claim, nodes });
  const near = { ...claim, similarity: [SAME, SAME] };
  const both = limits('0', '2', '0', '2', '0', '0');
  const equal = [['inner', 0, 0, '1'], ['nested', '1', [all]], ['inner', 0, 1, '1'], ['nested', '1/2', [both]], ['nested', '0', [all]]];
  assertAccepted({ ...near, nodes: equal });
  assertRejected({ ...near, nodes: equal.map((node, i) => (i === 3 ? ['nested', '1/2', [all]] : node)) });
  // A lower limit of a line is no open one, and one at the test itself goes left.
  const lines = [['inner', 0, 0, '1'], ['nested', '1', [all]], ['inner', 0, 1, '1'], ['nested', '1/2', [both]], ['inner', 0, 1, '3/2'], ['nested', '0', [all]], ['nested', '0', [all]]];
  assertAccepted({ ...near, nodes: lines });
  assertRejected({ ...near, nodes: [['nested', '0', [limits('-1', '2', '-1', '2', null, null)]]] });
  // Nobody has a sum above 2, so that whatever is said of them holds; and of two equal sums one is not above the other.
  assertAccepted({ ...near, nodes: [['inner', 0, 0, '2'], ['nested', '1/2', [both]], ['nested', '0', [all]]] });
  assertAccepted({ ...near, nodes: [['inner', 0, 0, '2'], ...equal, ['nested', '1/2', [all]]] });
  assertRejected({ ...near, nodes: [['inner', 0, 0, '15/8'], ['nested', '1/2', [both]], ['nested', '1', [all]]] });
  for (const cut of [['inner', 1, 0, '1'], ['inner', 0, 2, '1'], ['inner', 0, 0], ['inner', 0, 0, 1]]) assertRejected({ ...near, nodes: [cut, ...equal.slice(1)] });
  assertRejected({ ...near, body: SUM, nodes: equal });
});

test('medians: by limits, and by how far each score falls', () => {
  const inner = [only(0), only(1), SUM];
  const median = (/** @type {string} */ slope) => ({ kind: 'nested', inner, outer: { kind: 'median', weights: ['1', '1', '1'], slope, offset: '3' } });
  const items = [limits('0', '1', '0', '1', null, null), limits('0', '1', '0', '1', null, null), limits('0', '2', '0', '2', null, null)];
  const falls = items.map((item, k) => [...item.slice(0, 4), line(k === 1 ? '0' : '1/8'), line(k === 1 ? '0' : '1/8')]);
  const near = { similarity: [{ kind: 'within', tolerance: '1/4' }, SAME] };
  for (const slope of ['1', '-1']) {
    const claim = { ...near, body: median(slope) };
    assertAccepted({ ...claim, property: score('1'), nodes: [['nested', '1/2', items]] });
    assertRejected({ ...claim, property: score('7/8'), nodes: [['nested', '1/2', items]] });
    assertAccepted({ ...claim, property: score('1/4'), nodes: [['nested', '1/2', falls]] });
    assertRejected({ ...claim, property: score('1/5'), nodes: [['nested', '1/2', falls]] });
    assertRejected({ ...claim, property: score('1/4'), nodes: [['nested', '1/2', falls.map((item) => item.map((own, i) => (i === (slope === '1' ? 4 : 5) ? null : own)))]] });
  }
  // f is from 3 to 4, and everybody gets the upper label.
  assert.equal(assertAccepted({ ...near, body: median('1'), property: DECISION, nodes: [['nested', '0', items]] }).labelOfEverybody, 1);
  assert.equal(assertAccepted({ ...near, body: median('-1'), property: DECISION, nodes: [['nested', '0', items]] }).labelOfEverybody, 1);
  assertRejected({ ...near, body: median('1'), property: DECISION, nodes: [['nested', '1', items]] });
});

test('bodies that are none', () => {
  const nodes = [['enumerated']];
  const rbf = { kind: 'rbf', gamma: '1', bias: '0', columns: [], terms: [['1', []]] };
  const nested = { kind: 'nested', inner: [SUM], outer: STEP };
  for (const body of [
    { kind: 'nested', inner: [], outer: STEP },
    { kind: 'nested', inner: [rbf], outer: STEP },
    { kind: 'nested', inner: [nested], outer: STEP },
    { kind: 'nested', inner: [SUM], outer: SUM },
    { kind: 'nested', inner: [SUM], outer: { ...STEP, trees: [[[1, '1', 2], '0', '1']] } },
    { kind: 'nested', inner: [SUM], outer: { ...STEP, trees: [[[0, [0], 2], '0', '1']] } },
    { kind: 'nested', inner: [SUM], outer: { kind: 'median', weights: [], slope: '1', offset: '0' } },
    { kind: 'nested', inner: [SUM], outer: { kind: 'median', weights: ['0'], slope: '1', offset: '0' } },
    { kind: 'nested', inner: [SUM], outer: { kind: 'median', weights: ['1'], slope: '0', offset: '0' } },
    { kind: 'combined', how: 'max', of: [nested] },
    { kind: 'sum', bias: '0', parts: [{ weight: '1', link: null, body: nested }] },
  ]) {
    assertRejected({ body, property: score('9'), nodes }, /body|inner|median|weights|feature of a node|test of a node/);
  }
  assertRejected({ body: nested, property: score('9'), nodes: [['slope', [0]]] });
  assertRejected({ body: nested, property: score('9'), nodes: [['separable', '1/2']] });
});
