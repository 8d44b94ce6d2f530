/**
 * The parts of a proof about features that change along with others (sections 22 and 26). A part is a choice of one step for each
 * feature that others go along with, one segment for each feature of a condition that may matter then, and one move for each
 * feature with a table that counts. It has relations without `along`, and some codes in its root.
 */

import { Rational, smaller, ZERO } from '../exact/rational.js';
import { MAXIMUM } from '../limits.js';
import { require } from '../rejection.js';
import { nameOf } from './along.js';

/**
 * @typedef {import('../limits.js').Clock} Clock
 * @typedef {import('./along.js').Along} Along
 * @typedef {import('./along.js').Case} Case
 * @typedef {import('./along.js').Table} Table
 * @typedef {import('./similarity.js').Relation} Relation
 * @typedef {import('./space.js').Feature} Feature
 */

/** @typedef {{name: string, byLevels: boolean, from: number, to: number}} Step equal where `from` is `to`; by difference `from` is 0 */
/** @typedef {[bigint, bigint]} Segment codes of a feature that both share */
/** @typedef {{own: [number, number], other: [number, number], isRun: boolean}} Move positions of x and of x': a run, or one pair */

/**
 * By feature.
 * @typedef {{steps: Map<number, Step>, segments: Map<number, Segment>, moves: Map<number, Move>}} Choice
 */

/** @typedef {{own: [Rational, Rational], other: [Rational, Rational]}} Range the codes of x and of x' in a root */
/** @typedef {{similarity: Relation[], ranges: Map<number, Range>}} Part */

const EQUAL = Object.freeze({ name: '', byLevels: true, from: 0, to: 0 });

/**
 * @param {Relation[]} similarity
 * @param {Feature[]} features
 * @param {Clock} clock
 * @returns {Choice[]} in order; one where nothing goes along
 */
export function choicesOf(similarity, features, clock) {
  const leaders = [...new Set(similarity.flatMap(({ along }) => (along === null ? [] : [along.with])))].sort((a, b) => a - b);
  const followers = similarity.flatMap(({ along }, k) => (along === null ? [] : [{ k, along, names: namesOf(along) }]));
  /** @type {Choice[]} */
  const choices = [];
  for (const steps of combinations(leaders, leaders.map((j) => stepsOf(similarity, features, j, clock)), choices.length)) {
    const awake = followers.filter(({ along, names }) => {
      clock.tick();
      return names.has(stepOf(steps, along).name);
    });
    const cuts = segmentsOf(awake.map(({ along }) => along), features, clock);
    for (const segments of combinations([...cuts.keys()], [...cuts.values()], choices.length)) {
      const moving = awake.flatMap(({ k, along }) => {
        clock.tick();
        const table = countedCase(along, segments)?.tables.get(stepOf(steps, along).name);
        return table === undefined ? [] : [{ k, moves: movesOf(table) }];
      });
      for (const moves of combinations(moving.map(({ k }) => k), moving.map((own) => own.moves), choices.length)) choices.push({ steps, segments, moves });
    }
  }
  return choices;
}

/**
 * One item of each list, by key, the last one changing fastest.
 * @template T
 * @param {number[]} keys
 * @param {T[][]} lists none empty
 * @param {number} before how many parts there are already: each combination makes one at least
 * @returns {Generator<Map<number, T>, void, void>}
 */
function* combinations(keys, lists, before) {
  const count = lists.reduce((total, list) => total * list.length, 1);
  require(before + count <= MAXIMUM.partsOfProof, 'similarity: too many parts');
  for (let n = 0; n < count; n++) {
    /** @type {T[]} */
    const chosen = [];
    let rest = n;
    for (let i = lists.length - 1; i >= 0; i--) {
      chosen[i] = lists[i][rest % lists[i].length];
      rest = Math.floor(rest / lists[i].length);
    }
    yield new Map(keys.map((key, i) => [key, chosen[i]]));
  }
}

/**
 * @param {Along} along
 * @returns {Set<string>} the steps that any of its cases has a band or a table for
 */
function namesOf({ cases }) {
  return new Set(cases.flatMap(({ bands, tables }) => [...bands.keys(), ...tables.keys()]));
}

/**
 * @param {Map<number, Step>} steps
 * @param {Along} along
 */
function stepOf(steps, along) {
  return /** @type {Step} */ (steps.get(along.with));
}

/**
 * Whether the relation of a levels kind that others go along with allows two different positions.
 * @param {Relation} relation `free`, `within` or `pairs`
 * @param {Set<string>} allowed the sets of two of `pairs`
 * @param {number} from
 * @param {number} to
 */
function isAllowedPair({ kind, high }, allowed, from, to) {
  if (kind === 'free') return true;
  if (kind === 'within') return Rational.of(Math.abs(from - to)).atMost(high);
  return allowed.has(from < to ? `${from} ${to}` : `${to} ${from}`);
}

/**
 * @param {Relation[]} similarity
 * @param {Feature[]} features
 * @param {number} j
 * @param {Clock} clock
 * @returns {Step[]} the step "equal" first
 */
