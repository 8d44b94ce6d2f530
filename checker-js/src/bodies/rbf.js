/** The body `rbf` (section 7): f(x) = bias + sum_t coefficient_t exp(-gamma sum_c (column_c(x) - centre_tc)^2). */

import { add, exactly, multiply } from '../exact/interval.js';
import { Rational, bitLength, larger, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readNumbersOf, readObject } from '../file/fields.js';
import { require } from '../rejection.js';
import { dot } from './affine.js';
import { bumpAt } from './bump.js';
import { columnValue, isConstantColumn, readCoefficient, readPlainColumns } from './columns.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./columns.js').PlainColumn} PlainColumn
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

/**
 * @typedef {{coefficients: Rational[], centre: Rational[]}} RbfTerm one coefficient a score
 */

export class RbfBody {
  kind = /** @type {const} */ ('rbf');
  irrational = true;

  /**
   * @param {Rational} gamma
   * @param {Rational[]} bias
   * @param {PlainColumn[]} columns
   * @param {RbfTerm[]} terms
   * @param {boolean} grouped whether section 20 applies
   */
  constructor(gamma, bias, columns, terms, grouped) {
    this.gamma = gamma;
    this.bias = bias;
    this.columns = columns;
    this.terms = terms;
    this.grouped = grouped;
    this.scores = bias.length;
    let size = ZERO;
    for (const { coefficients } of terms) {
      size = size.plus(coefficients.map((coefficient) => coefficient.absolute()).reduce(larger));
    }
    this.sizeBits = bitLength(size.ceil()) + 4;
    this.gammaBits = bitLength(gamma.ceil()) + bitLength(BigInt(columns.length)) + 4;
  }

  /**
   * @param {Rational[]} codes
   * @param {number} bits
   * @returns {Interval[]} of the scores, none wider than 2^-bits
   */
  enclose(codes, bits) {
    const precision = bits + this.sizeBits;
    const values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    let scores = this.bias.map(exactly);
    // Each square is rounded up to a multiple of 2^-work, so that columns with many denominators do not make long numbers.
    const work = precision + this.gammaBits;
    const slack = this.gamma.times(Rational.dyadic(BigInt(values.length), -work));
    for (const { coefficients, centre } of this.terms) {
      let distance = 0n;
      centre.forEach((number, c) => {
        distance += values[c].minus(number).squared().ceil(work);
      });
      const bump = bumpAt(this.gamma, distance, work, slack, precision);
      scores = scores.map((score, i) => add(score, multiply(bump, coefficients[i])));
    }
    return scores;
  }

  /** @param {number} k */
  isConstant(k) {
    return this.columns.every((column) => column.feature !== k || isConstantColumn(column));
  }

  packs() {
    return ['kernel'];
  }

  /**
   * The score alpha . f + shift, as a body of one score (section 10).
   * @param {Rational[]} alpha
   * @param {Rational} shift
   */
  form(alpha, shift) {
    const terms = this.terms.map(({ coefficients, centre }) => ({ coefficients: [dot(alpha, coefficients)], centre }));
    return new RbfBody(this.gamma, [dot(alpha, this.bias).plus(shift)], this.columns, terms, this.grouped);
  }
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 */
export function readRbf(json, context) {
  const part = readObject(json, 'body', ['kind', 'gamma', 'bias', 'columns', 'terms'], ['grouped']);
  const grouped = part('grouped');
  require(grouped === undefined || grouped === true, 'body: "grouped" is not true');
  const gamma = readNumber(part('gamma'), 'gamma');
  require(gamma.sign() > 0, 'body: gamma is not positive');
  const columns = readPlainColumns(part('columns'), context.space);
  const terms = readArray(part('terms'), 'terms').map((item) => {
    const [coefficient, centre] = readArrayOf(item, 'term', 2);
    return { coefficients: readCoefficient(coefficient, 'coefficient', context), centre: readNumbersOf(centre, 'centre', columns.length) };
  });
  require(terms.length > 0, 'body: no term');
  return new RbfBody(gamma, readCoefficient(part('bias'), 'bias', context), columns, terms, grouped === true);
}
