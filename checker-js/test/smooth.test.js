/** Neurons with smooth activations: the bound of a neuron is above every value on its limits, and not far above; certificates. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkCertificate } from '../src/check.js';
import { readNumber } from '../src/exact/number-syntax.js';
import { Rational } from '../src/exact/rational.js';
import { activated, LIMIT_BITS } from '../src/rules/network-limits.js';
import { maximumOfSmoothNeuron } from '../src/rules/network-smooth.js';
import { readActivation } from '../src/bodies/activation.js';
import { Random } from '../tools/mutate.js';
import { openCertificate, writeCertificate } from '../tools/seal.js';

const random = new Random(11);
const uniform = (/** @type {number} */ lo, /** @type {number} */ hi) => lo + ((hi - lo) * random.below(1 << 20)) / (1 << 20);
const units = (/** @type {number} */ value) => BigInt(Math.round(value * 2 ** 40)) << BigInt(LIMIT_BITS - 40);
const real = (/** @type {bigint} */ value) => Rational.dyadic(value, -LIMIT_BITS);
const rational = (/** @type {number} */ value) => Rational.dyadic(BigInt(Math.round(value * 2 ** 40)), -40);
const numberOf = (/** @type {Rational} */ value) => Number(value.floor(60)) / 2 ** 60;

/** @type {[string[], (y: number) => number][]} */
const activations = [
  [['tanh'], Math.tanh],
  [['logistic'], (y) => 1 / (1 + Math.exp(-y))],
  [['elu', '1'], (y) => (y > 0 ? y : Math.expm1(y))],
  [['elu', '-1/2'], (y) => (y > 0 ? y : -Math.expm1(y) / 2)],
  [['elu', '3'], (y) => (y > 0 ? y : 3 * Math.expm1(y))],
];

for (const [json, act] of activations) {
  test(`${json.join(' ')}: bounds of neurons`, () => {
    const activation = readActivation(json);
    for (let n = 0; n < 150; n++) {
      const [lo, hi] = [uniform(-4, 4), uniform(-4, 4)].sort((a, b) => a - b);
      const p = uniform(-1, 1);
      const q = p + uniform(0, 1);
      const limits = { lo: units(lo), hi: units(hi), otherLo: units(lo + p), otherHi: units(hi + q), p: units(p), q: units(q) };
      const [A, alpha] = [uniform(-2, 2), uniform(-1, 1)];
      // Often the two copies count against each other.
      const [C, gamma] = n % 2 === 0 ? [uniform(-2, 2), uniform(-1, 1)] : [-A, -alpha];
      const own = { A: rational(A), C: rational(C), alpha: rational(alpha), gamma: rational(gamma) };
      const { p: e, q: E, r, R } = activated(activation, limits);
      const ends = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, real(value)]));
      const bound = numberOf(maximumOfSmoothNeuron(activation, /** @type {any} */ (ends), { e: real(e), E: real(E), r, R }, LIMIT_BITS, own));
      let most = -Infinity;
      // elu may have its largest values at its bend.
      const bend = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ A_, /** @type {number} */ a) =>
        from <= 0 && to >= 0 ? A_ * act(0) - a * 0 : -Infinity;
      const apart = [bend(lo, hi, A, alpha), bend(lo + p, hi + q, C, gamma)];
      for (let i = 0; i <= 60; i++) {
        const y = lo + ((hi - lo) * i) / 60;
        apart[0] = Math.max(apart[0], A * act(y) - alpha * y);
        for (let j = 0; j <= 30; j++) {
          const other = y + p + ((q - p) * j) / 30;
          apart[1] = Math.max(apart[1], C * act(other) - gamma * other);
          most = Math.max(most, A * act(y) + C * act(other) - alpha * y - gamma * other);
        }
      }
      assert.ok(most <= bound + 1e-9, `${most} above ${bound}`);
      assert.ok(bound <= apart[0] + apart[1] + 0.02, `${bound} far above ${apart[0] + apart[1]}`);
    }
  });
}

test('one variable, found to about 2^-50', () => {
  for (const [json, act] of activations) {
    const activation = readActivation(json);
    for (let n = 0; n < 60; n++) {
      const [lo, hi] = [uniform(-5, 5), uniform(-5, 5)].sort((a, b) => a - b);
      const [A, alpha] = [uniform(-2, 2), uniform(-0.5, 0.5)];
      const limits = { lo: units(lo), hi: units(hi), otherLo: 0n, otherHi: 0n, p: units(-hi), q: units(-lo) };
      const own = { A: rational(A), C: rational(0), alpha: rational(alpha), gamma: rational(0) };
      const { p: e, q: E, r, R } = activated(activation, limits);
      const ends = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, real(value)]));
      const bound = numberOf(maximumOfSmoothNeuron(activation, /** @type {any} */ (ends), { e: real(e), E: real(E), r, R }, LIMIT_BITS, own));
      // The largest value by a grid, then finer around the best place.
      const value = (/** @type {number} */ y) => A * act(y) - alpha * y;
      let [from, to, best] = [lo, hi, lo <= 0 && hi >= 0 ? 0 : lo];
      for (let round = 0; round < 6; round++) {
        for (let i = 0; i <= 200; i++) {
          const y = from + ((to - from) * i) / 200;
          if (value(y) > value(best)) best = y;
        }
        const width = (to - from) / 50;
        [from, to] = [Math.max(lo, best - width), Math.min(hi, best + width)];
      }
      assert.ok(Math.abs(bound - value(best)) < 1e-11, `${json}: ${bound} for ${value(best)}`);
    }
  }
});

const folder = new URL('certificates/', import.meta.url);
for (const name of readdirSync(folder).filter((file) => file.startsWith('smooth-'))) {
  test(`${name}: accepted, and half of what was proved is not`, () => {
    const file = new Uint8Array(readFileSync(new URL(name, folder)));
    const report = checkCertificate(file);
    assert.equal(report.answer, 'accepted', report.reason ?? '');
    if (report.kind === 'witness') return;
    const lines = openCertificate(file);
    const property = /** @type {any} */ (lines[3]).get('property');
    property.set('delta', `${readNumber(property.get('delta'), 'delta').half()}`);
    assert.equal(checkCertificate(writeCertificate(lines)).answer, 'rejected');
  });
}
