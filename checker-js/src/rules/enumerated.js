/** The rule `enumerated` (section 4): every point of the cell is looked at. */

import { ONE, Rational, smaller } from '../exact/rational.js';
import { readArrayOf } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { areSimilar } from '../claim/similarity.js';
import { isValid } from '../claim/space.js';
import { exponentialTerms } from '../bodies/bodies.js';
import { decide } from '../proof/witness-set.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 */

/**
 * `["enumerated"]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function enumerated(context, cell, json) {
  readArrayOf(json, 'enumerated', 1);
  const { space } = context.claim;
  countPoints(context, cell);
  /** @type {Rational | null} */
  let clearance = null;
  for (const [x, other] of pointsOf(context, cell)) {
    context.clock.tick();
    if (!areSimilar(context.claim, x, other) || !isValid(space, x) || !isValid(space, other)) continue;
    const own = clearanceOfPoint(context, x, other);
    clearance = clearance === null ? own : smaller(clearance, own);
  }
  return { clearance, line: null };
}

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 */
function countPoints(context, cell) {
  let points = 1n;
  context.geometry.variables.forEach(({ role, discrete }, v) => {
    if (role === 'difference') return;
    if (discrete) points *= cell.hi[v].minus(cell.lo[v]).floor() + 1n;
    else require(cell.lo[v].equals(cell.hi[v]), 'enumerated: a continuous variable that is not fixed');
  });
  require(points <= MAXIMUM.pointsOfLeaf, 'enumerated: too many points in one leaf');
  const { body } = context.claim.model;
  const terms = body.irrational ? points * BigInt(exponentialTerms(body) * body.scores) : 0n;
  require(terms <= MAXIMUM.termsOfLeaf, 'enumerated: too many terms in one leaf');
  context.budget.points += points;
  require(context.budget.points <= MAXIMUM.pointsOfCertificate, 'enumerated: too many points in the certificate');
}

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 * @returns {Generator<[Rational[], Rational[]], void, void>} the codes of x and of x'
 */
function* pointsOf({ geometry }, cell) {
  const codes = geometry.variables.flatMap(({ role }, v) => (role === 'code' ? [v] : []));
  const values = cell.lo.slice();
  for (;;) {
    yield [geometry.first.map((v) => values[v]), geometry.second.map((v) => values[v])];
    let last = codes.length - 1;
    while (last >= 0 && values[codes[last]].equals(cell.hi[codes[last]])) {
      values[codes[last]] = cell.lo[codes[last]];
      last -= 1;
    }
    if (last < 0) return;
    values[codes[last]] = values[codes[last]].plus(ONE);
  }
}

/**
 * @param {LeafContext} context
 * @param {Rational[]} x
 * @param {Rational[]} other
 */
function clearanceOfPoint(context, x, other) {
  const { body } = context.claim.model;
  const own = context.case;
  const equal = x.every((code, k) => code.equals(other[k]));
  if (body.irrational || !('evaluate' in body)) {
    if (equal && !own.equalMayBreak) return context.noClearance;
    require(!decide(body, x, other, own.isWitness), 'enumerated: a pair of the cell breaks the property');
    return context.noClearance;
  }
  const broken = (!equal || own.equalMayBreak) && decide(body, x, other, own.isWitness);
  require(!broken, 'enumerated: a pair of the cell breaks the property');
  return context.claim.hasClearance ? own.clearance(body.evaluate(x), body.evaluate(other), [x, other]) : context.noClearance;
}
