/** Links of the parts of a sum (section 17): functions of one score that never fall, and chains of two of them. */

import { exactly, interval, sigmaOf } from '../exact/interval.js';
import { ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readNumbersOf } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 */

/**
 * @typedef {{place: Rational, below: Rational, at: Rational, above: Rational}} Knot
 * @typedef {{kind: 'logistic', slope: Rational, offset: Rational}} LogisticLink
 * @typedef {{kind: 'table', slope: Rational, offset: Rational, knots: Knot[]}} TableLink slope 1 and offset 0
 * @typedef {LogisticLink | TableLink} PlainLink
 * @typedef {{kind: 'chain', slope: Rational, offset: Rational, inner: LogisticLink, outer: PlainLink}} ChainLink slope and offset are those of the inner link
 * @typedef {PlainLink | ChainLink} Link
 */

/**
 * @param {Json} json
 * @returns {Link | null} null: the score itself
 */
export function readPartLink(json) {
  if (json === null) return null;
  if (readArray(json, 'link of a part')[0] !== 'chain') return readPlainLink(json);
  const [, innerJson, outerJson] = readArrayOf(json, 'chain of links', 3);
  const [inner, outer] = [readPlainLink(innerJson), readPlainLink(outerJson)];
  if (inner.kind !== 'logistic') return reject('link of a part: the inner link of a chain is not logistic');
  return { kind: 'chain', slope: inner.slope, offset: inner.offset, inner, outer };
}

/**
 * @param {Json} json
 * @returns {PlainLink}
 */
function readPlainLink(json) {
  const [kind] = readArray(json, 'link of a part');
  if (kind === 'logistic') {
    const [, slopeJson, offsetJson] = readArrayOf(json, 'link of a part', 3);
    const slope = readNumber(slopeJson, 'slope of a link');
    require(slope.sign() > 0, 'link of a part: the slope is not positive');
    return { kind, slope, offset: readNumber(offsetJson, 'offset of a link') };
  }
  if (kind !== 'table') return reject('link of a part: unknown');
  const [, items] = readArrayOf(json, 'link of a part', 2);
  return { kind, slope: ONE, offset: ZERO, knots: readKnots(readArray(items, 'knots')) };
}

/**
 * @param {Json[]} items
 * @returns {Knot[]}
 */
function readKnots(items) {
  require(1 <= items.length && items.length <= MAXIMUM.knots, `link of a part: not 1 to ${MAXIMUM.knots} knots`);
  const knots = items.map((item) => {
    const [place, below, at, above] = readNumbersOf(item, 'knot', 4);
    require(below.atMost(at) && at.atMost(above), 'link of a part: a knot where it falls');
    return { place, below, at, above };
  });
  for (let i = 1; i < knots.length; i++) {
    require(knots[i - 1].place.less(knots[i].place), 'link of a part: knots are not strictly increasing');
    require(knots[i - 1].above.atMost(knots[i].below), 'link of a part: it falls between knots');
  }
  return knots;
}

/**
 * @param {Knot[]} knots
 * @param {Rational} t
 * @returns {{value: Rational, knot: Knot | null}} of a table at t, and the knot that t is
 */
export function tableAt(knots, t) {
  let [low, high] = [0, knots.length];
  // The first knot that is not below t.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (knots[middle].place.less(t)) low = middle + 1;
    else high = middle;
  }
  const knot = knots[low];
  if (knot !== undefined && knot.place.equals(t)) return { value: knot.at, knot };
  if (low === 0) return { value: knots[0].below, knot: null };
  const before = knots[low - 1];
  if (low === knots.length) return { value: before.above, knot: null };
  const share = t.minus(before.place).over(knot.place.minus(before.place));
  return { value: before.above.plus(knot.below.minus(before.above).times(share)), knot: null };
}

/**
 * @param {Link | null} link
 * @param {Interval} score
 * @param {number} bits
 * @returns {Interval} links never fall: the ends tell
 */
export function linkOfInterval(link, score, bits) {
  if (link === null) return score;
  if (link.kind === 'chain') return linkOfInterval(link.outer, linkOfInterval(link.inner, score, bits), bits);
  if (link.kind === 'table') {
    const low = tableAt(link.knots, score.lo).value;
    return score.lo === score.hi ? exactly(low) : interval(low, tableAt(link.knots, score.hi).value);
  }
  const low = sigmaOf(link.slope.times(score.lo).plus(link.offset), bits);
  if (score.lo === score.hi) return low;
  return interval(low.lo, sigmaOf(link.slope.times(score.hi).plus(link.offset), bits).hi);
}
