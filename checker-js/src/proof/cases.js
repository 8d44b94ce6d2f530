/**
 * What one tree of cells has to show (sections 2 and 10): that no pair of the space breaks the property, or with classes
 * that none breaks it in one of several ways.
 */

import { add, exactly, multiply } from '../exact/interval.js';
import { larger, ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArrayOf, readIndex } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { allowanceOf, squareBetween } from '../claim/rate.js';
import { unitVector } from '../bodies/affine.js';
import { factorsOf, hasClass } from './classes.js';
import { weightsOfWay } from './line.js';
import { all, breaksProperty, breaksRate, breaksSoftmax, sigmaOfInterval } from './witness-set.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../claim/head.js').HeadOfClasses} HeadOfClasses
 * @typedef {import('../claim/head.js').HeadOfTwo} HeadOfTwo
 * @typedef {import('../claim/property.js').Property} Property
 * @typedef {import('../claim/rate.js').Rate} Rate
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./classes.js').Condition} Condition
 * @typedef {import('./witness-set.js').PairTest} PairTest
 */

/** A score of the body: sign (alpha . f) + shift. */
/** @typedef {{alpha: Rational[], sign: Rational, shift: Rational}} Score */

/**
 * a F(x) - b G(x') <= T. `factors` is an array where a is a function of axes (section 8), and a and b are then not used.
 * @typedef {object} Line
 * @property {Score} first F
 * @property {Score} second G
 * @property {Rational} a
 * @property {Rational} b
 * @property {Rational} target a lower bound of T
 * @property {boolean} mayTouch whether a bound equal to T is enough
 * @property {Rational[] | null} factors p_0, p_1, ... of a = p_0 + sum p_i y_(i-1)
 * @property {Rational} reach by how much a F - b G moves at most if each score moves by 1
 */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {'line' | 'classes' | 'softmax'} kind
 * @property {(way: Json, mayBeArray?: boolean) => Line} readLine
 * @property {Rate | null} rate by which more than the target of a line is allowed (section 21)
 * @property {PairTest} isWitness
 * @property {boolean} equalMayBreak whether two equal individuals can be a witness
 * @property {(scores: Rational[], others: Rational[], pair: [Rational[], Rational[]]) => Rational} clearance of a pair that is no witness (section 6)
 */

/**
 * The case of a model of one score, or of one score of several: the property of g = sign f + shift.
 * @param {string} name
 * @param {Score} score
 * @param {Property} property
 * @returns {Case}
 */
export function lineCase(name, score, property) {
  const { rate } = property;
  const valueOf = (/** @type {Interval[]} */ scores) => {
    const parts = scores.map((value, i) => multiply(value, score.alpha[i]));
    return add(multiply(parts.reduce(add), score.sign), exactly(score.shift));
  };
  return {
    name,
    kind: 'line',
    readLine(way, mayBeArray = false) {
      if (mayBeArray && Array.isArray(way)) {
        require(property.kind === 'decision', 'way: an array, but the property is not a decision');
        return lineOfAxes(way, score, score, property.margin);
      }
      const weights = weightsOfWay(property, way);
      // g moves as far as f does if sign is 1 or -1; clearance is said of g.
      return { first: score, second: score, ...weights, factors: null, reach: weights.a.plus(weights.b) };
    },
    rate,
    isWitness(scores, others, bits, pair) {
      const [s, other] = [valueOf(scores), valueOf(others)];
      return rate === null ? breaksProperty(property, s, other, bits) : breaksRate({ ...property, rate }, s, other, pair);
    },
    equalMayBreak: property.kind === 'decision' && property.margin.sign() < 0,
    clearance(scores, others, [x, other]) {
      const own = clearanceOfPair(property, valueOf(scores.map(exactly)).lo, valueOf(others.map(exactly)).lo);
      return rate === null ? own : own.plus(allowanceOf(rate, squareBetween(rate, x, other)).half());
    },
  };
}

/**
 * How far g may move at both individuals without making them a witness (section 6, "enumerated").
 * @param {Property} property
 * @param {Rational} s
 * @param {Rational} other
 */
