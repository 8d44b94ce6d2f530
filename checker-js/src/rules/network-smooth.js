/**
 * Neurons with tanh, logistic or elu in the rule `network` (section 15, "Smooth activations").
 *
 * Values and slopes are enclosed; every bound is taken at the end of an enclosure that makes it larger. Where a function is
 * concave it is bounded by a tangent, and a tangent at any place is sound: the place is looked for, and need not be exact.
 */

import { activateClosely } from '../bodies/activation.js';
import { exactly, expOf, interval, logOf, multiply, product, subtract } from '../exact/interval.js';
import { larger, ONE, Rational, smaller, ZERO } from '../exact/rational.js';

/**
 * @typedef {import('../bodies/activation.js').Activation} Activation
 * @typedef {import('../exact/interval.js').Interval} Interval
 */

/**
 * @template T
 * @typedef {import('./network-limits.js').Hexagon<T>} Hexagon
 */

/** Bits of enclosures: limits are rounded to 60. */
const BITS = 144;
/** Places of tangents are multiples of 2^-64. */
const PLACE_BITS = 64;

/**
 * @param {Activation} activation
 * @param {Rational} y
 * @returns {Interval} of the slope at y; of elu at 0 the one from the left
 */
function slopeAt(activation, y) {
  if (activation.kind === 'elu') {
    return y.sign() > 0 ? exactly(ONE) : multiply(expOf(y, BITS), activation.numbers[0]);
  }
  const value = activateClosely(activation, y, BITS);
  if (activation.kind === 'logistic') return product(value, subtract(exactly(ONE), value));
  const square = product(value, value);
  // s and s are one number: its square is not negative.
  return subtract(exactly(ONE), interval(larger(square.lo, ZERO), square.hi));
}

/**
 * @param {Activation} activation
 * @param {Rational} from
 * @param {Rational} to
 * @returns {Interval} from the smallest to the largest slope between them
 */
export function slopesBetween(activation, from, to) {
  const slopes = [slopeAt(activation, from), slopeAt(activation, to)];
  if (from.sign() <= 0 && to.sign() >= 0) {
    slopes.push(slopeAt(activation, ZERO));
    if (activation.kind === 'elu') slopes.push(exactly(ONE));
  }
  return interval(slopes.map(({ lo }) => lo).reduce(smaller), slopes.map(({ hi }) => hi).reduce(larger));
}

/**
 * Limits of act(y') - act(y), with the slopes that they come from: all are multiples of 2^-60.
 * @typedef {{e: Rational, E: Rational, r: Rational, R: Rational}} DifferenceLimits
 */

/**
 * N: an upper bound of A act(y) + C act(y') - alpha y - gamma y' over the six limits, the least of three.
 * @param {Activation} activation
 * @param {Hexagon<Rational>} limits
 * @param {DifferenceLimits} difference
 * @param {number} bits of the grid of all limits
 * @param {{A: Rational, C: Rational, alpha: Rational, gamma: Rational}} own
 * @returns {Rational}
 */
export function maximumOfSmoothNeuron(activation, limits, difference, bits, { A, C, alpha, gamma }) {
  const { lo, hi, otherLo, otherHi, p, q } = limits;
  const apart = maximumOfOne(activation, A, alpha, lo, hi).plus(maximumOfOne(activation, C, gamma, otherLo, otherHi));
  const [both, load] = [A.plus(C), alpha.plus(gamma)];
  const ends = { p, q, ...difference };
  const fromFirst = maximumOfOne(activation, both, load, lo, hi).plus(maximumOfDifference(C, gamma, ends, bits));
  const fromSecond = maximumOfOne(activation, both, load, otherLo, otherHi).plus(
    maximumOfDifference(A.negated(), alpha.negated(), ends, bits),
  );
  return [apart, fromFirst, fromSecond].reduce(smaller);
}

/**
 * M(A, a; lo, hi): an upper bound of A act(y) - a y on [lo, hi].
 * @param {Activation} activation
 * @param {Rational} A
 * @param {Rational} a
 * @param {Rational} lo
 * @param {Rational} hi
 */
function maximumOfOne(activation, A, a, lo, hi) {
  /** @type {Rational[]} */
  const bounds = [];
  if (lo.sign() <= 0) bounds.push(maximumOnSide(activation, A, a, lo, smaller(hi, ZERO), -1));
  if (hi.sign() >= 0) bounds.push(maximumOnSide(activation, A, a, larger(lo, ZERO), hi, 1));
  return bounds.reduce(larger);
}

/**
 * The same on [u, v], all of it on one side of 0, where the function is convex or concave.
 * @param {Activation} activation
 * @param {Rational} A
 * @param {Rational} a
 * @param {Rational} u
 * @param {Rational} v
 * @param {-1 | 1} side
 */
