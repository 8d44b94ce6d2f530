/**
 * The rule `chords` (section 25): every term of a kernel model is below a line in its exponent, a chord or a tangent, and a sum of
 * lines is a sum of one function a feature.
 */

import { FALLING_BITS } from '../exact/falling-exponential.js';
import { ceilShift } from '../exact/exponential.js';
import { larger, largest, Rational, smaller } from '../exact/rational.js';
import { readArrayOf, readInt } from '../file/fields.js';
import { reject, require } from '../rejection.js';
import { related } from '../claim/similarity.js';
import { positionOf } from '../claim/space.js';
import { ChordLevels, ChordNumber, chordFeatures, ERROR_OF_SUMS } from './chord-features.js';
import { linesAbove } from './chord-lines.js';
import { codesOf } from './cost-maximum.js';
import { absolute, EXPONENT_BITS, FIXED_BITS, fixedProduct } from './fixed-point.js';
import { maximumOfTables } from './form-maximum.js';
import { maximumOnInterval, maximumOnPolygon } from './parabola.js';

/**
 * @typedef {import('../file/json.js').Json} Json
 * @typedef {import('../bodies/rbf.js').RbfBody} RbfBody
 * @typedef {import('../claim/space.js').Space} Space
 * @typedef {import('../proof/cases.js').Line} Line
 * @typedef {import('../proof/cases.js').Score} Score
 * @typedef {import('../proof/cell.js').Cell} Cell
 * @typedef {import('../proof/cell.js').Geometry} Geometry
 * @typedef {import('../proof/leaf.js').LeafContext} LeafContext
 * @typedef {import('../proof/leaf.js').LeafResult} LeafResult
 * @typedef {import('./chord-features.js').Ranges} Ranges
 * @typedef {import('./kernel-features.js').KernelFeature} KernelFeature
 * @typedef {import('./cost-maximum.js').Codes} Codes
 */

const LARGEST_R = 1024n;
const SHIFT = BigInt(FALLING_BITS);
/** How many ulps the width of a term may seem larger than it is, for each feature: twice what a value may be wrong by, at both ends. */
const ERROR_OF_WIDTH = 32n;
/** For how many settings of the features that may differ factors are remembered. */
const REMEMBERED_SETTINGS = 64;

/** What is the same for all cells of a file, by body. */
/** @type {WeakMap<RbfBody, Terms>} */
const known = new WeakMap();

/** The terms of a body, and the ranges that their exponents had in the last cell. */
class Terms {
  /**
   * @param {RbfBody} body
   * @param {Space} space
   */
  constructor(body, space) {
    const { kernel, features } = chordFeatures(body, space);
    this.kernel = kernel;
    this.features = features;
    this.gamma = body.gamma;
    this.count = body.terms.length;
    /** @type {({lo: Rational, hi: Rational, ranges: Ranges} | undefined)[][]} by copy and feature */
    this.last = [[], []];
  }

  /**
   * @param {0 | 1} copy
   * @param {number} k
   * @param {Rational} lo
   * @param {Rational} hi
   * @returns {Ranges} of feature k over the codes from lo to hi
   */
  rangesOf(copy, k, lo, hi) {
    // Neighbouring leaves differ in few intervals.
    for (const own of [this.last[copy][k], this.last[1 - copy][k]]) {
      if (own !== undefined && own.lo.equals(lo) && own.hi.equals(hi)) {
        this.last[copy][k] = own;
        return own.ranges;
      }
    }
    const feature = this.features[k];
    const ranges = feature instanceof ChordNumber ? feature.ranges(lo, hi) : feature.ranges(positionOf(lo), positionOf(hi));
    this.last[copy][k] = { lo, hi, ranges };
    return ranges;
  }
}

/**
 * `["chords", way, r]`
 * @param {LeafContext} context
 * @param {Cell} cell
 * @param {Json[]} json
 * @returns {LeafResult}
 */