function clearanceOfPair({ kind, margin, delta }, s, other) {
  if (kind === 'decision') return larger(margin.minus(s), other.plus(margin));
  if (kind === 'score' || kind === 'lipschitz') return delta.minus(s.minus(other)).half();
  if (kind === 'prediction') return ZERO;
  const bits = 256;
  const apart = sigmaOfInterval(exactly(s), bits).hi.minus(sigmaOfInterval(exactly(other), bits).lo);
  return larger(ZERO, delta.minus(apart).scaled(1));
}

/**
 * @param {Json[]} numbers
 * @param {Score} first
 * @param {Score} second
 * @param {Rational} target
 * @returns {Line}
 */
function lineOfAxes(numbers, first, second, target) {
  const factors = numbers.map((item) => readNumber(item, 'way'));
  require(factors.length > 0, 'way: an empty array');
  return { first, second, a: ZERO, b: ZERO, target, mayTouch: false, factors, reach: ZERO };
}

/**
 * No pair has x of class i and x' of class j, or more exactly: x with these conditions and x' with those.
 * @param {HeadOfClasses} head
 * @param {Rational} margin
 * @param {[number, number]} classes
 * @param {Condition[]} conditions at x
 * @param {Condition[]} otherConditions at x'
 * @returns {Case}
 */
export function classesCase(head, margin, [i, j], conditions, otherConditions) {
  return {
    name: `classes ${head.labels[i]} and ${head.labels[j]}`,
    kind: 'classes',
    readLine(way, mayBeArray = false) {
      const [place, otherPlace, lambda] = readArrayOf(way, 'way', 3);
      const condition = conditions[readIndex(place, 'condition of a way', conditions.length)];
      const other = otherConditions[readIndex(otherPlace, 'condition of a way', otherConditions.length)];
      const first = { alpha: factorsOf(condition, head.scores, 1), sign: ONE, shift: ZERO };
      const second = { alpha: factorsOf(other, head.scores, -1), sign: ONE, shift: ZERO };
      if (mayBeArray && Array.isArray(lambda)) return lineOfAxes(lambda, first, second, margin);
      const a = readNumber(lambda, 'way');
      require(a.sign() >= 0 && a.atMost(ONE), 'way: not from 0 to 1');
      const b = ONE.minus(a);
      const mayTouch = (a.sign() > 0 && condition.strict) || (b.sign() > 0 && other.strict);
      const reach = a.times(Rational.of(condition.weight)).plus(b.times(Rational.of(other.weight)));
      return { first, second, a, b, target: margin, mayTouch, factors: null, reach };
    },
    rate: null,
    isWitness: (scores, others) => all([hasClass(head, scores, i, margin), hasClass(head, others, j, margin)]),
    equalMayBreak: false,
    clearance: () => ZERO,
  };
}

/**
 * No pair has P_c(x) - P_c(x') > delta.
 * @param {HeadOfClasses} head
 * @param {number} c
 * @param {Rational} delta
 * @returns {Case & {ofClass: number, delta: Rational}}
 */
export function softmaxCase(head, c, delta) {
  return {
    name: `probability of ${head.labels[c]}`,
    kind: 'softmax',
    ofClass: c,
    delta,
    readLine: () => reject('this rule does not apply to probabilities by softmax'),
    rate: null,
    isWitness: breaksSoftmax(c, delta),
    equalMayBreak: false,
    clearance: () => ZERO,
  };
}

/**
 * g of a model of one score (section 2, the table of properties).
 * @param {HeadOfTwo} head
 * @param {Property} property
 * @returns {Score}
 */
export function scoreOfTwo(head, property) {
  if (property.kind === 'decision' && head.zeroIsUpper) return { alpha: [ONE], sign: ONE.negated(), shift: ZERO };
  if (property.kind === 'probability' && head.link !== null) return { alpha: [ONE], sign: head.link.slope, shift: head.link.offset };
  return { alpha: [ONE], sign: ONE, shift: ZERO };
}

/**
 * Score c of several.
 * @param {number} scores
 * @param {number} c
 * @returns {Score}
 */
export function scoreOfClass(scores, c) {
  return { alpha: unitVector(scores, c), sign: ONE, shift: ZERO };
}

