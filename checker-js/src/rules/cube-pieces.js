/** Columns in pieces as functions of axes (section 23, "Axes of a cell"): affine ones, with axes for what is left. */

import { AxesPolynomial } from '../exact/axes-polynomial.js';
import { larger, ONE, Rational, smaller, ZERO } from '../exact/rational.js';
import { mergedCuts } from '../bodies/affine.js';
import { pieceOf, polynomialValue } from '../bodies/columns.js';
import { spanOf } from './paired.js';
import { partsOf } from './pieces.js';

/**
 * @typedef {import('../bodies/columns.js').PiecesColumn} PiecesColumn
 * @typedef {import('./cube.js').Cube} Cube
 */

/**
 * A column on one of its parts: coefficients in s = x_k - m, abs(s) <= w.
 * @typedef {{middle: Rational, width: Rational, coefficients: Rational[]}} LocalPart
 */

/**
 * @param {Cube} cube
 * @param {{column: PiecesColumn, c: number}[]} columns of one feature
 * @param {{lo: Rational, hi: Rational, discrete: boolean}} variable the interval of its code
 * @param {AxesPolynomial} code of it, in axes
 * @param {(0 | 1)[]} copies
 */
export function piecesOn(cube, columns, { lo, hi, discrete }, code, copies) {
  const local = columns.map(({ column, c }) => ({ column, c, parts: partsOf(column.cuts, lo, hi, discrete).map((part) => localPart(column, part)) }));
  const place = (/** @type {number} */ c, /** @type {AxesPolynomial} */ value) => {
    for (const copy of copies) cube.columns[copy][c] = value;
  };
  const havePlaces = local.every(({ parts }) => parts.every((part) => reachOf(part).isZero()));
  /** @type {{column: PiecesColumn, c: number, middle: Rational, width: Rational}[]} the columns of the group with places */
  const moving = [];
  for (const { column, c, parts } of local) {
    const { middle, width } = rangeOf(parts);
    if (parts.length === 1) place(c, onePart(cube, parts[0], code));
    else if (width.isZero()) place(c, AxesPolynomial.constant(middle));
    else if (havePlaces) moving.push({ column, c, middle, width });
    else place(c, AxesPolynomial.affine(middle, [[cube.addGroup(1, null), width]]));
  }
  if (moving.length === 0) return;
  // The end of a part belongs to its piece (a code at a cut belongs to the piece on its left).
  const places = partsOf(mergedCuts(columns.map(({ column }) => column.cuts)), lo, hi, discrete).map(({ to }) =>
    moving.map(({ column, middle, width }) => polynomialValue(column.pieces[pieceOf(column.cuts, to)], to).minus(middle).over(width)),
  );
  const axis = cube.addGroup(moving.length, places);
  moving.forEach(({ c, middle, width }, n) => place(c, AxesPolynomial.affine(middle, [[axis + n, width]])));
}

/**
 * @param {PiecesColumn} column
 * @param {import('./pieces.js').Part} part
 * @returns {LocalPart}
 */
function localPart(column, { piece, from, to }) {
  const { middle, width } = spanOf(from, to);
  const coefficients = column.pieces[piece].slice();
  for (let i = 0; i < coefficients.length; i++) {
    for (let j = coefficients.length - 2; j >= i; j--) coefficients[j] = coefficients[j].plus(middle.times(coefficients[j + 1]));
  }
  return { middle, width, coefficients };
}

/**
 * @param {LocalPart} part
 * @returns {Rational[]} abs(c_i) w^i
 */
function sizesOf({ width, coefficients }) {
  let power = ONE;
  return coefficients.map((coefficient) => {
    const size = coefficient.absolute().times(power);
    power = power.times(width);
    return size;
  });
}

/**
 * @param {LocalPart} part
 * @returns {Rational} e, how far from c_0 the column can be on the part
 */
function reachOf(part) {
  return sizesOf(part).slice(1).reduce((total, size) => total.plus(size), ZERO);
}

/**
 * @param {LocalPart[]} parts
 * @returns {import('./paired.js').Span} that holds the column on all of them
 */
function rangeOf(parts) {
  const ends = parts.map((part) => ({ middle: part.coefficients[0], reach: reachOf(part) }));
  return spanOf(
    ends.map(({ middle, reach }) => middle.minus(reach)).reduce(smaller),
    ends.map(({ middle, reach }) => middle.plus(reach)).reduce(larger),
  );
}

/**
 * c_0 + c_1 (x_k - m) + v + u y: even powers of s are from 0 to w^i, odd ones from -w^i to w^i.
 * @param {Cube} cube
 * @param {LocalPart} part
 * @param {AxesPolynomial} code
 */
function onePart(cube, part, code) {
  const { middle, coefficients } = part;
  let [v, u] = [ZERO, ZERO];
  sizesOf(part).forEach((size, i) => {
    if (i < 2) return;
    if (i % 2 === 1) {
      u = u.plus(size);
    } else {
      u = u.plus(size.half());
      v = coefficients[i].sign() > 0 ? v.plus(size.half()) : v.minus(size.half());
    }
  });
  const slope = coefficients[1] ?? ZERO;
  const constant = coefficients[0].minus(slope.times(middle)).plus(v);
  const rest = AxesPolynomial.affine(constant, u.isZero() ? [] : [[cube.addGroup(1, null), u]]);
  return rest.addMultiple(code, slope);
}