export function chords(context, cell, json) {
  const { body } = context.claim.model;
  if (body.kind !== 'rbf') return reject('chords: not for this body');
  readArrayOf(json, 'chords', 3);
  const line = context.readLine(json[1]);
  const r = readInt(json[2], 'r', 0n, LARGEST_R);
  const terms = known.get(body) ?? new Terms(body, context.claim.space);
  known.set(body, terms);
  const place = placeOf(context.geometry, cell);
  if (place === null) return { clearance: null, line: null };
  const scores = context.derive(line, () => new LineScores(body, line), 'chords'); // `kernel` has its own of the same line
  const factors = place.twoCopies ? scores.factorsOfBoth : [scores.factorsOfOne(terms, place)];
  let constant = 0n;
  const slopes = factors.map((own, copy) => {
    const { least, most } = exponentRanges(terms, place, /** @type {0 | 1} */ (copy));
    const widest = (r << SHIFT) + ERROR_OF_WIDTH * BigInt(place.counted.length);
    const lines = linesAbove(own, least, most, widest, () => context.clock.tick());
    constant += lines.constant;
    return lines.S;
  });
  const moved = slopes.flat().reduce((total, own) => total + absolute(own), 0n);
  constant += ERROR_OF_SUMS * BigInt(place.counted.length) * moved;
  // Where x and x' have one code, the terms of both are together.
  const together = slopes[0].map((own, t) => own + (slopes[1]?.[t] ?? 0n));
  for (const k of place.counted) {
    const own = isSame(place, k) ? maximumOfSame(terms, place, k, together) : maximumOfBoth(terms, place, k, slopes);
    if (own === null) return { clearance: null, line: null };
    constant += own.ceil(2 * FALLING_BITS);
  }
  const bound = Rational.dyadic(constant, -2 * FALLING_BITS).plus(scores.kappa);
  require(bound.less(line.target), 'the bound of this leaf does not separate its cell from witnesses');
  return { clearance: context.noClearance, line };
}

/** The two scores of a line, and the factors c_t of their terms, in ulps, rounded up. */
class LineScores {
  /**
   * @param {RbfBody} body
   * @param {Line} line
   */
  constructor(body, { a, b, first, second }) {
    const [own, other] = [scoreBody(body, first), scoreBody(body, second)];
    this.kappa = a.times(own.bias[0]).minus(b.times(other.bias[0]));
    this.own = own.terms.map(({ coefficients }) => coefficients[0].times(a));
    this.other = other.terms.map(({ coefficients }) => coefficients[0].times(b));
    this.factorsOfBoth = [this.own.map((factor) => factor.ceil(FALLING_BITS)), this.other.map((factor) => factor.negated().ceil(FALLING_BITS))];
    /** @type {Map<string, bigint[]>} by setting */
    this.settings = new Map();
  }

  /**
   * c_t of one copy: a F_t exp(...) - b G_t exp(...), by the codes of the features that may differ.
   * @param {Terms} terms
   * @param {Place} place
   * @returns {bigint[]}
   */
  factorsOfOne(terms, { geometry, cell, differing }) {
    const codes = [geometry.first, geometry.second].map((variables) => differing.map((k) => cell.lo[variables[k]]));
    const key = codes.flat().join(' ');
    const before = this.settings.get(key);
    if (before !== undefined) return before;
    const [own, other] = codes.map((fixed) => exponentsAt(terms, differing, fixed));
    const made = this.own.map((factor, t) => {
      const plus = fixedProduct(factor, own[t], differing.length);
      const minus = fixedProduct(this.other[t], other[t], differing.length);
      return ceilShift(plus.value + plus.error - minus.value, BigInt(FIXED_BITS - FALLING_BITS));
    });
    if (this.settings.size >= REMEMBERED_SETTINGS) this.settings.clear();
    this.settings.set(key, made);
    return made;
  }
}

/**
 * @param {RbfBody} body
 * @param {Score} score
 */
function scoreBody(body, { alpha, sign, shift }) {
  return body.form(alpha.map((factor) => factor.times(sign)), shift);
}

/**
 * -gamma sum D_tk(v_k), each summand rounded down to a multiple of 2^-256.
 * @param {Terms} terms
 * @param {number[]} features
 * @param {Rational[]} codes
 * @returns {bigint[]}
 */
function exponentsAt({ kernel, gamma, count }, features, codes) {
  const exponents = Array.from({ length: count }, () => 0n);
  features.forEach((k, n) => {
    kernel[k].distances(codes[n]).forEach((distance, t) => {
      exponents[t] += gamma.times(distance).negated().floor(EXPONENT_BITS);
    });
  });
  return exponents;
}

