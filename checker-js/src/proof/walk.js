/** The walk through the tree of cells, node by node as the lines come (sections 3, 6 and 10). */

import { choicesOf, partOf } from '../claim/along-parts.js';
import { goesAlong } from '../claim/similarity.js';
import { Rational, smaller } from '../exact/rational.js';
import { readArray } from '../file/fields.js';
import { Clock, MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';
import { independent } from '../rules/independent.js';
import { splitAtInner } from '../rules/inner.js';
import { splitAtNeuron } from '../rules/neuron.js';
import { labelOfEverybody, Sides } from './alike.js';
import { caseOfTwo, casesOfClasses } from './case-list.js';
import { Geometry, splitCell } from './cell.js';
import { checkLeaf, LeafContext } from './leaf.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../claim/claim.js').Claim} Claim
 * @typedef {import('./cell.js').Cell} Cell
 * @typedef {import('./case-list.js').ListedCase} ListedCase
 * @typedef {import('./leaf.js').LeafResult} LeafResult
 */

export class ProofWalk {
  /**
   * @param {Claim} claim
   * @param {Clock} clock
   */
  constructor(claim, clock) {
    this.claim = claim;
    this.clock = clock;
    /** a proof about features that change along has several parts (sections 22 and 26); any other has one */
    this.parts = choicesOf(claim.similarity, claim.space.features, clock);
    this.partNumber = -1;
    this.partClaim = claim;
    this.geometry = new Geometry(claim.space, partOf(claim.similarity, this.parts[0]).similarity, claim.distance);
    this.nodes = 0;
    /** @type {Map<string, number>} how often each rule was used */
    this.rules = new Map();
    /** @type {Rational | null} the smallest clearance of all leaves; null while all are infinite */
    this.clearance = null;
    this.budget = { points: 0n };
    /** @type {(ListedCase & {sides: Sides})[]} */
    this.cases = [];
    /** @type {Cell[]} the cells whose nodes are still to come, the next one last */
    this.waiting = [];
    this.caseNumber = -1;
    this.finished = false;
    /** @type {LeafContext | null} */
    this.context = null;
    this.beginNextPart();
  }

  beginNextPart() {
    this.partNumber += 1;
    if (this.partNumber === this.parts.length) {
      this.finished = true;
      return;
    }
    const { similarity, ranges } = partOf(this.claim.similarity, this.parts[this.partNumber]);
    this.partClaim = { ...this.claim, similarity };
    this.geometry = new Geometry(this.claim.space, similarity, this.claim.distance, ranges);
    this.caseNumber = -1;
    this.context = null;
    if (this.claim.model.head.kind === 'two') this.begin(caseOfTwo(this.claim));
  }

  /** @param {ListedCase[]} cases */
  begin(cases) {
    this.cases = cases.map((listed) => ({ ...listed, sides: new Sides() }));
    this.beginNextCase();
  }

  beginNextCase() {
    this.caseNumber += 1;
    if (this.caseNumber === this.cases.length) {
      this.beginNextPart();
      return;
    }
    this.context = new LeafContext(this.partClaim, this.geometry, this.cases[this.caseNumber].case, this.clock, this.budget);
    this.waiting = [this.geometry.root()];
  }

  /** @param {Json} json a node of the proof */
  take(json) {
    require(!this.finished, 'a node after the end of the proof');
    this.nodes += 1;
    require(this.nodes <= MAXIMUM.nodes, 'too many nodes');
    const node = readArray(json, 'node');
    if (this.context === null) this.takeFirstNode(node);
    else this.takeNode(node, this.context);
  }

  /** @param {Json[]} node of a proof about classes */
  takeFirstNode(node) {
    if (node[0] === 'independent') {
      this.takeResult('independent', independent(this.partClaim, node));
      this.beginNextPart();
    } else if (node[0] === 'cases') {
      this.begin(casesOfClasses(this.claim, node));
    } else {
      reject('the first node of a proof about classes is neither "cases" nor "independent"');
    }
  }

  /**
   * @param {Json[]} node
   * @param {LeafContext} context
   */
  takeNode(node, context) {
    this.clock.tick();
    const cell = /** @type {Cell} */ (this.waiting.pop());
    if (node[0] === 'split') return this.descend(splitCell(this.geometry, cell, node));
    if (node[0] === 'neuron') return this.descend(splitAtNeuron(this.claim.model.body, cell, node));
    if (node[0] === 'inner') return this.descend(splitAtInner(this.claim.model.body, cell, node));
    const result = checkLeaf(context, cell, node);
    this.cases[this.caseNumber].sides.take(result);
    this.takeResult(String(node[0]), result);
    if (this.waiting.length === 0) this.beginNextCase();
  }

  /** @param {[Cell, Cell]} children */
  descend([left, right]) {
    require(left.depth <= MAXIMUM.depth, 'the tree is too deep');
    this.waiting.push(right, left);
  }

  /**
   * @param {string} rule
   * @param {LeafResult} result
   */
  takeResult(rule, { clearance }) {
    this.rules.set(rule, (this.rules.get(rule) ?? 0) + 1);
    if (clearance === null) return;
    const counted = this.claim.hasClearance ? clearance : Rational.of(0);
    this.clearance = this.clearance === null ? counted : smaller(this.clearance, counted);
  }

  /** @returns {number | null} section 14 */
  labelOfEverybody() {
    return this.cases.length === 0 || goesAlong(this.claim.similarity) ? null : labelOfEverybody(this.claim, this.cases);
  }
}
