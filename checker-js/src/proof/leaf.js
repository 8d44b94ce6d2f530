/** Leaves of the tree of cells: which rule is checked by which room (section 4 and the packs). */

import { Rational, ZERO } from '../exact/rational.js';
import { allowanceOf } from '../claim/rate.js';
import { Clock } from '../limits.js';
import { reject } from '../rejection.js';
import { chords } from '../rules/chords.js';
import { empty, separable } from '../rules/separable.js';
import { enumerated } from '../rules/enumerated.js';
import { identical } from '../rules/identical.js';
import { independent } from '../rules/independent.js';
import { kernel } from '../rules/kernel.js';
import { mixed } from '../rules/mixed.js';
import { nestedRule } from '../rules/nested.js';
import { network } from '../rules/network.js';
import { odds } from '../rules/odds.js';
import { polynomial } from '../rules/polynomial.js';
import { leastSquare } from '../rules/rate.js';
import { slope } from '../rules/slope.js';
import { softmax } from '../rules/softmax.js';
import { sos } from '../rules/sos.js';
import { sumRule } from '../rules/sum.js';
import { trees } from '../rules/trees.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/bodies.js').Body} Body
 * @typedef {import('../claim/claim.js').Claim} Claim
 * @typedef {import('./cases.js').Case} Case
 * @typedef {import('./cases.js').Line} Line
 * @typedef {import('./cell.js').Cell} Cell
 * @typedef {import('./cell.js').Geometry} Geometry
 */

/**
 * @typedef {object} LeafResult
 * @property {Rational | null} clearance null (infinite) if the leaf found no pair in its cell
 * @property {Line | null} line of a rule with one line, for section 14; null for other rules
 */

/** Thrown where a line is asked for in a cell whose codes have no distance: it holds no pair (section 21). */
class NoPair extends Error {}

/** How many lines and forms are remembered: many leaves have the same way. */
const REMEMBERED = 2000;

/** What a rule may look at besides its cell and its own words. */
export class LeafContext {
  /**
   * @param {Claim} claim
   * @param {Geometry} geometry
   * @param {Case} ownCase
   * @param {Clock} clock
   * @param {{points: bigint}} budget how many points were enumerated so far
   */
  constructor(claim, geometry, ownCase, clock, budget) {
    this.claim = claim;
    this.geometry = geometry;
    this.case = ownCase;
    this.clock = clock;
    this.budget = budget;
    this.noClearance = ZERO;
    /** @type {Line | null} */
    this.knownLine = null;
    /** @type {Cell | null} the cell of the leaf that is looked at, where a line depends on it */
    this.cell = null;
    /** @type {WeakMap<object, Line>} of lines with targets of their own: the line that they were made of */
    this.origins = new WeakMap();
    /** @type {Map<string, any>} */
    this.memory = new Map();
    /** @type {Map<string, WeakMap<object, any>>} */
    this.derived = new Map();
  }

  /**
   * The context of a leaf about a part of a sum (section 17).
   * @param {Body} body
   * @returns {LeafContext}
   */
  ofBody(body) {
    const { model } = this.claim;
    const claim = { ...this.claim, model: { ...model, body } };
    return new LeafContext(claim, this.geometry, this.case, this.clock, this.budget);
  }

  /**
   * The same context, for a leaf whose line is known: what stands in the place of its way is not read.
   * @param {Line} line
   * @returns {LeafContext}
   */
  withLine(line) {
    this.knownLine = line;
    return this;
  }

  /**
   * @param {Json} way
   * @param {boolean} [mayBeArray]
   * @returns {Line}
   */
  readLine(way, mayBeArray = false) {
    if (this.knownLine !== null) return this.knownLine;
    const line = this.readLineAside(way, mayBeArray);
    const { rate } = this.case;
    if (rate === null || this.cell === null) return line;
    // A line has a = b = 1/2 here, and T is larger by half of what the least distance of the cell allows.
    const least = leastSquare(this.geometry, this.cell, rate);
    if (least === null) throw new NoPair();
    const own = { ...line, target: line.target.plus(allowanceOf(rate, least).half()) };
    this.origins.set(own, line);
    return own;
  }

  /**
   * The line of a way, wherever the cell is.
   * @param {Json} way
   * @param {boolean} [mayBeArray]
   * @returns {Line}
   */
  readLineAside(way, mayBeArray = false) {
    const key = keyOf(way);
    if (key === null) return this.case.readLine(way, mayBeArray);
    return this.remember(`line ${key}`, () => this.case.readLine(way, mayBeArray));
  }

  /**
   * What `make` makes of a text, made once.
   * @template T
   * @param {string} key
   * @param {() => T} make
   * @returns {T}
   */
  remember(key, make) {
    const known = this.memory.get(key);
    if (known !== undefined) return known;
    if (this.memory.size >= REMEMBERED) this.memory.clear();
    const made = make();
    this.memory.set(key, made);
    return made;
  }

  /**
   * What `make` makes of a line (whatever its target) or of another object, made once; one thing an object and purpose.
   * @template T
   * @param {object} object
   * @param {() => T} make
   * @param {string} [purpose]
   * @returns {T}
   */
  derive(object, make, purpose = '') {
    const origin = this.origins.get(object) ?? object;
    const ofPurpose = this.derived.get(purpose) ?? new WeakMap();
    this.derived.set(purpose, ofPurpose);
    const known = ofPurpose.get(origin);
    if (known !== undefined) return known;
    const made = make();
    ofPurpose.set(origin, made);
    return made;
  }
}

/**
 * @param {Json} way
 * @returns {string | null} a text for a way that may come again
 */
function keyOf(way) {
  if (typeof way === 'string') return way;
  if (!Array.isArray(way) || way.length !== 3 || typeof way[0] !== 'bigint' || typeof way[2] !== 'string') return null;
  return way.join(' ');
}

/** @type {Map<string, (context: LeafContext, cell: Cell, json: Json[]) => LeafResult>} */
const RULES = new Map([
  ['separable', separable],
  ['empty', empty],
  ['enumerated', enumerated],
  ['independent', (context, _, json) => independent(context.claim, json)],
  ['kernel', kernel],
  ['chords', chords],
  ['mixed', mixed],
  ['polynomial', polynomial],
  ['sos', sos],
  ['trees', trees],
  ['softmax', softmax],
  ['odds', odds],
  ['network', network],
  ['identical', identical],
  ['slope', slope],
]);
RULES.set('sum', sumRule(RULES));
RULES.set('nested', nestedRule(RULES));

/**
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function checkLeaf(context, cell, json) {
  const rule = RULES.get(typeof json[0] === 'string' ? json[0] : '');
  if (rule === undefined) return reject('a node of an unknown kind');
  context.cell = cell;
  try {
    return rule(context, cell, json);
  } catch (error) {
    if (error instanceof NoPair) return { clearance: null, line: null };
    throw error;
  }
}

