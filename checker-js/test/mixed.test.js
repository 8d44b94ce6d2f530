/** Kernel models of mixed columns (section 23): axes of columns in pieces, certificates written by hand, bounds compared with points. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { claimReader } from '../src/claim/claim.js';
import { parseJson } from '../src/file/json.js';
import { Rational } from '../src/exact/rational.js';
import { Geometry } from '../src/proof/cell.js';
import { cubeOf } from '../src/rules/cube.js';
import { boundsOfG } from '../src/rules/mixed-terms.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const UNIT = { name: 'c', kind: 'continuous', lo: '0', hi: '1' };
const WHOLE = { name: 'i', kind: 'integer', lo: '0', hi: '4' };
const LEVELS = { name: 'k', kind: 'categorical', levels: ['a', 'b'] };
const SAME = { kind: 'same' };
const FREE = { kind: 'free' };
const score = (/** @type {string} */ delta) => ({ kind: 'score', delta });
/** exp(-x^2) of a level's number x */
const BUMP = { kind: 'mixed', shape: 'gaussian', gamma: '1', bias: '0', columns: [{ feature: 0, table: ['0', '1'] }], sums: [['0', [[0, '1']]]], terms: [['1', ['0']]] };
/** @param {any} leaf for each of the four pairs of two levels */
const each = (leaf) => [['split', 0, '0'], ['split', 1, '0'], leaf, leaf, ['split', 1, '0'], leaf, leaf];

/**
 * @typedef {object} Parts
 * @property {any[]} features
 * @property {any[]} similarity
 * @property {any} property
 * @property {any} body
 * @property {any} [head]
 * @property {any[]} nodes
 */

/** @param {Parts} parts */
function linesOf({ features, similarity, property, body, head, nodes }) {
  const isWitness = !Array.isArray(nodes[0]);
  return [
    { 'likewise-certificate': 1, kind: isWitness ? 'witness' : 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features, constraints: [] } },
    { similarity },
    { property },
    { model: { family: 'f', body, head: head ?? { labels: null, zero: 'lower', link: null }, rounding: null } },
    ...nodes,
    { end: isWitness ? { sha256: '' } : { nodes: nodes.length, clearance: '0', covers_floating_point: false, sha256: '' } },
  ].map(json);
}

/** @param {Parts} parts */
function assertAccepted(parts) {
  const report = checkCertificate(writeCertificate(linesOf(parts)));
  assert.equal(report.answer, 'accepted', report.reason ?? '');
  return report;
}

/**
 * @param {Parts} parts
 * @param {RegExp} [reason]
 */
function assertRejected(parts, reason = /./) {
  const report = checkCertificate(writeCertificate(linesOf(parts)));
  assert.equal(report.answer, 'rejected');
  assert.match(report.reason ?? '', reason);
}

/** @param {Parts} parts the cube of the root */
function cubeOfRoot(parts) {
  const reader = claimReader();
  for (const line of linesOf(parts).slice(1, 5)) reader.take(line);
  const { space, similarity, model } = reader.claim();
  const geometry = new Geometry(space, similarity);
  const cube = cubeOf(geometry, geometry.root(), /** @type {any} */ (model.body).columns);
  assert.ok(cube !== null);
  return cube;
}

/**
 * The column of a feature from 0 to 4, at x and at x', as texts by products of axes.
 * @param {any} feature
 * @param {any} relation
 * @param {any[]} columns
 */
function axesOfPieces(feature, relation, columns) {
  const body = { ...BUMP, columns: columns.map(([cuts, pieces]) => ({ feature: 0, cuts, pieces })), sums: [['0', []]] };
  const cube = cubeOfRoot({ features: [{ ...feature, lo: '0', hi: '4' }], similarity: [relation], property: score('1'), body, nodes: [] });
  const words = (/** @type {any} */ polynomial) => [...polynomial.terms].map(([product, coefficient]) => `${coefficient}${[...product].map((axis) => ` y${axis.charCodeAt(0)}`).join('')}`).sort();
  return { axes: cube.axes, places: cube.groups.map(({ places }) => places?.map((place) => place.map(String)) ?? null), columns: cube.columns.map((own) => own.map(words)) };
}

test('G', () => {
  for (const x of [-4, -1, -1 / 1024, 0, 1 / 1024, 1 / 2, 1, 3, 4]) {
    const { lo, hi } = boundsOfG(Rational.dyadic(BigInt(x * 1024), -10).floor(128));
    const [low, high] = [Number(lo) / 2 ** 128, Number(hi) / 2 ** 128];
    const value = Math.abs(x) < 0.1 ? 1 / 2 + x / 6 + x ** 2 / 24 : (Math.exp(x) - 1 - x) / x ** 2;
    assert.ok(lo < hi && hi - lo < 1n << 12n && Math.abs(low - value) < 1e-9 && Math.abs(high - value) < 1e-9, `G(${x})`);
  }
});

