/** The maximum of a separable majorant of a sum of cubics (section 7, "A separable majorant", after the table). */

import { polynomialMaximum } from '../exact/polynomial-maximum.js';
import { polynomialValue } from '../bodies/columns.js';
import { ONE, Rational, ZERO } from '../exact/rational.js';
import { absolute } from './fixed-point.js';
import { KernelAmounts, largestOf, meanOf } from './kernel-amounts.js';

/**
 * The right side: an upper bound of the sum at all y and v, in ulps.
 * @param {KernelAmounts} amounts used up by this
 * @param {bigint[]} hints
 */
export function kernelMaximum(amounts, hints) {
  closeMixed(amounts);
  closePairs(amounts);
  closeProducts(amounts, hints);
  const tables = amounts.tables.reduce((total, table, i) => total + largestOf(table.map((amount, v) => amount - amounts.takenLater[i][v])), 0n);
  const numeric = amounts.axes.numeric.reduce((total, _, f) => total + maximumOnAxis(amounts, f), 0n);
  return amounts.constant + tables + numeric + amounts.roundings;
}

/**
 * (N1[v] - mean) y + (N2[v] - mean) y^2, at its largest, goes to the table; the means go to the axis.
 * @param {KernelAmounts} amounts
 */
function closeMixed({ axes, first, second, tables, n1, n2 }) {
  axes.oneHot.forEach((_, i) => {
    axes.numeric.forEach((__, f) => {
      const [one, two] = [first[i][f], second[i][f]];
      const [meanOne, meanTwo] = [meanOf(one), meanOf(two)];
      n1[f] += meanOne;
      n2[f] += meanTwo;
      one.forEach((amount, v) => (tables[i][v] += quadraticMaximum(amount - meanOne, two[v] - meanTwo)));
    });
  });
}

/**
 * S[v, u] = pair[v, u] + table_i[v] + table_j[u] is at most max_u S / 2 + max_v S / 2.
 * @param {KernelAmounts} amounts
 */
function closePairs({ tables, pairs }) {
  for (let i = 0; i < tables.length; i++) {
    for (let j = i + 1; j < tables.length; j++) {
      const sums = tables[i].map((a, v) => tables[j].map((b, u) => pairs[i][j][v][u] + a + b));
      tables[i] = sums.map((row) => halfUp(largestOf(row)));
      tables[j] = tables[j].map((_, u) => halfUp(largestOf(sums.map((row) => row[u]))));
    }
  }
}

/**
 * G y_f y_l <= |G| ((y_f^2 + y_l^2)/2 - tau (y_f - sigma y_l) + tau^2/2), tau = (e_f - sigma e_l)/64. As y_p = y_u y_d,
 * n1 of an axis p is one of these products first.
 * @param {KernelAmounts} amounts
 * @param {bigint[]} hints
 */
function closeProducts(amounts, hints) {
  const { numeric } = amounts.axes;
  const { n1, n2 } = amounts;
  numeric.forEach(({ product }, p) => {
    if (product === null) return;
    amounts.addProduct(product[0], product[1], n1[p]);
    n1[p] = 0n;
  });
  for (const [key, amount] of amounts.products) {
    const [f, l] = [Math.floor(key / numeric.length), key % numeric.length];
    const size = absolute(amount);
    const sigma = amount >= 0n ? 1n : -1n;
    const tau64 = hints[numeric[f].hint] - sigma * hints[numeric[l].hint];
    n2[f] += halfUp(size);
    n2[l] += halfUp(size);
    // Both linear amounts and the constant are rounded by less than an ulp each.
    n1[f] -= (size * tau64) >> 6n;
    n1[l] += sigma * ((size * tau64) >> 6n);
    amounts.constant += ((size * tau64 * tau64) >> 13n) + 3n;
  }
}

/**
 * The maximum of n1 y + n2 y^2 + n3 y^3, at the values that occur or over abs(y) <= 1.
 * @param {KernelAmounts} amounts
 * @param {number} f
 */
function maximumOnAxis({ axes, n1, n2, n3 }, f) {
  const cubic = [ZERO, Rational.of(n1[f]), Rational.of(n2[f]), Rational.of(n3[f])];
  const { values } = axes.numeric[f];
  if (values === null) return polynomialMaximum(cubic, ONE.negated(), ONE).ceil();
  return largestOf(values.map((y) => polynomialValue(cubic, y).ceil()));
}

/** @param {bigint} value */
function halfUp(value) {
  return -(-value >> 1n);
}

/**
 * The maximum of a y + b y^2 over abs(y) <= 1, rounded up: inside if b < 0 and abs(a) <= -2b, else at an end.
 * @param {bigint} a
 * @param {bigint} b
 */
function quadraticMaximum(a, b) {
  const size = absolute(a);
  if (b < 0n && size <= -2n * b) return (size * size) / (-4n * b) + 1n;
  return size + b;
}
