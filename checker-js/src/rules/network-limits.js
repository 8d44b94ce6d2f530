/** Limits of all sums of a network over a cell, layer by layer, in multiples of 2^-60 (section 15, "Limits"). */

import { activate, activateInterval } from '../bodies/activation.js';
import { floorDivide, larger, Rational, smaller } from '../exact/rational.js';
import { positionOf } from '../claim/space.js';
import { slopesBetween } from './network-smooth.js';
import { quantityKey } from './neuron.js';

/**
 * @typedef {import('../bodies/activation.js').Activation} Activation
 * @typedef {import('../bodies/network.js').NetworkBody} NetworkBody
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('./network-shape.js').NetworkShape} NetworkShape
 * @typedef {import('./network-shape.js').WholeLayer} WholeLayer
 */

export const LIMIT_BITS = 60;
/** Values of smooth activations are enclosed more finely before they are rounded. */
const VALUE_BITS = 144;

/**
 * lo <= y <= hi, otherLo <= y' <= otherHi, p <= y' - y <= q.
 * @template T
 * @typedef {{lo: T, hi: T, otherLo: T, otherHi: T, p: T, q: T}} Hexagon
 */

/**
 * Six ends sharpened by each other, one after the other.
 * @param {Hexagon<Rational>} ends
 * @returns {Hexagon<Rational> | null} null if nothing is left
 */
export function closedCodes({ lo, hi, otherLo, otherHi, p, q }) {
  const p1 = larger(p, otherLo.minus(hi));
  const q1 = smaller(q, otherHi.minus(lo));
  const otherLo1 = larger(otherLo, lo.plus(p1));
  const otherHi1 = smaller(otherHi, hi.plus(q1));
  const lo1 = larger(lo, otherLo1.minus(q1));
  const hi1 = smaller(hi, otherHi1.minus(p1));
  if (hi1.less(lo1) || otherHi1.less(otherLo1) || q1.less(p1)) return null;
  return { lo: lo1, hi: hi1, otherLo: otherLo1, otherHi: otherHi1, p: p1, q: q1 };
}

/**
 * The same of limits in units of 2^-60.
 * @param {Hexagon<bigint>} ends
 * @returns {Hexagon<bigint> | null}
 */
function closedLimits({ lo, hi, otherLo, otherHi, p, q }) {
  p = most(p, otherLo - hi);
  q = least(q, otherHi - lo);
  otherLo = most(otherLo, lo + p);
  otherHi = least(otherHi, hi + q);
  lo = most(lo, otherLo - q);
  hi = least(hi, otherHi - p);
  return lo > hi || otherLo > otherHi || p > q ? null : { lo, hi, otherLo, otherHi, p, q };
}

/**
 * @param {bigint} a
 * @param {bigint} b
 */
function most(a, b) {
  return a > b ? a : b;
}

/**
 * @param {bigint} a
 * @param {bigint} b
 */
function least(a, b) {
  return a < b ? a : b;
}

/**
 * The closed intervals of the numeric features that are not `same`.
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @returns {Map<number, Hexagon<Rational>> | null} null if the cell holds no pair
 */
