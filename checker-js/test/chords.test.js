/** Kernel models by chords and tangents (section 25): bounds compared with the formulas and with pairs, certificates written by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { expFixed } from '../src/exact/exponential.js';
import { FALLING_BITS, fallingExponential } from '../src/exact/falling-exponential.js';
import { Rational } from '../src/exact/rational.js';
import { parseJson } from '../src/file/json.js';
import { Random } from '../tools/mutate.js';
import { writeCertificate } from '../tools/seal.js';

const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
const SAME = { kind: 'same' };
const FREE = { kind: 'free' };
const LABELS = { labels: ['no', 'yes'], zero: 'lower', link: null };
const within = (/** @type {string} */ tolerance) => ({ kind: 'within', tolerance });
const between = (/** @type {string} */ low, /** @type {string} */ high) => ({ kind: 'between', low, high });
const score = (/** @type {string} */ delta) => ({ kind: 'score', delta });

/**
 * @typedef {object} Parts
 * @property {any[]} features
 * @property {any[]} similarity
 * @property {any} property
 * @property {any} body
 * @property {any} [head]
 * @property {any} [rounding]
 * @property {any[]} nodes
 * @property {any} [shown] the individuals of the end
 */

/** @param {Parts} parts */
function reportOf({ features, similarity, property, body, head, rounding = null, nodes, shown = {} }) {
  const isWitness = !Array.isArray(nodes[0]);
  const lines = [
    { 'likewise-certificate': 1, kind: isWitness ? 'witness' : 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
    { space: { features, constraints: [] } },
    { similarity },
    { property },
    { model: { family: 'f', body, head: head ?? { labels: null, zero: 'lower', link: null }, rounding } },
    ...nodes,
    { end: isWitness ? { sha256: '' } : { nodes: nodes.length, clearance: '0', covers_floating_point: false, ...shown, sha256: '' } },
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

const NOT_SEPARATED = /does not separate/;

test('exp(-x) by tables is enclosed, in an ulp or two', () => {
  const random = new Random(1);
  const ulp = BigInt(FALLING_BITS);
  const places = [0n, 1n, 1n << 72n, (1n << 72n) - 1n, 1n << 80n, 1n << 88n, (1n << 88n) - 1n, 1n << ulp, 66n << ulp, (67n << ulp) - 1n, 67n << ulp, 10n ** 60n];
  for (let n = 0; n < 3000; n++) places.push((BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 31))) << BigInt(random.below(10)));
  for (const x of places) {
    const { lo, hi } = fallingExponential(x);
    const exact = expFixed(Rational.dyadic(-x, -FALLING_BITS), 160);
    assert.ok(lo << 64n <= exact.lo && exact.hi <= hi << 64n, `${x}`);
    assert.ok(hi - lo <= 2n, `${x}`);
  }
});

// What follows is section 25 in plain floating-point numbers, of the root of a claim.

/** @typedef {{at: (z: number) => number, square: number, slope: number}} Quadratic */

/**
 * @param {any} feature
 * @param {any} relation
 */
function rootOf(feature, relation) {
  const [lo, hi] = feature.levels === undefined ? [Number(feature.lo), Number(feature.hi)] : [0, feature.levels.length - 1];
  if (feature.levels !== undefined || relation.kind === 'same' || relation.kind === 'free') return { lo, hi, p: lo - hi, q: hi - lo };
  const [low, high] = relation.kind === 'within' ? [-fraction(relation.tolerance), fraction(relation.tolerance)] : [fraction(relation.low), fraction(relation.high)];
  return { lo, hi, p: Math.max(low, lo - hi), q: Math.min(high, hi - lo) };
}

/**
 * @param {any} relation
 * @param {number} i
 * @param {number} j
 */
function isRelated(relation, i, j) {
  if (relation.kind === 'free') return true;
  if (relation.kind === 'same') return i === j;
  if (relation.kind === 'within') return Math.abs(i - j) <= fraction(relation.tolerance);
  if (relation.kind === 'between') return fraction(relation.low) <= j - i && j - i <= fraction(relation.high);
  return i === j || relation.allowed.some((/** @type {number[]} */ [a, b]) => (a === i && b === j) || (a === j && b === i));
}

/**
 * gamma D_tk at a code.
 * @param {any} body
 * @param {number} t
 * @param {number} k
 * @param {number} z
 */
function distanceOf(body, t, k, z) {
  let total = 0;
  body.columns.forEach((/** @type {any} */ column, /** @type {number} */ c) => {
    if (column.feature !== k) return;
    const value = column.table === undefined ? Number(column.offset) + Number(column.slope) * z : fraction(column.table[z]);
    total += (value - fraction(body.terms[t][1][c])) ** 2;
  });
  return fraction(body.gamma) * total;
}

/** @param {string} text */
function fraction(text) {
  const [top, bottom] = text.split('/');
  return Number(top) / Number(bottom ?? 1);
}

/**
 * The least or the largest value of a quadratic polynomial over an interval.
 * @param {(z: number) => number} f
 * @param {number} lo
 * @param {number} hi
 * @param {1 | -1} sign 1 for the largest
 */
function extreme(f, lo, hi, sign) {
  const values = [f(lo), f(hi)];
  const square = (f(1) + f(-1)) / 2 - f(0);
  const turn = square === 0 ? lo : -(f(1) - f(-1)) / 4 / square;
  if (turn > lo && turn < hi) values.push(f(turn));
  return sign * Math.max(...values.map((value) => sign * value));
}

/**
 * The largest u(x) + v(x') over a polygon, by all points where it can be.
 * @param {(z: number) => number} u
 * @param {(z: number) => number} v
 * @param {{lo: number, hi: number, p: number, q: number}} codes
 */
function mostOnPolygon(u, v, { lo, hi, p, q }) {
  const parts = (/** @type {(z: number) => number} */ f) => [(f(1) + f(-1)) / 2 - f(0), (f(1) - f(-1)) / 2];
  const [[a, b], [c, d]] = [parts(u), parts(v)];
  /** lines n x + m x' = s */
  const lines = [[1, 0, lo], [1, 0, hi], [0, 1, lo], [0, 1, hi], [-1, 1, p], [-1, 1, q]];
  /** @type {number[][]} */
  const points = [[-b / (2 * a), -d / (2 * c)]];
  lines.forEach(([n, m, s], i) => {
    for (const [n2, m2, s2] of lines.slice(i + 1)) {
      const det = n * m2 - m * n2;
      if (det !== 0) points.push([(s * m2 - m * s2) / det, (n * s2 - s * n2) / det]);
    }
    if (m === 0) points.push([s, -d / (2 * c)]);
    else if (n === 0) points.push([-b / (2 * a), s]);
    else {
      const x = -(b + d + 2 * c * s) / (2 * (a + c));
      points.push([x, x + s]);
    }
  });
  const E = 1e-9;
  const inside = points.filter(([x, y]) => x >= lo - E && x <= hi + E && y >= lo - E && y <= hi + E && y - x >= p - E && y - x <= q + E);
  return Math.max(...inside.map(([x, y]) => u(x) + v(y)));
}

/**
 * kappa and the right side of the bound in the root, where features may move in two copies; or, where the codes of the last feature
 * are given, where it alone may differ and has these two.
 * @param {any} claim
 * @param {number} a
 * @param {number} b
 * @param {number} r
 * @param {number[]} [last]
 */
function boundOf({ features, similarity, body }, a, b, r, last) {
  const all = features.map((/** @type {any} */ _, /** @type {number} */ k) => k);
  const ks = last === undefined ? all : all.slice(0, -1);
  const roots = ks.map((/** @type {number} */ k) => rootOf(features[k], similarity[k]));
  const fixed = (/** @type {number} */ t, /** @type {number} */ copy) => (last === undefined ? 1 : Math.exp(-distanceOf(body, t, all.length - 1, last[copy])));
  const weights = body.terms.map((/** @type {any} */ [coefficient], /** @type {number} */ t) => [a * fixed(t, 0) * fraction(coefficient), -b * fixed(t, 1) * fraction(coefficient)]);
  const copies = (last === undefined ? [0, 1] : [0]).map((copy) => weights.map((/** @type {number[]} */ own) => ({ c: last === undefined ? own[copy] : own[0] + own[1], copy })));
  let total = (a - b) * fraction(body.bias);
  const S = copies.map((terms) => terms.map(({ c, copy }, /** @type {number} */ t) => {
    let [l, u] = [0, 0];
    for (const k of ks) {
      const { lo, hi, p, q } = roots[k];
      const f = (/** @type {number} */ z) => distanceOf(body, t, k, z);
      if (features[k].levels !== undefined) {
        const values = features[k].levels.map((/** @type {any} */ _, /** @type {number} */ v) => f(v));
        [l, u] = [l + Math.min(...values), u + Math.max(...values)];
        continue;
      }
      const [from, to] = similarity[k].kind === 'same' ? [lo, hi] : copy === 0 ? [Math.max(lo, lo - q), Math.min(hi, hi - p)] : [Math.max(lo, lo + p), Math.min(hi, hi + q)];
      [l, u] = [l + extreme(f, from, to, -1), u + extreme(f, from, to, 1)];
    }
    const w = u - l;
    let [v, m] = [Math.exp(-u), 0];
    if (c > 0 && w > 0) {
      m = (Math.exp(-l) - Math.exp(-u)) / w;
      v += m * u;
    } else if (c < 0 && w <= r) {
      const place = l + (6 * w) / (12 + w);
      [m, v] = [Math.exp(-place), Math.exp(-place) * (1 + place)];
    }
    total += c * v;
    return -c * m;
  }));
  for (const k of ks) {
    const [u, v = () => 0] = S.map((own) => (/** @type {number} */ z) => own.reduce((/** @type {number} */ sum, /** @type {number} */ s, /** @type {number} */ t) => sum + s * distanceOf(body, t, k, z), 0));
    const { lo, hi } = roots[k];
    if (features[k].levels !== undefined) {
      const values = [];
      for (let i = 0; i <= hi; i++) for (let j = 0; j <= hi; j++) if (isRelated(similarity[k], i, j)) values.push(u(i) + v(j));
      total += Math.max(...values);
    } else if (similarity[k].kind === 'same') total += extreme((z) => u(z) + v(z), lo, hi, 1);
    else total += mostOnPolygon(u, v, roots[k]);
  }
  return total;
}

/**
 * @param {any} body
 * @param {number[]} x
 */
function scoreAt(body, x) {
  return body.terms.reduce((/** @type {number} */ total, /** @type {any} */ [coefficient], /** @type {number} */ t) =>
    total + fraction(coefficient) * Math.exp(-x.reduce((sum, z, k) => sum + distanceOf(body, t, k, z), 0)), fraction(body.bias));
}

/** @param {Random} random */
function claimOf(random) {
  const number = (reach = 2) => `${random.below(16 * reach + 1) - 8 * reach}/8`;
  const three = ['a', 'b', 'c'];
  const kinds = [
    () => [{ kind: 'continuous', lo: '-1', hi: '2' }, [SAME, FREE, within('1/2'), between('-1/4', '1'), between('1/2', '2'), between('-2', '-1/2')]],
    () => [{ kind: 'integer', lo: '0', hi: '3' }, [SAME, FREE, within('1'), between('0', '2')]],
    () => [{ kind: 'categorical', levels: three }, [SAME, FREE, { kind: 'pairs', allowed: [[0, 2]] }]],
    () => [{ kind: 'ordinal', levels: three }, [SAME, within('1'), between('1', '2'), between('0', '1')]],
  ];
  /** @type {any[]} */
  const features = [];
  /** @type {any[]} */
  const similarity = [];
  /** @type {any[]} */
  const columns = [];
  for (let k = 0; k < 2 + random.below(3); k++) {
    const [feature, relations] = /** @type {any} */ (random.pick(kinds)());
    features.push({ name: `f${k}`, ...feature });
    similarity.push(random.pick(relations));
    const count = random.below(4);
    if (feature.levels !== undefined && random.below(2) === 0) {
      // One-hot: a column a level, and centres as below.
      three.forEach((_, i) => columns.push({ feature: k, table: three.map((_, j) => (i === j ? '1' : '0')), level: i }));
      continue;
    }
    for (let c = 0; c < count; c++) columns.push(feature.levels === undefined ? { feature: k, slope: `${random.below(5) - 2}`, offset: `${random.below(3)}` } : { feature: k, table: three.map(() => (count > 2 ? `${random.below(2)}` : number(1))) });
  }
  // The last one is in two copies, whatever the others are.
  features.push({ name: 'last', kind: 'integer', lo: '0', hi: '1' });
  similarity.push(random.pick([FREE, within('1'), between('0', '1')]));
  columns.push({ feature: features.length - 1, slope: '1', offset: '0' });
  const terms = Array.from({ length: 1 + random.below(4) }, () => {
    const own = features.map(() => random.below(3));
    return [number(), columns.map(({ feature, level }) => (level === undefined ? number(1) : own[feature] === level ? '1' : '0'))];
  });
  for (const column of columns) delete column.level;
  return { features, similarity, body: { kind: 'rbf', gamma: random.pick(['1/8', '1/2', '2']), bias: number(), columns, terms, ...(random.below(2) === 0 ? {} : { grouped: true }) } };
}

test('bounds are those of the formulas, and above all pairs', () => {
  const [random, shows] = [new Random(25), new Random(26)];
  let [compared, tangents] = [0, 0];
  for (let n = 0; n < 250; n++) {
    const claim = claimOf(random);
    // Relations that move have to show a pair.
    const [somebody, anybody] = pairOf(shows, claim).map((codes) => codes.map((code) => `${BigInt(code * 2 ** 30)}/${2n ** 30n}`));
    const shown = { somebody, other: anybody };
    const r = random.pick([0, 1, 4, 1024]);
    const isOneWay = claim.similarity.some(({ kind, low, high }) => kind === 'between' && fraction(low) !== -fraction(high));
    const way = isOneWay ? '1/2' : random.pick(['0', '1/4', '1/2', '7/8', '1']);
    const [a, b] = [fraction(way), 1 - fraction(way)];
    const bound = boundOf(claim, a, b, r);
    if (r > 0 && Math.abs(bound - boundOf(claim, a, b, 0)) > 1e-6) tangents += 1;
    const answer = (/** @type {number} */ most) => {
      const text = `${BigInt(Math.round(most * 2 ** 40))}/${2n ** 40n}`;
      if (!isOneWay) return reportOf({ ...claim, head: LABELS, property: { kind: 'decision', margin: text }, nodes: [['chords', way, r]], shown });
      return reportOf({ ...claim, property: score(`${2n * BigInt(Math.round(most * 2 ** 40))}/${2n ** 40n}`), nodes: [['chords', way, r]], shown });
    };
    if (isOneWay && bound < 0.001) continue;
    compared += 1;
    const report = answer(bound + 1e-8);
    assert.equal(report.answer, 'accepted', `${n}: ${bound} ${report.reason}`);
    const below = answer(bound - 1e-8);
    assert.equal(below.answer, 'rejected', `${n}: ${bound}`);
    assert.match(below.reason ?? '', NOT_SEPARATED);
    for (let i = 0; i < 60; i++) {
      const [x, other] = pairOf(random, claim);
      const value = a * scoreAt(claim.body, x) - b * scoreAt(claim.body, other);
      assert.ok(value <= bound + 1e-9, `${n}: ${value} above ${bound}`);
    }
  }
  assert.ok(compared > 150 && tangents > 40, `${compared} compared, ${tangents} with tangents that matter`);
});

test('bounds of one copy are those of the formulas', () => {
  const random = new Random(52);
  for (let n = 0; n < 80; n++) {
    const { features, similarity, body } = claimOf(random);
    const claim = { features: [...features.slice(0, -1), { name: 'last', kind: 'categorical', levels: ['a', 'b'] }], similarity: [...similarity.slice(0, -1).map(() => SAME), FREE], body };
    body.columns[body.columns.length - 1] = { feature: features.length - 1, table: ['0', random.pick(['1', '1/8'])] };
    const r = random.pick([0, 1, 4, 1024]);
    const way = random.pick(['0', '1/4', '1/2', '7/8', '1']);
    const [a, b] = [fraction(way), 1 - fraction(way)];
    const bound = Math.max(...[[0, 0], [0, 1], [1, 0], [1, 1]].map((last) => boundOf(claim, a, b, r, last)));
    const v = features.length - 1;
    const leaf = ['chords', way, r];
    const nodes = [['split', v, '0'], ['split', v + 1, '0'], leaf, leaf, ['split', v + 1, '0'], leaf, leaf];
    const answer = (/** @type {number} */ most) => reportOf({ ...claim, head: LABELS, property: { kind: 'decision', margin: `${BigInt(Math.round(most * 2 ** 40))}/${2n ** 40n}` }, nodes }).answer;
    assert.equal(answer(bound + 1e-8), 'accepted', `${n}: ${bound}`);
    assert.equal(answer(bound - 1e-8), 'rejected', `${n}: ${bound}`);
  }
});

/**
 * @param {Random} random
 * @param {any} claim
 */
function pairOf(random, { features, similarity }) {
  const [x, other] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  features.forEach((/** @type {any} */ feature, /** @type {number} */ k) => {
    const { lo, hi } = rootOf(feature, similarity[k]);
    const one = () => (feature.kind === 'continuous' ? lo + ((hi - lo) * random.below(65)) / 64 : lo + random.below(hi - lo + 1));
    do {
      x[k] = one();
      other[k] = similarity[k].kind === 'same' ? x[k] : one();
    } while (!isRelated(similarity[k], x[k], other[k]));
  });
  return [x, other];
}

/** exp(-x^2) of a number x from 0 to 2, and a level that adds 1 or 0 to the exponent. */
const X = { name: 'x', kind: 'continuous', lo: '0', hi: '2' };
const S = { name: 's', kind: 'categorical', levels: ['a', 'b'] };
const BUMP = { kind: 'rbf', gamma: '1', bias: '0', columns: [{ feature: 0, slope: '1', offset: '0' }, { feature: 1, table: ['0', '1'] }], terms: [['1', ['0', '0']]] };

test('one copy: levels fixed, and what is the same cancels', () => {
  const claim = { features: [X, S], similarity: [SAME, FREE], body: BUMP };
  const each = (/** @type {any} */ leaf) => [['split', 1, '0'], ['split', 2, '0'], leaf, leaf, ['split', 2, '0'], leaf, leaf];
  // At most (1 - exp(-1)) exp(-x^2), largest at 0: chords touch there.
  const most = 1 - Math.exp(-1);
  assertAccepted({ ...claim, property: score(`${Math.ceil(most * 1e9)}/1000000000`), nodes: each(['chords', '1/2', 0]) });
  assertRejected({ ...claim, property: score(`${Math.floor(most * 1e9)}/1000000000`), nodes: each(['chords', '1/2', 0]) }, NOT_SEPARATED);
  // Two copies, levels not fixed: exp(-x^2) is from exp(-5) to 1, chords and tangents know no more of it.
  assertAccepted({ ...claim, property: score('1'), nodes: [['chords', '1/2', 1024]] });
  // Where both are one code nothing is left.
  assertAccepted({ ...claim, similarity: [SAME, SAME], property: score('1/1000000'), nodes: [['chords', '1/2', 0]] });
  // A sharp bound is not enough.
  assertRejected({ ...claim, similarity: [SAME, SAME], property: score('0'), nodes: [['chords', '1/2', 0]] }, NOT_SEPARATED);
});

test('cells without pairs hold, whatever the bound', () => {
  const property = score('0');
  const narrow = { features: [X, S], body: BUMP, property };
  // A difference above 1 of codes that are both below 1.
  const cut = [['split', 0, '1'], ['split', 1, '1'], ['chords', '1/2', 3], ['enumerated'], ['enumerated']];
  const report = reportOf({ ...narrow, similarity: [between('3/2', '2'), SAME], nodes: cut });
  assert.match(report.reason ?? '', /enumerated/);
  // Levels that may not be together, fixed and not.
  const ORDINAL = { name: 's', kind: 'ordinal', levels: ['a', 'b', 'c', 'd'] };
  const body = { ...BUMP, columns: [BUMP.columns[0], { feature: 1, table: ['0', '1', '2', '3'] }] };
  const levels = { features: [X, ORDINAL], body, property };
  const split = (/** @type {any} */ leaf) => [['split', 1, '1'], ['split', 2, '1'], ['chords', '1/2', 0], leaf];
  for (const [similarity, leaf] of [[[SAME, within('1')], 2], [[FREE, within('1')], 2]]) {
    const nodes = split(['chords', '1/2', leaf]);
    assert.match(reportOf({ ...levels, similarity: /** @type {any} */ (similarity), nodes }).reason ?? '', NOT_SEPARATED);
  }
  // between 3 and 3: only a with d. The cells of the rest hold no pair; a claim of which nothing is left but them is refused.
  const far = { ...levels, similarity: [SAME, between('3', '3')], property: score('1') };
  assertAccepted({ ...far, nodes: [['split', 1, '0'], ['split', 2, '2'], ['chords', '1/2', 0], ['chords', '1/2', 0], ['chords', '1/2', 0]] });
  assertAccepted({ ...far, property: score('0'), body: { ...body, terms: [['-1', ['0', '0']]] }, nodes: [['split', 1, '0'], ['split', 2, '2'], ['chords', '1/2', 1024], ['chords', '1/2', 0], ['chords', '1/2', 0]] });
  assertRejected({ ...far, property: score('0'), nodes: [['split', 1, '0'], ['split', 2, '2'], ['chords', '1/2', 0], ['chords', '1/2', 0], ['chords', '1/2', 0]] }, NOT_SEPARATED);
  // Way and r must be as they have to be all the same.
  const bad = (/** @type {any} */ leaf) => assertRejected({ ...far, nodes: [['split', 1, '0'], ['split', 2, '2'], leaf, ['chords', '1/2', 0], ['chords', '1/2', 0]] });
  for (const leaf of [['chords', '1/3', 0], ['chords', '1/2', -1], ['chords', '1/2', 1025], ['chords', '1/2', '0'], ['chords', '1/2'], ['chords', '1/2', 0, []]]) bad(leaf);
});

test('other bodies and softmax have no chords; lines of sums do', () => {
  const affine = { kind: 'affine', bias: '0', columns: [] };
  const claim = { features: [X, S], similarity: [SAME, FREE], property: score('9') };
  assertRejected({ ...claim, body: affine, rounding: { sizes: [], constant: '0', operations: 1 }, nodes: [['chords', '1/2', 0]] }, /not for this body/);
  const sum = (/** @type {any} */ body, /** @type {string} */ weight) => ({ kind: 'sum', bias: '0', parts: [{ weight, link: null, body }] });
  const leaf = (/** @type {any[]} */ ...line) => [['sum', '1/2', [[null, null, [line]]]]];
  // (s(x) - s(x')) / 2 is at most 1/2 (1 - exp(-5)); the line states what it shows, strictly.
  assertAccepted({ ...claim, body: sum(BUMP, '2'), property: score('2'), nodes: leaf('1/2', 'chords', 0) });
  assertRejected({ ...claim, body: sum(BUMP, '2'), property: score('199/100'), nodes: leaf('1/2', 'chords', 0) }, NOT_SEPARATED);
  assertRejected({ ...claim, body: sum(BUMP, '2'), property: score('2'), nodes: leaf('1/3', 'chords', 0) }, NOT_SEPARATED);
  assertRejected({ ...claim, body: sum(BUMP, '2'), property: score('2'), nodes: leaf('1/2', 'chords', [], 0) });
  assertRejected({ ...claim, body: sum(BUMP, '2'), property: score('2'), nodes: leaf('1/2', 'mixed', [], 0) }, /kernel or chords/);
  const trees = { kind: 'trees', bias: '0', trees: [['1']] };
  assertRejected({ ...claim, body: sum(trees, '2'), property: score('2'), nodes: leaf('1/2', 'chords', 0) }, /rule trees/);
});

test('classes: the coefficients of both conditions', () => {
  const features = [X, S];
  // Class 0 has 3 exp(..), class 1 has 1: x of class 0 has exp > 1/3.
  const body = { ...BUMP, bias: ['0', '1'], terms: [[['3', '0'], ['0', '0']]] };
  const claim = { features, similarity: [SAME, FREE], body, head: { labels: ['a', 'b'], classes: 'argmax', link: null } };
  const decision = (/** @type {string} */ margin) => ({ kind: 'decision', margin, class: null });
  // F = f_0 - f_1 is at most 2, and -G = f_1 - f_0 at most 1 - 3 exp(-5): together, at lambda, at most 2 lambda + (1 - lambda).
  for (const [lambda, most] of /** @type {[string, string][]} */ ([['1', '2001/1000'], ['1/2', '3/2'], ['0', '49/50']])) {
    assertAccepted({ ...claim, property: decision(most), nodes: [['cases'], ['chords', [0, 0, lambda], 0]] });
  }
  assertRejected({ ...claim, property: decision('199/100'), nodes: [['cases'], ['chords', [0, 0, '1'], 1024]] }, NOT_SEPARATED);
  assertRejected({ ...claim, property: decision('97/100'), nodes: [['cases'], ['chords', [0, 0, '0'], 0]] }, NOT_SEPARATED);
  assertRejected({ ...claim, property: decision('2'), nodes: [['cases'], ['chords', [0, 1, '1'], 0]] });
  assertRejected({ ...claim, property: { kind: 'probability', delta: '99/100', class: 0 }, head: { ...claim.head, link: 'softmax' }, nodes: [['cases'], ['chords', '1/2', 0]] });
});

test('everybody decided alike, after the sign and beside kernel leaves of the same way', () => {
  const claim = { features: [X, S], similarity: [SAME, FREE], property: { kind: 'decision', margin: '0' }, head: LABELS };
  const labelOf = (/** @type {any} */ parts) => assertAccepted({ ...claim, ...parts }).labelOfEverybody;
  assert.equal(labelOf({ body: { ...BUMP, bias: '1/1000' }, nodes: [['chords', '0', 0]] }), 1);
  assert.equal(labelOf({ body: { ...BUMP, bias: '-2' }, nodes: [['chords', '1', 0]] }), 0);
  assert.equal(labelOf({ body: { ...BUMP, bias: '-2' }, head: { ...LABELS, zero: 'upper' }, nodes: [['chords', '0', 0]] }), 0);
  const fixed = { ...claim, body: { ...BUMP, bias: '-2' } };
  const mixed = [['split', 1, '0'], ['split', 2, '0'], ['kernel', '1', [0], 0], ['chords', '1', 0], ['split', 2, '0'], ['chords', '1', 0], ['kernel', '1', [0], 0]];
  const report = assertAccepted({ ...fixed, nodes: mixed });
  assert.equal(report.labelOfEverybody, 0);
  assert.deepEqual([...report.rules], [['kernel', 2], ['chords', 2]]);
  assert.deepEqual(report.packs, ['core', 'kernel']);
});

test('no faster than a distance: the least distance of the cell is added', () => {
  const distance = { norm: 1, terms: [{ feature: 0, each: '1' }], forms: [] };
  const claim = { features: [X, S], similarity: [FREE, SAME], body: BUMP };
  const property = { kind: 'lipschitz', constant: '5', delta: '0', distance };
  // x below 1/2 and x' above: with 3/2 between they are 1 apart at least, and the scores at most 1.
  const nodes = (/** @type {string} */ at) => [['split', 0, '1/2'], ['split', 1, at], ['slope', [0]], ['chords', '1/2', 1024], ['slope', [0]]];
  assertAccepted({ ...claim, property, nodes: nodes('3/2') });
  assert.equal(reportOf({ ...claim, property, nodes: nodes('1/2') }).line, 9);
  assertRejected({ ...claim, property: score('0'), nodes: [['split', 0, '1/2'], ['split', 1, '3/2'], ['chords', '1/2', 0], ['chords', '1/2', 0], ['chords', '1/2', 0]] }, NOT_SEPARATED);
});

test('numbers that are far away or large do not spoil the bound', () => {
  // exp(-(x - m)^2) at a large m, its coefficient large: the score is from 0 to 2^60, in steps of the formulas exact to 2^-40 of it.
  const m = 2n ** 50n;
  const features = [{ name: 'x', kind: 'integer', lo: `${m}`, hi: `${m + 1n}` }, S];
  const columns = [{ feature: 0, slope: '1', offset: '0' }, { feature: 1, table: ['0', '0'] }];
  const body = { kind: 'rbf', gamma: '1', bias: '0', columns, terms: [[`${2n ** 60n}`, [`${m}`, '0']]] };
  const claim = { features, similarity: [FREE, FREE], body };
  const most = (1 - Math.exp(-1)) * 2 ** 60;
  const leaf = [['chords', '1/2', 1024]];
  // The tangent at 6/13 is a little below exp at both ends.
  const tangent = Math.exp(-6 / 13) * (1 + 6 / 13 - 1);
  const bound = 2 ** 60 * (1 - tangent);
  assert.ok(bound > most);
  assertAccepted({ ...claim, property: score(`${BigInt(Math.ceil(bound * (1 + 1e-12)))}`), nodes: leaf });
  assertRejected({ ...claim, property: score(`${BigInt(Math.floor(bound * (1 - 1e-12)))}`), nodes: leaf }, NOT_SEPARATED);
  // Slopes and offsets that are fractions of odd numbers; widths far above what exponentials see.
  const wide = { ...claim, features: [{ name: 'x', kind: 'continuous', lo: '-1000000000000', hi: '1000000000000' }, S], body: { ...body, columns: [{ feature: 0, slope: '1/3', offset: '1/7' }, columns[1]], terms: [['1', ['1/7', '0']], ['-1/2', ['5/7', '0']]] } };
  assertAccepted({ ...wide, property: score('1501/1000'), nodes: leaf });
  assertRejected({ ...wide, property: score('1499/1000'), nodes: leaf }, NOT_SEPARATED);
});
