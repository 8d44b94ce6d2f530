/** The rule `odds` (section 10): P_c(x) - P_c(x') bounded by halving boxes of the differences d(x). */

import { expOf, sigmaOf } from '../exact/interval.js';
import { larger, ONE, Rational, ZERO } from '../exact/rational.js';
import { readArray, readArrayOf, readNumbersOf } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { ClassForms } from './class-forms.js';
import { softmaxOfCase } from './softmax.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

const BITS = 128;
const LARGEST = Rational.of(64);

/** gamma . d <= limit at every x of the cell. */
/** @typedef {{factors: Rational[], limit: Rational}} Direction */

/**
 * `["odds", [[number, ...], ...]]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function odds(context, cell, json) {
  const { ofClass, delta } = softmaxOfCase(context, 'odds');
  const forms = new ClassForms(context, cell, ofClass);
  const [, listed] = readArrayOf(json, 'odds', 2);
  const directions = readArray(listed, 'directions').map((item) => readNumbersOf(item, 'direction', forms.count));
  const bounds = boundsOf(forms, directions);
  if (bounds === null) return { clearance: null, line: null };
  const { box, gains, limits } = bounds;
  if (gains.every((gain) => gain.sign() <= 0)) return { clearance: context.noClearance, line: null };
  require(gains.every((gain) => gain.atMost(LARGEST)), 'odds: a difference that grows by more than 64');
  const test = new BoxTest(gains, limits, delta);
  const waiting = [box];
  let looked = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    context.clock.tick();
    looked += 1;
    require(looked <= MAXIMUM.oddsBoxes, 'odds: too many boxes');
    if (!test.isDone(next)) waiting.push(...halves(next));
  }
  return { clearance: context.noClearance, line: null };
}

/**
 * The end of an interval of one d_r, with bounds of its exponential and of sigma.
 * @typedef {{at: Rational, expLow: Rational, expHigh: Rational, sigma: Rational}} End
 * @typedef {{lo: End[], hi: End[]}} Box
 */

/**
 * @param {Rational} at
 * @returns {End}
 */
function endAt(at) {
  // Where d is above 64 its exponential is not used.
  const power = expOf(at.atMost(LARGEST) ? at : LARGEST, BITS);
  return { at, expLow: power.lo, expHigh: power.hi, sigma: sigmaOf(at, BITS).lo };
}

/**
 * M_r, h_j and the box that the unit directions make.
 * @param {ClassForms} forms
 * @param {Rational[][]} directions
 * @returns {{box: Box, gains: Rational[], limits: Direction[]} | null} null if the cell holds no pair
 */
function boundsOf(forms, directions) {
  const unit = (/** @type {number} */ r, /** @type {Rational} */ value) => forms.zero.map((zero, i) => (i === r ? value : zero));
  /** @type {Box} */
  const box = { lo: [], hi: [] };
  const gains = [];
  for (let r = 0; r < forms.count; r++) {
    const gain = forms.maximum(unit(r, ONE.negated()), unit(r, ONE));
    const most = forms.maximum(unit(r, ONE), forms.zero);
    const least = forms.maximum(unit(r, ONE.negated()), forms.zero);
    if (gain === null || most === null || least === null) return null;
    gains.push(gain);
    box.hi.push(endAt(most));
    box.lo.push(endAt(least.negated()));
  }
  const limits = [];
  for (const factors of directions) {
    const limit = forms.maximum(factors, forms.zero);
    if (limit === null) return null;
    limits.push({ factors, limit });
  }
  return { box, gains, limits };
}

class BoxTest {
  /**
   * @param {Rational[]} gains M_r
   * @param {Direction[]} limits
   * @param {Rational} delta
   */
  constructor(gains, limits, delta) {
    this.limits = limits;
    this.delta = delta;
    /** upper bounds of exp(M_r) */
    this.growth = gains.map((gain) => expOf(gain, BITS).hi);
    /** the r by decreasing M_r */
    this.order = gains.map((_, r) => r).sort((a, b) => gains[b].compare(gains[a]));
  }

  /** @param {Box} box */
  isDone(box) {
    return this.isOutside(box) || this.isSmall(box);
  }

  /** @param {Box} box: does it break gamma . d <= limit everywhere? */
  isOutside({ lo, hi }) {
    return this.limits.some(({ factors, limit }) => {
      const least = factors.reduce((total, factor, r) => total.plus(factor.times((factor.sign() > 0 ? lo : hi)[r].at)), ZERO);
      return limit.less(least);
    });
  }

  /**
   * q(S) = delta R S^2 - B S + delta >= 0 for all S from S_1 to S_2.
   * @param {Box} box
   */
  isSmall({ lo, hi }) {
    const { delta } = this;
    const bounded = hi.every(({ at }) => at.atMost(LARGEST));
    const R = bounded ? this.ratio(lo, hi) : this.growth.reduce(larger);
    const B = R.minus(ONE).minus(delta.times(ONE.plus(R)));
    if (B.sign() <= 0 || B.squared().atMost(delta.squared().times(R).scaled(2))) return true;
    const q = (/** @type {Rational} */ S) => delta.times(R).times(S.squared()).minus(B.times(S)).plus(delta);
    const slope = (/** @type {Rational} */ S) => delta.times(R).times(S).scaled(1);
    const S1 = lo.reduce((total, { expLow }) => total.plus(expLow), ZERO);
    if (q(S1).sign() >= 0 && B.atMost(slope(S1))) return true;
    if (!bounded) return false;
    const S2 = hi.reduce((total, { expHigh }) => total.plus(expHigh), ZERO);
    return q(S2).sign() >= 0 && slope(S2).atMost(B);
  }

  /**
   * R, the largest mean of the exp(M_r) with weights y_r from exp(lo_r) to exp(hi_r): largest weights for some largest M_r.
   * @param {End[]} lo
   * @param {End[]} hi
   */
  ratio(lo, hi) {
    const { order, growth } = this;
    let top = ZERO;
    let bottom = ZERO;
    for (const r of order) {
      top = top.plus(lo[r].expLow.times(growth[r]));
      bottom = bottom.plus(lo[r].expLow);
    }
    /** @type {{top: Rational, bottom: Rational} | null} */
    let best = null;
    for (const r of order) {
      const more = hi[r].expHigh.minus(lo[r].expLow);
      top = top.plus(more.times(growth[r]));
      bottom = bottom.plus(more);
      if (best === null || best.top.times(bottom).less(top.times(best.bottom))) best = { top, bottom };
    }
    const { top: t, bottom: s } = /** @type {{top: Rational, bottom: Rational}} */ (best);
    // Rounded up, so that its denominator does not make all that follows long.
    return Rational.dyadic(t.over(s).ceil(BITS), -BITS);
  }
}

/**
 * Both halves, in the middle of the first r with the largest sigma(hi_r) - sigma(lo_r).
 * @param {Box} box
 * @returns {[Box, Box]}
 */
function halves({ lo, hi }) {
  let widest = 0;
  const width = (/** @type {number} */ r) => hi[r].sigma.minus(lo[r].sigma);
  for (let r = 1; r < lo.length; r++) if (width(widest).less(width(r))) widest = r;
  const middle = endAt(lo[widest].at.plus(hi[widest].at).half());
  const replaced = (/** @type {End[]} */ ends) => ends.map((end, r) => (r === widest ? middle : end));
  return [{ lo, hi: replaced(hi) }, { lo: replaced(lo), hi }];
}
