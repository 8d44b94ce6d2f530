/** The body `affine` (section 2, "Model") and its separable form f(x) = bias' + sum_k phi_k(x_k). */

import { Rational, sum, ZERO } from '../exact/rational.js';
import { readArray, readObject } from '../file/fields.js';
import { positionOf } from '../claim/space.js';
import { pieceOf, polynomialValue, readCoefficient, readColumn } from './columns.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('./columns.js').Column} Column
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

/**
 * What one feature adds to a score.
 * @typedef {{kind: 'linear', slope: Rational}
 *   | {kind: 'table', values: Rational[]}
 *   | {kind: 'pieces', cuts: Rational[], pieces: Rational[][]}} Phi
 */

/** A score as a number plus one function a feature. */
export class SeparableForm {
  /**
   * @param {Rational} bias
   * @param {Phi[]} phi
   */
  constructor(bias, phi) {
    this.bias = bias;
    this.phi = phi;
  }

  /** @param {Rational[]} codes */
  value(codes) {
    return this.phi.reduce((total, phi, k) => total.plus(phiValue(phi, codes[k])), this.bias);
  }
}

/**
 * @param {Phi} phi
 * @param {Rational} code
 */
function phiValue(phi, code) {
  if (phi.kind === 'linear') return phi.slope.times(code);
  if (phi.kind === 'table') return phi.values[positionOf(code)];
  return polynomialValue(phi.pieces[pieceOf(phi.cuts, code)], code);
}

/** @param {Phi} phi */
function isConstantPhi(phi) {
  if (phi.kind === 'linear') return phi.slope.isZero();
  if (phi.kind === 'table') return phi.values.every((value) => value.equals(phi.values[0]));
  const [first] = phi.pieces;
  return phi.pieces.every((piece) => piece[0].equals(first[0]) && piece.slice(1).every((coefficient) => coefficient.isZero()));
}

export class AffineBody {
  kind = /** @type {const} */ ('affine');
  irrational = false;

  /**
   * @param {Space} space
   * @param {Rational[]} bias one number a score
   * @param {Column[]} columns
   * @param {Rational[][]} weights a column's, one number a score
   */
  constructor(space, bias, columns, weights) {
    this.space = space;
    this.bias = bias;
    this.columns = columns;
    this.weights = weights;
    this.scores = bias.length;
    /** @type {SeparableForm[]} */
    this.forms = bias.map((_, score) => this.form(unitVector(bias.length, score), ZERO));
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    return this.forms.map((form) => form.value(codes));
  }

  /** @param {number} k a feature: does no score change with it? (section 4, "independent") */
  isConstant(k) {
    return this.forms.every((form) => isConstantPhi(form.phi[k]));
  }

  /** @returns {string[]} */
  packs() {
    return this.columns.some((column) => column.kind === 'pieces') ? ['pieces'] : [];
  }

  /**
   * The score alpha . f + shift in separable form (sections 2 and 10).
   * @param {Rational[]} alpha
   * @param {Rational} shift
   */
  form(alpha, shift) {
    const weightOf = this.weights.map((weights) => dot(alpha, weights));
    let bias = shift.plus(dot(alpha, this.bias));
    /** @type {number[][]} */
    const columnsOf = this.space.features.map(() => []);
    this.columns.forEach((column, c) => {
      columnsOf[column.feature].push(c);
      if (column.kind === 'linear') bias = bias.plus(weightOf[c].times(column.offset));
    });
    const phi = this.space.features.map((feature, k) => {
      const columns = columnsOf[k].map((c) => ({ column: this.columns[c], weight: weightOf[c] }));
      return feature.levels === null ? phiOfNumber(columns) : phiOfLevels(columns, feature.levels.length);
    });
    return new SeparableForm(bias, phi);
  }
}

/** @typedef {{column: Column, weight: Rational}} WeightedColumn */

/**
 * @param {WeightedColumn[]} columns
 * @param {number} count
 * @returns {Phi}
 */
function phiOfLevels(columns, count) {
  const values = Array.from({ length: count }, (_, position) =>
    sum(columns.map(({ column, weight }) => (column.kind === 'table' ? weight.times(column.table[position]) : ZERO))),
  );
  return { kind: 'table', values };
}

/**
 * Linear if no column is in pieces; else in pieces whose cuts are those of all columns of the feature.
 * @param {WeightedColumn[]} columns
 * @returns {Phi}
 */
function phiOfNumber(columns) {
  const slope = sum(columns.map(({ column, weight }) => (column.kind === 'linear' ? weight.times(column.slope) : ZERO)));
  const inPieces = columns.flatMap(({ column, weight }) => (column.kind === 'pieces' ? [{ column, weight }] : []));
  if (inPieces.length === 0) return { kind: 'linear', slope };
  const cuts = mergedCuts(inPieces.map(({ column }) => column.cuts));
  const pieces = Array.from({ length: cuts.length + 1 }, (_, i) => {
    const total = [ZERO, slope];
    for (const { column, weight } of inPieces) {
      // Piece i ends at cut i, which lies in exactly one piece of the column; the last one has no end.
      const own = i < cuts.length ? pieceOf(column.cuts, cuts[i]) : column.cuts.length;
      column.pieces[own].forEach((coefficient, power) => {
        total[power] = (total[power] ?? ZERO).plus(weight.times(coefficient));
      });
    }
    return total;
  });
  return { kind: 'pieces', cuts, pieces };
}

/** @param {Rational[][]} lists */
export function mergedCuts(lists) {
  const sorted = lists.flat().sort((a, b) => a.compare(b));
  return sorted.filter((cut, i) => i === 0 || !cut.equals(sorted[i - 1]));
}

/**
 * @param {Rational[]} alpha
 * @param {Rational[]} values
 */
export function dot(alpha, values) {
  return values.reduce((total, value, i) => (alpha[i].isZero() ? total : total.plus(alpha[i].times(value))), ZERO);
}

/**
 * @param {number} length
 * @param {number} place
 */
export function unitVector(length, place) {
  return Array.from({ length }, (_, i) => Rational.of(i === place ? 1 : 0));
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 */
export function readAffine(json, context) {
  const part = readObject(json, 'body', ['kind', 'bias', 'columns']);
  const bias = readCoefficient(part('bias'), 'bias', context);
  const items = readArray(part('columns'), 'columns');
  const columns = items.map((item) => readColumn(item, context.space, ['weight']));
  const weights = items.map((item) => readCoefficient(/** @type {Map<string, Json>} */ (item).get('weight'), 'weight', context));
  return new AffineBody(context.space, bias, columns, weights);
}

