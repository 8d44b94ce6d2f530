/** The arithmetic that everything rests on: rationals, doubles, exponentials, maxima of polynomials, digests, unpacking. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { isDouble, nextDouble } from '../src/exact/doubles.js';
import { expOf, logOf, sigmaOf } from '../src/exact/interval.js';
import { readNumber } from '../src/exact/number-syntax.js';
import { polynomialMaximum } from '../src/exact/polynomial-maximum.js';
import { pieceOf, polynomialValue } from '../src/bodies/columns.js';
import { Rational } from '../src/exact/rational.js';
import { gunzip } from '../src/file/gunzip.js';
import { parseJson } from '../src/file/json.js';
import { sha256 } from '../src/file/sha256.js';
import { Rejection } from '../src/rejection.js';
import { maximumOfPiecesBetween } from '../src/rules/pieces.js';
import { Random } from '../tools/mutate.js';

const view = new DataView(new ArrayBuffer(8));

/** The double of these 64 bits, exactly; null if it is not finite. */
function doubleOf(/** @type {bigint} */ bits) {
  const exponent = Number((bits >> 52n) & 2047n);
  if (exponent === 2047) return null;
  const mantissa = (bits & ((1n << 52n) - 1n)) | (exponent > 0 ? 1n << 52n : 0n);
  return Rational.dyadic(bits >> 63n ? -mantissa : mantissa, Math.max(exponent, 1) - 1075);
}

/** The double nearest to a rational of moderate size, for comparisons with Math. */
function toNumber(/** @type {Rational} */ value) {
  return Number(value.floor(80)) / 2 ** 80;
}

function randomRational(/** @type {Random} */ random) {
  const top = BigInt(random.below(2 ** 31)) - 2n ** 30n;
  return Rational.fraction(top, BigInt(1 + random.below(2 ** 20))).scaled(random.below(40) - 30);
}

test('rationals are a field', () => {
  const random = new Random(1);
  for (let i = 0; i < 500; i++) {
    const [a, b, c] = [randomRational(random), randomRational(random), randomRational(random)];
    assert.ok(a.plus(b).times(c).equals(a.times(c).plus(b.times(c))));
    assert.ok(a.minus(b).plus(b).equals(a));
    if (!b.isZero()) assert.ok(a.over(b).times(b).equals(a));
    assert.equal(a.compare(b), -b.compare(a));
    const down = Rational.of(a.floor());
    assert.ok(down.atMost(a) && a.less(down.plus(Rational.of(1))));
    assert.equal(a.isWhole(), down.equals(a));
    assert.ok(Rational.dyadic(a.ceil(7), -7).minus(a).sign() >= 0);
  }
});

test('numbers as they are written', () => {
  const same = [['0x1.8p+1', '3'], ['5/1200', '1/240'], ['-0x10p-4', '-1'], ['-0', '0'], ['0x0.08p8', '8']];
  for (const [a, b] of same) assert.ok(readNumber(a, '').equals(readNumber(b, '')), a);
  const wrong = ['', '+1', '01', '1.5', '1e3', '0x1', '0X1p0', '0x1P0', '1/0', '1/-2', '1/02', ' 1', '1 ', '0x.8p0', '0x1.p0', '0xAp0', '٣'];
  for (const text of wrong) assert.throws(() => readNumber(text, ''), Rejection, text);
});

test('doubles and their successors', () => {
  const random = new Random(2);
  for (let i = 0; i < 2000; i++) {
    view.setUint32(0, random.below(2 ** 32));
    view.setUint32(4, random.below(3) === 0 ? 0 : random.below(2 ** 32));
    const bits = view.getBigUint64(0);
    const value = doubleOf(bits);
    if (value === null) continue;
    assert.ok(isDouble(value));
    const negative = bits >> 63n === 1n;
    const next = value.isZero() ? doubleOf(1n) : doubleOf(negative ? bits - 1n : bits + 1n);
    const found = nextDouble(value);
    assert.ok(next === null ? found === null : found !== null && found.equals(next), `${bits}`);
    const between = next === null ? null : value.plus(next).half();
    if (between !== null) assert.ok(!isDouble(between));
  }
});

test('enclosures of exp, log and sigma', () => {
  const random = new Random(4);
  for (let i = 0; i < 300; i++) {
    const x = Rational.fraction(BigInt(random.below(40_000)) - 20_000n, 1000n);
    const wide = expOf(x, 90);
    const narrow = expOf(x, 200);
    assert.ok(wide.lo.atMost(narrow.lo) && narrow.hi.atMost(wide.hi));
    assert.ok(wide.hi.minus(wide.lo).atMost(Rational.dyadic(1n, -88)));
    const plain = Math.exp(toNumber(x));
    assert.ok(Math.abs(toNumber(wide.lo) - plain) <= 1e-9 * (1 + plain), `${x}`);
    if (wide.lo.sign() > 0 && x.sign() > 0) assert.ok(logOf(narrow.lo, 100).lo.atMost(x) && x.atMost(logOf(narrow.hi, 100).hi));
    const sigma = sigmaOf(x, 100);
    assert.ok(Math.abs(toNumber(sigma.lo) - 1 / (1 + Math.exp(-toNumber(x)))) < 1e-9);
    assert.ok(sigma.lo.atMost(sigma.hi));
  }
});

