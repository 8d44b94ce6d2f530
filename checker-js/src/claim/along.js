/** Features that change along with others (section 22): counterfactual pairs, and the parts that their proofs have. */

import { Rational, smaller, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readIndex, readInt, readObject } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require } from '../rejection.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('./similarity.js').Relation} Relation
 * @typedef {import('./space.js').Feature} Feature
 */

/**
 * Named by two positions of the other feature, or by a difference of its codes.
 * @typedef {{from: number, to: number, low: Rational, high: Rational}} Band by difference: `to` is the difference, `from` 0
 */

/**
 * @typedef {object} Along
 * @property {number} with the feature that it goes along with
 * @property {boolean} byLevels
 * @property {Band[]} bands
 * @property {Rational} otherwise
 */

/**
 * A part: relations without `along`, and the positions that features have in its root.
 * @typedef {{similarity: Relation[], fixed: Map<number, [number, number]>}} Part
 */

const ANY = 10n ** 600n;

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @param {number} k
 * @param {string} what
 * @returns {Along}
 */
export function readAlong(json, features, k, what) {
  const part = readObject(json, what, ['kind', 'with', 'bands', 'else']);
  const feature = features[k];
  require(feature.kind !== 'categorical' && feature.missing === null, `${what}: "along" for a feature that cannot change so`);
  const j = readIndex(part('with'), what, features.length);
  require(j !== k, `${what}: along with itself`);
  const other = features[j];
  const items = readArray(part('bands'), what).map((item) => readArray(item, what));
  require(items.length > 0, `${what}: no band`);
  const byLevels = items[0].length === 4;
  const numberOf = (/** @type {Json} */ value) => {
    const number = readNumber(value, what);
    require(!feature.discrete || number.isWhole(), `${what}: a number that is not whole`);
    return number;
  };
  const bands = items.map((item) => {
    const [lowJson, highJson] = readArrayOf(item, what, byLevels ? 4 : 3).slice(-2);
    const [low, high] = [numberOf(lowJson), numberOf(highJson)];
    require(low.atMost(high), `${what}: low is above high`);
    if (!byLevels) return { from: 0, to: Number(readInt(item[0], what, -ANY, ANY)), low, high };
    if (other.levels === null) return reject(`${what}: bands by levels of a feature without levels`);
    const [from, to] = [readIndex(item[0], what, other.levels.length), readIndex(item[1], what, other.levels.length)];
    require(from !== to, `${what}: a band from a level to itself`);
    return { from, to, low, high };
  });
  require(bands.every((band, n) => n === 0 || bands[n - 1].from < band.from || (bands[n - 1].from === band.from && bands[n - 1].to < band.to)), `${what}: bands are not strictly increasing`);
  const isMirrored = bands.every(({ from, to, low, high }) =>
    bands.some((band) => (byLevels ? band.from === to && band.to === from : band.to === -to) && band.low.equals(high.negated()) && band.high.equals(low.negated())),
  );
  require(isMirrored, `${what}: bands are not mirrored`);
  const otherwise = numberOf(part('else'));
  require(otherwise.sign() >= 0, `${what}: "else" is negative`);
  return { with: j, byLevels, bands, otherwise };
}

/**
 * What a relation `along` needs of the others.
 * @param {Relation[]} similarity
 * @param {Feature[]} features
 */
export function checkAlong(similarity, features) {
  /** @type {Map<number, boolean>} */
  const forms = new Map();
  for (const { along } of similarity) {
    if (along === null) continue;
    const j = along.with;
    const { kind, high } = similarity[j];
    const [other, isWithin] = [features[j], kind === 'within'];
    const fits = other.levels !== null ? kind === 'free' || kind === 'pairs' || isWithin : other.kind === 'integer' && other.missing === null && isWithin;
    require(fits, `${other.name}: nothing can go along with this feature`);
    require((forms.get(j) ?? along.byLevels) === along.byLevels, `${other.name}: bands by levels and by difference`);
    forms.set(j, along.byLevels);
    if (along.byLevels) continue;
    require(isWithin && other.kind !== 'categorical', `${other.name}: bands by difference of a feature that is not within a tolerance`);
    for (const { to } of along.bands) require(to !== 0 && Rational.of(Math.abs(to)).atMost(high), `${other.name}: a band of a difference that there is not`);
  }
  if (forms.size > 0) require(similarity.every(({ kind }) => kind !== 'between'), 'similarity: "along" and "between"');
}

