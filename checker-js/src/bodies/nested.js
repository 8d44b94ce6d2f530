/** The body `nested` (section 24): trees over the scores of other bodies, or their median. */

import { Rational, sum, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readNumbersOf, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { readTrees, TreesBody } from './trees.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/space.js').Feature} Feature
 * @typedef {import('./columns.js').BodyContext} BodyContext
 * @typedef {import('./affine.js').AffineBody} AffineBody
 * @typedef {import('./bodies.js').PlainBody} PlainBody
 * @typedef {import('./network.js').NetworkBody} NetworkBody
 * @typedef {import('./polynomial.js').PolynomialBody} PolynomialBody
 * @typedef {AffineBody | PolynomialBody | TreesBody | NetworkBody} InnerBody of one rational score
 */

/** The lower weighted median of the inner scores, times a slope, plus an offset. */
export class Median {
  kind = /** @type {const} */ ('median');

  /**
   * @param {Rational[]} weights all positive
   * @param {Rational} slope not 0
   * @param {Rational} offset
   */
  constructor(weights, slope, offset) {
    this.weights = weights;
    this.slope = slope;
    this.offset = offset;
    this.half = sum(weights).half();
  }

  /**
   * The smallest of the values such that those up to it have half of all weights, or more.
   * @param {Rational[]} values
   */
  of(values) {
    const order = [...values.keys()].sort((i, j) => values[i].compare(values[j]));
    let total = ZERO;
    for (const k of order) {
      total = total.plus(this.weights[k]);
      if (this.half.atMost(total)) return values[k];
    }
    throw new Error('a median of nothing');
  }
}

export class NestedBody {
  kind = /** @type {const} */ ('nested');
  irrational = false;

  /**
   * @param {InnerBody[]} inner
   * @param {TreesBody | Median} outer trees are about a space of one number for each inner body
   */
  constructor(inner, outer) {
    this.inner = inner;
    this.outer = outer;
    this.scores = outer.kind === 'median' ? 1 : outer.scores;
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    const { outer } = this;
    const values = this.inner.map((body) => body.evaluate(codes)[0]);
    return outer.kind === 'median' ? [outer.offset.plus(outer.slope.times(outer.of(values)))] : outer.evaluate(values);
  }

  /** @param {number} k is it constant in every inner body that counts? */
  isConstant(k) {
    const { outer } = this;
    return this.inner.every((body, i) => body.isConstant(k) || (outer.kind === 'trees' && outer.isConstant(i)));
  }

  packs() {
    return ['nested', ...(this.outer.kind === 'trees' ? this.outer.packs() : []), ...this.inner.flatMap((body) => body.packs())];
  }
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 * @param {(json: Json, context: BodyContext) => PlainBody} readPlainBody
 */
export function readNested(json, context, readPlainBody) {
  const part = readObject(json, 'body', ['kind', 'inner', 'outer']);
  const items = readArray(part('inner'), 'inner bodies');
  require(1 <= items.length && items.length <= MAXIMUM.innerBodies, `body: not 1 to ${MAXIMUM.innerBodies} inner bodies`);
  const inner = items.map((item) => {
    const body = readPlainBody(item, { space: context.space, scores: null });
    return !('evaluate' in body) || body.irrational ? reject('body: an inner body whose scores are irrational') : body;
  });
  return new NestedBody(inner, readOuter(part('outer'), inner.length, context.scores));
}

/**
 * @param {Json} json
 * @param {number} count of inner bodies
 * @param {number | null} scores
 */
function readOuter(json, count, scores) {
  const kind = json instanceof Map ? json.get('kind') : null;
  if (kind === 'trees') return readTrees(json, { space: { features: Array.from({ length: count }, numberAsFeature), constraints: [] }, scores });
  if (kind !== 'median') return reject('body: neither trees nor a median of inner scores');
  require(scores === null, 'body: a median has one score');
  const part = readObject(json, 'median', ['kind', 'weights', 'slope', 'offset']);
  const weights = readNumbersOf(part('weights'), 'weights of a median', count);
  require(weights.every((weight) => weight.sign() > 0), 'body: a median with a weight that is not positive');
  const slope = readNumber(part('slope'), 'slope of a median');
  require(!slope.isZero(), 'body: the slope of a median is 0');
  return new Median(weights, slope, readNumber(part('offset'), 'offset of a median'));
}

/**
 * A feature that stands for an inner score. Its ends say nothing: leaves have ends of their own.
 * @returns {Feature}
 */
export function numberAsFeature() {
  return { name: '', kind: 'continuous', lo: ZERO, hi: ZERO, levels: null, discrete: false, missing: null, lastNumber: ZERO };
}