test('maxima of polynomials are above all values, and near to one', () => {
  const random = new Random(5);
  for (let i = 0; i < 100; i++) {
    const coefficients = Array.from({ length: 1 + random.below(6) }, () => Rational.of(random.below(21) - 10));
    const from = Rational.fraction(BigInt(random.below(40)) - 20n, 8n);
    const to = from.plus(Rational.fraction(BigInt(random.below(30)), 7n));
    const most = polynomialMaximum(coefficients, from, to);
    let best = -Infinity;
    for (let n = 0; n <= 200; n++) {
      const value = polynomialValue(coefficients, from.plus(to.minus(from).times(Rational.fraction(BigInt(n), 200n))));
      assert.ok(value.atMost(most));
      best = Math.max(best, toNumber(value));
    }
    assert.ok(toNumber(most) - best < 5 + Math.abs(best) * 0.05);
  }
});

test('narrow polynomials far from zero are bounded by their own size', () => {
  // 1 - z^2 and 1 - z^4 of z = 2^40 (x - 1000), from -1 to 2: their powers of x cancel, and the maximum is 1, inside.
  const [steep, shift] = [Rational.of(1).scaled(40), Rational.fraction(-1000n, 1n)];
  for (const degree of [2, 4]) {
    let power = [Rational.of(1)];
    for (let i = 0; i < degree; i++) {
      const zero = Rational.of(0);
      power = [...power, zero].map((value, j) => value.times(shift).plus(j > 0 ? power[j - 1] : zero).times(steep));
    }
    const coefficients = power.map((value, i) => (i === 0 ? Rational.of(1).minus(value) : value.negated()));
    const from = Rational.of(1000).minus(Rational.of(1).scaled(-40));
    const to = Rational.of(1000).plus(Rational.of(1).scaled(-39));
    const most = polynomialMaximum(coefficients, from, to);
    assert.ok(Rational.of(1).atMost(most));
    assert.ok(most.minus(Rational.of(1)).atMost(Rational.of(1).scaled(-50)));
  }
});

test('pairs of parts: no pair within the tolerance is above the maximum, and some pair is near to it', () => {
  const random = new Random(11);
  const some = () => Rational.fraction(BigInt(random.below(41)) - 20n, 8n);
  for (let turn = 0; turn < 40; turn++) {
    const cuts = [0, 1, 2, 3, 4, 5].filter(() => random.below(2) > 0).map((cut) => Rational.of(cut));
    const [u, v] = [1, 2].map(() => ({ cuts, pieces: [...cuts, null].map(() => [some(), some(), ...(random.below(2) > 0 ? [some()] : [])]) }));
    const [least, reach] = [Rational.fraction(BigInt(-random.below(9)), 4n), Rational.fraction(BigInt(random.below(9)), 4n)];
    const ends = /** @type {[Rational, Rational, Rational, Rational]} */ ([-1, 6, 0, 7].map((end) => Rational.of(end)));
    const most = maximumOfPiecesBetween(u, v, ends, least, reach, false);
    assert.ok(most !== null);
    let best = -Infinity;
    for (let i = 0; i <= 112; i++) {
      for (let j = 0; j <= 112; j++) {
        const [x, y] = [ends[0].plus(Rational.fraction(BigInt(i), 16n)), ends[2].plus(Rational.fraction(BigInt(j), 16n))];
        if (y.minus(x).less(least) || reach.less(y.minus(x))) continue;
        const value = polynomialValue(u.pieces[pieceOf(cuts, x)], x).plus(polynomialValue(v.pieces[pieceOf(cuts, y)], y));
        assert.ok(value.atMost(most));
        best = Math.max(best, toNumber(value));
      }
    }
    // Of two parts that are not linear, each is bounded by itself.
    if ([...u.pieces, ...v.pieces].every((piece) => piece.length === 2)) assert.ok(toNumber(most) - best < 5);
  }
});

test('digests and unpacking', () => {
  const random = new Random(6);
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 300_000]) {
    const bytes = Uint8Array.from({ length }, () => random.below(20));
    assert.equal(sha256(bytes), createHash('sha256').update(bytes).digest('hex'));
    for (const level of [0, 1, 9]) {
      const packed = new Uint8Array(gzipSync(bytes, { level }));
      assert.deepEqual(Buffer.concat([...gunzip(packed)]), Buffer.from(bytes));
      packed[packed.length - 5] ^= 1;
      assert.throws(() => [...gunzip(packed)]);
    }
  }
});

test('JSON', () => {
  assert.deepEqual(parseJson('[1,-20,"a\\u0041\\n",null,{"b":[]}]'), [1n, -20n, 'aA\n', null, new Map([['b', []]])]);
  const wrong = ['', '[1,]', '{"a":1,"a":2}', '1.0', '1e3', '01', '[1] 2', '"\t"', '"\\x"', 'NaN', 'nul', '{a:1}', "'a'", '[1', '-', '"\\u12"'];
  for (const text of wrong) assert.throws(() => parseJson(text), Rejection, text);
});
