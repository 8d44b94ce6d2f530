/** Pairs in one direction and pairs within a distance (sections 18 and 19): relations, maxima, certificates written by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { distanceBetween } from '../src/claim/distance.js';
import { readSimilarity, related } from '../src/claim/similarity.js';
import { readSpace } from '../src/claim/space.js';
import { SeparableForm } from '../src/bodies/affine.js';
import { parseJson } from '../src/file/json.js';
import { Rational, ZERO } from '../src/exact/rational.js';
import { Geometry } from '../src/proof/cell.js';
import { Rejection } from '../src/rejection.js';
import { reportLines } from '../src/report.js';
import { maximumWithMultipliers } from '../src/rules/separable.js';
import { canBeRelated } from '../src/rules/regions.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const random = new Random(18);
const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const whole = (/** @type {number} */ lo, /** @type {number} */ hi) => lo + random.below(hi - lo + 1);
const quarter = (/** @type {number} */ lo, /** @type {number} */ hi) => Rational.fraction(BigInt(whole(4 * lo, 4 * hi)), 4n);

const FEATURES = [
  { name: 'c', kind: 'continuous', lo: '-2', hi: '2' },
  { name: 'i', kind: 'integer', lo: '0', hi: '4' },
  { name: 'o', kind: 'ordinal', levels: ['a', 'b', 'c', 'd'] },
  { name: 'k', kind: 'categorical', levels: ['a', 'b', 'c'] },
];

/**
 * @param {any[]} relations
 * @param {any} [distance]
 */
function readable(relations, distance) {
  const space = readSpace(json({ space: { features: FEATURES, constraints: [] } }));
  const line = distance === undefined ? { similarity: relations } : { similarity: relations, distance };
  return { space, ...readSimilarity(json(line), space) };
}

function randomRelation(/** @type {number} */ k) {
  const low = whole(-2, 2);
  const choices = [
    { kind: 'same' },
    { kind: 'free' },
    k < 3 ? { kind: 'within', tolerance: `${whole(1, 2)}` } : { kind: 'pairs', allowed: [[0, 2]] },
    k < 3 ? { kind: 'between', low: `${low}`, high: `${low + whole(0, 2)}` } : { kind: 'pairs', allowed: [] },
  ];
  return choices[random.below(choices.length)];
}

function randomDistance() {
  const cost = () => `${quarter(0, 2)}`;
  const terms = [
    { feature: 0, each: cost() },
    { feature: 1, each: cost() },
    [{ feature: 2, each: cost() }, { feature: 2, unequal: cost() }, { feature: 2, table: [[cost()], [cost(), cost()], [cost(), cost(), cost()]] }][random.below(3)],
    [{ feature: 3, unequal: cost() }, { feature: 3, table: [[cost()], [cost(), cost()]] }][random.below(2)],
  ].filter(() => random.below(4) > 0);
  const forms = Array.from({ length: whole(terms.length === 0 ? 1 : 0, 2) }, () => [
    `${quarter(1, 2)}`,
    [[0, `${quarter(-1, 1)}`], [2, random.below(2) === 0 ? `${quarter(-1, 1)}` : [cost(), cost(), cost(), cost()]], [3, [cost(), cost(), cost()]]].slice(random.below(3)),
  ]);
  return { power: whole(1, 2), terms, forms, bound: cost() };
}

function randomForm() {
  const phi = FEATURES.map(({ levels }) =>
    levels === undefined
      ? { kind: /** @type {const} */ ('linear'), slope: quarter(-2, 2) }
      : { kind: /** @type {const} */ ('table'), values: levels.map(() => quarter(-2, 2)) },
  );
  return new SeparableForm(quarter(-1, 1), phi);
}

/**
 * @param {SeparableForm} form
 * @param {Rational[]} codes
 */
function valueOf(form, codes) {
  return form.phi.reduce((total, phi, k) => {
    if (phi.kind === 'linear') return total.plus(phi.slope.times(codes[k]));
    if (phi.kind === 'table') return total.plus(phi.values[Number(codes[k].floor())]);
    throw new Error('in pieces');
  }, form.bias);
}

/** Codes of x and x', on a grid for numbers. */
function randomPair(/** @type {Geometry} */ geometry, /** @type {any} */ cell) {
  const code = (/** @type {number} */ v, /** @type {boolean} */ discrete) => {
    const steps = Number(cell.hi[v].minus(cell.lo[v]).scaled(discrete ? 0 : 3).floor());
    return cell.lo[v].plus(Rational.of(random.below(steps + 1)).scaled(discrete ? 0 : -3));
  };
  const x = geometry.first.map((v, k) => code(v, k > 0));
  return { x, other: geometry.second.map((v, k) => (v === geometry.first[k] ? x[k] : code(v, k > 0))) };
}

