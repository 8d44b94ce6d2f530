/** Chains of two links (section 17): lines above and below them, and what they rise by over a distance, piece by piece. */

import { exactly, interval, sigmaOf } from '../exact/interval.js';
import { HALF, larger, ONE, Rational, smaller, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readNumbersOf } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { tableAt } from '../bodies/link.js';
import { rangeOfDifference } from './link-difference.js';
import { betaAbove, turnedLink } from './link-line.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('../bodies/link.js').ChainLink} ChainLink
 * @typedef {import('../bodies/link.js').Knot} Knot
 * @typedef {import('../bodies/link.js').PlainLink} PlainLink
 * @typedef {import('../bodies/link.js').TableLink} TableLink
 * @typedef {import('./link-line.js').Scores} Scores
 */

/**
 * A place t, null for an infinite one: inner(t) enclosed, and numbers that outer of it is not below and not above.
 * @typedef {{place: Rational | null, inner: Interval, least: Rational, most: Rational}} Point
 */

/** Numbers with sigma must be as tight as 2^-100. */
const BITS = 192;

const QUARTER = HALF.times(HALF);

/**
 * @param {ChainLink} link
 * @param {Json} slopeJson
 * @param {Json} tangentJson
 * @param {Scores} scores
 * @param {boolean} above or below
 * @returns {{alpha: Rational, beta: Rational}} of the line in r of the inner link
 */
export function lineOfChain(link, slopeJson, tangentJson, { low, high }, above) {
  const alphas = readNumbersOf(slopeJson, 'slopes of a line', 2);
  const tangents = readNumbersOf(tangentJson, 'tangents of a line', 2);
  require([...alphas, ...tangents].every((one) => one.sign() >= 0), 'sum: a negative slope or tangent');
  if (above) return lineAboveChain(link.inner, link.outer, alphas, tangents, { low, high });
  const { alpha, beta } = lineAboveChain(turnedLink(link.inner), mirroredLink(link.outer), alphas, tangents, {
    low: high === null ? null : high.negated(),
    high: low === null ? null : low.negated(),
  });
  return { alpha, beta: (link.outer.kind === 'logistic' ? ONE : ZERO).minus(beta) };
}

/**
 * @param {PlainLink} inner logistic
 * @param {PlainLink} outer
 * @param {Rational[]} alphas
 * @param {Rational[]} tangents
 * @param {Scores} scores
 */
function lineAboveChain(inner, outer, alphas, tangents, scores) {
  const first = betaAbove(inner, alphas[0], tangents[0], scores);
  const values = {
    low: scores.low === null ? ZERO : sigmaAt(inner, scores.low).lo,
    high: scores.high === null ? ONE : sigmaAt(inner, scores.high).hi,
  };
  const second = betaAbove(outer, alphas[1], tangents[1], values);
  const carried = outer.slope.times(first).plus(outer.offset).times(alphas[1]);
  return { alpha: alphas[1].times(outer.slope).times(alphas[0]), beta: carried.plus(second) };
}

/**
 * y -> w - outer(1 - y): turned round, and moved by 1.
 * @param {PlainLink} outer
 * @returns {PlainLink}
 */
function mirroredLink(outer) {
  const turned = turnedLink(outer);
  if (turned.kind === 'logistic') return { ...turned, offset: turned.offset.minus(turned.slope) };
  return { ...turned, knots: turned.knots.map((knot) => ({ ...knot, place: knot.place.plus(ONE) })) };
}

/**
 * @param {{slope: Rational, offset: Rational}} link
 * @param {Rational} t
 */
function sigmaAt({ slope, offset }, t) {
  return sigmaOf(slope.times(t).plus(offset), BITS);
}

/**
 * @param {ChainLink} link
 * @param {Rational} C positive
 * @param {Rational} E positive
 * @param {Rational} D
 * @param {Scores} u limits of s_u
 * @param {Scores} v limits of s_v
 * @param {Json} placeJson the cuts
 * @returns {Rational} B_k
 */
export function mostOfChain(link, C, E, D, u, v, placeJson) {
  const cuts = readArray(placeJson, 'cuts of a difference').map((cut) => readNumber(cut, 'cut of a difference'));
  require(cuts.length <= MAXIMUM.chainCuts, `sum: more than ${MAXIMUM.chainCuts} cuts of a difference`);
  require(cuts.every((cut, i) => i === 0 || cuts[i - 1].less(cut)), 'sum: cuts of a difference that do not rise');
  const { low: p, high: q } = rangeOfDifference(D, u, v);
  const between = cuts.filter((cut) => (p === null || p.less(cut)) && (q === null || cut.less(q)));
  const places = [p, ...between, q];
  const own = places.map((t, i) => pointOf(link, t, i === 0));
  const moved = places.map((t, i) => pointOf(link, t === null ? null : t.plus(D), i === 0));
  let most = mostOfPiece(link, C, E, own, moved, 0);
  for (let i = 1; i + 1 < places.length; i++) most = larger(most, mostOfPiece(link, C, E, own, moved, i));
  return most;
}

