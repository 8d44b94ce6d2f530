/** The end of a proof: what it states of nodes, clearance and floating point (sections 1 and 6, and 10 for classes). */

import { checkSomebodyIsLeft } from '../claim/narrowing.js';
import { covers } from '../claim/rounding.js';
import { areSimilar, moves } from '../claim/similarity.js';
import { Rational } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { isValid, readIndividual } from '../claim/space.js';
import { readInt, readObject, readTruth } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { ProofWalk } from './walk.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/claim.js').Claim} Claim
 */

/**
 * @param {Json} json what stands under "end"
 * @param {ProofWalk} walk
 * @param {Claim} claim
 * @returns {{clearance: Rational, coversFloatingPoint: boolean, somebodyIsShown: boolean, sha256: Json}}
 */
export function readEndOfProof(json, walk, claim) {
  const part = readObject(json, 'end', ['nodes', 'clearance', 'covers_floating_point', 'sha256'], ['somebody', 'other']);
  const nodes = readInt(part('nodes'), 'nodes', 0n, BigInt(MAXIMUM.nodes));
  const clearance = readNumber(part('clearance'), 'clearance');
  const stated = readTruth(part('covers_floating_point'), 'covers_floating_point');
  require(walk.finished, 'the proof ends before all of its cells are closed');
  require(nodes === BigInt(walk.nodes), `the end counts ${nodes} nodes where there are ${walk.nodes}`);
  if (walk.clearance === null) return reject('no leaf has a pair in its cell: a claim about nobody');
  require(clearance.sign() >= 0, 'the clearance is negative');
  require(clearance.atMost(walk.clearance), 'the clearance is larger than that of a leaf');
  require(stated === isCovered(claim, clearance), 'covers_floating_point is not as the clearance and the description of rounding say');
  const somebodyIsShown = isSomebodyShown(claim, part('somebody'), part('other'));
  checkSomebodyIsLeft(claim, walk.clock);
  return { clearance, coversFloatingPoint: stated, somebodyIsShown, sha256: part('sha256') };
}

/**
 * Whether there is a pair that the claim is about: one that the end shows, or one that has to be there.
 * @param {Claim} claim
 * @param {Json | undefined} somebodyJson
 * @param {Json | undefined} otherJson
 */
function isSomebodyShown(claim, somebodyJson, otherJson) {
  const { space, similarity, distance } = claim;
  require(otherJson === undefined || somebodyJson !== undefined, 'end: "other" without "somebody"');
  if (somebodyJson !== undefined) {
    const somebody = readValid(space, somebodyJson, 'somebody');
    if (otherJson !== undefined) {
      require(areSimilar(claim, somebody, readValid(space, otherJson, 'other')), 'end: somebody and other are not similar');
      return true;
    }
  }
  const isFree = space.constraints.length === 0;
  const moving = space.features.filter((_, k) => moves(similarity[k]));
  // A valid individual is a pair with itself.
  if (moving.length === 0) return isFree || somebodyJson !== undefined;
  // Codes are chosen feature by feature; narrowing asks whether there are any.
  return isFree && distance === null && moving.every(({ kind }) => kind === 'integer' || kind === 'ordinal');
}

/**
 * @param {Claim['space']} space
 * @param {Json} json
 * @param {string} who
 */
function readValid(space, json, who) {
  const codes = readIndividual(space, json, who);
  require(isValid(space, codes), `end: ${who} breaks a constraint`);
  return codes;
}

/**
 * @param {Claim} claim
 * @param {Rational} clearance
 */
function isCovered({ model, property }, clearance) {
  if (model.rounding === null) return false;
  // How a program computes sigma or softmax is not described, nor how it computes exp; with the link identity there is nothing to compute.
  const identity = model.head.kind === 'classes' && model.head.link === 'identity';
  if (property.kind === 'prediction' || (property.kind === 'probability' && !identity)) return false;
  return covers(model.rounding, clearance);
}