test('bounds with costs hold at every pair', () => {
  let looked = 0;
  for (let n = 0; n < 400; n++) {
    const { space, similarity, distance } = readable([0, 1, 2, 3].map(randomRelation), randomDistance());
    const geometry = new Geometry(space, similarity, distance);
    const cell = geometry.root();
    const [first, second] = [randomForm(), randomForm()];
    const lambda = random.below(4) === 0 ? ZERO : quarter(0, 3);
    const forms = (distance?.forms ?? []).map(() => quarter(-1, 1));
    const context = /** @type {any} */ ({ geometry });
    const bound = maximumWithMultipliers(context, cell, first, second, { here: [], there: [], lambda, forms });
    for (let m = 0; m < 300; m++) {
      const { x, other } = randomPair(geometry, cell);
      if (!similarity.every((relation, k) => related(space.features[k], relation, x[k], other[k]))) continue;
      assert.ok(bound !== null && distance !== null);
      const value = valueOf(first, x).plus(valueOf(second, other));
      const less = lambda.times(distanceBetween(distance, x, other).minus(distance.bound));
      assert.ok(value.minus(less).atMost(bound));
      if (distanceBetween(distance, x, other).atMost(distance.bound)) {
        assert.ok(value.atMost(bound));
        looked += 1;
      }
    }
  }
  assert.ok(looked > 5000, `${looked} pairs`);
});

test('one number with a cost: the bound is the maximum', () => {
  for (let n = 0; n < 300; n++) {
    const low = whole(-3, 3);
    const relation = [{ kind: 'free' }, { kind: 'between', low: `${low}`, high: `${low + whole(0, 3)}` }][random.below(2)];
    const [lo, c] = [whole(-2, 0), quarter(0, 2)];
    const space = readSpace(json({ space: { features: [{ name: 'c', kind: 'continuous', lo: `${lo}`, hi: '2' }], constraints: [] } }));
    const power = whole(1, 2);
    const line = { similarity: [relation], distance: { power, terms: [{ feature: 0, each: `${c}` }], forms: [], bound: '1' } };
    const { similarity, distance } = readSimilarity(json(line), space);
    const geometry = new Geometry(space, similarity, distance);
    const [u, v, lambda] = [quarter(-2, 2), quarter(-2, 2), quarter(1, 3)];
    const formOf = (/** @type {Rational} */ slope) => new SeparableForm(ZERO, [{ kind: 'linear', slope }]);
    const bound = maximumWithMultipliers(/** @type {any} */ ({ geometry }), geometry.root(), formOf(u), formOf(v), { here: [], there: [], lambda, forms: [] });
    /** @type {Rational | null} */
    let most = null;
    for (let i = 16 * lo; i <= 32; i++) {
      for (let j = 16 * lo; j <= 32; j++) {
        const [x, other] = [Rational.dyadic(BigInt(i), -4), Rational.dyadic(BigInt(j), -4)];
        if (!related(space.features[0], similarity[0], x, other)) continue;
        const cost = c.times(other.minus(x).absolute());
        const value = u.times(x).plus(v.times(other)).minus(lambda.times((power === 1 ? cost : cost.squared()).minus(Rational.of(1))));
        if (most === null || most.less(value)) most = value;
      }
    }
    assert.equal(bound === null, most === null);
    if (bound === null || most === null) continue;
    assert.ok(most.atMost(bound));
    // The grid misses the top of a parabola by half a step at most.
    assert.ok(bound.minus(most).atMost(lambda.times(c.squared()).scaled(-10)), `${bound} and ${most}`);
  }
});

test('open ends count for leaves of trees that are between', () => {
  const region = (/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ open) =>
    ({ from: Rational.of(from), to: Rational.of(to), open, numbers: true, missing: false, positions: null });
  const between = (/** @type {number} */ low, /** @type {number} */ high) =>
    ({ kind: /** @type {const} */ ('between'), low: Rational.of(low), high: Rational.of(high), allowed: [] });
  // x in (1, 2], x' in [0, 3].
  assert.equal(canBeRelated(between(2, 5), region(1, 2, true), region(0, 3, false)), false);
  assert.equal(canBeRelated(between(2, 5), region(1, 2, false), region(0, 3, false)), true);
  assert.equal(canBeRelated(between(-9, -2), region(1, 2, true), region(0, 3, false)), true);
  assert.equal(canBeRelated(between(-9, -2), region(1, 2, true), region(0, 3, true)), false);
  assert.equal(canBeRelated(between(-9, 9), region(1, 2, true), region(0, 3, true)), true);
  const positions = (/** @type {number[]} */ ...some) => ({ ...region(0, 0, false), positions: new Set(some) });
  assert.equal(canBeRelated(between(1, 2), positions(0, 3), positions(0, 3)), false);
  assert.equal(canBeRelated(between(1, 3), positions(0, 3), positions(0, 3)), true);
});

