/** Activations of networks (section 15): their values, exact or enclosed, and the pieces of those that are rational. */

import { exactly, expOf, interval, multiply, reciprocal, roundedOut, subtract, sigmaOf } from '../exact/interval.js';
import { larger, ONE, Rational, smaller, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../exact/interval.js').Interval} Interval
 */

/**
 * A rational activation is linear between its breaks: slopes has one entry more than breaks.
 * @typedef {object} Activation
 * @property {string} kind
 * @property {Rational[]} numbers
 * @property {Rational[]} breaks
 * @property {Rational[]} slopes empty if the activation is not rational
 * @property {boolean} rational
 */

/**
 * @param {Json} json
 * @returns {Activation}
 */
export function readActivation(json) {
  const [kind] = readArray(json, 'activation');
  const numbersOf = (/** @type {number} */ count) =>
    readArrayOf(json, 'activation', 1 + count).slice(1).map((item) => readNumber(item, 'activation'));
  switch (kind) {
    case 'relu':
      return { kind, numbers: numbersOf(0), breaks: [ZERO], slopes: [ZERO, ONE], rational: true };
    case 'leaky_relu': {
      const numbers = numbersOf(1);
      return { kind, numbers, breaks: [ZERO], slopes: [numbers[0], ONE], rational: true };
    }
    case 'clip': {
      const numbers = numbersOf(2);
      require(numbers[0].atMost(numbers[1]), 'activation: clip with lo > hi');
      return { kind, numbers, breaks: numbers, slopes: [ZERO, ONE, ZERO], rational: true };
    }
    case 'tanh':
    case 'logistic':
      return { kind, numbers: numbersOf(0), breaks: [], slopes: [], rational: false };
    case 'elu':
      return { kind, numbers: numbersOf(1), breaks: [], slopes: [], rational: false };
    default:
      return reject('activation: unknown');
  }
}

/**
 * @param {Activation} activation a rational one
 * @param {Rational} y
 */
export function activate({ kind, numbers }, y) {
  if (kind === 'clip') return smaller(larger(y, numbers[0]), numbers[1]);
  if (y.sign() >= 0) return y;
  return kind === 'relu' ? ZERO : numbers[0].times(y);
}

/**
 * @param {Activation} activation
 * @param {Rational} y
 * @param {number} bits
 * @returns {Interval}
 */
export function activateClosely(activation, y, bits) {
  if (activation.rational) return exactly(activate(activation, y));
  if (activation.kind === 'logistic') return sigmaOf(y, bits);
  if (activation.kind === 'elu') {
    if (y.sign() >= 0) return exactly(y);
    return multiply(subtract(expOf(y, bits), exactly(ONE)), activation.numbers[0]);
  }
  // tanh(|y|) = 2 / (1 + exp(-2 |y|)) - 1, and tanh is odd.
  const small = expOf(y.absolute().scaled(1).negated(), bits);
  const inverse = roundedOut(reciprocal(interval(ONE.plus(small.lo), ONE.plus(small.hi))), bits);
  const size = subtract(multiply(inverse, Rational.of(2)), exactly(ONE));
  return y.sign() >= 0 ? size : multiply(size, ONE.negated());
}

/**
 * Of all y in an interval: every activation is monotone on y <= 0 and on y >= 0.
 * @param {Activation} activation
 * @param {Interval} y
 * @param {number} bits
 * @returns {Interval}
 */
export function activateInterval(activation, y, bits) {
  const points = [y.lo, y.hi];
  if (y.lo.sign() < 0 && y.hi.sign() > 0) points.push(ZERO);
  const values = points.map((point) => activateClosely(activation, point, bits));
  return interval(values.map((value) => value.lo).reduce(smaller), values.map((value) => value.hi).reduce(larger));
}