test('axes of columns in pieces', () => {
  const square = [[], [['0', '0', '1']]];
  // x = 2 + 2 y0, and x^2 = 4 + 4 (x - 2) + (x - 2)^2, whose last part is 2 + 2 y1.
  assert.deepEqual(axesOfPieces(UNIT, SAME, [square]), { axes: 2, places: [null, null], columns: [[['2 y1', '6', '8 y0']], [['2 y1', '6', '8 y0']]] });
  const apart = axesOfPieces(UNIT, FREE, [square]);
  assert.equal(apart.axes, 4);
  assert.deepEqual(apart.columns, [[['2 y2', '6', '8 y0']], [['2 y3', '6', '8 y1']]]);
  // Even powers count for half of their size, odd ones for all of it.
  const quintic = [[], [['0', '0', '0', '1']]];
  assert.deepEqual(axesOfPieces(UNIT, SAME, [quintic]).columns[0], [['20', '24 y0', '20 y1'].sort()]);
  // Several parts: from 0 to 1 left of the cut and at 3 on its right.
  assert.deepEqual(axesOfPieces(UNIT, SAME, [[['1'], [['0', '1'], ['3']]]]).columns[0], [['3/2', '3/2 y1']]);
  // Constants have places, of the cuts of all columns together; a code at a cut is on its left.
  const steps = axesOfPieces(UNIT, SAME, [[['1', '2'], [['0'], ['2'], ['0']]], [['3'], [['5'], ['7', '0']]], [[], [['9']]]]);
  assert.equal(steps.axes, 3);
  assert.deepEqual(steps.places, [null, [['-1', '-1'], ['1', '-1'], ['-1', '-1'], ['-1', '1']]]);
  assert.deepEqual(steps.columns[1], [['1', '1 y1'], ['1 y2', '6'], ['9']]);
  // Of an integer feature only pieces with a whole number in them count; and a lower end at a cut is a part.
  const whole = axesOfPieces(WHOLE, SAME, [[['0', '1/2', '5/2'], [['1'], ['8'], ['2'], ['3']]]]);
  assert.deepEqual(whole.places[1], [['-1'], ['0'], ['1']]);
  assert.deepEqual(axesOfPieces(UNIT, SAME, [[['0'], [['1'], ['3']]]]).places[1], [['-1'], ['1']]);
  // One column that is no constant, and no group has places.
  assert.deepEqual(axesOfPieces(UNIT, SAME, [[['1'], [['0'], ['1']]], [[], [['0', '0', '2']]]]).places, [null, null, null]);
  assert.equal(axesOfPieces(UNIT, { kind: 'within', tolerance: '1' }, [[['1'], [['0'], ['1']]]]).axes, 4);
});

test('fixed codes: the bound is the difference itself', () => {
  const claim = { features: [LEVELS], similarity: [FREE], body: BUMP };
  const leaf = ['mixed', '1/2', [], 64];
  // 1 - exp(-1) = 0.63212...
  for (const shape of ['gaussian', 'laplacian']) {
    for (const r of [0, 64]) {
      const own = { ...claim, body: { ...BUMP, shape }, nodes: each(['mixed', '1/2', [], r]) };
      assert.deepEqual(assertAccepted({ ...own, property: score('6322/10000') }).packs, ['core', 'mixed']);
      assertRejected({ ...own, property: score('6321/10000') }, /separate/);
      // With a factor of 2 it is 1 - exp(-4), or 1 - exp(-2).
      const far = { ...own.body, sums: [['0', [[0, '2']]]] };
      const [above, below] = shape === 'gaussian' ? ['9817/10000', '9816/10000'] : ['8647/10000', '8646/10000'];
      assertAccepted({ ...own, body: far, property: score(above) });
      assertRejected({ ...own, body: far, property: score(below) });
    }
  }
  for (const wrong of [['mixed', '1/2', [0], 64], ['mixed', '1/2', [], 65], ['mixed', '1/2', [], -1], ['mixed', '1/2', []], ['mixed', '1/3', [], 64], ['kernel', '1/2', [], 64], ['separable', '1/2'], ['polynomial', '1/2', []]]) {
    assertRejected({ ...claim, property: score('1'), nodes: each(wrong) });
  }
  assertRejected({ ...claim, property: score('1'), nodes: [leaf] }, /hints/);
  assertRejected({ ...claim, property: { kind: 'lipschitz', constant: '1', delta: '1', distance: { norm: 1, terms: [{ feature: 0, unequal: '1' }], forms: [] } }, nodes: each(leaf) }, /lipschitz/);
  // As a part of a sum, and combined with others.
  const sum = { kind: 'sum', bias: '0', parts: [{ weight: '2', link: null, body: BUMP }] };
  assertAccepted({ ...claim, body: sum, property: score('13/10'), nodes: each(['sum', '1/2', [[null, null, [['65/200', 'mixed', [], 64]]]]]) });
  assertRejected({ ...claim, body: sum, property: score('13/10'), nodes: each(['sum', '1/2', [[null, null, [['6/20', 'mixed', [], 64]]]]]) });
  assertAccepted({ ...claim, body: { kind: 'combined', how: 'max', of: [BUMP] }, property: score('7/10'), nodes: [['enumerated']] });
  assertRejected({ ...claim, body: { kind: 'combined', how: 'max', of: [BUMP] }, property: score('6/10'), nodes: [['enumerated']] });
  assertRejected({ ...claim, body: { kind: 'nested', inner: [BUMP], outer: { kind: 'trees', bias: '0', trees: [['1']] } }, property: score('9'), nodes: [['independent']] });
});

