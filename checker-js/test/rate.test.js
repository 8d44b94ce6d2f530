/** Scores that change no faster than a distance (section 21): certificates written by hand, and bounds compared with points. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { reportLines } from '../src/report.js';
import { slopesOfBody } from '../src/rules/slopes.js';
import { readBody } from '../src/bodies/bodies.js';
import { encloseScores } from '../src/bodies/combined.js';
import { readSpace } from '../src/claim/space.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const UNIT = { name: 'c', kind: 'continuous', lo: '0', hi: '1' };
const WHOLE = { name: 'i', kind: 'integer', lo: '0', hi: '4' };
const STEPS = { name: 'o', kind: 'ordinal', levels: ['a', 'b', 'c', 'd'] };
const LEVELS = { name: 'k', kind: 'categorical', levels: ['a', 'b', 'c'] };
const FREE = { kind: 'free' };
const within = (/** @type {string} */ tolerance) => ({ kind: 'within', tolerance });

/**
 * @typedef {object} Parts
 * @property {any[]} features
 * @property {any[]} similarity
 * @property {any} [distance] of similarity
 * @property {any} property
 * @property {any} [body] x_0 + x_1 + ... of numbers if left out
 * @property {any} [head]
 * @property {any[]} nodes
 * @property {string} [clearance]
 */

/** @param {Parts} parts */
function reportOf({ features, similarity, distance, property, body, head, nodes, clearance = '0' }) {
  const columns = features.map((_, feature) => ({ feature, weight: '1', slope: '1', offset: '0' }));
  const isWitness = !Array.isArray(nodes[0]);
  const lines = [
    { 'likewise-certificate': 1, kind: isWitness ? 'witness' : 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features, constraints: [] } },
    distance === undefined ? { similarity } : { similarity, distance },
    { property },
    {
      model: {
        family: 'f',
        body: body ?? { kind: 'affine', bias: '0', columns },
        head: head ?? { labels: null, zero: 'lower', link: null },
        rounding: body === undefined || body.kind === 'affine' ? (head?.classes === undefined ? { sizes: (body?.columns ?? columns).map(() => '9'), constant: '9', operations: 0 } : null) : null,
      },
    },
    ...nodes,
    { end: isWitness ? { sha256: '' } : { nodes: nodes.length, clearance, covers_floating_point: false, sha256: '' } },
  ];
  return checkCertificate(writeCertificate(lines.map(json)));
}

/**
 * @param {string} constant
 * @param {any} norm
 * @param {any[]} terms
 * @param {any} [more]
 */
