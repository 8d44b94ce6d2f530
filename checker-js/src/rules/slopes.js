/** Slopes of scores on a box, by interval arithmetic (section 21, "Slopes"). */

import { activateInterval } from '../bodies/activation.js';
import { dot } from '../bodies/affine.js';
import { add, exactly, expOf, interval, multiply, powerOf, product, roundedOut } from '../exact/interval.js';
import { larger, ONE, Rational, smaller, sum, ZERO } from '../exact/rational.js';
import { reject, require } from '../rejection.js';
import { positionOf } from '../claim/space.js';
import { kernelFeatures } from './kernel-features.js';
import { slopesOfPieces } from './network-limits.js';

/**
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../bodies/activation.js').Activation} Activation
 * @typedef {import('../bodies/affine.js').AffineBody} AffineBody
 * @typedef {import('../bodies/network.js').NetworkBody} NetworkBody
 * @typedef {import('../bodies/polynomial.js').PolynomialBody} PolynomialBody
 * @typedef {import('../bodies/rbf.js').RbfBody} RbfBody
 * @typedef {import('../bodies/sum.js').SumBody} SumBody
 * @typedef {import('../bodies/columns.js').Column} Column
 * @typedef {import('../bodies/columns.js').PlainColumn} PlainColumn
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./kernel-features.js').KernelFeature} KernelFeature
 * @typedef {import('./slope.js').Box} Box
 */

/**
 * An interval that holds the slope of the score at every point of a box, for each of some features that are numbers.
 * @typedef {(box: Box, features: number[]) => Map<number, Interval>} Slopes
 */

/** Of irrational numbers; what is rounded is rounded outwards to multiples of 2^-BITS. */
const BITS = 96;
const NOTHING = exactly(ZERO);
const QUARTER = ONE.scaled(-2);

/**
 * @param {Body} body
 * @param {Space} space
 * @param {Rational[]} alpha the score alpha . f
 * @returns {Slopes}
 */
export function slopesOfBody(body, space, alpha) {
  switch (body.kind) {
    case 'affine':
      return slopesOfAffine(body, alpha);
    case 'polynomial':
      return slopesOfPolynomial(body, alpha);
    case 'rbf':
      return slopesOfRbf(body, space, alpha);
    case 'network':
      return slopesOfNetwork(body, alpha);
    case 'sum':
      return slopesOfSum(body, space, alpha);
    default:
      return reject('slope: not for this body');
  }
}

/** @param {Column} column */
function slopeOf(column) {
  return column.kind === 'linear' ? column.slope : ZERO;
}

/**
 * @param {AffineBody} body
 * @param {Rational[]} alpha
 * @returns {Slopes}
 */
function slopesOfAffine({ columns, weights }, alpha) {
  require(columns.every(({ kind }) => kind !== 'pieces'), 'slope: not for columns in pieces');
  return (_, features) => {
    const slopeAt = (/** @type {number} */ k) =>
      sum(columns.map((column, c) => (column.feature === k ? slopeOf(column).times(dot(alpha, weights[c])) : ZERO)));
    return new Map(features.map((k) => [k, exactly(slopeAt(k))]));
  };
}

/**
 * @param {PlainColumn[]} columns
 * @param {Box} box
 * @returns {Interval[]} V_c, the range of each column
 */
function rangesOf(columns, box) {
  return columns.map((column) => {
    const { lo, hi } = box[column.feature];
    if (column.kind === 'linear') return add(exactly(column.offset), multiply(box[column.feature], column.slope));
    const entries = column.table.slice(positionOf(lo), positionOf(hi) + 1);
    return interval(entries.reduce(smaller), entries.reduce(larger));
  });
}

/**
 * @param {PolynomialBody} body
 * @param {Rational[]} alpha
 * @returns {Slopes}
 */
function slopesOfPolynomial({ columns, terms }, alpha) {
  return (box, features) => {
    const ranges = rangesOf(columns, box);
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    for (const { coefficients, factors } of terms) {
      const coefficient = dot(alpha, coefficients);
      /** @type {Map<number, number>} how often each column occurs */
      const powers = new Map();
      for (const c of factors) powers.set(c, (powers.get(c) ?? 0) + 1);
      for (const [c, n] of powers) {
        const before = slopes.get(columns[c].feature);
        if (before === undefined) continue;
        let part = exactly(coefficient.times(slopeOf(columns[c])).times(Rational.of(n)));
        for (const [d, own] of powers) part = product(part, powerOf(ranges[d], d === c ? own - 1 : own));
        slopes.set(columns[c].feature, add(before, part));
      }
    }
    return slopes;
  };
}

/**
 * @param {RbfBody} body
 * @param {Space} space
 * @param {Rational[]} alpha
 * @returns {Slopes}
 */