function maximumOnSide(activation, A, a, u, v, side) {
  if (!isConcave(activation, A, side)) return larger(upperAt(activation, A, a, u), upperAt(activation, A, a, v));
  if (u.equals(v)) return upperAt(activation, A, a, u);
  const t = placeOfTangent(activation, A, a, u, v, side);
  const slope = subtract(multiply(slopeAt(activation, t), A), exactly(a));
  const rise = larger(slope.hi.times(v.minus(t)), slope.lo.times(u.minus(t)));
  return upperAt(activation, A, a, t).plus(larger(rise, ZERO));
}

/**
 * Whether A act(y) is concave, and not linear, on a side of 0.
 * @param {Activation} activation
 * @param {Rational} A
 * @param {-1 | 1} side
 */
function isConcave({ kind, numbers }, A, side) {
  if (kind === 'elu') return side < 0 && A.sign() * numbers[0].sign() < 0;
  return A.sign() * side > 0;
}

/**
 * @param {Activation} activation
 * @param {Rational} A
 * @param {Rational} a
 * @param {Rational} y
 * @returns {Rational} an upper bound of A act(y) - a y
 */
function upperAt(activation, A, a, y) {
  return multiply(activateClosely(activation, y, BITS), A).hi.minus(a.times(y));
}

/**
 * Where the slope A act'(t) - a is 0, to about 2^-64, or the end of [u, v] that is nearest to there.
 * @param {Activation} activation
 * @param {Rational} A
 * @param {Rational} a
 * @param {Rational} u
 * @param {Rational} v
 * @param {-1 | 1} side
 */
function placeOfTangent({ kind, numbers }, A, a, u, v, side) {
  // The slope is factor (shape(t) - ratio), shape = act', or exp for elu; it falls, as the function is concave.
  const factor = kind === 'elu' ? A.times(numbers[0]) : A;
  const ratio = a.over(factor);
  if (ratio.sign() <= 0) return factor.sign() > 0 ? v : u;
  if (kind === 'elu') return clamped(logOf(ratio, PLACE_BITS + 8).lo, u, v);
  const scaled = kind === 'logistic' ? ratio.scaled(2) : ratio;
  if (ONE.atMost(scaled)) return factor.sign() > 0 ? u : v;
  // tanh: 1 - ratio = s^2, t = log((1 + s)^2 / ratio) / 2; logistic: 1 - 4 ratio = w^2, t = log((1 + w)^2 / (4 ratio)).
  const root = squareRoot(ONE.minus(scaled));
  const distance = logOf(ONE.plus(root).squared().over(scaled), PLACE_BITS + 8).lo;
  const place = kind === 'tanh' ? distance.half() : distance;
  return clamped(side > 0 ? place : place.negated(), u, v);
}

/**
 * @param {Rational} place
 * @param {Rational} u
 * @param {Rational} v
 */
function clamped(place, u, v) {
  return smaller(larger(Rational.dyadic(place.floor(PLACE_BITS), -PLACE_BITS), u), v);
}

/**
 * @param {Rational} value from 0 to 1
 * @returns {Rational} its root, rounded down to a multiple of 2^-96
 */
function squareRoot(value) {
  const wanted = value.floor(192);
  let root = 0n;
  for (let bit = 1n << 96n; bit > 0n; bit >>= 1n) {
    const next = root + bit;
    if (next * next <= wanted) root = next;
  }
  return Rational.dyadic(root, -96);
}

/**
 * D(c, g): the largest c f - g d over p <= d <= q, f between r d and R d and between e and E.
 * @param {Rational} c
 * @param {Rational} g
 * @param {DifferenceLimits & {p: Rational, q: Rational}} limits
 * @param {number} bits of the grid
 */
function maximumOfDifference(c, g, { p, q, e, E, r, R }, bits) {
  const up = c.sign() > 0;
  const end = up ? E : e;
  // The f that counts at d: the largest if c > 0, else the smallest.
  const bestAt = (/** @type {Rational} */ d) => {
    const [one, two] = [r.times(d), R.times(d)];
    return up ? smaller(E, larger(one, two)) : larger(e, smaller(one, two));
  };
  const places = [p, q];
  if (p.sign() < 0 && q.sign() > 0) places.push(ZERO);
  const values = places.map((d) => c.times(bestAt(d)).minus(g.times(d)));
  for (const slope of [r, R]) {
    if (slope.isZero() || c.isZero()) continue;
    const place = end.over(slope);
    if (place.less(p) || q.less(place)) continue;
    for (const units of [place.floor(bits), place.ceil(bits)]) values.push(c.times(end).minus(g.times(Rational.dyadic(units, -bits))));
  }
  return values.reduce(larger);
}
