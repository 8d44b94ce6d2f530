/** The space of individuals: features, their codes, and constraints (section 2, "Space"). */

import { holdsDouble, isDouble, nextDouble } from '../exact/doubles.js';
import { ONE, Rational, ZERO } from '../exact/rational.js';
import { readNumber } from '../exact/number-syntax.js';
import { readArray, readArrayOf, readIndex, readNumbersOf, readObject, readOnly, readText } from '../file/fields.js';
import { MAXIMUM } from '../limits.js';
import { reject, require, Unfinished } from '../rejection.js';

/** @typedef {import('../file/json.js').Json} Json */

/**
 * A level is null, a text, a truth value, or a number.
 * @typedef {null | string | boolean | Rational} Level
 */

/**
 * @typedef {object} Feature
 * @property {string} name
 * @property {'continuous' | 'integer' | 'categorical' | 'ordinal'} kind
 * @property {Rational} lo the smallest code
 * @property {Rational} hi the largest code, the missing one included
 * @property {Level[] | null} levels of a levels kind
 * @property {boolean} discrete
 * @property {Rational | null} missing the code of the missing value, if there is one
 * @property {Rational} lastNumber the largest code that is not missing
 */

/**
 * A term of a constraint: a factor of the code, or an amount for each position.
 * @typedef {{feature: number, factor: Rational | null, amounts: Rational[] | null}} ConstraintTerm
 * @typedef {{terms: ConstraintTerm[], bound: Rational, text: string}} Constraint
 * @typedef {{features: Feature[], constraints: Constraint[]}} Space
 */

/**
 * @param {Json} json
 * @returns {Space}
 */
export function readSpace(json) {
  const part = readObject(readOnly(json, 'space'), 'space', ['features', 'constraints']);
  const features = readFeatures(part('features'));
  const items = readArray(part('constraints'), 'constraints');
  require(items.length <= MAXIMUM.constraints, 'space: too many constraints');
  const budget = { entries: MAXIMUM.constraintEntries };
  const constraints = items.map((item) => readConstraint(item, features, budget));
  return { features, constraints };
}

/**
 * @param {Json} json
 * @returns {Feature[]}
 */
export function readFeatures(json) {
  const items = readArray(json, 'features');
  require(items.length > 0, 'space: no feature');
  require(items.length <= MAXIMUM.features, 'space: too many features');
  const features = items.map(readFeature);
  require(new Set(features.map((feature) => feature.name)).size === features.length, 'space: two features of one name');
  const levels = features.reduce((count, feature) => count + (feature.levels?.length ?? 0), 0);
  require(levels <= MAXIMUM.levels, 'space: too many levels');
  return features;
}

/**
 * Whether two lists of features are the same by value (section 2, "Model").
 * @param {Feature[]} features
 * @param {Feature[]} others
 */
export function sameFeatures(features, others) {
  return features.length === others.length && features.every((feature, k) => isSameFeature(feature, others[k]));
}

/**
 * @param {Feature} feature
 * @param {Feature} other
 */
function isSameFeature(feature, other) {
  if (feature.name !== other.name || feature.kind !== other.kind) return false;
  if (feature.levels === null || other.levels === null) {
    const ends = feature.lo.equals(other.lo) && feature.lastNumber.equals(other.lastNumber);
    return ends && (feature.missing === null) === (other.missing === null);
  }
  const theirs = other.levels.map(keyOfLevel);
  return feature.levels.length === theirs.length && feature.levels.every((level, i) => keyOfLevel(level) === theirs[i]);
}

/**
 * @param {Json} json
 * @returns {Feature}
 */
function readFeature(json) {
  const kind = json instanceof Map ? json.get('kind') : null;
  if (kind === 'continuous' || kind === 'integer') return readNumericFeature(json, kind);
  if (kind === 'categorical' || kind === 'ordinal') return readLevelsFeature(json, kind);
  return reject('space: a feature of an unknown kind');
}

/**
 * @param {Json} json
 * @param {'continuous' | 'integer'} kind
 * @returns {Feature}
 */
function readNumericFeature(json, kind) {
  const part = readObject(json, 'feature', ['name', 'kind', 'lo', 'hi'], ['missing']);
  const name = readText(part('name'), 'name of a feature');
  const lo = readNumber(part('lo'), `lo of ${name}`);
  const hi = readNumber(part('hi'), `hi of ${name}`);
  require(lo.atMost(hi), `space: ${name} has lo > hi`);
  require(kind === 'continuous' || (lo.isWhole() && hi.isWhole()), `space: ${name} has ends that are not whole`);
  require(kind === 'integer' || holdsDouble(lo, hi), `space: no double lies between lo and hi of ${name}`);
  const missing = part('missing') === undefined ? null : missingCode(part('missing'), kind, hi, name);
  return { name, kind, lo, hi: missing ?? hi, levels: null, discrete: kind === 'integer', missing, lastNumber: hi };
}

/**
 * @param {Json} json
 * @param {'continuous' | 'integer'} kind
 * @param {Rational} hi
 * @param {string} name
 */
