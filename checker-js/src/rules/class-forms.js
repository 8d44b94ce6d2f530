/** Maxima over a cell of forms in the score differences d_r = f_k - f_c (section 10, "softmax" and "odds"). */

import { ONE, Rational, ZERO } from '../exact/rational.js';
import { reject } from '../rejection.js';
import { maximumWithMultipliers } from './separable.js';
import { maximumOfTrees, shapesOf, treeFormOf } from './tree-maximum.js';

/**
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 */

export class ClassForms {
  /**
   * @param {LeafContext} context
   * @param {Cell} cell
   * @param {number} ofClass c
   */
  constructor(context, cell, ofClass) {
    const { body } = context.claim.model;
    if (body.kind !== 'affine' && body.kind !== 'trees') reject('this rule is not for this body');
    this.context = context;
    this.cell = cell;
    this.ofClass = ofClass;
    /** m, the number of differences */
    this.count = body.scores - 1;
    this.zero = Array.from({ length: this.count }, () => ZERO);
  }

  /**
   * Factors of scores from factors of d_1, ..., d_m.
   * @param {Rational[]} factors
   */
  alphaOf(factors) {
    const alpha = factors.slice();
    const total = factors.reduce((sum, factor) => sum.plus(factor), ZERO);
    alpha.splice(this.ofClass, 0, total.negated());
    return alpha;
  }

  /**
   * The maximum over the pairs of the cell of first . d at x plus second . d at x'.
   * @param {Rational[]} first
   * @param {Rational[]} second
   * @param {import('./separable.js').Multipliers | null} multipliers of constraints, for affine bodies
   * @returns {Rational | null} null if the cell holds no pair
   */
  maximum(first, second, multipliers = null) {
    const { context, cell } = this;
    const { body } = context.claim.model;
    const [alpha, otherAlpha] = [this.alphaOf(first), this.alphaOf(second)];
    if (body.kind === 'affine') {
      return maximumWithMultipliers(context, cell, body.form(alpha, ZERO), body.form(otherAlpha, ZERO), multipliers);
    }
    if (body.kind !== 'trees') return reject('this rule is not for this body');
    const shapes = context.derive(body, () => shapesOf(body, context.clock));
    const forms = [alpha, otherAlpha].map((factors) => treeFormOf(body.form(factors, ZERO), ONE));
    return maximumOfTrees(context.geometry, cell, shapes, forms[0], forms[1], context.clock);
  }
}
