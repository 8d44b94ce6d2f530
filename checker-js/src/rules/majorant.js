/** The separable majorant of a polynomial on a cube, and its maximum (section 8, "A separable majorant"). */

import { axesOf, axisProduct, AxesPolynomial } from '../exact/axes-polynomial.js';
import { polynomialMaximum } from '../exact/polynomial-maximum.js';
import { largest, ONE, Rational, ZERO } from '../exact/rational.js';
import { Cube } from './cube.js';

/** @typedef {import('./cube.js').Group} Group */

/**
 * @param {Cube} cube
 * @param {AxesPolynomial} polynomial
 * @param {bigint[]} hints one an axis
 * @returns {Rational} an upper bound of the polynomial at all pairs of the cell
 */
export function majorantMaximum(cube, polynomial, hints) {
  const majorant = new Majorant(cube, hints);
  for (const [product, coefficient] of polynomial.terms) majorant.take(product, coefficient);
  return cube.groups.reduce((total, group, g) => total.plus(maximumOfGroup(group, majorant.functions[g])), majorant.constant);
}

class Majorant {
  /**
   * @param {Cube} cube
   * @param {bigint[]} hints
   */
  constructor(cube, hints) {
    this.cube = cube;
    this.hints = hints;
    this.constant = ZERO;
    this.functions = cube.groups.map(() => new AxesPolynomial());
  }

  /**
   * One row of the table: the first that fits.
   * @param {string} product
   * @param {Rational} coefficient
   */
  take(product, coefficient) {
    const axes = axesOf(product);
    if (axes.length === 0) {
      this.constant = this.constant.plus(coefficient);
      return;
    }
    const groups = new Set(axes.map((axis) => this.cube.groupOf[axis]));
    if (groups.size === 1) this.functions[[...groups][0]].addTerm(product, coefficient);
    else if (axes.length === 2) this.takeProductOfTwo(axes[0], axes[1], coefficient);
    else this.takeLongProduct(axes, coefficient);
  }

  /**
   * @param {number} axis
   * @param {1 | 2} power
   * @param {Rational} coefficient
   */
  add(axis, power, coefficient) {
    this.functions[this.cube.groupOf[axis]].addTerm(axisProduct(axis).repeat(power), coefficient);
  }

  /**
   * c y_f y_l <= |c| ((y_f^2 + y_l^2)/2 - tau (y_f - sigma y_l) + tau^2/2)
   * @param {number} f
   * @param {number} l
   * @param {Rational} coefficient
   */
  takeProductOfTwo(f, l, coefficient) {
    const size = coefficient.absolute();
    const sigma = coefficient.sign() >= 0 ? ONE : ONE.negated();
    const tau = Rational.of(this.hints[f]).minus(sigma.times(Rational.of(this.hints[l]))).scaled(-6);
    this.add(f, 2, size.half());
    this.add(l, 2, size.half());
    this.add(f, 1, size.times(tau).negated());
    this.add(l, 1, size.times(tau).times(sigma));
    this.constant = this.constant.plus(size.times(tau.squared()).half());
  }

  /**
   * @param {number[]} axes
   * @param {Rational} coefficient
   */
  takeLongProduct(axes, coefficient) {
    /** @type {Map<number, number>} */
    const powers = new Map();
    for (const axis of axes) powers.set(axis, (powers.get(axis) ?? 0) + 1);
    const odd = [...powers].filter(([, power]) => power % 2 === 1).map(([axis]) => axis);
    if (odd.length === 1) {
      this.add(odd[0], 1, coefficient.half());
      this.constant = this.constant.plus(coefficient.absolute().half());
      return;
    }
    if (odd.length === 0 && coefficient.sign() < 0) return;
    const shared = odd.length === 0 ? [...powers.keys()] : odd;
    const share = coefficient.absolute().over(Rational.of(shared.length));
    for (const axis of shared) this.add(axis, 2, share);
  }
}

/**
 * @param {Group} group
 * @param {AxesPolynomial} own a polynomial in the axes of the group
 */
function maximumOfGroup(group, own) {
  if (own.terms.size === 0) return ZERO;
  const { places } = group;
  if (places !== null) return largest(places.map((place) => own.value((axis) => place[axis - group.axes[0]])));
  return maximumOnAxis(own);
}

/**
 * Powers above 3 are replaced first: even ones by y^2 or 0, odd ones by (c/2) y + |c|/2.
 * @param {AxesPolynomial} own in one axis
 */
function maximumOnAxis(own) {
  const cubic = [ZERO, ZERO, ZERO, ZERO];
  for (const [product, coefficient] of own.terms) {
    const power = product.length;
    if (power <= 3) {
      cubic[power] = cubic[power].plus(coefficient);
    } else if (power % 2 === 0) {
      if (coefficient.sign() > 0) cubic[2] = cubic[2].plus(coefficient);
    } else {
      cubic[1] = cubic[1].plus(coefficient.half());
      cubic[0] = cubic[0].plus(coefficient.absolute().half());
    }
  }
  const [constant, ...rest] = cubic;
  return constant.plus(polynomialMaximum([ZERO, ...rest], ONE.negated(), ONE));
}