function stepsOf(similarity, features, j, clock) {
  /** @type {Step[]} */
  const steps = [EQUAL];
  const byLevels = similarity.some(({ along }) => along?.with === j && along.byLevels);
  const take = (/** @type {number} */ from, /** @type {number} */ to) => {
    steps.push({ name: nameOf(byLevels, BigInt(from), BigInt(to)), byLevels, from, to });
    require(steps.length <= MAXIMUM.partsOfProof, 'similarity: too many parts');
  };
  const { levels, lo, hi } = features[j];
  if (!byLevels) {
    const most = smaller(similarity[j].high, hi.minus(lo));
    require(most.atMost(Rational.of(MAXIMUM.partsOfProof)), 'similarity: too many parts');
    const t = Number(most.floor());
    for (let d = -t; d <= t; d++) if (d !== 0) take(0, d);
    return steps;
  }
  const allowed = new Set(similarity[j].allowed.map(([from, to]) => `${from} ${to}`));
  const count = /** @type {unknown[]} */ (levels).length;
  for (let from = 0; from < count; from++) {
    clock.look();
    for (let to = 0; to < count; to++) if (from !== to && isAllowedPair(similarity[j], allowed, from, to)) take(from, to);
  }
  return steps;
}

/**
 * The ranges of all features that conditions name, cut below each lo and above each hi.
 * @param {Along[]} awake
 * @param {Feature[]} features
 * @param {Clock} clock
 * @returns {Map<number, Segment[]>} features in order
 */
function segmentsOf(awake, features, clock) {
  /** @type {Map<number, Set<bigint>>} where segments begin */
  const starts = new Map();
  for (const { cases } of awake) {
    for (const { where } of cases) {
      for (const { feature, intervals } of where) {
        const own = starts.get(feature) ?? new Set([features[feature].lo.floor()]);
        starts.set(feature, own);
        for (const [lo, hi] of intervals) {
          clock.tick();
          own.add(lo);
          if (hi < features[feature].hi.floor()) own.add(hi + 1n);
        }
      }
    }
  }
  const named = [...starts].sort(([c], [d]) => c - d);
  return new Map(named.map(([c, own]) => {
    const begins = [...own].sort((a, b) => (a < b ? -1 : 1));
    return [c, begins.map((lo, n) => /** @type {Segment} */ ([lo, n + 1 < begins.length ? begins[n + 1] - 1n : features[c].hi.floor()]))];
  }));
}

/**
 * The case that counts in all codes of the segments: the first one that holds.
 * @param {Along} along
 * @param {Map<number, Segment>} segments of all features that its conditions name
 * @returns {Case | undefined}
 */
function countedCase({ cases }, segments) {
  return cases.find(({ where }) =>
    where.every(({ feature, intervals }) => {
      const [lo, hi] = /** @type {Segment} */ (segments.get(feature));
      return intervals.some(([from, to]) => from <= lo && hi <= to);
    }),
  );
}

/**
 * @param {Table} table
 * @returns {Move[]} first runs of positions that may stay, then the other pairs
 */
function movesOf({ pairs }) {
  /** @type {Move[]} */
  const runs = [];
  /** @type {Move[]} */
  const others = [];
  for (const [v, other] of pairs) {
    if (v !== other) {
      others.push({ own: [v, v], other: [other, other], isRun: false });
      continue;
    }
    const last = runs[runs.length - 1];
    const start = last !== undefined && last.own[1] === v - 1 ? last.own[0] : v;
    if (start < v) runs.pop();
    runs.push({ own: [start, v], other: [start, v], isRun: true });
  }
  return [...runs, ...others];
}

/**
 * @param {Relation[]} similarity
 * @param {Choice} choice
 * @returns {Part}
 */
export function partOf(similarity, { steps, segments, moves }) {
  /** @type {Map<number, Range>} */
  const ranges = new Map();
  const keep = (/** @type {number} */ k, /** @type {[number | bigint, number | bigint]} */ own, /** @type {[number | bigint, number | bigint]} */ other) => {
    const ends = ([lo, hi] = own) => /** @type {[Rational, Rational]} */ ([Rational.of(lo), Rational.of(hi)]);
    ranges.set(k, { own: ends(own), other: ends(other) });
  };
  for (const [c, segment] of segments) keep(c, segment, segment);
  for (const [k, { own, other }] of moves) keep(k, own, other);
  const relations = similarity.map((relation, k) => {
    const step = steps.get(k);
    if (step !== undefined) {
      if (step.from === step.to) return simple('same');
      if (!step.byLevels) return simple('between', Rational.of(step.to), Rational.of(step.to));
      keep(k, [step.from, step.from], [step.to, step.to]);
      return simple('free');
    }
    if (relation.along === null) return relation;
    if (relation.along.otherwise === null) return simple(moves.get(k)?.isRun ?? true ? 'same' : 'free');
    const { low, high } = bandOf(relation.along, relation.along.otherwise, stepOf(steps, relation.along).name, segments);
    return low.isZero() && high.isZero() ? simple('same') : simple('between', low, high);
  });
  return { similarity: relations, ranges };
}

/**
 * @param {Along} along with bands
 * @param {Rational} otherwise
 * @param {string} name of a step
 * @param {Map<number, Segment>} segments
 * @returns {{low: Rational, high: Rational}}
 */
function bandOf(along, otherwise, name, segments) {
  const none = { low: otherwise.negated(), high: otherwise };
  // Where no case has a band for the step, the segments need not tell which case counts.
  if (!along.cases.some(({ bands }) => bands.has(name))) return none;
  return countedCase(along, segments)?.bands.get(name) ?? none;
}

/**
 * @param {'same' | 'free' | 'between'} kind
 * @param {Rational} [low]
 * @param {Rational} [high]
 * @returns {Relation}
 */
function simple(kind, low = ZERO, high = ZERO) {
  return { kind, low, high, allowed: [], along: null };
}
