/** The body `mixed` (section 23): f(x) = bias + sum_t coefficient_t exp(-gamma dist_t(x)), distances of sums of columns from centres. */

import { add, exactly, multiply } from '../exact/interval.js';
import { Rational, bitLength, larger, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readIndex, readNumbersOf, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { dot } from './affine.js';
import { bumpAt } from './bump.js';
import { columnValue, isConstantColumn, readCoefficient, readColumn } from './columns.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./columns.js').Column} Column
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

/**
 * @typedef {'gaussian' | 'laplacian'} Shape
 * @typedef {{constant: Rational, pairs: {column: number, factor: Rational}[]}} ColumnSum z_j
 * @typedef {{coefficients: Rational[], centre: Rational[]}} MixedTerm one coefficient a score
 */

export class MixedBody {
  kind = /** @type {const} */ ('mixed');
  irrational = true;

  /**
   * @param {Shape} shape
   * @param {Rational} gamma
   * @param {Rational[]} bias
   * @param {Column[]} columns
   * @param {ColumnSum[]} sums
   * @param {MixedTerm[]} terms
   */
  constructor(shape, gamma, bias, columns, sums, terms) {
    this.shape = shape;
    this.gamma = gamma;
    this.bias = bias;
    this.columns = columns;
    this.sums = sums;
    this.terms = terms;
    this.scores = bias.length;
    let size = ZERO;
    for (const { coefficients } of terms) {
      size = size.plus(coefficients.map((coefficient) => coefficient.absolute()).reduce(larger));
    }
    this.sizeBits = bitLength(size.ceil()) + 4;
    this.gammaBits = bitLength(gamma.ceil()) + bitLength(BigInt(sums.length)) + 4;
  }

  /**
   * @param {Rational[]} codes
   * @returns {Rational[]} z_j
   */
  sumsAt(codes) {
    const values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    return this.sums.map(({ constant, pairs }) => pairs.reduce((total, { column, factor }) => total.plus(factor.times(values[column])), constant));
  }

  /**
   * @param {Rational[]} codes
   * @param {number} bits
   * @returns {Interval[]} of the scores, none wider than 2^-bits
   */
  enclose(codes, bits) {
    const precision = bits + this.sizeBits;
    const values = this.sumsAt(codes);
    let scores = this.bias.map(exactly);
    // What each sum adds to a distance is rounded up to a multiple of 2^-work, so that many denominators do not make long numbers.
    const work = precision + this.gammaBits;
    const slack = this.gamma.times(Rational.dyadic(BigInt(values.length), -work));
    for (const { coefficients, centre } of this.terms) {
      let distance = 0n;
      centre.forEach((number, j) => {
        const apart = values[j].minus(number);
        distance += (this.shape === 'gaussian' ? apart.squared() : apart.absolute()).ceil(work);
      });
      const bump = bumpAt(this.gamma, distance, work, slack, precision);
      scores = scores.map((score, i) => add(score, multiply(bump, coefficients[i])));
    }
    return scores;
  }

  /** @param {number} k does no sum have a column of it that can change? */
  isConstant(k) {
    return this.sums.every(({ pairs }) =>
      pairs.every(({ column }) => this.columns[column].feature !== k || isConstantColumn(this.columns[column])),
    );
  }

  packs() {
    return ['mixed', ...(this.columns.some(({ kind }) => kind === 'pieces') ? ['pieces'] : [])];
  }

  /**
   * The score alpha . f + shift, as a body of one score (section 10).
   * @param {Rational[]} alpha
   * @param {Rational} shift
   */
  form(alpha, shift) {
    const terms = this.terms.map(({ coefficients, centre }) => ({ coefficients: [dot(alpha, coefficients)], centre }));
    return new MixedBody(this.shape, this.gamma, [dot(alpha, this.bias).plus(shift)], this.columns, this.sums, terms);
  }
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 */
export function readMixed(json, context) {
  const part = readObject(json, 'body', ['kind', 'shape', 'gamma', 'bias', 'columns', 'sums', 'terms']);
  const shape = part('shape');
  if (shape !== 'gaussian' && shape !== 'laplacian') return reject('body: an unknown shape');
  const gamma = readNumber(part('gamma'), 'gamma');
  require(gamma.sign() > 0, 'body: gamma is not positive');
  const columns = readArray(part('columns'), 'columns').map((item) => readColumn(item, context.space, []));
  require(columns.length <= MAXIMUM.columns, 'body: too many columns');
  const sums = readArray(part('sums'), 'sums').map((item) => readSumOfColumns(item, columns.length));
  require(sums.length > 0, 'body: no sum');
  const terms = readArray(part('terms'), 'terms').map((item) => {
    const [coefficient, centre] = readArrayOf(item, 'term', 2);
    return { coefficients: readCoefficient(coefficient, 'coefficient', context), centre: readNumbersOf(centre, 'centre', sums.length) };
  });
  require(terms.length > 0, 'body: no term');
  return new MixedBody(shape, gamma, readCoefficient(part('bias'), 'bias', context), columns, sums, terms);
}

/**
 * `[constant, [[column, factor], ...]]`
 * @param {Json} json
 * @param {number} columns how many there are
 * @returns {ColumnSum}
 */
function readSumOfColumns(json, columns) {
  const [constant, items] = readArrayOf(json, 'sum of columns', 2);
  const pairs = readArray(items, 'sum of columns').map((item) => {
    const [column, factor] = readArrayOf(item, 'column of a sum', 2);
    return { column: readIndex(column, 'column of a sum', columns), factor: readNumber(factor, 'factor of a column') };
  });
  require(pairs.every(({ column }, i) => i === 0 || pairs[i - 1].column < column), 'body: the columns of a sum are not strictly increasing');
  return { constant: readNumber(constant, 'constant of a sum'), pairs };
}