test('witnesses, and scores that do not change', () => {
  const claim = { features: [LEVELS], similarity: [FREE], body: BUMP, property: score('1/2') };
  const witness = (/** @type {string[]} */ own, /** @type {string[]} */ other) => [{ witness: { x: ['0'], other: ['1'], scores: [own, other] } }];
  assertAccepted({ ...claim, nodes: witness(['1', '1'], ['1/3', '1/2']) });
  assertRejected({ ...claim, nodes: witness(['1', '1'], ['1/3', '7/20']) });
  assertRejected({ ...claim, property: score('2/3'), nodes: witness(['1', '1'], ['1/3', '1/2']) });
  assertRejected({ ...claim, nodes: [['independent']] });
  assertAccepted({ ...claim, body: { ...BUMP, sums: [['1', []]] }, nodes: [['independent']] });
  assertRejected({ ...claim, body: { ...BUMP, sums: [['1', [[0, '0']]]] }, nodes: [['independent']] });
  const inPieces = (/** @type {string[][]} */ ...pieces) => ({ ...claim, features: [UNIT], body: { ...BUMP, columns: [{ feature: 0, cuts: ['1/2'], pieces }] }, nodes: [['independent']] });
  assert.deepEqual(assertAccepted(inPieces(['1', '0'], ['2/2'])).packs, ['core', 'mixed', 'pieces']);
  assertRejected(inPieces(['1', '0'], ['2']));
  assertRejected(inPieces(['1', '0'], ['1', '1']));
});

test('everybody decided alike, by leaves of mixed bodies and of sums of them', () => {
  const head = { labels: ['no', 'yes'], zero: 'lower', link: null };
  const claim = { features: [LEVELS], similarity: [FREE], head, property: { kind: 'decision', margin: '0' } };
  const labelOf = (/** @type {any} */ parts) => assertAccepted({ ...claim, ...parts }).labelOfEverybody;
  // The score is from 1/3 to 1, or less 2.
  assert.equal(labelOf({ body: BUMP, nodes: each(['mixed', '0', [], 64]) }), 1);
  assert.equal(labelOf({ body: { ...BUMP, bias: '-2' }, nodes: each(['mixed', '1', [], 64]) }), 0);
  assert.equal(labelOf({ body: BUMP, head: { ...head, zero: 'upper' }, nodes: each(['mixed', '1', [], 64]) }), 1);
  const [first, ...rest] = each(['mixed', '0', [], 64]);
  assert.equal(labelOf({ body: BUMP, nodes: [first, ...rest.map((node) => (node[0] === 'split' ? node : ['enumerated']))] }), null);
  const sum = { kind: 'sum', bias: '0', parts: [{ weight: '2', link: null, body: BUMP }] };
  assert.equal(labelOf({ body: sum, nodes: each(['sum', '0', [[null, null, [['-1/3', 'mixed', [], 64]]]]]) }), 1);
});

