/**
 * Polynomials in several axes y_0, y_1, ... with rational coefficients.
 *
 * A product of axes is a text with one character an axis (its code is the axis' number), sorted; powers repeat it.
 */

import { Rational, ZERO } from './rational.js';

/**
 * @param {number} axis
 */
export function axisProduct(axis) {
  return String.fromCharCode(axis);
}

/**
 * @param {string} a
 * @param {string} b
 * @returns {string} the product of two products
 */
export function multiplyProducts(a, b) {
  if (a === '') return b;
  if (b === '') return a;
  if (a[a.length - 1] <= b[0]) return a + b;
  return [...(a + b)].sort(byCode).join('');
}

/**
 * @param {string} a
 * @param {string} b
 */
function byCode(a, b) {
  return a.charCodeAt(0) - b.charCodeAt(0);
}

/** @param {string} product */
export function axesOf(product) {
  return Array.from({ length: product.length }, (_, i) => product.charCodeAt(i));
}

export class AxesPolynomial {
  constructor() {
    /** @type {Map<string, Rational>} no coefficient is 0 */
    this.terms = new Map();
  }

  /** @param {Rational} value */
  static constant(value) {
    return new AxesPolynomial().addTerm('', value);
  }

  /**
   * @param {Rational} constant
   * @param {[number, Rational][]} slopes of axes
   */
  static affine(constant, slopes) {
    const result = AxesPolynomial.constant(constant);
    for (const [axis, slope] of slopes) result.addTerm(axisProduct(axis), slope);
    return result;
  }

  /**
   * Changes this polynomial.
   * @param {string} product
   * @param {Rational} coefficient
   */
  addTerm(product, coefficient) {
    const total = (this.terms.get(product) ?? ZERO).plus(coefficient);
    if (total.isZero()) this.terms.delete(product);
    else this.terms.set(product, total);
    return this;
  }

  /**
   * Changes this polynomial: adds a multiple of another one.
   * @param {AxesPolynomial} other
   * @param {Rational} factor
   */
  addMultiple(other, factor) {
    if (!factor.isZero()) for (const [product, coefficient] of other.terms) this.addTerm(product, coefficient.times(factor));
    return this;
  }

  /** @param {AxesPolynomial} other */
  times(other) {
    const result = new AxesPolynomial();
    for (const [product, coefficient] of this.terms) {
      for (const [otherProduct, otherCoefficient] of other.terms) {
        result.addTerm(multiplyProducts(product, otherProduct), coefficient.times(otherCoefficient));
      }
    }
    return result;
  }

  /**
   * @param {(axis: number) => Rational} valueOf
   */
  value(valueOf) {
    let total = ZERO;
    for (const [product, coefficient] of this.terms) {
      total = total.plus(axesOf(product).reduce((value, axis) => value.times(valueOf(axis)), coefficient));
    }
    return total;
  }
}
