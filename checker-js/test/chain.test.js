/** Chains of two links: lines above and below them, what they rise by over a distance, and what is no chain. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rational } from '../src/exact/rational.js';
import { readPartLink, tableAt } from '../src/bodies/link.js';
import { Rejection } from '../src/rejection.js';
import { lineOfChain, mostOfChain } from '../src/rules/link-chain.js';
import { Random } from '../tools/mutate.js';

/** @typedef {import('../src/bodies/link.js').ChainLink} ChainLink */

const random = new Random(22);
const near = (/** @type {number} */ lo, /** @type {number} */ hi) => Rational.fraction(BigInt(Math.round(8 * lo) + random.below(Math.round(8 * (hi - lo)) + 1)), 8n);
const numberOf = (/** @type {Rational} */ value) => Number(value.floor(60)) / 2 ** 60;
const sigma = (/** @type {number} */ r) => 1 / (1 + Math.exp(-r));
const isJumping = () => random.below(2) === 0;

function randomChain() {
  const inner = ['logistic', `${near(0.25, 3)}`, `${near(-2, 2)}`];
  if (random.below(2) === 0) return /** @type {ChainLink} */ (readPartLink(['chain', inner, ['logistic', `${near(1, 9)}`, `${near(-6, 1)}`]]));
  const knots = [];
  let [place, value] = [near(-0.25, 0.5), near(0, 0.25)];
  const jumps = isJumping();
  for (let i = 0; i <= random.below(4); i++) {
    const above = jumps ? value.plus(near(0, 0.5)) : value;
    knots.push([place, value, value, above].map(String));
    [place, value] = [place.plus(near(0.125, 0.5)), above.plus(near(0, 1))];
  }
  return /** @type {ChainLink} */ (readPartLink(['chain', inner, ['table', knots]]));
}

/** @param {ChainLink} link */
function valueOf({ inner, outer }, /** @type {number} */ t) {
  const y = sigma(numberOf(inner.slope) * t + numberOf(inner.offset));
  if (outer.kind === 'logistic') return sigma(numberOf(outer.slope) * y + numberOf(outer.offset));
  return numberOf(tableAt(outer.knots, Rational.dyadic(BigInt(Math.round(y * 2 ** 50)), -50)).value);
}

test('lines above and below chains', () => {
  let [lines, refused] = [0, 0];
  for (let n = 0; n < 300; n++) {
    const link = randomChain();
    const [alphas, tangents] = [0, 1].map(() => [near(0, 1), near(0, 2)].map(String));
    const low = random.below(4) === 0 ? null : near(-5, 3);
    const high = random.below(4) === 0 ? null : (low ?? near(-5, 3)).plus(near(0, 4));
    const [from, to] = [numberOf(low ?? Rational.of(-20)), numberOf(high ?? Rational.of(20))];
    for (const above of [true, false]) {
      let line;
      try {
        line = lineOfChain(link, alphas, tangents, { low, high }, above);
      } catch (error) {
        assert.ok(error instanceof Rejection);
        refused += 1;
        continue;
      }
      lines += 1;
      for (let i = 0; i <= 60; i++) {
        const t = from + ((to - from) * i) / 60;
        const height = numberOf(line.alpha) * (numberOf(link.slope) * t + numberOf(link.offset)) + numberOf(line.beta);
        assert.ok((above ? 1 : -1) * (height - valueOf(link, t)) >= -1e-9, `${link.outer.kind} at ${t}: ${height} and ${valueOf(link, t)}`);
      }
    }
  }
  assert.ok(lines > 250 && refused > 20, `${lines} lines, ${refused} refused`);
});

test('what two scores differ by at most, after a chain', () => {
  let met = 0;
  const none = { low: null, high: null };
  for (let n = 0; n < 120; n++) {
    const link = randomChain();
    const [C, E, D] = [near(0.25, 2), near(0.25, 2), near(-1, 2)];
    const low = random.below(3) === 0 ? null : near(-4, 2);
    const high = random.below(3) === 0 ? null : (low ?? near(-4, 2)).plus(near(0, 4));
    const cuts = Array.from({ length: 65 }, (_, i) => `${Rational.fraction(BigInt(i - 32), 4n)}`);
    const bound = numberOf(mostOfChain(link, C, E, D, none, { low, high }, cuts));
    const [from, to] = [numberOf(low ?? Rational.of(-9)), numberOf(high ?? Rational.of(9))];
    let most = -Infinity;
    for (let i = 0; i <= 400; i++) {
      const t = from + ((to - from) * i) / 400;
      most = Math.max(most, numberOf(C) * valueOf(link, t + numberOf(D)) - numberOf(E) * valueOf(link, t));
    }
    assert.ok(most <= bound + 1e-9, `${link.outer.kind}: ${most} above ${bound}`);
    assert.ok(bound <= numberOf(mostOfChain(link, C, E, D, none, { low, high }, [])) + 1e-12);
    if (bound - most < 0.02) met += 1;
  }
  assert.ok(met > 60, `${met} bounds that are nearly met`);
});

test('other chains, and cuts that do not rise, are refused', () => {
  const inner = ['logistic', '1', '0'];
  const table = ['table', [['0', '0', '0', '0'], ['1', '1', '1', '1']]];
  for (const link of [
    ['chain', table, inner],
    ['chain', null, inner],
    ['chain', inner, null],
    ['chain', inner],
    ['chain', inner, ['chain', inner, inner]],
    ['chain', ['chain', inner, inner], inner],
    ['chain', inner, ['logistic', '0', '0']],
  ]) {
    assert.throws(() => readPartLink(/** @type {any} */ (link)), Rejection);
  }
  const link = /** @type {ChainLink} */ (readPartLink(['chain', inner, table]));
  const [one, none] = [Rational.of(1), { low: null, high: null }];
  for (const cuts of [['1', '1'], ['2', '1'], '1', ['x'], Array.from({ length: 1001 }, (_, i) => `${i}`)]) {
    assert.throws(() => mostOfChain(link, one, one, one, none, none, /** @type {any} */ (cuts)), Rejection);
  }
  for (const pair of [['1'], ['1', '-1'], '1', ['1', '0', '0']]) {
    assert.throws(() => lineOfChain(link, /** @type {any} */ (pair), ['0', '0'], { low: one, high: one }, true), Rejection);
  }
});
