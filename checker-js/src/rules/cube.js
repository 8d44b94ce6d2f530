/** A cell as a cube: columns and codes as functions of axes y_i with abs(y_i) <= 1 (sections 8 and 23, "Axes of a cell"). */

import { AxesPolynomial } from '../exact/axes-polynomial.js';
import { larger, ONE, Rational, smaller } from '../exact/rational.js';
import { isNear, related } from '../claim/similarity.js';
import { positionOf } from '../claim/space.js';
import { piecesOn } from './cube-pieces.js';
import { pairedSpans, spanOf } from './paired.js';

/**
 * @typedef {import('../bodies/columns.js').Column} Column
 * @typedef {import('../bodies/columns.js').PiecesColumn} PiecesColumn
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 */

/**
 * @typedef {object} Group axes that depend on one code
 * @property {number[]} axes
 * @property {Rational[][] | null} places the values of the axes at each place; null for all of abs(y) <= 1
 */

const MOST_PLACES = 1024n;

export class Cube {
  constructor() {
    this.axes = 0;
    /** @type {Group[]} */
    this.groups = [];
    /** @type {number[]} the group of each axis */
    this.groupOf = [];
    /** @type {[AxesPolynomial[], AxesPolynomial[]]} the columns at x and at x' */
    this.columns = [[], []];
    /** @type {[Map<number, AxesPolynomial>, Map<number, AxesPolynomial>]} the codes of numeric features at x and at x' */
    this.codes = [new Map(), new Map()];
  }

