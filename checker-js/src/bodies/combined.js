/** The body `combined` (section 11): the mean, the largest or the smallest of the scores of several bodies. */

import { add, exactly, interval, multiply } from '../exact/interval.js';
import { larger, ONE, Rational, smaller, sum, ZERO } from '../exact/rational.js';
import { readArray, readNumbersOf, readObject } from '../file/fields.js';
import { reject, require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./bodies.js').Body} Body
 * @typedef {import('./bodies.js').CombinableBody} CombinableBody
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

const MOST_BODIES = 10_000;

export class CombinedBody {
  kind = /** @type {const} */ ('combined');

  /**
   * @param {'mean' | 'max' | 'min'} how
   * @param {Rational[]} weights of a mean
   * @param {CombinableBody[]} bodies
   */
  constructor(how, weights, bodies) {
    this.how = how;
    this.weights = weights;
    this.bodies = bodies;
    this.scores = bodies[0].scores;
    this.irrational = bodies.some((body) => body.irrational);
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    const scores = this.bodies.map((body) => {
      if (!('evaluate' in body)) throw new Error('an irrational body cannot be evaluated exactly');
      return body.evaluate(codes);
    });
    return scores[0].map((_, i) => this.combine(scores.map((ofBody) => ofBody[i])));
  }

  /** @param {Rational[]} scores one a body */
  combine(scores) {
    if (this.how === 'max') return scores.reduce(larger);
    if (this.how === 'min') return scores.reduce(smaller);
    return sum(scores.map((score, i) => score.times(this.weights[i])));
  }

  /**
   * @param {Rational[]} codes
   * @param {number} bits
   * @returns {Interval[]}
   */
  enclose(codes, bits) {
    const scores = this.bodies.map((body) => encloseScores(body, codes, bits));
    return scores[0].map((_, i) => {
      const own = scores.map((ofBody) => ofBody[i]);
      if (this.how === 'mean') return own.reduce((total, score, j) => add(total, multiply(score, this.weights[j])), exactly(ZERO));
      return interval(this.combine(own.map(({ lo }) => lo)), this.combine(own.map(({ hi }) => hi)));
    });
  }

  /** @param {number} k */
  isConstant(k) {
    return this.bodies.every((body) => body.isConstant(k));
  }

  packs() {
    return ['combined', ...this.bodies.flatMap((body) => body.packs())];
  }
}

/**
 * Enclosures of the scores of any body; exact ones where it is rational.
 * @param {Body} body
 * @param {Rational[]} codes
 * @param {number} bits
 * @returns {Interval[]}
 */
export function encloseScores(body, codes, bits) {
  if (body.irrational && 'enclose' in body) return body.enclose(codes, bits);
  if ('evaluate' in body) return body.evaluate(codes).map(exactly);
  throw new Error('a body without scores');
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 * @param {(json: Json, context: BodyContext) => CombinableBody} readCombinable
 */
export function readCombined(json, context, readCombinable) {
  const how = json instanceof Map ? json.get('how') : null;
  if (how !== 'mean' && how !== 'max' && how !== 'min') return reject('body: an unknown way to combine');
  require(how === 'mean' || context.scores === null, 'body: several scores are combined by their mean only');
  const part = readObject(json, 'body', how === 'mean' ? ['kind', 'how', 'weights', 'of'] : ['kind', 'how', 'of']);
  const items = readArray(part('of'), 'bodies');
  require(1 <= items.length && items.length <= MOST_BODIES, 'body: not 1 to 10,000 bodies');
  const weights = how === 'mean' ? readNumbersOf(part('weights'), 'weights', items.length) : [];
  if (how === 'mean') {
    require(weights.every((weight) => weight.sign() >= 0), 'body: a negative weight');
    require(sum(weights).equals(ONE), 'body: the weights do not add up to 1');
  }
  return new CombinedBody(how, weights, items.map((item) => readCombinable(item, context)));
}
