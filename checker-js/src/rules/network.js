/** The rule `network` (section 15): a bound by multipliers, over both copies of the network at once. */

import { activate } from '../bodies/activation.js';
import { NetworkBody } from '../bodies/network.js';
import { larger, ONE, Rational, smaller, sum, ZERO } from '../exact/rational.js';
import { readArrayOf, readInt } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { positionOf } from '../claim/space.js';
import { maximumOfTables } from './form-maximum.js';
import { activated, closedIntervals, limitsOfSums, LIMIT_BITS } from './network-limits.js';
import { networkShape } from './network-shape.js';
import { maximumOfSmoothNeuron } from './network-smooth.js';
import { polygonMaximum } from './polygon.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/activation.js').Activation} Activation
 * @typedef {import('../proof/cases.js').Line} Line
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 * @typedef {import('./network-shape.js').NetworkShape} NetworkShape
 * @typedef {import('./network-shape.js').WholeLayer} WholeLayer
 */

/**
 * @template T
 * @typedef {import('./network-limits.js').Hexagon<T>} Hexagon
 */

const MOST_BITS = 1000n;
const LARGEST_MULTIPLIER = 2n ** 256n - 1n;

/** The leaf found no pair in its cell. */
const NO_PAIR = Object.freeze({ clearance: null, line: null });

/**
 * `["network", way, bits, [int, ...], [int, ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function network(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'network') return reject('network: not for this body');
  readArrayOf(json, 'network', 5);
  const line = json[1] === null ? null : context.readLine(json[1]);
  const bits = Number(readInt(json[2], 'bits', 0n, MOST_BITS));
  const alpha = readMultipliers(json[3], body);
  const gamma = readMultipliers(json[4], body);
  const shape = context.derive(body, () => networkShape(body));
  const closed = closedIntervals(context.geometry, cell);
  if (closed === null) return NO_PAIR;
  const limits = limitsOfSums(context.geometry, cell, body, shape, closed);
  if (limits === null) return NO_PAIR;
  const ends = lastRow(context, body, line);
  const inputs = maximumOfInputs(context.geometry, cell, shape, closed, alpha[0], gamma[0], bits);
  if (inputs === null) return NO_PAIR;
  const neurons = sumOfNeurons(body, shape, limits, { alpha, gamma, bits, ...ends });
  return conclude(context, line, ends.bias.plus(inputs).plus(neurons));
}

/**
 * @param {Json} json
 * @param {NetworkBody} body
 * @returns {bigint[][]} one int a neuron, layer by layer
 */
function readMultipliers(json, body) {
  const count = body.layers.reduce((total, { biases }) => total + biases.length, 0);
  const items = readArrayOf(json, 'multipliers', count).map((item) => readInt(item, 'multiplier', -LARGEST_MULTIPLIER, LARGEST_MULTIPLIER));
  let at = 0;
  return body.layers.map(({ biases }) => {
    at += biases.length;
    return items.slice(at - biases.length, at);
  });
}

/**
 * s a' w_F and -s b' w_G of the last layer, and s (a' bias_F - b' bias_G).
 * @param {LeafContext} context
 * @param {NetworkBody} body
 * @param {Line | null} line
 * @returns {{first: Rational[], second: Rational[], bias: Rational}}
 */
function lastRow(context, body, line) {
  if (line === null) {
    const zeros = body.weights.map(() => ZERO);
    return { first: zeros, second: zeros, bias: ZERO };
  }
  return context.derive(line, () => {
    const [F, G] = [body.form(line.first.alpha, ZERO), body.form(line.second.alpha, ZERO)];
    const total = line.a.plus(line.b);
    const s = line.first.sign.sign() > 0 ? ONE : ONE.negated();
    const a = s.times(line.a).over(total);
    const b = s.times(line.b).over(total).negated();
    return {
      first: F.weights.map(([weight]) => weight.times(a)),
      second: G.weights.map(([weight]) => weight.times(b)),
      bias: F.bias[0].times(a).plus(G.bias[0].times(b)),
    };
  });
}

/**
 * @param {LeafContext} context
 * @param {Line | null} line
 * @param {Rational} bound B
 * @returns {LeafResult}
 */
