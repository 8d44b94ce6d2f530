/**
 * Does a pair of individuals break the property? (sections 2, 5 and 10: the witness sets)
 *
 * Scores come as enclosures, exact ones of rational bodies. Each test answers true or false, or null where the enclosures
 * are too wide to tell; `decide` then narrows them.
 */

import { squareBetween } from '../claim/rate.js';
import { encloseScores } from '../bodies/combined.js';
import { add, exactly, expOf, expOfInterval, interval, logOf, multiply, sigmaOf, subtract } from '../exact/interval.js';
import { bitLength, larger, ONE, Rational, ZERO } from '../exact/rational.js';
import { reject } from '../rejection.js';

/**
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../claim/property.js').Property} Property
 * @typedef {import('../claim/rate.js').Rate} Rate
 * @typedef {boolean | null} Answer null: not decided yet
 */

/**
 * @callback PairTest
 * @param {Interval[]} scores of x
 * @param {Interval[]} others of x'
 * @param {number} bits how finely irrational functions of scores are to be enclosed
 * @param {[Rational[], Rational[]]} pair x and x'
 * @returns {Answer}
 */

const FIRST_BITS = 64;
const LAST_BITS = 2048;

/**
 * @param {Body} body
 * @param {Rational[]} x
 * @param {Rational[]} other
 * @param {PairTest} test
 * @returns {boolean}
 */
export function decide(body, x, other, test) {
  for (let bits = FIRST_BITS; bits <= LAST_BITS; bits *= 2) {
    const answer = test(encloseScores(body, x, bits), encloseScores(body, other, bits), bits, [x, other]);
    if (answer !== null) return answer;
  }
  return reject('the scores of a pair are too near to the limit to tell on which side they lie');
}

/**
 * @param {Interval} value
 * @param {Rational} limit
 * @returns {Answer} whether value > limit
 */
export function isAbove(value, limit) {
  if (limit.less(value.lo)) return true;
  return value.hi.atMost(limit) ? false : null;
}

/**
 * @param {Interval} value
 * @param {Rational} limit
 * @returns {Answer} whether value >= limit
 */
export function isAtLeast(value, limit) {
  if (limit.atMost(value.lo)) return true;
  return value.hi.less(limit) ? false : null;
}

/**
 * @param {Answer[]} answers
 * @returns {Answer}
 */
export function all(answers) {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}

/**
 * The witness sets of section 2, of s = g(x) and s' = g(x').
 * @param {Property} property
 * @param {Interval} s
 * @param {Interval} other
 * @param {number} bits
 * @returns {Answer}
 */
export function breaksProperty(property, s, other, bits) {
  const { kind, margin, delta } = property;
  if (kind === 'decision') {
    const below = isAbove(other, margin.negated());
    return all([isAbove(s, margin), below === null ? null : !below]);
  }
  if (kind === 'score' || kind === 'lipschitz' || delta.isZero()) return isAbove(subtract(s, other), delta);
  if (kind === 'prediction') return isPredictedAbove(s, other, delta, bits);
  return isAbove(subtract(sigmaOfInterval(s, bits), sigmaOfInterval(other, bits)), delta);
}

/**
 * s - s' > delta + L e (section 21): with r = s - s' - delta, r > 0 and r^2 > L^2 e^2, so that no root is needed.
 * @param {Property & {rate: Rate}} property
 * @param {Interval} s
 * @param {Interval} other
 * @param {[Rational[], Rational[]]} pair
 * @returns {Answer}
 */
export function breaksRate({ rate, delta }, s, other, [x, otherCodes]) {
  const limit = rate.constant.squared().times(squareBetween(rate, x, otherCodes));
  const isBeyond = (/** @type {Rational} */ r) => r.sign() > 0 && limit.less(r.squared());
  const rest = subtract(subtract(s, other), exactly(delta));
  if (isBeyond(rest.lo)) return true;
  return isBeyond(rest.hi) ? null : false;
}

/**
 * exp(s) - exp(s') > delta > 0 (section 16). Where s > 0 both sides are divided by exp(s): 1 - exp(s' - s) > delta exp(-s), so
 * that no exponential is above 1. Where s is far below 0 it is enough that exp(s) > delta needs s > log delta.
 * @param {Interval} s
 * @param {Interval} other
 * @param {Rational} delta
 * @param {number} bits
 * @returns {Answer}
 */
function isPredictedAbove(s, other, delta, bits) {
  if (s.hi.atMost(other.lo)) return false;
  if (s.hi.less(logOf(delta, bits).lo)) return false;
  // Small deltas are seen only with as many bits more as they are small.
  const work = bits + Math.max(0, bitLength(ONE.over(delta).ceil()));
  const ends = [s.lo, s.hi].map((own, i) => {
    const otherEnd = i === 0 ? other.hi : other.lo;
    if (own.atMost(otherEnd)) return exactly(ONE.negated());
    if (own.sign() <= 0) return subtract(subtract(expOf(own, work), expOf(otherEnd, work)), exactly(delta));
    return subtract(subtract(exactly(ONE), expOf(otherEnd.minus(own), work)), multiply(expOf(own.negated(), work), delta));
  });
  if (ends[0].lo.sign() > 0) return true;
  return ends[1].hi.sign() <= 0 ? false : null;
}

/**
 * @param {Interval} s
 * @param {number} bits
 * @returns {Interval}
 */
export function sigmaOfInterval(s, bits) {
  return interval(sigmaOf(s.lo, bits).lo, sigmaOf(s.hi, bits).hi);
}

/**
 * P_c = exp(f_c) / sum_k exp(f_k) (section 10), with the largest score taken off all of them first.
 * @param {Interval[]} scores
 * @param {number} c
 * @param {number} bits
 * @returns {Interval}
 */
export function softmaxOf(scores, c, bits) {
  const top = scores.map(({ hi }) => hi).reduce(larger);
  const powers = scores.map(({ lo, hi }) => expOfInterval(interval(lo.minus(top), hi.minus(top)), bits));
  const others = powers.filter((_, k) => k !== c).reduce(add, exactly(ZERO));
  // P_c = p / (p + others) grows with p and falls with others. All powers are at least 0; one is about 1.
  const shareOf = (/** @type {Rational} */ p, /** @type {Rational} */ rest) => (p.isZero() ? ZERO : p.over(p.plus(rest)));
  return interval(shareOf(powers[c].lo, others.hi), shareOf(powers[c].hi, others.lo));
}

/**
 * P_c(x) - P_c(x') > delta.
 * @param {number} c
 * @param {Rational} delta
 * @returns {PairTest}
 */
export function breaksSoftmax(c, delta) {
  return (scores, others, bits) => {
    if (delta.isZero() && haveSameDifferences(scores, others, c)) return false;
    return isAbove(subtract(softmaxOf(scores, c, bits), softmaxOf(others, c, bits)), delta);
  };
}

/**
 * Section 10, "Witness": with the same f_k - f_c in some order, P_c is the same at both. Only exact scores can show it.
 * @param {Interval[]} scores
 * @param {Interval[]} others
 * @param {number} c
 */
function haveSameDifferences(scores, others, c) {
  if ([...scores, ...others].some(({ lo, hi }) => !lo.equals(hi))) return false;
  const sorted = (/** @type {Interval[]} */ values) => values.map(({ lo }) => lo.minus(values[c].lo)).sort((a, b) => a.compare(b));
  const theirs = sorted(others);
  return sorted(scores).every((difference, i) => difference.equals(theirs[i]));
}

