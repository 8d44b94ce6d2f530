/**
 * The maximum over the pairs of a cell of a separable form at x plus a separable form at x', feature by feature (section 4,
 * "separable": B is computed feature by feature).
 */

import { largest, largerOfMaxima, Rational, ZERO } from '../exact/rational.js';
import { isNear } from '../claim/similarity.js';
import { positionOf } from '../claim/space.js';
import { SeparableForm } from '../bodies/affine.js';
import { maximumWithCost } from './cost-maximum.js';
import { maximumOfPieces, maximumOfPiecesBetween, maximumOfSamePieces } from './pieces.js';
import { polygonMaximum } from './polygon.js';

/**
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../claim/similarity.js').Relation} Relation
 * @typedef {import('../claim/space.js').Constraint} Constraint
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../bodies/affine.js').Phi} Phi
 * @typedef {import('./cost-maximum.js').Charge} Charge
 * @typedef {import('../claim/distance.js').DistanceForm} DistanceForm
 */

/** @type {ReadonlyMap<number, Charge>} */
const NO_CHARGES = new Map();

/**
 * Continuous codes are real here and discrete ones whole; differences of the cell are left aside, but for features with a cost.
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {SeparableForm} first at x
 * @param {SeparableForm} second at x'
 * @param {ReadonlyMap<number, Charge>} [charges] costs of features that are taken off (sections 19 and 21)
 * @returns {Rational | null} null if no point of the cell satisfies the relations
 */
