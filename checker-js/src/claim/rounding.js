/** How the deployed program rounds, and whether a clearance covers that (section 6; section 9 for trees). */

import { polynomialValue } from '../bodies/columns.js';
import { interval, roundedOut } from '../exact/interval.js';
import { larger, ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readInt, readNumbersOf, readObject } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { partsOf } from '../rules/pieces.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../bodies/columns.js').Column} Column
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./head.js').Head} Head
 * @typedef {import('./space.js').Space} Space
 */

const MOST_OPERATIONS = 10_000_000n;
const FINEST_BITS = 1 << 16;

/**
 * `operations` roundings to `bits` bits of terms whose absolute values add up to at most `size`; `smallest` is the power
 * of 2 of the smallest positive number of the program.
 * @typedef {{size: Rational, operations: bigint, bits: number, smallest: number}} Rounding
 */

/**
 * @param {Json} json
 * @param {Body} body
 * @param {Head} head
 * @param {Space} space
 * @returns {Rounding | null}
 */
export function readRounding(json, body, head, space) {
  if (body.kind === 'trees' && json !== null) {
    const part = readObject(json, 'rounding', ['constant', 'operations', 'bits']);
    const bits = Number(readInt(part('bits'), 'bits', 24n, 53n));
    require(bits === 24 || bits === 53, 'rounding: neither 24 nor 53 bits');
    const size = readNumber(part('constant'), 'constant of rounding');
    const operations = readInt(part('operations'), 'operations', 0n, MOST_OPERATIONS);
    require(body.size().atMost(size), 'rounding: the constant is smaller than the terms that are added');
    require(operations >= BigInt(body.trees.length), 'rounding: fewer operations than trees');
    return { size, operations, bits, smallest: bits === 24 ? -149 : -1074 };
  }
  if (body.kind === 'affine' && head.kind === 'two') {
    const part = readObject(json, 'rounding', ['sizes', 'constant', 'operations']);
    const sizes = readNumbersOf(part('sizes'), 'sizes of rounding', body.columns.length);
    require(sizes.every((size) => size.sign() >= 0), 'rounding: a negative size');
    const constant = readNumber(part('constant'), 'constant of rounding');
    require(constant.sign() >= 0, 'rounding: a negative constant');
    const operations = readInt(part('operations'), 'operations', 0n, MOST_OPERATIONS);
    const size = body.columns.reduce((total, column, c) => total.plus(sizes[c].times(largestOfColumn(column, space))), constant);
    return { size, operations, bits: 53, smallest: -1074 };
  }
  return json === null ? null : reject('rounding: must be null for this model');
}

/**
 * The maximum of |column| over the space; in pieces, of the sum of the absolute values of what is added.
 * @param {Column} column
 * @param {Space} space
 */
function largestOfColumn(column, space) {
  const { lo, hi, discrete } = space.features[column.feature];
  if (column.kind === 'table') return column.table.map((entry) => entry.absolute()).reduce(larger);
  if (column.kind === 'linear') {
    return larger(column.offset.plus(column.slope.times(lo)).absolute(), column.offset.plus(column.slope.times(hi)).absolute());
  }
  return partsOf(column.cuts, lo, hi, discrete).reduce((most, { piece, from, to }) => {
    const size = larger(from.absolute(), to.absolute());
    const coefficients = column.pieces[piece].map((coefficient) => coefficient.absolute());
    return larger(most, polynomialValue(coefficients, size));
  }, ZERO);
}

/**
 * Whether the clearance is larger than E = ((1 + 2^-bits)^operations - 1) size + operations 2^smallest.
 * @param {Rounding} rounding
 * @param {Rational} clearance
 */
export function covers({ size, operations, bits, smallest }, clearance) {
  const least = Rational.of(operations).times(Rational.dyadic(1n, smallest));
  for (let work = 256; work <= FINEST_BITS; work *= 4) {
    const growth = powerOf(ONE.plus(Rational.dyadic(1n, -bits)), operations, work);
    const low = growth.lo.minus(ONE).times(size).plus(least);
    const high = growth.hi.minus(ONE).times(size).plus(least);
    if (high.less(clearance)) return true;
    if (clearance.atMost(low)) return false;
  }
  return reject('rounding: it cannot be told whether the clearance covers it');
}

/**
 * @param {Rational} base at least 1
 * @param {bigint} exponent
 * @param {number} work bits
 * @returns {Interval}
 */
function powerOf(base, exponent, work) {
  let result = interval(ONE, ONE);
  let square = interval(base, base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = roundedOut(interval(result.lo.times(square.lo), result.hi.times(square.hi)), work);
    square = roundedOut(interval(square.lo.times(square.lo), square.hi.times(square.hi)), work);
  }
  return result;
}
