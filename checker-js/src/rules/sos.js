/** The rule `sos` (section 8): squares times what is nonnegative in the cell, added before the majorant is taken. */

import { AxesPolynomial, axisProduct, multiplyProducts } from '../exact/axes-polynomial.js';
import { ONE, Rational } from '../exact/rational.js';
import { readArray, readArrayOf, readIndex, readInt } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { positionOf } from '../claim/space.js';
import { Cube, cubeOf } from './cube.js';
import { majorantMaximum } from './majorant.js';
import { concludeFromExcess, excessOf, polynomialBody } from './polynomial.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

const MOST_BITS = 200n;
const MOST_FACTORS = 8;
const HIGHEST_DEGREE = 8;
/** Ints in squares have no limit of their own but that of section 1. */
const ANY = 10n ** BigInt(MAXIMUM.intCharacters);

/**
 * `["sos", way, bits, [[generator, mu, [square, ...]], ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function sos(context, cell, json) {
  const body = polynomialBody(context);
  readArrayOf(json, 'sos', 4);
  const cube = cubeOf(context.geometry, cell, body.columns);
  if (cube === null) return { clearance: null, line: null };
  const line = context.readLine(json[1], true);
  const bits = Number(readInt(json[2], 'bits', 0n, MOST_BITS));
  const bounded = excessOf(context, body, cube, line);
  for (const item of readArray(json[3], 'generators')) {
    context.clock.look();
    const [factors, mu, squares] = readArrayOf(item, 'generator', 3);
    const multiplier = readMultiplier(mu, squares, bits, cube);
    const generator = readGenerator(context, cell, cube, factors);
    require(generator.terms.size * multiplier.terms.size <= MAXIMUM.products, 'sos: too many products');
    bounded.addMultiple(generator.times(multiplier), ONE);
  }
  const noHints = Array.from({ length: cube.axes }, () => 0n);
  const { clearance } = concludeFromExcess(context, line, majorantMaximum(cube, bounded, noHints));
  return { clearance, line: null };
}

/**
 * mu + the sum of the squares.
 * @param {Json} muJson
 * @param {Json} squaresJson
 * @param {number} bits
 * @param {Cube} cube
 */
function readMultiplier(muJson, squaresJson, bits, cube) {
  const mu = readInt(muJson, 'mu', 0n, ANY);
  const squares = readArray(squaresJson, 'squares').map((square) =>
    readArray(square, 'square').map((item) => readInt(item, 'coefficient of a square', -ANY, ANY)),
  );
  const longest = squares.reduce((most, square) => Math.max(most, square.length), 0);
  require(squares.length * longest * longest <= MAXIMUM.products, 'sos: too many products');
  const products = productsInGradedOrder(cube.axes, longest);
  const total = AxesPolynomial.constant(Rational.dyadic(mu, -2 * bits));
  for (let i = 0; i < longest; i++) {
    for (let j = i; j < longest; j++) {
      let factor = 0n;
      for (const square of squares) if (j < square.length) factor += square[i] * square[j];
      if (factor !== 0n) total.addTerm(multiplyProducts(products[i], products[j]), Rational.dyadic(i === j ? factor : 2n * factor, -2 * bits));
    }
  }
  return total;
}

/**
 * 1; y_0, y_1, ...; y_0 y_0, y_0 y_1, ...: by degree, then by indices.
 * @param {number} axes
 * @param {number} count
 * @returns {string[]}
 */
function productsInGradedOrder(axes, count) {
  const products = [''];
  let degree = [''];
  for (let d = 1; d <= HIGHEST_DEGREE && products.length < count; d++) {
    /** @type {string[]} */
    const next = [];
    for (const product of degree) {
      if (products.length + next.length >= count) break;
      const last = product === '' ? 0 : product.charCodeAt(product.length - 1);
      for (let axis = last; axis < axes; axis++) next.push(product + axisProduct(axis));
    }
    products.push(...next);
    degree = next;
  }
  require(count <= products.length, 'sos: a square has more coefficients than there are products of degree 8');
  return products.slice(0, Math.max(count, 1));
}

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Cube} cube
 * @param {Json} json
 */
function readGenerator(context, cell, cube, json) {
  const factors = readArray(json, 'generator');
  require(factors.length <= MOST_FACTORS, `sos: a generator of more than ${MOST_FACTORS} factors`);
  return factors.reduce((/** @type {AxesPolynomial} */ product, item) => {
    const factor = readFactor(context, cell, cube, item);
    require(product.terms.size * factor.terms.size <= MAXIMUM.products, 'sos: too many products');
    return product.times(factor);
  }, AxesPolynomial.constant(ONE));
}

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Cube} cube
 * @param {Json} json
 * @returns {AxesPolynomial} what is nonnegative at every pair of the cell
 */
function readFactor(context, cell, cube, json) {
  if (typeof json === 'bigint') {
    const size = json < 0n ? -json : json;
    const axis = readIndex(size - 1n, 'axis of a factor', cube.axes);
    return AxesPolynomial.affine(ONE, [[axis, json > 0n ? ONE : ONE.negated()]]);
  }
  const [i, j] = readArrayOf(json, 'factor', 2);
  if (i === -1n) {
    const index = readIndex(j, 'constraint of a factor', 2 * context.claim.space.constraints.length);
    return constraintFactor(context, cell, cube, index);
  }
  return gapFactor(cube, readIndex(i, 'axis of a factor', cube.axes), j);
}

/**
 * (y_i - c_j)(y_i - c_(j+1)) of two places next to each other.
 * @param {Cube} cube
 * @param {number} axis
 * @param {Json} json
 */
function gapFactor(cube, axis, json) {
  const { axes, places } = cube.groups[cube.groupOf[axis]];
  if (places === null) return reject('sos: a gap on an axis without places');
  const sorted = places.map((place) => place[axis - axes[0]]).sort((a, b) => a.compare(b));
  const values = sorted.filter((value, n) => n === 0 || !value.equals(sorted[n - 1]));
  const j = readIndex(json, 'gap of a factor', values.length - 1);
  const left = AxesPolynomial.affine(values[j].negated(), [[axis, ONE]]);
  return left.times(AxesPolynomial.affine(values[j + 1].negated(), [[axis, ONE]]));
}

/**
 * -h_j at x or at x', in terms of axes.
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Cube} cube
 * @param {number} index
 */
function constraintFactor({ geometry }, cell, cube, index) {
  const { constraints } = geometry.space;
  /** @type {0 | 1} */
  const copy = index < constraints.length ? 0 : 1;
  const { terms, bound } = constraints[index % constraints.length];
  const total = AxesPolynomial.constant(bound);
  for (const { feature, factor, amounts } of terms) {
    if (factor !== null) {
      total.addMultiple(/** @type {AxesPolynomial} */ (cube.codes[copy].get(feature)), factor.negated());
      continue;
    }
    const v = copy === 0 ? geometry.first[feature] : geometry.second[feature];
    require(cell.lo[v].equals(cell.hi[v]), 'sos: a constraint on levels that are not fixed in the cell');
    const amount = /** @type {Rational[]} */ (amounts)[positionOf(cell.lo[v])];
    total.addTerm('', amount.negated());
  }
  return total;
}

