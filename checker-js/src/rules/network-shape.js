/** A network as the rule `network` uses it: contributions of features to the first layer, and layers of whole numbers. */

import { NetworkBody } from '../bodies/network.js';
import { Rational, sum, ZERO } from '../exact/rational.js';

/** @typedef {import('../bodies/columns.js').PlainColumn} PlainColumn */

/**
 * What a feature adds to the sums of the first layer: slope times code, or a table's entry; one a neuron.
 * @typedef {{slopes: Rational[] | null, tables: Rational[][] | null}} Contribution
 */

/**
 * Weights and biases of a layer times a common denominator.
 * @typedef {{denominator: bigint, biases: bigint[], weights: bigint[][]}} WholeLayer
 */

/**
 * @typedef {object} NetworkShape
 * @property {Rational[]} base the part of the first layer's sums that does not depend on x
 * @property {Contribution[]} contributions one a feature
 * @property {WholeLayer[]} layers
 */

/**
 * @param {NetworkBody} body
 * @returns {NetworkShape}
 */
export function networkShape(body) {
  const [first] = body.layers;
  const base = first.weights.map((row, i) =>
    body.columns.reduce(
      (total, column, c) => (column.kind === 'linear' ? total.plus(row[c].times(column.offset)) : total),
      first.biases[i],
    ),
  );
  const contributions = body.space.features.map(({ levels }, k) => {
    const own = body.columns.flatMap((column, c) => (column.feature === k ? [{ column, c }] : []));
    if (levels === null) return { slopes: first.weights.map((row) => slopeOf(own, row)), tables: null };
    return { slopes: null, tables: first.weights.map((row) => levels.map((_, v) => entryOf(own, row, v))) };
  });
  return { base, contributions, layers: body.layers.map(wholeLayer) };
}

/**
 * @param {{column: PlainColumn, c: number}[]} columns
 * @param {Rational[]} row
 */
function slopeOf(columns, row) {
  return sum(columns.map(({ column, c }) => (column.kind === 'linear' ? row[c].times(column.slope) : ZERO)));
}

/**
 * @param {{column: PlainColumn, c: number}[]} columns
 * @param {Rational[]} row
 * @param {number} v
 */
function entryOf(columns, row, v) {
  return sum(columns.map(({ column, c }) => (column.kind === 'table' ? row[c].times(column.table[v]) : ZERO)));
}

/**
 * @param {{biases: Rational[], weights: Rational[][]}} layer
 * @returns {WholeLayer}
 */
function wholeLayer({ biases, weights }) {
  const numbers = [...biases, ...weights.flat()].map((number) => number.lowest());
  const power = numbers.reduce((least, { two }) => Math.min(least, two), 0);
  const odd = numbers.reduce((common, number) => leastCommonMultiple(common, number.odd), 1n);
  const whole = (/** @type {Rational} */ number) => {
    const { top, two, odd: own } = number.lowest();
    return (top << BigInt(two - power)) * (odd / own);
  };
  return { denominator: odd << BigInt(-power), biases: biases.map(whole), weights: weights.map((row) => row.map(whole)) };
}

/**
 * @param {bigint} a positive
 * @param {bigint} b positive
 */
function leastCommonMultiple(a, b) {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}
