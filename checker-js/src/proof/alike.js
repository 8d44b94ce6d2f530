/** Everybody decided alike (section 14): what a proof of a decision with margin 0 may say besides. */

import { moves } from '../claim/similarity.js';
import { ONE } from '../exact/rational.js';

/**
 * @typedef {import('../claim/claim.js').Claim} Claim
 * @typedef {import('./leaf.js').LeafResult} LeafResult
 */

/** Remembers of the leaves of one case whether all of them look at x alone, or all at x' alone. */
export class Sides {
  constructor() {
    this.leaves = 0;
    this.allFirst = true;
    this.allSecond = true;
  }

  /** @param {LeafResult} leaf */
  take({ clearance, line }) {
    if (clearance === null) return;
    this.leaves += 1;
    if (line === null || !line.a.equals(ONE)) this.allFirst = false;
    if (line === null || !line.a.isZero()) this.allSecond = false;
  }
}

/**
 * @param {Claim} claim
 * @param {{classes: [number, number] | null, sides: Sides}[]} cases
 * @returns {number | null} the place of the label that every valid individual has, if that was shown
 */
export function labelOfEverybody(claim, cases) {
  const { model: { head }, property } = claim;
  // Every valid individual has to be similar to itself (section 18).
  if (claim.similarity.some(moves)) return null;
  if (property.kind !== 'decision' || !property.margin.isZero()) return null;
  if (head.kind === 'two') {
    const [{ sides }] = cases;
    // Way 0 shows g > 0 everywhere, way 1 shows g <= 0; g = -f if zero is "upper".
    if (sides.allSecond) return head.zeroIsUpper ? 0 : 1;
    return sides.allFirst ? (head.zeroIsUpper ? 1 : 0) : null;
  }
  const left = new Set(head.labels.map((_, i) => i));
  for (const { classes, sides } of cases) {
    if (classes === null) return null;
    if (sides.allFirst) left.delete(classes[0]);
    if (sides.allSecond) left.delete(classes[1]);
  }
  return left.size === 1 ? [...left][0] : null;
}
