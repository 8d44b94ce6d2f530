/** How the deployed program rounds, and whether a clearance covers that (section 6; section 9 for trees). */

import { polynomialValue } from '../bodies/columns.js';
import { interval, roundedOut } from '../exact/interval.js';
import { larger, ONE, Rational, sum, ZERO } from '../exact/rational.js';
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
const FINEST_BITS = 1 << 17;

/**
 * `operations` roundings to `bits` bits of terms whose absolute values add up to at most `size`; `lost` is what one operation
 * may lose by underflow. Where the description does not fit, nothing is covered.
 * @typedef {{size: Rational, operations: bigint, bits: number, lost: Rational, fits: boolean}} Rounding
 */

const LARGEST = Rational.dyadic(1n, 1000);
const LARGEST_OF_SINGLE = Rational.dyadic(1n, 120);
const LARGEST_IN_PIECES = Rational.dyadic(1n, 34);
const LARGEST_COEFFICIENT = Rational.dyadic(1n, 100);

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
    const fits = sumsStayFinite(size, operations, bits === 24 ? LARGEST_OF_SINGLE : LARGEST);
    return { size, operations, bits, lost: Rational.dyadic(1n, bits === 24 ? -100 : -700), fits };
  }
  if (body.kind === 'affine' && head.kind === 'two') {
    const part = readObject(json, 'rounding', ['sizes', 'constant', 'operations']);
    const sizes = readNumbersOf(part('sizes'), 'sizes of rounding', body.columns.length);
    require(sizes.every((size) => size.sign() >= 0), 'rounding: a negative size');
    const constant = readNumber(part('constant'), 'constant of rounding');
    require(constant.sign() >= 0, 'rounding: a negative constant');
    const operations = readInt(part('operations'), 'operations', 0n, MOST_OPERATIONS);
    const most = body.columns.map((column) => largestOfColumn(column, space));
    const size = most.reduce((total, value, c) => total.plus(sizes[c].times(value)), constant);
    const lost = ONE.plus(sum(sizes)).scaled(-700);
    const fits =
      body.bias[0].absolute().atMost(constant) &&
      body.weights.every(([weight], c) => weight.absolute().atMost(sizes[c])) &&
      operations >= BigInt(body.columns.length) &&
      sumsStayFinite(size, operations, LARGEST) &&
      most.every((value) => value.less(LARGEST)) &&
      space.features.every((feature) => feature.levels !== null || liesWithin(feature, LARGEST)) &&
      body.columns.every((column) => column.kind !== 'pieces' || piecesFit(column, space));
    return { size, operations, bits: 53, lost, fits };
  }
  return json === null ? null : reject('rounding: must be null for this model');
}

/**
 * @param {Rational} size
 * @param {bigint} operations
 * @param {Rational} limit
 */
function sumsStayFinite(size, operations, limit) {
  return size.times(Rational.of(2n * (operations + 1n))).less(limit);
}

/**
 * @param {Space['features'][number]} feature a number
 * @param {Rational} limit
 */
function liesWithin({ lo, hi }, limit) {
  return lo.absolute().less(limit) && hi.absolute().less(limit);
}

/**
 * @param {import('../bodies/columns.js').PiecesColumn} column
 * @param {Space} space
 */
function piecesFit({ feature, pieces }, space) {
  const small = pieces.every((piece) => piece.every((coefficient) => coefficient.absolute().less(LARGEST_COEFFICIENT)));
  return small && liesWithin(space.features[feature], LARGEST_IN_PIECES);
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
 * Whether the description fits, and the clearance is larger than E = ((1 + 2^-bits)^operations - 1) size + operations lost.
 * @param {Rounding} rounding
 * @param {Rational} clearance
 */
export function covers({ size, operations, bits, lost, fits }, clearance) {
  if (!fits) return false;
  const least = Rational.of(operations).times(lost);
  for (let work = 256; work <= FINEST_BITS; work *= 8) {
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
