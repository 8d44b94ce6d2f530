/** Sums of scores and predictions: lines above and below links, pairs of predictions, certificates. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { parseJson } from '../src/file/json.js';
import { readNumber } from '../src/exact/number-syntax.js';
import { exactly } from '../src/exact/interval.js';
import { ONE, Rational, ZERO } from '../src/exact/rational.js';
import { readPartLink, tableAt } from '../src/bodies/link.js';
import { weightsOfWay } from '../src/proof/line.js';
import { breaksProperty } from '../src/proof/witness-set.js';
import { Rejection } from '../src/rejection.js';
import { mostOfDifference } from '../src/rules/link-difference.js';
import { betaAbove, betaBelow } from '../src/rules/link-line.js';
import { Random } from '../tools/mutate.js';
import { openCertificate, writeCertificate } from '../tools/seal.js';

const random = new Random(21);
const near = (/** @type {number} */ lo, /** @type {number} */ hi) => Rational.fraction(BigInt(Math.round(8 * lo) + random.below(Math.round(8 * (hi - lo)) + 1)), 8n);
const numberOf = (/** @type {Rational} */ value) => Number(value.floor(60)) / 2 ** 60;
const sigma = (/** @type {number} */ r) => 1 / (1 + Math.exp(-r));

function randomLink() {
  if (random.below(2) === 0) return readPartLink(['logistic', `${near(0.25, 3)}`, `${near(-2, 2)}`]);
  const knots = [];
  let [place, value] = [near(-3, 0), near(-1, 1)];
  for (let i = 0; i <= random.below(4); i++) {
    const [at, above] = [value.plus(near(0, 1)), value.plus(near(1, 2))];
    knots.push([place, value, at, above].map(String));
    [place, value] = [place.plus(near(0.5, 2)), above.plus(near(0, 1))];
  }
  return readPartLink(['table', knots]);
}

test('lines above and below links', () => {
  let [lines, refused] = [0, 0];
  for (let n = 0; n < 400; n++) {
    const link = /** @type {import('../src/bodies/link.js').Link} */ (randomLink());
    const [alpha, tau] = [random.below(3) === 0 ? ZERO : near(0, 1), near(0, 2)];
    const low = random.below(4) === 0 ? null : near(-5, 3);
    const high = random.below(4) === 0 ? null : (low ?? near(-5, 3)).plus(near(0, 4));
    const [from, to] = [numberOf(low ?? Rational.of(-20)), numberOf(high ?? Rational.of(20))];
    const places = Array.from({ length: 101 }, (_, i) => from + ((to - from) * i) / 100);
    if (link.kind === 'table') {
      for (const { place } of link.knots) for (const step of [-1e-7, 0, 1e-7]) places.push(numberOf(place) + step);
    }
    const valueOf = (/** @type {number} */ t) => {
      if (link.kind === 'logistic') return sigma(numberOf(link.slope) * t + numberOf(link.offset));
      return numberOf(tableAt(link.knots, Rational.dyadic(BigInt(Math.round(t * 2 ** 40)), -40)).value);
    };
    for (const [side, make] of /** @type {const} */ ([[1, betaAbove], [-1, betaBelow]])) {
      let beta;
      try {
        beta = numberOf(make(link, alpha, tau, { low, high }));
      } catch (error) {
        assert.ok(error instanceof Rejection);
        refused += 1;
        continue;
      }
      lines += 1;
      for (const t of places) {
        if (t < from || t > to) continue;
        const line = numberOf(alpha) * (numberOf(link.slope) * t + numberOf(link.offset)) + beta;
        assert.ok(side * (line - valueOf(t)) >= -1e-9, `${side} ${link.kind} at ${t}: ${line} and ${valueOf(t)}`);
      }
    }
  }
  assert.ok(lines > 300 && refused > 20, `${lines} lines, ${refused} refused`);
});