function conclude(context, line, bound) {
  if (line === null) {
    require(bound.sign() < 0, 'network: the multipliers do not show that the cell is empty');
    return NO_PAIR;
  }
  const { sign, shift } = line.first;
  const total = sign.absolute().times(line.a.plus(line.b)).times(bound).plus(line.a.minus(line.b).times(shift));
  const order = total.compare(line.target);
  require(order < 0 || (order === 0 && line.mayTouch), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}

/**
 * I = max over the cell of alpha_0 . y_0(x) + gamma_0 . y_0(x').
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @param {NetworkShape} shape
 * @param {Map<number, Hexagon<Rational>>} closed
 * @param {bigint[]} alpha
 * @param {bigint[]} gamma
 * @param {number} bits
 * @returns {Rational | null} null if no codes of a feature satisfy its relation
 */
function maximumOfInputs(geometry, cell, shape, closed, alpha, gamma, bits) {
  const weigh = (/** @type {bigint[]} */ multipliers, /** @type {(i: number) => Rational} */ valueOf) =>
    sum(multipliers.flatMap((multiplier, i) => (multiplier === 0n ? [] : [valueOf(i).times(Rational.of(multiplier))]))).scaled(-bits);
  let total = weigh(alpha, (i) => shape.base[i]).plus(weigh(gamma, (i) => shape.base[i]));
  for (let k = 0; k < shape.contributions.length; k++) {
    const { slopes, tables } = shape.contributions[k];
    const [i, j] = [geometry.first[k], geometry.second[k]];
    const codes = [cell.lo[i], cell.hi[i], cell.lo[j], cell.hi[j]];
    /** @type {Rational | null} */
    let most;
    if (slopes !== null) {
      const [u, v] = [weigh(alpha, (n) => slopes[n]), weigh(gamma, (n) => slopes[n])];
      const ends = closed.get(k);
      if (ends !== undefined) most = polygonMaximum(u, v, ends.lo, ends.hi, ends.otherLo, ends.otherHi, ends.p, ends.q);
      else most = u.plus(v).times(u.plus(v).sign() > 0 ? codes[1] : codes[0]);
    } else {
      const rows = /** @type {Rational[][]} */ (tables);
      const tableOf = (/** @type {bigint[]} */ multipliers) => rows[0].map((_, position) => weigh(multipliers, (n) => rows[n][position]));
      most = maximumOfTables(tableOf(alpha), tableOf(gamma), codes.map(positionOf), geometry.similarity[k]);
    }
    if (most === null) return null;
    total = total.plus(most);
  }
  return total;
}

/**
 * @typedef {object} Multipliers
 * @property {bigint[][]} alpha
 * @property {bigint[][]} gamma
 * @property {number} bits
 * @property {Rational[]} first the last layer's A
 * @property {Rational[]} second the last layer's C
 */

/**
 * The sum of all N, and of (alpha_l + gamma_l) . b_l over l >= 1.
 * @param {NetworkBody} body
 * @param {NetworkShape} shape
 * @param {Hexagon<bigint>[][]} limits
 * @param {Multipliers} multipliers
 */
function sumOfNeurons(body, shape, limits, { alpha, gamma, bits, first, second }) {
  let total = ZERO;
  body.layers.forEach(({ activation, biases }, l) => {
    const last = l === body.layers.length - 1;
    const A = last ? first : pulledBack(shape.layers[l + 1], alpha[l + 1], bits);
    const C = last ? second : pulledBack(shape.layers[l + 1], gamma[l + 1], bits);
    biases.forEach((bias, i) => {
      const own = { A: A[i], C: C[i], alpha: Rational.dyadic(alpha[l][i], -bits), gamma: Rational.dyadic(gamma[l][i], -bits) };
      const maximumOf = activation.rational ? maximumOfNeuron : maximumOfSmooth;
      total = total.plus(maximumOf(activation, limits[l][i], own));
      if (l > 0) total = total.plus(own.alpha.plus(own.gamma).times(bias));
    });
  });
  return total;
}

/**
 * W^T multipliers.
 * @param {WholeLayer} layer
 * @param {bigint[]} multipliers
 * @param {number} bits
 */
function pulledBack(layer, multipliers, bits) {
  return layer.weights[0].map((_, j) => {
    let total = 0n;
    multipliers.forEach((multiplier, i) => {
      if (multiplier !== 0n) total += multiplier * layer.weights[i][j];
    });
    return Rational.fraction(total, layer.denominator).scaled(-bits);
  });
}

/**
 * N of a neuron with a smooth activation.
 * @param {Activation} activation
 * @param {Hexagon<bigint>} limits
 * @param {{A: Rational, C: Rational, alpha: Rational, gamma: Rational}} own
 */
function maximumOfSmooth(activation, limits, own) {
  const real = (/** @type {bigint} */ units) => Rational.dyadic(units, -LIMIT_BITS);
  const ends = {
    lo: real(limits.lo),
    hi: real(limits.hi),
    otherLo: real(limits.otherLo),
    otherHi: real(limits.otherHi),
    p: real(limits.p),
    q: real(limits.q),
  };
  const { p, q, r, R } = activated(activation, limits);
  return maximumOfSmoothNeuron(activation, ends, { e: real(p), E: real(q), r, R }, LIMIT_BITS, own);
}

/**
 * N = max of A act(y) + C act(y') - alpha y - gamma y' over the six limits.
 * @param {Activation} activation
 * @param {Hexagon<bigint>} limits
 * @param {{A: Rational, C: Rational, alpha: Rational, gamma: Rational}} own
 */
function maximumOfNeuron(activation, limits, { A, C, alpha, gamma }) {
  const real = (/** @type {bigint} */ units) => Rational.dyadic(units, -LIMIT_BITS);
  const [lo, hi, otherLo, otherHi] = [limits.lo, limits.hi, limits.otherLo, limits.otherHi].map(real);
  const [p, q] = [real(limits.p), real(limits.q)];
  const candidates = [otherLo.minus(p), otherHi.minus(q)];
  for (const place of activation.breaks) candidates.push(place, place.minus(p), place.minus(q));
  const places = [lo, hi, ...candidates.filter((y) => lo.less(y) && y.less(hi))];
  /** @type {Rational | null} */
  let most = null;
  for (const y of places) {
    const base = A.times(activate(activation, y)).minus(alpha.times(y));
    const [from, to] = [larger(otherLo, y.plus(p)), smaller(otherHi, y.plus(q))];
    const others = [from, to, ...activation.breaks.filter((place) => from.less(place) && place.less(to))];
    for (const other of others) {
      const value = base.plus(C.times(activate(activation, other))).minus(gamma.times(other));
      if (most === null || most.less(value)) most = value;
    }
  }
  return /** @type {Rational} */ (most);
}
