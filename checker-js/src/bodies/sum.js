/** The body `sum` (section 17): a number, and the scores of several bodies through links, with weights. */

import { add, exactly, multiply } from '../exact/interval.js';
import { ONE, Rational } from '../exact/rational.js';
import { readArray, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { encloseScores } from './combined.js';
import { readCoefficient } from './columns.js';
import { linkOfInterval, readPartLink, tableAt } from './link.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./bodies.js').PlainBody} PlainBody
 * @typedef {import('./columns.js').BodyContext} BodyContext
 * @typedef {import('./link.js').Link} Link
 */

/** @typedef {{weights: Rational[], link: Link | null, body: PlainBody}} Part one weight a score */

/** @param {Link | null} link */
const isIrrational = (link) => link !== null && link.kind !== 'table';

/** Enclosures are not made finer than this on the way. */
const FINEST_BITS = 65_536;

export class SumBody {
  kind = /** @type {const} */ ('sum');

  /**
   * @param {Rational[]} bias one number a score
   * @param {Part[]} parts
   */
  constructor(bias, parts) {
    this.bias = bias;
    this.parts = parts;
    this.scores = bias.length;
    this.irrational = parts.some(({ link, body }) => isIrrational(link) || body.irrational);
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    let scores = this.bias;
    for (const { weights, link, body } of this.parts) {
      if (!('evaluate' in body) || (link !== null && link.kind !== 'table')) throw new Error('an irrational part cannot be evaluated exactly');
      const [score] = body.evaluate(codes);
      const value = link === null ? score : tableAt(link.knots, score).value;
      scores = scores.map((total, i) => total.plus(value.times(weights[i])));
    }
    return scores;
  }

  /**
   * @param {Rational[]} codes
   * @param {number} bits
   * @returns {Interval[]} none wider than 2^-bits (1 + |f|), as far as the links let the parts tell
   */
  enclose(codes, bits) {
    for (let work = bits + 32; ; work *= 2) {
      const scores = this.encloseWith(codes, work);
      const narrow = scores.every(({ lo, hi }) => hi.minus(lo).atMost(ONE.plus(hi.absolute()).scaled(-bits)));
      if (narrow || work > Math.min(FINEST_BITS, 16 * bits)) return scores;
    }
  }

  /**
   * @param {Rational[]} codes
   * @param {number} work
   */
  encloseWith(codes, work) {
    let scores = this.bias.map(exactly);
    for (const { weights, link, body } of this.parts) {
      const value = linkOfInterval(link, encloseScores(body, codes, work)[0], work);
      scores = scores.map((total, i) => add(total, multiply(value, weights[i])));
    }
    return scores;
  }

  /** @param {number} k */
  isConstant(k) {
    return this.parts.every(({ weights, body }) => weights.every((weight) => weight.isZero()) || body.isConstant(k));
  }

  packs() {
    return ['sums', ...this.parts.flatMap(({ body }) => body.packs())];
  }
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 * @param {(json: Json, context: BodyContext) => PlainBody} readPlainBody
 */
export function readSum(json, context, readPlainBody) {
  const part = readObject(json, 'body', ['kind', 'bias', 'parts']);
  const bias = readCoefficient(part('bias'), 'bias', context);
  const items = readArray(part('parts'), 'parts');
  require(1 <= items.length && items.length <= MAXIMUM.parts, `body: not 1 to ${MAXIMUM.parts} parts`);
  const parts = items.map((item) => {
    const own = readObject(item, 'part', ['weight', 'link', 'body']);
    const weights = readCoefficient(own('weight'), 'weight of a part', context);
    const link = readPartLink(/** @type {Json} */ (own('link')));
    return { weights, link, body: readPlainBody(/** @type {Json} */ (own('body')), { space: context.space, scores: null }) };
  });
  return new SumBody(bias, parts);
}