export function closedIntervals(geometry, cell) {
  /** @type {Map<number, Hexagon<Rational>>} */
  const closed = new Map();
  for (let k = 0; k < geometry.space.features.length; k++) {
    if (geometry.space.features[k].levels !== null || geometry.similarity[k].kind === 'same') continue;
    const [i, j, d] = [geometry.first[k], geometry.second[k], geometry.difference[k]];
    const [lo, hi, otherLo, otherHi] = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
    const p = d >= 0 ? cell.lo[d] : otherLo.minus(hi);
    const q = d >= 0 ? cell.hi[d] : otherHi.minus(lo);
    const ends = closedCodes({ lo, hi, otherLo, otherHi, p, q });
    if (ends === null) return null;
    closed.set(k, ends);
  }
  return closed;
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {NetworkBody} body
 * @param {NetworkShape} shape
 * @param {Map<number, Hexagon<Rational>>} closed
 * @returns {Hexagon<bigint>[][] | null} of each neuron of each layer; null if the cell holds no pair
 */
export function limitsOfSums(geometry, cell, body, shape, closed) {
  /** @type {Hexagon<bigint>[][]} */
  const limits = [];
  for (let l = 0; l < body.layers.length; l++) {
    const found = l === 0 ? firstLayer(geometry, cell, shape, closed) : nextLayer(shape.layers[l], body.layers[l - 1].activation, limits[l - 1]);
    /** @type {Hexagon<bigint>[]} */
    const met = [];
    for (let i = 0; i < found.length; i++) {
      const own = closedLimits(metByCell(cell, l, i, found[i]));
      if (own === null) return null;
      met.push(own);
    }
    limits.push(met);
  }
  return limits;
}

/**
 * What was found, sharpened by the limits that `neuron` nodes gave the cell.
 * @param {Cell} cell
 * @param {number} layer
 * @param {number} neuron
 * @param {Hexagon<bigint>} found
 */
function metByCell(cell, layer, neuron, found) {
  if (cell.limits.size === 0) return found;
  const ends = { ...found };
  /** @type {[keyof Hexagon<bigint>, keyof Hexagon<bigint>][]} */
  const names = [['lo', 'hi'], ['otherLo', 'otherHi'], ['p', 'q']];
  names.forEach(([low, high], copy) => {
    const limit = cell.limits.get(quantityKey(layer, neuron, copy));
    if (limit === undefined) return;
    if (limit.lo !== null) ends[low] = most(ends[low], limit.lo.floor(LIMIT_BITS));
    if (limit.hi !== null) ends[high] = least(ends[high], limit.hi.ceil(LIMIT_BITS));
  });
  return ends;
}

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {NetworkShape} shape
 * @param {Map<number, Hexagon<Rational>>} closed
 * @returns {Hexagon<bigint>[]}
 */
function firstLayer(geometry, cell, shape, closed) {
  return shape.base.map((base, i) => {
    const [down, up] = [base.floor(LIMIT_BITS), base.ceil(LIMIT_BITS)];
    const total = { lo: down, hi: up, otherLo: down, otherHi: up, p: 0n, q: 0n };
    shape.contributions.forEach(({ slopes, tables }, k) => {
      const [first, second] = [geometry.first[k], geometry.second[k]];
      const ends = closed.get(k);
      let own, other;
      if (tables !== null) {
        own = rangeOf(tables[i].slice(positionOf(cell.lo[first]), positionOf(cell.hi[first]) + 1));
        other = rangeOf(tables[i].slice(positionOf(cell.lo[second]), positionOf(cell.hi[second]) + 1));
      } else {
        const slope = /** @type {Rational[]} */ (slopes)[i];
        own = rangeOf([slope.times(ends?.lo ?? cell.lo[first]), slope.times(ends?.hi ?? cell.hi[first])]);
        other = rangeOf([slope.times(ends?.otherLo ?? cell.lo[second]), slope.times(ends?.otherHi ?? cell.hi[second])]);
      }
      total.lo += own.down;
      total.hi += own.up;
      total.otherLo += other.down;
      total.otherHi += other.up;
      if (geometry.similarity[k].kind === 'same') return;
      if (tables !== null) {
        total.p += other.down - own.up;
        total.q += other.up - own.down;
      } else if (ends !== undefined) {
        const slope = /** @type {Rational[]} */ (slopes)[i];
        const difference = rangeOf([slope.times(ends.p), slope.times(ends.q)]);
        total.p += difference.down;
        total.q += difference.up;
      }
    });
    return total;
  });
}

/**
 * @param {Rational[]} values
 * @returns {{down: bigint, up: bigint}} the smallest and the largest one, rounded outwards
 */
function rangeOf(values) {
  return { down: values.reduce(smaller).floor(LIMIT_BITS), up: values.reduce(larger).ceil(LIMIT_BITS) };
}

/**
 * @param {WholeLayer} layer
 * @param {Activation} activation of the layer before
 * @param {Hexagon<bigint>[]} before its limits
 * @returns {Hexagon<bigint>[]}
 */
function nextLayer(layer, activation, before) {
  const given = before.map((ends) => activated(activation, ends));
  const scale = 1n << BigInt(LIMIT_BITS);
  return layer.weights.map((row, i) => {
    const bias = layer.biases[i] * scale;
    const total = { lo: bias, hi: bias, otherLo: bias, otherHi: bias, p: 0n, q: 0n };
    row.forEach((weight, j) => {
      if (weight === 0n) return;
      const { lo, hi, otherLo, otherHi, p, q } = given[j];
      const up = weight > 0n;
      total.lo += weight * (up ? lo : hi);
      total.hi += weight * (up ? hi : lo);
      total.otherLo += weight * (up ? otherLo : otherHi);
      total.otherHi += weight * (up ? otherHi : otherLo);
      total.p += weight * (up ? p : q);
      total.q += weight * (up ? q : p);
    });
    const down = (/** @type {bigint} */ value) => floorDivide(value, layer.denominator);
    const above = (/** @type {bigint} */ value) => -floorDivide(-value, layer.denominator);
    return {
      lo: down(total.lo),
      hi: above(total.hi),
      otherLo: down(total.otherLo),
      otherHi: above(total.otherHi),
      p: down(total.p),
      q: above(total.q),
    };
  });
}

/**
 * The limits of act(y), act(y') and act(y') - act(y), and of the slopes between.
 * @param {Activation} activation
 * @param {Hexagon<bigint>} ends
 * @returns {Hexagon<bigint> & {r: Rational, R: Rational}}
 */
export function activated(activation, ends) {
  const own = activatedRange(activation, ends.lo, ends.hi);
  const other = activatedRange(activation, ends.otherLo, ends.otherHi);
  const { r, R } = slopesOn(activation, least(ends.lo, ends.otherLo), most(ends.hi, ends.otherHi));
  const [p, q] = [Rational.dyadic(ends.p, -LIMIT_BITS), Rational.dyadic(ends.q, -LIMIT_BITS)];
  const difference = rangeOf([r.times(p), R.times(p), r.times(q), R.times(q)]);
  return {
    lo: own.down,
    hi: own.up,
    otherLo: other.down,
    otherHi: other.up,
    p: most(difference.down, other.down - own.up),
    q: least(difference.up, other.up - own.down),
    r,
    R,
  };
}

/**
 * @param {Activation} activation
 * @param {bigint} lo
 * @param {bigint} hi
 */
function activatedRange(activation, lo, hi) {
  const [from, to] = [Rational.dyadic(lo, -LIMIT_BITS), Rational.dyadic(hi, -LIMIT_BITS)];
  if (!activation.rational) {
    const { lo: low, hi: high } = activateInterval(activation, { lo: from, hi: to }, VALUE_BITS);
    return { down: low.floor(LIMIT_BITS), up: high.ceil(LIMIT_BITS) };
  }
  const places = [from, to, ...activation.breaks.filter((place) => from.less(place) && place.less(to))];
  return rangeOf(places.map((place) => activate(activation, place)));
}

/**
 * The smallest and the largest slope on an interval. With pieces: of those that have more than one point in common with it, or
 * of all of them if none has. Slopes of smooth activations are rounded outwards.
 * @param {Activation} activation
 * @param {bigint} lo
 * @param {bigint} hi
 * @returns {{r: Rational, R: Rational}}
 */
function slopesOn(activation, lo, hi) {
  const [from, to] = [Rational.dyadic(lo, -LIMIT_BITS), Rational.dyadic(hi, -LIMIT_BITS)];
  if (!activation.rational) {
    const found = slopesBetween(activation, from, to);
    return { r: Rational.dyadic(found.lo.floor(LIMIT_BITS), -LIMIT_BITS), R: Rational.dyadic(found.hi.ceil(LIMIT_BITS), -LIMIT_BITS) };
  }
  return slopesOfPieces(activation, from, to);
}

/**
 * @param {Activation} activation a rational one
 * @param {Rational} from
 * @param {Rational} to
 * @returns {{r: Rational, R: Rational}} of the pieces that have more than one point in common with the interval, or of all
 */
export function slopesOfPieces({ breaks, slopes }, from, to) {
  const met = slopes.filter((_, piece) => {
    const start = piece === 0 ? from : larger(from, breaks[piece - 1]);
    const end = piece === breaks.length ? to : smaller(to, breaks[piece]);
    return start.less(end);
  });
  const counting = met.length > 0 ? met : slopes;
  return { r: counting.reduce(smaller), R: counting.reduce(larger) };
}