export function maximumOfForms(geometry, cell, first, second, charges = NO_CHARGES) {
  let total = first.bias.plus(second.bias);
  for (let k = 0; k < first.phi.length; k++) {
    const [u, v] = [first.phi[k], second.phi[k]];
    const withoutCost = () => maximumOfFeature(geometry, cell, k, u, v);
    const charge = geometry.similarity[k].kind === 'same' ? undefined : charges.get(k);
    const most = charge === undefined ? withoutCost() : maximumWithCost(geometry, cell, k, charge, u, v, withoutCost);
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k
 * @param {Phi} u
 * @param {Phi} v of the same kind, with the same cuts
 * @returns {Rational | null}
 */
function maximumOfFeature(geometry, cell, k, u, v) {
  const [i, j] = [geometry.first[k], geometry.second[k]];
  /** @type {[Rational, Rational, Rational, Rational]} */
  const ends = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
  const relation = geometry.similarity[k];
  if (u.kind === 'table' && v.kind === 'table') return maximumOfTables(u.values, v.values, ends.map(positionOf), relation);
  if (u.kind === 'linear' && v.kind === 'linear') return maximumOfSlopes(u.slope, v.slope, ends, relation);
  if (u.kind === 'pieces' && v.kind === 'pieces') {
    const { discrete } = geometry.space.features[k];
    const [lo, hi, otherLo, otherHi] = ends;
    if (relation.kind === 'same') return maximumOfSamePieces(u, v, lo, hi, discrete);
    if (isNear(relation)) return maximumOfPiecesBetween(u, v, ends, relation.low, relation.high, discrete);
    const most = maximumOfPieces(u, lo, hi, discrete);
    const otherMost = maximumOfPieces(v, otherLo, otherHi, discrete);
    return most === null || otherMost === null ? null : most.plus(otherMost);
  }
  throw new Error('forms of different kinds');
}

/**
 * @param {Rational} u
 * @param {Rational} v
 * @param {[Rational, Rational, Rational, Rational]} ends
 * @param {Relation} relation
 */
function maximumOfSlopes(u, v, [lo, hi, otherLo, otherHi], relation) {
  if (relation.kind === 'same') {
    const slope = u.plus(v);
    return slope.times(slope.sign() > 0 ? hi : lo);
  }
  if (relation.kind === 'free') return u.times(u.sign() > 0 ? hi : lo).plus(v.times(v.sign() > 0 ? otherHi : otherLo));
  return polygonMaximum(u, v, lo, hi, otherLo, otherHi, relation.low, relation.high);
}

/**
 * @param {Rational[]} u
 * @param {Rational[]} v
 * @param {number[]} ends
 * @param {Relation} relation
 * @returns {Rational | null}
 */
export function maximumOfTables(u, v, [lo, hi, otherLo, otherHi], relation) {
  if (relation.kind === 'free') return largest(u.slice(lo, hi + 1)).plus(largest(v.slice(otherLo, otherHi + 1)));
  /** @type {Rational | null} */
  let most = null;
  const look = (/** @type {number} */ i, /** @type {number} */ j) => {
    if (i < lo || i > hi || j < otherLo || j > otherHi) return;
    most = largerOfMaxima(most, u[i].plus(v[j]));
  };
  if (isNear(relation)) {
    // Whole numbers, however large.
    const [p, q] = [Number(relation.low.floor()), Number(relation.high.floor())];
    for (let i = lo; i <= hi; i++) for (let j = Math.max(otherLo, i + p); j <= Math.min(otherHi, i + q); j++) look(i, j);
    return most;
  }
  for (let i = lo; i <= hi; i++) look(i, i);
  for (const [i, j] of relation.allowed) {
    look(i, j);
    look(j, i);
  }
  return most;
}

/**
 * @param {SeparableForm} form
 * @param {Rational} factor
 */
export function scaledForm(form, factor) {
  const scale = (/** @type {Rational[]} */ values) => values.map((value) => value.times(factor));
  const phi = form.phi.map((/** @type {Phi} */ own) => {
    if (own.kind === 'linear') return { kind: own.kind, slope: own.slope.times(factor) };
    if (own.kind === 'table') return { kind: own.kind, values: scale(own.values) };
    return { kind: own.kind, cuts: own.cuts, pieces: own.pieces.map(scale) };
  });
  return new SeparableForm(form.bias.times(factor), /** @type {Phi[]} */ (phi));
}

/**
 * @param {Space} space
 * @returns {SeparableForm} the form 0, linear for numbers and a table for levels kinds
 */
export function zeroForm(space) {
  const phi = space.features.map(({ levels }) =>
    levels === null ? { kind: /** @type {const} */ ('linear'), slope: ZERO } : { kind: /** @type {const} */ ('table'), values: levels.map(() => ZERO) },
  );
  return new SeparableForm(ZERO, phi);
}

/**
 * The form less sum_j m_j h_j.
 * @param {SeparableForm} form
 * @param {Constraint[]} constraints
 * @param {Rational[]} multipliers one a constraint
 */
export function lessConstraints(form, constraints, multipliers) {
  let { bias } = form;
  const phi = form.phi.slice();
  constraints.forEach(({ terms, bound }, j) => {
    const multiplier = multipliers[j];
    if (multiplier.isZero()) return;
    bias = bias.plus(multiplier.times(bound));
    for (const { feature, factor, amounts } of terms) phi[feature] = lessTerm(phi[feature], multiplier, factor, amounts);
  });
  return new SeparableForm(bias, phi);
}

/**
 * The form less sum_j m_j sum over the entries of alpha_k(x_k).
 * @param {SeparableForm} form
 * @param {DistanceForm[]} forms
 * @param {Rational[]} multipliers one a form
 */
export function lessDistanceForms(form, forms, multipliers) {
  const phi = form.phi.slice();
  forms.forEach(({ entries }, j) => {
    const multiplier = multipliers[j];
    if (multiplier.isZero()) return;
    for (const { feature, factor, amounts } of entries) {
      const own = phi[feature];
      // A factor of an ordinal feature is one of its positions.
      const steps = own.kind === 'table' && factor !== null ? own.values.map((_, i) => factor.times(Rational.of(i))) : amounts;
      phi[feature] = lessTerm(own, multiplier, factor, steps);
    }
  });
  return new SeparableForm(form.bias, phi);
}

/**
 * @param {Phi} phi
 * @param {Rational} multiplier
 * @param {Rational | null} factor
 * @param {Rational[] | null} amounts
 * @returns {Phi}
 */
function lessTerm(phi, multiplier, factor, amounts) {
  if (phi.kind === 'table' && amounts !== null) {
    return { kind: 'table', values: phi.values.map((value, i) => value.minus(multiplier.times(amounts[i]))) };
  }
  const slope = multiplier.times(/** @type {Rational} */ (factor));
  if (phi.kind === 'linear') return { kind: 'linear', slope: phi.slope.minus(slope) };
  if (phi.kind !== 'pieces') throw new Error('a constraint that does not fit its feature');
  const pieces = phi.pieces.map((piece) => [piece[0], (piece[1] ?? ZERO).minus(slope), ...piece.slice(2)]);
  return { kind: 'pieces', cuts: phi.cuts, pieces };
}
