/** What a bound of a line says of a cell (section 4, "holds if"; section 6 for the clearance). */

import { Rational } from '../exact/rational.js';
import { require } from '../rejection.js';

/**
 * @typedef {import('../proof/cases.js').Line} Line
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * @param {Line} line
 * @param {Rational | null} bound of a F(x) - b G(x') over the pairs of the cell; null if there is no pair
 * @returns {LeafResult}
 */
export function concludeFromBound(line, bound) {
  if (bound === null) return { clearance: null, line: null };
  const order = bound.compare(line.target);
  require(order < 0 || (order === 0 && line.mayTouch), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: line.target.minus(bound).over(line.reach), line };
}