/**
 * @param {ChainLink} link
 * @param {Rational | null} place
 * @param {boolean} isFirst whether an infinite place is minus infinity
 * @returns {Point}
 */
function pointOf({ inner, outer }, place, isFirst) {
  const value = place === null ? exactly(isFirst ? ZERO : ONE) : sigmaAt(inner, place);
  if (outer.kind === 'logistic') return { place, inner: value, least: sigmaAt(outer, value.lo).lo, most: sigmaAt(outer, value.hi).hi };
  const [low, high] = [tableAt(outer.knots, value.lo), tableAt(outer.knots, value.hi)];
  return { place, inner: value, least: low.knot === null ? low.value : low.knot.below, most: high.knot === null ? high.value : high.knot.above };
}

/**
 * On the piece from point i to the next: what its ends come to, or where two lines meet, one down from either end.
 * @param {ChainLink} link
 * @param {Rational} C
 * @param {Rational} E
 * @param {Point[]} own
 * @param {Point[]} moved by D
 * @param {number} i
 */
function mostOfPiece(link, C, E, own, moved, i) {
  const bound = C.times(moved[i + 1].most).minus(E.times(own[i].least));
  const [a, b] = [own[i].place, own[i + 1].place];
  if (a === null || b === null) return bound;
  const [slopes, raised] = [slopesOf(link, own[i], own[i + 1]), slopesOf(link, moved[i], moved[i + 1])];
  if (slopes === null || raised === null) return bound;
  const least = C.times(raised.lo).minus(E.times(slopes.hi));
  const most = C.times(raised.hi).minus(E.times(slopes.lo));
  const [first, last] = [i, i + 1].map((k) => C.times(moved[k].most).minus(E.times(own[k].least)));
  if (most.sign() <= 0) return smaller(bound, first);
  if (least.sign() >= 0) return smaller(bound, last);
  const step = last.minus(first).minus(least.times(b.minus(a)));
  return smaller(bound, first.plus(most.times(step).over(most.minus(least))));
}

/**
 * @param {ChainLink} link
 * @param {Point} first
 * @param {Point} last
 * @returns {Interval | null} of lambda' from one point to the other; null where lambda jumps
 */
function slopesOf({ inner, outer }, first, last) {
  const values = interval(first.inner.lo, last.inner.hi);
  const ofOuter = outer.kind === 'table' ? slopesOfTable(outer, values) : scaled(bellOf(interval(first.least, last.most)), outer.slope);
  if (ofOuter === null) return null;
  const ofInner = scaled(bellOf(values), inner.slope);
  return interval(ofInner.lo.times(ofOuter.lo), ofInner.hi.times(ofOuter.hi));
}

/**
 * @param {Interval} of
 * @param {Rational} factor positive
 */
function scaled({ lo, hi }, factor) {
  return interval(lo.times(factor), hi.times(factor));
}

/**
 * @param {Interval} y from 0 to 1
 * @returns {Interval} of y (1 - y)
 */
function bellOf({ lo, hi }) {
  const [low, high] = [lo.times(ONE.minus(lo)), hi.times(ONE.minus(hi))];
  return interval(smaller(low, high), lo.atMost(HALF) && HALF.atMost(hi) ? QUARTER : larger(low, high));
}

/**
 * @param {TableLink} table
 * @param {Interval} values
 * @returns {Interval | null} of the slopes of all its lines that meet the interval; null where it jumps in there
 */
function slopesOfTable({ knots }, { lo, hi }) {
  // Knots from `first` on are not below the interval, those from `last` on above it.
  const first = countWhere(knots, ({ place }) => place.less(lo));
  const last = countWhere(knots, ({ place }) => place.atMost(hi));
  /** @type {Rational[]} */
  const slopes = first === 0 || last === knots.length ? [ZERO] : [];
  for (let i = Math.max(first - 1, 0); i < last; i++) {
    const [from, to] = [knots[i], knots[i + 1]];
    if (i >= first && !from.below.equals(from.above)) return null;
    if (to !== undefined) slopes.push(to.below.minus(from.above).over(to.place.minus(from.place)));
  }
  return interval(slopes.reduce(smaller), slopes.reduce(larger));
}

/**
 * @param {Knot[]} knots
 * @param {(knot: Knot) => boolean} holds of some knots, and of all before them
 * @returns {number} how many it holds of
 */
function countWhere(knots, holds) {
  let [low, high] = [0, knots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(knots[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
