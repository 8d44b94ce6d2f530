/** Columns: what a model sees of one feature (section 2, "Model"; without weights also sections 7, 8 and 15). */

import { Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readIndex, readNumbers, readNumbersOf, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { positionOf } from '../claim/space.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/space.js').Space} Space
 */

/**
 * @typedef {{kind: 'linear', feature: number, slope: Rational, offset: Rational}} LinearColumn
 * @typedef {{kind: 'table', feature: number, table: Rational[]}} TableColumn
 * @typedef {{kind: 'pieces', feature: number, cuts: Rational[], pieces: Rational[][]}} PiecesColumn
 * @typedef {LinearColumn | TableColumn} PlainColumn
 * @typedef {PlainColumn | PiecesColumn} Column
 */

/**
 * How the bodies of a model are read: the space they speak of, and how many scores they have (null: one, not in an array).
 * @typedef {{space: Space, scores: number | null}} BodyContext
 */

/**
 * A coefficient of a body: one number, or with several scores an array of them (section 10).
 * @param {Json | undefined} json
 * @param {string} what
 * @param {BodyContext} context
 * @returns {Rational[]}
 */
export function readCoefficient(json, what, { scores }) {
  return scores === null ? [readNumber(json, what)] : readNumbersOf(json, what, scores);
}

/**
 * Columns without weights.
 * @param {Json} json
 * @param {Space} space
 * @returns {PlainColumn[]}
 */
export function readPlainColumns(json, space) {
  return readArray(json, 'columns').map((item) => {
    const column = readColumn(item, space, []);
    return column.kind === 'pieces' ? reject('a column in pieces does not belong here') : column;
  });
}

/**
 * @param {Json} json
 * @param {Space} space
 * @param {string[]} more keys that a column has besides
 * @returns {Column}
 */
export function readColumn(json, space, more) {
  if (!(json instanceof Map)) return reject('column: not an object');
  const index = readIndex(json.get('feature'), 'feature of a column', space.features.length);
  const { name, levels } = space.features[index];
  const what = `column of ${name}`;
  if (levels !== null) {
    const part = readObject(json, what, ['feature', 'table', ...more]);
    return { kind: 'table', feature: index, table: readNumbersOf(part('table'), what, levels.length) };
  }
  if (json.has('cuts')) return { feature: index, ...readPieces(json, what, more) };
  const part = readObject(json, what, ['feature', 'slope', 'offset', ...more]);
  return { kind: 'linear', feature: index, slope: readNumber(part('slope'), what), offset: readNumber(part('offset'), what) };
}

/**
 * @param {Json} json
 * @param {string} what
 * @param {string[]} more
 * @returns {{kind: 'pieces', cuts: Rational[], pieces: Rational[][]}}
 */
function readPieces(json, what, more) {
  const part = readObject(json, what, ['feature', 'cuts', 'pieces', ...more]);
  const cuts = readNumbers(part('cuts'), what);
  require(cuts.length <= MAXIMUM.cuts, `${what}: more than ${MAXIMUM.cuts} cuts`);
  require(cuts.every((cut, i) => i === 0 || cuts[i - 1].less(cut)), `${what}: cuts are not strictly increasing`);
  const pieces = readArray(part('pieces'), what).map((item) => readNumbers(item, what));
  require(pieces.length === cuts.length + 1, `${what}: not one piece more than cuts`);
  require(pieces.every(({ length }) => 1 <= length && length <= 6), `${what}: a piece without 1 to 6 coefficients`);
  return { kind: 'pieces', cuts, pieces };
}

/**
 * @param {Column} column
 * @param {Rational} code
 */
export function columnValue(column, code) {
  if (column.kind === 'pieces') return polynomialValue(column.pieces[pieceOf(column.cuts, code)], code);
  return column.kind === 'table' ? column.table[positionOf(code)] : column.offset.plus(column.slope.times(code));
}

/**
 * Whether a column is the same at all codes, by itself.
 * @param {Column} column
 */
export function isConstantColumn(column) {
  if (column.kind === 'pieces') {
    const [[first]] = column.pieces;
    return column.pieces.every(([own, ...higher]) => own.equals(first) && higher.every((coefficient) => coefficient.isZero()));
  }
  return column.kind === 'table' ? column.table.every((entry) => entry.equals(column.table[0])) : column.slope.isZero();
}

/**
 * The place of a code among cuts: a code at a cut belongs to the piece on its left.
 * @param {Rational[]} cuts
 * @param {Rational} code
 * @returns {number} how many cuts are smaller than the code
 */
export function pieceOf(cuts, code) {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts[middle].less(code)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * @param {Rational[]} coefficients c_0, c_1, ...
 * @param {Rational} x
 */
export function polynomialValue(coefficients, x) {
  return coefficients.reduceRight((value, coefficient) => value.times(x).plus(coefficient), ZERO);
}