test('relations and distances that are none are refused', () => {
  const same = { kind: 'same' };
  const at = (/** @type {number} */ k, /** @type {any} */ relation) => [0, 1, 2, 3].map((i) => (i === k ? relation : same));
  const between = (/** @type {string} */ low, /** @type {string} */ high) => ({ kind: 'between', low, high });
  readable(at(0, between('1/3', '1/2')));
  readable(at(1, between('-1', '-1')));
  readable(at(2, between('0', '1')));
  for (const [k, relation] of /** @type {[number, any][]} */ ([
    [0, between('1', '0')],
    [1, between('0', '1/2')],
    [2, between('-1/2', '0')],
    [3, between('0', '1')],
    [0, { kind: 'between', low: '0' }],
    [0, { ...between('0', '1'), tolerance: '1' }],
  ])) assert.throws(() => readable(at(k, relation)), Rejection);
  const good = { power: 1, terms: [{ feature: 0, each: '1' }], forms: [], bound: '1' };
  const relations = at(0, { kind: 'free' });
  readable(relations, good);
  readable(relations, { ...good, terms: [], forms: [['1', [[2, '1'], [3, ['0', '1', '2']]]]] });
  for (const change of [
    { power: 3 },
    { power: '1' },
    { bound: '-1' },
    { terms: [] },
    { more: 1 },
    { terms: [{ feature: 4, each: '1' }] },
    { terms: [{ feature: 0, each: '-1' }] },
    { terms: [{ feature: 0, unequal: '1' }] },
    { terms: [{ feature: 3, each: '1' }] },
    { terms: [{ feature: 3, each: '1', unequal: '1' }] },
    { terms: [{ feature: 3, table: [['1'], ['1']] }] },
    { terms: [{ feature: 3, table: [['1'], ['1', '-1']] }] },
    { terms: [{ feature: 1, each: '1' }, { feature: 0, each: '1' }] },
    { terms: [{ feature: 1, each: '1' }, { feature: 1, each: '1' }] },
    { forms: [['0', [[0, '1']]]] },
    { forms: [['1', []]] },
    { forms: [['1', [[3, '1']]]] },
    { forms: [['1', [[0, ['1']]]]] },
    { forms: [['1', [[3, ['1', '2']]]]] },
    { forms: [['1', [[1, '1'], [0, '1']]]] },
  ]) assert.throws(() => readable(relations, { ...good, ...change }), Rejection, JSON.stringify(change));
});

/**
 * @typedef {object} Parts
 * @property {any[]} features
 * @property {any} similarity the line
 * @property {any} property
 * @property {any} [body]
 * @property {any} [head]
 * @property {any[]} nodes
 */

/**
 * A certificate about the score x_0 + ... of numbers, unless said otherwise.
 * @param {Parts} parts
 */
function reportOf({ features, similarity, property, body, head, nodes, shown = {} }) {
  const columns = features.map((_, feature) => ({ feature, weight: '1', slope: '1', offset: '0' }));
  const isWitness = !Array.isArray(nodes[0]);
  const lines = [
    { 'likewise-certificate': 1, kind: isWitness ? 'witness' : 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features, constraints: [] } },
    similarity,
    { property },
    {
      model: {
        family: 'f',
        body: body ?? { kind: 'affine', bias: '0', columns },
        head: head ?? { labels: ['no', 'yes'], zero: 'lower', link: null },
        rounding: body === undefined ? { sizes: columns.map(() => '1'), constant: '2', operations: 0 } : null,
      },
    },
    ...nodes,
    { end: isWitness ? { sha256: '' } : { nodes: nodes.length, clearance: '0', covers_floating_point: false, ...shown, sha256: '' } },
  ];
  return checkCertificate(writeCertificate(lines.map(json)));
}

const UNIT = { name: 'c', kind: 'continuous', lo: '0', hi: '1' };
const TWO_UNITS = [UNIT, { ...UNIT, name: 'd' }];