/**
 * The band that a pair names, or what is asked where it names none.
 * @param {Along} along
 * @param {Rational} code of the other feature, at x
 * @param {Rational} otherCode at x'
 * @returns {{low: Rational, high: Rational}}
 */
export function bandOf({ byLevels, bands, otherwise }, code, otherCode) {
  const from = byLevels ? code : ZERO;
  const to = byLevels ? otherCode : otherCode.minus(code);
  const named = bands.find((band) => from.equals(Rational.of(band.from)) && to.equals(Rational.of(band.to)));
  return named ?? { low: otherwise.negated(), high: otherwise };
}

/**
 * @param {Relation[]} similarity
 * @param {Feature[]} features
 * @returns {Part[]} one where nothing goes along
 */
export function partsOf(similarity, features) {
  const leaders = features.flatMap((_, j) => (similarity.some(({ along }) => along?.with === j) ? [j] : []));
  /** @type {[number, number][][]} two positions, or 0 and a difference */
  const steps = leaders.map((j) => stepsOf(similarity, features, j));
  const count = steps.reduce((total, own) => total * own.length, 1);
  require(count <= MAXIMUM.partsOfProof, 'similarity: too many parts');
  return Array.from({ length: count }, (_, n) => {
    /** @type {Map<number, [number, number]>} */
    const chosen = new Map();
    let rest = n;
    for (let i = leaders.length - 1; i >= 0; i--) {
      chosen.set(leaders[i], steps[i][rest % steps[i].length]);
      rest = Math.floor(rest / steps[i].length);
    }
    return partOf(similarity, chosen);
  });
}

/**
 * Whether the relation of a levels kind that others go along with allows two different positions.
 * @param {Relation} relation `free`, `within` or `pairs`
 * @param {number} from
 * @param {number} to
 */
function isAllowedPair({ kind, high, allowed }, from, to) {
  if (kind === 'free') return true;
  if (kind === 'within') return Rational.of(Math.abs(from - to)).atMost(high);
  return allowed.some(([i, j]) => (i === from && j === to) || (i === to && j === from));
}

/**
 * @param {Relation[]} similarity
 * @param {number} j
 */
function isByLevels(similarity, j) {
  return similarity.some(({ along }) => along?.with === j && along.byLevels);
}

/**
 * @param {Relation[]} similarity
 * @param {Feature[]} features
 * @param {number} j
 * @returns {[number, number][]} the step "equal" first, as [0, 0]
 */
function stepsOf(similarity, features, j) {
  /** @type {[number, number][]} */
  const steps = [[0, 0]];
  const { levels, lo, hi } = features[j];
  if (!isByLevels(similarity, j)) {
    const most = smaller(similarity[j].high, hi.minus(lo));
    require(most.atMost(Rational.of(MAXIMUM.partsOfProof)), 'similarity: too many parts');
    const t = Number(most.floor());
    for (let d = -t; d <= t; d++) if (d !== 0) steps.push([0, d]);
    return steps;
  }
  const count = /** @type {unknown[]} */ (levels).length;
  for (let from = 0; from < count; from++) {
    for (let to = 0; to < count; to++) {
      if (from !== to && isAllowedPair(similarity[j], from, to)) steps.push([from, to]);
      require(steps.length <= MAXIMUM.partsOfProof, 'similarity: too many parts');
    }
  }
  return steps;
}

/**
 * @param {Relation[]} similarity
 * @param {Map<number, [number, number]>} chosen the step of each feature that others go along with
 * @returns {Part}
 */
function partOf(similarity, chosen) {
  /** @type {Map<number, [number, number]>} */
  const fixed = new Map();
  const own = similarity.map((relation, k) => {
    const step = chosen.get(k);
    if (step !== undefined) {
      const [from, to] = step;
      if (from === to) return simple('same', ZERO, ZERO);
      if (!isByLevels(similarity, k)) return simple('between', Rational.of(to), Rational.of(to));
      fixed.set(k, step);
      return simple('free', ZERO, ZERO);
    }
    if (relation.along === null) return relation;
    const [from, to] = /** @type {[number, number]} */ (chosen.get(relation.along.with));
    const { low, high } = bandOf(relation.along, Rational.of(from), Rational.of(to));
    return low.isZero() && high.isZero() ? simple('same', ZERO, ZERO) : simple('between', low, high);
  });
  return { similarity: own, fixed };
}

/**
 * @param {'same' | 'free' | 'between'} kind
 * @param {Rational} low
 * @param {Rational} high
 * @returns {Relation}
 */
function simple(kind, low, high) {
  return { kind, low, high, allowed: [], along: null };
}
