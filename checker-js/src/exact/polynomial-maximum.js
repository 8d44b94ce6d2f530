/**
 * An upper bound of the maximum of a polynomial over an interval, to within 2^-60 of its size (section 4, "Columns in
 * pieces"; section 8, the last step of the majorant).
 *
 * On an interval mapped to [0, 1] a polynomial of degree n is a mean of its n + 1 Bernstein coefficients, so that their
 * largest one is an upper bound; the first and the last one are its values at the ends. Halving the interval makes the bound
 * sharper until it is near enough to a value that is attained.
 */

import { larger, largest, ONE, Rational, smaller, ZERO } from './rational.js';

const ROOM_BITS = 61;

/**
 * @param {Rational[]} coefficients c_0, c_1, ...
 * @param {Rational} from
 * @param {Rational} to
 * @returns {Rational} exact for polynomials of degree 0 and 1, and where the maximum is at an end
 */
export function polynomialMaximum(coefficients, from, to) {
  const own = withoutLeadingZeros(coefficients);
  const values = own.length === 0 ? [ZERO] : own;
  const shifted = shiftedAndScaled(values, from, to.minus(from));
  const room = smaller(sizeAt(larger(from.absolute(), to.absolute()), values), sizeAt(ONE, shifted)).scaled(-ROOM_BITS);
  let boxes = [bernstein(shifted)];
  let attained = larger(boxes[0][0], boxes[0][values.length - 1]);
  let bound = attained;
  while (boxes.length > 0) {
    /** @type {Rational[][]} */
    const next = [];
    for (const box of boxes) {
      if (isMonotone(box)) continue;
      const most = largest(box);
      if (most.atMost(attained.plus(room))) {
        bound = larger(bound, most);
        continue;
      }
      const [left, right] = halves(box);
      attained = larger(attained, right[0]);
      next.push(left, right);
    }
    boxes = next;
  }
  return larger(bound, attained);
}

/** @param {Rational[]} coefficients */
function withoutLeadingZeros(coefficients) {
  let length = coefficients.length;
  while (length > 0 && coefficients[length - 1].isZero()) length -= 1;
  return coefficients.slice(0, length);
}

/**
 * @param {Rational} place
 * @param {Rational[]} coefficients
 */
function sizeAt(place, coefficients) {
  return coefficients.reduceRight((total, coefficient) => total.times(place).plus(coefficient.absolute()), ZERO);
}

/** @param {Rational[]} shifted the coefficients in t, which goes from 0 to 1 */
function bernstein(shifted) {
  const degree = shifted.length - 1;
  return shifted.map((_, i) => {
    let total = ZERO;
    for (let j = 0; j <= i; j++) {
      const factor = Rational.fraction(binomial(i, j), binomial(degree, j));
      total = total.plus(factor.times(shifted[j]));
    }
    return total;
  });
}

/**
 * The coefficients in t of the polynomial at x = start + width t.
 * @param {Rational[]} coefficients
 * @param {Rational} start
 * @param {Rational} width
 */
function shiftedAndScaled(coefficients, start, width) {
  const result = coefficients.slice();
  for (let i = 0; i < result.length; i++) {
    for (let j = result.length - 2; j >= i; j--) result[j] = result[j].plus(start.times(result[j + 1]));
  }
  let power = Rational.of(1);
  return result.map((coefficient) => {
    const value = coefficient.times(power);
    power = power.times(width);
    return value;
  });
}

/**
 * @param {number} n
 * @param {number} k
 */
function binomial(n, k) {
  let value = 1n;
  for (let i = 0; i < k; i++) value = (value * BigInt(n - i)) / BigInt(i + 1);
  return value;
}

/**
 * If the coefficients only rise, or only fall, so does the polynomial, and its maximum is at an end of the box.
 * @param {Rational[]} box
 */
function isMonotone(box) {
  let [rises, falls] = [false, false];
  for (let i = 1; i < box.length; i++) {
    const order = box[i].compare(box[i - 1]);
    if (order > 0) rises = true;
    if (order < 0) falls = true;
  }
  return !(rises && falls);
}

/**
 * De Casteljau's halving.
 * @param {Rational[]} box
 * @returns {[Rational[], Rational[]]}
 */
function halves(box) {
  const left = [box[0]];
  const right = [box[box.length - 1]];
  let row = box;
  while (row.length > 1) {
    const previous = row;
    row = previous.slice(1).map((value, i) => value.plus(previous[i]).half());
    left.push(row[0]);
    right.unshift(row[row.length - 1]);
  }
  return [left, right];
}