/**
 * @param {string} low
 * @param {string} high
 */
function onlyBetween(low, high) {
  return { similarity: [{ kind: 'between', low, high }] };
}

test('more never lowers the score: one order is proved, the other one refuted', () => {
  const upwards = { features: [UNIT], similarity: onlyBetween('0', '1'), property: { kind: 'score', delta: '0' } };
  const proof = reportOf({ ...upwards, nodes: [['separable', '1/2']] });
  assert.equal(proof.answer, 'accepted', proof.reason ?? '');
  const words = reportLines(proof).join('\n');
  assert.match(words, /the score of the first is at most 0 above that of the second/);
  assert.match(words, /the second is not below and at most 1 above the first/);
  const downwards = { ...upwards, similarity: onlyBetween('-1', '0') };
  assert.equal(reportOf({ ...downwards, nodes: [['separable', '1/2']] }).answer, 'rejected');
  const witness = (/** @type {string} */ x, /** @type {string} */ other) => ({ witness: { x: [x], other: [other], scores: [x, other] } });
  const refuted = reportOf({ ...downwards, nodes: [witness('1', '0')] });
  assert.equal(refuted.answer, 'accepted');
  assert.match(reportLines(refuted).join('\n'), /the first: {2}"c" 1\n {2}the second: "c" 0/);
  assert.equal(reportOf({ ...downwards, nodes: [witness('0', '1')] }).answer, 'rejected');
  assert.equal(reportOf({ ...upwards, nodes: [witness('1', '0')] }).answer, 'rejected');
});

test('one-way decisions need a margin that is not negative, and a class', () => {
  const claim = { features: [UNIT], similarity: onlyBetween('0', '1'), nodes: [['separable', '1/2']] };
  const decision = (/** @type {string} */ margin) => ({ kind: 'decision', margin });
  assert.equal(reportOf({ ...claim, property: decision('0') }).answer, 'accepted');
  const negative = reportOf({ ...claim, property: decision('-1/4') });
  assert.equal(negative.answer, 'rejected');
  assert.match(negative.reason ?? '', /one-way/);
  const symmetric = { ...claim, similarity: onlyBetween('-1', '1'), nodes: [['separable', '0']] };
  assert.match(reportOf({ ...symmetric, property: decision('-1/4') }).reason ?? '', /does not separate/);
  const body = { kind: 'affine', bias: ['0', '2', '4'], columns: [{ feature: 0, weight: ['1', '0', '0'], slope: '1', offset: '0' }] };
  const head = { labels: ['a', 'b', 'c'], classes: 'argmax', link: null };
  const ofClass = (/** @type {number | null} */ c) => ({ kind: 'decision', margin: '0', class: c });
  const cases = [['cases'], ['separable', [1, 1, '1']], ['separable', [1, 0, '1']]];
  assert.equal(reportOf({ ...claim, body, head, property: ofClass(0), nodes: cases }).answer, 'accepted');
  assert.match(reportOf({ ...claim, body, head, property: ofClass(null), nodes: cases }).reason ?? '', /one-way/);
  // x has class c and x' another one: not the other way round. Score 0 exceeds the others above 5.
  const steep = { kind: 'affine', bias: ['-1/2', '0'], columns: [{ feature: 0, weight: ['1', '0'], slope: '1', offset: '0' }] };
  const two = { labels: ['a', 'b'], classes: 'argmax', link: null };
  const pair = { witness: { x: ['0'], other: ['1'], scores: [['-1/2', '0'], ['1/2', '0']] } };
  const about = { ...claim, body: steep, head: two, nodes: [pair] };
  assert.equal(reportOf({ ...about, property: ofClass(1) }).answer, 'accepted');
  assert.equal(reportOf({ ...about, property: ofClass(0) }).answer, 'rejected');
  assert.equal(reportOf({ ...about, similarity: onlyBetween('-1', '1'), property: ofClass(0) }).answer, 'accepted');
});

test('nothing is said of everybody where nobody is similar to themselves', () => {
  const claim = { features: [{ ...UNIT, lo: '1', hi: '2' }], property: { kind: 'decision', margin: '0' }, nodes: [['separable', '0']] };
  assert.equal(reportOf({ ...claim, similarity: onlyBetween('0', '1') }).labelOfEverybody, 1);
  const moved = reportOf({ ...claim, similarity: onlyBetween('1/4', '1'), shown: { somebody: ['1'], other: ['2'] } });
  assert.equal(moved.answer, 'accepted', moved.reason ?? '');
  assert.equal(moved.labelOfEverybody, null);
});

