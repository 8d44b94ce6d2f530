/** The end of a proof: what it states of nodes, clearance and floating point (sections 1 and 6, and 10 for classes). */

import { codesLeft, isGreatestValid } from '../claim/narrowing.js';
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
 * @typedef {import('../limits.js').Clock} Clock
 */

/**
 * @param {Json} json what stands under "end"
 * @param {ProofWalk} walk
 * @param {Claim} claim
 * @returns {{clearance: Rational, coversFloatingPoint: boolean, sha256: Json}}
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
  checkSomebody(claim, part('somebody'), part('other'), walk.clock);
  return { clearance, coversFloatingPoint: stated, sha256: part('sha256') };
}

/**
 * Rejects unless there is a pair that the claim is about: one that the end shows, or one that has to be there.
 * @param {Claim} claim
 * @param {Json | undefined} somebodyJson
 * @param {Json | undefined} otherJson
 * @param {Clock} clock
 */
function checkSomebody(claim, somebodyJson, otherJson, clock) {
  const { space, similarity, distance } = claim;
  require(otherJson === undefined || somebodyJson !== undefined, 'end: "other" without "somebody"');
  const somebody = somebodyJson === undefined ? null : readValid(space, somebodyJson, 'somebody');
  if (somebody !== null && otherJson !== undefined) {
    require(areSimilar(claim, somebody, readValid(space, otherJson, 'other')), 'end: somebody and other are not similar');
    return;
  }
  const kept = codesLeft(claim, clock);
  const isFree = space.constraints.length === 0;
  const moving = space.features.filter((_, k) => moves(similarity[k]));
  if (moving.length === 0) {
    // A valid individual is a pair with itself.
    const isShown = isFree || somebody !== null || isGreatestValid(space, kept, clock);
    require(isShown, 'no individual is shown who satisfies the constraints: the claim may be vacuous');
    return;
  }
  // Codes are chosen feature by feature; narrowing asked whether there are any.
  const isShown = isFree && distance === null && moving.every(({ kind }) => kind === 'integer' || kind === 'ordinal');
  require(isShown, 'no pair is shown that satisfies the constraints: the claim may be vacuous');
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