test('terms of mixed bodies count in enumerated, through sums and combined ones alike', () => {
  const claim = (/** @type {string} */ hi, /** @type {any} */ body) => ({ features: [{ ...WHOLE, hi }], similarity: [FREE], property: score('9'), body, nodes: [['enumerated']] });
  const one = { ...BUMP, columns: [{ feature: 0, slope: '1', offset: '0' }] };
  const two = { ...one, terms: [['1', ['0']], ['1', ['1']]] };
  const sum = { kind: 'sum', bias: '0', parts: [one, one].map((body) => ({ weight: '1', link: null, body })) };
  for (const body of [two, sum, { kind: 'combined', how: 'max', of: [one, one] }, { kind: 'combined', how: 'min', of: [sum] }]) {
    assertAccepted(claim('3', body));
    // 2^20 points, each of two terms.
    assertRejected(claim('1023', body), /too many terms/);
  }
});

test('bodies that are none', () => {
  const claim = { features: [LEVELS], similarity: [FREE], property: score('9'), nodes: [['enumerated']] };
  assertAccepted({ ...claim, body: BUMP });
  for (const more of [
    { shape: 'cubic' },
    { gamma: '0' },
    { sums: [] },
    { terms: [] },
    { terms: [['1', []]] },
    { sums: [['0', [[1, '1']]]] },
    { sums: [['0', [[0, '1'], [0, '1']]]] },
    { sums: [['0', [[0]]]] },
    { sums: [[0, []]] },
    { columns: [{ feature: 0, cuts: [], pieces: [['1']] }] },
    { columns: [{ feature: 0, table: ['0', '1'], weight: '1' }] },
    { grouped: true },
  ]) {
    assertRejected({ ...claim, body: { ...BUMP, ...more } }, /body|centre|column|sum|term/);
  }
  const two = { ...claim, head: { labels: ['a', 'b'], classes: 'argmax', link: null }, property: { kind: 'score', delta: '9', class: null }, nodes: [['cases'], ['enumerated'], ['enumerated']] };
  assertAccepted({ ...two, body: { ...BUMP, bias: ['0', '1'], terms: [[['1', '2'], ['0']]] } });
  assertRejected({ ...two, body: BUMP });
});

test('no pair of a cell is above the bound of its leaf', () => {
  const random = new Random(23);
  const number = (reach = 1) => `${random.below(16 * reach + 1) - 8 * reach}/8`;
  const features = [UNIT, { ...WHOLE, hi: '2' }, LEVELS];
  for (let n = 0; n < 24; n++) {
    const similarity = [random.pick([SAME, FREE, { kind: 'within', tolerance: '1/4' }]), random.pick([SAME, { kind: 'within', tolerance: '1' }]), FREE];
    const piece = () => Array.from({ length: 1 + random.below(4) }, () => number());
    const columns = [
      { feature: 0, slope: number(), offset: number() },
      { feature: 0, cuts: ['1/2'], pieces: [piece(), piece()] },
      { feature: 0, cuts: [], pieces: [piece()] },
      { feature: 1, cuts: ['1/2', '1'], pieces: [[number()], [number()], [number()]] },
      { feature: 2, table: [number(), number()] },
    ];
    const sums = [0, 1].map(() => [number(), columns.flatMap((_, c) => (random.below(3) > 0 ? [[c, number()]] : []))]);
    const terms = [0, 1, 2].map(() => [number(2), [number(), number()]]);
    const body = { kind: 'mixed', shape: random.pick(['gaussian', 'laplacian']), gamma: random.pick(['1/4', '1']), bias: '0', columns, sums, terms };
    const parts = { features, similarity, body, property: score('1'), nodes: [] };
    const hints = Array.from({ length: cubeOfRoot(parts).axes }, () => random.below(129) - 64);
    const r = random.pick([0, 16, 64]);
    const deltaOf = (/** @type {bigint} */ steps) => score(`${steps}/64`);
    let [low, high] = [0n, 64n * 32n];
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      const nodes = [['mixed', '1/2', hints, r]];
      if (checkCertificate(writeCertificate(linesOf({ ...parts, property: deltaOf(middle), nodes }))).answer === 'accepted') high = middle;
      else low = middle;
    }
    assert.ok(high < 64n * 32n);
    for (let i = 0; i < 40; i++) {
      const x = [random.pick(['0', '1/2', '1', '5/8', '1/8']), `${random.below(3)}`, `${random.below(2)}`];
      const other = [random.pick(['0', '1/2', '1', '3/8']), `${random.below(3)}`, `${random.below(2)}`];
      const nodes = [{ witness: { x, other, scores: [['-9', '9'], ['-9', '9']] } }];
      assertRejected({ ...parts, property: deltaOf(high), nodes }, /not similar|does not break/);
    }
  }
});
