/** Classes by argmax and by votes (section 10): conditions, and who has which class. */

import { subtract } from '../exact/interval.js';
import { Rational, ZERO } from '../exact/rational.js';
import { all, isAbove, isAtLeast } from './witness-set.js';

/**
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../claim/head.js').HeadOfClasses} HeadOfClasses
 * @typedef {import('./witness-set.js').Answer} Answer
 */

/**
 * A form alpha . f that must be > margin (strict) or >= margin.
 * @typedef {object} Condition
 * @property {[number, number][]} terms scores and their factors, 1 or -1
 * @property {boolean} strict
 * @property {number} weight by how much the form moves at most if each score moves by 1
 */

/**
 * @param {number} i a class
 * @param {number} count of classes
 * @returns {Condition[]} f_i - f_k > margin for k < i, >= margin for k > i
 */
export function argmaxConditions(i, count) {
  return Array.from({ length: count }, (_, k) => k)
    .filter((k) => k !== i)
    .map((k) => ({ terms: [[i, 1], [k, -1]], strict: k < i, weight: 2 }));
}

/**
 * @param {Condition} condition
 * @param {number} scores how many there are
 * @param {1 | -1} sign
 * @returns {Rational[]} the factors alpha of all scores
 */
export function factorsOf({ terms }, scores, sign) {
  const alpha = Array.from({ length: scores }, () => Rational.of(0));
  for (const [score, factor] of terms) alpha[score] = Rational.of(sign * factor);
  return alpha;
}

/**
 * @param {Interval[]} scores
 * @param {number} i
 * @param {Rational} margin
 * @returns {Answer} whether all conditions of class i hold with the margin
 */
export function hasClassByArgmax(scores, i, margin) {
  return all(
    scores.map((score, k) => {
      if (k === i) return true;
      const lead = subtract(scores[i], score);
      return k < i ? isAbove(lead, margin) : isAtLeast(lead, margin);
    }),
  );
}

/**
 * @param {number} count of classes
 * @returns {[number, number][]} the pairs that the scores belong to, in order
 */
export function votePairs(count) {
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0; i < count; i++) for (let j = i + 1; j < count; j++) pairs.push([i, j]);
  return pairs;
}

/**
 * @param {boolean[]} votes of the scores: true for the first class of its pair
 * @param {number} count
 * @returns {number} the smallest class among those with the most votes
 */
export function classOfVotes(votes, count) {
  const tally = new Array(count).fill(0);
  votePairs(count).forEach(([i, j], s) => {
    tally[votes[s] ? i : j] += 1;
  });
  return tally.indexOf(Math.max(...tally));
}

/**
 * @param {Interval[]} scores
 * @param {number} i
 * @param {number} count
 * @returns {Answer}
 */
export function hasClassByVotes(scores, i, count) {
  const votes = scores.map((score) => isAbove(score, ZERO));
  /** @type {boolean[]} */
  const certain = [];
  for (const vote of votes) {
    if (vote === null) return null;
    certain.push(vote);
  }
  return classOfVotes(certain, count) === i;
}

/**
 * @param {HeadOfClasses} head
 * @param {Interval[]} scores
 * @param {number} i
 * @param {Rational} margin
 * @returns {Answer}
 */
export function hasClass(head, scores, i, margin) {
  return head.classes === 'argmax' ? hasClassByArgmax(scores, i, margin) : hasClassByVotes(scores, i, head.labels.length);
}
