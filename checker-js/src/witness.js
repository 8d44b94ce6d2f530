/** Witnesses: one pair that breaks the property (section 5; sections 7 and 10 for enclosures and classes). */

import { encloseScores } from './bodies/combined.js';
import { areSimilar, isOneWay } from './claim/similarity.js';
import { isValid, readIndividual } from './claim/space.js';
import { exactly } from './exact/interval.js';
import { ONE, Rational, smaller, ZERO } from './exact/rational.js';
import { readNumber } from './exact/number-syntax.js';
import { readArrayOf, readNumbersOf, readObject, readOnly } from './file/fields.js';
import { reject, require } from './rejection.js';
import { caseOfClass, caseOfTwo, classPairs } from './proof/case-list.js';
import { classesCase } from './proof/cases.js';
import { decide } from './proof/witness-set.js';

/**
 * @typedef {import('./file/json.js').Json} Json
 * @typedef {import('./claim/claim.js').Claim} Claim
 * @typedef {import('./exact/interval.js').Interval} Interval
 * @typedef {import('./proof/cases.js').Case} Case
 */

/**
 * Stated enclosures are compared with the checker's own, of width at most 2^-128 (1 + |f|): made more finely than that, and
 * widened by 2^-130 (1 + |f|) on either side, so that a writer may round the last digits of its own ones as it likes.
 */
const BITS_OF_SCORES = 140;
const BITS_OF_ROOM = 130;

/**
 * @param {Claim} claim
 * @param {Json} json
 * @returns {[Rational[], Rational[]]} x and x'
 */
export function checkWitness(claim, json) {
  const { space, model } = claim;
  const part = readObject(readOnly(json, 'witness'), 'witness', ['x', 'other', 'scores']);
  const x = readIndividual(space, part('x'), 'x');
  const other = readIndividual(space, part('other'), 'other');
  require(isValid(space, x), 'witness: x breaks a constraint');
  require(isValid(space, other), 'witness: other breaks a constraint');
  require(areSimilar(claim, x, other), 'witness: the two are not similar');
  const [scores, others] = readArrayOf(part('scores'), 'scores', 2);
  checkScores(claim, x, scores);
  checkScores(claim, other, others);
  const equal = x.every((code, k) => code.equals(other[k]));
  const broken = waysToBreak(claim).some((own) => (!equal || own.equalMayBreak) && decide(model.body, x, other, own.isWitness));
  require(broken, 'witness: the pair does not break the property');
  return [x, other];
}

/**
 * The stated scores must be exact, or enclosures that meet those of this checker.
 * @param {Claim} claim
 * @param {Rational[]} codes
 * @param {Json} json
 */
function checkScores({ model: { body, head } }, codes, json) {
  const items = head.kind === 'two' ? [json] : readArrayOf(json, 'scores', head.scores);
  const stated = items.map((item) => (body.irrational ? readEnclosure(item) : exactly(readNumber(item, 'score'))));
  const own = encloseScores(body, codes, BITS_OF_SCORES);
  stated.forEach(({ lo, hi }, i) => {
    const room = body.irrational ? ONE.plus(smaller(own[i].lo.absolute(), own[i].hi.absolute())).scaled(-BITS_OF_ROOM) : ZERO;
    const meets = lo.atMost(own[i].hi.plus(room)) && own[i].lo.minus(room).atMost(hi);
    require(meets, 'witness: a stated score is not the one of the model');
  });
}

/**
 * @param {Json} json
 * @returns {Interval}
 */
function readEnclosure(json) {
  const [lo, hi] = readNumbersOf(json, 'enclosure of a score', 2);
  require(lo.atMost(hi), 'witness: an enclosure with its ends the wrong way round');
  return { lo, hi };
}

/**
 * A pair is a witness if it breaks one of these.
 * @param {Claim} claim
 * @returns {Case[]}
 */
function waysToBreak(claim) {
  const { model, property, similarity } = claim;
  const { head } = model;
  if (head.kind === 'two') return caseOfTwo(claim).map((listed) => listed.case);
  if (property.kind === 'decision') {
    const pairs = classPairs(head, property).flatMap(([i, j]) => (isOneWay(similarity) ? [[i, j]] : [[i, j], [j, i]]));
    return pairs.map(([i, j]) => classesCase(head, property.margin, [i, j], [], []));
  }
  if (property.ofClass === undefined) return reject('property: no class');
  const classes = property.ofClass === null ? head.labels.map((_, c) => c) : [property.ofClass];
  return classes.map((c) => caseOfClass(head, property, c));
}
