import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bumpAt } from '../src/bodies/bump.js';
import { ONE, Rational } from '../src/exact/rational.js';

test('a bump is exactly 1 at its centre, whatever the precision', () => {
  const slack = Rational.dyadic(1n, -60);
  const { lo, hi } = bumpAt(Rational.of(3), 0n, 64, slack, 64);
  assert.ok(lo.equals(ONE) && hi.equals(ONE));
  const beside = bumpAt(Rational.of(3), 1n, 64, slack, 64);
  assert.ok(beside.lo.less(ONE));
  assert.ok(beside.lo.less(beside.hi));
});
