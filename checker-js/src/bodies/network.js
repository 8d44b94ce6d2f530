/** The body `network` (section 15): layers of neurons over columns. */

import { add, exactly, multiply, roundedOut } from '../exact/interval.js';
import { ONE, Rational, sum, ZERO } from '../exact/rational.js';
import { readArray, readArrayOf, readNumbers, readNumbersOf, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { activate, activateInterval, readActivation } from './activation.js';
import { dot } from './affine.js';
import { columnValue, readCoefficient, readPlainColumns } from './columns.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../exact/interval.js').Interval} Interval
 * @typedef {import('./activation.js').Activation} Activation
 * @typedef {import('./columns.js').PlainColumn} PlainColumn
 * @typedef {import('./columns.js').BodyContext} BodyContext
 */

const MOST_LAYERS = 32;
const MOST_NEURONS = 10_000;
const FINEST_BITS = 65_536;

/**
 * @typedef {{activation: Activation, biases: Rational[], weights: Rational[][]}} Layer a row of weights a neuron
 */

export class NetworkBody {
  kind = /** @type {const} */ ('network');

  /**
   * @param {Space} space
   * @param {PlainColumn[]} columns
   * @param {Layer[]} layers
   * @param {Rational[][]} weights of the neurons of the last layer, one number a score
   * @param {Rational[]} bias one number a score
   */
  constructor(space, columns, layers, weights, bias) {
    this.space = space;
    this.columns = columns;
    this.layers = layers;
    this.weights = weights;
    this.bias = bias;
    this.scores = bias.length;
    this.irrational = layers.some(({ activation }) => !activation.rational);
  }

  /** @param {Rational[]} codes */
  evaluate(codes) {
    let values = this.columns.map((column) => columnValue(column, codes[column.feature]));
    for (const { activation, biases, weights } of this.layers) {
      values = weights.map((row, i) => activate(activation, biases[i].plus(dot(row, values))));
    }
    return this.bias.map((bias, score) => bias.plus(sum(values.map((value, j) => value.times(this.weights[j][score])))));
  }

  /**
   * @param {Rational[]} codes
   * @param {number} bits
   * @returns {Interval[]} of the scores, none wider than 2^-bits (1 + |f|)
   */
  enclose(codes, bits) {
    for (let work = bits + 64; ; work *= 2) {
      const scores = this.encloseWith(codes, work);
      if (work > FINEST_BITS || scores.every((score) => isNarrow(score, bits))) return scores;
    }
  }

  /**
   * @param {Rational[]} codes
   * @param {number} work bits of the numbers on the way
   */
  encloseWith(codes, work) {
    let values = this.columns.map((column) => exactly(columnValue(column, codes[column.feature])));
    for (const { activation, biases, weights } of this.layers) {
      values = weights.map((row, i) => roundedOut(activateInterval(activation, roundedOut(weighted(row, values, biases[i]), work), work), work));
    }
    return this.bias.map((bias, score) => weighted(this.weights.map((row) => row[score]), values, bias));
  }

  /** @param {number} k */
  isConstant(k) {
    const counting = this.neuronsThatCount();
    return this.layers[0].weights.every((row, i) => !counting.has(i) || this.isSameAtAllCodes(row, k));
  }

  /** @returns {Set<number>} the neurons of the first layer that some score depends on */
  neuronsThatCount() {
    let counting = new Set(this.weights.flatMap((row, j) => (row.some((weight) => !weight.isZero()) ? [j] : [])));
    for (let l = this.layers.length - 1; l > 0; l--) {
      /** @type {Set<number>} */
      const before = new Set();
      for (const i of counting) {
        this.layers[l].weights[i].forEach((weight, j) => {
          if (!weight.isZero()) before.add(j);
        });
      }
      counting = before;
    }
    return counting;
  }

  /**
   * @param {Rational[]} row of weights, one a column
   * @param {number} k
   */
  isSameAtAllCodes(row, k) {
    const { levels } = this.space.features[k];
    const own = this.columns.flatMap((column, c) => (column.feature === k ? [{ column, weight: row[c] }] : []));
    if (levels === null) {
      return sum(own.map(({ column, weight }) => (column.kind === 'linear' ? weight.times(column.slope) : ZERO))).isZero();
    }
    const totals = levels.map((_, v) => sum(own.map(({ column, weight }) => weight.times(columnValue(column, Rational.of(v))))));
    return totals.every((total) => total.equals(totals[0]));
  }

  packs() {
    return ['network'];
  }

  /**
   * The score alpha . f, as a body of one score (section 10).
   * @param {Rational[]} alpha
   * @param {Rational} shift
   */
  form(alpha, shift) {
    const weights = this.weights.map((row) => [dot(alpha, row)]);
    return new NetworkBody(this.space, this.columns, this.layers, weights, [dot(alpha, this.bias).plus(shift)]);
  }
}

/**
 * @param {Rational[]} row
 * @param {Interval[]} values
 * @param {Rational} bias
 */
function weighted(row, values, bias) {
  return values.reduce((total, value, j) => add(total, multiply(value, row[j])), exactly(bias));
}

/**
 * @param {Interval} score
 * @param {number} bits
 */
function isNarrow({ lo, hi }, bits) {
  return hi.minus(lo).atMost(ONE.plus(hi.absolute()).scaled(-bits));
}

/**
 * @param {Json} json
 * @param {BodyContext} context
 */
export function readNetwork(json, context) {
  const part = readObject(json, 'body', ['kind', 'columns', 'layers', 'weights', 'bias']);
  const columns = readPlainColumns(part('columns'), context.space);
  require(1 <= columns.length && columns.length <= MAXIMUM.columns, 'body: not 1 to 10,000 columns');
  const items = readArray(part('layers'), 'layers');
  require(1 <= items.length && items.length <= MOST_LAYERS, `body: not 1 to ${MOST_LAYERS} layers`);
  let width = columns.length;
  const layers = items.map((item) => {
    const layer = readLayer(item, width);
    width = layer.biases.length;
    return layer;
  });
  const weights = readArrayOf(part('weights'), 'weights', width).map((item) => readCoefficient(item, 'weight', context));
  return new NetworkBody(context.space, columns, layers, weights, readCoefficient(part('bias'), 'bias', context));
}

/**
 * @param {Json} json
 * @param {number} width how many values the layer is given
 * @returns {Layer}
 */
function readLayer(json, width) {
  const part = readObject(json, 'layer', ['activation', 'biases', 'weights']);
  const biases = readNumbers(part('biases'), 'biases');
  require(1 <= biases.length && biases.length <= MOST_NEURONS, 'layer: not 1 to 10,000 neurons');
  const weights = readArrayOf(part('weights'), 'weights', biases.length).map((row) => readNumbersOf(row, 'row of weights', width));
  return { activation: readActivation(part('activation')), biases, weights };
}
