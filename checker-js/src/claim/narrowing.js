/** Narrowing (section 6): codes that no valid individual has are dropped, and a claim that is seen to be about nobody is rejected. */

import { firstDoubleFrom, lastDoubleTo } from '../exact/doubles.js';
import { Rational, ZERO } from '../exact/rational.js';
import { reject, require } from '../rejection.js';
import { isValid } from './space.js';

/**
 * @typedef {import('../limits.js').Clock} Clock
 * @typedef {import('./similarity.js').Relation} Relation
 * @typedef {import('./space.js').Constraint} Constraint
 * @typedef {import('./space.js').ConstraintTerm} ConstraintTerm
 * @typedef {import('./space.js').Feature} Feature
 * @typedef {import('./space.js').Space} Space
 */

const MOST_PASSES = 16;
const MOST_ENTRIES = 2 ** 18;

/** The codes of a feature without levels that are kept: those from lo to hi, which are codes themselves. */
class KeptInterval {
  /** @param {Feature} feature */
  constructor({ discrete, lo, hi }) {
    this.discrete = discrete;
    this.lo = discrete ? lo : firstDoubleFrom(lo) ?? reject('narrowing: no double is left');
    this.hi = discrete ? hi : lastDoubleTo(hi) ?? reject('narrowing: no double is left');
  }

  keepGreatest() {
    this.lo = this.hi;
  }

  /** @param {ConstraintTerm} term */
  least({ factor }) {
    const slope = /** @type {Rational} */ (factor);
    return slope.times(slope.sign() > 0 ? this.lo : this.hi);
  }

  /**
   * Drops the codes at which a term exceeds its least value by more than `room`.
   * @param {ConstraintTerm} term
   * @param {Rational} room not negative
   * @returns {boolean} whether any was dropped
   */
  drop({ factor }, room) {
    const slope = /** @type {Rational} */ (factor);
    if (slope.isZero()) return false;
    if (slope.sign() > 0) {
      const last = this.lo.plus(room.over(slope));
      if (this.hi.atMost(last)) return false;
      this.hi = this.discrete ? Rational.of(last.floor()) : /** @type {Rational} */ (lastDoubleTo(last));
      return true;
    }
    const first = this.hi.plus(room.over(slope));
    if (first.atMost(this.lo)) return false;
    this.lo = this.discrete ? Rational.of(first.ceil()) : /** @type {Rational} */ (firstDoubleFrom(first));
    return true;
  }
}

/** The positions of a levels kind that are kept. */
class KeptPositions {
  /** @param {number} count */
  constructor(count) {
    /** in order, never empty */
    this.positions = Array.from({ length: count }, (_, i) => i);
  }

  get lo() {
    return Rational.of(this.positions[0]);
  }

  get hi() {
    return Rational.of(this.positions[this.positions.length - 1]);
  }

  keepGreatest() {
    this.positions = this.positions.slice(-1);
  }

  /** @param {ConstraintTerm} term */
  least({ amounts }) {
    const values = /** @type {Rational[]} */ (amounts);
    let least = values[this.positions[0]];
    for (const i of this.positions) if (values[i].less(least)) least = values[i];
    return least;
  }

  /**
   * @param {ConstraintTerm} term
   * @param {Rational} room
   * @returns {boolean} whether any was dropped
   */
  drop(term, room) {
    const values = /** @type {Rational[]} */ (term.amounts);
    const most = this.least(term).plus(room);
    const left = this.positions.filter((i) => values[i].atMost(most));
    const dropped = left.length < this.positions.length;
    this.positions = left;
    return dropped;
  }
}

/** @typedef {KeptInterval | KeptPositions} Kept */

/**
 * Rejects a claim of which narrowing finds that it is about nobody.
 * @param {{space: Space, similarity: Relation[]}} claim
 * @param {Clock} clock
 * @returns {Kept[]} what is left, one a feature
 */
export function codesLeft({ space, similarity }, clock) {
  const kept = space.features.map((feature) => (feature.levels === null ? new KeptInterval(feature) : new KeptPositions(feature.levels.length)));
  for (let left = passesOf(space); left > 0; left--) {
    const dropped = pass(space.constraints, kept, clock);
    require(dropped !== null, 'narrowing: nobody satisfies the constraints: a claim about nobody');
    if (!dropped) break;
  }
  similarity.forEach(({ kind, low, high }, k) => {
    if (kind !== 'between') return;
    const width = kept[k].hi.minus(kept[k].lo);
    const leavesPairs = low.atMost(width) && width.negated().atMost(high);
    require(leavesPairs, `narrowing: no two individuals differ in ${space.features[k].name} as they have to: a claim about nobody`);
  });
  return kept;
}

/**
 * Whether the greatest code of one feature after the other, with a pass after each, makes a valid individual.
 * @param {Space} space
 * @param {Kept[]} kept changed
 * @param {Clock} clock
 */
export function isGreatestValid(space, kept, clock) {
  const named = [...new Set(space.constraints.flatMap(({ terms }) => terms.map(({ feature }) => feature)))].sort((a, b) => a - b);
  if (named.length * entriesOf(space) > MOST_ENTRIES) return false;
  for (const k of named) {
    kept[k].keepGreatest();
    if (pass(space.constraints, kept, clock) === null) return false;
  }
  return isValid(space, kept.map(({ hi }) => hi));
}

/**
 * @param {Space} space
 * @returns {number} how many passes there are at most
 */
export function passesOf(space) {
  return Math.min(MOST_PASSES, Math.floor(MOST_ENTRIES / Math.max(1, entriesOf(space))));
}

/** @param {Space} space */
function entriesOf({ features, constraints }) {
  let entries = 0;
  for (const { terms } of constraints) {
    for (const { feature } of terms) entries += features[feature].levels?.length ?? 1;
  }
  return entries;
}

/**
 * @param {Constraint[]} constraints
 * @param {Kept[]} kept one a feature; changed
 * @param {Clock} clock
 * @returns {boolean | null} whether any code was dropped; null if nobody satisfies the constraints
 */
function pass(constraints, kept, clock) {
  let dropped = false;
  for (const { terms, bound } of constraints) {
    let least = ZERO;
    for (const term of terms) {
      clock.tick();
      least = least.plus(kept[term.feature].least(term));
    }
    const room = bound.minus(least);
    if (room.sign() < 0) return null;
    for (const term of terms) {
      clock.tick();
      if (kept[term.feature].drop(term, room)) dropped = true;
    }
  }
  return dropped;
}
