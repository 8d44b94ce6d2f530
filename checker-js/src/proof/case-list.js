/** The cases of a proof about several classes, and its first node (section 10, "Proof"). */

import { readArray, readArrayOf, readIndex, readTruth } from '../file/fields.js';
import { require } from '../rejection.js';
import { classesCase, lineCase, scoreOfClass, scoreOfTwo, softmaxCase } from './cases.js';
import { argmaxConditions, classOfVotes } from './classes.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/claim.js').Claim} Claim
 * @typedef {import('../claim/head.js').HeadOfClasses} HeadOfClasses
 * @typedef {import('../claim/property.js').Property} Property
 * @typedef {import('./cases.js').Case} Case
 * @typedef {import('./classes.js').Condition} Condition
 */

/**
 * A case, and for a decision by argmax its two classes (section 14 asks for them).
 * @typedef {{case: Case, classes: [number, number] | null}} ListedCase
 */

/**
 * The one case of a model of one score.
 * @param {Claim} claim
 * @returns {ListedCase[]}
 */
export function caseOfTwo({ model: { head }, property }) {
  if (head.kind !== 'two') throw new Error('a model of several scores has other cases');
  return [{ case: lineCase('', scoreOfTwo(head, property), property), classes: null }];
}

/**
 * @param {Claim} claim
 * @param {Json[]} node `["cases"]` or `["cases", cubes]`
 * @returns {ListedCase[]}
 */
export function casesOfClasses({ model: { head }, property }, node) {
  if (head.kind !== 'classes') throw new Error('a model of one score has no cases');
  if (property.kind === 'decision' && head.classes === 'votes') return casesOfVotes(head, property, node);
  readArrayOf(node, 'cases', 1);
  if (property.kind === 'decision') {
    const conditions = head.labels.map((_, i) => argmaxConditions(i, head.labels.length));
    return classPairs(head, property).map(([i, j]) => ({
      case: classesCase(head, property.margin, [i, j], conditions[i], conditions[j]),
      classes: [i, j],
    }));
  }
  const classes = property.ofClass === null ? head.labels.map((_, c) => c) : [/** @type {number} */ (property.ofClass)];
  return classes.map((c) => ({ case: caseOfClass(head, property, c), classes: null }));
}

/**
 * @param {HeadOfClasses} head
 * @param {Property} property a score or a probability
 * @param {number} c
 * @returns {Case}
 */
export function caseOfClass(head, property, c) {
  if (property.kind === 'probability' && head.link === 'softmax') return softmaxCase(head, c, property.delta);
  // With the link identity a probability is a score (section 10).
  return lineCase(`score of ${head.labels[c]}`, scoreOfClass(head.scores, c), { ...property, kind: 'score' });
}

/**
 * @param {HeadOfClasses} head
 * @param {Property} property
 * @returns {[number, number][]}
 */
export function classPairs(head, property) {
  const count = head.labels.length;
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0; i < count; i++) {
    if (property.ofClass !== null && i !== property.ofClass) continue;
    for (let j = 0; j < count; j++) {
      if (property.ofClass === null ? i < j : i !== j) pairs.push([i, j]);
    }
  }
  return pairs;
}

/** A cube: some scores and whether each gives its vote to the first class of its pair. */
/** @typedef {Map<number, boolean>} Cube */

/**
 * @param {HeadOfClasses} head
 * @param {Property} property
 * @param {Json[]} node
 * @returns {ListedCase[]}
 */
function casesOfVotes(head, property, node) {
  const count = head.labels.length;
  const [, json] = readArrayOf(node, 'cases', 2);
  const cubes = readArrayOf(json, 'cubes', count).map((ofClass) =>
    readArray(ofClass, 'cubes of a class').map((item) => readCube(item, head.scores)),
  );
  checkCubes(cubes, head);
  return classPairs(head, property).flatMap(([i, j]) =>
    cubes[i].flatMap((cube) =>
      cubes[j].map((other) => ({
        case: classesCase(head, property.margin, [i, j], conditionsOf(cube), conditionsOf(other)),
        classes: null,
      })),
    ),
  );
}

/**
 * @param {Json} json
 * @param {number} scores
 * @returns {Cube}
 */
function readCube(json, scores) {
  /** @type {Cube} */
  const cube = new Map();
  let before = -1;
  for (const item of readArray(json, 'cube')) {
    const [scoreJson, up] = readArrayOf(item, 'condition of a cube', 2);
    const score = readIndex(scoreJson, 'score of a cube', scores);
    require(before < score, 'cases: the scores of a cube are not strictly increasing');
    before = score;
    cube.set(score, readTruth(up, 'condition of a cube'));
  }
  return cube;
}

/**
 * Every way of giving votes must satisfy a cube of the class that it leads to.
 * @param {Cube[][]} cubes
 * @param {HeadOfClasses} head
 */
function checkCubes(cubes, head) {
  for (let way = 0; way < 2 ** head.scores; way++) {
    const votes = Array.from({ length: head.scores }, (_, s) => ((way >> s) & 1) === 1);
    const own = cubes[classOfVotes(votes, head.labels.length)];
    const met = own.some((cube) => [...cube].every(([score, up]) => votes[score] === up));
    require(met, 'cases: a way of giving votes is in no cube of its class');
  }
}

/**
 * @param {Cube} cube
 * @returns {Condition[]} f_s > 0 if up, -f_s >= 0 if not
 */
function conditionsOf(cube) {
  return [...cube].map(([score, up]) => ({ terms: [[score, up ? 1 : -1]], strict: up, weight: 1 }));
}