test('a distance: proofs by lambda, leaves that are empty, witnesses', () => {
  const distance = { power: 1, terms: [{ feature: 0, each: '1' }, { feature: 1, each: '1' }], forms: [], bound: '1/4' };
  const free = [{ kind: 'free' }, { kind: 'free' }];
  const claim = { features: TWO_UNITS, similarity: { similarity: free, distance }, property: { kind: 'score', delta: '1/4' } };
  const nodes = [['separable', '1/2', ['1/2']]];
  const report = reportOf({ ...claim, nodes });
  assert.equal(report.answer, 'accepted', report.reason ?? '');
  assert.deepEqual(report.packs, ['core', 'distance']);
  assert.match(reportLines(report).join('\n'), /distance is at most 1\/4/);
  for (const wrong of [[], ['1/4'], ['-1/2'], ['1/2', '0']]) {
    assert.equal(reportOf({ ...claim, nodes: [['separable', '1/2', wrong]] }).answer, 'rejected', `${wrong}`);
  }
  assert.equal(reportOf({ ...claim, property: { kind: 'score', delta: '1/5' }, nodes }).answer, 'rejected');
  // Without a distance there is no such multiplier.
  assert.equal(reportOf({ ...claim, similarity: { similarity: free }, nodes }).answer, 'rejected');
  const witness = (/** @type {string[]} */ x, /** @type {string[]} */ other, /** @type {string} */ score) => [{ witness: { x, other, scores: [score, '0'] } }];
  const tight = { ...claim, property: { kind: 'score', delta: '1/5' } };
  assert.equal(reportOf({ ...tight, nodes: witness(['1/8', '1/8'], ['0', '0'], '1/4') }).answer, 'accepted');
  assert.equal(reportOf({ ...tight, nodes: witness(['1/8', '3/16'], ['0', '0'], '5/16') }).answer, 'rejected');
  // x_0 <= 1/4 and x'_0 >= 3/4: nobody, but a proof about nobody is none.
  const halves = [['split', 0, '1/4'], ['split', 1, '3/4'], ['separable', '1/2', ['1/2']], ['empty', ['1']], ['separable', '1/2', ['1/2']]];
  const split = reportOf({ ...claim, nodes: halves });
  assert.equal(split.answer, 'accepted', split.reason ?? '');
  assert.equal(reportOf({ ...claim, nodes: halves.map((node) => (node[0] === 'empty' ? ['empty', ['0']] : node)) }).answer, 'rejected');
});

test('a distance of forms: y = 1 makes the tangent of z^2', () => {
  const distance = { power: 2, terms: [], forms: [['1', [[0, '1'], [1, '1']]]], bound: '1/16' };
  const claim = { features: TWO_UNITS, similarity: { similarity: [{ kind: 'free' }, { kind: 'free' }], distance } };
  // f(x) - f(x') = -z, and z^2 <= 1/16: with y = -1/4 and lambda = 1, 1/2 (f - f') is at most 1/8.
  const report = reportOf({ ...claim, property: { kind: 'score', delta: '1/4' }, nodes: [['separable', '1/2', ['1', '-1/4']]] });
  assert.equal(report.answer, 'accepted', report.reason ?? '');
  assert.equal(reportOf({ ...claim, property: { kind: 'score', delta: '1/5' }, nodes: [['separable', '1/2', ['1', '-1/4']]] }).answer, 'rejected');
  assert.equal(reportOf({ ...claim, property: { kind: 'score', delta: '1/4' }, nodes: [['separable', '1/2', ['1', '1/4']]] }).answer, 'rejected');
});

test('enumerated leaves pass over those who are too far apart', () => {
  const features = [{ name: 'i', kind: 'integer', lo: '0', hi: '4' }];
  const claim = { features, property: { kind: 'score', delta: '2' }, nodes: [['enumerated']] };
  const within = (/** @type {string} */ bound) => ({ similarity: [{ kind: 'free' }], distance: { power: 2, terms: [{ feature: 0, each: '1' }], forms: [], bound } });
  assert.equal(reportOf({ ...claim, similarity: within('4') }).answer, 'accepted');
  assert.equal(reportOf({ ...claim, similarity: within('8') }).answer, 'accepted');
  assert.equal(reportOf({ ...claim, similarity: within('9') }).answer, 'rejected');
  assert.equal(reportOf({ ...claim, similarity: onlyBetween('-2', '4') }).answer, 'accepted');
  assert.equal(reportOf({ ...claim, similarity: onlyBetween('-3', '0') }).answer, 'rejected');
});