function missingCode(json, kind, hi, name) {
  require(json === true, `space: "missing" of ${name} must be true`);
  if (kind === 'integer') return hi.plus(ONE);
  const next = isDouble(hi) ? nextDouble(hi) : null;
  return next ?? reject(`space: ${name} has missing values, but hi is not a double below the largest one`);
}

/**
 * @param {Json} json
 * @param {'categorical' | 'ordinal'} kind
 * @returns {Feature}
 */
function readLevelsFeature(json, kind) {
  const part = readObject(json, 'feature', ['name', 'kind', 'levels']);
  const name = readText(part('name'), 'name of a feature');
  const levels = readArray(part('levels'), `levels of ${name}`).map((item) => readLevel(item, name));
  require(levels.length > 0, `space: ${name} has no level`);
  require(new Set(levels.map(keyOfLevel)).size === levels.length, `space: ${name} has one level twice`);
  const hi = Rational.of(levels.length - 1);
  return { name, kind, lo: ZERO, hi, levels, discrete: true, missing: null, lastNumber: hi };
}

/**
 * @param {Json} json
 * @param {string} name
 * @returns {Level}
 */
function readLevel(json, name) {
  if (json === null || typeof json === 'string' || typeof json === 'boolean') return json;
  return readNumber(readObject(json, `level of ${name}`, ['number'])('number'), `level of ${name}`);
}

/**
 * Two levels are the same exactly if their keys are.
 * @param {Level} level
 */
function keyOfLevel(level) {
  return level instanceof Rational ? `number ${level}` : `${typeof level} ${level}`;
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @param {{entries: number}} budget of numbers for levels
 * @returns {Constraint}
 */
function readConstraint(json, features, budget) {
  const part = readObject(json, 'constraint', ['text', 'terms', 'bound']);
  const text = readText(part('text'), 'text of a constraint');
  const terms = readArray(part('terms'), 'terms of a constraint').map((item) => readTerm(item, features, budget));
  for (let i = 1; i < terms.length; i++) {
    require(terms[i - 1].feature < terms[i].feature, 'constraint: features are not strictly increasing');
  }
  return { text, terms, bound: readNumber(part('bound'), 'bound of a constraint') };
}

/**
 * @param {Json} json
 * @param {Feature[]} features
 * @param {{entries: number}} budget
 * @returns {ConstraintTerm}
 */
function readTerm(json, features, budget) {
  const [indexJson, amount] = readArrayOf(json, 'term of a constraint', 2);
  const index = readIndex(indexJson, 'feature of a constraint', features.length);
  const { name, levels, missing } = features[index];
  require(missing === null, `constraint: ${name} has missing values`);
  if (Array.isArray(amount)) {
    if (levels === null) return reject(`constraint: an array for ${name}, which has no levels`);
    return { feature: index, factor: null, amounts: readNumbersOf(amount, `constraint on ${name}`, levels.length) };
  }
  const factor = readNumber(amount, `constraint on ${name}`);
  if (levels === null) return { feature: index, factor, amounts: null };
  budget.entries -= levels.length;
  if (budget.entries < 0) throw new Unfinished(`constraints on so many levels would take too much memory`);
  return { feature: index, factor: null, amounts: levels.map((level) => factor.times(numberOfLevel(level, name))) };
}

/**
 * @param {Level} level
 * @param {string} name
 */
function numberOfLevel(level, name) {
  if (level instanceof Rational) return level;
  if (typeof level === 'boolean') return level ? ONE : ZERO;
  return reject(`constraint: ${name} has levels that are not numbers`);
}

/**
 * h(x), which a valid individual has at most 0.
 * @param {Constraint} constraint
 * @param {Rational[]} codes
 */
export function constraintValue(constraint, codes) {
  let value = constraint.bound.negated();
  for (const { feature, factor, amounts } of constraint.terms) {
    const code = codes[feature];
    value = value.plus(factor === null ? /** @type {Rational[]} */ (amounts)[positionOf(code)] : factor.times(code));
  }
  return value;
}

/**
 * @param {Rational} code of a levels kind
 * @returns {number}
 */
export function positionOf(code) {
  return Number(code.floor());
}

/**
 * Whether the codes are those of an individual that satisfies every constraint.
 * @param {Space} space
 * @param {Rational[]} codes
 */
export function isValid(space, codes) {
  return space.constraints.every((constraint) => constraintValue(constraint, codes).sign() <= 0);
}

/**
 * @param {Space} space
 * @param {Json} json
 * @param {string} what
 * @returns {Rational[]} the codes of an individual of the space
 */
export function readIndividual(space, json, what) {
  const codes = readNumbersOf(json, what, space.features.length);
  space.features.forEach((feature, k) => {
    const code = codes[k];
    require(feature.lo.atMost(code) && code.atMost(feature.hi), `${what}: the code of ${feature.name} is out of its range`);
    require(feature.discrete ? code.isWhole() : isDouble(code), `${what}: the code of ${feature.name} is not one of its values`);
  });
  return codes;
}