  /**
   * @param {number} count
   * @param {Rational[][] | null} places
   * @returns {number} the first of the new axes
   */
  addGroup(count, places) {
    const first = this.axes;
    const axes = Array.from({ length: count }, (_, i) => first + i);
    for (const axis of axes) this.groupOf[axis] = this.groups.length;
    this.groups.push({ axes, places });
    this.axes += count;
    return first;
  }
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {Column[]} columns
 * @returns {Cube | null} null if the cell holds no pair
 */
export function cubeOf(geometry, cell, columns) {
  const cube = new Cube();
  for (let k = 0; k < geometry.space.features.length; k++) {
    const own = columns.flatMap((column, c) => (column.feature === k ? [{ column, c }] : []));
    const isNumeric = geometry.space.features[k].levels === null;
    const possible = isNumeric ? addNumeric(cube, geometry, cell, k) : addLevels(cube, geometry, cell, k, own);
    if (!possible) return null;
    if (!isNumeric) continue;
    for (const copy of /** @type {const} */ ([0, 1])) {
      const code = /** @type {AxesPolynomial} */ (cube.codes[copy].get(k));
      for (const { column, c } of own) {
        if (column.kind === 'table') throw new Error('a table on a numeric feature');
        if (column.kind === 'linear') cube.columns[copy][c] = AxesPolynomial.constant(column.offset).addMultiple(code, column.slope);
      }
    }
    addPieces(cube, geometry, cell, k, own.flatMap(({ column, c }) => (column.kind === 'pieces' ? [{ column, c }] : [])));
  }
  return cube;
}

/**
 * @param {Cube} cube with the axes of the feature itself
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k a numeric feature
 * @param {{column: PiecesColumn, c: number}[]} columns of it
 */
function addPieces(cube, { space, similarity, first, second }, cell, k, columns) {
  if (columns.length === 0) return;
  const { discrete } = space.features[k];
  const on = (/** @type {number} */ v, /** @type {(0 | 1)[]} */ copies) => {
    const code = /** @type {AxesPolynomial} */ (cube.codes[copies[0]].get(k));
    piecesOn(cube, columns, { lo: cell.lo[v], hi: cell.hi[v], discrete }, code, copies);
  };
  on(first[k], similarity[k].kind === 'same' ? [0, 1] : [0]);
  if (similarity[k].kind !== 'same') on(second[k], [1]);
}

/**
 * @param {Cube} cube
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k
 * @returns {boolean} whether there may be a pair
 */
function addNumeric(cube, geometry, cell, k) {
  const { kind } = geometry.similarity[k];
  if (isNear(geometry.similarity[k])) {
    const spans = pairedSpans(geometry, cell, k);
    if (spans === null) return false;
    const { u, d } = spans;
    /** @type {[number, Rational][]} */
    const slopes = [];
    if (u.width.sign() > 0) slopes.push([cube.addGroup(1, null), u.width]);
    const uSlopes = slopes.slice();
    if (d.width.sign() > 0) slopes.push([cube.addGroup(1, null), d.width]);
    const dSlopes = slopes.slice(uSlopes.length);
    const middle = AxesPolynomial.affine(u.middle, uSlopes);
    const half = AxesPolynomial.affine(d.middle, dSlopes);
    cube.codes[0].set(k, new AxesPolynomial().addMultiple(middle, ONE).addMultiple(half, ONE.negated()));
    cube.codes[1].set(k, new AxesPolynomial().addMultiple(middle, ONE).addMultiple(half, ONE));
    return true;
  }
  const code = codeOn(cube, geometry, cell, k, geometry.first[k]);
  cube.codes[0].set(k, code);
  cube.codes[1].set(k, kind === 'same' ? code : codeOn(cube, geometry, cell, k, geometry.second[k]));
  return true;
}

/**
 * The code of one variable on an axis of its own, if it is not fixed.
 * @param {Cube} cube
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k
 * @param {number} v
 */
function codeOn(cube, geometry, cell, k, v) {
  const { middle, width } = spanOf(cell.lo[v], cell.hi[v]);
  if (width.isZero()) return AxesPolynomial.constant(middle);
  const count = width.scaled(1).floor() + 1n;
  /** @type {Rational[][] | null} */
  let places = null;
  if (geometry.space.features[k].discrete && count <= MOST_PLACES) {
    places = Array.from({ length: Number(count) }, (_, i) => [cell.lo[v].plus(Rational.of(i)).minus(middle).over(width)]);
  }
  return AxesPolynomial.affine(middle, [[cube.addGroup(1, places), width]]);
}

/**
 * @param {Cube} cube
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k
 * @param {{column: Column, c: number}[]} columns of the feature
 * @returns {boolean} whether there may be a pair
 */
function addLevels(cube, geometry, cell, k, columns) {
  const relation = geometry.similarity[k];
  const [i, j] = [geometry.first[k], geometry.second[k]];
  if (relation.kind !== 'same' && geometry.isFixed(k, cell)) {
    if (!related(geometry.space.features[k], relation, cell.lo[i], cell.lo[j])) return false;
  }
  columnsOn(cube, cell, i, columns, relation.kind === 'same' ? [0, 1] : [0]);
  if (relation.kind !== 'same') columnsOn(cube, cell, j, columns, [1]);
  return true;
}

/**
 * @param {Cube} cube
 * @param {Cell} cell
 * @param {number} v
 * @param {{column: Column, c: number}[]} columns
 * @param {(0 | 1)[]} copies
 */
function columnsOn(cube, cell, v, columns, copies) {
  const [first, last] = [positionOf(cell.lo[v]), positionOf(cell.hi[v])];
  /** @type {{c: number, entries: Rational[], middle: Rational, width: Rational}[]} */
  const moving = [];
  for (const { column, c } of columns) {
    if (column.kind !== 'table') throw new Error('a slope on a levels kind');
    const entries = column.table.slice(first, last + 1);
    const { middle, width } = spanOf(entries.reduce(smaller), entries.reduce(larger));
    if (width.isZero()) for (const copy of copies) cube.columns[copy][c] = AxesPolynomial.constant(middle);
    else moving.push({ c, entries, middle, width });
  }
  if (moving.length === 0) return;
  const places = Array.from({ length: last - first + 1 }, (_, place) =>
    moving.map(({ entries, middle, width }) => entries[place].minus(middle).over(width)),
  );
  const axis = cube.addGroup(moving.length, places);
  moving.forEach(({ c, middle, width }, n) => {
    for (const copy of copies) cube.columns[copy][c] = AxesPolynomial.affine(middle, [[axis + n, width]]);
  });
}