/**
 * @typedef {object} Place
 * @property {Geometry} geometry
 * @property {Cell} cell
 * @property {boolean} twoCopies
 * @property {number[]} differing the features that may differ
 * @property {number[]} counted the features whose codes are in the exponents Q_t
 * @property {Map<number, Codes>} codes of numbers that may differ
 */

/**
 * @param {Geometry} geometry
 * @param {Cell} cell
 * @returns {Place | null} null if two codes of a feature cannot be those of a pair
 */
function placeOf(geometry, cell) {
  const { space: { features }, similarity, first, second } = geometry;
  const all = features.map((_, k) => k);
  const differing = all.filter((k) => similarity[k].kind !== 'same');
  const twoCopies = differing.some((k) => !geometry.isFixed(k, cell));
  /** @type {Map<number, Codes>} */
  const codes = new Map();
  for (const k of differing) {
    if (features[k].levels === null) {
      const own = codesOf(geometry, cell, k);
      if (own === null) return null;
      codes.set(k, own);
    }
    if (!twoCopies && !related(features[k], similarity[k], cell.lo[first[k]], cell.lo[second[k]])) return null;
  }
  return { geometry, cell, twoCopies, differing, counted: twoCopies ? all : all.filter((k) => similarity[k].kind === 'same'), codes };
}

/**
 * The codes of x, or of x', that a pair of the cell can have.
 * @param {Place} place
 * @param {number} k
 * @param {0 | 1} copy
 * @returns {[Rational, Rational]}
 */
function intervalOf({ geometry, cell, codes }, k, copy) {
  const v = (copy === 0 ? geometry.first : geometry.second)[k];
  const own = codes.get(k);
  if (own === undefined) return [cell.lo[v], cell.hi[v]];
  const { lo, hi, otherLo, otherHi, p, q } = own;
  if (copy === 0) return [larger(lo, otherLo.minus(q)), smaller(hi, otherHi.minus(p))];
  return [larger(otherLo, lo.plus(p)), smaller(otherHi, hi.plus(q))];
}

/**
 * @param {Terms} terms
 * @param {Place} place
 * @param {0 | 1} copy
 * @returns {Ranges} of the exponents Q_t
 */
function exponentRanges(terms, place, copy) {
  const least = Array.from({ length: terms.count }, () => 0n);
  const most = least.slice();
  for (const k of place.counted) {
    const own = terms.rangesOf(copy, k, ...intervalOf(place, k, copy));
    for (let t = 0; t < least.length; t++) {
      least[t] += own.least[t];
      most[t] += own.most[t];
    }
  }
  // Exponents are sums of squares.
  return { least: least.map((value) => (value < 0n ? 0n : value)), most };
}

/**
 * @param {Place} place
 * @param {number} k
 */
function isSame({ geometry }, k) {
  return geometry.first[k] === geometry.second[k];
}

/**
 * B_k of a feature of which x and x' have one code.
 * @param {Terms} terms
 * @param {Place} place
 * @param {number} k
 * @param {bigint[]} S the sums of S_t of x and of x'
 * @returns {Rational}
 */
function maximumOfSame({ features }, { geometry, cell }, k, S) {
  const feature = features[k];
  const [lo, hi] = [cell.lo[geometry.first[k]], cell.hi[geometry.first[k]]];
  if (feature instanceof ChordLevels) return largest(feature.weighted(S, positionOf(lo), positionOf(hi)).slice(positionOf(lo)));
  return /** @type {Rational} */ (maximumOnInterval(feature.weighted(S), lo, hi));
}

/**
 * B_k of a feature that may differ, in two copies.
 * @param {Terms} terms
 * @param {Place} place
 * @param {number} k
 * @param {bigint[][]} slopes S_t of the terms of x, and of x'
 * @returns {Rational | null} null if no two positions are as the relation asks
 */
function maximumOfBoth({ features }, { geometry, cell, codes }, k, [S, other]) {
  const feature = features[k];
  if (feature instanceof ChordNumber) return maximumOnPolygon(feature.weighted(S), feature.weighted(other), /** @type {Codes} */ (codes.get(k)));
  const [v, w] = [geometry.first[k], geometry.second[k]];
  const ends = [cell.lo[v], cell.hi[v], cell.lo[w], cell.hi[w]].map(positionOf);
  return maximumOfTables(feature.weighted(S, ends[0], ends[1]), feature.weighted(other, ends[2], ends[3]), ends, geometry.similarity[k]);
}