function rate(constant, norm, terms, { delta = '0', forms = [], ...rest } = {}) {
  return { kind: 'lipschitz', constant, delta, distance: { norm, terms, forms }, ...rest };
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

const EACH = [{ feature: 0, each: '1' }];
const ONE_NUMBER = { features: [UNIT], similarity: [FREE] };

test('x - x\' is at most |x - x\'|, and not less', () => {
  const claim = { ...ONE_NUMBER, property: rate('1', 1, EACH) };
  const report = assertAccepted({ ...claim, nodes: [['separable', '1/2', [], ['1']]] });
  assert.deepEqual(report.packs, ['core', 'distance', 'lipschitz']);
  assert.match(reportLines(report).join('\n'), /scores differ by at most 1 times how far apart they are/);
  assert.match(reportLines(report).join('\n'), /apart is the sum of:\n {4}\|difference of "c"\|/);
  assertAccepted({ ...claim, nodes: [['slope', [0]]] });
  assertRejected({ ...claim, nodes: [['separable', '1/2', [], ['3/4']]] });
  assertRejected({ ...claim, nodes: [['separable', '1/2']] });
  assertRejected({ ...claim, nodes: [['separable', '1/3', [], ['1']]] });
  assertRejected({ ...claim, nodes: [['separable', '1/2', [], ['5/4']]] }, /too large/);
  assertRejected({ ...claim, nodes: [['separable', '1/2', [], ['-1']]] }, /negative/);
  assertRejected({ ...claim, nodes: [['separable', '1/2', [], []]] });
  const slower = { ...claim, property: rate('15/16', 1, EACH) };
  assertRejected({ ...slower, nodes: [['separable', '1/2', [], ['1']]] });
  assertRejected({ ...slower, nodes: [['slope', [0]]] }, /larger than the rate/);
  assertAccepted({ ...slower, nodes: [{ witness: { x: ['1'], other: ['0'], scores: ['1', '0'] } }] });
  assertRejected({ ...claim, nodes: [{ witness: { x: ['1'], other: ['0'], scores: ['1', '0'] } }] }, /does not break/);
  assertRejected({ ...slower, nodes: [{ witness: { x: ['0'], other: ['1'], scores: ['0', '1'] } }] }, /does not break/);
  // With delta = 1/16 nobody is far enough apart.
  const far = { ...claim, property: rate('15/16', 1, EACH, { delta: '1/16' }) };
  assertAccepted({ ...far, nodes: [['separable', '1/2', [], ['1']]] });
  assertRejected({ ...far, nodes: [{ witness: { x: ['1'], other: ['0'], scores: ['1', '0'] } }] }, /does not break/);
});

test('properties that are none', () => {
  const nodes = [['separable', '1/2', [], ['1']]];
  for (const property of [
    rate('-1', 1, EACH),
    rate('1', 1, EACH, { delta: '-1' }),
    rate('1', 3, EACH),
    rate('1', '1', EACH),
    rate('1', 1, []),
    rate('1', 1, EACH, { forms: [['1', [[0, '1']]]] }),
    rate('1', 'max', EACH, { forms: [['1', [[0, '1']]]] }),
    rate('1', 1, EACH, { class: 0 }),
    rate('1', 1, [...EACH, ...EACH]),
    { kind: 'lipschitz', constant: '1', distance: { norm: 1, terms: EACH, forms: [] } },
    { kind: 'score', delta: '0', distance: { norm: 1, terms: EACH, forms: [] } },
  ]) {
    assertRejected({ ...ONE_NUMBER, property, nodes });
  }
  assertRejected({ ...ONE_NUMBER, property: rate('1', 1, EACH), head: { labels: null, zero: 'lower', link: 'exponential' }, nodes }, /exponential/);
  // The rules of this section need its property.
  const score = { ...ONE_NUMBER, property: { kind: 'score', delta: '1' } };
  assertRejected({ ...score, nodes });
  assertRejected({ ...score, nodes: [['slope', [0]]] });
  assertRejected({ ...score, similarity: [within('1')], nodes: [['identical']] });
});

test('norms of two features, and their dual balls', () => {
  const terms = [{ feature: 0, each: '1' }, { feature: 1, each: '2' }];
  const columns = [{ feature: 0, weight: '3', slope: '1', offset: '0' }, { feature: 1, weight: '8', slope: '1', offset: '0' }];
  const body = { kind: 'affine', bias: '1', columns };
  const claim = { features: [UNIT, { ...UNIT, name: 'd' }], similarity: [FREE, FREE], body };
  /** @type {[any, string, string, string[], string[]][]} norm, least constant, less, multipliers, others */
  const cases = [
    [1, '4', '31/8', ['3/4', '1'], ['3/4', '9/8']],
    [2, '5', '39/8', ['3/5', '4/5'], ['3/5', '5/6']],
    ['max', '7', '55/8', ['3/7', '4/7'], ['3/7', '5/7']],
  ];
  for (const [norm, least, less, y, wrong] of cases) {
    const property = rate(least, norm, terms);
    assertAccepted({ ...claim, property, nodes: [['separable', '1/2', [], y]] });
    assertRejected({ ...claim, property, nodes: [['separable', '1/2', [], wrong]] }, /too large/);
    assertAccepted({ ...claim, property, nodes: [['slope', [[0, '1/2'], 0, 0]]] });
    const tight = rate(less, norm, terms);
    assertRejected({ ...claim, property: tight, nodes: [['separable', '1/2', [], y]] });
    assertRejected({ ...claim, property: tight, nodes: [['slope', [0]]] });
  }
  // A feature that matters and has no cost.
  assertRejected({ ...claim, property: rate('100', 1, terms.slice(1)), nodes: [['slope', [0]]] });
  assertRejected({ ...claim, property: rate('100', 1, [{ feature: 0, each: '0' }, terms[1]]), nodes: [['slope', [0]]] });
  // x_0 + x_1 as one form.
  const form = rate('1', 2, [], { forms: [['9', [[0, '1/3'], [1, '1/3']]]] });
  const plain = { ...claim, body: undefined };
  assertAccepted({ ...plain, property: form, nodes: [['separable', '1/2', [], ['-3']]] });
  assertRejected({ ...plain, property: form, nodes: [['separable', '1/2', [], ['3']]] });
  assertRejected({ ...plain, property: form, nodes: [['separable', '1/2', [], ['-4']]] }, /too large/);
});

test('parts of weight 0 are not looked at', () => {
  const claim = { ...ONE_NUMBER, property: rate('1', 1, EACH), nodes: [['slope', [0]]] };
  const affine = { kind: 'affine', bias: '0', columns: [{ feature: 0, weight: '1', slope: '1', offset: '0' }] };
  const trees = { kind: 'trees', bias: '0', trees: [['1']] };
  const table = ['table', [['0', '0', '0', '0']]];
  const sumOf = (/** @type {any[]} */ ...parts) => ({ kind: 'sum', bias: '0', parts: parts.map(([weight, link, body]) => ({ weight, link, body })) });
  assertAccepted({ ...claim, body: sumOf(['0', null, trees], ['1', null, affine], ['0', table, affine]) });
  assertRejected({ ...claim, body: sumOf(['1', null, trees], ['1', null, affine]) }, /not for this body/);
  assertRejected({ ...claim, body: sumOf(['1', table, affine]) }, /not for links/);
});

test('the least distance of a cell', () => {
  // x_0 <= 1/4 and x'_0 >= 3/4: they are 1/2 apart or more, and the score is 8 in 1/4 to 3/4.
  const body = { kind: 'trees', bias: '0', trees: [[[0, '1/2', 2], '0', '1']] };
  const claim = { ...ONE_NUMBER, body };
  const cells = [['split', 0, '1/2', '0x1.0000000000001p-1'], ['trees', '1/2'], ['split', 1, '1/4'], ['trees', '1/2'], ['trees', '1/2']];
  const report = assertAccepted({ ...claim, property: rate('4', 1, EACH, { delta: '1' }), nodes: cells });
  assert.equal(`${report.clearance}`, '0');
  assertRejected({ ...claim, property: rate('4', 1, EACH, { delta: '7/8' }), nodes: cells });
  const near = [...cells.slice(0, 4), ['split', 0, '3/4'], ['trees', '1/2'], ['trees', '1/2']];
  assertRejected({ ...claim, property: rate('4', 1, EACH, { delta: '7/8' }), nodes: near });
  const apart = { ...claim, features: [{ ...STEPS, name: 'o' }], similarity: [FREE], body: { kind: 'trees', bias: '0', trees: [[[0, [0, 1], 2], '0', '1']] } };
  const nodes = [['split', 0, '1'], ['trees', '1/2'], ['split', 1, '1'], ['trees', '1/2'], ['trees', '1/2']];
  assertAccepted({ ...apart, property: rate('1', 2, EACH), nodes });
  assertRejected({ ...apart, property: rate('7/8', 2, EACH), nodes });
  assertAccepted({ ...apart, property: rate('1', 2, [{ feature: 0, unequal: '1' }]), nodes });
  const table = [['9'], ['2', '1'], ['1', '1', '9']];
  assertAccepted({ ...apart, property: rate('1', 'max', [{ feature: 0, table }]), nodes });
  // A form: z = alpha(x') - alpha(x).
  assertAccepted({ ...apart, property: rate('1/2', 2, [], { forms: [['4', [[0, ['0', '0', '1', '2']]]]] }), nodes });
  assertRejected({ ...apart, property: rate('3/8', 2, [], { forms: [['4', [[0, ['0', '0', '1', '2']]]]] }), nodes });
  // No two codes of the cell are within 1: it holds no pair, and its leaf holds.
  const steps = [['split', 0, '0'], ['split', 1, '1'], ['trees', '1/2'], ['trees', '1/2'], ['enumerated']];
  assertAccepted({ ...apart, similarity: [within('1')], property: rate('1', 1, EACH), nodes: steps });
});

test('the least distance of very many levels', () => {
  const many = { name: 'o', kind: 'ordinal', levels: Array.from({ length: 3000 }, (_, i) => ({ number: `${i}` })) };
  const body = { kind: 'trees', bias: '0', trees: [[[0, Array.from({ length: 1000 }, (_, i) => i), 2], '1', '0']] };
  const nodes = [['split', 0, '999'], ['split', 1, '1999'], ['trees', '1/2'], ['trees', '1/2'], ['trees', '1/2']];
  const claim = { features: [many], similarity: [FREE], body, nodes };
  assertAccepted({ ...claim, property: rate('1', 1, EACH, { delta: '1' }) });
  assertAccepted({ ...claim, property: rate('1', 2, [{ feature: 0, unequal: '1' }], { delta: '1', forms: [['1', [[0, '1']]]] }) });
  assertRejected({ ...claim, property: rate('1', 1, EACH, { delta: '1/2' }) });
  const apart = [...nodes.slice(0, 2), ['enumerated'], ['trees', '1/2'], ['trees', '1/2']];
  // 1,001 steps and more in the second leaf: enough for 1/2 at a rate of 1/2002.
  assertRejected({ ...claim, property: rate('1/2002', 1, EACH, { delta: '1/2' }), nodes: apart }, /too many points/);
  const pairs = { kind: 'pairs', allowed: [[0, 2999]] };
  const ofPairs = [['split', 0, '999'], ['split', 1, '999'], ['trees', '1/2'], ['trees', '1/2'], ['trees', '1/2']];
  assertAccepted({ ...claim, similarity: [pairs], property: rate('1/2999', 'max', EACH), nodes: ofPairs });
  assertRejected({ ...claim, similarity: [pairs], property: rate('1/3000', 'max', EACH), nodes: ofPairs });
});

test('enumerated points, identical ones, and clearances', () => {
  const claim = { features: [WHOLE], similarity: [within('2')] };
  const enumerated = { ...claim, property: rate('1', 2, EACH, { delta: '1/2' }), nodes: [['enumerated']] };
  assertAccepted({ ...enumerated, clearance: '1/4' });
  assertRejected({ ...enumerated, clearance: '9/32' }, /clearance/);
  assertAccepted({ ...enumerated, property: rate('3/4', 2, EACH, { delta: '1/2' }) });
  assertRejected({ ...enumerated, property: rate('3/4', 2, EACH, { delta: '3/8' }) });
  // x = x' in the middle one of three cells.
  const nodes = [['split', 2, '-1'], ['slope', [0]], ['split', 2, '0'], ['identical'], ['separable', '1/2', [], ['1']]];
  assertAccepted({ ...claim, property: rate('1', 1, EACH, { delta: '1/2' }), nodes, clearance: '1/4' });
  assertRejected({ ...claim, property: rate('1', 1, EACH, { delta: '1/2' }), nodes, clearance: '1/3' });
  assertRejected({ ...claim, property: rate('1', 1, EACH), nodes: [['identical']] }, /may differ/);
  const levels = { features: [LEVELS], similarity: [FREE], body: { kind: 'affine', bias: '0', columns: [{ feature: 0, weight: '1', table: ['0', '1', '3'] }] } };
  const unequal = rate('2', 1, [{ feature: 0, unequal: '1' }]);
  const byLevel = [['split', 0, '0'], ['split', 1, '0'], ['identical'], ['separable', '1/2'], ['separable', '1/2', [], ['1']]];
  assertRejected({ ...levels, property: unequal, nodes: byLevel });
  assertAccepted({ ...levels, property: rate('3', 1, [{ feature: 0, unequal: '1' }]), nodes: byLevel });
});

test('a similarity with a distance of its own', () => {
  const distance = { power: 2, terms: EACH, forms: [], bound: '1/4' };
  const features = [UNIT, { ...UNIT, name: 'd' }];
  const claim = { features, similarity: [FREE, FREE], distance, property: rate('1', 1, [{ feature: 1, each: '1' }], { delta: '1/2' }) };
  assertAccepted({ ...claim, nodes: [['separable', '1/2', ['1/2'], ['1']]] });
  assertRejected({ ...claim, nodes: [['separable', '1/2', ['1/4'], ['1']]] });
  assertRejected({ ...claim, nodes: [['separable', '1/2', [], ['1']]] });
});

test('classes: one case a class', () => {
  const body = { kind: 'affine', bias: ['0', '0'], columns: [{ feature: 0, weight: ['1', '-2'], slope: '1', offset: '0' }] };
  const head = { labels: ['a', 'b'], classes: 'argmax', link: null };
  const claim = { ...ONE_NUMBER, body, head };
  const ofClass = (/** @type {number | null} */ c, /** @type {string} */ constant) => rate(constant, 1, EACH, { class: c });
  assertAccepted({ ...claim, property: ofClass(0, '1'), nodes: [['cases'], ['slope', [0]]] });
  assertRejected({ ...claim, property: ofClass(1, '1'), nodes: [['cases'], ['slope', [0]]] });
  assertAccepted({ ...claim, property: ofClass(null, '2'), nodes: [['cases'], ['slope', [0]], ['separable', '1/2', [], ['1']]] });
  assertRejected({ ...claim, property: ofClass(null, '1'), nodes: [['cases'], ['slope', [0]], ['slope', [0]]] });
  assertAccepted({ ...claim, property: ofClass(null, '1'), nodes: [{ witness: { x: ['0'], other: ['1'], scores: [['0', '0'], ['1', '-2']] } }] });
});

test('trees of boxes', () => {
  // x^2 - x on [0, 1]: slopes up to 1, up to 1/2 in the middle.
  const body = { kind: 'polynomial', columns: [{ feature: 0, slope: '1', offset: '0' }], terms: [['1', [0, 0]], ['-1', [0]]] };
  const claim = { ...ONE_NUMBER, body, property: rate('1', 1, EACH) };
  assertAccepted({ ...claim, nodes: [['slope', [0]]] });
  assertAccepted({ ...claim, nodes: [['slope', [[0, '1/3'], 0, [0, '1/2'], 0, 0]]] });
  for (const nodes of [[], [[0, '1/3'], 0], [0, 0], [[0, '0'], 0, 0], [[0, '1'], 0, 0], [[1, '1/2'], 0, 0], [['0', '1/2'], 0, 0], [[0, '1/3'], 0, [0, '1/4'], 0, 0], ['0'], [1]]) {
    assertRejected({ ...claim, nodes: [['slope', nodes]] });
  }
  // x y: slopes of x are up to y, of y up to x; y agrees.
  const product = { kind: 'polynomial', columns: [0, 1].map((feature) => ({ feature, slope: '1', offset: '0' })), terms: [['1', [0, 1]]] };
  const two = { features: [UNIT, WHOLE], similarity: [FREE, { kind: 'same' }], body: product, property: rate('4', 1, EACH) };
  assertAccepted({ ...two, nodes: [['slope', [0]]] });
  assertAccepted({ ...two, nodes: [['slope', [[1, '1/2'], 0, 0]]] });
  assertRejected({ ...two, property: rate('2', 1, EACH), nodes: [['slope', [[1, '2'], 0, 0]]] });
  // Cells with y <= 2 have slopes up to 2; the others have not.
  assertRejected({ ...two, property: rate('2', 1, EACH), nodes: [['split', 2, '2'], ['slope', [0]], ['slope', [0]]] });
  assertAccepted({ ...two, property: rate('2', 1, EACH, { delta: '16' }), nodes: [['split', 2, '2'], ['slope', [0]], ['polynomial', '1/2', [0, 0, 0]]] });
});

const random = new Random(21);
const number = () => `${random.below(17) - 8}/4`;

/** @returns {any[]} bodies of the kinds that have slopes */
function randomBodies() {
  const columns = [{ feature: 0, slope: number(), offset: number() }, { feature: 1, slope: number(), offset: number() }, { feature: 2, table: [number(), number(), number()] }, { feature: 0, slope: number(), offset: number() }];
  const row = (/** @type {number} */ count) => Array.from({ length: count }, number);
  const activation = () => [['relu'], ['leaky_relu', '-1/2'], ['clip', '-1', '1'], ['tanh'], ['logistic'], ['elu', '2'], ['elu', '-1']][random.below(7)];
  const plain = [
    { kind: 'affine', bias: number(), columns: columns.map((column) => ({ ...column, weight: number() })) },
    { kind: 'polynomial', columns, terms: [[number(), [0, 0, 1]], [number(), [0, 2, 3]], [number(), [1, 1, 1]], [number(), [0, 3, 3]]] },
    { kind: 'rbf', gamma: '1/8', bias: number(), columns, terms: [[number(), row(4)], [number(), row(4)]] },
    { kind: 'network', columns, layers: [{ activation: activation(), biases: row(3), weights: [row(4), row(4), row(4)] }, { activation: activation(), biases: row(2), weights: [row(3), row(3)] }], weights: row(2), bias: number() },
  ];
  const links = [null, ['logistic', '3/2', '1/4']];
  const sum = { kind: 'sum', bias: number(), parts: plain.map((body) => ({ weight: number(), link: links[random.below(2)], body })) };
  return [...plain, sum];
}

test('slopes are at least those between two points of a box', () => {
  const space = readSpace(json({ space: { features: [{ ...UNIT, lo: '-2', hi: '2' }, WHOLE, LEVELS], constraints: [] } }));
  for (let n = 0; n < 60; n++) {
    for (const written of randomBodies()) {
      const body = readBody(json(written), { space, scores: null });
      const at = () => Rational.fraction(BigInt(random.below(65) - 32), 16n);
      const [a, b] = [at(), at()];
      const whole = Rational.of(random.below(4));
      const level = random.below(2);
      const box = [a.less(b) ? { lo: a, hi: b } : { lo: b, hi: a }, { lo: whole, hi: whole.plus(Rational.of(1)) }, { lo: Rational.of(level), hi: Rational.of(level + 1) }];
      const slopes = slopesOfBody(body, space, [Rational.of(1)])(box, [0, 1]);
      const other = whole.plus(Rational.of(random.below(2)));
      const v = Rational.of(level + random.below(2));
      for (const [k, x, y] of /** @type {const} */ ([[0, [a, other, v], [b, other, v]], [1, [a, whole, v], [a, whole.plus(Rational.of(1)), v]]])) {
        const [own] = encloseScores(body, [...x], 128);
        const [their] = encloseScores(body, [...y], 128);
        const range = slopes.get(k);
        const step = y[k].minus(x[k]);
        if (step.isZero() || range === undefined) continue;
        const quotients = [their.hi.minus(own.lo).over(step), their.lo.minus(own.hi).over(step)].sort((p, q) => p.compare(q));
        assert.ok(quotients[0].atMost(range.hi) && range.lo.atMost(quotients[1]), `${written.kind}, feature ${k}`);
      }
    }
  }
});

test('roots from below', () => {
  assert.equal(`${Rational.fraction(9n, 4n).rootBelow(10)}`, '3/2');
  assert.equal(`${Rational.fraction(1n, 9n).rootBelow(10)}`, '1/3');
  assert.equal(`${Rational.of(0).rootBelow(10)}`, '0');
  for (let n = 1; n < 200; n++) {
    const value = Rational.fraction(BigInt(random.below(1000)), BigInt(1 + random.below(50)));
    const root = value.rootBelow(40);
    assert.ok(root.squared().atMost(value));
    assert.ok(value.less(root.plus(Rational.dyadic(1n, -40)).squared()));
  }
});