test('what two scores differ by at most, after a link', () => {
  let met = 0;
  for (let n = 0; n < 400; n++) {
    const link = /** @type {import('../src/bodies/link.js').Link} */ (randomLink());
    const [C, E, D, place] = [near(0.25, 2), near(0.25, 2), near(-1, 2), near(-3, 3)];
    const limits = () => {
      const low = random.below(3) === 0 ? null : near(-4, 2);
      return { low, high: random.below(3) === 0 ? null : (low ?? near(-4, 2)).plus(near(0, 4)) };
    };
    const [u, v] = [limits(), limits()];
    const bound = numberOf(mostOfDifference(link, C, E, D, u, v, place));
    const valueOf = (/** @type {Rational} */ t) =>
      link.kind === 'logistic' ? sigma(numberOf(link.slope.times(t).plus(link.offset))) : numberOf(tableAt(link.knots, t).value);
    const isInside = (/** @type {typeof u} */ { low, high }, /** @type {Rational} */ t) => (low === null || low.atMost(t)) && (high === null || t.atMost(high));
    let most = -Infinity;
    for (let i = -48; i <= 48; i++) {
      const t = Rational.fraction(BigInt(i), 8n);
      if (!isInside(v, t)) continue;
      for (let j = -48; j <= 48; j++) {
        const s = Rational.fraction(BigInt(j), 8n);
        if (!isInside(u, s) || D.less(s.minus(t))) continue;
        most = Math.max(most, numberOf(C) * valueOf(s) - numberOf(E) * valueOf(t));
      }
    }
    assert.ok(most <= bound + 1e-9, `${link.kind}: ${most} above ${bound}`);
    if (bound - most < 0.02) met += 1;
  }
  assert.ok(met > 50, `${met} bounds that are nearly met`);
  // For C = E and without limits it is 2 sigma(e/2) - 1, at the place -e/2.
  const logistic = /** @type {import('../src/bodies/link.js').Link} */ (readPartLink(['logistic', '1', '0']));
  const none = { low: null, high: null };
  const best = numberOf(mostOfDifference(logistic, ONE, ONE, ONE, none, none, Rational.fraction(-1n, 2n)));
  assert.ok(Math.abs(best - (2 * sigma(0.5) - 1)) < 1e-12);
  assert.throws(() => mostOfDifference(logistic, ONE, ONE, ONE, none, none, Rational.of(41)), Rejection);
  assert.ok(mostOfDifference(logistic, ONE, ONE, ONE.negated(), none, none, Rational.of(41)).sign() <= 0);
});

test('links that fall, or have no knots, are refused', () => {
  for (const link of [
    ['logistic', '0', '0'],
    ['logistic', '-1', '0'],
    ['table', []],
    ['table', [['0', '0', '1', '0']]],
    ['table', [['0', '0', '0', '0'], ['0', '1', '1', '1']]],
    ['table', [['0', '0', '0', '1'], ['1', '0', '1', '1']]],
    ['identity'],
  ]) {
    assert.throws(() => readPartLink(/** @type {any} */ (link)), Rejection);
  }
});

test('predictions: pairs and tangents', () => {
  for (let n = 0; n < 300; n++) {
    const [s, other, delta] = [near(-4, 4), near(-4, 4), near(0.125, 5)];
    const property = { kind: /** @type {const} */ ('prediction'), margin: ZERO, delta, ofClass: undefined };
    const broken = breaksProperty(property, exactly(s), exactly(other), 64);
    assert.equal(broken, Math.exp(numberOf(s)) - Math.exp(numberOf(other)) > numberOf(delta), `${s} ${other} ${delta}`);
    const way = near(0.5, 1);
    const { a, b, target } = weightsOfWay(property, `${way}`);
    assert.ok(a.equals(way) && b.equals(ONE.minus(way)));
    // Every witness lies above the line.
    if (broken) assert.ok(target.less(a.times(s).minus(b.times(other))));
  }
  const small = { kind: /** @type {const} */ ('prediction'), margin: ZERO, delta: Rational.dyadic(1n, -900), ofClass: undefined };
  assert.equal(breaksProperty(small, exactly(Rational.of(-600)), exactly(Rational.of(-700)), 64), true);
  assert.equal(breaksProperty(small, exactly(Rational.of(-700)), exactly(Rational.of(-800)), 64), false);
  assert.equal(breaksProperty(small, exactly(Rational.of(100_000)), exactly(Rational.of(99_999)), 64), true);
  assert.equal(breaksProperty(small, exactly(Rational.of(99_999)), exactly(Rational.of(100_000)), 64), false);
});

