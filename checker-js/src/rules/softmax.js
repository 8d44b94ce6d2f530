/** The rule `softmax` (section 10): a line for P_c = sigma(z), z = -log sum_r exp(d_r). */

import { entropyOf, softplusOf } from '../exact/interval.js';
import { larger, ONE, Rational, sum, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArrayOf, readNumbersOf } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { tangentAt } from '../proof/line.js';
import { ClassForms } from './class-forms.js';
import { readMultipliers } from './separable.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/** The certificate leaves room for 2^-90 (1 + the sum of all that is added). */
const BITS = 160;

/**
 * `["softmax", way, [w, ...], [[s, [v, ...]], ...]]`, possibly with multipliers of constraints at the end
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function softmax(context, cell, json) {
  const { ofClass, delta } = softmaxOfCase(context, 'softmax');
  const forms = new ClassForms(context, cell, ofClass);
  require(json.length === 4 || json.length === 5, 'softmax: not four or five entries');
  const { a, b, target } = tangentAt(readNumber(json[1], 'way'), delta);
  const weights = readMean(json[2], forms.count);
  const steps = readArrayOf(json[3], 'steps', forms.count - 1).map((item, r) => readStep(item, r + 1));
  const multipliers = json.length === 5 ? readMultipliersFor(context, json[4]) : null;
  const upper = upperFormOf(forms, steps);
  if (upper === null) return { clearance: null, line: null };
  const first = weights.map((weight) => weight.times(a).negated());
  const second = upper.factors.map((factor) => factor.times(b));
  const most = forms.maximum(first, second, multipliers);
  if (most === null) return { clearance: null, line: null };
  const numbers = b.times(upper.number).minus(a.times(entropyOf(weights, BITS).lo));
  require(most.plus(numbers).atMost(target), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line: null };
}

/**
 * The class and the delta of a softmax case.
 * @param {LeafContext} context
 * @param {string} rule
 * @returns {{ofClass: number, delta: Rational}}
 */
export function softmaxOfCase(context, rule) {
  const own = context.case;
  if (own.kind !== 'softmax' || !('ofClass' in own) || !('delta' in own)) return reject(`${rule}: not a probability by softmax`);
  return { ofClass: /** @type {number} */ (own.ofClass), delta: /** @type {Rational} */ (own.delta) };
}

/**
 * @param {LeafContext} context
 * @param {Json} json
 */
function readMultipliersFor(context, json) {
  if (context.claim.model.body.kind === 'affine') return readMultipliers(context, json);
  readArrayOf(json, 'multipliers', 0);
  return null;
}

/**
 * @param {Json} json
 * @param {number} length
 * @returns {Rational[]} numbers >= 0 with sum 1
 */
function readMean(json, length) {
  const weights = readNumbersOf(json, 'weights of a mean', length);
  require(weights.every((weight) => weight.sign() >= 0), 'softmax: a negative weight');
  require(sum(weights).equals(ONE), 'softmax: weights that do not add up to 1');
  return weights;
}

/**
 * @param {Json} json
 * @param {number} length
 * @returns {{slope: Rational, mean: Rational[]}} s_r and v_r
 */
function readStep(json, length) {
  const [slopeJson, mean] = readArrayOf(json, 'step', 2);
  const slope = readNumber(slopeJson, 'slope');
  require(slope.sign() >= 0 && slope.atMost(ONE), 'softmax: a slope that is not from 0 to 1');
  return { slope, mean: readMean(mean, length) };
}

/**
 * u_m: a form plus a number that is at least log sum_r exp(d_r) at every x' of the cell.
 * @param {ClassForms} forms
 * @param {{slope: Rational, mean: Rational[]}[]} steps
 * @returns {{factors: Rational[], number: Rational} | null} null if the cell holds no pair
 */
function upperFormOf(forms, steps) {
  let factors = forms.zero.map((_, r) => (r === 0 ? ONE : ZERO));
  let number = ZERO;
  for (let r = 0; r < steps.length; r++) {
    const { slope, mean } = steps[r];
    const next = r + 1;
    const aboveMean = forms.zero.map((_, i) => (i === next ? ONE : i <= r ? mean[i].negated() : ZERO));
    const high = forms.maximum(forms.zero, aboveMean);
    const belowForm = factors.map((factor, i) => (i === next ? factor.minus(ONE) : factor));
    const low = forms.maximum(forms.zero, belowForm);
    if (high === null || low === null) return null;
    const to = high.minus(entropyOf(mean, BITS).lo);
    const from = low.plus(number).negated();
    const lift = larger(heightAt(from, slope), heightAt(to, slope));
    const keep = ONE.minus(slope);
    factors = factors.map((factor, i) => (i === next ? slope : factor.times(keep)));
    number = number.times(keep).plus(lift);
  }
  return { factors, number };
}

/**
 * @param {Rational} t
 * @param {Rational} slope
 * @returns {Rational} an upper bound of softplus(t) - slope t
 */
function heightAt(t, slope) {
  return softplusOf(t, BITS).hi.minus(slope.times(t));
}
