/** The body `polynomial` (section 8): a sum of products of columns. */

import { Rational, ZERO } from '../exact/rational.js';
import { readArray, readArrayOf, readIndex, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { dot } from './affine.js';
import { columnValue, isConstantColumn, readCoefficient, readPlainColumns } from './columns.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./columns.js').PlainColumn} PlainColumn
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

const LONGEST_PRODUCT = 16;

/**
 * @typedef {{coefficients: Rational[], factors: number[]}} ProductTerm one coefficient a score; columns, non-decreasing
 */

export class PolynomialBody {
  kind = /** @type {const} */ ('polynomial');
  irrational = false;

  /**
   * @param {PlainColumn[]} columns
   * @param {ProductTerm[]} terms
   */
  constructor(columns, terms) {
    this.columns = columns;
    this.terms = terms;
    this.scores = terms[0].coefficients.length;
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    const values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    const scores = this.terms[0].coefficients.map(() => ZERO);
    for (const { coefficients, factors } of this.terms) {
      const product = factors.reduce((total, c) => total.times(values[c]), Rational.of(1));
      coefficients.forEach((coefficient, i) => {
        scores[i] = scores[i].plus(coefficient.times(product));
      });
    }
    return scores;
  }

  /** @param {number} k does no column of it that can change occur in a term that counts? */
  isConstant(k) {
    return this.terms.every(
      ({ coefficients, factors }) =>
        coefficients.every((coefficient) => coefficient.isZero()) ||
        factors.every((c) => this.columns[c].feature !== k || isConstantColumn(this.columns[c])),
    );
  }

  packs() {
    return ['polynomial'];
  }

  /**
   * The score alpha . f + shift, as a body of one score (section 10).
   * @param {Rational[]} alpha
   * @param {Rational} shift
   */
  form(alpha, shift) {
    const terms = this.terms.map(({ coefficients, factors }) => ({ coefficients: [dot(alpha, coefficients)], factors }));
    terms.push({ coefficients: [shift], factors: [] });
    return new PolynomialBody(this.columns, terms);
  }
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 */
export function readPolynomial(json, context) {
  const part = readObject(json, 'body', ['kind', 'columns', 'terms']);
  const columns = readPlainColumns(part('columns'), context.space);
  require(columns.length <= MAXIMUM.columns, 'body: too many columns');
  const terms = readArray(part('terms'), 'terms').map((item) => {
    const [coefficient, product] = readArrayOf(item, 'term', 2);
    const factors = readArray(product, 'product').map((c) => readIndex(c, 'column of a product', columns.length));
    require(factors.length <= LONGEST_PRODUCT, `body: a product of more than ${LONGEST_PRODUCT} columns`);
    require(factors.every((c, i) => i === 0 || factors[i - 1] <= c), 'body: the columns of a product are not in order');
    return { coefficients: readCoefficient(coefficient, 'coefficient', context), factors };
  });
  require(terms.length > 0, 'body: no term');
  require(new Set(terms.map(({ factors }) => factors.join())).size === terms.length, 'body: one product twice');
  return new PolynomialBody(columns, terms);
}
