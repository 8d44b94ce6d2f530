/** Distances of scores that may change at a rate (section 21): the least one of a cell, and what is taken off a bound for it. */

import { larger, ONE, Rational, smaller, sum, ZERO } from '../exact/rational.js';
import { readNumbersOf } from '../file/fields.js';
import { require } from '../rejection.js';
import { changeOf, costOf } from '../claim/distance.js';
import { isNear } from '../claim/similarity.js';
import { squareOfNorm } from '../claim/rate.js';
import { codesOf, leastDifference, positionsOf } from './cost-maximum.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/distance.js').Cost} Cost
 * @typedef {import('../claim/distance.js').DistanceForm} DistanceForm
 * @typedef {import('../claim/distance.js').FormEntry} FormEntry
 * @typedef {import('../claim/rate.js').Rate} Rate
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('./cost-maximum.js').Charge} Charge
 */

/**
 * What is taken off a bound besides constraints: forms of a distance, by factors of their z, and costs of features.
 * @typedef {object} Toll
 * @property {DistanceForm[]} forms
 * @property {Rational[]} factors
 * @property {number[]} costly the features whose costs have a multiplier above 0
 * @property {Map<number, Charge>} charges
 */

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {Rate} rate
 * @returns {Rational | null} e(C)^2, where no pair of the cell is nearer than e(C); null if the cell holds no pair
 */
export function leastSquare(geometry, cell, rate) {
  /** @type {Rational[]} */
  const costs = [];
  for (const { feature, cost } of rate.terms) {
    const least = leastCost(geometry, cell, feature, cost);
    if (least === null) return null;
    costs.push(least);
  }
  /** @type {Rational[]} */
  const changes = [];
  for (const { entries } of rate.forms) {
    let [p, q] = [ZERO, ZERO];
    for (const entry of entries) {
      const range = changesOf(geometry, cell, entry);
      if (range === null) return null;
      [p, q] = [p.plus(range.lo), q.plus(range.hi)];
    }
    changes.push(p.sign() > 0 ? p : q.sign() < 0 ? q : ZERO);
  }
  return squareOfNorm(rate, costs, changes);
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k
 * @param {Cost} cost
 * @returns {Rational | null} null if no codes of the cell satisfy the relation
 */
function leastCost(geometry, cell, k, cost) {
  if (geometry.similarity[k].kind === 'same') return ZERO;
  if (geometry.space.features[k].levels === null) {
    const codes = codesOf(geometry, cell, k);
    return codes === null ? null : costOf(cost, ZERO, leastDifference(codes));
  }
  const steps = stepsOf(geometry, cell, k);
  if (steps !== null && cost.kind !== 'table') return isEmptyRange(steps) ? null : costOf(cost, ZERO, leastDifference(steps));
  /** @type {Rational | null} */
  let least = null;
  for (const [code, other] of positionsOf(geometry, cell, k)) {
    const own = costOf(cost, code, other);
    least = least === null ? own : smaller(least, own);
  }
  return least;
}

/**
 * By how many steps two positions of a cell differ, where the relation asks for nothing else; null where it does.
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {number} k a levels kind
 * @returns {{p: Rational, q: Rational} | null}
 */
function stepsOf({ similarity, first, second }, cell, k) {
  const [i, j] = [first[k], second[k]];
  const [p, q] = [cell.lo[j].minus(cell.hi[i]), cell.hi[j].minus(cell.lo[i])];
  const relation = similarity[k];
  if (relation.kind === 'free') return { p, q };
  return isNear(relation) ? { p: larger(p, relation.low), q: smaller(q, relation.high) } : null;
}

/** @param {{p: Rational, q: Rational}} range */
function isEmptyRange({ p, q }) {
  return q.less(p);
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {FormEntry} entry
 * @returns {Interval | null} from the least to the largest alpha(x') - alpha(x); null if no codes of the cell satisfy the relation
 */
function changesOf(geometry, cell, entry) {
  const k = entry.feature;
  if (geometry.similarity[k].kind === 'same') return { lo: ZERO, hi: ZERO };
  if (geometry.space.features[k].levels === null) {
    const codes = codesOf(geometry, cell, k);
    if (codes === null) return null;
    const ends = [changeOf(entry, ZERO, codes.p), changeOf(entry, ZERO, codes.q)];
    return { lo: ends.reduce(smaller), hi: ends.reduce(larger) };
  }
  const steps = stepsOf(geometry, cell, k);
  if (steps !== null && entry.factor !== null) {
    if (isEmptyRange(steps)) return null;
    const ends = [changeOf(entry, ZERO, steps.p), changeOf(entry, ZERO, steps.q)];
    return { lo: ends.reduce(smaller), hi: ends.reduce(larger) };
  }
  /** @type {Interval | null} */
  let range = null;
  for (const [code, other] of positionsOf(geometry, cell, k)) {
    const own = changeOf(entry, code, other);
    range = range === null ? { lo: own, hi: own } : { lo: smaller(range.lo, own), hi: larger(range.hi, own) };
  }
  return range;
}

/**
 * `[y, ...]`: L/2 times y_k cost_k of the terms and y_j z_j of the forms, whose sum is not above e.
 * @param {Rate} rate
 * @param {Json} json
 * @returns {Toll}
 */
export function readToll({ constant, norm, terms, forms }, json) {
  const numbers = readNumbersOf(json, 'multipliers of the rate', terms.length + forms.length);
  const [ofTerms, ofForms] = [numbers.slice(0, terms.length), numbers.slice(terms.length)];
  require(ofTerms.every((y) => y.sign() >= 0), 'separable: a negative multiplier of a cost');
  const isInBall =
    norm === 1
      ? ofTerms.every((y) => y.atMost(ONE))
      : norm === 'max'
        ? sum(ofTerms).atMost(ONE)
        : sum([...ofTerms.map((y) => y.squared()), ...ofForms.map((y, j) => y.squared().over(forms[j].weight))]).atMost(ONE);
  require(isInBall, 'separable: the multipliers of the rate are too large');
  const half = constant.half();
  /** @type {Map<number, Charge>} */
  const charges = new Map();
  terms.forEach(({ feature, cost }, i) => {
    const lambda = half.times(ofTerms[i]);
    if (!lambda.isZero()) charges.set(feature, { cost, power: 1, lambda });
  });
  const costly = terms.flatMap(({ feature }, i) => (ofTerms[i].isZero() ? [] : [feature]));
  return { forms, factors: ofForms.map((y) => half.times(y)), costly, charges };
}