function slopesOfRbf(body, space, alpha) {
  const kernel = kernelFeatures(body, space);
  const factors = body.terms.map(({ coefficients }) => dot(alpha, coefficients).times(body.gamma).scaled(1).negated());
  return (box, features) => {
    const distances = kernel.map((feature, k) => distancesOn(feature, box[k], space.features[k].levels === null));
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    factors.forEach((factor, t) => {
      if (factor.isZero()) return;
      const far = distances.reduce((total, ranges) => add(total, ranges[t]), NOTHING);
      const nearness = interval(expOf(body.gamma.times(far.hi).negated(), BITS).lo, expOf(body.gamma.times(far.lo).negated(), BITS).hi);
      for (const [k, before] of slopes) {
        const { A, B } = kernel[k];
        const inner = add(multiply(box[k], A), exactly(B[t].negated()));
        slopes.set(k, roundedOut(add(before, multiply(product(nearness, inner), factor)), BITS));
      }
    });
    return slopes;
  };
}

/**
 * @param {KernelFeature} feature
 * @param {Interval} range
 * @param {boolean} isNumber
 * @returns {Interval[]} from the smallest to the largest D_tk, one a term
 */
function distancesOn({ A, B, distances }, range, isNumber) {
  const codes = isNumber ? [range.lo, range.hi] : positionsIn(range);
  const atCodes = codes.map(distances);
  return B.map((b, t) => {
    const values = atCodes.map((ofTerms) => ofTerms[t]);
    if (isNumber && A.sign() > 0) {
      const lowest = b.over(A);
      if (range.lo.less(lowest) && lowest.less(range.hi)) values.push(distances(lowest)[t]);
    }
    return interval(values.reduce(smaller), values.reduce(larger));
  });
}

/**
 * @param {Interval} range
 * @returns {Rational[]}
 */
function positionsIn({ lo, hi }) {
  const start = positionOf(lo);
  return Array.from({ length: positionOf(hi) - start + 1 }, (_, i) => Rational.of(start + i));
}

/**
 * @param {NetworkBody} body
 * @param {Rational[]} alpha
 * @returns {Slopes}
 */
function slopesOfNetwork(body, alpha) {
  const lastRow = body.weights.map((weights) => exactly(dot(alpha, weights)));
  const rounded = (/** @type {Interval} */ range) => (body.irrational ? roundedOut(range, BITS) : range);
  return (box, features) => {
    let values = rangesOf(body.columns, box);
    const slopesOfLayers = body.layers.map(({ activation, biases, weights }) => {
      const sums = weights.map((row, i) => rounded(row.reduce((total, weight, j) => add(total, multiply(values[j], weight)), exactly(biases[i]))));
      values = sums.map((range) => rounded(activateInterval(activation, range, BITS)));
      return sums.map((range) => slopesOfActivation(activation, range));
    });
    let back = lastRow;
    for (let l = body.layers.length - 1; l >= 0; l--) {
      const { weights } = body.layers[l];
      const own = back.map((range, i) => product(range, slopesOfLayers[l][i]));
      back = weights[0].map((_, j) => rounded(own.reduce((total, range, i) => add(total, multiply(range, weights[i][j])), NOTHING)));
    }
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    body.columns.forEach((column, c) => {
      const before = slopes.get(column.feature);
      if (before !== undefined) slopes.set(column.feature, add(before, multiply(back[c], slopeOf(column))));
    });
    return slopes;
  };
}

/**
 * @param {Activation} activation
 * @param {Interval} sums
 * @returns {Interval} P
 */
function slopesOfActivation(activation, sums) {
  if (activation.rational) {
    const { r, R } = slopesOfPieces(activation, sums.lo, sums.hi);
    return interval(r, R);
  }
  if (activation.kind === 'elu') return interval(smaller(ZERO, activation.numbers[0]), larger(ONE, activation.numbers[0]));
  return interval(ZERO, activation.kind === 'tanh' ? ONE : QUARTER);
}

/**
 * @param {SumBody} body
 * @param {Space} space
 * @param {Rational[]} alpha
 * @returns {Slopes}
 */
function slopesOfSum({ parts }, space, alpha) {
  const ofParts = parts.flatMap(({ weights, link, body }) => {
    const weight = dot(alpha, weights);
    if (weight.isZero()) return [];
    require(link === null || link.kind === 'logistic', 'slope: not for links that are tables or chains');
    const factor = link === null ? exactly(weight) : multiply(interval(ZERO, link.slope.times(QUARTER)), weight);
    return [{ factor, slopesOn: slopesOfBody(body, space, [ONE]) }];
  });
  return (box, features) => {
    const slopes = new Map(features.map((k) => [k, NOTHING]));
    for (const { factor, slopesOn } of ofParts) {
      for (const [k, range] of slopesOn(box, features)) slopes.set(k, add(slopes.get(k) ?? NOTHING, product(range, factor)));
    }
    return slopes;
  };
}