const folder = new URL('certificates/', import.meta.url);
for (const name of readdirSync(folder).filter((file) => /^(?:sum|prediction)-/.test(file))) {
  test(`${name}: accepted, and a tenth of what was proved is not`, () => {
    const file = new Uint8Array(readFileSync(new URL(name, folder)));
    const report = checkCertificate(file);
    assert.equal(report.answer, 'accepted', report.reason ?? '');
    const lines = openCertificate(file);
    const property = /** @type {any} */ (lines[3]).get('property');
    // Where no feature that may differ matters, nobody is treated differently at all.
    if (report.kind === 'witness' || !property.has('delta') || report.rules.has('independent')) return;
    property.set('delta', `${readNumber(property.get('delta'), 'delta').over(Rational.of(10))}`);
    assert.equal(checkCertificate(writeCertificate(lines)).answer, 'rejected');
  });
}

test('what stands after a line that finds no pair is not looked at, but lengths are', () => {
  const json = (/** @type {any} */ value) => parseJson(JSON.stringify(value));
  const feature = { name: 'c', kind: 'continuous', lo: '0', hi: '4' };
  const body = { kind: 'affine', bias: '0', columns: [{ feature: 0, weight: '1', slope: '1', offset: '0' }] };
  const link = ['table', [['0', '0', '0', '0'], ['4', '4', '4', '4']]];
  const sum = { kind: 'sum', bias: '0', parts: [{ weight: '1', link, body }, { weight: '1', link, body }] };
  const head = { labels: null, zero: 'lower', link: null };
  const line = (/** @type {string} */ bound) => [bound, 'separable'];
  // Where x <= 1 and x' > 2 nobody is; everywhere else both scores differ by 1 at most, in either part.
  const part = ['difference', line('1/2'), [null, null], [null, null], '0'];
  const answerOf = (/** @type {any} */ parts) => {
    const lines = [
      { 'likewise-certificate': 1, kind: 'proof', tool: 't', words: 'w', digests: { space: '', similarity: '', property: '', model: '' } },
      { space: { features: [feature], constraints: [] } },
      { similarity: [{ kind: 'within', tolerance: '1' }] },
      { property: { kind: 'score', delta: '2' } },
      { model: { family: 'f', body: sum, head, rounding: null } },
      ['split', 0, '1'],
      ['split', 1, '9/4'],
      ['sum', '1/2', [['difference', line('1/2'), [null, null], [null, null], '0'], part]],
      ['sum', '1/2', parts],
      ['sum', '1/2', [part, part]],
      { end: { nodes: 5, clearance: '0', covers_floating_point: false, sha256: '' } },
    ];
    return checkCertificate(writeCertificate(lines.map(json))).answer;
  };
  const side = [line('9'), null, '1', '0'];
  assert.equal(answerOf([part, part]), 'accepted');
  assert.equal(answerOf([[side, side, [line('9')]], null]), 'accepted');
  assert.equal(answerOf([[[line('9'), null, 'x', false], 7, null], 'nothing']), 'accepted');
  assert.equal(answerOf([['difference', line('-9'), 7, null, 'x'], false]), 'accepted');
  assert.equal(answerOf([['difference', ['x', 'separable'], [null, null], [null, null], '0'], part]), 'rejected');
  assert.equal(answerOf([['difference', line('-9'), 7, null], false]), 'rejected');
  assert.equal(answerOf([['difference', line('-9'), 7, null, 'x']]), 'rejected');
  assert.equal(answerOf([[[line('9'), null, '1'], side, [line('9')]], part]), 'rejected');
  assert.equal(answerOf([[side, side], part]), 'rejected');
});
